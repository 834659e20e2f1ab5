//===- PackKernels.cpp - Into the packed form, and out of it --------------===//
//
// Point programs. A thread writes 16 bytes at a time, which it collects element
// by element. Elements outside of the source tensor read as zero, which pads
// borders and channels alike. Both tensors of a product are packed in one
// launch, because packing one is as short as the latency of a launch.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Common/SplitReduction.h"
#include "compiler/Algorithms/Packed/Packed.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <functional>

using namespace mlir;
using namespace tessera;

static constexpr int64_t kThreads = 256;

/// The argument of another kernel that corresponds to `argument` of the
/// convolution's function.
static Value getArgument(func::FuncOp function, Value argument) {
  return function.getArgument(cast<BlockArgument>(argument).getArgNumber());
}

static ConvTensor getArgument(func::FuncOp function, ConvTensor tensor) {
  tensor.memory = getArgument(function, tensor.memory);
  return tensor;
}

static MemRefType getMemRefType(Value memory) {
  return cast<MemRefType>(memory.getType());
}

/// The elements of 16 bytes, which a thread writes at a time.
static int64_t getUnit(Value memory) {
  constexpr unsigned kBits = 128;
  return kBits / getMemRefType(memory).getElementTypeBitWidth();
}

static int64_t getOffset(Value memory) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  (void)getMemRefType(memory).getStridesAndOffset(strides, offset);
  return offset;
}

namespace {
/// A tensor to pack: the space of its points, and what a thread does at one of
/// them. Nothing happens at a point whose first coordinate is out of bounds.
struct Packing {
  SmallVector<Size> points;
  std::function<void(PointBuilder &, ValueRange)> packPoint;
};
} // namespace

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

namespace {
/// Coordinates of a block of pixels.
struct BlockPosition {
  Value image, row, column;
};
} // namespace

/// Loads one channel of pixel (a, b) of a block.
static Value loadElement(PointBuilder &p, const ConvTensor &source,
                         const BlockPosition &block, const PackedImages &images,
                         Value a, Value b, Value channel) {
  Value row = p.add(p.mul(block.row, images.foldH), a);
  Value column =
      p.add(p.mul(p.add(block.column, images.firstColumn), images.foldW), b);
  return p.loadBlock(source.memory, source.getChannelDim(), 1,
                     source.order(block.image, channel, {row, column}));
}

/// Packs a whole block by one thread.
static void packBlock(PointBuilder &p, const ConvTensor &source, Value target,
                      const PackedImages &images, const BlockPosition &block) {
  PointBuilder::Values elements;
  for (int64_t a = 0; a < images.foldH; ++a)
    for (int64_t b = 0; b < images.foldW; ++b)
      for (int64_t c = 0; c < images.channels; ++c)
        elements.push_back(loadElement(p, source, block, images, p.index(a),
                                       p.index(b), p.index(c)));
  elements.resize(images.elements,
                  p.zero(getMemRefType(target).getElementType(), 1));
  const int64_t unit = getUnit(target);
  for (int64_t first = 0; first < images.elements; first += unit)
    p.storeBlock(p.makeBlock(ArrayRef(elements).slice(first, unit)), target, 3,
                 {block.image, block.row, block.column, p.index(first)});
}

/// Packs 16 bytes of the channels of pixel (a, b) of a block by one thread.
static void packChannels(PointBuilder &p, const ConvTensor &source,
                         Value target, const PackedImages &images,
                         const BlockPosition &block, Value a, Value b,
                         Value number) {
  const int64_t unit = getUnit(target);
  Value channel = p.mul(number, unit);
  PointBuilder::Values elements;
  for (int64_t i = 0; i < unit; ++i)
    elements.push_back(
        loadElement(p, source, block, images, a, b, p.add(channel, i)));
  Value pixel = p.add(p.mul(a, images.foldW), b);
  p.storeBlock(p.makeBlock(elements), target, 3,
               {block.image, block.row, block.column,
                p.add(p.mul(pixel, images.channelStep), channel)});
}

namespace {
/// How a warp of NVIDIA's chips shares out a tensor with channels first, so
/// that it reads whole sectors of memory of each channel, and writes whole
/// sectors of each pixel. Lanes side by side along columns alone write halves
/// of sectors, which took twice the time of a copy on an H100.
struct WarpBlock {
  int64_t columns, units;
};
} // namespace

static WarpBlock chooseWarpBlock(const PackedImages &images, int64_t units,
                                 int64_t elementBytes) {
  constexpr int64_t kSector = 32, kWarp = 32;
  const int64_t columns = kSector / elementBytes;
  WarpBlock block{columns, kWarp / columns};
  // Behind the last unit of a pixel comes the next one's first.
  while (images.foldH * images.foldW > 1 && units % block.units != 0)
    block = {2 * block.columns, block.units / 2};
  return block;
}

/// Neighbouring threads read neighbours, which with channels first are columns.
static Packing makeImagePacking(PointBuilder &p, func::FuncOp function,
                                const ConvTensor &source, Value target,
                                const PackedImages &images, bool hasWarps) {
  const ConvTensor from = getArgument(function, source);
  Value to = reshapeOpen(getArgument(function, target), images.getSizes());
  const Size batch = p.getSize(to, 0), rows = p.getSize(to, 1),
             columns = p.getSize(to, 2);
  if (images.isSmall())
    return {{batch, rows, columns}, [=](PointBuilder &p, ValueRange at) {
              packBlock(p, from, to, images, {at[0], at[1], at[2]});
            }};
  const int64_t unit = getUnit(to);
  const int64_t units = images.channelStep / unit;
  if (!from.hasChannelsInnermost() && hasWarps) {
    const WarpBlock block = chooseWarpBlock(images, units, 16 / unit);
    return {{batch, rows, images.foldH, images.foldW,
             llvm::divideCeilSigned(units, block.units),
             p.divideUp(columns, block.columns), block.columns, block.units},
            [=](PointBuilder &p, ValueRange at) {
              Value column = p.add(p.mul(at[5], block.columns), at[6]);
              packChannels(p, from, to, images, {at[0], at[1], column}, at[2],
                           at[3], p.add(p.mul(at[4], block.units), at[7]));
            }};
  }
  if (!from.hasChannelsInnermost())
    return {{batch, rows, images.foldH, images.foldW, units, columns},
            [=](PointBuilder &p, ValueRange at) {
              packChannels(p, from, to, images, {at[0], at[1], at[5]}, at[2],
                           at[3], at[4]);
            }};
  return {{batch, rows, columns, images.foldH, images.foldW, units},
          [=](PointBuilder &p, ValueRange at) {
            packChannels(p, from, to, images, {at[0], at[1], at[2]}, at[3],
                         at[4], at[5]);
          }};
}

//===----------------------------------------------------------------------===//
// The filter
//===----------------------------------------------------------------------===//

static Value getFilterRow(PointBuilder &p, const PackedDim &dim, Value tap,
                          Value pixel) {
  return p.add(p.add(p.mul(tap, dim.tapStep), pixel), dim.tapOffset);
}

namespace {
/// The coordinates of an element in a block of pixels.
struct BlockElement {
  Value a, b, channel;
};
} // namespace

static BlockElement splitElement(PointBuilder &p, const PackedImages &images,
                                 Value element) {
  if (images.foldH * images.foldW == 1)
    return {p.index(0), p.index(0), element};
  auto split = [&](Value value, int64_t by) -> std::pair<Value, Value> {
    Value size = p.index(by);
    return {arith::DivUIOp::create(p.b, p.loc, value, size),
            arith::RemUIOp::create(p.b, p.loc, value, size)};
  };
  auto [pixel, channel] = split(element, images.channelStep);
  auto [a, b] = split(pixel, images.foldW);
  // Elements past the last pixel are padding: a channel that is out of bounds
  // reads as zero.
  Value isPixel = arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ult,
                                        a, p.index(images.foldH));
  return {a, b,
          arith::SelectOp::create(p.b, p.loc, isPixel, channel,
                                  p.index(images.channels))};
}

/// The coordinates in the filter of the element at `at` of the packed filter.
static PointBuilder::Values
locateInFilter(PointBuilder &p, const PackedGeometry &g, ValueRange at) {
  if (g.isData())
    return {at[5], getFilterRow(p, g.height, at[3], at[0]),
            getFilterRow(p, g.width, at[4], at[1]), at[2]};
  BlockElement element = splitElement(p, *g.images, at[3]);
  return {at[0], getFilterRow(p, g.height, at[1], element.a),
          getFilterRow(p, g.width, at[2], element.b), element.channel};
}

/// A thread packs 16 bytes of a tap. For backward data each element comes from
/// a row of the filter, so the points are ordered such that neighbouring
/// threads read neighbouring channels of each row.
static Packing makeFilterPacking(func::FuncOp function, Value source,
                                 Value target, const PackedGeometry &g) {
  Value from = getArgument(function, source);
  SmallVector<int64_t> shape = g.getFilterShape();
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size() - 1; d > 0; --d)
    strides[d - 1] = strides[d] * shape[d];
  Value to = setArgumentType(
      getArgument(function, target),
      MemRefType::get(shape, getMemRefType(target).getElementType(),
                      StridedLayoutAttr::get(function.getContext(),
                                             getOffset(target), strides)));
  SmallVector<int64_t> points = shape;
  const int64_t unit = getUnit(to);
  points.back() /= unit;
  constexpr size_t kChannel = 2;
  if (g.isData())
    std::rotate(points.begin() + kChannel, points.begin() + kChannel + 1,
                points.end());
  return {SmallVector<Size>(ArrayRef(points)),
          [=, &g](PointBuilder &p, ValueRange point) {
            PointBuilder::Values at(point), elements;
            if (g.isData())
              std::rotate(at.begin() + kChannel, at.end() - 1, at.end());
            Value first = p.mul(at.back(), unit);
            for (int64_t i = 0; i < unit; ++i) {
              at.back() = p.add(first, i);
              elements.push_back(
                  p.loadBlock(from, 3, 1, locateInFilter(p, g, at)));
            }
            at.back() = first;
            p.storeBlock(p.makeBlock(elements), to, shape.size() - 1, at);
          }};
}

//===----------------------------------------------------------------------===//
// One launch for both
//===----------------------------------------------------------------------===//

/// Packs two tensors in one launch.
static void packBoth(PointBuilder &p, ArrayRef<Packing> packings) {
  auto countGroups = [&](const Packing &packing) {
    Size points = 1;
    for (const Size &size : packing.points)
      points = p.multiply(points, size);
    return p.divideUp(points, kThreads);
  };
  const std::array counts = {countGroups(packings[0]),
                             countGroups(packings[1])};
  ValueRange at =
      p.forEachPointOf({p.add(counts[0], counts[1]), kThreads}, kThreads);
  Value thread = at[1];
  auto pack = [&](const Packing &packing, Value number) {
    Value position = p.add(p.mul(number, kThreads), thread);
    packing.packPoint(p, p.splitPosition(packing.points, position));
  };
  p.shareGroups(
      at[0], counts, [&](Value number) { pack(packings[0], number); },
      [&](Value number) { pack(packings[1], number); });
}

void tessera::buildPacking(dnn::ConvOp conv, const PackedGeometry &g,
                           const PackedTensors &tensors, bool hasWarps) {
  func::FuncOp function = prependKernel(conv, "_pack");
  OpBuilder b(function.getBody().front().getTerminator());
  PointBuilder p(b, conv.getLoc());
  SmallVector<Packing> packings;
  // Only few workgroups pack the filter: they start first, so that the launch
  // does not end with them.
  if (tensors.filter)
    packings.push_back(
        makeFilterPacking(function, conv.getW(), tensors.filter, g));
  const ConvProgram program(conv);
  if (g.images)
    packings.push_back(makeImagePacking(p, function,
                                        g.isData() ? program.y : program.x,
                                        tensors.images, *g.images, hasWarps));
  if (g.gradient)
    packings.push_back(makeImagePacking(
        p, function, program.y, tensors.gradient, *g.gradient, hasWarps));
  if (packings.size() == 1)
    packings[0].packPoint(p, p.forEachPointOf(packings[0].points, kThreads));
  else
    packBoth(p, packings);
}

//===----------------------------------------------------------------------===//
// The split reduction of backward weights
//===----------------------------------------------------------------------===//

/// The tap and the pixel of a block that row `row` of the filter belongs to.
static std::pair<Value, Value> splitRow(PointBuilder &p, const PackedDim &dim,
                                        Value row) {
  Value all = p.add(row, -dim.tapOffset), fold = p.index(dim.fold);
  return {arith::DivUIOp::create(p.b, p.loc, all, fold),
          arith::RemUIOp::create(p.b, p.loc, all, fold)};
}

/// The coordinates in one partial result of the element that is stored at `at`
/// of the filter.
static PointBuilder::Values
locatePartial(PointBuilder &p, const PackedGeometry &g, ValueRange at) {
  auto [line, a] = splitRow(p, g.height, at[1]);
  auto [tap, pixel] = splitRow(p, g.width, at[2]);
  pixel = p.add(p.mul(a, g.width.fold), pixel);
  Value inRun = p.add(p.add(p.mul(tap, g.getTapElements()),
                            p.mul(pixel, g.images->channelStep)),
                      at[3]);
  if (!g.hasTapRows)
    return {at[0], line, inRun};
  Value block = p.index(g.getTapBlock());
  return {arith::DivUIOp::create(p.b, p.loc, inRun, block), line,
          arith::RemUIOp::create(p.b, p.loc, inRun, block), at[0]};
}

void tessera::buildPackedReduction(dnn::ConvOp conv, Value partials,
                                   const PackedGeometry &g) {
  // All loads of an iteration come before the first addition, so that they are
  // in flight together. Past the last split they read as zero.
  constexpr int64_t kAtOnce = 64, kReductionThreads = 64;
  ConvProgram program(conv);
  func::FuncOp function = appendKernel(conv, "_sum");
  OpBuilder b(function.getBody().front().getTerminator());
  PointBuilder p(b, conv.getLoc());
  Value memory = getArgument(function, partials);
  const int64_t splits = getMemRefType(memory).getDimSize(0);
  // Neighbouring threads read neighbouring elements of the partial results,
  // which are channels of y if those are the columns. Stores may be less well
  // coalesced: there are many partial results, but one sum.
  const ConvTensor &w = program.w;
  SmallVector<int64_t> points = {g.shape.outChannels, w.getSpatialSize(0),
                                 w.getSpatialSize(1), g.shape.inChannels};
  if (g.hasTapRows)
    std::rotate(points.begin(), points.begin() + 1, points.end());
  PointBuilder::Values at(p.forEachPoint(points, kReductionThreads));
  if (g.hasTapRows)
    std::rotate(at.begin(), at.end() - 1, at.end());
  const PointBuilder::Values indices = locatePartial(p, g, at);
  Value none = p.zero(getMemRefType(memory).getElementType(), 1);
  const int64_t iterations = llvm::divideCeilSigned(splits, kAtOnce);
  Value sum =
      p.loop(iterations, none, [&](Value iteration, ValueRange carried) {
        PointBuilder::Values elements;
        for (int64_t i = 0; i < std::min(splits, kAtOnce); ++i) {
          PointBuilder::Values from = {p.add(p.mul(iteration, kAtOnce), i)};
          llvm::append_range(from, indices);
          elements.push_back(p.loadBlock(memory, indices.size(), 1, from));
        }
        Value next = carried[0];
        for (Value element : elements)
          next = p.addBlocks(next, element);
        return PointBuilder::Values{next};
      })[0];
  emitResult(p, program, sum, w.getChannelDim(),
             w.order(at[0], at[3], {at[1], at[2]}), function.getArguments());
}

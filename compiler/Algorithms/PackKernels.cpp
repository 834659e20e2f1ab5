//===- PackKernels.cpp - Into the packed form, and out of it --------------===//
//
// Point programs. A thread writes 16 bytes at a time, which it collects element
// by element: what is outside of its tensor reads as zero, and so fills borders
// and channels alike.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Packed.h"
#include "compiler/Algorithms/PartSum.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

static constexpr int64_t kThreads = 256, kUnit = 8;

/// What `argument` of the function of the convolution is in another kernel.
static Value getArgument(func::FuncOp function, Value argument) {
  return function.getArgument(cast<BlockArgument>(argument).getArgNumber());
}

/// Gives an argument of a kernel another type; a kernel sees an address.
static Value setType(func::FuncOp function, Value argument, MemRefType type) {
  Value memory = getArgument(function, argument);
  memory.setType(type);
  function.setFunctionType(
      FunctionType::get(function.getContext(),
                        function.getBody().front().getArgumentTypes(), {}));
  return memory;
}

static MemRefType getMemRefType(Value memory) {
  return cast<MemRefType>(memory.getType());
}

static int64_t getOffset(Value memory) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  (void)getMemRefType(memory).getStridesAndOffset(strides, offset);
  return offset;
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

/// One pixel of a block, or a part of one.
static Value loadElement(PointBuilder &p, Value source, ValueRange block,
                         const PackedImages &images, Value a, Value b,
                         Value channel) {
  Value row = p.add(p.mul(block[1], images.foldH), a);
  Value column =
      p.add(p.mul(p.add(block[2], images.firstColumn), images.foldW), b);
  return p.loadBlock(source, 3, 1, {block[0], row, column, channel});
}

/// A thread has a whole block.
static void packBlock(PointBuilder &p, Value source, Value target,
                      const PackedImages &images) {
  ValueRange block =
      p.forEachPoint({images.batch, images.rows, images.columns}, kThreads);
  PointBuilder::Values elements;
  for (int64_t a = 0; a < images.foldH; ++a)
    for (int64_t b = 0; b < images.foldW; ++b)
      for (int64_t c = 0; c < images.channels; ++c)
        elements.push_back(loadElement(p, source, block, images, p.index(a),
                                       p.index(b), p.index(c)));
  elements.resize(images.elements,
                  p.zero(getMemRefType(target).getElementType(), 1));
  for (int64_t first = 0; first < images.elements; first += kUnit)
    p.storeBlock(p.makeBlock(ArrayRef(elements).slice(first, kUnit)), target, 3,
                 {block[0], block[1], block[2], p.index(first)});
}

/// A thread has 8 channels of a pixel.
static void packChannels(PointBuilder &p, Value source, Value target,
                         const PackedImages &images) {
  ValueRange point =
      p.forEachPoint({images.batch, images.rows, images.columns, images.foldH,
                      images.foldW, images.channelStep / kUnit},
                     kThreads);
  Value channel = p.mul(point[5], kUnit);
  PointBuilder::Values elements;
  for (int64_t i = 0; i < kUnit; ++i)
    elements.push_back(loadElement(p, source, point, images, point[3], point[4],
                                   p.add(channel, i)));
  Value pixel = p.add(p.mul(point[3], images.foldW), point[4]);
  p.storeBlock(p.makeBlock(elements), target, 3,
               {point[0], point[1], point[2],
                p.add(p.mul(pixel, images.channelStep), channel)});
}

void tessera::buildImagePacking(dnn::ConvOp conv, Value source, Value target,
                                const PackedImages &images, StringRef suffix) {
  func::FuncOp function = prependKernel(conv, suffix);
  OpBuilder b(function.getBody().front().getTerminator());
  PointBuilder p(b, conv.getLoc());
  Value from = getArgument(function, source);
  Value to = setType(function, target,
                     images.getType(getMemRefType(target).getElementType(),
                                    getOffset(target)));
  if (images.isSmall())
    packBlock(p, from, to, images);
  else
    packChannels(p, from, to, images);
}

//===----------------------------------------------------------------------===//
// The filter
//===----------------------------------------------------------------------===//

static Value getFilterRow(PointBuilder &p, const PackedDim &dim, Value tap,
                          Value pixel) {
  return p.add(p.add(p.mul(tap, dim.tapFactor), pixel), dim.tapOffset);
}

namespace {
/// An element of a block: which pixel, which channel.
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
  // Behind the last pixel there is no channel.
  Value isPixel = arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ult,
                                        a, p.index(images.foldH));
  return {a, b,
          arith::SelectOp::create(p.b, p.loc, isPixel, channel,
                                  p.index(images.channels))};
}

void tessera::buildFilterPacking(dnn::ConvOp conv, Value target,
                                 const PackedGeometry &g) {
  func::FuncOp function = prependKernel(conv, "_filter");
  OpBuilder b(function.getBody().front().getTerminator());
  PointBuilder p(b, conv.getLoc());
  Value from = getArgument(function, conv.getW());
  SmallVector<int64_t> shape = g.getFilterShape();
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size() - 1; d > 0; --d)
    strides[d - 1] = strides[d] * shape[d];
  Value to =
      setType(function, target,
              MemRefType::get(shape, getMemRefType(target).getElementType(),
                              StridedLayoutAttr::get(
                                  b.getContext(), getOffset(target), strides)));
  ValueRange at = p.forEachPoint(shape, kThreads);
  PointBuilder::Values place;
  if (g.isData()) {
    place = {at[5], getFilterRow(p, g.height, at[3], at[0]),
             getFilterRow(p, g.width, at[4], at[1]), at[2]};
  } else {
    BlockElement element = splitElement(p, *g.images, at[3]);
    place = {at[0], getFilterRow(p, g.height, at[1], element.a),
             getFilterRow(p, g.width, at[2], element.b), element.channel};
  }
  p.storeBlock(p.loadBlock(from, 3, 1, place), to, shape.size() - 1, at);
}

//===----------------------------------------------------------------------===//
// The sums of backward weights
//===----------------------------------------------------------------------===//

/// The tap of a row of the filter, and the pixel of its block.
static std::pair<Value, Value> splitRow(PointBuilder &p, const PackedDim &dim,
                                        Value row) {
  Value all = p.add(row, -dim.tapOffset), fold = p.index(dim.fold);
  return {arith::DivUIOp::create(p.b, p.loc, all, fold),
          arith::RemUIOp::create(p.b, p.loc, all, fold)};
}

void tessera::buildPackedSum(dnn::ConvOp conv, Value sums,
                             const PackedGeometry &g) {
  // Loads before the first sum, so that they are under way together; behind the
  // last part they give zero.
  constexpr int64_t kAtOnce = 64, kSumThreads = 64;
  ConvProgram program(conv);
  func::FuncOp function = appendKernel(conv, "_sum");
  OpBuilder b(function.getBody().front().getTerminator());
  PointBuilder p(b, conv.getLoc());
  Value memory = getArgument(function, sums);
  const int64_t parts = getMemRefType(memory).getDimSize(0);
  ValueRange at = p.forEachPoint(program.w.getType().getShape(), kSumThreads);
  auto [line, a] = splitRow(p, g.height, at[1]);
  auto [tap, pixel] = splitRow(p, g.width, at[2]);
  pixel = p.add(p.mul(a, g.width.fold), pixel);
  Value column = p.add(p.add(p.mul(tap, g.getTapElements()),
                             p.mul(pixel, g.images->channelStep)),
                       at[3]);
  Value none = p.zero(getMemRefType(memory).getElementType(), 1);
  const int64_t turns = llvm::divideCeilSigned(parts, kAtOnce);
  Value sum = p.loop(turns, none, [&](Value turn, ValueRange carried) {
    PointBuilder::Values elements;
    for (int64_t i = 0; i < std::min(parts, kAtOnce); ++i)
      elements.push_back(p.loadBlock(
          memory, 3, 1, {p.add(p.mul(turn, kAtOnce), i), at[0], line, column}));
    Value next = carried[0];
    for (Value element : elements)
      next = p.addBlocks(next, element);
    return PointBuilder::Values{next};
  })[0];
  emitResult(p, program, sum, 3, at, function.getArguments());
}

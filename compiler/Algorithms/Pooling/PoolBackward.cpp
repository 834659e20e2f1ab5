//===- PoolBackward.cpp - A pooling's gradient as a point program ---------===//
//
// The program is a gather: each element of dx adds up the gradients of the
// windows that contain it, in ascending order, so no atomics are needed and
// every run gives the same bits. Along each dimension a thread owns a multiple
// of the stride of pixels. Hence all threads have the same relation between
// their pixels and the windows that contain them, no coordinate is divided, and
// each dy is loaded once for all pixels of a thread.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Pooling/PoolBackward.h"
#include "compiler/Algorithms/Pooling/PoolProgram.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

namespace {
/// The pixels that a thread owns and the outputs that it reads, along one
/// dimension.
struct Span {
  int64_t outputs; ///< The number of strides that the pixels make up.
  int64_t pixels;
  int64_t first; ///< The first and the last output whose window contains one of
  int64_t last;  ///< the pixels, relative to the block's first output.
};

/// The same in all dimensions, for the unrolled program.
struct OwnBlock {
  std::array<Span, 3> spans;
  std::array<int64_t, 3> pixels;
  std::array<int64_t, 3> outputs; ///< Outputs from `first` to `last`.
  PoolCoordinates at;             ///< The first pixel.
  PoolCoordinates origin;         ///< The block's first output.
};
} // namespace

static std::array<Span, 3> getSpans(const PoolGeometry &g,
                                    const PoolTile &tile) {
  std::array<Span, 3> spans;
  int64_t outputs[] = {1, tile.rows, tile.columns};
  for (int dim = 0; dim < 3; ++dim) {
    int64_t stride = g.dims.strides[dim], pad = g.dims.pads[dim];
    int64_t pixels = outputs[dim] * stride;
    spans[dim] = {outputs[dim], pixels,
                  llvm::divideFloorSigned(pad - g.dims.window[dim], stride) + 1,
                  (pixels - 1 + pad) / stride};
  }
  return spans;
}

bool tessera::hasOneWindow(const PoolGeometry &geometry) {
  const dnn::PoolDims &d = geometry.dims;
  for (int dim = 0; dim < 3; ++dim)
    if (d.out[dim] != 1 || d.in[dim] + d.pads[dim] > d.window[dim])
      return false;
  return true;
}

bool tessera::isBackwardUnrolled(const PoolGeometry &geometry,
                                 const PoolTile &tile) {
  if (hasOneWindow(geometry))
    return false;
  // Each pixel has an accumulator in registers, and each pair of a pixel and a
  // window takes some instructions for each channel.
  constexpr double kMaxPixels = 128;
  constexpr double kMaxPairs = 1024;
  double pixels = tile.channels, windows = 1;
  for (const auto &[dim, span] : llvm::enumerate(getSpans(geometry, tile))) {
    pixels *= static_cast<double>(span.pixels);
    windows *= static_cast<double>(llvm::divideCeilSigned(
        geometry.dims.window[dim], geometry.dims.strides[dim]));
  }
  return pixels <= kMaxPixels && pixels * windows <= kMaxPairs;
}

namespace {
/// Writes the program of one op.
class BackwardProgram {
public:
  BackwardProgram(dnn::PoolOp op, const PoolTile &tile);
  void build();

private:
  void emitUnrolled();
  void emitLoops();

  OwnBlock locateBlock();
  Value getPixelIndex(Value firstPixel, const std::array<int64_t, 3> &position,
                      const std::array<int64_t, 3> &pixel);
  Value getTerm(Value gradient, Value index, Value number);
  Value getGradient(PoolTensor::Loaded loaded,
                    const std::array<Value, 3> &output);
  Value getSavedIndex(Value loaded);
  void store(ArrayRef<Value> sums, const PoolCoordinates &at);

  dnn::PoolOp op;
  const PoolGeometry g;
  const PoolTile tile;
  OpBuilder b;
  PoolBuilder p;
  PoolTensor x;
  PoolTensor y;
  std::optional<PoolTensor> indices;
  PoolMath math;
  PoolCoordinates
      block{}; ///< The thread's block of pixels, in units of blocks.
};
} // namespace

BackwardProgram::BackwardProgram(dnn::PoolOp op, const PoolTile &tile)
    : op(op), g(op), tile(tile), b(op), p(b, op),
      x(op.getX(), op.getXLayout(), g.x, tile.channels),
      y(op.getY(), op.getYLayout(), g.y, tile.channels), math(g, y) {
  if (g.isMax())
    indices.emplace(op.getIndices(), op.getYLayout(), g.indices, tile.channels);
}

//===----------------------------------------------------------------------===//
// One term of a sum
//===----------------------------------------------------------------------===//

/// The gradient that the window of `output` passes to each of its elements, or,
/// of a maximum, to one of them.
Value BackwardProgram::getGradient(PoolTensor::Loaded loaded,
                                   const std::array<Value, 3> &output) {
  Value value = math.extend(p, loaded, /*mayBeOutside=*/true);
  if (g.isMax() || !g.countsElements())
    return value;
  return arith::MulFOp::create(b, p.loc, value, math.getReciprocal(p, output));
}

Value BackwardProgram::getSavedIndex(Value loaded) {
  return math.resizeIndices(p, loaded,
                            getElementTypeOrSelf(math.getIndexType()));
}

/// The share of `gradient` that element `number` gets: all or nothing of a
/// maximum, whose saved index is `index`.
Value BackwardProgram::getTerm(Value gradient, Value index, Value number) {
  if (!g.isMax())
    return gradient;
  Value isMaximum =
      arith::CmpIOp::create(b, p.loc, arith::CmpIPredicate::eq, index, number);
  return arith::SelectOp::create(b, p.loc, isMaximum, gradient,
                                 p.splat(gradient.getType(), 0.0));
}

/// Stores neighbouring pixels of a row. The sum of a pixel that is in no window
/// is null.
void BackwardProgram::store(ArrayRef<Value> sums, const PoolCoordinates &at) {
  SmallVector<Value> values;
  for (Value sum : sums) {
    if (!sum)
      sum = p.splat(math.getComputeType(), 0.0);
    else if (!g.isMax() && !g.countsElements())
      sum = arith::MulFOp::create(b, p.loc, sum, math.getReciprocal(p, {}));
    values.push_back(math.narrow(p, sum));
  }
  x.storeRow(p, values, at);
}

//===----------------------------------------------------------------------===//
// Unrolled
//===----------------------------------------------------------------------===//

OwnBlock BackwardProgram::locateBlock() {
  OwnBlock own{getSpans(g, tile), {}, {}, block, block};
  for (int dim = 0; dim < 3; ++dim) {
    const Span &span = own.spans[dim];
    own.at[kDepth + dim] = p.mul(block[kDepth + dim], span.pixels);
    own.origin[kDepth + dim] = p.mul(block[kDepth + dim], span.outputs);
    own.pixels[dim] = span.pixels;
    own.outputs[dim] = span.last - span.first + 1;
  }
  own.at[kChannel] = own.origin[kChannel] =
      p.mul(block[kChannel], tile.channels);
  return own;
}

/// The index that a window saves for the pixel at `position` of the window;
/// null for averages. `firstPixel` is the linear index of the block's first
/// pixel in the image.
Value BackwardProgram::getPixelIndex(Value firstPixel,
                                     const std::array<int64_t, 3> &position,
                                     const std::array<int64_t, 3> &pixel) {
  if (!g.isMax())
    return {};
  if (g.indexMode == dnn::IndexMode::Mask)
    return p.splat(math.getIndexType(),
                   getLinearIndex(position, g.dims.window));
  return math.broadcast(p, p.add(firstPixel, math.getDistance(p, pixel)));
}

void BackwardProgram::emitUnrolled() {
  const OwnBlock own = locateBlock();
  PoolPixels gradients(y, own.origin, y.getColumnVector(tile.columns));
  std::optional<PoolPixels> saved;
  Value firstPixel;
  if (indices) {
    saved.emplace(*indices, own.origin, indices->getColumnVector(tile.columns));
    if (g.indexMode == dnn::IndexMode::Image)
      firstPixel = math.getLinearIndex(
          p, {own.at[kDepth], own.at[kRow], own.at[kColumn]}, g.dims.in);
  }

  std::vector<Value> sums(own.pixels[0] * own.pixels[1] * own.pixels[2]);
  forEachIndex(own.outputs, [&](std::array<int64_t, 3> offset) {
    std::array<int64_t, 3> output;
    std::array<Value, 3> outputAt;
    for (int dim = 0; dim < 3; ++dim) {
      output[dim] = own.spans[dim].first + offset[dim];
      outputAt[dim] = p.add(own.origin[kDepth + dim], output[dim]);
    }
    Value gradient, index;
    forEachIndex(own.pixels, [&](std::array<int64_t, 3> pixel) {
      std::array<int64_t, 3> position;
      for (int dim = 0; dim < 3; ++dim)
        position[dim] =
            pixel[dim] + g.dims.pads[dim] - output[dim] * g.dims.strides[dim];
      if (!isInBounds(position, g.dims.window))
        return;
      if (!gradient) {
        gradient = getGradient(gradients.read(p, output), outputAt);
        if (saved)
          index = getSavedIndex(saved->read(p, output).value);
      }
      Value &sum = sums[getLinearIndex(pixel, own.pixels)];
      Value term =
          getTerm(gradient, index, getPixelIndex(firstPixel, position, pixel));
      sum = sum ? arith::AddFOp::create(b, p.loc, sum, term).getResult() : term;
    });
  });
  forEachIndex({own.pixels[0], own.pixels[1], 1},
               [&](std::array<int64_t, 3> row) {
                 PoolCoordinates coordinates = own.at;
                 coordinates[kDepth] = p.add(coordinates[kDepth], row[0]);
                 coordinates[kRow] = p.add(coordinates[kRow], row[1]);
                 store(ArrayRef<Value>(sums).slice(
                           getLinearIndex(row, own.pixels), own.pixels[2]),
                       coordinates);
               });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The outputs whose windows contain coordinate `at` along `dim`.
static std::array<Value, 2> getOutputsAt(PoolBuilder &p, const PoolGeometry &g,
                                         int dim, Value at) {
  const dnn::PoolDims &d = g.dims;
  auto divide = [&](Value value) -> Value {
    return arith::DivUIOp::create(p.b, p.loc, value, p.index(d.strides[dim]));
  };
  Value padded = p.add(at, d.pads[dim]);
  Value last = divide(padded);
  Value first =
      divide(p.max(p.add(padded, d.strides[dim] - d.window[dim]), p.index(0)));
  return {first, p.min(p.add(last, 1), p.getOutputSize(dim, d.out[dim]))};
}

/// Emits loops over the windows that contain one pixel of each channel.
void BackwardProgram::emitLoops() {
  PoolCoordinates at = block;
  at[kChannel] = p.mul(block[kChannel], tile.channels);
  std::array<std::array<Value, 2>, 3> ranges;
  for (int dim = 0; dim < 3; ++dim)
    ranges[dim] = getOutputsAt(p, g, dim, at[kDepth + dim]);
  auto addOutput = [&](const std::array<Value, 3> &output,
                       PoolReduction partial) {
    PoolCoordinates coordinates = at;
    std::array<Value, 3> position;
    for (int dim = 0; dim < 3; ++dim) {
      coordinates[kDepth + dim] = output[dim];
      position[dim] = p.sub(p.add(at[kDepth + dim], g.dims.pads[dim]),
                            p.mul(output[dim], g.dims.strides[dim]));
    }
    constexpr PoolDim kInside[] = {kDepth, kRow, kColumn};
    Value gradient = getGradient(y.load(p, coordinates, kInside), output);
    Value index, number;
    if (indices) {
      index = getSavedIndex(indices->load(p, coordinates, kInside).value);
      bool isMask = g.indexMode == dnn::IndexMode::Mask;
      number = math.broadcast(
          p, isMask ? math.getLinearIndex(p, position, g.dims.window)
                    : math.getLinearIndex(
                          p, {at[kDepth], at[kRow], at[kColumn]}, g.dims.in));
    }
    Value term = getTerm(gradient, index, number);
    return PoolReduction{arith::AddFOp::create(b, p.loc, partial.value, term),
                         nullptr};
  };
  PoolReduction sum{p.splat(math.getComputeType(), 0.0), nullptr};
  if (hasOneWindow(g)) {
    std::array<Value, 3> first;
    first.fill(p.index(0));
    return store(addOutput(first, sum).value, at);
  }
  sum = reduceRange(p, ranges[0], 1, sum, [&](Value d, PoolReduction partial) {
    return reduceRange(
        p, ranges[1], 1, partial, [&](Value h, PoolReduction partial) {
          return reduceRangeUnrolled(p, ranges[2], partial,
                                     [&](Value w, PoolReduction partial) {
                                       return addOutput({d, h, w}, partial);
                                     });
        });
  });
  store(sum.value, at);
}

void BackwardProgram::build() {
  bool unrolls = isBackwardUnrolled(g, tile);
  std::array<int64_t, 5> owned = {1, tile.channels, 1, 1, 1};
  if (unrolls)
    for (const auto &[dim, span] : llvm::enumerate(getSpans(g, tile)))
      owned[kDepth + dim] = span.pixels;
  block = startPoints(b, op, g.x.sizes, owned, g.x.hasChannelsLast(), {1, 1},
                      op.getX(), op.getXLayout())
              .block;
  if (unrolls)
    emitUnrolled();
  else
    emitLoops();
  op.erase();
}

void tessera::buildPoolBackward(dnn::PoolOp pool, const PoolTile &tile) {
  BackwardProgram(pool, tile).build();
}

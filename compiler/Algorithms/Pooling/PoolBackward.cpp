//===- PoolBackward.cpp - A pooling's gradient as a point program ---------===//
//
// A gather: each element of dx sums what the windows that contain it hand down,
// in ascending order, so no atomics are needed and every run gives the same
// bits. A thread owns as many pixels along a dimension as the stride is long,
// or a multiple: then which windows contain which of its pixels is the same for
// all threads, nothing is divided, and each dy is loaded once for all of them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Pooling/PoolBackward.h"
#include "compiler/Algorithms/Pooling/PoolProgram.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

namespace {
/// What a thread owns and needs along one dimension.
struct Span {
  int64_t outputs; ///< Whole strides of pixels.
  int64_t pixels;
  int64_t first; ///< The outputs whose windows contain one of the pixels,
  int64_t last;  ///< counted from the block's first.
};

/// What a thread owns and needs, where both are written out.
struct OwnBlock {
  std::array<Span, 3> spans;
  std::array<int64_t, 3> pixels;
  std::array<int64_t, 3> outputs; ///< From the first of the spans on.
  PoolPlace at;                   ///< Of the first pixel.
  PoolPlace origin;               ///< Of the block's first output.
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

bool tessera::isBackwardWrittenOut(const PoolGeometry &geometry,
                                   const PoolTile &tile) {
  if (hasOneWindow(geometry))
    return false;
  // Each pixel is a sum in registers, and each meeting of a pixel and a window
  // some instructions for each channel.
  constexpr double kMaxPixels = 128;
  constexpr double kMaxMeetings = 1024;
  double pixels = tile.channels, windows = 1;
  for (const auto &[dim, span] : llvm::enumerate(getSpans(geometry, tile))) {
    pixels *= static_cast<double>(span.pixels);
    windows *= static_cast<double>(llvm::divideCeilSigned(
        geometry.dims.window[dim], geometry.dims.strides[dim]));
  }
  return pixels <= kMaxPixels && pixels * windows <= kMaxMeetings;
}

namespace {
/// Writes the program of one op.
class BackwardProgram {
public:
  BackwardProgram(dnn::PoolOp op, const PoolTile &tile);
  void build();

private:
  void writeOut();
  void walk();

  OwnBlock locateBlock();
  Value getPixelIndex(Value firstPixel, const std::array<int64_t, 3> &position,
                      const std::array<int64_t, 3> &pixel);
  Value getTerm(Value gradient, Value index, Value number);
  Value getGradient(PoolTensor::Loaded loaded,
                    const std::array<Value, 3> &output);
  Value getSavedIndex(Value loaded);
  void store(ArrayRef<Value> sums, const PoolPlace &at);

  dnn::PoolOp op;
  const PoolGeometry g;
  const PoolTile tile;
  OpBuilder b;
  PoolBuilder p;
  PoolTensor x;
  PoolTensor y;
  std::optional<PoolTensor> indices;
  PoolMath math;
  PoolPlace block{}; ///< Numbers of the thread's block of pixels.
};
} // namespace

BackwardProgram::BackwardProgram(dnn::PoolOp op, const PoolTile &tile)
    : op(op), g(op), tile(tile), b(op), p(b, op.getLoc(), op->getBlock()),
      x(op.getX(), op.getXLayout(), g.x, tile.channels),
      y(op.getY(), op.getYLayout(), g.y, tile.channels), math(g, y) {
  if (g.isMax())
    indices.emplace(op.getIndices(), op.getYLayout(), g.indices, tile.channels);
}

//===----------------------------------------------------------------------===//
// One term of a sum
//===----------------------------------------------------------------------===//

/// What the window of `output` hands to each of its elements, or to one.
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

/// What of `gradient` the element gets that `number` names.
Value BackwardProgram::getTerm(Value gradient, Value index, Value number) {
  if (!g.isMax())
    return gradient;
  Value isIt =
      arith::CmpIOp::create(b, p.loc, arith::CmpIPredicate::eq, index, number);
  return arith::SelectOp::create(b, p.loc, isIt, gradient,
                                 p.splat(gradient.getType(), 0.0));
}

/// Stores neighbouring pixels of a row; a sum without terms is null.
void BackwardProgram::store(ArrayRef<Value> sums, const PoolPlace &at) {
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
// Written out
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

/// By which index a window names the pixel that is at `position` of it; null of
/// averages. `firstPixel` is the number of the block's first in the image.
Value BackwardProgram::getPixelIndex(Value firstPixel,
                                     const std::array<int64_t, 3> &position,
                                     const std::array<int64_t, 3> &pixel) {
  if (!g.isMax())
    return {};
  if (g.indexMode == dnn::IndexMode::Mask)
    return p.splat(math.getIndexType(), getNumber(position, g.dims.window));
  return math.broadcast(
      p, p.add(firstPixel,
               p.splat(firstPixel.getType(), getNumber(pixel, g.dims.in))));
}

void BackwardProgram::writeOut() {
  const OwnBlock own = locateBlock();
  PoolPixels gradients(y, own.origin, y.getColumnVector(tile.columns));
  std::optional<PoolPixels> saved;
  Value firstPixel;
  if (indices) {
    saved.emplace(*indices, own.origin, indices->getColumnVector(tile.columns));
    firstPixel = math.getNumber(
        p, {own.at[kDepth], own.at[kRow], own.at[kColumn]}, g.dims.in);
  }

  std::vector<Value> sums(own.pixels[0] * own.pixels[1] * own.pixels[2]);
  forEachInBox(own.outputs, [&](std::array<int64_t, 3> offset) {
    std::array<int64_t, 3> output;
    std::array<Value, 3> outputAt;
    for (int dim = 0; dim < 3; ++dim) {
      output[dim] = own.spans[dim].first + offset[dim];
      outputAt[dim] = p.add(own.origin[kDepth + dim], output[dim]);
    }
    Value gradient, index;
    forEachInBox(own.pixels, [&](std::array<int64_t, 3> pixel) {
      std::array<int64_t, 3> position;
      for (int dim = 0; dim < 3; ++dim)
        position[dim] =
            pixel[dim] + g.dims.pads[dim] - output[dim] * g.dims.strides[dim];
      if (!isInBox(position, g.dims.window))
        return;
      if (!gradient) {
        gradient = getGradient(gradients.read(p, output), outputAt);
        if (saved)
          index = getSavedIndex(saved->read(p, output).value);
      }
      Value &sum = sums[getNumber(pixel, own.pixels)];
      Value term =
          getTerm(gradient, index, getPixelIndex(firstPixel, position, pixel));
      sum = sum ? arith::AddFOp::create(b, p.loc, sum, term).getResult() : term;
    });
  });
  forEachInBox({own.pixels[0], own.pixels[1], 1},
               [&](std::array<int64_t, 3> row) {
                 PoolPlace place = own.at;
                 place[kDepth] = p.add(place[kDepth], row[0]);
                 place[kRow] = p.add(place[kRow], row[1]);
                 store(ArrayRef<Value>(sums).slice(getNumber(row, own.pixels),
                                                   own.pixels[2]),
                       place);
               });
}

//===----------------------------------------------------------------------===//
// Walked by loops
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
  return {first, p.min(p.add(last, 1), p.index(d.out[dim]))};
}

/// One pixel of each channel.
void BackwardProgram::walk() {
  PoolPlace at = block;
  at[kChannel] = p.mul(block[kChannel], tile.channels);
  std::array<std::array<Value, 2>, 3> ranges;
  for (int dim = 0; dim < 3; ++dim)
    ranges[dim] = getOutputsAt(p, g, dim, at[kDepth + dim]);
  auto walkOutput = [&](const std::array<Value, 3> &output, PoolReduction so) {
    PoolPlace place = at;
    std::array<Value, 3> position;
    for (int dim = 0; dim < 3; ++dim) {
      place[kDepth + dim] = output[dim];
      position[dim] = p.sub(p.add(at[kDepth + dim], g.dims.pads[dim]),
                            p.mul(output[dim], g.dims.strides[dim]));
    }
    constexpr PoolDim kInside[] = {kDepth, kRow, kColumn};
    Value gradient = getGradient(y.load(p, place, kInside), output);
    Value index, number;
    if (indices) {
      index = getSavedIndex(indices->load(p, place, kInside).value);
      bool isMask = g.indexMode == dnn::IndexMode::Mask;
      number = math.broadcast(
          p, isMask ? math.getNumber(p, position, g.dims.window)
                    : math.getNumber(p, {at[kDepth], at[kRow], at[kColumn]},
                                     g.dims.in));
    }
    Value term = getTerm(gradient, index, number);
    return PoolReduction{arith::AddFOp::create(b, p.loc, so.value, term),
                         nullptr};
  };
  PoolReduction sum{p.splat(math.getComputeType(), 0.0), nullptr};
  if (hasOneWindow(g)) {
    std::array<Value, 3> first;
    first.fill(p.index(0));
    return store(walkOutput(first, sum).value, at);
  }
  sum = walkRange(p, ranges[0], 1, sum, [&](Value d, PoolReduction so) {
    return walkRange(p, ranges[1], 1, so, [&](Value h, PoolReduction so) {
      return walkRangeAtOnce(p, ranges[2], so, [&](Value w, PoolReduction so) {
        return walkOutput({d, h, w}, so);
      });
    });
  });
  store(sum.value, at);
}

void BackwardProgram::build() {
  bool writesOut = isBackwardWrittenOut(g, tile);
  std::array<int64_t, 5> owned = {1, tile.channels, 1, 1, 1};
  if (writesOut)
    for (const auto &[dim, span] : llvm::enumerate(getSpans(g, tile)))
      owned[kDepth + dim] = span.pixels;
  block = startPoints(b, op, g.x.sizes, owned, g.x.hasChannelsLast()).block;
  if (writesOut)
    writeOut();
  else
    walk();
  op.erase();
}

void tessera::buildPoolBackward(dnn::PoolOp pool, const PoolTile &tile) {
  BackwardProgram(pool, tile).build();
}

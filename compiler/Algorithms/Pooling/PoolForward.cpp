//===- PoolForward.cpp - A pooling as a point program ---------------------===//
//
// Pooling is bound by memory, so every access has to be wide and no element is
// to be loaded twice. A thread owns neighbouring outputs whose windows share
// pixels: each pixel is loaded once and folded into every window that contains
// it. Windows that are too large to be unrolled are reduced by loops over their
// elements inside x, which therefore need no bounds check.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Pooling/PoolForward.h"
#include "compiler/Algorithms/Pooling/PoolFold.h"

using namespace mlir;
using namespace tessera;

bool tessera::isUnrolled(const PoolGeometry &geometry, const PoolTile &tile) {
  // Each pair of a pixel and a window takes some instructions for each channel.
  constexpr double kMaxPairs = 1024;
  constexpr double kMaxWindow = 128;
  constexpr double kMaxPixels = 1024; // Including those between the windows.
  const dnn::PoolDims &d = geometry.dims;
  double window = geometry.getWindowSize();
  double outputs = static_cast<double>(tile.rows) * tile.columns;
  double pixels =
      static_cast<double>(d.window[0]) *
      static_cast<double>((tile.rows - 1) * d.strides[1] + d.window[1]) *
      static_cast<double>((tile.columns - 1) * d.strides[2] + d.window[2]);
  return window <= kMaxWindow && pixels <= kMaxPixels &&
         window * outputs * tile.channels <= kMaxPairs;
}

namespace {
/// Writes the program of one op.
class ForwardProgram {
public:
  ForwardProgram(dnn::PoolOp op, const PoolTile &tile)
      : op(op), g(op), tile(tile), b(op), p(b, op),
        x(op.getX(), op.getXLayout(), g.x, tile.channels),
        fold(op, g, tile.channels) {}
  void build();

private:
  void emitUnrolled();
  void emitLoops();

  dnn::PoolOp op;
  const PoolGeometry g;
  const PoolTile tile;
  OpBuilder b;
  PoolBuilder p;
  PoolTensor x;
  PoolFold fold;
  PoolCoordinates
      block{}; ///< The thread's block of outputs, in units of blocks.
};
} // namespace

//===----------------------------------------------------------------------===//
// Unrolled
//===----------------------------------------------------------------------===//

/// Visits every pixel that one of the thread's windows contains, in ascending
/// order.
void ForwardProgram::emitUnrolled() {
  const auto &[n, c, in, out, window, pads, padsAfter, strides] = g.dims;
  std::array<int64_t, 3> outputs = {1, tile.rows, tile.columns};
  PoolCoordinates at = block, origin = block;
  std::array<int64_t, 3> end;
  for (int dim = 0; dim < 3; ++dim) {
    at[kDepth + dim] = p.mul(block[kDepth + dim], outputs[dim]);
    origin[kDepth + dim] =
        p.mul(block[kDepth + dim], outputs[dim] * strides[dim]);
    end[dim] = (outputs[dim] - 1) * strides[dim] + window[dim];
  }
  at[kChannel] = origin[kChannel] = p.mul(block[kChannel], tile.channels);
  PoolPixels pixels(x, origin, x.getColumnVector(outputs[2] * strides[2]));
  Value originIndex =
      g.hasIndices() && g.indexMode == dnn::IndexMode::Image
          ? fold.getMath().getLinearIndex(
                p, {origin[kDepth], origin[kRow], origin[kColumn]}, in)
          : Value();

  SmallVector<SmallVector<PoolReduction>> results(
      tile.rows, SmallVector<PoolReduction>(tile.columns, fold.start(p)));
  forEachIndex(end, [&](std::array<int64_t, 3> offset) {
    std::array<int64_t, 3> fromOrigin;
    for (int dim = 0; dim < 3; ++dim)
      fromOrigin[dim] = offset[dim] - pads[dim];
    Value pixel;
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t column = 0; column < tile.columns; ++column) {
        std::array<int64_t, 3> position = {offset[0],
                                           offset[1] - row * strides[1],
                                           offset[2] - column * strides[2]};
        if (!isInBounds(position, window))
          continue;
        if (!pixel)
          pixel = fold.getMath().extend(p, pixels.read(p, fromOrigin),
                                        g.isClipped());
        PoolReduction &result = results[row][column];
        result = fold.fold(p, result, pixel,
                           fold.getIndex(p, originIndex, fromOrigin, position));
      }
  });
  for (int64_t row = 0; row < tile.rows; ++row) {
    PoolCoordinates firstOfRow = at;
    firstOfRow[kRow] = p.add(at[kRow], row);
    fold.store(p, results[row], firstOfRow);
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Emits loops over the part of one output's window that is inside x.
void ForwardProgram::emitLoops() {
  PoolCoordinates output = block;
  output[kChannel] = p.mul(block[kChannel], tile.channels);
  PoolCoordinates first = output;
  std::array<std::array<Value, 2>, 3> ranges;
  for (int dim = 0; dim < 3; ++dim) {
    Value at = output[kDepth + dim];
    ranges[dim] = getPositionsInside(p, g, dim, at);
    first[kDepth + dim] =
        p.add(p.mul(at, g.dims.strides[dim]), -g.dims.pads[dim]);
  }
  PoolReduction result = reduceRange(
      p, ranges[0], 1, fold.start(p), [&](Value a, PoolReduction partial) {
        return reduceRange(
            p, ranges[1], 1, partial, [&](Value r, PoolReduction partial) {
              return reduceRangeUnrolled(
                  p, ranges[2], partial, [&](Value s, PoolReduction partial) {
                    return foldInside(p, fold, x, first, {a, r, s}, partial);
                  });
            });
      });
  fold.store(p, result, output);
}

void ForwardProgram::build() {
  bool unrolls = isUnrolled(g, tile);
  block = startPoints(b, op, g.y.sizes,
                      {1, tile.channels, 1, unrolls ? tile.rows : 1,
                       unrolls ? tile.columns : 1},
                      g.x.hasChannelsLast(), {1, 1}, op.getY(), op.getYLayout())
              .block;
  if (unrolls)
    emitUnrolled();
  else
    emitLoops();
  op.erase();
}

void tessera::buildPoolForward(dnn::PoolOp pool, const PoolTile &tile) {
  ForwardProgram(pool, tile).build();
}

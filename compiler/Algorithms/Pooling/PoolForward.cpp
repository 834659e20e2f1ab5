//===- PoolForward.cpp - A pooling as a point program ---------------------===//
//
// Pooling moves memory and computes next to nothing, so what counts is that
// every access is wide and that no element is asked for twice. A thread owns
// neighbouring outputs whose windows share pixels: each of these is loaded once
// and meets every window that contains it. Windows too large to be written out
// are walked by loops over their elements inside x, with no check in them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Pooling/PoolForward.h"
#include "compiler/Algorithms/Pooling/PoolFold.h"

using namespace mlir;
using namespace tessera;

bool tessera::isWrittenOut(const PoolGeometry &geometry, const PoolTile &tile) {
  // Each meeting of a pixel and a window is some instructions for each channel.
  constexpr double kMaxMeetings = 1024;
  constexpr double kMaxWindow = 128;
  constexpr double kMaxPixels = 1024; // Between the windows, too.
  const dnn::PoolDims &d = geometry.dims;
  double window = geometry.getWindowSize();
  double outputs = static_cast<double>(tile.rows) * tile.columns;
  double pixels =
      static_cast<double>(d.window[0]) *
      static_cast<double>((tile.rows - 1) * d.strides[1] + d.window[1]) *
      static_cast<double>((tile.columns - 1) * d.strides[2] + d.window[2]);
  return window <= kMaxWindow && pixels <= kMaxPixels &&
         window * outputs * tile.channels <= kMaxMeetings;
}

namespace {
/// Writes the program of one op.
class ForwardProgram {
public:
  ForwardProgram(dnn::PoolOp op, const PoolTile &tile)
      : op(op), g(op), tile(tile), b(op), p(b, op.getLoc(), op->getBlock()),
        x(op.getX(), op.getXLayout(), g.x, tile.channels),
        fold(op, g, tile.channels) {}
  void build();

private:
  void writeOut();
  void walk();

  dnn::PoolOp op;
  const PoolGeometry g;
  const PoolTile tile;
  OpBuilder b;
  PoolBuilder p;
  PoolTensor x;
  PoolFold fold;
  PoolPlace block{}; ///< Numbers of the thread's block of outputs.
};
} // namespace

//===----------------------------------------------------------------------===//
// Written out
//===----------------------------------------------------------------------===//

/// Every pixel that one of the thread's windows contains, in ascending order.
void ForwardProgram::writeOut() {
  const auto &[n, c, in, out, window, pads, strides] = g.dims;
  std::array<int64_t, 3> outputs = {1, tile.rows, tile.columns};
  PoolPlace at = block, origin = block;
  std::array<int64_t, 3> end;
  for (int dim = 0; dim < 3; ++dim) {
    at[kDepth + dim] = p.mul(block[kDepth + dim], outputs[dim]);
    origin[kDepth + dim] =
        p.mul(block[kDepth + dim], outputs[dim] * strides[dim]);
    end[dim] = (outputs[dim] - 1) * strides[dim] + window[dim];
  }
  at[kChannel] = origin[kChannel] = p.mul(block[kChannel], tile.channels);
  PoolPixels pixels(x, origin, x.getColumnVector(outputs[2] * strides[2]));
  Value originNumber =
      g.hasIndices()
          ? fold.getMath().getNumber(
                p, {origin[kDepth], origin[kRow], origin[kColumn]}, in)
          : Value();

  SmallVector<SmallVector<PoolReduction>> results(
      tile.rows, SmallVector<PoolReduction>(tile.columns, fold.start(p)));
  forEachInBox(end, [&](std::array<int64_t, 3> offset) {
    std::array<int64_t, 3> place;
    for (int dim = 0; dim < 3; ++dim)
      place[dim] = offset[dim] - pads[dim];
    Value pixel;
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t column = 0; column < tile.columns; ++column) {
        std::array<int64_t, 3> position = {offset[0],
                                           offset[1] - row * strides[1],
                                           offset[2] - column * strides[2]};
        if (!isInBox(position, window))
          continue;
        if (!pixel)
          pixel =
              fold.getMath().extend(p, pixels.read(p, place), g.isClipped());
        PoolReduction &result = results[row][column];
        result = fold.fold(p, result, pixel,
                           fold.getIndex(p, originNumber, place, position));
      }
  });
  for (int64_t row = 0; row < tile.rows; ++row) {
    PoolPlace place = at;
    place[kRow] = p.add(at[kRow], row);
    fold.store(p, results[row], place);
  }
}

//===----------------------------------------------------------------------===//
// Walked by loops
//===----------------------------------------------------------------------===//

/// The part of one output's window that is inside x.
void ForwardProgram::walk() {
  PoolPlace output = block;
  output[kChannel] = p.mul(block[kChannel], tile.channels);
  PoolPlace first = output;
  std::array<std::array<Value, 2>, 3> ranges;
  for (int dim = 0; dim < 3; ++dim) {
    Value at = output[kDepth + dim];
    ranges[dim] = getPositionsInside(p, g, dim, at);
    first[kDepth + dim] =
        p.add(p.mul(at, g.dims.strides[dim]), -g.dims.pads[dim]);
  }
  PoolReduction result =
      walkRange(p, ranges[0], 1, fold.start(p), [&](Value a, PoolReduction so) {
        return walkRange(p, ranges[1], 1, so, [&](Value r, PoolReduction so) {
          return walkRangeAtOnce(
              p, ranges[2], so, [&](Value s, PoolReduction so) {
                return foldInside(p, fold, x, first, {a, r, s}, so);
              });
        });
      });
  fold.store(p, result, output);
}

void ForwardProgram::build() {
  bool writesOut = isWrittenOut(g, tile);
  block = startPoints(b, op, g.y.sizes,
                      {1, tile.channels, 1, writesOut ? tile.rows : 1,
                       writesOut ? tile.columns : 1},
                      g.x.hasChannelsLast())
              .block;
  if (writesOut)
    writeOut();
  else
    walk();
  op.erase();
}

void tessera::buildPoolForward(dnn::PoolOp pool, const PoolTile &tile) {
  ForwardProgram(pool, tile).build();
}

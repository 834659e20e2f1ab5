//===- ToeplitzTaps.cpp - The products of backward weights ----------------===//
//
// The gradient of tap (i, j) is the sum over the pixels of y of a gradient
// times the pixel of x at its place plus (i, j). So two rows of x, seen from
// four first columns j, times the eight rows of gradients that meet them at tap
// rows i, as they are and four columns to the right, is the gradients of all
// taps: an instruction has four by two columns, eight by two rows, and a
// reduction of eight columns of two images. Two images are the halves of a
// register, so that a shift by a column is one by words.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Toeplitz/Toeplitz.h"

using namespace mlir;
using namespace tessera;

/// Columns of x that an instruction has of a row, and columns of a fragment.
static constexpr int64_t kColumns = 4;

void ToeplitzTaps::begin() {
  firstPlace = p.mul(frame.warp, tile.channels / frame.countWarps());
  below = p.div(frame.quad, kColumns);
  column = p.rem(frame.quad, kColumns);
}

PointBuilder::Values ToeplitzTaps::makeRows() const {
  return PointBuilder::Values(tile.channels / frame.countWarps() * kPair,
                              p.zero(program.getSumType(), kPair));
}

PointBuilder::Values ToeplitzTaps::addToRows(ValueRange rows, Add add) const {
  PointBuilder::Values next;
  for (size_t i = 0; i < rows.size(); i += kPair) {
    Value sum = add(p.add(firstPlace, static_cast<int64_t>(i / kPair)),
                    p.makeSums({rows[i], rows[i + 1]}));
    for (int64_t j = 0; j < kPair; ++j)
      next.push_back(p.getRow(sum, j));
  }
  return next;
}

/// Row g of the product is the gradients g rows above the last that meets the
/// second row of x, eight at most: what is behind the first one is it once
/// more.
Value ToeplitzTaps::getRowsAbove(Value number) const {
  return arith::MinUIOp::create(p.b, p.loc, number, p.index(depth - 1));
}

Value ToeplitzTaps::getWordOfX(const ToeplitzPlane &plane) const {
  return p.add(p.mul(below, plane.rowWords), p.add(frame.inQuad, column));
}

/// Four columns of gradients are part of two reductions, the second time as the
/// lower rows.
Value ToeplitzTaps::addPair(Columns y, Columns x, Value sum) const {
  Value none = p.zero(program.x.getElementType(), kPair);
  Value left = none;
  const int64_t count = tile.countColumns() / kColumns;
  for (int64_t i = 0; i < count; i += kPair) {
    Value own = y(i), right = y(i + 1);
    sum = p.multiplyMatrices({own, left, right, own},
                             PointBuilder::Values{x(i), x(i + 1)}, sum);
    left = right;
  }
  return p.multiplyMatrices({none, left}, PointBuilder::Values{x(count)}, sum);
}

/// A tap row has what the second row of x gave it, in lanes of two columns, and
/// what the first row gave the gradients one row further above, which are two
/// lanes away. What is no tap lies outside of the workspace, or is not read
/// there.
void ToeplitzTaps::store(Value parts, ValueRange rows) const {
  constexpr int64_t kLanes = kColumns / kPair;
  Value isSecond = arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::uge,
                                         frame.inQuad, p.index(kLanes));
  Value tap =
      arith::SelectOp::create(p.b, p.loc, isSecond, frame.quad, p.index(-1));
  Value first = p.mul(p.rem(frame.inQuad, kLanes), kPair);
  for (auto [i, row] : llvm::enumerate(rows)) {
    Value place = p.add(firstPlace, static_cast<int64_t>(i / kPair));
    p.storeBlock(p.addBlocks(row, p.getFromLane(row, kLanes)), parts, 3,
                 {frame.part, frame.getChannel(place), tap,
                  p.add(first, static_cast<int64_t>(i % kPair) * kColumns)});
  }
}

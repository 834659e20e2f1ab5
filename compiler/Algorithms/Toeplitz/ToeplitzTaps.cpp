//===- ToeplitzTaps.cpp - The products of backward weights ----------------===//
//
// The gradient of tap (i, j) is the sum, over the pixels of y, of a gradient
// times the pixel of x at its position plus (i, j). So the gradients of all
// taps are the product of two rows of x, each from four first columns j on, and
// the eight rows of gradients that meet them at tap rows i, each as it is and
// shifted by four columns to the right. An instruction has four by two columns,
// eight by two rows, and a reduction of eight columns of two images. The two
// images are the halves of a register, so that a shift by a column is a shift
// by words.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Toeplitz/Toeplitz.h"

using namespace mlir;
using namespace tessera;

/// The first columns of a row of x in an instruction, and the columns of a
/// fragment.
static constexpr int64_t kColumns = 4;

void ToeplitzTaps::begin() {
  firstPlane = p.mul(frame.warp, tile.channels / frame.countWarps());
  below = p.div(frame.quad, kColumns);
  column = p.rem(frame.quad, kColumns);
}

PointBuilder::Values ToeplitzTaps::makeRows() const {
  return PointBuilder::Values(tile.channels / frame.countWarps() * kPair,
                              p.zero(program.getAccType(), kPair));
}

PointBuilder::Values ToeplitzTaps::addToRows(ValueRange rows, Add add) const {
  PointBuilder::Values next;
  for (size_t i = 0; i < rows.size(); i += kPair) {
    Value accumulator = add(p.add(firstPlane, static_cast<int64_t>(i / kPair)),
                            p.makeSums({rows[i], rows[i + 1]}));
    for (int64_t j = 0; j < kPair; ++j)
      next.push_back(p.getRow(accumulator, j));
  }
  return next;
}

/// Row g of the product has the gradients g rows above the last row that meets
/// the second row of x. There are eight rows in an instruction; those above the
/// first row that is needed are that row again.
Value ToeplitzTaps::getRowsAbove(Value number) const {
  return arith::MinUIOp::create(p.b, p.loc, number, p.index(depth - 1));
}

Value ToeplitzTaps::getWordOfX(const ToeplitzPlane &plane) const {
  return p.add(p.mul(below, plane.rowWords), p.add(frame.inQuad, column));
}

/// Four columns of gradients take part in two reductions, in the second one as
/// the lower rows.
Value ToeplitzTaps::addPair(Columns y, Columns x, Value accumulator) const {
  Value none = p.zero(program.x.getElementType(), kPair);
  Value left = none;
  const int64_t count = tile.countColumns() / kColumns;
  for (int64_t i = 0; i < count; i += kPair) {
    Value own = y(i), right = y(i + 1);
    accumulator =
        p.multiplyMatrices({own, left, right, own},
                           PointBuilder::Values{x(i), x(i + 1)}, accumulator);
    left = right;
  }
  return p.multiplyMatrices({none, left}, PointBuilder::Values{x(count)},
                            accumulator);
}

/// The gradient of a row of taps is what the second row of x contributed, which
/// is in lanes of two columns, plus what the first row contributed with the
/// gradients one row further above, which is two lanes away. Elements that are
/// no tap are stored out of bounds, or where nothing reads them.
void ToeplitzTaps::store(Value partials, ValueRange rows) const {
  constexpr int64_t kLanes = kColumns / kPair;
  Value isSecond = arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::uge,
                                         frame.inQuad, p.index(kLanes));
  Value tap =
      arith::SelectOp::create(p.b, p.loc, isSecond, frame.quad, p.index(-1));
  Value first = p.mul(p.rem(frame.inQuad, kLanes), kPair);
  for (auto [i, row] : llvm::enumerate(rows)) {
    Value plane = p.add(firstPlane, static_cast<int64_t>(i / kPair));
    p.storeBlock(p.addBlocks(row, p.getFromLane(row, kLanes)), partials, 3,
                 {frame.split, frame.getChannel(plane), tap,
                  p.add(first, static_cast<int64_t>(i % kPair) * kColumns)});
  }
}

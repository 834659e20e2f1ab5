//===- ResultStatistics.cpp - Statistics of what a warp stages ------------===//

#include "compiler/Conversion/Hopper/ResultStatistics.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

ResultStatistics::ResultStatistics(Emitter &e, const HopperShape &shape,
                                   dnn::ViewOp result,
                                   const PartialsMemory &memory,
                                   const Thread &thread)
    : StagedPartials(e, shape, result, memory, thread) {
  count = makeVariable();
  const int64_t pieces = shape.countPieces(shape.getStoreColumns());
  for (int64_t i = 0; i < kPair * pieces; ++i) {
    Value mean = makeVariable(), squares = makeVariable();
    columns.push_back({count, mean, squares});
  }
  clear();
}

/// The shares are the same for all columns of these rows.
void ResultStatistics::beginRows(int64_t rowPiece) {
  rows = {};
  rows.mask = findResults(rowPiece);
  rows.first = e.constant(0);
  rows.count = number(kStoreRows);
  rows.inverse = number(1.0 / kStoreRows);
  Value one = number(1);
  if (rows.mask) {
    // Where there is none, any row serves that is staged.
    Value guarded = arith::OrIOp::create(e.b, e.loc, rows.mask,
                                         e.constant(1 << (kStoreRows - 1)));
    Value below = e.xori(guarded, e.add(guarded, -1));
    rows.first =
        e.add(LLVM::CtPopOp::create(e.b, e.loc, e.b.getI32Type(), below), -1);
    Value ones = LLVM::CtPopOp::create(e.b, e.loc, e.b.getI32Type(), rows.mask);
    rows.count = arith::UIToFPOp::create(e.b, e.loc, e.b.getF32Type(), ones);
    rows.inverse = arith::DivFOp::create(
        e.b, e.loc, one, arith::MaxNumFOp::create(e.b, e.loc, rows.count, one));
  }
  Value before = load(count);
  Value total = arith::AddFOp::create(e.b, e.loc, before, rows.count);
  store(total, count);
  Value least = total;
  if (rows.mask)
    least = arith::MaxNumFOp::create(e.b, e.loc, total, one);
  rows.share = arith::DivFOp::create(e.b, e.loc, rows.count, least);
  rows.between = arith::MulFOp::create(e.b, e.loc, before, rows.share);
}

/// Most warps have results alone, also where some do not.
void ResultStatistics::add(Value buffer, int64_t columnPiece) {
  constexpr int64_t kAllRows = (1 << kStoreRows) - 1;
  if (!rows.mask)
    return addRows(buffer, columnPiece, /*isMasked=*/false);
  Value areAll = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq,
                                       rows.mask, e.constant(kAllRows));
  auto branch = scf::IfOp::create(e.b, e.loc, areAll, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(branch.thenBlock());
  addRows(buffer, columnPiece, /*isMasked=*/false);
  e.b.setInsertionPointToStart(branch.elseBlock());
  addRows(buffer, columnPiece, /*isMasked=*/true);
}

/// With a mask, rows that are no results are taken for the first one that is,
/// from which they do not differ.
void ResultStatistics::addRows(Value buffer, int64_t columnPiece,
                               bool isMasked) {
  Value pivotOffset = locate(isMasked ? rows.first : e.constant(0));
  auto pivots = loadPair(buffer, pivotOffset);
  SmallVector<Value, 2> differences(kPair, number(0));
  SmallVector<Value, 2> squares = differences;
  for (int64_t row = isMasked ? 0 : 1; row < kStoreRows; ++row) {
    Value offset = locate(e.constant(row));
    if (isMasked) {
      Value isNone = e.ult(e.andi(rows.mask, int64_t(1) << row), 1);
      offset = e.select(isNone, pivotOffset, offset);
    }
    auto values = loadPair(buffer, offset);
    for (int64_t i = 0; i < kPair; ++i) {
      Value difference =
          arith::SubFOp::create(e.b, e.loc, values[i], pivots[i]);
      differences[i] =
          arith::AddFOp::create(e.b, e.loc, differences[i], difference);
      squares[i] =
          math::FmaOp::create(e.b, e.loc, difference, difference, squares[i]);
    }
  }
  for (int64_t i = 0; i < kPair; ++i)
    merge(columns[columnPiece * kPair + i], pivots[i], differences[i],
          squares[i], isMasked);
}

/// Chan's formula. `sum` and `squares` are of differences from `pivot`.
void ResultStatistics::merge(const Numbers &to, Value pivot, Value sum,
                             Value squares, bool isMasked) {
  auto fma = [&](Value a, Value b, Value c) -> Value {
    return math::FmaOp::create(e.b, e.loc, a, b, c);
  };
  Value shift = arith::MulFOp::create(e.b, e.loc, sum, rows.inverse);
  Value mean = arith::AddFOp::create(e.b, e.loc, pivot, shift);
  Value within = fma(arith::NegFOp::create(e.b, e.loc, sum), shift, squares);
  Value before = load(to[1]), beforeSquares = load(to[2]);
  Value difference = arith::SubFOp::create(e.b, e.loc, mean, before);
  Value squared = arith::MulFOp::create(e.b, e.loc, difference, difference);
  Value nextMean = fma(difference, rows.share, before);
  Value nextSquares =
      fma(squared, rows.between,
          arith::AddFOp::create(e.b, e.loc, beforeSquares, within));
  if (isMasked) {
    // What is staged of no result may be no number.
    Value isSome = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ne,
                                         rows.mask, e.constant(0));
    nextMean = e.select(isSome, nextMean, before);
    nextSquares = e.select(isSome, nextSquares, beforeSquares);
  }
  store(nextMean, to[1]);
  store(nextSquares, to[2]);
}

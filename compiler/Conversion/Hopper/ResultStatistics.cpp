//===- ResultStatistics.cpp - Statistics of what a warp stages ------------===//

#include "compiler/Conversion/Hopper/ResultStatistics.h"
#include "compiler/Conversion/Common/StoreView.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

static constexpr int64_t kWarps = kWarpgroup / 32, kPair = 2;

ResultStatistics::ResultStatistics(Emitter &e, const HopperShape &shape,
                                   dnn::ViewOp result,
                                   const StatisticsMemory &memory,
                                   const Thread &thread)
    : e(e), shape(shape), access(result), extents(result.getType().getShape()),
      memory(memory), thread(thread) {
  Type f32 = e.b.getF32Type();
  count = makeVariable(f32);
  const int64_t pieces = shape.countPieces(shape.getStoreColumns());
  for (int64_t i = 0; i < kPair * pieces; ++i)
    sums.push_back({makeVariable(f32), makeVariable(f32)});
  clear();
}

/// LLVM gives a register to it (OptimizeModule.cpp).
Value ResultStatistics::makeVariable(Type type) {
  Value one = e.constant(1);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointAfterValue(one);
  auto pointer = LLVM::LLVMPointerType::get(e.b.getContext());
  return LLVM::AllocaOp::create(e.b, e.loc, pointer, type, one);
}

Value ResultStatistics::load(Value variable) {
  return LLVM::LoadOp::create(e.b, e.loc, e.b.getF32Type(), variable);
}

void ResultStatistics::store(Value value, Value variable) {
  LLVM::StoreOp::create(e.b, e.loc, value, variable);
}

Value ResultStatistics::number(double value) {
  return e.constant(e.b.getF32FloatAttr(static_cast<float>(value)));
}

void ResultStatistics::clear() {
  store(number(0), count);
  for (const Sums &column : sums) {
    store(number(0), column.mean);
    store(number(0), column.squares);
  }
}

void ResultStatistics::begin(const ResultTile &place) { tile = place; }

//===----------------------------------------------------------------------===//
// The rows of a piece
//===----------------------------------------------------------------------===//

/// A bit for each of the warp's rows that is a row of the result: neither
/// behind the last one, nor between images (HaloPositions.h), nor one that the
/// piece before had; null if all are.
Value ResultStatistics::findResults(int64_t rowPiece) {
  constexpr unsigned kRow = 1, kColumn = 2;
  constexpr int64_t kAllLanes = 0xffffffff, kAllRows = (1 << kStoreRows) - 1;
  Value row = e.add(e.mul(thread.warp, kStoreRows),
                    e.andi(thread.lane, kStoreRows - 1));
  GlobalBuffer buffer{{}, access.getSpace(0).evaluate(e, tile.group), tile.row};
  for (auto [form, base] : llvm::enumerate(buffer.base))
    base = e.add(base, access.getConstant(form));
  const StoreView view(
      e, access, buffer,
      {kColumn, extents[kColumn], shape.tileN, e.constant(0), tile.column},
      {kRow, extents[kRow], shape.tileM, row, tile.row});
  const int64_t offset = shape.getPieceRow(rowPiece);
  Value isResult = view.locateQ(offset).valid;
  if (const int64_t again = rowPiece * shape.getStoreRows() - offset; again > 0)
    isResult = e.both(isResult, arith::CmpIOp::create(e.b, e.loc,
                                                      arith::CmpIPredicate::uge,
                                                      row, e.constant(again)));
  if (!isResult)
    return {};
  Value ballot = NVVM::VoteSyncOp::create(e.b, e.loc, e.b.getI32Type(),
                                          e.constant(kAllLanes), isResult,
                                          NVVM::VoteSyncKind::ballot);
  return e.andi(ballot, kAllRows);
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

//===----------------------------------------------------------------------===//
// The columns of a piece
//===----------------------------------------------------------------------===//

/// Of the lane's two columns.
Value ResultStatistics::locate(Value row) {
  return getStagedOffset(e, row, e.mul(thread.lane, kPair), shape.resultBytes,
                         shape.storeRowBytes);
}

SmallVector<Value, 2> ResultStatistics::loadPair(Value buffer, Value offset) {
  auto type = VectorType::get(kPair, access.getElementType());
  Value pair = LLVM::LoadOp::create(
      e.b, e.loc, type, addBytes(e, buffer, offset), kPair * shape.resultBytes);
  pair = arith::ExtFOp::create(e.b, e.loc,
                               VectorType::get(kPair, e.b.getF32Type()), pair);
  SmallVector<Value, 2> values;
  for (int64_t i = 0; i < kPair; ++i)
    values.push_back(
        LLVM::ExtractElementOp::create(e.b, e.loc, pair, e.constant(i)));
  return values;
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
    merge(sums[columnPiece * kPair + i], pivots[i], differences[i], squares[i],
          isMasked);
}

/// Chan's formula. `sum` and `squares` are of differences from `pivot`.
void ResultStatistics::merge(const Sums &to, Value pivot, Value sum,
                             Value squares, bool isMasked) {
  auto fma = [&](Value a, Value b, Value c) -> Value {
    return math::FmaOp::create(e.b, e.loc, a, b, c);
  };
  Value shift = arith::MulFOp::create(e.b, e.loc, sum, rows.inverse);
  Value mean = arith::AddFOp::create(e.b, e.loc, pivot, shift);
  Value within = fma(arith::NegFOp::create(e.b, e.loc, sum), shift, squares);
  Value before = load(to.mean), beforeSquares = load(to.squares);
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
  store(nextMean, to.mean);
  store(nextSquares, to.squares);
}

//===----------------------------------------------------------------------===//
// Storing
//===----------------------------------------------------------------------===//

/// The count, means and sums of squares of each column, from `column` on.
void ResultStatistics::storePart(Value part, Value column, bool isEmpty) {
  constexpr int64_t kNumbers = 3;
  const int64_t channels = extents.back();
  const int64_t columns = shape.getStoreColumns();
  Type f32 = e.b.getF32Type();
  auto pair = VectorType::get(kPair, f32);
  const int64_t pieces = shape.countPieces(columns);
  for (int64_t piece = 0; piece < pieces; ++piece) {
    Value first = e.add(e.add(column, shape.getPieceColumn(piece, columns)),
                        e.mul(thread.lane, kPair));
    auto emit = [&] {
      for (int64_t i = 0; i < kNumbers; ++i) {
        Value row = e.add(e.mul(part, kNumbers), i);
        Value index = e.add(e.mul(row, channels), first);
        Value values = LLVM::UndefOp::create(e.b, e.loc, pair);
        for (int64_t j = 0; j < kPair; ++j) {
          const Sums &of = sums[piece * kPair + j];
          Value variable = i == 0 ? count : i == 1 ? of.mean : of.squares;
          values = LLVM::InsertElementOp::create(
              e.b, e.loc, values, isEmpty ? number(0) : load(variable),
              e.constant(j));
        }
        Value at =
            LLVM::GEPOp::create(e.b, e.loc, memory.pointer.getType(), f32,
                                memory.pointer, ArrayRef<LLVM::GEPArg>{index});
        LLVM::StoreOp::create(e.b, e.loc, values, at, /*alignment=*/8);
      }
    };
    if (channels % shape.tileN == 0)
      emit();
    else
      emitIf(e, e.ult(first, channels), emit);
  }
}

void ResultStatistics::endTile() {
  if (!memory.isOfTiles)
    return;
  // The tile of a consumer begins with its own rows.
  Value part =
      e.add(e.mul(e.divu(tile.row, shape.getRows()), kWarps), thread.warp);
  storePart(part, tile.column, /*isEmpty=*/false);
  clear();
}

/// Workgroups take turns at the columns, and have the same in all their tiles.
/// Parts that are left over are empty.
void ResultStatistics::finish() {
  if (memory.isOfTiles)
    return;
  const int64_t inRow = extents.back() / shape.tileN;
  const int64_t ofWorkgroup = shape.consumers * kWarps;
  const int64_t used = memory.workgroups / inRow * ofWorkgroup;
  Value column = e.mul(e.remu(thread.workgroup, inRow), shape.tileN);
  Value part = e.add(e.mul(e.divu(thread.workgroup, inRow), ofWorkgroup),
                     e.add(e.mul(thread.consumer, kWarps), thread.warp));
  storePart(part, column, /*isEmpty=*/false);
  for (int64_t first = used; first < memory.parts; first += used) {
    Value other = e.add(part, first);
    auto emit = [&] { storePart(other, column, /*isEmpty=*/true); };
    if (first + used <= memory.parts)
      emit();
    else
      emitIf(e, e.ult(other, memory.parts), emit);
  }
}

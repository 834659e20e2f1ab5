//===- StagedPartials.cpp - Numbers of the columns that a warp stages -----===//

#include "compiler/Conversion/Hopper/StagedPartials.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tessera;

static constexpr int64_t kWarps = kWarpgroup / 32;
/// Coordinates of a view.
static constexpr unsigned kRow = 1, kColumn = 2;

StagedPartials::StagedPartials(Emitter &e, const HopperShape &shape,
                               dnn::ViewOp result, const PartialsMemory &memory,
                               const Thread &thread)
    : e(e), shape(shape), access(result), extents(result.getType().getShape()),
      memory(memory), thread(thread) {}

/// LLVM gives a register to it (OptimizeModule.cpp).
Value StagedPartials::makeVariable() {
  Value one = e.constant(1);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointAfterValue(one);
  auto pointer = LLVM::LLVMPointerType::get(e.b.getContext());
  return LLVM::AllocaOp::create(e.b, e.loc, pointer, e.b.getF32Type(), one);
}

Value StagedPartials::load(Value variable) {
  return LLVM::LoadOp::create(e.b, e.loc, e.b.getF32Type(), variable);
}

void StagedPartials::store(Value value, Value variable) {
  LLVM::StoreOp::create(e.b, e.loc, value, variable);
}

Value StagedPartials::number(double value) {
  return e.constant(e.b.getF32FloatAttr(static_cast<float>(value)));
}

void StagedPartials::clear() {
  for (const Numbers &column : columns)
    for (Value variable : column)
      store(number(0), variable);
}

//===----------------------------------------------------------------------===//
// Rows and columns
//===----------------------------------------------------------------------===//

/// Columns are P, of which `column` is the lane's first in the tile.
StoreView StagedPartials::getView(const ViewAccess &view, Value pointer,
                                  Value row, Value column) const {
  GlobalBuffer buffer =
      pointer ? makeBuffer(e, view, pointer, tile.group, tile.row)
              : GlobalBuffer{
                    {}, view.getSpace(0).evaluate(e, tile.group), tile.row};
  if (!pointer)
    for (auto [form, base] : llvm::enumerate(buffer.base))
      base = e.add(base, view.getConstant(form));
  return {e,
          view,
          buffer,
          {kColumn, extents[kColumn], shape.tileN, column, tile.column},
          {kRow, extents[kRow], shape.tileM, row, tile.row}};
}

int64_t StagedPartials::countAgain(int64_t rowPiece) const {
  return rowPiece * shape.getStoreRows() - shape.getPieceRow(rowPiece);
}

/// A bit for each of the warp's rows that is a row of the result: neither
/// behind the last one, nor between images (HaloPositions.h), nor one that the
/// piece before had; null if all are.
Value StagedPartials::findResults(int64_t rowPiece) {
  constexpr int64_t kAllLanes = 0xffffffff, kAllRows = (1 << kStoreRows) - 1;
  Value row = e.add(e.mul(thread.warp, kStoreRows),
                    e.andi(thread.lane, kStoreRows - 1));
  const StoreView view = getView(access, {}, row, e.constant(0));
  Value isResult = view.locateQ(shape.getPieceRow(rowPiece)).valid;
  if (const int64_t again = countAgain(rowPiece); again > 0)
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

/// Of the lane's two columns.
Value StagedPartials::locate(Value row) {
  return getStagedOffset(e, row, e.mul(thread.lane, kPair), shape.resultBytes,
                         shape.storeRowBytes);
}

/// Two elements as f32s.
SmallVector<Value, 2> StagedPartials::unpackPair(Value pair) {
  pair = arith::ExtFOp::create(e.b, e.loc,
                               VectorType::get(kPair, e.b.getF32Type()), pair);
  SmallVector<Value, 2> values;
  for (int64_t i = 0; i < kPair; ++i)
    values.push_back(
        LLVM::ExtractElementOp::create(e.b, e.loc, pair, e.constant(i)));
  return values;
}

SmallVector<Value, 2> StagedPartials::loadPair(Value buffer, Value offset) {
  auto type = VectorType::get(kPair, access.getElementType());
  return unpackPair(LLVM::LoadOp::create(e.b, e.loc, type,
                                         addBytes(e, buffer, offset),
                                         kPair * shape.resultBytes));
}

//===----------------------------------------------------------------------===//
// Storing
//===----------------------------------------------------------------------===//

/// Each number of all columns, from `column` on.
void StagedPartials::storePartial(Value partial, Value column, bool isEmpty) {
  const auto numbers = static_cast<int64_t>(columns.front().size());
  const int64_t channels = extents.back();
  const int64_t stored = shape.getStoreColumns();
  Type f32 = e.b.getF32Type();
  auto pair = VectorType::get(kPair, f32);
  const int64_t pieces = shape.countPieces(stored);
  for (int64_t piece = 0; piece < pieces; ++piece) {
    Value first = e.add(e.add(column, shape.getPieceColumn(piece, stored)),
                        e.mul(thread.lane, kPair));
    auto emit = [&] {
      for (int64_t i = 0; i < numbers; ++i) {
        Value row = e.add(e.mul(partial, numbers), i);
        Value index = e.add(e.mul(row, channels), first);
        Value values = LLVM::UndefOp::create(e.b, e.loc, pair);
        for (int64_t j = 0; j < kPair; ++j)
          values = LLVM::InsertElementOp::create(
              e.b, e.loc, values,
              isEmpty ? number(0) : load(columns[piece * kPair + j][i]),
              e.constant(j));
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

void StagedPartials::endTile() {
  if (!memory.isOfTiles)
    return;
  // The tile of a consumer begins with its own rows.
  Value partial =
      e.add(e.mul(e.divu(tile.row, shape.getRows()), kWarps), thread.warp);
  storePartial(partial, tile.column, /*isEmpty=*/false);
  clear();
}

/// Workgroups take turns at the columns, and have the same in all their tiles.
/// Partials that are left over are empty.
void StagedPartials::finish() {
  if (memory.isOfTiles)
    return;
  const int64_t inRow = extents.back() / shape.tileN;
  const int64_t ofWorkgroup = shape.consumers * kWarps;
  const int64_t used = memory.workgroups / inRow * ofWorkgroup;
  Value column = e.mul(e.remu(thread.workgroup, inRow), shape.tileN);
  Value partial = e.add(e.mul(e.divu(thread.workgroup, inRow), ofWorkgroup),
                        e.add(e.mul(thread.consumer, kWarps), thread.warp));
  storePartial(partial, column, /*isEmpty=*/false);
  for (int64_t first = used; first < memory.partials; first += used) {
    Value other = e.add(partial, first);
    auto emit = [&] { storePartial(other, column, /*isEmpty=*/true); };
    if (first + used <= memory.partials)
      emit();
    else
      emitIf(e, e.ult(other, memory.partials), emit);
  }
}

//===- RowTensor.cpp - A tensor whose rows a warp moves -------------------===//

#include "compiler/Conversion/Hopper/RowTensor.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

static constexpr int64_t kLanes = 32;
static constexpr int64_t kWidestBytes = 16; ///< Of a piece.
/// Coordinates of a view.
static constexpr unsigned kRow = 1, kColumn = 2;

RowTensor::RowTensor(Emitter &e, const HopperShape &shape, dnn::ViewOp view,
                     Value pointer, Value warp, Value lane)
    : e(e), shape(shape), access(view), pointer(pointer),
      extents(view.getType().getShape()), warp(warp), lane(lane),
      bytes(shape.resultBytes) {
  width = access.getVectorWidth(shape.isColumnMajor ? kRow : kColumn,
                                kWidestBytes / bytes);
  lanesPerRow = std::min(kLanes, shape.getStagedElements() / width);
  constexpr int64_t kMostPieces = 4;
  batchPieces = std::min(kMostPieces, kStoreRows * lanesPerRow / kLanes);
}

void RowTensor::begin(const ResultTile &place) {
  tile = place;
  tensor = makeBuffer(e, access, pointer, tile.group, tile.row);
}

/// Runs `body` with the first row, of the warp's 16, of each batch of the lane.
void RowTensor::forEachBatch(llvm::function_ref<void(Value)> body) {
  Value laneRow = e.divu(lane, lanesPerRow);
  const int64_t rows = kLanes / lanesPerRow * batchPieces;
  if (rows == kStoreRows)
    return body(laneRow);
  auto loop = scf::ForOp::create(e.b, e.loc, e.constant(0),
                                 e.constant(kStoreRows), e.constant(rows));
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  body(e.add(laneRow, loop.getInductionVar()));
}

/// The pieces of a batch, and where they are in a staging buffer. Of what is
/// column-major, staged rows are columns.
void RowTensor::visit(Value batch, int64_t row, int64_t column,
                      Visitor visitor) {
  Value laneElement = e.mul(e.remu(lane, lanesPerRow), width);
  Value warpRow = e.add(e.mul(warp, kStoreRows), batch);
  const bool isTurned = shape.isColumnMajor;
  StoreSide rows{kRow, extents[kRow], shape.tileM,
                 isTurned ? laneElement : warpRow, tile.row};
  StoreSide columns{kColumn, extents[kColumn], shape.tileN,
                    isTurned ? warpRow : laneElement, tile.column};
  StoreView view(e, access, *tensor, isTurned ? rows : columns,
                 isTurned ? columns : rows);
  if (isTurned)
    std::swap(row, column);
  const int64_t rowsAtOnce = kLanes / lanesPerRow;
  for (int64_t i = 0; i < batchPieces * rowsAtOnce; i += rowsAtOnce) {
    StorePlace rowPlace = view.locateQ(row + i);
    for (int64_t j = 0; j < shape.getStagedElements(); j += lanesPerRow * width)
      visitor(view, view.locateP(column + j), rowPlace,
              getStagedOffset(e, e.add(batch, i), e.add(laneElement, j), bytes,
                              shape.storeRowBytes));
  }
}

RowTensor::Pieces RowTensor::load(Value batch, int64_t row, int64_t column) {
  Pieces pieces;
  visit(batch, row, column,
        [&](const StoreView &view, const StorePlace &p, const StorePlace &q,
            Value) { pieces.push_back(view.load(p, q, width)); });
  return pieces;
}

RowTensor::Pieces RowTensor::fetch(int64_t row, int64_t column) {
  if (width * bytes < kWidestBytes || !shape.hasSpareRegisters())
    return {};
  Pieces pieces;
  forEachBatch([&](Value batch) { pieces = load(batch, row, column); });
  return pieces;
}

void RowTensor::stage(const Pieces &fetched, int64_t row, int64_t column,
                      Value buffer) {
  forEachBatch([&](Value batch) {
    Pieces pieces = fetched.empty() ? load(batch, row, column) : fetched;
    const Value *next = pieces.begin();
    visit(batch, row, column,
          [&](const StoreView &, const StorePlace &, const StorePlace &,
              Value offset) {
            LLVM::StoreOp::create(e.b, e.loc, *next++,
                                  addBytes(e, buffer, offset), width * bytes);
          });
  });
}

/// Integers, as StoreView takes them.
Type RowTensor::getPieceType() const {
  constexpr int64_t kWordBytes = 4;
  const int64_t size = width * bytes;
  Type word = e.b.getIntegerType(std::min(size, kWordBytes) * 8);
  return size > kWordBytes ? VectorType::get(size / kWordBytes, word) : word;
}

/// Reads all pieces first, since no read passes a store.
void RowTensor::store(Value buffer, int64_t row, int64_t column) {
  forEachBatch([&](Value batch) {
    Pieces pieces;
    visit(batch, row, column,
          [&](const StoreView &, const StorePlace &, const StorePlace &,
              Value offset) {
            pieces.push_back(LLVM::LoadOp::create(e.b, e.loc, getPieceType(),
                                                  addBytes(e, buffer, offset),
                                                  width * bytes));
          });
    const Value *next = pieces.begin();
    visit(batch, row, column,
          [&](const StoreView &view, const StorePlace &p, const StorePlace &q,
              Value) { view.store(*next++, p, q); });
  });
}

//===----------------------------------------------------------------------===//
// The way out
//===----------------------------------------------------------------------===//

/// Where buffers take turns, the other one's barrier of the warp lies between.
void RowStore::awaitBuffer(int64_t buffers) {
  if (buffers == 1)
    emitWarpSync(e);
}

void RowStore::copyOut(Value buffer, int64_t row, int64_t column) {
  emitWarpSync(e);
  result.store(buffer, row, column);
}

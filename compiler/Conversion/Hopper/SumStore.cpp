//===- SumStore.cpp - From sums to the result -----------------------------===//

#include "compiler/Conversion/Hopper/SumStore.h"
#include "compiler/Conversion/Epilogue.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tessera;

SumStore::SumStore(Emitter &e, const HopperShape &shape, dnn::TileStoreOp store,
                   std::unique_ptr<WayOut> wayOut, Extras extras, Value staging,
                   Value lane, IRMapping scalars)
    : e(e), shape(shape), store(store),
      element(store.getView().getType().getElementType()),
      wayOut(std::move(wayOut)), extras(std::move(extras)), staging(staging),
      scalars(std::move(scalars)),
      offsets(element.isF32() ? getPairOffsets(e, lane)
                              : getFragmentOffsets(e, lane)) {}

/// Two neighbours, from number `i` on of those that a lane has in the columns
/// from `column` on, behind the epilogue.
Value SumStore::getPair(Value sums, int64_t column, int64_t i,
                        const Fetched &extraValues) {
  Value pair =
      LLVM::UndefOp::create(e.b, e.loc, VectorType::get(2, e.b.getF32Type()));
  for (int64_t j : {0, 1}) {
    SmallVector<Value> values = {
        LLVM::ExtractValueOp::create(e.b, e.loc, sums, column / 2 + i + j)};
    for (const StoreExtra::Values &extra : extraValues)
      values.push_back(extra[i + j]);
    Value value = applyEpilogue(e, store.getEpilogue(), values, scalars);
    pair =
        LLVM::InsertElementOp::create(e.b, e.loc, pair, value, e.constant(j));
  }
  return pair;
}

/// Puts 32 columns of a warp's 16 rows into a staging buffer, as they are.
void SumStore::stageSums(Value sums, int64_t column, const Fetched &extraValues,
                         Value buffer) {
  constexpr int64_t kBelow = 8 * kRowBytes;
  for (auto [piece, offset] : llvm::enumerate(offsets))
    for (int64_t half : {0, 1}) {
      Value pair = getPair(sums, column, piece * 4 + half * 2, extraValues);
      LLVM::StoreOp::create(e.b, e.loc, pair,
                            addBytes(e, buffer, e.add(offset, half * kBelow)),
                            /*alignment=*/8);
    }
}

/// Rounds 64 columns of a warp's 16 rows into a staging buffer.
void SumStore::stageMatrices(Value sums, int64_t column,
                             const Fetched &extraValues, Value buffer) {
  constexpr int64_t kPieceSums = 8; // Of a lane, in 16 columns.
  auto shape8x8 = NVVM::LdStMatrixShapeAttr::get(e.b.getContext(), 8, 8);
  auto rounded = VectorType::get(2, element);
  for (auto [piece, offset] : llvm::enumerate(offsets)) {
    // Of each 8 columns two neighbours in the lane's row, and two in the row 8
    // below.
    SmallVector<Value> words;
    for (int64_t i = 0; i < kPieceSums; i += 2) {
      Value pair = getPair(sums, column, piece * kPieceSums + i, extraValues);
      pair = arith::TruncFOp::create(e.b, e.loc, rounded, pair);
      words.push_back(
          LLVM::BitcastOp::create(e.b, e.loc, e.b.getI32Type(), pair));
    }
    NVVM::StMatrixOp::create(e.b, e.loc, addBytes(e, buffer, offset), words,
                             NVVM::MMALayout::row, shape8x8,
                             NVVM::LdStMatrixEltType::B16);
  }
}

SumStore::Fetched SumStore::fetch(int64_t row, int64_t column) {
  Fetched fetched;
  for (const auto &extra : extras)
    fetched.push_back(extra->fetch(row, column));
  return fetched;
}

void SumStore::begin(const ResultTile &tile) {
  wayOut->begin(tile);
  for (const auto &extra : extras)
    extra->begin(tile);
  if (shape.hasSpareRegisters())
    next = fetch(0, 0);
}

void SumStore::emit(ArrayRef<Value> sums) {
  const int64_t columns = shape.getStoreColumns();
  const int64_t perBlock = shape.countPieces(columns);
  const int64_t pieces = perBlock * shape.blocks;
  auto getRow = [&](int64_t piece) { return piece / perBlock * kWgmmaRows; };
  auto getColumn = [&](int64_t piece) {
    return shape.getPieceColumn(piece % perBlock, columns);
  };
  if (!shape.hasSpareRegisters())
    next = fetch(0, 0);
  for (int64_t piece = 0; piece < pieces; ++piece) {
    Fetched values = std::move(next);
    if (piece + 1 < pieces)
      next = fetch(getRow(piece + 1), getColumn(piece + 1));
    const int64_t row = getRow(piece), column = getColumn(piece);
    const int64_t bytes = piece % shape.stagers * kStoreRows * kRowBytes;
    Value buffer = addBytes(e, staging, e.constant(bytes));
    wayOut->awaitBuffer(shape.stagers);
    for (auto [extra, fetched] : llvm::zip_equal(extras, values))
      fetched = extra->unpack(fetched, row, column, buffer);
    if (element.isF32())
      stageSums(sums[piece / perBlock], column, values, buffer);
    else
      stageMatrices(sums[piece / perBlock], column, values, buffer);
    wayOut->copyOut(buffer, row, column);
  }
}

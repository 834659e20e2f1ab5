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
    : e(e), shape(shape), store(store), wayOut(std::move(wayOut)),
      extras(std::move(extras)), staging(staging), scalars(std::move(scalars)),
      offsets(getFragmentOffsets(e, lane)) {}

/// Two elements, rounded, in one register.
Value SumStore::pack(Value low, Value high) {
  Type element = store.getView().getType().getElementType();
  auto pair = VectorType::get(2, e.b.getF32Type());
  Value values = LLVM::UndefOp::create(e.b, e.loc, pair);
  for (auto [i, value] : llvm::enumerate(ArrayRef<Value>{low, high}))
    values =
        LLVM::InsertElementOp::create(e.b, e.loc, values, value, e.constant(i));
  values =
      arith::TruncFOp::create(e.b, e.loc, VectorType::get(2, element), values);
  return LLVM::BitcastOp::create(e.b, e.loc, e.b.getI32Type(), values);
}

/// Rounds 64 columns of a warp's 16 rows into a staging buffer.
void SumStore::stage(Value sums, int64_t column, const Fetched &extraValues,
                     Value buffer) {
  constexpr size_t kPieceSums = 8; // Of a lane, in 16 columns.
  auto shape8x8 = NVVM::LdStMatrixShapeAttr::get(e.b.getContext(), 8, 8);
  for (auto [piece, offset] : llvm::enumerate(offsets)) {
    // Of each 8 columns two neighbours in the lane's row, and two in the row 8
    // below.
    SmallVector<Value> rounded;
    for (size_t i = piece * kPieceSums; i < (piece + 1) * kPieceSums; ++i) {
      SmallVector<Value> values = {
          LLVM::ExtractValueOp::create(e.b, e.loc, sums, column / 2 + i)};
      for (const StoreExtra::Values &extra : extraValues)
        values.push_back(extra[i]);
      rounded.push_back(applyEpilogue(e, store.getEpilogue(), values, scalars));
    }
    SmallVector<Value> words;
    for (size_t i = 0; i < kPieceSums; i += 2)
      words.push_back(pack(rounded[i], rounded[i + 1]));
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

void SumStore::emit(ArrayRef<Value> sums, const ResultTile &tile) {
  wayOut->begin(tile);
  for (const auto &extra : extras)
    extra->begin(tile);
  const int64_t perBlock = shape.tileN / kStoreColumns;
  const int64_t pieces = perBlock * shape.blocks;
  auto getRow = [&](int64_t piece) { return piece / perBlock * kWgmmaRows; };
  auto getColumn = [&](int64_t piece) {
    return piece % perBlock * kStoreColumns;
  };
  Fetched next = fetch(0, 0);
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
    stage(sums[piece / perBlock], column, values, buffer);
    wayOut->copyOut(buffer, row, column);
  }
}

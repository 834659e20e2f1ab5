//===- TmaStore.cpp - From sums to the result, by TMA ---------------------===//

#include "compiler/Conversion/Hopper/TmaStore.h"
#include "compiler/Conversion/Epilogue.h"
#include "compiler/Conversion/Hopper/SharedMemory.h"
#include "compiler/Conversion/ViewAccess.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

/// Columns of a staging buffer: a row's bytes of elements.
static int64_t countColumns(Type element) {
  return kRowBytes * 8 / element.getIntOrFloatBitWidth();
}

//===----------------------------------------------------------------------===//
// The tensor map
//===----------------------------------------------------------------------===//

FailureOr<TensorMap> tessera::makeResultMap(dnn::TileStoreOp store,
                                            KernelArg tensor) {
  auto view = store.getView().getDefiningOp<dnn::ViewOp>();
  ViewAccess access(view);
  const int64_t bytes = access.getElementBytes();
  ArrayRef<int64_t> extents = view.getType().getShape();
  AccessSpace spaces[] = {access.getSpace(0), access.getSpace(1),
                          access.getSpace(2)};
  auto getStride = [](const AccessSpace &space) {
    return space.sizes.empty() ? 0 : space.coefs[0][0];
  };
  const bool isMatrix = access.getNumForms() == 1 &&
                        access.getConstant(0) == 0 &&
                        llvm::all_of(spaces, [](const AccessSpace &space) {
                          return space.sizes.size() <= 1;
                        });
  if (!isMatrix || (extents[2] > 1 && getStride(spaces[2]) != bytes))
    return store.emitOpError("needs a result whose rows are one dimension, and "
                             "whose columns lie together, to be stored by tma");
  TensorMap map;
  map.tensor = tensor;
  Type element = view.getType().getElementType();
  map.dataType = element.isF32()    ? DataType::F32
                 : element.isBF16() ? DataType::BF16
                                    : DataType::F16;
  map.rank = 1;
  map.sizes[0] = extents[2];
  map.box[0] = countColumns(element);
  constexpr int64_t kAlignment = 16;
  auto add = [&](unsigned index, uint32_t box) {
    const int64_t stride = getStride(spaces[index]);
    map.sizes[map.rank] = extents[index];
    // One row alone is where it is, whatever the stride.
    map.strides[map.rank] = stride == 0 ? kAlignment : stride;
    map.box[map.rank++] = box;
    return map.strides[map.rank - 1] % kAlignment == 0;
  };
  if ((extents[0] > 1 && !add(0, 1)) || !add(1, kStoreRows))
    return store.emitOpError() << "needs strides of whole " << kAlignment
                               << " bytes to be stored by tma";
  return map;
}

//===----------------------------------------------------------------------===//
// The store
//===----------------------------------------------------------------------===//

TmaStore::TmaStore(Emitter &e, const HopperShape &shape, dnn::TileStoreOp store,
                   Value mapPointer, bool hasGroups, Value staging, Value warp,
                   Value lane, IRMapping scalars)
    : e(e), shape(shape), store(store), mapPointer(mapPointer),
      hasGroups(hasGroups), staging(staging), warp(warp),
      scalars(std::move(scalars)) {
  element = store.getView().getType().getElementType();
  isFirstLane = e.ult(lane, 1);
  if (element.isF32())
    locateSums(lane);
  else
    locateMatrices(lane);
}

/// Chunks of 16 bytes are swizzled by the row.
void TmaStore::locateMatrices(Value lane) {
  // stmatrix takes a row's address from each lane: rows 0 to 15, of 8 columns,
  // then of the next 8.
  constexpr int64_t kPieces = 4;
  Value row = e.andi(lane, 15), half = e.shru(lane, 4);
  Value swizzle = e.andi(lane, 7);
  for (int64_t piece = 0; piece < kPieces; ++piece) {
    Value chunk = e.xori(e.add(half, 2 * piece), swizzle);
    offsets.push_back(e.add(e.mul(row, kRowBytes), e.mul(chunk, 16)));
  }
}

/// Of each 8 columns a lane holds two neighbours in its row, and two in the row
/// 8 below, which is swizzled alike.
void TmaStore::locateSums(Value lane) {
  constexpr int64_t kPieces = 4;
  Value row = e.shru(lane, 2), half = e.andi(e.shru(lane, 1), 1);
  Value inChunk = e.mul(e.andi(lane, 1), 8);
  for (int64_t piece = 0; piece < kPieces; ++piece) {
    Value chunk = e.xori(e.add(half, 2 * piece), row);
    offsets.push_back(
        e.add(e.add(e.mul(row, kRowBytes), e.mul(chunk, 16)), inChunk));
  }
}

/// Two elements, rounded, in one register.
Value TmaStore::pack(Value low, Value high) {
  auto pair = VectorType::get(2, e.b.getF32Type());
  Value values = LLVM::UndefOp::create(e.b, e.loc, pair);
  for (auto [i, value] : llvm::enumerate(ArrayRef<Value>{low, high}))
    values =
        LLVM::InsertElementOp::create(e.b, e.loc, values, value, e.constant(i));
  values =
      arith::TruncFOp::create(e.b, e.loc, VectorType::get(2, element), values);
  return LLVM::BitcastOp::create(e.b, e.loc, e.b.getI32Type(), values);
}

/// Puts 32 columns of a warp's 16 rows into a staging buffer, as they are.
void TmaStore::stageSums(Value sums, int64_t column, Value buffer) {
  auto pair = VectorType::get(2, e.b.getF32Type());
  constexpr int64_t kBelow = 8 * kRowBytes;
  for (auto [piece, offset] : llvm::enumerate(offsets))
    for (int64_t half : {0, 1}) {
      const int64_t first = column / 2 + piece * 4 + half * 2;
      Value values = LLVM::UndefOp::create(e.b, e.loc, pair);
      for (int64_t i : {0, 1}) {
        Value sum = LLVM::ExtractValueOp::create(e.b, e.loc, sums, first + i);
        sum = applyEpilogue(e, store.getEpilogue(), sum, scalars);
        values = LLVM::InsertElementOp::create(e.b, e.loc, values, sum,
                                               e.constant(i));
      }
      LLVM::StoreOp::create(e.b, e.loc, values,
                            addBytes(e, buffer, e.add(offset, half * kBelow)),
                            /*alignment=*/8);
    }
}

/// Rounds 64 columns of a warp's 16 rows into a staging buffer.
void TmaStore::stageMatrices(Value sums, int64_t column, Value buffer) {
  auto shape8x8 = NVVM::LdStMatrixShapeAttr::get(e.b.getContext(), 8, 8);
  for (auto [piece, offset] : llvm::enumerate(offsets)) {
    // Of 16 columns a lane holds 8 sums: of each 8 columns two neighbours in
    // its row, and two in the row 8 below.
    const int64_t first = column / 2 + piece * 8;
    SmallVector<Value> words;
    for (int64_t word = 0; word < 4; ++word) {
      SmallVector<Value> pair;
      for (int64_t i : {0, 1}) {
        Value sum = LLVM::ExtractValueOp::create(e.b, e.loc, sums,
                                                 first + 2 * word + i);
        pair.push_back(applyEpilogue(e, store.getEpilogue(), sum, scalars));
      }
      words.push_back(pack(pair[0], pair[1]));
    }
    NVVM::StMatrixOp::create(e.b, e.loc, addBytes(e, buffer, offset), words,
                             NVVM::MMALayout::row, shape8x8,
                             NVVM::LdStMatrixEltType::B16);
  }
}

void TmaStore::copyOut(Value buffer, const ResultTile &tile, int64_t row,
                       int64_t column) {
  SmallVector<Value> coordinates = {e.add(tile.column, column)};
  if (hasGroups)
    coordinates.push_back(tile.group);
  Value warpRow = e.add(tile.row, e.mul(warp, kStoreRows));
  coordinates.push_back(e.add(warpRow, row));
  NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
      e.b, e.loc, mapPointer, buffer, coordinates, /*l2CacheHint=*/Value(),
      NVVM::TMAStoreMode::TILE, /*predicate=*/Value());
  NVVM::CpAsyncBulkCommitGroupOp::create(e.b, e.loc);
}

void TmaStore::emit(ArrayRef<Value> sums, const ResultTile &tile) {
  Value everyLane = e.constant(-1);
  int64_t turn = 0;
  const int64_t columns = countColumns(element);
  for (auto [block, blockSums] : llvm::enumerate(sums))
    for (int64_t column = 0; column < shape.tileN; column += columns) {
      // The buffer must have been read before it is written again.
      emitIf(e, isFirstLane, [&] {
        NVVM::CpAsyncBulkWaitGroupOp::create(e.b, e.loc, shape.stagers - 1,
                                             e.b.getUnitAttr());
      });
      NVVM::SyncWarpOp::create(e.b, e.loc, everyLane);
      const int64_t bytes = turn++ % shape.stagers * kStoreRows * kRowBytes;
      Value buffer = addBytes(e, staging, e.constant(bytes));
      if (element.isF32())
        stageSums(blockSums, column, buffer);
      else
        stageMatrices(blockSums, column, buffer);
      NVVM::FenceProxyOp::create(
          e.b, e.loc, NVVM::ProxyKind::async_shared,
          NVVM::SharedSpaceAttr::get(e.b.getContext(),
                                     NVVM::SharedSpace::shared_cta));
      NVVM::SyncWarpOp::create(e.b, e.loc, everyLane);
      emitIf(e, isFirstLane,
             [&] { copyOut(buffer, tile, block * kWgmmaRows, column); });
    }
}

void TmaStore::finish() {
  emitIf(e, isFirstLane, [&] {
    NVVM::CpAsyncBulkWaitGroupOp::create(e.b, e.loc, 0, UnitAttr());
  });
}

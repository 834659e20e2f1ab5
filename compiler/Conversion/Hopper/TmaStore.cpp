//===- TmaStore.cpp - A staged result that leaves by TMA ------------------===//

#include "compiler/Conversion/Hopper/TmaStore.h"
#include "compiler/Conversion/ViewAccess.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// The tensor map
//===----------------------------------------------------------------------===//

/// Whether columns are taps of channels that the result has fewer of: only the
/// channel can leave it.
static bool hasFilledTaps(const ViewAccess &access) {
  constexpr unsigned kOffset = 0, kChannel = 1;
  if (access.getNumForms() != 2 || access.getConstant(kChannel) != 0)
    return false;
  AccessSpace columns = access.getSpace(2);
  auto isFixed = [&](unsigned index) {
    return llvm::all_of(access.getSpace(index).coefs[kChannel],
                        [](int64_t factor) { return factor == 0; });
  };
  return columns.sizes.size() == 2 &&
         columns.coefs[kOffset][1] == access.getElementBytes() &&
         columns.coefs[kChannel][0] == 0 && columns.coefs[kChannel][1] == 1 &&
         isFixed(0) && isFixed(1);
}

std::optional<ResultMap> tessera::makeResultMap(dnn::TileStoreOp store,
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
  const bool hasTaps = hasFilledTaps(access);
  auto isPlain = [](const AccessSpace &space) {
    return space.sizes.size() <= 1;
  };
  const bool hasPlainColumns =
      access.getNumForms() == 1 && isPlain(spaces[2]) &&
      (extents[2] == 1 || getStride(spaces[2]) == bytes);
  if (access.getConstant(0) != 0 || !isPlain(spaces[0]) ||
      !isPlain(spaces[1]) || (!hasTaps && !hasPlainColumns))
    return std::nullopt;
  TensorMap map;
  map.tensor = tensor;
  Type element = view.getType().getElementType();
  map.dataType = element.isF32()    ? DataType::F32
                 : element.isBF16() ? DataType::BF16
                                    : DataType::F16;
  map.rank = 1;
  map.sizes[0] = hasTaps ? access.getBound(1) : extents[2];
  map.box[0] = kRowBytes / bytes;
  constexpr int64_t kAlignment = 16;
  auto add = [&](unsigned index, int64_t size, uint32_t box) {
    const int64_t stride = getStride(spaces[index]);
    map.sizes[map.rank] = size;
    // One row alone is where it is, whatever the stride.
    map.strides[map.rank] = stride == 0 ? kAlignment : stride;
    map.box[map.rank++] = box;
    return map.strides[map.rank - 1] % kAlignment == 0;
  };
  if ((hasTaps && !add(2, spaces[2].sizes[0], 1)) ||
      (extents[0] > 1 && !add(0, extents[0], 1)) ||
      !add(1, extents[1], kStoreRows))
    return std::nullopt;
  return ResultMap{map, hasTaps ? spaces[2].sizes[1] : 0};
}

//===----------------------------------------------------------------------===//
// The store
//===----------------------------------------------------------------------===//

TmaStore::TmaStore(Emitter &e, Value mapPointer, bool hasGroups,
                   int64_t tapColumns, Value warp, Value lane)
    : e(e), mapPointer(mapPointer), hasGroups(hasGroups),
      tapColumns(tapColumns), warp(warp), isFirstLane(e.ult(lane, 1)) {}

void TmaStore::awaitBuffer(int64_t buffers) {
  emitIf(e, isFirstLane, [&] {
    NVVM::CpAsyncBulkWaitGroupOp::create(e.b, e.loc, buffers - 1,
                                         e.b.getUnitAttr());
  });
  emitWarpSync(e);
}

void TmaStore::copyOut(Value buffer, int64_t row, int64_t column) {
  NVVM::FenceProxyOp::create(
      e.b, e.loc, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(e.b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
  emitWarpSync(e);
  emitIf(e, isFirstLane, [&] {
    SmallVector<Value> coordinates = {e.add(place.column, column)};
    if (tapColumns > 0)
      coordinates = {e.remu(coordinates[0], tapColumns),
                     e.divu(coordinates[0], tapColumns)};
    if (hasGroups)
      coordinates.push_back(place.group);
    Value warpRow = e.add(place.row, e.mul(warp, kStoreRows));
    coordinates.push_back(e.add(warpRow, row));
    NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
        e.b, e.loc, mapPointer, buffer, coordinates, /*l2CacheHint=*/Value(),
        NVVM::TMAStoreMode::TILE, /*predicate=*/Value());
    NVVM::CpAsyncBulkCommitGroupOp::create(e.b, e.loc);
  });
}

void TmaStore::finish() {
  emitIf(e, isFirstLane, [&] {
    NVVM::CpAsyncBulkWaitGroupOp::create(e.b, e.loc, 0, UnitAttr());
  });
}

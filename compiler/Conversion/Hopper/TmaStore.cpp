//===- TmaStore.cpp - A staged result that leaves by TMA ------------------===//

#include "compiler/Conversion/Hopper/TmaStore.h"
#include "compiler/Conversion/Common/KernelFunction.h"
#include "compiler/Target/ElementType.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// The tensor map
//===----------------------------------------------------------------------===//

/// How columns are taps of channels, in blocks of them or with fewer in the
/// result than columns: only the channel can leave it. None if they are not.
static std::optional<ResultMap::Taps> findTaps(const ViewAccess &access) {
  constexpr unsigned kOffset = 0, kChannel = 1;
  AccessSpace columns = access.getSpace(2);
  const size_t rank = columns.sizes.size();
  auto isFixed = [&](unsigned index) {
    return llvm::all_of(access.getSpace(index).coefs[kChannel],
                        [](const OpenNumber &factor) { return factor == 0; });
  };
  if (rank < 2 || rank > 3 || access.getNumForms() > 2 ||
      columns.coefs[kOffset].back() != access.getElementBytes())
    return std::nullopt;
  const int64_t channels = columns.sizes.back();
  const bool hasBlocks = rank == 3;
  if (hasBlocks &&
      columns.coefs[kOffset][0] != channels * access.getElementBytes())
    return std::nullopt;
  if (access.getNumForms() == 2) {
    const std::vector<int64_t> moved = toKnown(columns.coefs[kChannel]);
    if (access.getConstant(kChannel) != 0 || !isFixed(0) || !isFixed(1) ||
        moved.back() != 1 || moved[rank - 2] != 0 ||
        (hasBlocks && moved[0] != channels))
      return std::nullopt;
  } else if (!hasBlocks) {
    return std::nullopt;
  }
  return ResultMap::Taps{channels,
                         hasBlocks ? int64_t(columns.sizes[1]) * channels : 0};
}

static constexpr int64_t kAlignment = 16; ///< Of addresses and strides.

std::optional<TensorMap> tessera::beginResultMap(const ViewAccess &access,
                                                 KernelArg tensor, int64_t size,
                                                 int64_t boxBytes) {
  const int64_t offset = access.getConstant(0);
  if (offset < 0 || offset % kAlignment != 0)
    return std::nullopt;
  TensorMap map;
  map.tensor = tensor;
  map.offset = offset;
  setOpenOffset(map, access.getSource());
  map.dataType = *findDataType(access.getElementType());
  map.rank = 1;
  map.sizes[0] = size;
  map.box[0] = boxBytes / access.getElementBytes();
  return map;
}

bool tessera::addDimension(TensorMap &map, int64_t stride,
                           const OpenNumber &size, uint32_t box) {
  // One row alone is where it is, whatever the stride.
  const int64_t bytes = stride == 0 ? kAlignment : stride;
  if (map.rank == TensorMap::kMaxRank || bytes % kAlignment != 0)
    return false;
  if (size.isKnown())
    map.sizes[map.rank] = int64_t(size);
  else
    map.open.push_back(
        {TensorMap::List::Sizes, map.rank, size.toExpr(), SizeExpr()});
  map.strides[map.rank] = bytes;
  map.box[map.rank++] = box;
  return true;
}

std::optional<ResultMap> tessera::makeResultMap(dnn::ViewOp view,
                                                KernelArg tensor,
                                                int64_t storeRowBytes) {
  ViewAccess access(view);
  const int64_t bytes = access.getElementBytes();
  ArrayRef<int64_t> extents = view.getType().getShape();
  AccessSpace spaces[] = {access.getSpace(0), access.getSpace(1),
                          access.getSpace(2)};
  auto getStride = [](const AccessSpace &space) {
    return space.sizes.empty() ? OpenNumber() : space.coefs[0][0];
  };
  std::optional<ResultMap::Taps> taps = findTaps(access);
  auto isPlain = [](const AccessSpace &space) {
    return space.sizes.size() <= 1;
  };
  const bool hasPlainColumns =
      access.getNumForms() == 1 && isPlain(spaces[2]) &&
      (extents[2] == 1 || getStride(spaces[2]) == bytes);
  // What a warp stores at once is in one tap.
  const AccessSpace &rows = spaces[1];
  const bool areTaps =
      rows.sizes.size() == 2 && rows.sizes.back().getFactor() % kStoreRows == 0;
  if (!isPlain(spaces[0]) || (!isPlain(rows) && !areTaps) ||
      (!taps && !hasPlainColumns))
    return std::nullopt;
  const std::vector<int64_t> columns = toKnown(spaces[2].sizes);
  int64_t size = extents[2];
  if (taps)
    size = access.getNumForms() == 2 ? int64_t(access.getBound(1))
                                     : columns.front() * columns.back();
  std::optional<TensorMap> map =
      beginResultMap(access, tensor, size, storeRowBytes);
  const size_t tap = columns.size() - 2;
  if (!map ||
      (taps && !addDimension(*map, spaces[2].coefs[0][tap], columns[tap], 1)) ||
      (extents[0] > 1 &&
       !addDimension(*map, getStride(spaces[0]), extents[0], 1)) ||
      (areTaps &&
       !addDimension(*map, getStride(rows), rows.sizes.front(), 1)) ||
      !addDimension(*map, areTaps ? rows.coefs[0].back() : getStride(rows),
                    areTaps ? rows.sizes.back() : rows.getExtent(), kStoreRows))
    return std::nullopt;
  ResultMap::Taps found = taps.value_or(ResultMap::Taps());
  found.rows = areTaps ? int64_t(rows.sizes.back()) : 0;
  return ResultMap{*map, found, {}};
}

//===----------------------------------------------------------------------===//
// The store
//===----------------------------------------------------------------------===//

TmaStore::TmaStore(Emitter &e, Value mapPointer, bool hasGroups,
                   ResultMap::Taps taps, Value warp, Value lane)
    : e(e), hasGroups(hasGroups), warp(warp), mapPointer(mapPointer),
      taps(taps), isFirstLane(e.ult(lane, 1)) {}

void TmaStore::awaitBuffer(int64_t buffers) {
  emitIf(e, isFirstLane, [&] {
    NVVM::CpAsyncBulkWaitGroupOp::create(e.b, e.loc, buffers - 1,
                                         e.b.getUnitAttr());
  });
  emitWarpSync(e);
}

/// The channel and the tap of a column.
SmallVector<Value> TmaStore::splitColumn(Value column) {
  Value channel = e.remu(column, taps.tap);
  Value inBlock = column;
  if (taps.block > 0) {
    inBlock = e.remu(column, taps.block);
    Value block = e.divu(column, taps.block);
    channel = e.add(e.mul(block, taps.tap), channel);
  }
  return {channel, e.divu(inBlock, taps.tap)};
}

void TmaStore::copyBox(Value buffer, ValueRange coordinates) {
  NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
      e.b, e.loc, mapPointer, buffer, coordinates, /*l2CacheHint=*/Value(),
      NVVM::TMAStoreMode::TILE, /*predicate=*/Value());
}

void TmaStore::emitCopy(Value buffer, int64_t row, int64_t column) {
  SmallVector<Value> coordinates = {e.add(place.column, column)};
  if (taps.tap > 0)
    coordinates = splitColumn(coordinates[0]);
  if (hasGroups)
    coordinates.push_back(place.group);
  Value warpRow = e.add(place.row, e.mul(warp, kStoreRows));
  coordinates.push_back(e.add(warpRow, row));
  if (taps.rows > 0) {
    Value resultRow = coordinates.back();
    coordinates.back() = e.divu(resultRow, taps.rows);
    coordinates.push_back(e.remu(resultRow, taps.rows));
  }
  copyBox(buffer, coordinates);
}

void TmaStore::copyOut(Value buffer, int64_t row, int64_t column) {
  NVVM::FenceProxyOp::create(
      e.b, e.loc, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(e.b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
  emitWarpSync(e);
  emitIf(e, isFirstLane, [&] {
    emitCopy(buffer, row, column);
    NVVM::CpAsyncBulkCommitGroupOp::create(e.b, e.loc);
  });
}

/// Shared memory has to be there until it has been read. What was written is
/// visible where the kernel ends, for which nobody has to wait here.
void TmaStore::finish() {
  emitIf(e, isFirstLane, [&] {
    NVVM::CpAsyncBulkWaitGroupOp::create(e.b, e.loc, 0, e.b.getUnitAttr());
  });
}

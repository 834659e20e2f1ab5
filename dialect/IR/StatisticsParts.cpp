//===- StatisticsParts.cpp - What writes statistics at a store ------------===//

#include "dialect/IR/StatisticsParts.h"

#include <algorithm>

using namespace mlir;
using namespace tessera::dnn;

/// Warps of a warpgroup of Hopper.
static constexpr int64_t kWarps = 4;

static PipelineOp getPipeline(TileStoreOp store) {
  return store.getValue().getDefiningOp<PipelineOp>();
}

/// Whether warpgroups stage whole rows of 128 bytes of a result of 16 bits,
/// which each of them has computed alone.
static bool stagesRows(TileStoreOp store, PipelineOp pipeline) {
  constexpr int64_t kStagedBytes = 128, kColumnUnit = 8;
  const ArrayRef<int64_t> tile = pipeline.getType().getShape();
  Type element = store.getView().getType().getElementType();
  auto mma = *pipeline.getCompute().front().getOps<TileMmaOp>().begin();
  return pipeline.getCopy() == CopyKind::Tma && pipeline.getRoles() &&
         mma.getInstruction() == "wgmma" && mma.getWaves()[1] == 1 &&
         !pipeline.getCluster() && !pipeline.getSplits() &&
         (element.isF16() || element.isBF16()) && tile[1] * 2 >= kStagedBytes &&
         store.getView().getType().getShape()[2] % kColumnUnit == 0;
}

static int64_t countPartsOfTiles(TileStoreOp store, PipelineOp pipeline) {
  auto tiles = store->getParentOfType<ForEachTileOp>();
  RolesAttr roles = *pipeline.getRoles();
  const int64_t consumers =
      roles.getOrder() == ConsumerOrder::PingPong ? 1 : roles.getConsumers();
  return tiles.getCounts()[1] * consumers * kWarps;
}

/// Those of all warps at once; 0 if tiles of a warp differ in their columns.
/// Of one consumer, two workgroups may be on a multiprocessor.
static int64_t countPartsOfWarps(TileStoreOp store, PipelineOp pipeline) {
  auto tiles = store->getParentOfType<ForEachTileOp>();
  ArrayRef<int64_t> counts = tiles.getCounts();
  const auto persistent =
      static_cast<int64_t>(tiles.getPersistent().value_or(0));
  const int64_t columns = store.getView().getType().getShape()[2];
  if (counts[0] != 1 || counts[1] * counts[2] <= persistent ||
      persistent % counts[2] != 0 || pipeline.getMulticast() ||
      columns % pipeline.getType().getShape()[1] != 0)
    return 0;
  const int64_t consumers = pipeline.getRoles()->getConsumers();
  const int64_t resident = consumers == 1 ? 2 * persistent : persistent;
  return resident / counts[2] * consumers * kWarps;
}

int64_t tessera::dnn::countStatisticsParts(TileStoreOp store) {
  PipelineOp pipeline = getPipeline(store);
  if (!pipeline || !stagesRows(store, pipeline))
    return 0;
  const int64_t ofTiles = countPartsOfTiles(store, pipeline),
                ofWarps = countPartsOfWarps(store, pipeline);
  return ofWarps == 0 ? ofTiles : std::min(ofTiles, ofWarps);
}

bool tessera::dnn::hasPartOfTile(TileStoreOp store) {
  return countStatisticsParts(store) ==
         countPartsOfTiles(store, getPipeline(store));
}

//===- PoolSplit.cpp - When to split a window among threads ---------------===//

#include "compiler/Algorithms/Pooling/PoolSplit.h"
#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Pooling/PoolForward.h"
#include "compiler/Algorithms/Pooling/PoolModel.h"
#include "compiler/Algorithms/Registry.h"

#include "runtime/Base/TextScanner.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// Tile
//===----------------------------------------------------------------------===//

TileConfig PoolSplitTile::toConfig() const {
  return {"poolsplit", "c" + std::to_string(channels) + "h" +
                           std::to_string(rows) + "w" +
                           std::to_string(columns)};
}

ErrorOr<PoolSplitTile> tessera::parsePoolSplitTile(const TileConfig &config) {
  PoolSplitTile tile;
  TextScanner scanner(config.parameters);
  scanner.expect("c").number(tile.channels);
  scanner.expect("h").number(tile.rows).expect("w").number(tile.columns);
  if (!scanner.isDone() || config.algorithm != "poolsplit")
    return invalidArgument("'" + config.toText() +
                           "' is not a tile of a split pooling, which looks "
                           "like 'poolsplit-c4h8w32'");
  for (int value : {tile.channels, tile.rows, tile.columns})
    if (value < 1)
      return invalidArgument("tile '" + config.toText() +
                             "' has a zero, but every number must be positive");
  return tile;
}

//===----------------------------------------------------------------------===//
// Algorithm
//===----------------------------------------------------------------------===//

namespace {
class PoolSplit final : public Algorithm {
public:
  std::string_view getName() const override { return "poolsplit"; }
  bool takesUnaligned() const override { return true; }
  Status check(const Problem &problem, const GpuTarget &target) const override;
  std::vector<Candidate> getCandidates(const Problem &problem,
                                       const GpuTarget &target) const override;
  LogicalResult build(Operation *primitive, const TileConfig &config,
                      const GpuTarget &target) const override;
};
} // namespace

/// Whether the positions of a window or of an image do not fit 32-bit indices.
static bool needsWideIndices(const PoolGeometry &g) {
  double image = 1;
  for (int64_t length : g.dims.in)
    image *= static_cast<double>(length);
  return g.hasIndices() && std::max(g.getWindowSize(), image) > 0x1p32;
}

Status PoolSplit::check(const Problem &problem, const GpuTarget &) const {
  const PoolProblem *pool = problem.getPool();
  if (!pool)
    return notSupported("solves poolings only");
  const PoolGeometry g(*pool);
  if (Status status = checkPoolReach(g); !status.isOk())
    return status;
  if (!g.isForward)
    return notSupported("solves forward pooling only");
  if (isUnrolled(g, PoolTile()))
    return notSupported("splits windows that are too large to be unrolled");
  if (needsWideIndices(g))
    return notSupported("has indices of 32 bits, which are too few for the "
                        "positions of a window");
  return Status::ok();
}

std::vector<Candidate> PoolSplit::getCandidates(const Problem &problem,
                                                const GpuTarget &target) const {
  return getPoolSplitCandidates(*problem.getPool(), target, kPoolRates);
}

std::vector<Candidate>
tessera::getPoolSplitCandidates(const PoolProblem &problem,
                                const GpuTarget &target,
                                const PoolRates &rates) {
  const PoolGeometry g(problem);
  constexpr int64_t kMaxWorkspaceBytes = int64_t(1) << 28;
  std::vector<Candidate> candidates;
  for (int channels : getChannelChoices(g))
    for (int rows : {1, 4, 16, 64})
      for (int columns : {1, 16, 64}) {
        PoolSplitTile tile{channels, rows, columns};
        if (tile.getSplits() == 1 || rows > g.dims.window[1] ||
            columns > g.dims.window[2] ||
            getWorkspaceBytes(g, tile) > kMaxWorkspaceBytes)
          continue;
        double splits = static_cast<double>(tile.getSplits());
        double outputs = static_cast<double>(g.y.getElements()) / channels;
        double elements = g.getWindowSize();
        double clocks =
            estimateLoops(g, channels, outputs * splits, elements / splits,
                          target, rates) +
            estimateLoops(g, channels, outputs, splits, target, rates);
        candidates.push_back({tile.toConfig(), clocks + rates.launch});
      }
  return candidates;
}

LogicalResult PoolSplit::build(Operation *primitive, const TileConfig &config,
                               const GpuTarget &) const {
  auto pool = dyn_cast<dnn::PoolOp>(primitive);
  if (!pool || pool.getDirection() != dnn::PoolDirection::Forward)
    return primitive->emitOpError("is no forward pooling, but tile '")
           << config.toText() << "' is for one";
  ErrorOr<PoolSplitTile> tile = parsePoolSplitTile(config);
  if (!tile)
    return pool.emitOpError() << tile.getStatus().getMessage();
  const PoolGeometry g(pool);
  if (failed(checkChannels(pool, tile->channels, config)))
    return failure();
  if (needsWideIndices(g))
    return pool.emitOpError("has more positions than 32-bit indices can hold");
  buildPoolSplit(pool, *tile);
  return success();
}

const Algorithm &tessera::getPoolSplit() {
  static const PoolSplit split;
  return split;
}

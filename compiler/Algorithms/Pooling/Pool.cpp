//===- Pool.cpp - Pooling in one launch -----------------------------------===//

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Pooling/PoolBackward.h"
#include "compiler/Algorithms/Pooling/PoolForward.h"
#include "compiler/Algorithms/Pooling/PoolModel.h"
#include "compiler/Algorithms/Registry.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace tessera;

static bool isWrittenOutAs(const PoolGeometry &g, const PoolTile &tile) {
  return g.isForward ? isWrittenOut(g, tile) : isBackwardWrittenOut(g, tile);
}

//===----------------------------------------------------------------------===//
// Model
//===----------------------------------------------------------------------===//

/// Threads that own the elements of the tensor that is written.
static double countThreads(const PoolGeometry &g, const PoolTile &tile,
                           bool isOut) {
  const PoolTensorShape &written = g.isForward ? g.y : g.x;
  int64_t block[] = {1, isOut ? tile.rows : 1, isOut ? tile.columns : 1};
  double threads = static_cast<double>(written.sizes[kBatch]) *
                   static_cast<double>(written.sizes[kChannel] / tile.channels);
  for (int dim = 0; dim < 3; ++dim) {
    int64_t owned =
        block[dim] * (g.isForward || !isOut ? 1 : g.dims.strides[dim]);
    threads *= static_cast<double>(
        llvm::divideCeil(written.sizes[kDepth + dim], owned));
  }
  return threads;
}

static double estimateClocks(const PoolGeometry &g, const PoolTile &tile,
                             const GpuTarget &target, const PoolRates &rates) {
  bool isOut = isWrittenOutAs(g, tile);
  double threads = countThreads(g, tile, isOut);
  double windows = 1; // That an element is in.
  for (int dim = 0; dim < 3 && !hasOneWindow(g); ++dim)
    windows *= std::ceil(static_cast<double>(g.dims.window[dim]) /
                         static_cast<double>(g.dims.strides[dim]));
  if (!isOut)
    return estimateWalk(g, tile.channels, threads,
                        g.isForward ? g.getWindowSize() : windows, target,
                        rates);

  double loads = 1, columns = 1, meetings = tile.channels;
  double block[] = {1, double(tile.rows), double(tile.columns)};
  for (int dim = 0; dim < 3; ++dim) {
    auto window = static_cast<double>(g.dims.window[dim]);
    auto stride = static_cast<double>(g.dims.strides[dim]);
    // Pixels that forward reads; outputs that backward reads.
    columns = g.isForward ? (block[dim] - 1) * stride + window
                          : block[dim] + std::ceil(window / stride) - 1;
    loads *= columns;
    meetings *= block[dim] * window;
  }
  const PoolTensorShape &read = g.isForward ? g.x : g.y;
  int64_t width = tile.channels;
  if (width == 1) {
    int64_t step = tile.columns * (g.isForward ? g.dims.strides[2] : 1);
    width = std::gcd(read.getVectorLength(kColumn), step);
    if (width > 1) // The first and the last vector are used in part.
      loads *= (std::ceil(columns / static_cast<double>(width)) + 1) / columns;
  }
  double perMeeting = g.isMax() && (g.hasIndices() || !g.isForward) ? 3 : 2;
  return estimateClocks({loads, static_cast<double>(width * read.elementBytes),
                         meetings * perMeeting, /*waits=*/1},
                        threads, target, rates);
}

//===----------------------------------------------------------------------===//
// Algorithm
//===----------------------------------------------------------------------===//

namespace {
class Pool final : public Algorithm {
public:
  std::string_view getName() const override { return "pool"; }
  bool takesUnaligned() const override { return true; }
  Status check(const Problem &problem, const GpuTarget &target) const override;
  std::vector<Candidate> getCandidates(const Problem &problem,
                                       const GpuTarget &target) const override;
  LogicalResult build(Operation *primitive, const TileConfig &config,
                      const GpuTarget &target) const override;
};
} // namespace

Status Pool::check(const Problem &problem, const GpuTarget &) const {
  const PoolProblem *pool = problem.getPool();
  if (!pool)
    return notSupported("solves poolings");
  return checkPoolReach(PoolGeometry(*pool));
}

/// The tile that was best on an H100, or at most 6 % behind, whatever the
/// direction: 16 bytes an access, and no more than one of them to store, since
/// many short threads have more loads under way than few long ones. Windows
/// that move by single rows share most of them between two; rows that no vector
/// divides want a block, whose loads are shared.
static PoolTile getShortTile(const PoolGeometry &g) {
  constexpr int64_t kBytes = 16;
  const bool sharesRows = g.dims.strides[1] == 1 && g.dims.window[1] > 2;
  if (g.x.hasChannelsLast())
    return {static_cast<int>(g.x.getVectorLength(kChannel)), sharesRows ? 2 : 1,
            1};
  if (g.x.getVectorLength(kColumn) * g.x.elementBytes < kBytes)
    return !sharesRows                           ? PoolTile{1, 2, 2}
           : g.isForward || g.x.elementBytes < 4 ? PoolTile{1, 4, 2}
                                                 : PoolTile{1, 1, 4};
  int64_t columns = kBytes / (g.x.elementBytes * g.dims.strides[2]);
  return {1, 1, static_cast<int>(llvm::bit_floor(uint64_t(columns) | 1))};
}

/// Makes the measured choice the cheapest, without a change of the least cost.
/// Where it would leave the chip with few threads, the model knows better.
static void preferShortTile(std::vector<Candidate> &candidates,
                            const PoolGeometry &g, const GpuTarget &target) {
  constexpr double kFewThreads = 256; // Of a multiprocessor.
  const PoolTile tile = getShortTile(g);
  auto preferred = llvm::find_if(candidates, [&](const Candidate &candidate) {
    return candidate.tile == tile.toConfig();
  });
  if (preferred == candidates.end() ||
      countThreads(g, tile, isWrittenOutAs(g, tile)) <
          kFewThreads * target.computeUnits)
    return;
  constexpr double kMore = 1.001;
  double least = preferred->cost;
  for (const Candidate &candidate : candidates)
    least = std::min(least, candidate.cost);
  for (Candidate &candidate : candidates)
    candidate.cost = std::max(candidate.cost, least * kMore);
  preferred->cost = least;
}

std::vector<Candidate> tessera::getPoolCandidates(const PoolProblem &problem,
                                                  const GpuTarget &target,
                                                  const PoolRates &rates) {
  const PoolGeometry g(problem);
  std::vector<Candidate> candidates;
  for (int channels : getChannelChoices(g))
    for (int rows : {1, 2, 4})
      for (int columns : {1, 2, 4, 8}) {
        PoolTile tile{channels, rows, columns};
        bool isSmall = rows * columns == 1;
        bool overhangs =
            rows >= 2 * g.dims.out[1] || columns >= 2 * g.dims.out[2];
        if (!isSmall && (overhangs || !isWrittenOutAs(g, tile)))
          continue;
        candidates.push_back(
            {tile.toConfig(), ::estimateClocks(g, tile, target, rates)});
      }
  return candidates;
}

std::vector<Candidate> Pool::getCandidates(const Problem &problem,
                                           const GpuTarget &target) const {
  const PoolProblem &pool = *problem.getPool();
  std::vector<Candidate> candidates =
      getPoolCandidates(pool, target, kPoolRates);
  if (target.vendor == Vendor::Nvidia)
    preferShortTile(candidates, PoolGeometry(pool), target);
  return candidates;
}

LogicalResult Pool::build(Operation *primitive, const TileConfig &config,
                          const GpuTarget &) const {
  auto pool = dyn_cast<dnn::PoolOp>(primitive);
  if (!pool)
    return primitive->emitOpError("is no pooling, but tile '")
           << config.toText() << "' is for one";
  ErrorOr<PoolTile> tile = parsePoolTile(config);
  if (!tile)
    return pool.emitOpError() << tile.getStatus().getMessage();
  if (failed(checkChannels(pool, tile->channels, config)))
    return failure();
  if (pool.getDirection() == dnn::PoolDirection::Forward)
    buildPoolForward(pool, *tile);
  else
    buildPoolBackward(pool, *tile);
  return success();
}

const Algorithm &tessera::getPool() {
  static const Pool pool;
  return pool;
}

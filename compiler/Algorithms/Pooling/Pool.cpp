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

static bool isTileUnrolled(const PoolGeometry &g, const PoolTile &tile) {
  return g.isForward ? isUnrolled(g, tile) : isBackwardUnrolled(g, tile);
}

//===----------------------------------------------------------------------===//
// Model
//===----------------------------------------------------------------------===//

/// The number of threads that own the elements of the tensor that is written.
static double countThreads(const PoolGeometry &g, const PoolTile &tile,
                           bool unrolled) {
  const PoolTensorShape &written = g.isForward ? g.y : g.x;
  int64_t block[] = {1, unrolled ? tile.rows : 1, unrolled ? tile.columns : 1};
  double threads = static_cast<double>(written.sizes[kBatch]) *
                   static_cast<double>(written.sizes[kChannel] / tile.channels);
  for (int dim = 0; dim < 3; ++dim) {
    int64_t owned =
        block[dim] * (g.isForward || !unrolled ? 1 : g.dims.strides[dim]);
    threads *= static_cast<double>(
        llvm::divideCeil(written.sizes[kDepth + dim], owned));
  }
  return threads;
}

static double estimateClocks(const PoolGeometry &g, const PoolTile &tile,
                             const GpuTarget &target, const PoolRates &rates) {
  bool unrolled = isTileUnrolled(g, tile);
  double threads = countThreads(g, tile, unrolled);
  double windows = 1; // The number of windows that contain an element.
  for (int dim = 0; dim < 3 && !hasOneWindow(g); ++dim)
    windows *= std::ceil(static_cast<double>(g.dims.window[dim]) /
                         static_cast<double>(g.dims.strides[dim]));
  if (!unrolled)
    return estimateLoops(g, tile.channels, threads,
                         g.isForward ? g.getWindowSize() : windows, target,
                         rates);

  double loads = 1, columns = 1, pairs = tile.channels;
  double block[] = {1, double(tile.rows), double(tile.columns)};
  for (int dim = 0; dim < 3; ++dim) {
    auto window = static_cast<double>(g.dims.window[dim]);
    auto stride = static_cast<double>(g.dims.strides[dim]);
    // Forward reads pixels, backward reads outputs.
    columns = g.isForward ? (block[dim] - 1) * stride + window
                          : block[dim] + std::ceil(window / stride) - 1;
    loads *= columns;
    pairs *= block[dim] * window;
  }
  const PoolTensorShape &read = g.isForward ? g.x : g.y;
  int64_t width = tile.channels;
  if (width == 1) {
    int64_t step = tile.columns * (g.isForward ? g.dims.strides[2] : 1);
    width = std::gcd(read.getVectorLength(kColumn), step);
    if (width > 1) // The first and the last vector are partly unused.
      loads *= (std::ceil(columns / static_cast<double>(width)) + 1) / columns;
  }
  double perPair = g.isMax() && (g.hasIndices() || !g.isForward) ? 3 : 2;
  return estimateClocks({loads, static_cast<double>(width * read.elementBytes),
                         pairs * perPair, /*waits=*/1},
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
  bool takesUnknownSizes() const override { return true; }
  Status check(const Problem &problem, const GpuTarget &target) const override;
  std::vector<Candidate> getCandidates(const Problem &problem,
                                       const GpuTarget &target) const override;
  LogicalResult build(Operation *primitive, const TileConfig &config,
                      const GpuTarget &target) const override;
};
} // namespace

Status Pool::check(const Problem &problem, const GpuTarget &) const {
  const Problem sample = problem.getSample();
  const PoolProblem *pool = sample.getPool();
  if (!pool)
    return notSupported("solves poolings only");
  return checkPoolReach(PoolGeometry(*pool));
}

/// The tile that was the fastest on an H100, or at most 6 % slower, in both
/// directions. Accesses have 16 bytes, and a thread has at most one of them to
/// store, since many short threads have more loads in flight than few long
/// ones. Windows that overlap by single rows share most of their loads if a
/// thread owns two of them. Rows whose length is not a multiple of a vector
/// need a block of outputs, whose loads are shared.
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

/// Makes the measured choice the cheapest without changing the least cost, so
/// that other algorithms compare with the same number. The model decides where
/// the measured choice has too few threads to fill the chip.
static void preferShortTile(std::vector<Candidate> &candidates,
                            const PoolGeometry &g, const GpuTarget &target) {
  constexpr double kFewThreads = 256; // Threads of a multiprocessor.
  const PoolTile tile = getShortTile(g);
  auto preferred = llvm::find_if(candidates, [&](const Candidate &candidate) {
    return candidate.tile == tile.toConfig();
  });
  if (preferred == candidates.end() ||
      countThreads(g, tile, isTileUnrolled(g, tile)) <
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

/// Whether the values and the indices of a thread's outputs, which it keeps to
/// the end, leave some of a chip's registers to everything else.
static bool fitsRegisters(const PoolGeometry &g, const PoolTile &tile) {
  constexpr int64_t kRegisters = 256, kRegisterBytes = 4;
  if (!g.isForward || !g.hasIndices())
    return true;
  const int64_t bytes = g.x.elementBytes + kRegisterBytes;
  return int64_t(tile.channels) * tile.rows * tile.columns * bytes <
         kRegisters * kRegisterBytes;
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
        if (!isSmall &&
            (overhangs || !isTileUnrolled(g, tile) || !fitsRegisters(g, tile)))
          continue;
        candidates.push_back(
            {tile.toConfig(), ::estimateClocks(g, tile, target, rates)});
      }
  return candidates;
}

std::vector<Candidate> Pool::getCandidates(const Problem &problem,
                                           const GpuTarget &target) const {
  const Problem sample = problem.getSample();
  const PoolProblem &pool = *sample.getPool();
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

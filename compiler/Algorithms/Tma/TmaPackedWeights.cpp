//===- TmaPackedWeights.cpp - Backward weights of packed tensors ----------===//
//
// Tiles whose rows are the taps of a window, or all its lines.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Common/HaloPositions.h"
#include "compiler/Algorithms/Tma/TmaWeightModel.h"

#include <algorithm>
#include <numeric>
#include <optional>

using namespace tessera;
using namespace tessera::weights;

//===----------------------------------------------------------------------===//
// Tiles whose rows are taps
//===----------------------------------------------------------------------===//

/// The L2 lines that a copied row of 64 elements touches, on average. A row is
/// as long as a line, but touches two if it begins within one, which happens
/// where the pitch is not a multiple of lines.
static double countCacheLines(const ConvProblem &problem, int64_t pitch) {
  constexpr int64_t kLineBytes = kTmaStep * 2;
  const int64_t pitchBytes = pitch * getByteSize(problem.dataType);
  return 2 - static_cast<double>(std::gcd(pitchBytes, kLineBytes)) / kLineBytes;
}

/// The rates for packed tensors.
static TmaWeightRates getPackedRates(const ConvProblem &problem) {
  TmaWeightRates rates = kTmaWeightRates;
  rates.step.windowBytes /= countCacheLines(problem, problem.inChannels);
  rates.step.plainBytes = rates.step.windowBytes;
  rates.step.windowRow = rates.step.plainRow = 0;
  rates.sumPass = rates.packedSumPass;
  rates.sumBytes = rates.packedSumBytes;
  return rates;
}

/// Shapes as wide as all columns, or as a divisor of them.
static std::vector<TmaShape> getTapRowShapes(const ConvProblem &p,
                                             int64_t columns,
                                             const GpuTarget &target) {
  static constexpr TmaShape kKinds[] = {{384, 0, 3, false, 0},
                                        {256, 0, 2, false, 0},
                                        {192, 0, 3, false, 0},
                                        {128, 0, 2, false, 0},
                                        {128, 0, 1, true, 0}};
  constexpr int kLeast = 64, kMost = 256, kUnit = 16, kLeastStages = 3;
  const int64_t unit = getPixelColumns(p);
  const int64_t filled = llvm::divideCeilSigned(columns, unit) * unit;
  std::vector<TmaShape> shapes;
  for (TmaShape shape : kKinds)
    for (shape.n = kLeast; shape.n <= kMost; shape.n += kUnit) {
      const int mostAccumulators = shape.consumers == 3 ? 96 : 192;
      shape.stages = countStages(shape, target, splitsF32(p));
      if (filled % shape.n == 0 && fitsType(p, shape) &&
          shape.countAccumulators() <= mostAccumulators &&
          shape.stages >= kLeastStages)
        shapes.push_back(shape);
    }
  return shapes;
}

std::vector<Candidate> tessera::getTapRowCandidates(const ConvProblem &problem,
                                                    const GpuTarget &target) {
  std::vector<Candidate> candidates;
  if (!fitsTma(problem, target))
    return candidates;
  const WeightsGemm gemm = getGemm(problem, /*hasTapRows=*/true);
  for (const TmaShape &shape : getTapRowShapes(problem, gemm.columns, target))
    for (int splits : getSplits(problem, gemm.steps, gemm.countTiles(shape),
                                target.computeUnits))
      candidates.push_back({shape.getTile(problem, splits).toConfig(),
                            estimateClocks(problem, gemm, shape, splits, target,
                                           getPackedRates(problem))});
  return candidates;
}

//===----------------------------------------------------------------------===//
// Tiles whose lines share positions
//===----------------------------------------------------------------------===//

static constexpr int kLeastConsumers = 2, kMostConsumers = 5;

/// Whether the accumulators of a consumer, a wgmma of `n` columns for each of
/// its lines, fit its registers: those that the launch gives, and those that it
/// has later (HopperShape).
static bool fitsRegisters(int64_t consumers, int64_t lines, int64_t n) {
  constexpr int64_t kAtFirst[] = {168, 128, 96, 80};
  constexpr int64_t kLater[] = {232, 160, 112, 88};
  constexpr int64_t kAddresses = 26, kOthers = 24;
  const int64_t accumulators = n / 2, i = consumers - kLeastConsumers;
  return accumulators + kAddresses <= kAtFirst[i] &&
         accumulators * (lines / consumers) + kOthers <= kLater[i];
}

/// Clocks in which L2 delivers `chunks` chunks of windows and a stage of the
/// gradient.
static double getCopyClocks(const ConvProblem &p, const GemmTile &tile,
                            int64_t chunks, const TmaWeightRates &rates) {
  constexpr double kRowBytes = 128;
  const auto ofWindows = static_cast<double>(chunks * kTmaStep);
  const auto gradients =
      static_cast<double>(llvm::divideCeilSigned(tile.n, kTmaStep) * kTmaStep);
  return (ofWindows * countCacheLines(p, p.inChannels) +
          gradients * countCacheLines(p, p.outChannels)) *
         kRowBytes / rates.step.windowBytes;
}

/// Clocks of a step, which the products, shared memory or L2 limit.
static double getLineClocks(const ConvProblem &p, const GemmTile &tile,
                            const TmaWeightRates &rates) {
  constexpr double kRowBytes = 128, kWgmmaRows = 64;
  const auto written = static_cast<double>(
      kTmaStep + llvm::divideCeilSigned(tile.n, kTmaStep) * kTmaStep);
  const double read = tile.m / kWgmmaRows * (kWgmmaRows + tile.n) + written;
  return std::max({double(tile.m) * tile.n * tile.k / rates.slidingProducts,
                   read * kRowBytes / rates.step.readBytes,
                   getCopyClocks(p, tile, /*chunks=*/1, rates)});
}

/// The chunks after its own that a step reads.
static int64_t countAhead(const ConvProblem &p) {
  return llvm::divideCeilSigned(getReach(getConvDims(p)[1]) * p.getOutput().w,
                                kTmaStep);
}

/// The tile of `consumers`; none if too few chunks and stages fit.
static std::optional<GemmTile> makeLineTile(const ConvProblem &p, int consumers,
                                            int64_t n,
                                            const GpuTarget &target) {
  const ConvDim height = getConvDims(p)[1];
  constexpr int64_t kRowBytes = 128, kRest = 2048, kStages = 4, kInFlight = 4;
  const int64_t ahead = countAhead(p);
  const int64_t staged = consumers * 4 * 2 * 16;
  const int64_t rows =
      kTmaStep * (ahead + 2 + kInFlight) +
      kStages * llvm::divideCeilSigned(n, kTmaStep) * kTmaStep + staged;
  if (rows * kRowBytes + kRest > target.getMaxSharedBytes())
    return std::nullopt;
  GemmTile tile;
  tile.k = kTmaStep;
  tile.m = static_cast<int>(height.filter * kTmaStep);
  tile.n = static_cast<int>(n);
  tile.wavesM = consumers;
  tile.buffers = kStages;
  tile.halo = static_cast<int>(ahead + 1 + kInFlight);
  tile.mma = "wgmma";
  tile.isTma = true;
  return tile;
}

static void addLineTile(const ConvProblem &p, const GemmTile &tile,
                        const GpuTarget &target,
                        std::vector<Candidate> &candidates) {
  const TmaWeightRates rates = getPackedRates(p);
  const ConvDim height = getConvDims(p)[1];
  const int64_t steps = llvm::divideCeilSigned(
      p.batch * countPositions(height) * p.getOutput().w, kTmaStep);
  const int64_t tiles = llvm::divideCeilSigned(p.inChannels, kTmaStep) *
                        llvm::divideCeilSigned(p.outChannels, tile.n);
  for (int splits : getSplits(p, steps, tiles, target.computeUnits)) {
    GemmTile split = tile;
    split.splits = splits;
    // The first step waits for all chunks that it reads.
    const double begin = getCopyClocks(p, tile, countAhead(p) + 1, rates);
    const double products =
        static_cast<double>(llvm::divideCeilSigned(steps, splits)) *
        getLineClocks(p, tile, rates);
    const double stored = tile.m * tile.n / rates.step.exposedStores;
    const auto waves = static_cast<double>(
        llvm::divideCeilSigned(tiles * splits, target.computeUnits));
    candidates.push_back(
        {split.toConfig(), addUp(p, waves * (begin + products + stored),
                                 rates.slidingOverlap, splits, target, rates)});
  }
}

std::vector<Candidate> tessera::getLineCandidates(const ConvProblem &problem,
                                                  const GpuTarget &target) {
  constexpr int64_t kUnit = 16, kLeast = 64, kMost = 256;
  std::vector<Candidate> candidates;
  const int64_t lines = problem.filter.h;
  const int64_t columns = std::max(
      kLeast, llvm::divideCeilSigned(problem.outChannels, kUnit) * kUnit);
  if (!fitsTma(problem, target) || problem.dataType == DataType::F32 ||
      problem.filter.w > 1 || lines == 1)
    return candidates;
  for (int consumers = kLeastConsumers; consumers <= kMostConsumers;
       ++consumers)
    for (int64_t n = kLeast; n <= std::min(kMost, columns); n += kUnit)
      if (lines % consumers == 0 && columns % n == 0 &&
          fitsRegisters(consumers, lines, n))
        if (auto tile = makeLineTile(problem, consumers, n, target))
          addLineTile(problem, *tile, target, candidates);
  return candidates;
}

//===- TmaWeightTiles.cpp - Backward weights for TMA and wgmma ------------===//

#include "compiler/Algorithms/Tma/TmaWeightTiles.h"
#include "compiler/Algorithms/Common/HaloPositions.h"
#include "compiler/Algorithms/ImplicitGemm/GemmSize.h"
#include "compiler/Algorithms/OpenSamples.h"
#include "compiler/Algorithms/Tma/TmaWeightModel.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <optional>

using namespace tessera;
using namespace tessera::weights;

/// Rows, columns and consumers of tiles. 64 columns are for 64 channels, and
/// 192 divide 9 taps of these. 64 by 64 makes the most tiles of a layer that
/// leaves most of the chip idle. Of the last three shapes two workgroups run on
/// a multiprocessor.
static constexpr TmaShape kKinds[] = {
    {192, 128, 3, false, 0}, {128, 256, 2, false, 0}, {256, 128, 2, false, 0},
    {128, 128, 1, true, 0},  {192, 128, 1, true, 0},  {128, 128, 2, false, 0},
    {128, 64, 1, true, 0},   {256, 64, 2, false, 0},  {192, 64, 3, false, 0},
    {64, 256, 1, true, 0},   {64, 128, 1, true, 0},   {64, 192, 1, true, 0},
    {128, 192, 2, false, 0}, {256, 192, 2, false, 0}, {64, 64, 1, true, 0},
    {64, 128, 1, false, 0},  {128, 64, 1, false, 0},  {64, 64, 1, false, 0}};

/// Shapes with as many stages as fit, and with fewer, down to about half of
/// that, which have less in flight (countBytesAgain). Steps of f32 take so
/// long that the most stages are best.
static std::vector<TmaShape> getShapes(const ConvProblem &p,
                                       const GpuTarget &target) {
  constexpr int kLeastStages = 3, kMostDepths = 4;
  std::vector<TmaShape> shapes;
  for (TmaShape shape : kKinds) {
    const int most = countStages(shape, target, splitsF32(p));
    const int step = (most + 5) / 6;
    for (int i = 0; i < (p.dataType == DataType::F32 ? 1 : kMostDepths); ++i) {
      shape.stages = most - i * step;
      if (shape.stages >= kLeastStages)
        shapes.push_back(shape);
    }
  }
  return shapes;
}

//===----------------------------------------------------------------------===//
// Tiles whose taps share pixels
//===----------------------------------------------------------------------===//

/// Whether taps along height and width can share pixels. Those of the depth are
/// rows, of whole blocks of 32 channels (TmaOperand.h), and the gradient is
/// walked beyond its end, as far as corners of a volume's windows reach.
static bool canSlide(const ConvProblem &p) {
  constexpr int64_t kMostRows = 3, kMostTaps = 4, kMostTapRows = 16;
  constexpr int64_t kRowBlock = 32, kMostDeep = 16;
  const auto [depth, height, width] = getConvDims(p);
  if (p.hasDepth() && (p.outChannels / p.groups % kRowBlock != 0 ||
                       std::max({getReach(depth), getReach(height),
                                 getReach(width)}) >= kMostDeep))
    return false;
  return p.dataType != DataType::F32 && height.filter >= 2 &&
         height.filter <= kMostRows && width.filter >= 2 &&
         width.filter <= kMostTaps && width.dilation <= kMostTapRows &&
         fitsHalo(depth) && fitsHalo(height) && fitsHalo(width);
}

/// The tile of `rows` and `channels` input channels, with `stages` of the
/// gradient; none if too few chunks fit shared memory, or the accumulators do
/// not fit registers.
static std::optional<GemmTile> makeSlidingTile(const ConvProblem &p,
                                               int64_t rows, int64_t channels,
                                               int64_t stages,
                                               const GpuTarget &target) {
  const auto [depth, height, width] = getConvDims(p);
  const int64_t ahead = llvm::divideCeilSigned(
      getReach(height) * countPositions(width) + getReach(width), kTmaStep);
  // Beside the chunks that a step reads as many are in flight as there are
  // stages, fewer where images are wide. One of them is still being read.
  constexpr int64_t kLeast = 3, kRowBytes = 128, kRest = 2048;
  const int64_t staged = height.filter * 4 * 2 * 16; // Rows of the result.
  const int64_t left =
      target.getMaxSharedBytes() - kRest - (rows * stages + staged) * kRowBytes;
  const int64_t chunks =
      left / (kTmaStep * channels * getByteSize(p.dataType)) - (ahead + 2);
  constexpr int64_t kMostAccumulators = 128, kThreads = 128;
  if (chunks < kLeast ||
      rows * width.filter * channels > kMostAccumulators * kThreads)
    return std::nullopt;
  GemmTile tile;
  tile.m = static_cast<int>(rows);
  tile.k = kTmaStep;
  tile.n = static_cast<int>(height.filter * width.filter * channels);
  tile.wavesN = static_cast<int>(height.filter);
  tile.buffers = static_cast<int>(stages);
  tile.halo = static_cast<int>(ahead + 1 + std::min(chunks, stages));
  tile.mma = "wgmma";
  tile.isTma = true;
  return tile;
}

/// The same with as many stages as take as long as 4 of 64 by 64, or with 4 if
/// these are too many.
static std::optional<GemmTile> makeSlidingTile(const ConvProblem &p,
                                               int64_t rows, int64_t channels,
                                               const GpuTarget &target) {
  constexpr int64_t kFew = 4;
  const int64_t stages = kFew * kTmaStep * kTmaStep / (rows * channels);
  std::optional<GemmTile> tile =
      makeSlidingTile(p, rows, channels, stages, target);
  return tile ? tile : makeSlidingTile(p, rows, channels, kFew, target);
}

/// Whether 32 channels a tile pad fewer of them than 64, or only they fit.
/// Narrow groups have tiles of their own (NarrowGroups).
static bool wantsHalves(const ConvProblem &p, const GpuTarget &target) {
  constexpr int64_t kHalf = kTmaStep / 2;
  return p.groups == 1 &&
         (!makeSlidingTile(p, kTmaStep, kTmaStep, target) ||
          llvm::divideCeilSigned(p.inChannels, kHalf) <
              2 * llvm::divideCeilSigned(p.inChannels, kTmaStep));
}

/// Clocks of a step, which the products, shared memory or L2 limit. Pixels and
/// gradients are copied once for the taps of a tile.
static double getSlidingClocks(const ConvProblem &p, const GemmTile &tile,
                               int channels, const TmaWeightRates &rates) {
  constexpr double kRowBytes = 128;
  const bool hasTapRows =
      p.hasDepth() || tile.n < p.filter.h * p.filter.w * channels;
  const TmaTraffic traffic = getTraffic(p, tile.m, channels);
  const double copied = (traffic.rows + traffic.columns) * kRowBytes;
  // Blocks of 32 rows of taps are copied one by one.
  const int64_t blocks = p.outChannels / p.groups % kTmaStep == 0 ? 1 : 2;
  const double copiedRows =
      hasTapRows ? static_cast<double>(kTmaStep + blocks * tile.m) : 0;
  // A wgmma reads 64 rows and its columns: 192, for which the rate is, or
  // fewer.
  constexpr double kColumns = 192;
  const double columns = static_cast<double>(tile.n) / tile.wavesN;
  const double read = (1 + kTmaStep / columns) / (1 + kTmaStep / kColumns);
  return std::max({double(tile.m) * tile.n * tile.k / rates.slidingProducts *
                       std::max(1.0, read),
                   copied / rates.step.windowBytes,
                   copiedRows * rates.slidingRow});
}

/// Adds tiles of all taps along height and width of `rows` and `channels` input
/// channels, with a filter row for each consumer. The input is copied in
/// chunks of 64 positions (docs/design/0009-window-reuse.md).
static void addSliding(const ConvProblem &p, int64_t rows, int64_t channels,
                       const GpuTarget &target, const TmaWeightRates &rates,
                       std::vector<Candidate> &candidates) {
  std::optional<GemmTile> made = makeSlidingTile(p, rows, channels, target);
  if (!made)
    return;
  GemmTile tile = *made;
  const auto [depth, height, width] = getConvDims(p);
  const int64_t positions =
      p.batch * depth.in * countPositions(height) * countPositions(width);
  const int64_t steps = llvm::divideCeilSigned(positions, kTmaStep);
  const int64_t tiles =
      p.groups *
      llvm::divideCeilSigned(depth.filter * p.outChannels / p.groups, rows) *
      llvm::divideCeilSigned(p.inChannels / p.groups, channels);
  for (int splits : getSplits(p, steps, tiles, target.computeUnits)) {
    tile.splits = splits;
    const double step =
        getSlidingClocks(p, tile, static_cast<int>(channels), rates);
    const double products =
        static_cast<double>(llvm::divideCeilSigned(steps, splits)) * step;
    const double stored = tile.m * tile.n / rates.step.exposedStores;
    const auto waves = static_cast<double>(
        llvm::divideCeilSigned(tiles * splits, target.computeUnits));
    candidates.push_back(
        {tile.toConfig(),
         addUp(p, waves * (products + (splits > 1 ? 2 : 1) * stored),
               rates.slidingOverlap, splits, target, rates)});
  }
}

//===----------------------------------------------------------------------===//
// Tiles whose taps of a filter row share pixels
//===----------------------------------------------------------------------===//

/// The tile, of which two workgroups are resident; none where the taps of a
/// filter row are too many or too far apart, or output channels are so many
/// that tiles of more rows copy less. A step reads one chunk behind its own, as
/// taps reach no further. Other taps are rows, of whole blocks of 32 channels.
static std::optional<GemmTile> makeRowTile(const ConvProblem &p) {
  constexpr int64_t kMostColumns = 192, kMostTapRows = 16, kRowBlock = 32;
  const std::array<ConvDim, 3> dims = getConvDims(p);
  const auto [depth, height, width] = dims;
  const int64_t channels =
      width.filter * kTmaStep <= kMostColumns ? kTmaStep : kTmaStep / 2;
  const int64_t outputs = p.outChannels / p.groups;
  if (p.dataType == DataType::F32 || p.hasDepth() || width.filter < 2 ||
      width.filter * channels > kMostColumns || width.dilation > kMostTapRows ||
      getReach(width) > kTmaStep || !std::ranges::all_of(dims, fitsHalo) ||
      outputs > kTmaStep || (height.filter > 1 && outputs % kRowBlock != 0))
    return std::nullopt;
  GemmTile tile;
  tile.m = tile.k = kTmaStep;
  tile.n = static_cast<int>(width.filter * channels);
  // Of 64 rows each, and one that is a mirror.
  tile.buffers = 5;
  tile.halo = 6;
  tile.mma = "wgmma";
  tile.isTma = true;
  return tile;
}

/// The reduction as the tile walks it.
static WeightsGemm getRowGemm(const ConvProblem &p, const GemmTile &tile) {
  const auto [depth, height, width] = getConvDims(p);
  const int64_t inputs = p.inChannels / p.groups;
  return {height.filter * p.outChannels / p.groups,
          static_cast<int64_t>(llvm::alignTo(inputs, tile.n / width.filter)) *
              width.filter,
          llvm::divideCeilSigned(p.batch * height.in * countPositions(width),
                                 kTmaStep),
          p.groups};
}

/// Measured on an H100, 3x3 of 64 to 64 channels with 22, 44 and 88 splits: a
/// step takes 1.2 times as long as expected, alone on a multiprocessor or
/// beside another workgroup's, and a split costs half as much.
static double estimateRowClocks(const ConvProblem &p, const GemmTile &tile,
                                const WeightsGemm &gemm, int64_t tiles,
                                const GpuTarget &target) {
  constexpr double kLonger = 1.2, kSumBytes = 2;
  constexpr int64_t kSharing = 2;
  TmaWeightRates rates = kTmaWeightRates;
  rates.sumBytes *= kSumBytes;
  const double step =
      kLonger *
      getSlidingClocks(p, tile, tile.n / static_cast<int>(p.filter.w), rates);
  const double products =
      static_cast<double>(llvm::divideCeilSigned(gemm.steps, tile.splits)) *
      step;
  const double stored = tile.m * tile.n / rates.step.exposedStores;
  const int64_t workgroups = tiles * tile.splits;
  const auto waves = static_cast<double>(
      workgroups <= target.computeUnits
          ? 1
          : kSharing * llvm::divideCeilSigned(workgroups,
                                              target.computeUnits * kSharing));
  return addUp(p, waves * (products + (tile.splits > 1 ? 2 : 1) * stored),
               rates.slidingOverlap, tile.splits, target, rates);
}

/// The numbers of splits for so many steps of so many tiles, `atOnce` of which
/// run at the same time.
using ChooseSplits = llvm::function_ref<std::vector<int>(
    int64_t steps, int64_t tiles, int64_t atOnce)>;

/// Adds that tile with each number of splits.
static void addRowTiles(const ConvProblem &p, const GpuTarget &target,
                        ChooseSplits choose,
                        std::vector<Candidate> &candidates) {
  std::optional<GemmTile> made = makeRowTile(p);
  if (!made)
    return;
  GemmTile tile = *made;
  const WeightsGemm gemm = getRowGemm(p, tile);
  const int64_t tiles =
      gemm.countTiles({tile.m, tile.n, 1, false, tile.buffers});
  for (int splits : choose(gemm.steps, tiles, target.computeUnits)) {
    tile.splits = splits;
    GemmTile used = tile;
    used.splits = countUsedSplits(p, tile);
    candidates.push_back(
        {tile.toConfig(), estimateRowClocks(p, used, gemm, tiles, target)});
  }
}

//===----------------------------------------------------------------------===//
// All tiles
//===----------------------------------------------------------------------===//

std::vector<Candidate>
tessera::getTmaWeightCandidates(const ConvProblem &problem,
                                const GpuTarget &target,
                                const TmaWeightRates &rates) {
  std::vector<Candidate> candidates;
  if (!fitsTma(problem, target))
    return candidates;
  const WeightsGemm gemm = getGemm(problem);
  auto add = [&](const TmaShape &shape) {
    if (!fitsType(problem, shape))
      return;
    const int64_t atOnce = target.computeUnits * (shape.isSmall() ? 2 : 1);
    for (int splits :
         getSplits(problem, gemm.steps, gemm.countTiles(shape), atOnce)) {
      // No step needs more stages than a split has steps.
      constexpr int64_t kFewStages = 6;
      // Behind a single image matrix no step reads zeros.
      if (problem.yLayout == Layout::NCHW && problem.batch == 1 &&
          gemm.steps % splits != 0)
        continue;
      if (shape.stages >
          std::max(kFewStages, llvm::divideCeilSigned(gemm.steps, splits)))
        continue;
      candidates.push_back(
          {shape.getTile(problem, splits).toConfig(),
           estimateClocks(problem, gemm, shape, splits, target, rates)});
    }
  };
  std::ranges::for_each(getShapes(problem, target), add);
  if (canSlide(problem))
    addSliding(problem, kTmaStep, kTmaStep, target, rates, candidates);
  if (canSlide(problem) && wantsHalves(problem, target))
    for (int64_t rows : {kTmaStep, 2 * kTmaStep})
      addSliding(problem, rows, kTmaStep / 2, target, rates, candidates);
  return candidates;
}

std::vector<Candidate>
tessera::getOpenTmaWeightCandidates(const ConvProblem &sample,
                                    const GpuTarget &target) {
  std::vector<Candidate> candidates = getTmaWeightCandidates(sample, target);
  std::erase_if(candidates, [](const Candidate &candidate) {
    const GemmTile tile = *parseGemmTile(candidate.tile);
    return tile.halo > 0 || tile.cluster > 1 || tile.multicast != 0;
  });
  const auto chooseFilling = [&](int64_t steps, int64_t tiles, int64_t atOnce) {
    return getSplits(sample, steps, tiles, atOnce);
  };
  if (fitsTma(sample, target))
    addRowTiles(sample, target, chooseFilling, candidates);
  return candidates;
}

std::vector<Candidate>
tessera::getTmaWeightCandidates(const ConvProblem &problem,
                                const GpuTarget &target,
                                const std::set<int> &splits) {
  std::vector<Candidate> candidates;
  if (!fitsTma(problem, target))
    return candidates;
  const WeightsGemm gemm = getGemm(problem);
  for (const TmaShape &shape : getShapes(problem, target))
    for (int count : splits)
      if (fitsType(problem, shape) && (count > 1 || !mustSplit(problem))) {
        const GemmTile tile = shape.getTile(problem, count);
        candidates.push_back(
            {tile.toConfig(),
             estimateClocks(problem, gemm, shape,
                            countUsedSplits(problem, tile), target)});
      }
  const auto chooseAll = [&](int64_t, int64_t, int64_t) {
    std::vector<int> all(splits.begin(), splits.end());
    std::erase_if(all,
                  [&](int count) { return count == 1 && mustSplit(problem); });
    return all;
  };
  addRowTiles(problem, target, chooseAll, candidates);
  return candidates;
}

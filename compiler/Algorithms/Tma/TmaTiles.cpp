//===- TmaTiles.cpp - GEMM tiles for TMA and wgmma ------------------------===//

#include "compiler/Algorithms/Tma/TmaTiles.h"
#include "compiler/Algorithms/Tma/TmaHaloTiles.h"
#include "compiler/Algorithms/Tma/TmaImageModel.h"
#include "compiler/Algorithms/Tma/TmaWeightTiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <optional>
#include <utility>

using namespace tessera;
using namespace tessera::images;

/// Whether workgroups with tiles side by side should copy their rows for each
/// other (docs/design/0031-multicast.md). It takes whole swizzles in each half,
/// and tiles in pairs. Where reductions are long and tiles of many columns read
/// the same rows, L2 would hold them up; of few columns some took a fifth
/// longer so on an H100.
static bool canShareRows(const ConvProblem &p, const TmaGemm &gemm,
                         const TmaShape &shape, const GpuTarget &target) {
  constexpr int64_t kLeastSteps = 64, kLeastColumns = 6;
  constexpr int kUnit = 16;
  const int64_t step = shape.stepBytes / getByteSize(p.dataType);
  const int64_t steps = gemm.taps * llvm::divideCeilSigned(gemm.channels, step);
  const int64_t inRow = llvm::divideCeilSigned(gemm.columns, int64_t(shape.n));
  return gemm.classes == 1 && !splitsF32(p) && !shape.isSmall() &&
         steps >= kLeastSteps && shape.m % kUnit == 0 &&
         inRow >= kLeastColumns && inRow % 2 == 0 &&
         4 * countTiles(gemm, shape) >= 3 * target.computeUnits;
}

/// The numbers of splits worth trying: 1, and, for tiles that leave half of the
/// chip idle, those that divide the reduction until each multiprocessor has
/// what it holds at once. The reduction is that of the views: of strided
/// backward data the channels (ImplicitGemm.cpp).
static std::vector<int> getSplits(const ConvProblem &p, const TmaGemm &gemm,
                                  const TmaShape &shape,
                                  const GpuTarget &target) {
  constexpr int64_t kMostSplits = 32, kLeastSteps = 2;
  std::vector<int> all = {1};
  const int64_t tiles = countTiles(gemm, shape);
  const int64_t step = shape.stepBytes / getByteSize(p.dataType);
  const bool isTransposed =
      p.direction == Direction::BackwardData && readsRowsOnly(p);
  if (tiles * 2 > target.computeUnits || shape.halo > 0 || shape.isSwapped ||
      shape.cluster > 1 || isTransposed ||
      (gemm.classes > 1 && gemm.channels % step != 0))
    return all;
  const int64_t ofTap = llvm::divideCeilSigned(gemm.channels, step);
  const int64_t steps = gemm.classes > 1 ? ofTap : ofTap * gemm.taps;
  const int64_t atOnce = target.computeUnits * (shape.isSmall() ? 2 : 1);
  const int64_t most =
      std::min({kMostSplits, atOnce / tiles, steps / kLeastSteps});
  for (int splits = 2; splits <= most; ++splits)
    if (steps % splits == 0)
      all.push_back(splits);
  return all;
}

/// The steps of a tile's reduction, or of its part of a cluster's.
static int64_t countSteps(const ConvProblem &p, const TmaGemm &gemm,
                          const TmaShape &shape) {
  const int64_t step = shape.stepBytes / getByteSize(p.dataType);
  return llvm::divideCeilSigned(gemm.taps *
                                    llvm::divideCeilSigned(gemm.channels, step),
                                int64_t(shape.cluster));
}

/// The stages of the pipeline: as many as fit shared memory beside the staging
/// buffers. Where each workgroup has one tile, some more may hold all its steps
/// (chooseCopies() of Conversion/Hopper).
static int countStages(const ConvProblem &p, const TmaGemm &gemm,
                       const TmaShape &shape, const GpuTarget &target) {
  constexpr int64_t kWholeStep = kTmaStep * 2, kMostStages = 8, kMost = 16;
  constexpr int64_t kWarps = 4, kStagingBytes = 2048, kOthers = 1024 + 256;
  constexpr int64_t kHalfSm = 115712; // For each of two workgroups.
  constexpr uint64_t kAlignment = 1024;
  const int64_t copied = llvm::divideCeilSigned(shape.n, kTmaStep) * kTmaStep *
                         (splitsF32(p) ? 2 : 1);
  const int64_t staging = (shape.isPingPong ? 2 : shape.consumers) * kWarps *
                          kStagingBytes * shape.stagers;
  constexpr int64_t kSumBytes = 4;
  const int64_t sumBytes =
      shape.cluster > 1
          ? shape.cluster * shape.m * shape.getStoredColumns() * kSumBytes
          : 0;
  const int64_t available =
      (shape.isSmall() ? kHalfSm : target.getMaxSharedBytes()) - staging -
      sumBytes - kOthers;
  const auto rows = static_cast<int64_t>(
      llvm::alignTo(shape.m * shape.stepBytes, kAlignment));
  const int64_t steps = countSteps(p, gemm, shape);
  const bool holdsAll = gemm.classes == 1 && steps <= kMost &&
                        countTiles(gemm, shape) <= target.computeUnits;
  const int64_t most = shape.cluster > 1 ? kMost
                       : holdsAll        ? std::max(steps, kMostStages)
                                         : kMostStages;
  return static_cast<int>(
      std::min({kMost, most * kWholeStep / shape.stepBytes,
                available / (rows + copied * shape.stepBytes)}));
}

/// Adds a shape with the stages that fit beside two staging buffers of each
/// warp, and with those that fit beside one if these are more. Two buffers
/// alternate, so they need an even number of pieces.
static void addStages(const ConvProblem &p, const TmaGemm &gemm, TmaShape shape,
                      const GpuTarget &target, std::vector<TmaShape> &shapes) {
  constexpr int kLeastStages = 3;
  const bool hasColumnBlocks =
      p.direction == Direction::BackwardData || p.xLayout == Layout::NCHW;
  if (splitsF32(p) && !fitsSplits(shape, hasColumnBlocks))
    return;
  const int64_t rows = shape.isPingPong ? shape.m : shape.m / shape.consumers;
  const int64_t columns = std::min(
      shape.getPieceColumns(), 2 * kTmaStep / getByteSize(p.getResultType()));
  const int64_t pieces =
      llvm::divideCeilSigned(int64_t(shape.getStoredColumns()), columns) *
      llvm::divideCeilSigned(rows, kTmaStep);
  int before = kLeastStages - 1;
  for (const int stagers : {2, 1}) {
    shape.stagers = stagers;
    shape.stages = countStages(p, gemm, shape, target);
    if (shape.stages <= before || pieces % stagers != 0)
      continue;
    shapes.push_back(shape);
    before = shape.stages;
  }
}

/// Adds a shape with all steps that make sense.
static void addShape(const ConvProblem &p, const TmaGemm &gemm,
                     const TmaShape &kind, const GpuTarget &target,
                     std::vector<TmaShape> &shapes) {
  for (const TmaShape &shape : getStepShapes(p, kind, gemm.channels))
    addStages(p, gemm, shape, target, shapes);
}

/// Each kind of tile in all widths that make sense for the columns of a layer:
/// 64, 128, 192 and 256, or what fewer columns need; unless columns are copied
/// in blocks, divisors of the columns, and widths that take fewer waves than
/// the width below. The number of tiles
/// decides how much of the chip the last wave leaves idle. Two small workgroups
/// a multiprocessor are for layers that memory limits.
static std::vector<TmaShape>
getShapes(const ConvProblem &p, const TmaGemm &gemm, const GpuTarget &target) {
  static constexpr TmaShape kKinds[] = {
      {192, 0, 3, false, 0}, {128, 0, 2, false, 0}, {256, 0, 2, false, 0},
      {128, 0, 1, true, 0},  {192, 0, 1, true, 0},  {64, 0, 1, true, 0}};
  constexpr int kMost = 256, kUnit = 16;
  const int least = getFewestColumns(gemm.columns);
  const bool hasBlocks =
      isImageProduct(p, target) ||
      (p.direction == Direction::BackwardData && !readsRowsOnly(p));
  const int64_t block = hasBlocks ? getTmaStep(p) : kTmaStep;
  std::vector<TmaShape> shapes;
  for (const TmaShape &small :
       {TmaShape{64, least, 1, false, 0}, TmaShape{64, 128, 1, false, 0},
        TmaShape{128, least, 1, false, 0}})
    addShape(p, gemm, small, target, shapes);
  for (TmaShape shape : kKinds) {
    double waves = 0;
    for (shape.n = least; shape.n <= kMost; shape.n += kUnit) {
      const double before =
          std::exchange(waves, countWaves(gemm, shape, target));
      // Waves of strided backward data differ in length, so that fewer of them
      // need not be faster.
      const bool savesWaves = waves < before && gemm.classes == 1;
      // Where columns lie together, copies are of blocks of them.
      const bool isLast =
          shape.n >= gemm.columns && shape.n - kUnit < gemm.columns;
      const bool isWhole = shape.n % block == 0;
      if (shape.n != least && !isWhole && !isLast &&
          (hasBlocks || (gemm.columns % shape.n != 0 && !savesWaves)))
        continue;
      // The limit is the registers of a thread: with three consumers these are
      // 128 until registers move from the producer to the consumers.
      const int mostAccumulators = shape.consumers == 3 ? 96 : 192;
      if (shape.countAccumulators() <= mostAccumulators)
        addShape(p, gemm, shape, target, shapes);
    }
  }
  return shapes;
}

/// The shape of each workgroup of a cluster, of which each has up to `steps` at
/// once: no stage is worth more.
static void addCluster(const ConvProblem &p, const TmaGemm &gemm,
                       const TmaShape &kind, int64_t steps,
                       const GpuTarget &target, std::vector<TmaShape> &shapes) {
  std::vector<TmaShape> all;
  addShape(p, gemm, kind, target, all);
  int before = 0;
  for (TmaShape &shape : all) {
    shape.stages = static_cast<int>(std::min<int64_t>(shape.stages, steps));
    if (shape.stages != before)
      shapes.push_back(shape);
    before = shape.stages;
  }
}

/// Clusters for tiles that leave half of the chip idle, and narrower tiles than
/// others have, since a cluster exchanges fewer accumulators of them. All
/// workgroups are to run at once. The parts of a chip that a cluster lies in
/// are no multiples of clusters: of 132 multiprocessors an H100 gives 120 to
/// clusters of four; 128 workgroups in clusters of eight took two waves, of
/// which 96 are let here.
static std::vector<TmaShape> getClusterShapes(const ConvProblem &p,
                                              const TmaGemm &gemm,
                                              const GpuTarget &target) {
  static constexpr TmaShape kKinds[] = {
      {64, 32, 1, false, 0},  {64, 64, 1, false, 0},  {64, 128, 1, false, 0},
      {128, 32, 2, false, 0}, {128, 64, 2, false, 0}, {128, 128, 2, false, 0}};
  const std::pair<int, int64_t> kClusters[] = {
      {2, target.computeUnits}, {4, 120}, {8, 96}};
  std::vector<TmaShape> shapes;
  const int64_t steps =
      gemm.taps * llvm::divideCeilSigned(gemm.channels, getTmaStep(p));
  for (TmaShape shape : kKinds)
    for (const auto &[cluster, units] : kClusters) {
      shape.cluster = cluster;
      if (gemm.classes == 1 && steps >= 2 * cluster &&
          countTiles(gemm, shape) * cluster <=
              std::min<int64_t>(units, target.computeUnits) &&
          shape.n <= std::max(kTmaStep, gemm.columns))
        addCluster(p, gemm, shape,
                   llvm::divideCeilSigned(steps, int64_t(cluster)), target,
                   shapes);
    }
  return shapes;
}

/// With swapped operands pixels are wgmma's columns
/// (docs/design/0016-swapped-operands.md), so a tile has any multiple of eight
/// of them: as many as fill the chip in one, two or three waves of workgroups.
static std::vector<TmaShape> getSwappedShapes(const ConvProblem &p,
                                              const TmaGemm &gemm,
                                              const GpuTarget &target) {
  constexpr int64_t kLeast = 64, kMost = 256, kUnit = 8;
  constexpr int64_t kMostWaves = 3, kMostAccumulators = 192;
  std::vector<TmaShape> shapes;
  for (int64_t n = kLeast; n <= std::min(kMost, gemm.columns + kLeast - 1);
       n += kLeast) {
    int64_t before = 0;
    for (int64_t waves = 1; waves <= kMostWaves; ++waves) {
      const int64_t columnTiles =
          gemm.groups * llvm::divideCeilSigned(gemm.columns, n);
      const int64_t rowTiles = waves * target.computeUnits / columnTiles;
      if (rowTiles == 0)
        continue;
      const int64_t m = std::max(
          kLeast, llvm::divideCeilSigned(
                      llvm::divideCeilSigned(gemm.rows, rowTiles), kUnit) *
                      kUnit);
      const TmaShape shape{.m = static_cast<int>(std::min(m, kMost + 1)),
                           .n = static_cast<int>(n),
                           .consumers = 1,
                           .isPingPong = true,
                           .stages = 0,
                           .isSwapped = true};
      if (m <= kMost && m != before &&
          shape.countAccumulators() <= kMostAccumulators)
        addShape(p, gemm, shape, target, shapes);
      before = m;
    }
  }
  return shapes;
}

/// With more accumulators, a thread has no registers for what an epilogue
/// reads.
static constexpr int kMostEpilogueAccumulators = 128;

std::vector<Candidate> tessera::getTmaCandidates(const ConvProblem &problem,
                                                 const GpuTarget &target) {
  return getTmaCandidates(problem, target, getTmaRates(problem));
}

std::vector<Candidate> tessera::getTmaCandidates(const ConvProblem &problem,
                                                 const GpuTarget &target,
                                                 const TmaRates &rates) {
  std::vector<Candidate> candidates;
  if (problem.direction == Direction::BackwardWeights)
    return getTmaWeightCandidates(problem, target);
  if (!fitsTma(problem, target))
    return candidates;
  const bool hasImages = isImageProduct(problem, target);
  const TmaGemm gemm = getGemm(problem, hasImages);
  const Epilogue &epilogue = problem.epilogue;
  const bool hasTensors = epilogue.bias || epilogue.residual || epilogue.beta;
  // What a normalisation's gradient reads needs registers, too, and behind the
  // staging no certain pieces.
  const bool hasNorm = epilogue.normGradient != NormGradient::None;
  // Swapped operands are for results of 16 bits.
  constexpr int64_t kShortBytes = 2;
  const bool storesShorts = getByteSize(problem.getResultType()) == kShortBytes;
  auto add = [&](const TmaShape &shape) {
    if (!fitsStagedRows(problem, shape.getStoredColumns()) ||
        (shape.isSwapped && !storesShorts))
      return;
    // Pieces of 64 columns have been measured behind tensors, others are only
    // for columns that 64 does not divide.
    const bool hasPieces =
        shape.n % kTmaStep == 0 ||
        (gemm.columns % kTmaStep != 0 && gemm.columns % shape.n == 0);
    const bool hasRegisters =
        shape.countAccumulators() <= kMostEpilogueAccumulators;
    const bool storesTensors = (!hasTensors && !hasNorm) ||
                               (hasRegisters && (!hasTensors || hasPieces));
    // The launch that adds splits reads the tensors. A cluster's workgroup has
    // few accumulators of a tile.
    for (int splits : hasImages ? std::vector<int>{1}
                                : getSplits(problem, gemm, shape, target))
      if (storesTensors || splits > 1 || shape.cluster > 1)
        candidates.push_back(
            {shape.getTile(problem, splits).toConfig(),
             estimateClocks(problem, shape, splits, target, rates)});
  };
  auto addBoth = [&](TmaShape shape) {
    add(shape);
    shape.sharesRows = canShareRows(problem, gemm, shape, target);
    if (shape.sharesRows)
      add(shape);
  };
  if (hasImages) {
    std::ranges::for_each(getShapes(problem, gemm, target), add);
    return candidates;
  }
  std::ranges::for_each(getShapes(problem, gemm, target), addBoth);
  std::ranges::for_each(getClusterShapes(problem, gemm, target), add);
  if (!hasTensors && storesShorts && gemm.classes == 1)
    std::ranges::for_each(getSwappedShapes(problem, gemm, target), addBoth);
  if (isInReach(problem)) // These tiles are stored row by row.
    std::ranges::for_each(getTmaHaloShapes(problem, target), add);
  return candidates;
}

//===----------------------------------------------------------------------===//
// Unknown sizes
//===----------------------------------------------------------------------===//

Status tessera::checkOpenTma(const ConvProblem &sample,
                             const GpuTarget &target) {
  if (sample.dataType != DataType::F16 && sample.dataType != DataType::BF16 &&
      sample.dataType != DataType::F32)
    return notSupported("needs known sizes for " +
                        std::string(getName(sample.dataType)) +
                        " on NVIDIA's chips");
  if (sample.direction == Direction::BackwardWeights
          ? getOpenTmaCandidates(sample, target).empty()
          : !fitsTma(sample, target))
    return notSupported("needs known sizes where TMA does not copy");
  return Status::ok();
}

std::vector<Candidate> tessera::getOpenTmaCandidates(const ConvProblem &sample,
                                                     const GpuTarget &target) {
  const TmaRates &rates = getTmaRates(sample);
  if (sample.direction == Direction::BackwardWeights)
    return getOpenTmaWeightCandidates(sample, target);
  std::vector<Candidate> candidates;
  auto add = [&](const TmaShape &shape) {
    if (fitsStagedRows(sample, shape.getStoredColumns()))
      candidates.push_back(
          {shape.getTile(sample, /*splits=*/1).toConfig(),
           estimateClocks(sample, shape, /*splits=*/1, target, rates)});
  };
  std::ranges::for_each(getShapes(sample, getGemm(sample), target), add);
  // Their results are stored row by row, without reading further tensors.
  const Epilogue &epilogue = sample.epilogue;
  if (!epilogue.residual && !epilogue.beta &&
      getByteSize(sample.getResultType()) == 2)
    std::ranges::for_each(getTmaHaloShapes(sample, target, /*hasOneRow=*/true),
                          add);
  return candidates;
}

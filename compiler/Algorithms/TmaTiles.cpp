//===- TmaTiles.cpp - GEMM tiles for TMA and wgmma ------------------------===//

#include "compiler/Algorithms/TmaTiles.h"
#include "compiler/Algorithms/StrideClasses.h"
#include "compiler/Algorithms/TmaHaloTiles.h"
#include "compiler/Algorithms/TmaModel.h"
#include "compiler/Algorithms/TmaWeightTiles.h"

#include <algorithm>

using namespace tessera;

static int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

//===----------------------------------------------------------------------===//
// What a tensor map can describe
//===----------------------------------------------------------------------===//

namespace {
/// A convolution as a GEMM: images are read through a window, and a filter.
struct TmaGemm {
  int64_t rows, columns, channels; ///< Of one group; channels of the reduction.
  int64_t groups; ///< With the classes of strided backward data.
  int64_t taps;   ///< Of all classes together.
  int64_t classes = 1;
};
} // namespace

/// Backward data is a forward convolution of the gradient for each class of
/// pixels that the same taps reach.
static TmaGemm getGemm(const ConvProblem &p) {
  const int64_t inputs = p.inChannels / p.groups;
  const int64_t outputs = p.outChannels / p.groups;
  TmaGemm gemm{p.batch, outputs, inputs, p.groups, 1};
  if (p.direction != Direction::Forward)
    std::swap(gemm.columns, gemm.channels);
  for (const ConvDim &dim : getConvDims(p)) {
    gemm.taps *= dim.filter;
    if (p.direction == Direction::Forward) {
      gemm.rows *= dim.out;
      continue;
    }
    const StrideClasses c = chooseClasses(dim);
    gemm.rows *= c.rows;
    gemm.classes *= c.rhos * c.es;
  }
  gemm.groups *= gemm.classes;
  return gemm;
}

/// Whether addresses reach all of the result, 2 GiB.
static bool isInReach(const ConvProblem &p) {
  constexpr int64_t kReach = int64_t(1) << 31, kBytes = 2;
  return p.getResultLengths().getElements() * kBytes <= kReach;
}

/// Whether the result is a tensor map: else it is stored row by row.
static bool isReachable(const ConvProblem &p, const TmaGemm &gemm) {
  const bool isRows = gemm.classes > 1 || gemm.columns % 8 != 0 ||
                      p.epilogue.residual || p.epilogue.beta;
  return !isRows || isInReach(p);
}

static bool fitsTma(const ConvProblem &p, const GpuTarget &target) {
  if (!hasTmaTensors(p, target))
    return false;
  // What is read has strides of whole 16 bytes; the last step of a tap may
  // reach past the channels, but not into those of another group.
  constexpr int64_t kUnit = 8;
  const TmaGemm gemm = getGemm(p);
  const bool isForward = p.direction == Direction::Forward;
  if (gemm.channels % kUnit != 0 || (!isForward && gemm.columns % kUnit != 0) ||
      (p.groups > 1 && gemm.channels % kTmaStep != 0))
    return false;
  return isReachable(p, gemm) && fitsWindow(p);
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

static double estimateClocks(const ConvProblem &p, const TmaShape &shape,
                             const GpuTarget &target) {
  TmaGemm gemm = getGemm(p);
  double copiedRows = getCopiedRows(shape);
  if (shape.halo > 0) {
    const TmaHalo halo = measureHalo(p);
    gemm.rows = halo.positions;
    copiedRows = halo.getCopiedRows(shape);
  }
  const double steps =
      static_cast<double>(gemm.taps * divideUp(gemm.channels, kTmaStep)) /
      static_cast<double>(gemm.classes);
  const int64_t tiles = gemm.groups * divideUp(gemm.rows, shape.m) *
                        divideUp(gemm.columns, shape.n);
  const int64_t sharing = shape.isSmall() ? 2 : 1;
  const auto turns = static_cast<double>(
      divideUp(tiles, target.computeUnits * sharing) * sharing);
  double work = turns * getTileClocks(shape, steps, copiedRows);
  if (shape.isPingPong)
    work += shape.m * shape.n /
            kTmaRates.exposedSums; // Nothing hides the last one.
  const double memory =
      2.0 *
      static_cast<double>(p.getInputElements() + p.getFilterElements() +
                          p.getOutputElements()) /
      (kTmaRates.memoryBytes * target.computeUnits);
  return std::max(work, memory) + kTmaRates.overlap * std::min(work, memory) +
         kTmaRates.begin;
}

/// For channels that 96, 160 or 192 divide and 128 does not.
static constexpr TmaShape kOddShapes[] = {
    {128, 96, 1, true, 5},   {256, 96, 2, false, 4},  {192, 96, 3, false, 4},
    {128, 160, 1, true, 4},  {256, 160, 2, false, 3}, {192, 160, 3, false, 4},
    {128, 192, 2, false, 4}, {192, 192, 3, false, 4},
};

/// Columns of a tile that is stored in whole pieces.
static constexpr int kPieceColumns = 64;

/// More leave no registers for what an epilogue reads.
static constexpr int kManySums = 128;

std::vector<Candidate> tessera::getTmaCandidates(const ConvProblem &problem,
                                                 const GpuTarget &target) {
  std::vector<Candidate> candidates;
  if (problem.direction == Direction::BackwardWeights)
    return getTmaWeightCandidates(problem, target);
  if (!fitsTma(problem, target))
    return candidates;
  const Epilogue &epilogue = problem.epilogue;
  const bool hasTensors = epilogue.bias || epilogue.residual || epilogue.beta;
  auto add = [&](const TmaShape &shape) {
    if (!hasTensors ||
        (shape.countSums() <= kManySums && shape.n % kPieceColumns == 0))
      candidates.push_back({shape.getTile(/*parts=*/1).toConfig(),
                            estimateClocks(problem, shape, target)});
  };
  std::ranges::for_each(getTmaShapes(), add);
  std::ranges::for_each(kOddShapes, add);
  if (isInReach(problem)) // Rows are stored by addresses.
    std::ranges::for_each(getTmaHaloShapes(problem, target), add);
  return candidates;
}

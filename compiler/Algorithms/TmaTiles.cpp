//===- TmaTiles.cpp - GEMM tiles for TMA and wgmma ------------------------===//

#include "compiler/Algorithms/TmaTiles.h"
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
  int64_t taps;
  int64_t groups;
};
} // namespace

/// Backward data of stride 1 is a forward convolution of the gradient.
static bool hasDirection(const ConvProblem &p) {
  return p.direction == Direction::Forward ||
         (p.direction == Direction::BackwardData && p.stride.d == 1 &&
          p.stride.h == 1 && p.stride.w == 1);
}

static TmaGemm getGemm(const ConvProblem &p) {
  const int64_t inputs = p.inChannels / p.groups;
  const int64_t outputs = p.outChannels / p.groups;
  const int64_t taps = p.filter.d * p.filter.h * p.filter.w;
  const Spatial out = p.getOutput();
  if (p.direction == Direction::Forward)
    return {p.batch * out.d * out.h * out.w, outputs, inputs, taps, p.groups};
  return {p.batch * p.in.d * p.in.h * p.in.w, inputs, outputs, taps, p.groups};
}

static bool fitsTma(const ConvProblem &p, const GpuTarget &target) {
  if (!hasTmaTensors(p, target) || !hasDirection(p))
    return false;
  // Strides of whole 16 bytes; the last step of a tap may reach past the
  // channels, but not into those of another group.
  constexpr int64_t kUnit = 8;
  const TmaGemm gemm = getGemm(p);
  if (gemm.channels % kUnit != 0 || gemm.columns % kUnit != 0 ||
      (p.groups > 1 && gemm.channels % kTmaStep != 0))
    return false;
  return !p.epilogue.bias && !p.epilogue.residual && !p.epilogue.beta &&
         fitsWindow(p);
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

static double estimateClocks(const ConvProblem &p, const TmaShape &shape,
                             const GpuTarget &target) {
  const TmaGemm gemm = getGemm(p);
  const int64_t steps = gemm.taps * divideUp(gemm.channels, kTmaStep);
  const int64_t tiles = gemm.groups * divideUp(gemm.rows, shape.m) *
                        divideUp(gemm.columns, shape.n);
  const int64_t sharing = shape.isSmall() ? 2 : 1;
  const auto turns = static_cast<double>(
      divideUp(tiles, target.computeUnits * sharing) * sharing);
  double work = turns * getTileClocks(shape, steps);
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

std::vector<Candidate> tessera::getTmaCandidates(const ConvProblem &problem,
                                                 const GpuTarget &target) {
  std::vector<Candidate> candidates;
  if (problem.direction == Direction::BackwardWeights)
    return getTmaWeightCandidates(problem, target);
  if (!fitsTma(problem, target))
    return candidates;
  for (const TmaShape &shape : getTmaShapes())
    candidates.push_back({shape.getTile(/*parts=*/1).toConfig(),
                          estimateClocks(problem, shape, target)});
  return candidates;
}

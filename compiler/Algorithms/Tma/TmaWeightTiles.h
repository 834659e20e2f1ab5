//===- TmaWeightTiles.h - Backward weights for TMA and wgmma ---*- C++ -*--===//
//
// The result has few tiles and a long reduction, so the number of splits
// decides as much as the tile.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_TMA_TMAWEIGHTTILES_H
#define TESSERA_COMPILER_ALGORITHMS_TMA_TMAWEIGHTTILES_H

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Tma/TmaModel.h"
#include "runtime/Base/ConvProblem.h"

#include <set>

namespace tessera {

/// TmaWeightRates.def says what each rate is.
struct TmaWeightRates {
  TmaRates step;
  double keptBytes, readAgain;
  double pixelRow;
  double sumBegin, sumPass, sumBytes;
  double packedSumPass, packedSumBytes;
  double slidingProducts, slidingOverlap, slidingRow;
  double narrowVolume;
};

constexpr TmaWeightRates makeTmaWeightRates() {
  TmaWeightRates rates{};
  // What the others were fitted with: steps take what limits them most, alone.
  rates.step.drift = rates.step.stepFixed = rates.step.idle = 0;
  rates.step.portBytes = kNoLimit;
  rates.step.blend = kNoLimit;
  rates.step.oneStager = 0.8571;
#define TMA_WEIGHT_RATE(NAME, VALUE, MEANING) rates.NAME = VALUE;
#include "compiler/Algorithms/Tma/TmaWeightRates.def"
  return rates;
}

inline constexpr TmaWeightRates kTmaWeightRates = makeTmaWeightRates();

/// The candidates of igemm for backward weights with TMA copies; none if
/// `problem` or `target` does not allow it. Their order does not depend on the
/// rates.
std::vector<Candidate>
getTmaWeightCandidates(const ConvProblem &problem, const GpuTarget &target,
                       const TmaWeightRates &rates = kTmaWeightRates);
/// Of those the ones that depend on no size, and tiles whose taps of a filter
/// row share pixels: how far the next row is depends on sizes.
std::vector<Candidate> getOpenTmaWeightCandidates(const ConvProblem &sample,
                                                  const GpuTarget &target);
/// The same with each of `splits`, whatever suits the problem.
std::vector<Candidate> getTmaWeightCandidates(const ConvProblem &problem,
                                              const GpuTarget &target,
                                              const std::set<int> &splits);
/// Candidates for a product whose rows are the taps and whose columns are the
/// channels of y.
std::vector<Candidate> getTapRowCandidates(const ConvProblem &problem,
                                           const GpuTarget &target);
/// Candidates whose rows are 64 elements of all lines of a window, which share
/// their positions. They are for filters of one column, whose channels are what
/// a window has of a line.
std::vector<Candidate> getLineCandidates(const ConvProblem &problem,
                                         const GpuTarget &target);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_TMA_TMAWEIGHTTILES_H

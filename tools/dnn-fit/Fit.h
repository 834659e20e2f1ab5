//===- Fit.h - How well rates predict measured times -----------*- C++ -*-===//

#ifndef TESSERA_TOOLS_DNNFIT_FIT_H
#define TESSERA_TOOLS_DNNFIT_FIT_H

#include "compiler/Algorithms/TmaModel.h"
#include "tools/dnn-fit/Measurements.h"

#include <cstdint>

namespace tessera::fit {

/// A run as the model sees it: its tiles by their place among the candidates,
/// which does not depend on the rates.
struct Sample {
  ConvProblem problem;
  std::vector<std::pair<size_t, double>> times; ///< Candidate, microseconds.
  double bestUs = 0;
};

/// The runs of which the model of forward and backward data knows two tiles or
/// more; others are passed over.
std::vector<Sample> makeSamples(const std::vector<Run> &runs,
                                const GpuTarget &target);

/// The best tile's time over that of the model's first choice.
struct Share {
  double mean = 0; ///< Geometric, over the samples.
  double least = 0;
};
Share getShare(const std::vector<Sample> &samples, const GpuTarget &target,
               const TmaRates &rates);

/// Rates near `rates` with which the model's first choices are faster and its
/// costs are closer to times: simulated annealing, the same for a seed.
TmaRates fitRates(const std::vector<Sample> &samples, const GpuTarget &target,
                  const TmaRates &rates, int steps, uint64_t seed);

} // namespace tessera::fit

#endif // TESSERA_TOOLS_DNNFIT_FIT_H

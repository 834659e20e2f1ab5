//===- Fit.h - How well rates predict measured times -----------*- C++ -*-===//

#ifndef TESSERA_TOOLS_DNNFIT_FIT_H
#define TESSERA_TOOLS_DNNFIT_FIT_H

#include "tools/dnn-fit/Measurements.h"
#include "tools/dnn-fit/Models.h"

#include <cstdint>

namespace tessera::fit {

/// A run as the model sees it: its tiles by their place among the candidates,
/// which does not depend on the rates.
struct Sample {
  Problem problem;
  std::vector<std::pair<size_t, double>> values; ///< Of candidates.
  double best = 0;
};

/// The runs of which the model knows two tiles or more; others are passed over.
std::vector<Sample> makeSamples(const std::vector<Run> &runs,
                                const Model &model);

/// The best tile's value over that of the model's first choice.
struct Share {
  double mean = 0; ///< Geometric, over the samples.
  double least = 0;
};
Share getShare(const std::vector<Sample> &samples, const Model &model,
               const Rates &rates);

/// Rates near `rates` with which the model's first choices are faster and its
/// costs are closer to values: simulated annealing, the same for a seed. `stay`
/// is what a rate pays for the square of the logarithm of its change: more
/// where there are few samples, of tiles that leave much unsaid.
Rates fitRates(const std::vector<Sample> &samples, const Model &model,
               const Rates &rates, int steps, uint64_t seed,
               double stay = 1e-4);

} // namespace tessera::fit

#endif // TESSERA_TOOLS_DNNFIT_FIT_H

//===- Fit.h - How well rates predict measured times -----------*- C++ -*--===//

#ifndef TESSERA_TOOLS_DNN_FIT_FIT_H
#define TESSERA_TOOLS_DNN_FIT_FIT_H

#include "tools/dnn-fit/Measurements.h"
#include "tools/dnn-fit/Models.h"

#include <cstdint>

namespace tessera::fit {

/// A run in terms of the model: its tiles by their indices among the
/// candidates, which do not depend on the rates.
struct Sample {
  Problem problem;
  std::vector<std::pair<size_t, double>> values; ///< By candidate.
  double best = 0;
};

/// The runs with at least two tiles that the model knows; others are skipped.
std::vector<Sample> makeSamples(const std::vector<Run> &runs,
                                const Model &model);

/// The ratio of the best tile's value to that of the model's first choice.
struct Share {
  double mean = 0; ///< Geometric mean over the samples.
  double least = 0;
};
Share getShare(const std::vector<Sample> &samples, const Model &model,
               const Rates &rates);

/// Searches near `rates` for rates with which the model's first choices are
/// faster and its costs are closer to values, by simulated annealing; the same
/// seed gives the same result. `stay` is the penalty on the square of the
/// logarithm of a rate's change: it should be larger where there are few
/// samples, whose tiles leave many rates undetermined.
Rates fitRates(const std::vector<Sample> &samples, const Model &model,
               const Rates &rates, int steps, uint64_t seed,
               double stay = 1e-4);

} // namespace tessera::fit

#endif // TESSERA_TOOLS_DNN_FIT_FIT_H

//===- Fit.h - How well rates predict measured times -----------*- C++ -*--===//

#ifndef TESSERA_TOOLS_DNN_FIT_FIT_H
#define TESSERA_TOOLS_DNN_FIT_FIT_H

#include "tools/dnn-fit/Measurements.h"
#include "tools/dnn-fit/Models.h"

#include <cstdint>
#include <optional>

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

/// How a search is made.
struct SearchOptions {
  int steps = 5000;
  uint64_t seed = 1;
  /// The penalty on the square of the logarithm of a rate's change: it should
  /// be larger where there are few samples, whose tiles leave many rates
  /// undetermined.
  double stay = 1e-4;
  /// The chip's clocks in a microsecond, if values are times: costs are then
  /// held against the times themselves, since those of one model compete with
  /// those of others.
  std::optional<double> clocks = std::nullopt;
};

/// Searches near `rates` for rates with which the model's first choices are
/// faster and its costs are closer to values, by simulated annealing; the same
/// seed gives the same result.
Rates fitRates(const std::vector<Sample> &samples, const Model &model,
               const Rates &rates, const SearchOptions &options);

/// Costs over times, each problem's best tiles: geometric mean over the
/// problems, and the factor within which two thirds of them are.
struct Scale {
  double mean = 0, spread = 0;
};
Scale getScale(const std::vector<Sample> &samples, const Model &model,
               const Rates &rates, double clocks);

} // namespace tessera::fit

#endif // TESSERA_TOOLS_DNN_FIT_FIT_H

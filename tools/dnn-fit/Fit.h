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
  std::vector<std::string> tiles;                ///< In the order of values.
  /// The other candidates, if these tiles are known to be good (Run::isKept).
  std::vector<size_t> others;
  double best = 0;
};

/// The runs with at least two tiles that the model knows, of kept ones with at
/// least one; others are skipped.
std::vector<Sample> makeSamples(const std::vector<Run> &runs,
                                const Model &model);

/// The ratio of the best tile's value to that of the model's first choice.
struct Share {
  double mean = 0; ///< Geometric mean over the samples.
  double least = 0;
};
Share getShare(const std::vector<Sample> &samples, const Model &model,
               const Rates &rates);

/// What the model chooses among the tiles with values, by its index in
/// Sample::values.
struct Choice {
  size_t first = 0, best = 0;
  double share = 1; ///< Of the best tile's speed.
  /// The tile without a value that the model has before it, if there is one.
  std::string before;
};
Choice choose(const Sample &sample, const Model &model, const Rates &rates);

/// How a search is made.
struct SearchOptions {
  int steps = 5000;
  uint64_t seed = 1;
  /// The constants that may change, by their indices; all if empty.
  std::vector<size_t> only = {};
  /// The penalty on the square of the logarithm of a rate's change: it should
  /// be larger where there are few samples, whose tiles leave many rates
  /// undetermined.
  double stay = 1e-4;
  /// The chip's clocks in a microsecond, if values are times: costs are then
  /// held against the times themselves, since those of one model compete with
  /// those of others.
  std::optional<double> clocks = std::nullopt;
};

/// Of the samples whose tiles are known to be good, those whose first choice
/// has a value, and all of them.
struct Kept {
  size_t stay = 0, all = 0;
};
Kept countKept(const std::vector<Sample> &samples, const Model &model,
               const Rates &rates);

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

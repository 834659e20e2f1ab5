//===- Outcome.h - What came of one problem --------------------*- C++ -*--===//

#ifndef TESSERA_TOOLS_DNN_TUNE_OUTCOME_H
#define TESSERA_TOOLS_DNN_TUNE_OUTCOME_H

#include "runtime/Tuning/Tuner.h"

#include <string>
#include <vector>

namespace tessera::tune_tool {

struct Outcome {
  Problem problem;
  Status status; ///< Why it could not be tuned.
  TuningResult result;
};

/// The quality of the model's ranking, judged by the tiles that were tried.
struct Ranking {
  bool isKnown = false;       ///< At least one tile was right.
  double best = 0;            ///< Value of the best tile.
  /// Speed of the first choice over the best tile's.
  double firstOverBest = 0;
  double topFourOverBest = 0; ///< The same for the best of the first four.
  double tau = 0; ///< Kendall's tau of the model's costs and the values.
  size_t verified = 0;
  size_t quarantined = 0;
};

Ranking rate(const TuningResult &result);

/// A summary of the rankings of several problems.
struct Rating {
  size_t problems = 0;      ///< Problems that were tuned.
  double firstOverBest = 0; ///< Geometric means.
  double topFourOverBest = 0;
  double tau = 0; ///< Arithmetic mean.
};

Rating rate(const std::vector<Outcome> &outcomes);

/// Prints every tile that was tried, as comma-separated values with a header.
std::string formatTable(const std::vector<Outcome> &outcomes);

/// Print a line for one problem, and the lines of the summary.
std::string formatLine(const Outcome &outcome);
std::string formatSummary(const std::vector<Outcome> &outcomes);

} // namespace tessera::tune_tool

#endif // TESSERA_TOOLS_DNN_TUNE_OUTCOME_H

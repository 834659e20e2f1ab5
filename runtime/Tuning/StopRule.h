//===- StopRule.h - When further candidates cannot win ---------*- C++ -*--===//
//
// The model's cost is no time, but each measured candidate says how many
// microseconds one of its clocks is worth: the ratio r = value / cost. If the
// model were perfect, all ratios were equal; the scatter of their logarithms is
// the size of its errors. A candidate that costs c can at best be expected at
//
//   c * exp(mean(log r) - 2.5 * max(sd(log r), 0.05))
//
// Candidates come in the order of their costs. So when that is more than the
// best value so far for the next one, it is for all that follow, and the search
// is over. A scatter needs at least three ratios. 2.5 deviations skip one
// candidate in 160 that would have won, if errors are normal; 0.05 allows for
// scatter that a few equal ratios do not show.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_TUNING_STOPRULE_H
#define TESSERA_RUNTIME_TUNING_STOPRULE_H

#include <vector>

namespace tessera {

/// Learns from measured candidates. A cost of 0 means that there is no model;
/// nothing is learnt then.
class StopRule {
public:
  void add(double cost, double value);
  /// Whether a candidate of `cost` can still be expected to win.
  bool canWin(double cost) const;

private:
  std::vector<double> logRatios;
  double best = 0; ///< Least value so far; 0 if none.
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TUNING_STOPRULE_H

//===- StopRule.h - When further candidates cannot win ---------*- C++ -*-===//
//
// The model's cost is no time, but each measured candidate says how many
// microseconds one of its clocks is worth: the ratio r = value / cost. If the
// model were perfect, all ratios were equal; how far their logarithms scatter
// is the size of its errors. A candidate that costs c can be expected at
//
//   c * exp(mean(log r) - 2.5 * max(sd(log r), 0.05))
//
// at best. Candidates come in the order of their costs, so when that is more
// than the best value so far for the next one, it is for all that follow, and
// the search is over. Three ratios are needed to speak of a scatter. 2.5
// deviations leave one candidate in 160 that would have won, if errors are
// normal; 0.05 stands for what a few equal ratios do not show.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_TUNING_STOPRULE_H
#define TESSERA_RUNTIME_TUNING_STOPRULE_H

#include <vector>

namespace tessera {

/// Learns from what is measured. A cost of 0 says that there is no model, and
/// then nothing is learnt.
class StopRule {
public:
  void add(double cost, double value);
  /// Whether a candidate of `cost` can still be expected to win.
  bool canWin(double cost) const;

private:
  std::vector<double> logRatios;
  double best = 0; ///< Least value so far; 0: none.
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TUNING_STOPRULE_H

//===- StopRule.cpp - When further candidates cannot win ------------------===//

#include "runtime/Tuning/StopRule.h"

#include <algorithm>
#include <cmath>

using namespace tessera;

static constexpr size_t kFewestRatios = 3;
static constexpr double kDeviations = 2.5, kLeastDeviation = 0.05;

void StopRule::add(double cost, double value) {
  best = best == 0 ? value : std::min(best, value);
  if (cost > 0 && value > 0)
    logRatios.push_back(std::log(value / cost));
}

bool StopRule::canWin(double cost) const {
  if (logRatios.size() < kFewestRatios || cost <= 0)
    return true;
  const auto count = static_cast<double>(logRatios.size());
  double mean = 0, variance = 0;
  for (double ratio : logRatios)
    mean += ratio / count;
  for (double ratio : logRatios)
    variance += (ratio - mean) * (ratio - mean) / (count - 1);
  const double deviation = std::max(std::sqrt(variance), kLeastDeviation);
  return cost * std::exp(mean - kDeviations * deviation) < best;
}

//===- Statistics.cpp - What a few measurements say -----------------------===//

#include "runtime/Tuning/Statistics.h"

#include "dialect/Reference/Random.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

using namespace tessera;

/// The value at `fraction` of the way from the first to the last sorted value.
static double getQuantile(const std::vector<double> &sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double rest = position - static_cast<double>(below);
  return sorted[below] + rest * (sorted[above] - sorted[below]);
}

double tessera::getMedian(std::vector<double> values) {
  assert(!values.empty() && "nothing has no median");
  std::sort(values.begin(), values.end());
  return getQuantile(values, 0.5);
}

double tessera::getSpread(std::vector<double> values) {
  assert(!values.empty() && "nothing has no spread");
  std::sort(values.begin(), values.end());
  return getQuantile(values, 0.75) - getQuantile(values, 0.25);
}

static int getSign(double difference) {
  return (difference > 0) - (difference < 0);
}

double
tessera::getKendallTau(const std::vector<std::pair<double, double>> &pairs) {
  double agreeing = 0, ordered = 0, orderedFirst = 0, orderedSecond = 0;
  for (size_t i = 0; i < pairs.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const int first = getSign(pairs[i].first - pairs[j].first);
      const int second = getSign(pairs[i].second - pairs[j].second);
      agreeing += first * second;
      orderedFirst += first != 0;
      orderedSecond += second != 0;
    }
  ordered = std::sqrt(orderedFirst * orderedSecond);
  return ordered > 0 ? agreeing / ordered : 0;
}

std::vector<size_t> tessera::shuffleBehindFirst(size_t count,
                                                unsigned long long seed) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t(0));
  for (size_t last = count; last > 2; --last)
    std::swap(order[last - 1],
              order[1 + reference::getRandomBits(seed, last) % (last - 1)]);
  return order;
}

//===- Statistics.h - What a few measurements say --------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_TUNING_STATISTICS_H
#define TESSERA_RUNTIME_TUNING_STATISTICS_H

#include <cstddef>
#include <utility>
#include <vector>

namespace tessera {

/// The median of at least one value; of an even number, the mean of the middle
/// two.
double getMedian(std::vector<double> values);

/// The interquartile range: from the first quartile to the third.
double getSpread(std::vector<double> values);

/// Kendall's rank correlation of the pairs (tau-b, which allows for ties): 1 if
/// both orders are the same, -1 if one is the reverse of the other, 0 if all
/// values of one side are equal.
double getKendallTau(const std::vector<std::pair<double, double>> &pairs);

/// The numbers below `count` in an order that `seed` decides, the same on every
/// machine. The first stays first.
std::vector<size_t> shuffleBehindFirst(size_t count, unsigned long long seed);

} // namespace tessera

#endif // TESSERA_RUNTIME_TUNING_STATISTICS_H

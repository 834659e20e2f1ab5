//===- Statistics.cpp - Means and variances of channels -------------------===//

#include "dialect/Reference/Statistics.h"

#include <cmath>

using namespace tessera::reference;

/// Calls `visit` with each element and its channel.
template <typename VisitorT>
static void forEachElement(const Sizes &sizes, const TensorView &tensor,
                           VisitorT visit) {
  Coord at;
  for (int64_t i = 0; i < sizes.getProduct(); ++i, sizes.advance(at))
    visit(at.channel, tensor.load(at));
}

/// Values with a tolerance each, in the terms of Expected.
static Expected makeExpected(const std::vector<double> &values,
                             const std::vector<double> &tolerances) {
  Expected expected;
  expected.sizes.channel = static_cast<int64_t>(values.size());
  expected.values = values;
  for (double tolerance : tolerances)
    expected.magnitudes.push_back(tolerance / expected.getRelativeTolerance());
  return expected;
}

Statistics tessera::reference::getStatistics(const Sizes &sizes,
                                             const TensorView &tensor) {
  constexpr double kMean = 64 * 0x1p-24, kVariance = 512 * 0x1p-24,
                   kShifted = 16 * 0x1p-24;
  const auto count = static_cast<double>(sizes.getProduct() / sizes.channel);
  std::vector<double> means(sizes.channel), variances(sizes.channel);
  forEachElement(sizes, tensor, [&](int64_t channel, double value) {
    means[channel] += value / count;
  });
  forEachElement(sizes, tensor, [&](int64_t channel, double value) {
    const double difference = value - means[channel];
    variances[channel] += difference * difference / count;
  });
  std::vector<double> ofMeans, ofVariances;
  for (int64_t i = 0; i < sizes.channel; ++i) {
    const double size = std::fabs(means[i]),
                 deviation = std::sqrt(variances[i]);
    ofMeans.push_back(kMean * (size + deviation));
    ofVariances.push_back(kVariance * variances[i] +
                          kShifted * size * deviation);
  }
  return {makeExpected(means, ofMeans), makeExpected(variances, ofVariances)};
}

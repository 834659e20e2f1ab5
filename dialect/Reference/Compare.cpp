//===- Compare.cpp - Is a computed tensor right? --------------------------===//

#include "dialect/Reference/Compare.h"

#include <cassert>
#include <cmath>
#include <cstdio>
#include <limits>

using namespace tessera::reference;

/// See the head of Compare.h.
static constexpr double kDeviations = 4;
static constexpr double kUnitRoundoffF32 = 0x1p-24;

Coord Expected::getCoord(int64_t flatIndex) const {
  Coord at;
  at.channel = flatIndex % sizes.channel;
  flatIndex /= sizes.channel;
  at.column = flatIndex % sizes.column;
  flatIndex /= sizes.column;
  at.row = flatIndex % sizes.row;
  at.outer = flatIndex / sizes.row;
  return at;
}

int64_t Expected::getFlatIndex(const Coord &at) const {
  return ((at.outer * sizes.row + at.row) * sizes.column + at.column) *
             sizes.channel +
         at.channel;
}

/// Moves to the next flat index: cheaper than the divisions of getCoord(), of
/// which a large tensor would need a hundred million.
static void advance(Coord &at, const Coord &sizes) {
  if (++at.channel < sizes.channel)
    return;
  at.channel = 0;
  if (++at.column < sizes.column)
    return;
  at.column = 0;
  if (++at.row < sizes.row)
    return;
  at.row = 0;
  ++at.outer;
}

/// How far off, as a multiple of what is allowed; 1 or less passes. Only for
/// ranking: whether an element passes is decided by the interval.
static double getBadness(double value, double actual, double least,
                         double most) {
  if (!std::isfinite(value) || std::isnan(actual))
    return std::numeric_limits<double>::infinity();
  if (actual >= least && actual <= most && std::isinf(actual))
    return 0;
  double error = std::fabs(actual - value);
  double allowed = std::max(most - value, value - least);
  return allowed > 0 ? error / allowed : error == 0 ? 0 : error / 1e-300;
}

Report tessera::reference::compare(const Expected &expected,
                                   const TensorView &actual, Rule rule) {
  assert(expected.values.size() == expected.magnitudes.size() &&
         "each value has a magnitude");
  const double relative =
      rule == Rule::Exact
          ? 0
          : kDeviations * kUnitRoundoffF32 *
                std::sqrt(static_cast<double>(expected.reductionLength));
  Report report;
  double worst = -1;
  Coord at;
  for (size_t i = 0; i < expected.values.size(); ++i) {
    if (!expected.indices.empty())
      at = expected.getCoord(expected.indices[i]);
    else if (i > 0)
      advance(at, expected.sizes);
    const double value = expected.values[i];
    const double tolerance = relative * expected.magnitudes[i];
    const double least = roundTo(actual.type, value - tolerance);
    const double most = roundTo(actual.type, value + tolerance);
    const double found = actual.load(at);
    const bool passed = std::isfinite(value) && least <= found && found <= most;
    ++report.compared;
    report.failed += !passed;
    // A failure outranks every success, whatever rounding makes of the ratio.
    const double badness = getBadness(value, found, least, most);
    const double rank = passed ? std::min(badness, 1.0) : 2 + badness;
    if (rank > worst) {
      worst = rank;
      report.worst = at;
      report.expected = value;
      report.actual = found;
      report.least = least;
      report.most = most;
    }
  }
  return report;
}

std::string Report::toText() const {
  if (compared == 0)
    return "no element was compared";
  char text[320];
  std::snprintf(
      text, sizeof(text),
      "%lld of %lld elements are wrong; worst at n=%lld k=%lld h=%lld w=%lld: "
      "expected %.9g, allowed from %.9g to %.9g, found %.9g",
      static_cast<long long>(failed), static_cast<long long>(compared),
      static_cast<long long>(worst.outer),
      static_cast<long long>(worst.channel), static_cast<long long>(worst.row),
      static_cast<long long>(worst.column), expected, least, most, actual);
  return text;
}

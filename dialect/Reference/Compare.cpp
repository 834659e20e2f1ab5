//===- Compare.cpp - Is a computed tensor right? --------------------------===//

#include "dialect/Reference/Compare.h"
#include "dialect/Reference/Random.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <limits>

using namespace tessera::reference;

/// Their derivation is at the top of Compare.h.
static constexpr double kDeviations = 4, kOperandDeviations = 8;

double tessera::reference::getUnitRoundoff(ElementType inputs) {
  switch (inputs) {
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::F32:
  case ElementType::E4M3FNUZ:
  case ElementType::E5M2FNUZ:
  case ElementType::E4M3FN:
  case ElementType::E5M2:
    return 0x1p-24;
  case ElementType::F64:
    return 2 * 0x1p-53;
  case ElementType::I8:
  case ElementType::I32:
  case ElementType::I64:
    return 0;
  }
  __builtin_unreachable();
}

double Expected::getRelativeTolerance() const {
  const double root = std::sqrt(static_cast<double>(reductionLength));
  double tolerance = kDeviations * unitRoundoff * root;
  if (operandRoundoff > 0) // A length of 0 has no products.
    tolerance += 2 * operandRoundoff * std::min(1.0, kOperandDeviations / root);
  return tolerance;
}

std::vector<int64_t> tessera::reference::sampleElements(const Sizes &sizes,
                                                        int64_t count,
                                                        uint64_t seed) {
  const auto total = static_cast<uint64_t>(sizes.getProduct());
  std::vector<int64_t> indices;
  for (int corner = 0; corner < 32; ++corner)
    indices.push_back(sizes.getFlatIndex(
        {(corner & 1) ? sizes.outer - 1 : 0,
         (corner & 2) ? sizes.channel - 1 : 0, (corner & 4) ? sizes.row - 1 : 0,
         (corner & 8) ? sizes.column - 1 : 0,
         (corner & 16) ? sizes.depth - 1 : 0}));
  for (auto i = static_cast<int64_t>(indices.size()); i < count; ++i)
    indices.push_back(static_cast<int64_t>(getRandomBits(seed, i) % total));
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

/// Returns the error as a multiple of what is allowed; 1 or less passes. Only
/// used for ranking: the interval decides whether an element passes.
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

namespace {
/// Adds up the errors of a tensor, whether or not they are allowed.
struct ErrorSize {
  double errors = 0, values = 0;
  double largestError = 0, largestValue = 0;

  void add(double value, double found) {
    if (!std::isfinite(value))
      return;
    const double error = std::fabs(found - value);
    errors += error * error;
    values += value * value;
    largestError = std::max(largestError, error);
    largestValue = std::max(largestValue, std::fabs(value));
  }
  void writeTo(Report &report) const {
    if (largestValue == 0)
      return;
    report.relativeNorm = std::sqrt(errors / values);
    report.relativeMaximum = largestError / largestValue;
  }
};
} // namespace

/// Whether both are infinities of the same sign, or both are NaN.
static bool isSameNonFinite(double value, double found) {
  return !std::isfinite(value) &&
         (std::isnan(value) ? std::isnan(found) : found == value);
}

Report tessera::reference::compare(const Expected &expected,
                                   const TensorView &actual, Rule rule) {
  assert(expected.values.size() == expected.magnitudes.size() &&
         "each value has a magnitude");
  const double relative =
      rule == Rule::Exact ? 0 : expected.getRelativeTolerance();
  Report report;
  report.hasDepth = expected.sizes.depth > 1;
  double worst = -1;
  ErrorSize size;
  Coord at;
  for (size_t i = 0; i < expected.values.size(); ++i) {
    if (!expected.indices.empty())
      at = expected.sizes.getCoord(expected.indices[i]);
    else if (i > 0)
      expected.sizes.advance(at);
    const double value = expected.values[i];
    const double tolerance = relative * expected.magnitudes[i];
    const double least = roundTo(actual.type, value - tolerance);
    const double most = roundTo(actual.type, value + tolerance);
    const double found = actual.load(at);
    size.add(value, found);
    const bool passed =
        std::isfinite(value)
            ? least <= found && found <= most
            : expected.mayBeNonFinite && isSameNonFinite(value, found);
    ++report.compared;
    report.failed += !passed;
    // A failure ranks above every success, whatever rounding does to the ratio.
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
  size.writeTo(report);
  return report;
}

std::string Report::toText() const {
  if (compared == 0)
    return "no element was compared";
  const std::string depth =
      hasDepth ? " d=" + std::to_string(worst.depth) : std::string();
  char text[320];
  std::snprintf(
      text, sizeof(text),
      "%lld of %lld elements are wrong; worst at n=%lld k=%lld%s h=%lld "
      "w=%lld: expected %.9g, allowed from %.9g to %.9g, found %.9g",
      static_cast<long long>(failed), static_cast<long long>(compared),
      static_cast<long long>(worst.outer),
      static_cast<long long>(worst.channel), depth.c_str(),
      static_cast<long long>(worst.row), static_cast<long long>(worst.column),
      expected, least, most, actual);
  return text;
}

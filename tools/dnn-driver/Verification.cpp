//===- Verification.cpp - MIOpenDriver's judgement of a result ------------===//

#include "tools/dnn-driver/Verification.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tessera;
using namespace tessera::driver;
using reference::TensorView;

/// MIOpenDriver has no f64; the error of sums of some thousand products stays
/// far below this.
static double getTypeTolerance(DataType type) {
  constexpr double kHalf = 8.2e-3;
  switch (type) {
  case DataType::F16:
    return kHalf;
  case DataType::BF16:
    return 8 * kHalf;
  case DataType::F64:
    return 1e-13;
  default:
    return isFloat8(type) ? 37 * kHalf : 1.5e-6;
  }
}

static double getTolerance(const ConvProblem &problem) {
  constexpr double kTf32 = 1e-3, kOneOf127 = 8e-3;
  // A number between two integers may be rounded to either.
  if (problem.getResultType() == DataType::I8 && !problem.epilogue.isEmpty())
    return kOneOf127;
  const double tolerance =
      problem.allowsTf32() ? kTf32 : getTypeTolerance(problem.dataType);
  return problem.direction == Direction::BackwardWeights ? 2 * tolerance
                                                         : tolerance;
}

static double getError(const reference::Expected &expected,
                       const TensorView &actual) {
  double squares = 0;
  double largest = std::numeric_limits<double>::min();
  const auto count = static_cast<int64_t>(expected.values.size());
  reference::Coord at;
  for (int64_t i = 0; i < count; ++i, expected.sizes.advance(at)) {
    const double value = actual.load(at);
    // To floats the rounding is part of the error, as MIOpenDriver has it.
    const double wanted = actual.type == reference::ElementType::I8
                              ? roundTo(actual.type, expected.values[i])
                              : expected.values[i];
    const double difference = value - wanted;
    squares += difference * difference;
    largest = std::max({largest, std::abs(value), std::abs(wanted)});
  }
  return std::sqrt(squares / static_cast<double>(count)) / largest;
}

Verification driver::judge(const ConvProblem &problem, const ConvCase &data,
                           const reference::Expected &expected) {
  const TensorView actual = data.getResultView();
  const reference::Report report = compare(expected, actual);
  std::string wrong = report.passed() ? data.checkGaps() : report.toText();
  if (wrong.empty())
    wrong = data.checkChannelResults();
  return {getError(expected, actual), getTolerance(problem), std::move(wrong)};
}

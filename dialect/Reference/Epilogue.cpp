//===- Epilogue.cpp - What follows the sum in the same kernel -------------===//

#include "dialect/Reference/Epilogue.h"

#include <algorithm>
#include <cmath>

using namespace tessera::reference;

bool Epilogue::isIdentity() const {
  return alpha == 1 && beta == 0 && !residual && !bias &&
         activation == Activation::None;
}

double tessera::reference::activate(Activation activation,
                                    const std::array<double, 3> &parameters,
                                    double v) {
  const auto [a, b, c] = parameters;
  switch (activation) {
  case Activation::None:
    return v;
  case Activation::Logistic:
    return 1 / (1 + std::exp(-v));
  case Activation::Tanh:
    return b * std::tanh(a * v);
  case Activation::Relu:
    return std::fmax(0, v);
  case Activation::SoftRelu:
    return std::fmax(0, v) + std::log1p(std::exp(-std::fabs(v)));
  case Activation::Abs:
    return std::fabs(v);
  case Activation::Power:
    return a + b * v <= kLeastPowerBase ? 0 : std::pow(a + b * v, c);
  case Activation::ClippedRelu:
    return std::fmin(a, std::fmax(0, v));
  case Activation::LeakyRelu:
    return v > 0 ? v : a * v;
  case Activation::Elu:
    return v > 0 ? v : a * std::expm1(v);
  case Activation::Clamp:
    return std::fmin(b, std::fmax(a, v));
  }
  __builtin_unreachable();
}

/// Whether the activation has no exponential.
static bool isPlain(Activation activation) {
  switch (activation) {
  case Activation::Logistic:
  case Activation::Tanh:
  case Activation::SoftRelu:
  case Activation::Power:
  case Activation::Elu:
    return false;
  default:
    return true;
  }
}

double
tessera::reference::getActivationScale(Activation activation,
                                       const std::array<double, 3> &parameters,
                                       double v, double result) {
  const auto [a, b, c] = parameters;
  switch (activation) {
  case Activation::Logistic:
    // A relative error of v changes the exponential by |v| times that error.
    return std::fabs(result) * (1 + std::fabs(v));
  case Activation::Tanh:
    return std::fabs(b);
  case Activation::SoftRelu:
    return 1 + std::fabs(v);
  case Activation::Power: {
    const double base = a + b * v;
    if (base <= 0)
      return 0;
    const double baseError = (std::fabs(a) + std::fabs(b * v)) / base;
    return std::fabs(result) *
           (1 + std::fabs(c) * baseError + std::fabs(c * std::log2(base)));
  }
  case Activation::Elu:
    return std::fabs(v) + std::fabs(a);
  default:
    return std::fabs(result);
  }
}

/// Returns how far the activation gets from `result` when its argument is off
/// by up to `tolerance`. Evaluates several points, because not all activations
/// are monotonic.
static double getSpread(const Epilogue &epilogue, double v, double tolerance,
                        double result) {
  double spread = 0;
  for (double fraction : {-1.0, -0.5, 0.5, 1.0}) {
    const double other = activate(epilogue.activation, epilogue.parameters,
                                  v + fraction * tolerance);
    spread = std::fmax(spread, std::fabs(other - result));
  }
  return spread;
}

void tessera::reference::applyEpilogue(const Epilogue &epilogue,
                                       ElementType compute,
                                       Expected &expected) {
  if (epilogue.isIdentity())
    return;
  // Scaling, three additions and the conversion of an integer sum.
  constexpr int64_t kRoundings = 8;
  // An exponential, a logarithm and the operations around them, 2 ulp each.
  // Where an exponential overflows, its reciprocal becomes zero instead of
  // subnormal.
  constexpr double kActivationRoundings = 16;
  const double leastNormal = compute == ElementType::F64 ? 0x1p-1022 : 0x1p-126;
  if (expected.unitRoundoff == 0) // an exact sum
    expected.reductionLength = 0;
  expected.unitRoundoff =
      std::max(expected.unitRoundoff, getUnitRoundoff(compute));
  expected.reductionLength += kRoundings;
  const double relative = expected.getRelativeTolerance();

  for (size_t i = 0; i < expected.values.size(); ++i) {
    const Coord at = expected.sizes.getCoord(expected.indices.empty()
                                                 ? static_cast<int64_t>(i)
                                                 : expected.indices[i]);
    double &value = expected.values[i];
    double &magnitude = expected.magnitudes[i];
    value *= epilogue.alpha;
    magnitude *= std::fabs(epilogue.alpha);
    auto add = [&](double term) {
      value += term;
      magnitude += std::fabs(term);
    };
    if (epilogue.beta != 0)
      add(epilogue.beta * epilogue.old->load(at));
    if (epilogue.bias)
      add(epilogue.bias->load({.channel = at.channel}));
    if (epilogue.residual)
      add(epilogue.residual->load(at));
    if (epilogue.activation == Activation::None)
      continue;
    const double before = value;
    value = activate(epilogue.activation, epilogue.parameters, before);
    const double tolerance =
        getSpread(epilogue, before, relative * magnitude, value) +
        kActivationRoundings * expected.unitRoundoff *
            getActivationScale(epilogue.activation, epilogue.parameters, before,
                               value) +
        (isPlain(epilogue.activation) ? 0 : leastNormal);
    magnitude = tolerance / relative;
  }
}

//===- Activation.cpp - Activations of single elements --------------------===//

#include "dialect/Reference/RowWise/RowWiseEvaluators.h"

using namespace tessera::reference;

/// Returns how far the activation gets from `result` when its argument is off
/// by up to `error`, in the same units. Evaluates several points, because not
/// all activations are monotonic.
static double getSpread(Activation activation,
                        const std::array<double, 3> &parameters, Approx value,
                        double result) {
  constexpr double kUnitRoundoff = 0x1p-24;
  double spread = 0;
  for (double fraction : {-1.0, -0.5, 0.5, 1.0}) {
    const double other =
        activate(activation, parameters,
                 value.value + fraction * value.error * kUnitRoundoff);
    spread = std::max(spread, std::fabs(other - result));
  }
  return spread / kUnitRoundoff;
}

Approx tessera::reference::activate(Activation activation,
                                    const std::array<double, 3> &parameters,
                                    Approx value) {
  if (activation == Activation::None)
    return value;
  const double result = activate(activation, parameters, value.value);
  // An exponential, a logarithm and the operations around them, 2 ulp each.
  constexpr double kRoundings = 64;
  double error = kRoundings * getActivationScale(activation, parameters,
                                                 value.value, result);
  if (value.error > 0)
    error += getSpread(activation, parameters, value, result);
  return {result, error};
}

Approx tessera::reference::activateByMode(const Row &row, int first,
                                          Approx value) {
  if (row.getMode() == 0)
    return value;
  return activate(static_cast<Activation>(row.getMode()),
                  {row.getScalar(first), row.getScalar(first + 1),
                   row.getScalar(first + 2)},
                  value);
}

void tessera::reference::evaluateActivationForward(Row &row) {
  for (int64_t i = 0; i < row.getLength(); ++i)
    row.set(1, i, activateByMode(row, 0, row.get(0, i)));
}

/// Returns the slope of y = activation(x) and its error.
static Approx getSlope(Activation activation,
                       const std::array<double, 3> &parameters, double x,
                       double y) {
  const auto [a, b, c] = parameters;
  switch (activation) {
  case Activation::None:
    return 1;
  case Activation::Logistic:
    return Approx(y) * (Approx(1) - y);
  case Activation::Tanh:
    if (std::fabs(b) <= kLeastPowerBase)
      return 0;
    return Approx(a) * (Approx(b) - Approx(y) * y / b);
  case Activation::Relu:
    return x > 0 ? 1 : 0;
  case Activation::SoftRelu:
    return Approx(1) / (Approx(1) + exp(Approx(-x)));
  case Activation::Abs:
    return x > 0 ? 1 : -1;
  case Activation::Power: {
    const Approx base = Approx(a) + Approx(b) * x;
    if (base.value <= kLeastPowerBase)
      return 0;
    return Approx(b) * c * y / base;
  }
  case Activation::ClippedRelu:
    return x > 0 && x <= a ? 1 : 0;
  case Activation::LeakyRelu:
    return x > 0 ? 1 : a;
  case Activation::Elu:
    return x > 0 ? Approx(1) : Approx(y) + a;
  case Activation::Clamp:
    return x > a && x <= b ? 1 : 0;
  }
  __builtin_unreachable();
}

/// The tensors are x, y, dy, dx. y is the result of a forward pass, rounded to
/// its type.
void tessera::reference::evaluateActivationBackward(Row &row) {
  const auto activation = static_cast<Activation>(row.getMode());
  for (int64_t i = 0; i < row.getLength(); ++i) {
    const Approx slope = getSlope(
        activation, {row.getScalar(0), row.getScalar(1), row.getScalar(2)},
        row.get(0, i), row.get(1, i));
    row.set(3, i, Approx(row.get(2, i)) * slope);
  }
}

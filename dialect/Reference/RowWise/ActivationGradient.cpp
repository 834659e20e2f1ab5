//===- ActivationGradient.cpp - Slopes of activations ---------------------===//

#include "dialect/Reference/RowWise/RowWiseEvaluators.h"

using namespace tessera::reference;

/// Returns 1 where low < x <= high, else 0. Either is allowed where a kernel
/// may see x on the other side of a bound.
static Approx isBetween(Approx x, Approx low, Approx high) {
  return selectPositive(x - low, selectPositive(x - high, 0, 1), 0);
}

Approx tessera::reference::differentiate(
    Activation activation, const std::array<double, 3> &parameters, Approx x) {
  const auto [a, b, c] = parameters;
  const Approx y = activate(activation, parameters, x);
  switch (activation) {
  case Activation::None:
    return 1;
  case Activation::Logistic:
    return y * (Approx(1) - y);
  case Activation::Tanh:
    if (std::fabs(b) <= kLeastPowerBase)
      return 0;
    return Approx(a) * (Approx(b) - y * y / b);
  case Activation::Relu:
    return selectPositive(x, 1, 0);
  case Activation::SoftRelu:
    return activate(Activation::Logistic, parameters, x);
  case Activation::Abs:
    return selectPositive(x, 1, -1);
  case Activation::Power: {
    const Approx base = Approx(a) + Approx(b) * x;
    return selectPositive(base - kLeastPowerBase, Approx(b) * c * y / base, 0);
  }
  case Activation::ClippedRelu:
    return isBetween(x, 0, a);
  case Activation::LeakyRelu:
    return selectPositive(x, 1, a);
  case Activation::Elu:
    return selectPositive(x, 1, y + a);
  case Activation::Clamp:
    return isBetween(x, a, b);
  }
  __builtin_unreachable();
}

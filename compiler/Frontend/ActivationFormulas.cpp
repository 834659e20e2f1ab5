//===- ActivationFormulas.cpp - Activations and their gradients -----------===//

#include "compiler/Frontend/ActivationFormulas.h"

using namespace mlir;
using namespace tessera;

/// For bases up to this one a power is zero, and so is its slope.
static constexpr double kLeastPowerBase = 1e-6f;

int tessera::countParameters(Activation activation) {
  switch (activation) {
  case Activation::None:
  case Activation::Logistic:
  case Activation::Relu:
  case Activation::SoftRelu:
  case Activation::Abs:
    return 0;
  case Activation::ClippedRelu:
  case Activation::LeakyRelu:
  case Activation::Elu:
    return 1;
  case Activation::Tanh:
  case Activation::Clamp:
    return 2;
  case Activation::Power:
    return 3;
  }
  llvm_unreachable("every activation has a case");
}

/// 1 / (1 + e^-v).
static Value buildLogistic(FloatBuilder &f, Value v) {
  return f.div(f.constant(1), f.add(f.constant(1), f.exp(v, -1)));
}

/// b (1 - 2 / (1 + e^2av)), which is right even where the exponential
/// overflows.
static Value buildTanh(FloatBuilder &f, Value v, Value a, Value b) {
  Value one = f.constant(1);
  Value power = f.exp(f.mul(a, v), 2);
  Value tanh = f.sub(one, f.div(f.constant(2), f.add(power, one)));
  return f.mul(b, tanh);
}

/// max(0, v) + log(1 + e^-|v|).
static Value buildSoftRelu(FloatBuilder &f, Value v) {
  Value power = f.exp(f.abs(v), -1);
  Value logarithm = f.log(f.add(f.constant(1), power));
  return f.add(f.atLeast(v, f.constant(0)), logarithm);
}

/// `power` where the base is above kLeastPowerBase, else 0.
static Value whereBaseIsLarge(FloatBuilder &f, Value base, Value power) {
  return f.select(arith::CmpFPredicate::OLE, base, f.constant(kLeastPowerBase),
                  f.constant(0), power);
}

static Value buildPower(FloatBuilder &f, Value v, Value a, Value b, Value c) {
  Value base = f.add(a, f.mul(b, v));
  return whereBaseIsLarge(f, base, f.exp2(f.mul(c, f.log2(base))));
}

Value tessera::buildActivation(FloatBuilder &f, Activation activation, Value v,
                               ActivationParameter parameter) {
  auto a = [&] { return f.convert(parameter(0)); };
  auto b = [&] { return f.convert(parameter(1)); };
  switch (activation) {
  case Activation::None:
    return v;
  case Activation::Logistic:
    return buildLogistic(f, v);
  case Activation::Tanh: {
    Value first = a(), second = b();
    return buildTanh(f, v, first, second);
  }
  case Activation::Relu:
    return f.atLeast(v, f.constant(0));
  case Activation::SoftRelu:
    return buildSoftRelu(f, v);
  case Activation::Abs:
    return f.abs(v);
  case Activation::Power: {
    Value first = a(), second = b();
    return buildPower(f, v, first, second, f.convert(parameter(2)));
  }
  case Activation::ClippedRelu:
    return f.atMost(f.atLeast(v, f.constant(0)), a());
  case Activation::LeakyRelu:
    return f.whereAboveZero(v, v, f.mul(a(), v));
  case Activation::Elu: {
    Value below = f.mul(a(), f.sub(f.exp(v), f.constant(1)));
    return f.whereAboveZero(v, v, below);
  }
  case Activation::Clamp: {
    Value bounded = f.atLeast(v, a());
    return f.atMost(bounded, b());
  }
  }
  llvm_unreachable("every activation has a case");
}

/// `inside` where low < x <= high, else 0.
static Value whereBetween(FloatBuilder &f, Value x, Value low, Value high,
                          Value inside) {
  Value zero = f.constant(0);
  Value upTo = f.select(arith::CmpFPredicate::OLE, x, high, inside, zero);
  return f.select(arith::CmpFPredicate::OGT, x, low, upTo, zero);
}

/// a (b - y^2 / b), or 0 if b is close to 0.
static Value buildTanhSlope(FloatBuilder &f, Value y, Value a, Value b) {
  Value slope = f.mul(a, f.sub(b, f.div(f.mul(y, y), b)));
  return f.select(arith::CmpFPredicate::OLE, f.abs(b),
                  f.constant(kLeastPowerBase), f.constant(0), slope);
}

/// b c y / (a + b x).
static Value buildPowerSlope(FloatBuilder &f, Value x, Value y, Value a,
                             Value b, Value c) {
  Value base = f.add(a, f.mul(b, x));
  return whereBaseIsLarge(f, base, f.div(f.mul(f.mul(b, c), y), base));
}

Value tessera::buildActivationGradient(FloatBuilder &f, Activation activation,
                                       Value x, Value y, Value dy,
                                       ActivationParameter parameter) {
  auto a = [&] { return f.convert(parameter(0)); };
  auto b = [&] { return f.convert(parameter(1)); };
  auto scale = [&](Value slope) { return f.mul(dy, slope); };
  Value zero = f.constant(0), one = f.constant(1);
  switch (activation) {
  case Activation::None:
    return dy;
  case Activation::Logistic:
    return scale(f.mul(y, f.sub(one, y)));
  case Activation::Tanh: {
    Value first = a(), second = b();
    return scale(buildTanhSlope(f, y, first, second));
  }
  case Activation::Relu:
    return scale(f.whereAboveZero(x, one, zero));
  case Activation::SoftRelu:
    return scale(buildLogistic(f, x));
  case Activation::Abs:
    return scale(f.whereAboveZero(x, one, f.constant(-1)));
  case Activation::Power: {
    Value first = a(), second = b();
    return scale(
        buildPowerSlope(f, x, y, first, second, f.convert(parameter(2))));
  }
  case Activation::ClippedRelu:
    return scale(whereBetween(f, x, zero, a(), one));
  case Activation::LeakyRelu:
    return scale(f.whereAboveZero(x, one, a()));
  case Activation::Elu:
    return scale(f.whereAboveZero(x, one, f.add(y, a())));
  case Activation::Clamp: {
    Value low = a();
    return scale(whereBetween(f, x, low, b(), one));
  }
  }
  llvm_unreachable("every activation has a case");
}

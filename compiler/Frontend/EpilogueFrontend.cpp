//===- EpilogueFrontend.cpp - A problem's epilogue as a region ------------===//
//
// Activations use exp2 and log2, because chips have these as instructions and
// we link no device library. Comparisons are written so that a NaN stays one.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/EpilogueFrontend.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tessera;

static constexpr double kLog2E = 1.4426950408889634;
static constexpr double kLn2 = 0.69314718055994531;
/// At and below it a power is zero.
static constexpr double kLeastPowerBase = 1e-6f;

SmallVector<KernelArg> tessera::getEpilogueArgs(const Epilogue &epilogue) {
  SmallVector<KernelArg> args;
  if (epilogue.bias)
    args.push_back(KernelArg::Bias);
  if (epilogue.residual)
    args.push_back(KernelArg::Residual);
  if (epilogue.alpha)
    args.push_back(KernelArg::Alpha);
  if (epilogue.beta)
    args.push_back(KernelArg::Beta);
  switch (epilogue.activation) {
  case Activation::None:
  case Activation::Logistic:
  case Activation::Relu:
  case Activation::SoftRelu:
  case Activation::Abs:
    break;
  case Activation::ClippedRelu:
  case Activation::LeakyRelu:
  case Activation::Elu:
    args.push_back(KernelArg::ActivAlpha);
    break;
  case Activation::Tanh:
  case Activation::Clamp:
    llvm::append_values(args, KernelArg::ActivAlpha, KernelArg::ActivBeta);
    break;
  case Activation::Power:
    llvm::append_values(args, KernelArg::ActivAlpha, KernelArg::ActivBeta,
                        KernelArg::ActivGamma);
    break;
  }
  return args;
}

namespace {
/// Arithmetic on values of one floating-point type.
class FloatBuilder {
public:
  FloatBuilder(OpBuilder &b, Location loc, Type type)
      : b(b), loc(loc), type(type) {}

  Value constant(double value) {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
  }
  Value add(Value l, Value r) { return arith::AddFOp::create(b, loc, l, r); }
  Value sub(Value l, Value r) { return arith::SubFOp::create(b, loc, l, r); }
  Value mul(Value l, Value r) { return arith::MulFOp::create(b, loc, l, r); }
  Value div(Value l, Value r) { return arith::DivFOp::create(b, loc, l, r); }
  Value abs(Value v) { return math::AbsFOp::create(b, loc, v); }
  Value exp2(Value v) { return math::Exp2Op::create(b, loc, v); }
  Value log2(Value v) { return math::Log2Op::create(b, loc, v); }
  /// e^(factor v).
  Value exp(Value v, double factor = 1) {
    return exp2(mul(v, constant(factor * kLog2E)));
  }

  Value select(arith::CmpFPredicate predicate, Value l, Value r, Value yes,
               Value no) {
    Value condition = arith::CmpFOp::create(b, loc, predicate, l, r);
    return arith::SelectOp::create(b, loc, condition, yes, no);
  }
  /// The larger and the smaller of a value and a bound.
  Value atLeast(Value v, Value bound) {
    return select(arith::CmpFPredicate::OLT, v, bound, bound, v);
  }
  Value atMost(Value v, Value bound) {
    return select(arith::CmpFPredicate::OGT, v, bound, bound, v);
  }
  /// `positive` where v > 0, else `other`.
  Value whereAboveZero(Value v, Value positive, Value other) {
    return select(arith::CmpFPredicate::OGT, v, constant(0), positive, other);
  }

  /// A scalar argument in our type.
  Value convert(Value scalar) {
    if (scalar.getType() == type)
      return scalar;
    return arith::TruncFOp::create(b, loc, type, scalar);
  }

private:
  OpBuilder &b;
  Location loc;
  Type type;
};
} // namespace

/// b (1 - 2 / (1 + e^2av)), which tends to the right ends.
static Value buildTanh(FloatBuilder &f, Value v, Value a, Value b) {
  Value one = f.constant(1);
  Value power = f.exp(f.mul(a, v), 2);
  Value tanh = f.sub(one, f.div(f.constant(2), f.add(power, one)));
  return f.mul(b, tanh);
}

/// max(0, v) + log(1 + e^-|v|).
static Value buildSoftRelu(FloatBuilder &f, Value v) {
  Value power = f.exp(f.abs(v), -1);
  Value logarithm =
      f.mul(f.log2(f.add(f.constant(1), power)), f.constant(kLn2));
  return f.add(f.atLeast(v, f.constant(0)), logarithm);
}

static Value buildPower(FloatBuilder &f, Value v, Value a, Value b, Value c) {
  Value base = f.add(a, f.mul(b, v));
  Value power = f.exp2(f.mul(c, f.log2(base)));
  return f.select(arith::CmpFPredicate::OLE, base, f.constant(kLeastPowerBase),
                  f.constant(0), power);
}

/// `parameter(i)` is a, b or c.
static Value buildActivation(FloatBuilder &f, Activation activation, Value v,
                             function_ref<Value(KernelArg)> find) {
  auto a = [&] { return f.convert(find(KernelArg::ActivAlpha)); };
  auto b = [&] { return f.convert(find(KernelArg::ActivBeta)); };
  switch (activation) {
  case Activation::None:
    return v;
  case Activation::Logistic:
    return f.div(f.constant(1), f.add(f.constant(1), f.exp(v, -1)));
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
    return buildPower(f, v, first, second,
                      f.convert(find(KernelArg::ActivGamma)));
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

Value tessera::buildEpilogue(OpBuilder &builder, Location loc,
                             const Epilogue &epilogue, Value sum,
                             function_ref<Value(KernelArg)> find) {
  FloatBuilder f(builder, loc, sum.getType());
  Value v = sum;
  if (epilogue.alpha)
    v = f.mul(f.convert(find(KernelArg::Alpha)), v);
  if (epilogue.beta) {
    Value scale = f.convert(find(KernelArg::Beta));
    v = f.add(v, f.mul(scale, find(KernelArg::Y)));
  }
  if (epilogue.bias)
    v = f.add(v, find(KernelArg::Bias));
  if (epilogue.residual)
    v = f.add(v, find(KernelArg::Residual));
  return buildActivation(f, epilogue.activation, v, find);
}

//===- DoubleMath.cpp - Exponential and logarithm in f64 ------------------===//

#include "compiler/Frontend/DoubleMath.h"
#include "compiler/Frontend/FloatBuilder.h"

#include <cmath>

using namespace mlir;
using namespace tessera;
using arith::CmpFPredicate;

static constexpr int kMantissaBits = 52;
static constexpr int64_t kExponentBias = 1023;

static Value constantI64(FloatBuilder &f, int64_t value) {
  OpBuilder &b = f.getBuilder();
  return arith::ConstantOp::create(b, f.getLoc(), b.getI64IntegerAttr(value));
}

template <typename Op>
static Value applyOp(FloatBuilder &f, Value l, Value r) {
  return Op::create(f.getBuilder(), f.getLoc(), l, r);
}

static Value reinterpret(FloatBuilder &f, Type type, Value value) {
  return arith::BitcastOp::create(f.getBuilder(), f.getLoc(), type, value);
}

/// `special` where v compares so with `r`, else `value`.
static Value where(FloatBuilder &f, CmpFPredicate predicate, Value v, double r,
                   Value special, Value value) {
  return f.select(predicate, v, f.constant(r), special, value);
}

/// 2^n for an n of i64 between -1022 and 1023.
static Value buildPowerOfTwo(FloatBuilder &f, Value n) {
  Value exponent = applyOp<arith::AddIOp>(f, n, constantI64(f, kExponentBias));
  return reinterpret(
      f, f.getType(),
      applyOp<arith::ShLIOp>(f, exponent, constantI64(f, kMantissaBits)));
}

Value tessera::buildDoubleExp2(FloatBuilder &f, Value v) {
  // Beyond this limit results are 0 and infinity. A NaN passes both bounds.
  constexpr double kLimit = 1100;
  v = f.atMost(f.atLeast(v, f.constant(-kLimit)), f.constant(kLimit));
  // The sum has no bits for a fraction: what lies above it is the nearest
  // integer, also where it is negative.
  constexpr double kRounder = 0x1.8p52;
  Value whole = f.sub(f.add(v, f.constant(kRounder)), f.constant(kRounder));
  Value t = f.mul(f.sub(v, whole), f.constant(M_LN2));
  // Taylor's series of e^t, |t| <= ln(2) / 2: the next term is below 2^-57.
  constexpr int kDegree = 13;
  double factorial = 6227020800; // 13!
  Value power = f.constant(1 / factorial);
  for (int i = kDegree; i > 0; --i) {
    factorial /= i;
    power = f.add(f.mul(power, t), f.constant(1 / factorial));
  }
  // Two factors, because 2^n may be beyond the range where the result is not.
  OpBuilder &b = f.getBuilder();
  Value number = f.select(CmpFPredicate::UNO, v, v, f.constant(0), whole);
  Value n =
      arith::FPToSIOp::create(b, f.getLoc(), b.getI32Type(), number).getOut();
  n = arith::ExtSIOp::create(b, f.getLoc(), b.getI64Type(), n);
  Value half = applyOp<arith::ShRSIOp>(f, n, constantI64(f, 1));
  Value rest = applyOp<arith::SubIOp>(f, n, half);
  return f.mul(f.mul(power, buildPowerOfTwo(f, half)),
               buildPowerOfTwo(f, rest));
}

/// ln(m) / ln(2) for an m between sqrt(1/2) and sqrt(2).
static Value buildMantissaLog2(FloatBuilder &f, Value m) {
  Value one = f.constant(1);
  Value s = f.div(f.sub(m, one), f.add(m, one));
  Value square = f.mul(s, s);
  // ln(m) = 2 (s + s^3 / 3 + s^5 / 5 + ...), |s| < 0.172: the next term is
  // below 2^-58 of the sum.
  constexpr int kDegree = 21;
  Value sum = f.constant(1.0 / kDegree);
  for (int i = kDegree - 2; i > 0; i -= 2)
    sum = f.add(f.mul(sum, square), f.constant(1.0 / i));
  return f.mul(f.mul(sum, s), f.constant(2 * M_LOG2E));
}

Value tessera::buildDoubleLog2(FloatBuilder &f, Value v) {
  constexpr double kLeastNormal = 0x1p-1022;
  constexpr double kSubnormalShift = 54;
  Value scaled = where(f, CmpFPredicate::OLT, v, kLeastNormal,
                       f.mul(v, f.constant(0x1p54)), v);
  OpBuilder &b = f.getBuilder();
  Value bits = reinterpret(f, b.getI64Type(), scaled);
  // The exponent for which the mantissa is between sqrt(1/2) and sqrt(2).
  constexpr int64_t kRootBits = 0x3fe6a09e667f3bcd;
  Value exponent = applyOp<arith::ShRSIOp>(
      f, applyOp<arith::SubIOp>(f, bits, constantI64(f, kRootBits)),
      constantI64(f, kMantissaBits));
  Value mantissa = applyOp<arith::SubIOp>(
      f, bits,
      applyOp<arith::ShLIOp>(f, exponent, constantI64(f, kMantissaBits)));
  Value e =
      f.convert(arith::TruncIOp::create(b, f.getLoc(), b.getI32Type(), exponent)
                    .getResult());
  e = where(f, CmpFPredicate::OLT, v, kLeastNormal,
            f.sub(e, f.constant(kSubnormalShift)), e);
  Value result =
      f.add(e, buildMantissaLog2(f, reinterpret(f, f.getType(), mantissa)));
  result = where(f, CmpFPredicate::UEQ, v, INFINITY, v, result);
  result = where(f, CmpFPredicate::OEQ, v, 0, f.constant(-INFINITY), result);
  return where(f, CmpFPredicate::OLT, v, 0, f.constant(NAN), result);
}

//===- FloatBuilder.h - Formulas on values of one type ---------*- C++ -*--===//
//
// The arithmetic in which the formulas of regions are written. Exponentials and
// logarithms are of base 2, because chips have instructions for these in f32
// and no device library is linked (f64: DoubleMath.h). Comparisons are written
// so that a NaN stays a NaN.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_FRONTEND_FLOATBUILDER_H
#define TESSERA_COMPILER_FRONTEND_FLOATBUILDER_H

#include "compiler/Frontend/DoubleMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

namespace tessera {

/// Arithmetic on values of one floating-point type. Borrows the builder.
class FloatBuilder {
public:
  using Value = mlir::Value;

  FloatBuilder(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type)
      : b(b), loc(loc), type(type) {}

  mlir::OpBuilder &getBuilder() { return b; }
  mlir::Location getLoc() { return loc; }
  mlir::Type getType() { return type; }

  Value constant(double value) {
    return mlir::arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
  }
  Value add(Value l, Value r) { return create<mlir::arith::AddFOp>(l, r); }
  Value sub(Value l, Value r) { return create<mlir::arith::SubFOp>(l, r); }
  Value mul(Value l, Value r) { return create<mlir::arith::MulFOp>(l, r); }
  Value div(Value l, Value r) { return create<mlir::arith::DivFOp>(l, r); }
  Value abs(Value v) { return create<mlir::math::AbsFOp>(v); }
  Value sqrt(Value v) { return create<mlir::math::SqrtOp>(v); }
  /// 1 / sqrt(v); in f32 it may be off by two units in the last place.
  Value rsqrt(Value v) {
    if (type.isF32())
      return create<mlir::math::RsqrtOp>(v);
    return div(constant(1), sqrt(v));
  }
  Value exp2(Value v) {
    return type.isF64() ? buildDoubleExp2(*this, v)
                        : create<mlir::math::Exp2Op>(v);
  }
  Value log2(Value v) {
    return type.isF64() ? buildDoubleLog2(*this, v)
                        : create<mlir::math::Log2Op>(v);
  }
  /// Returns e^(factor v).
  Value exp(Value v, double factor = 1) {
    return exp2(mul(v, constant(factor * kLog2E)));
  }
  Value log(Value v) { return mul(log2(v), constant(kLn2)); }

  Value select(mlir::arith::CmpFPredicate predicate, Value l, Value r,
               Value yes, Value no) {
    Value condition = mlir::arith::CmpFOp::create(b, loc, predicate, l, r);
    return mlir::arith::SelectOp::create(b, loc, condition, yes, no);
  }
  /// The larger (atLeast) or the smaller (atMost) of a value and a bound.
  Value atLeast(Value v, Value bound) {
    return select(mlir::arith::CmpFPredicate::OLT, v, bound, bound, v);
  }
  Value atMost(Value v, Value bound) {
    return select(mlir::arith::CmpFPredicate::OGT, v, bound, bound, v);
  }
  /// `positive` where v > 0, else `other`.
  Value whereAboveZero(Value v, Value positive, Value other) {
    return select(mlir::arith::CmpFPredicate::OGT, v, constant(0), positive,
                  other);
  }

  /// Converts a float of any type, or a signed integer, to the type of this
  /// builder.
  Value convert(Value value) {
    if (value.getType() == type)
      return value;
    if (value.getType().isIntOrIndex())
      return mlir::arith::SIToFPOp::create(b, loc, type, value);
    if (value.getType().getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
      return mlir::arith::ExtFOp::create(b, loc, type, value);
    return mlir::arith::TruncFOp::create(b, loc, type, value);
  }

private:
  static constexpr double kLog2E = 1.4426950408889634;
  static constexpr double kLn2 = 0.69314718055994531;

  template <typename Op, typename... Operands>
  Value create(Operands... operands) {
    return Op::create(b, loc, operands...);
  }

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type type;
};

} // namespace tessera

#endif // TESSERA_COMPILER_FRONTEND_FLOATBUILDER_H

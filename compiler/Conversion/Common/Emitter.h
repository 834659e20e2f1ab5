//===- Emitter.h - 32-bit address arithmetic, folded -----------*- C++ -*--===//
//
// The lowering writes thousands of additions and multiplications, most with a
// constant. Folding them at once is cheaper than a canonicalizer afterwards:
// compile time is part of the product.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COMMON_EMITTER_H
#define TESSERA_COMPILER_CONVERSION_COMMON_EMITTER_H

#include "compiler/Conversion/Common/DeviceOps.h"
#include "compiler/Conversion/Common/OpenNumber.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera {

class SizeArguments;

/// A builder of i32 values. Constants are made once, at the start of the
/// function. Not owned by anything that outlives the lowering of a function.
class Emitter {
public:
  Emitter(mlir::OpBuilder &builder, mlir::Location loc, mlir::Block *entry,
          const DeviceOps &device)
      : b(builder), loc(loc), device(device), entry(entry) {}

  mlir::OpBuilder &b;
  mlir::Location loc;
  const DeviceOps &device; ///< The chip's own instructions.
  /// Where unknown sizes come from; null in a kernel that has none.
  SizeArguments *sizes = nullptr;

  mlir::Value constant(int64_t value) {
    return constant(b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }

  mlir::Value indexConstant(int64_t value) {
    return constant(b.getIndexAttr(value));
  }

  mlir::Value constant(mlir::TypedAttr attr) {
    mlir::Value &value = constants[attr];
    if (!value) {
      mlir::OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(entry);
      value = mlir::arith::ConstantOp::create(b, loc, attr);
    }
    return value;
  }

  mlir::Value add(mlir::Value lhs, mlir::Value rhs) {
    if (isZero(lhs))
      return rhs;
    if (isZero(rhs))
      return lhs;
    return mlir::arith::AddIOp::create(b, loc, lhs, rhs);
  }
  mlir::Value add(mlir::Value lhs, int64_t rhs) {
    return rhs == 0 ? lhs : add(lhs, constant(rhs));
  }
  mlir::Value mul(mlir::Value lhs, int64_t rhs) {
    if (rhs == 0 || isZero(lhs))
      return constant(0);
    return rhs == 1 ? lhs
                    : mlir::arith::MulIOp::create(b, loc, lhs, constant(rhs));
  }
  mlir::Value divu(mlir::Value lhs, int64_t rhs) {
    if (rhs == 1 || isZero(lhs))
      return lhs;
    return mlir::arith::DivUIOp::create(b, loc, lhs, constant(rhs));
  }
  mlir::Value remu(mlir::Value lhs, int64_t rhs) {
    if (rhs == 1 || isZero(lhs))
      return constant(0);
    return mlir::arith::RemUIOp::create(b, loc, lhs, constant(rhs));
  }
  mlir::Value shru(mlir::Value lhs, int64_t rhs) {
    return rhs == 0 ? lhs
                    : mlir::arith::ShRUIOp::create(b, loc, lhs, constant(rhs));
  }
  mlir::Value andi(mlir::Value lhs, int64_t rhs) {
    return rhs == 0 ? constant(0)
                    : mlir::arith::AndIOp::create(b, loc, lhs, constant(rhs));
  }
  mlir::Value xori(mlir::Value lhs, mlir::Value rhs) {
    if (isZero(lhs))
      return rhs;
    if (isZero(rhs))
      return lhs;
    return mlir::arith::XOrIOp::create(b, loc, lhs, rhs);
  }
  /// lhs < rhs, unsigned: for rhs up to 2^31 also false for a negative lhs.
  mlir::Value ult(mlir::Value lhs, int64_t rhs) {
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::ult,
                                       lhs, constant(rhs));
  }
  mlir::Value ult(mlir::Value lhs, mlir::Value rhs) {
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::ult,
                                       lhs, rhs);
  }
  /// Both, where a null value stands for true.
  mlir::Value both(mlir::Value lhs, mlir::Value rhs) {
    if (!lhs || !rhs)
      return lhs ? lhs : rhs;
    return mlir::arith::AndIOp::create(b, loc, lhs, rhs);
  }
  /// condition ? lhs : rhs, where a null condition stands for true.
  mlir::Value select(mlir::Value condition, mlir::Value lhs, mlir::Value rhs) {
    return condition
               ? mlir::arith::SelectOp::create(b, loc, condition, lhs, rhs)
               : lhs;
  }

  // The same with numbers that may be unknown.
  mlir::Value constant(const OpenNumber &value);
  mlir::Value wideConstant(const OpenNumber &value); ///< An i64.
  mlir::Value add(mlir::Value lhs, const OpenNumber &rhs) {
    return rhs.isKnown() ? add(lhs, int64_t(rhs)) : add(lhs, constant(rhs));
  }
  mlir::Value mul(mlir::Value lhs, const OpenNumber &rhs) {
    if (rhs.isKnown() || isZero(lhs))
      return rhs.isKnown() ? mul(lhs, int64_t(rhs)) : lhs;
    return mlir::arith::MulIOp::create(b, loc, lhs, constant(rhs));
  }
  mlir::Value divu(mlir::Value lhs, const OpenNumber &rhs);
  mlir::Value remu(mlir::Value lhs, const OpenNumber &rhs);
  mlir::Value ult(mlir::Value lhs, const OpenNumber &rhs) {
    return ult(lhs, constant(rhs));
  }

  mlir::Value toIndex(mlir::Value value) {
    return mlir::arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
  }

private:
  bool isZero(mlir::Value value) {
    auto found = constants.find(b.getI32IntegerAttr(0));
    return found != constants.end() && found->second == value;
  }

  mlir::Block *entry;
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COMMON_EMITTER_H

//===- RowFormulas.cpp - What all row-wise formulas share -----------------===//

#include "compiler/Frontend/RowWise/RowWiseFormulas.h"
#include "compiler/Frontend/ActivationFormulas.h"
#include "compiler/Frontend/ElementType.h"

using namespace mlir;
using namespace tessera;

Value RowRegion::rowIndex() {
  OpBuilder &b = getBuilder();
  return dnn::RowIndexOp::create(b, getLoc(), b.getI32Type());
}

Value RowRegion::elementIndex() {
  OpBuilder &b = getBuilder();
  return dnn::ElementIndexOp::create(b, getLoc(), b.getI64Type());
}

/// Rounds to an integer, ties to even: adding 2^(mantissa bits) leaves no bits
/// for a fraction. Floats at or above this limit are integers already.
static Value roundToEven(FloatBuilder &f, Value v) {
  const bool isDouble = f.getType().isF64();
  Value limit = f.constant(isDouble ? 0x1p52 : 0x1p23);
  Value size = f.abs(v);
  Value whole = f.sub(f.add(size, limit), limit);
  Value signedWhole = f.select(arith::CmpFPredicate::OLT, v, f.constant(0),
                               f.sub(f.constant(0), whole), whole);
  return f.select(arith::CmpFPredicate::OLT, size, limit, signedWhole, v);
}

Value RowRegion::round(Value value, DataType type) {
  OpBuilder &b = getBuilder();
  FloatBuilder f(b, getLoc(), value.getType());
  // Regions compute with i32 in place of i8.
  const bool isByte = type == DataType::I8, isLong = type == DataType::I64;
  Type integer = isLong ? b.getI64Type() : b.getI32Type();
  const double most = isByte ? 0x1p7 : isLong ? 0x1p63 : 0x1p31;
  Value zero = f.constant(0);
  Value number = f.select(arith::CmpFPredicate::UNO, value, value, zero, value);
  Value whole = f.atLeast(roundToEven(f, number), f.constant(-most));
  Value isLarge = arith::CmpFOp::create(b, getLoc(), arith::CmpFPredicate::OGE,
                                        whole, f.constant(most));
  Value small = arith::SelectOp::create(b, getLoc(), isLarge, zero, whole);
  Value result = arith::FPToSIOp::create(b, getLoc(), integer, small);
  const int64_t largest = isByte ? INT8_MAX : isLong ? INT64_MAX : INT32_MAX;
  Value end = arith::ConstantOp::create(b, getLoc(),
                                        b.getIntegerAttr(integer, largest));
  return arith::SelectOp::create(b, getLoc(), isLarge, end, result);
}

Value RowRegion::toTensor(int tensor, Value value) {
  const DataType type = problem.tensors[tensor].type;
  switch (type) {
  case DataType::I8:
  case DataType::I32:
  case DataType::I64:
    return round(value, type);
  default:
    return value;
  }
}

Value RowRegion::activateByMode(int first, Value value) {
  return buildActivation(*this, static_cast<Activation>(problem.mode), value,
                         [&](int i) { return scalar(first + i); });
}

Status tessera::expectTensors(const RowWiseProblem &problem,
                              std::string_view roles) {
  std::string actual;
  for (const RowTensor &tensor : problem.getTensors())
    actual += getName(tensor.role);
  if (actual == roles)
    return Status::ok();
  return invalidArgument(std::string(getName(problem.op)) +
                         " has tensors of the roles " + std::string(roles) +
                         ", not " + actual);
}

Status tessera::expectMode(const RowWiseProblem &problem, uint32_t count) {
  if (problem.mode < count)
    return Status::ok();
  return invalidArgument(std::string(getName(problem.op)) +
                         " has the modes 0 "
                         "to " +
                         std::to_string(count - 1) + ", not " +
                         std::to_string(problem.mode));
}

bool tessera::isInteger(DataType type) {
  return type == DataType::I8 || type == DataType::I32 || type == DataType::I64;
}

bool tessera::hasIntegers(const RowWiseProblem &problem) {
  return llvm::any_of(problem.getTensors(), [](const RowTensor &tensor) {
    return isInteger(tensor.type);
  });
}

Status tessera::rejectI64(const RowWiseProblem &problem) {
  for (const RowTensor &tensor : problem.getTensors())
    if (tensor.type == DataType::I64)
      return notSupported(std::string(getName(problem.op)) +
                          " has no arithmetic for i64");
  return Status::ok();
}

FloatBuilder tessera::getArithmetic(RowRegion &r, bool hasIntegers) {
  return FloatBuilder(r.getBuilder(), r.getLoc(),
                      hasIntegers ? r.getBuilder().getF64Type() : r.getType());
}

//===- Elementwise.cpp - Sums, products and copies of elements ------------===//
//
// Integers are computed in f64, which holds every i32 exactly. Operations that
// only copy integers do no arithmetic.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/RowWise/RowWiseFormulas.h"
#include "runtime/Base/RowWiseKind.h"

using namespace mlir;
using namespace tessera;

using Values = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// op(alpha1 A, alpha2 B) + beta C
//===----------------------------------------------------------------------===//

static Value combine(FloatBuilder &f, uint32_t mode, Value a, Value b) {
  switch (mode) {
  case 0:
    return f.add(a, b);
  case 1:
    return f.mul(a, b);
  case 2:
    return f.atMost(a, b);
  default:
    return f.atLeast(a, b);
  }
}

static ErrorOr<RowWiseFormulas> getOpTensor(const RowWiseProblem &p) {
  const bool hasOld = p.tensorCount == 4;
  Status status = expectTensors(p, hasOld ? "iiio" : "iio");
  if (status.isOk())
    status = expectMode(p, 4);
  if (status.isOk())
    status = rejectI64(p);
  if (!status.isOk())
    return status;
  RowWiseFormulas formulas;
  formulas.scalarCount = hasOld ? 3 : 2;
  formulas.map = [p, hasOld](RowRegion &r) -> Values {
    FloatBuilder f = getArithmetic(r, hasIntegers(p));
    auto scaled = [&](int i) {
      return f.mul(f.convert(r.scalar(i)), f.convert(r.input(i)));
    };
    Value a = scaled(0), b = scaled(1);
    Value result = combine(f, p.mode, a, b);
    if (hasOld)
      result = f.add(result, scaled(2));
    return {r.toTensor(p.tensorCount - 1, result)};
  };
  return formulas;
}

//===----------------------------------------------------------------------===//
// Set, scale, transform
//===----------------------------------------------------------------------===//

Value RowRegion::integerOfPieces(int first, Type type) {
  OpBuilder &b = getBuilder();
  Value shift = arith::ConstantIntOp::create(b, getLoc(), type, 22);
  Value result;
  for (int i = 0; i < 3; ++i) {
    Value piece = arith::FPToSIOp::create(b, getLoc(), type, scalar(first + i));
    if (result)
      piece = arith::AddIOp::create(
          b, getLoc(), arith::ShLIOp::create(b, getLoc(), result, shift),
          piece);
    result = piece;
  }
  return result;
}

static ErrorOr<RowWiseFormulas> getSet(const RowWiseProblem &p) {
  if (Status status = expectTensors(p, "o"); !status.isOk())
    return status;
  const DataType type = p.tensors[0].type;
  RowWiseFormulas formulas;
  formulas.scalarCount = isInteger(type) ? 3 : 1;
  formulas.map = [type](RowRegion &r) -> Values {
    OpBuilder &b = r.getBuilder();
    if (!isInteger(type))
      return {r.scalar(0)};
    return {r.integerOfPieces(0, type == DataType::I64 ? b.getI64Type()
                                                       : b.getI32Type())};
  };
  return formulas;
}

static ErrorOr<RowWiseFormulas> getScale(const RowWiseProblem &p) {
  Status status = expectTensors(p, "io");
  if (status.isOk())
    status = rejectI64(p);
  if (!status.isOk())
    return status;
  RowWiseFormulas formulas;
  formulas.scalarCount = 1;
  formulas.map = [p](RowRegion &r) -> Values {
    FloatBuilder f = getArithmetic(r, hasIntegers(p));
    return {
        r.toTensor(1, f.mul(f.convert(r.scalar(0)), f.convert(r.input(0))))};
  };
  return formulas;
}

/// Converts an element to the type of the output, without arithmetic if both
/// are integers.
static Value copy(RowRegion &r, const RowWiseProblem &p) {
  const DataType from = p.tensors[0].type, to = p.tensors[1].type;
  OpBuilder &b = r.getBuilder();
  Value element = r.input(0);
  if (!isInteger(from) || !isInteger(to)) {
    FloatBuilder f =
        getArithmetic(r, from == DataType::I32 || from == DataType::I64);
    Value number = f.convert(element);
    return isInteger(to) ? r.toTensor(1, number) : r.convert(number);
  }
  const bool wasLong = from == DataType::I64, isLong = to == DataType::I64;
  if (wasLong && !isLong)
    return arith::TruncIOp::create(b, r.getLoc(), b.getI32Type(), element);
  if (!wasLong && isLong)
    return arith::ExtSIOp::create(b, r.getLoc(), b.getI64Type(), element);
  return element;
}

static ErrorOr<RowWiseFormulas> getTransform(const RowWiseProblem &p) {
  const bool hasOld = p.tensorCount == 3, isScaled = p.mode == 1;
  Status status = expectTensors(p, hasOld ? "iio" : "io");
  if (status.isOk())
    status = expectMode(p, 2);
  if (status.isOk() && hasOld && !isScaled)
    status = invalidArgument("transform with an old y has mode 1");
  if (status.isOk() && isScaled)
    status = rejectI64(p);
  if (!status.isOk())
    return status;
  RowWiseFormulas formulas;
  formulas.scalarCount = hasOld ? 2 : isScaled ? 1 : 0;
  formulas.map = [p, hasOld, isScaled](RowRegion &r) -> Values {
    if (!isScaled)
      return {copy(r, p)};
    FloatBuilder f = getArithmetic(r, hasIntegers(p));
    auto scaled = [&](int i) {
      return f.mul(f.convert(r.scalar(i)), f.convert(r.input(i)));
    };
    Value result = scaled(0);
    if (hasOld)
      result = f.add(result, scaled(1));
    const int y = p.tensorCount - 1;
    return {isInteger(p.tensors[y].type) ? r.toTensor(y, result)
                                         : r.convert(result)};
  };
  return formulas;
}

ErrorOr<RowWiseFormulas>
tessera::getElementwiseFormulas(const RowWiseProblem &p) {
  switch (p.op) {
  case RowWiseKind::OpTensor:
    return getOpTensor(p);
  case RowWiseKind::SetTensor:
    return getSet(p);
  case RowWiseKind::ScaleTensor:
    return getScale(p);
  default:
    return getTransform(p);
  }
}

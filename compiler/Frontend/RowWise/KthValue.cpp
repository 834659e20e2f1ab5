//===- KthValue.cpp - The k-th smallest element of a row ------------------===//
//
// A radix search: elements are mapped to 32-bit keys of the same order, and
// each launch of `kth_step` finds one more bit of the key that is looked for,
// from the highest one on, by counting.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/RowWise/RowWiseFormulas.h"
#include "runtime/Base/RowWiseKind.h"

using namespace mlir;
using namespace tessera;

using Values = SmallVector<Value>;

static Value constantI32(RowRegion &r, int64_t value) {
  OpBuilder &b = r.getBuilder();
  return arith::ConstantOp::create(
      b, r.getLoc(),
      b.getI32IntegerAttr(static_cast<int32_t>(static_cast<uint32_t>(value))));
}

template <typename Op>
static Value applyOp(RowRegion &r, Value left, Value right) {
  return Op::create(r.getBuilder(), r.getLoc(), left, right);
}

static Value whereEqual(RowRegion &r, Value left, Value right, Value yes,
                        Value no) {
  OpBuilder &b = r.getBuilder();
  Value isEqual = arith::CmpIOp::create(b, r.getLoc(), arith::CmpIPredicate::eq,
                                        left, right);
  return arith::SelectOp::create(b, r.getLoc(), isEqual, yes, no);
}

/// The key of an f32: unsigned numbers in the order of the floats, with both
/// zeros the same and every NaN the largest.
static Value getKey(RowRegion &r, Value x) {
  OpBuilder &b = r.getBuilder();
  Value zero = r.constant(0);
  Value number = r.select(arith::CmpFPredicate::OEQ, x, zero, zero, x);
  Value bits = arith::BitcastOp::create(b, r.getLoc(), b.getI32Type(), number);
  Value sign = applyOp<arith::ShRSIOp>(r, bits, constantI32(r, 31));
  Value flips = applyOp<arith::OrIOp>(r, sign, constantI32(r, 0x80000000));
  Value key = applyOp<arith::XOrIOp>(r, bits, flips);
  Value isNan =
      arith::CmpFOp::create(b, r.getLoc(), arith::CmpFPredicate::UNO, x, x);
  return arith::SelectOp::create(b, r.getLoc(), isNan,
                                 constantI32(r, 0xffffffff), key);
}

/// The float that has the key.
static Value getNumber(RowRegion &r, Value key) {
  OpBuilder &b = r.getBuilder();
  Value sign = applyOp<arith::ShRSIOp>(r, key, constantI32(r, 31));
  Value flips = applyOp<arith::OrIOp>(
      r, applyOp<arith::XOrIOp>(r, sign, constantI32(r, 0xffffffff)),
      constantI32(r, 0x80000000));
  return arith::BitcastOp::create(b, r.getLoc(), r.getType(),
                                  applyOp<arith::XOrIOp>(r, key, flips));
}

static Value getBit(RowRegion &r) {
  OpBuilder &b = r.getBuilder();
  return arith::FPToSIOp::create(b, r.getLoc(), b.getI32Type(), r.scalar(0));
}

/// The tensors are x, the upper bits of the key and k, and both after this bit.
static RowWiseFormulas getStep() {
  RowWiseFormulas f;
  f.scalarCount = 1;
  f.reductions.push_back(
      {{dnn::ReduceKind::Sum}, [](RowRegion &r) {
         Value bit = getBit(r);
         Value key = applyOp<arith::ShRUIOp>(r, getKey(r, r.get(0)), bit);
         Value found = applyOp<arith::ShRUIOp>(r, r.input(1), bit);
         return Values{
             whereEqual(r, key, found, constantI32(r, 1), constantI32(r, 0))};
       }});
  f.row = [](RowRegion &r) {
    OpBuilder &b = r.getBuilder();
    Value key = r.input(1), k = r.input(2), count = r.result(0);
    Value bit = applyOp<arith::ShLIOp>(r, constantI32(r, 1), getBit(r));
    Value isClear = arith::CmpIOp::create(b, r.getLoc(),
                                          arith::CmpIPredicate::sle, k, count);
    Value set = applyOp<arith::OrIOp>(r, key, bit);
    Value rest = applyOp<arith::SubIOp>(r, k, count);
    return Values{
        arith::SelectOp::create(b, r.getLoc(), isClear, key, set).getResult(),
        arith::SelectOp::create(b, r.getLoc(), isClear, k, rest).getResult()};
  };
  return f;
}

/// The tensors are x, the key, its element and the index of the first one.
static RowWiseFormulas getFind(const RowWiseProblem &p) {
  const bool isLong = p.tensors[3].type == DataType::I64;
  RowWiseFormulas f;
  f.reductions.push_back({{dnn::ReduceKind::ArgMax}, [](RowRegion &r) {
                            return Values{whereEqual(r, getKey(r, r.get(0)),
                                                     r.input(1), r.constant(1),
                                                     r.constant(0))};
                          }});
  f.row = [isLong](RowRegion &r) {
    OpBuilder &b = r.getBuilder();
    Value index = r.result(1);
    if (isLong)
      index = arith::ExtSIOp::create(b, r.getLoc(), b.getI64Type(), index);
    return Values{getNumber(r, r.input(1)), index};
  };
  return f;
}

ErrorOr<RowWiseFormulas> tessera::getKthValueFormulas(const RowWiseProblem &p) {
  const bool isStep = p.op == RowWiseKind::KthStep;
  Status status = expectTensors(p, isStep ? "iiirr" : "iirr");
  if (status.isOk())
    status = expectMode(p, 1);
  if (status.isOk() && p.tensors[0].type == DataType::F64)
    status = notSupported("the k-th value of f64 is not implemented");
  if (!status.isOk())
    return status;
  return isStep ? getStep() : getFind(p);
}

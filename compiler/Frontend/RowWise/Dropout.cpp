//===- Dropout.cpp - Dropout and its random numbers -----------------------===//
//
// The random numbers come from a counter-based generator, which hashes the
// index of an element and the seed. So threads have no state, and the mask
// follows from the seed and the counter (docs/spec/row-wise.md).
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/RowWise/RowWiseFormulas.h"
#include "runtime/Base/RowWiseKind.h"

using namespace mlir;
using namespace tessera;

using Values = SmallVector<Value>;

namespace {
/// Arithmetic on 32-bit integers that wrap around.
class WordBuilder {
public:
  explicit WordBuilder(RowRegion &r)
      : b(r.getBuilder()), loc(r.getLoc()), type(b.getI32Type()) {}

  Value constant(uint32_t value) {
    return arith::ConstantOp::create(
        b, loc, b.getIntegerAttr(type, static_cast<int32_t>(value)));
  }
  Value add(Value l, Value r) { return arith::AddIOp::create(b, loc, l, r); }
  Value mul(Value l, uint32_t r) {
    return arith::MulIOp::create(b, loc, l, constant(r));
  }
  Value bitXor(Value l, Value r) { return arith::XOrIOp::create(b, loc, l, r); }
  Value shiftRight(Value v, uint32_t bits) {
    return arith::ShRUIOp::create(b, loc, v, constant(bits));
  }
  Value xorShift(Value v, uint32_t bits) {
    return bitXor(v, shiftRight(v, bits));
  }
  Value getLow(Value word64) {
    return arith::TruncIOp::create(b, loc, type, word64);
  }
  Value getHigh(Value word64) {
    Value shift = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(32));
    return getLow(arith::ShRUIOp::create(b, loc, word64, shift));
  }

private:
  OpBuilder &b;
  Location loc;
  Type type;
};
} // namespace

/// A hash each of whose bits depends on every bit of `h` (MurmurHash3's
/// finalizer).
static Value mix(WordBuilder &w, Value h) {
  h = w.mul(w.xorShift(h, 16), 0x85ebca6b);
  h = w.mul(w.xorShift(h, 13), 0xc2b2ae35);
  return w.xorShift(h, 16);
}

/// The random number at `index` of the sequence of `seed`, in [0, 1).
static Value getUniform(RowRegion &r, Value seed, Value index) {
  WordBuilder w(r);
  Value h = mix(w, w.bitXor(w.getLow(index), w.getLow(seed)));
  Value high = w.mul(w.getHigh(index), 0x9e3779b1);
  h = mix(w, w.add(w.add(h, high), w.getHigh(seed)));
  return r.mul(r.convert(w.shiftRight(h, 8)), r.constant(0x1p-24));
}

static ErrorOr<RowWiseFormulas> getDropout(const RowWiseProblem &p) {
  const bool writesMask = p.mode == 1;
  Status status = expectTensors(p, writesMask ? "iiioo" : "iiio");
  if (status.isOk())
    status = expectMode(p, 2);
  if (status.isOk() && (p.tensors[1].type != DataType::I64 ||
                        p.tensors[2].type != DataType::I64))
    status = invalidArgument("seed and counter of dropout are i64");
  if (!status.isOk())
    return status;
  RowWiseFormulas formulas;
  formulas.scalarCount = 2;
  formulas.map = [writesMask](RowRegion &r) -> Values {
    OpBuilder &b = r.getBuilder();
    Value index =
        arith::AddIOp::create(b, r.getLoc(), r.elementIndex(), r.input(2));
    Value number = getUniform(r, r.input(1), index);
    Value isKept = arith::CmpFOp::create(
        b, r.getLoc(), arith::CmpFPredicate::OGE, number, r.scalar(0));
    Value scaled = r.mul(r.scalar(1), r.get(0));
    Values values = {
        arith::SelectOp::create(b, r.getLoc(), isKept, scaled, r.constant(0))};
    if (writesMask)
      values.push_back(
          arith::ExtUIOp::create(b, r.getLoc(), b.getI32Type(), isKept));
    return values;
  };
  return formulas;
}

static ErrorOr<RowWiseFormulas> getDropoutMask(const RowWiseProblem &p) {
  Status status = expectTensors(p, "iio");
  if (status.isOk() && p.tensors[1].type != DataType::I8)
    status = invalidArgument("the mask of dropout is i8");
  if (!status.isOk())
    return status;
  RowWiseFormulas formulas;
  formulas.scalarCount = 1;
  formulas.map = [](RowRegion &r) -> Values {
    OpBuilder &b = r.getBuilder();
    Value zero =
        arith::ConstantOp::create(b, r.getLoc(), b.getI32IntegerAttr(0));
    Value isKept = arith::CmpIOp::create(
        b, r.getLoc(), arith::CmpIPredicate::ne, r.input(1), zero);
    return {arith::SelectOp::create(
        b, r.getLoc(), isKept, r.mul(r.scalar(0), r.get(0)), r.constant(0))};
  };
  return formulas;
}

static ErrorOr<RowWiseFormulas> getDropoutAdvance(const RowWiseProblem &p) {
  Status status = expectTensors(p, "io");
  if (status.isOk() && (p.tensors[0].type != DataType::I64 ||
                        p.tensors[1].type != DataType::I64))
    status = invalidArgument("the counter of dropout is i64");
  if (!status.isOk())
    return status;
  RowWiseFormulas formulas;
  formulas.scalarCount = 3;
  formulas.map = [](RowRegion &r) -> Values {
    OpBuilder &b = r.getBuilder();
    Value count = r.integerOfPieces(0, b.getI64Type());
    return {arith::AddIOp::create(b, r.getLoc(), r.input(0), count)};
  };
  return formulas;
}

ErrorOr<RowWiseFormulas> tessera::getDropoutFormulas(const RowWiseProblem &p) {
  switch (p.op) {
  case RowWiseKind::Dropout:
    return getDropout(p);
  case RowWiseKind::DropoutMask:
    return getDropoutMask(p);
  default:
    return getDropoutAdvance(p);
  }
}

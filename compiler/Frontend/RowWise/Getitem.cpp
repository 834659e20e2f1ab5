//===- Getitem.cpp - The gradient of indexing -----------------------------===//
//
// No element of the gradient is written by two threads: each adds up what the
// indices lead to it, so that sums are rounded once and are the same in every
// run (docs/spec/row-wise.md).
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/RowWise/RowWiseFormulas.h"
#include "runtime/Base/RowWiseKind.h"

using namespace mlir;
using namespace tessera;
using arith::CmpFPredicate;

using Values = SmallVector<Value>;

/// The number of each element in the space.
static RowWiseFormulas getNumber(const RowWiseProblem &p) {
  const bool isLong = p.tensors[0].type == DataType::I64;
  RowWiseFormulas f;
  f.map = [isLong](RowRegion &r) -> Values {
    OpBuilder &b = r.getBuilder();
    Value number = r.elementIndex();
    if (isLong)
      return {number};
    return {arith::TruncIOp::create(b, r.getLoc(), b.getI32Type(), number)};
  };
  return f;
}

/// A negative index counts from the end.
static Value fromBegin(RowRegion &r, Value index, Value length) {
  return r.select(CmpFPredicate::OLT, index, r.constant(0),
                  r.add(index, length), index);
}

/// The tensors are dy, `count` pairs of an index and the number of the row's
/// element that it is compared with, the old gradient and the new one.
static RowWiseFormulas getBackward(int count) {
  RowWiseFormulas f;
  f.scalarCount = count;
  f.reductions.push_back({{dnn::ReduceKind::Sum}, [count](RowRegion &r) {
                            Value zero = r.constant(0), value = r.get(0);
                            for (int i = 0; i < count; ++i) {
                              Value index =
                                  fromBegin(r, r.get(1 + 2 * i), r.scalar(i));
                              value = r.select(CmpFPredicate::OEQ, index,
                                               r.get(2 + 2 * i), value, zero);
                            }
                            return Values{value};
                          }});
  f.row = [count](RowRegion &r) {
    return Values{r.add(r.get(1 + 2 * count), r.result(0))};
  };
  return f;
}

/// -1 if an index is outside its dimension, else the old value.
static RowWiseFormulas getError(const RowWiseProblem &p) {
  const DataType type = p.tensors[2].type;
  RowWiseFormulas f;
  f.scalarCount = 1;
  f.reductions.push_back({{dnn::ReduceKind::Max}, [](RowRegion &r) {
                            Value zero = r.constant(0), one = r.constant(1);
                            Value index = fromBegin(r, r.get(0), r.scalar(0));
                            Value isBelow = r.select(CmpFPredicate::OLT, index,
                                                     zero, one, zero);
                            return Values{r.select(CmpFPredicate::OGE, index,
                                                   r.scalar(0), one, isBelow)};
                          }});
  f.row = [type](RowRegion &r) {
    Value error = r.select(CmpFPredicate::OGT, r.result(0), r.constant(0),
                           r.constant(-1), r.get(1));
    return Values{r.round(error, type)};
  };
  return f;
}

ErrorOr<RowWiseFormulas> tessera::getGetitemFormulas(const RowWiseProblem &p) {
  constexpr uint32_t kMost = 3;
  auto make = [&](std::string_view roles,
                  RowWiseFormulas formulas) -> ErrorOr<RowWiseFormulas> {
    Status status = expectTensors(p, roles);
    if (!status.isOk())
      return status;
    return formulas;
  };
  if (p.op != RowWiseKind::GetitemBackward) {
    if (Status status = expectMode(p, 1); !status.isOk())
      return status;
    return p.op == RowWiseKind::Number ? make("o", getNumber(p))
                                       : make("iir", getError(p));
  }
  if (p.mode < 1 || p.mode > kMost)
    return invalidArgument(std::string(getName(p.op)) +
                           " has the modes 1 to 3, not " +
                           std::to_string(p.mode));
  std::string roles = "i";
  for (uint32_t i = 0; i < p.mode; ++i)
    roles += "ii";
  return make(roles + "ir", getBackward(static_cast<int>(p.mode)));
}

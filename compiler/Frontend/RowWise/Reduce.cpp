//===- Reduce.cpp - Reductions of rows ------------------------------------===//
//
// The bits of the mode are those of docs/spec/row-wise.md; the scalars are
// alpha and beta. If beta is not zero, the old result is an additional input.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/RowWise/RowWiseFormulas.h"
#include "runtime/Base/RowWiseKind.h"

using namespace mlir;
using namespace tessera;
using dnn::ReduceKind;

using Values = SmallVector<Value>;

namespace {
enum ReduceOp : uint32_t {
  kAdd,
  kMul,
  kMin,
  kMax,
  kAMax,
  kAvg,
  kNorm1,
  kNorm2
};
enum ReduceBit : uint32_t {
  kOpMask = 7,
  kKeepsNan = 8,     ///< An extreme is a NaN if any element is.
  kHasIndices = 16,  ///< An extreme's index is written, too.
  kSkipsNan = 32,    ///< A sum or product ignores NaNs.
  kOnlyIndices = 64, ///< Only an extreme's index is written.
  kAllBits = 127,
};
} // namespace

static bool isExtreme(uint32_t mode) {
  const uint32_t op = mode & kOpMask;
  return op == kMin || op == kMax || op == kAMax;
}

static bool hasIndices(uint32_t mode) {
  return mode & (kHasIndices | kOnlyIndices);
}

static ReduceKind getKind(uint32_t mode) {
  const bool keepsNan = mode & kKeepsNan;
  switch (mode & kOpMask) {
  case kMul:
    return ReduceKind::Product;
  case kMin:
    return hasIndices(mode) ? ReduceKind::ArgMin
           : keepsNan       ? ReduceKind::Min
                            : ReduceKind::MinNum;
  case kMax:
  case kAMax:
    return hasIndices(mode) ? ReduceKind::ArgMax
           : keepsNan       ? ReduceKind::Max
                            : ReduceKind::MaxNum;
  default:
    return ReduceKind::Sum;
  }
}

/// The value of an element that is reduced.
static Value getTerm(RowRegion &r, uint32_t mode) {
  Value x = r.get(0);
  const uint32_t op = mode & kOpMask;
  if (op == kAMax || op == kNorm1)
    x = r.abs(x);
  if (op == kNorm2)
    x = r.mul(x, x);
  auto replaceNan = [&](double value) {
    x = r.select(arith::CmpFPredicate::UNO, x, x, r.constant(value), x);
  };
  if (mode & kSkipsNan)
    replaceNan(op == kMul ? 1 : 0);
  // ArgMax and ArgMin treat a NaN as the best value, so it is replaced.
  if (hasIndices(mode) && !(mode & kKeepsNan))
    replaceNan(op == kMin ? INFINITY : -INFINITY);
  return x;
}

/// The index of the extreme in its row, in the type of the output `indices`.
static Value getRowIndex(RowRegion &r, DataType type) {
  Value index = r.result(1);
  if (type != DataType::I64)
    return index;
  OpBuilder &b = r.getBuilder();
  return arith::ExtSIOp::create(b, r.getLoc(), b.getI64Type(), index);
}

static RowWiseFormulas getFormulas(const RowWiseProblem &p) {
  const uint32_t mode = p.mode;
  const bool hasOld = p.tensors[1].role == RowRole::Input;
  const int output = hasOld ? 2 : 1;
  const auto length = static_cast<double>(p.getRowLength());
  const DataType indexType = p.tensors[p.tensorCount - 1].type;
  RowWiseFormulas f;
  f.scalarCount = 2;
  f.reductions.push_back({{getKind(mode)}, [=](RowRegion &r) {
                            return Values{getTerm(r, mode)};
                          }});
  f.row = [=](RowRegion &r) {
    if (mode & kOnlyIndices)
      return Values{getRowIndex(r, indexType)};
    Value result = r.result(0);
    if ((mode & kOpMask) == kAvg)
      result = r.mul(result, r.constant(1 / length));
    if ((mode & kOpMask) == kNorm2)
      result = r.sqrt(result);
    result = r.mul(r.scalar(0), result);
    if (hasOld)
      result = r.add(result, r.mul(r.scalar(1), r.get(1)));
    Values values{r.toTensor(output, result)};
    if (mode & kHasIndices)
      values.push_back(getRowIndex(r, indexType));
    return values;
  };
  return f;
}

ErrorOr<RowWiseFormulas> tessera::getReduceFormulas(const RowWiseProblem &p) {
  Status status = expectMode(p, kAllBits + 1);
  if (status.isOk() && (hasIndices(p.mode) || p.mode & kKeepsNan) &&
      !isExtreme(p.mode))
    status = invalidArgument("only a minimum or maximum keeps NaNs or has "
                             "indices");
  if (!status.isOk())
    return status;
  std::string roles = p.tensorCount > 1 && p.tensors[1].role == RowRole::Input &&
                              !(p.mode & kOnlyIndices)
                          ? "iir"
                          : "ir";
  if (p.mode & kHasIndices)
    roles += "r";
  status = expectTensors(p, roles);
  if (!status.isOk())
    return status;
  return getFormulas(p);
}

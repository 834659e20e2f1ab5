//===- Reduce.cpp - Reductions as primitives ------------------------------===//
//
// The bits of the mode are those of docs/spec/rows.md; scalars are alpha and
// beta. An old result is an input of its own, where beta counts.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/Rows/RowFormulas.h"
#include "runtime/Base/RowOp.h"

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
  kKeepsNan = 8,     ///< Of an extreme.
  kHasIndices = 16,  ///< Of an extreme: where it is, too.
  kSkipsNan = 32,    ///< Of a sum or product.
  kOnlyIndices = 64, ///< Of an extreme: where it is.
  kAllBits = 127,
};
} // namespace

static bool isExtreme(uint32_t mode) {
  const uint32_t op = mode & kOpMask;
  return op == kMin || op == kMax || op == kAMax;
}

static bool hasPlaces(uint32_t mode) {
  return mode & (kHasIndices | kOnlyIndices);
}

static ReduceKind getKind(uint32_t mode) {
  const bool keepsNan = mode & kKeepsNan;
  switch (mode & kOpMask) {
  case kMul:
    return ReduceKind::Product;
  case kMin:
    return hasPlaces(mode) ? ReduceKind::ArgMin
           : keepsNan      ? ReduceKind::Min
                           : ReduceKind::MinNum;
  case kMax:
  case kAMax:
    return hasPlaces(mode) ? ReduceKind::ArgMax
           : keepsNan      ? ReduceKind::Max
                           : ReduceKind::MaxNum;
  default:
    return ReduceKind::Sum;
  }
}

/// What is reduced of an element.
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
  // Places are those of the largest, and no number is larger than a NaN.
  if (hasPlaces(mode) && !(mode & kKeepsNan))
    replaceNan(op == kMin ? INFINITY : -INFINITY);
  return x;
}

/// The number of an element in the row, as the indices have it.
static Value getPlace(RowRegion &r, DataType type) {
  Value place = r.result(1);
  if (type != DataType::I64)
    return place;
  OpBuilder &b = r.getBuilder();
  return arith::ExtSIOp::create(b, r.getLoc(), b.getI64Type(), place);
}

static RowFormulas getFormulas(const RowProblem &p) {
  const uint32_t mode = p.mode;
  const bool hasOld = p.tensors[1].role == RowRole::Input;
  const int output = hasOld ? 2 : 1;
  const auto length = static_cast<double>(p.getRowLength());
  const DataType places = p.tensors[p.tensorCount - 1].type;
  RowFormulas f;
  f.scalarCount = 2;
  f.reductions.push_back({{getKind(mode)}, [=](RowRegion &r) {
                            return Values{getTerm(r, mode)};
                          }});
  f.row = [=](RowRegion &r) {
    if (mode & kOnlyIndices)
      return Values{getPlace(r, places)};
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
      values.push_back(getPlace(r, places));
    return values;
  };
  return f;
}

ErrorOr<RowFormulas> tessera::getReduceFormulas(const RowProblem &p) {
  Status status = expectMode(p, kAllBits + 1);
  if (status.isOk() && (hasPlaces(p.mode) || p.mode & kKeepsNan) &&
      !isExtreme(p.mode))
    status = invalidArgument("only an extreme has a place");
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

//===- Reduce.cpp - Rows as one number ------------------------------------===//

#include "dialect/Reference/RowWise/RowWiseEvaluators.h"

using namespace tessera::reference;

namespace {
enum ReduceOp { kAdd, kMul, kMin, kMax, kAMax, kAvg, kNorm1, kNorm2 };

/// The bits of the mode above the operation.
enum ReduceBit : uint32_t {
  kKeepsNan = 8,
  kHasIndices = 16,
  kSkipsNan = 32,
  kOnlyIndices = 64,
};

struct Extreme {
  double value;
  int64_t index;
};
} // namespace

/// Returns the first of the largest or smallest elements, or of those with the
/// largest magnitude.
static Extreme findExtreme(Row &row, ReduceOp op) {
  const bool keepsNan = row.getMode() & kKeepsNan;
  Extreme best{op == kMin ? INFINITY : -INFINITY, 0};
  bool isFound = false;
  for (int64_t i = 0; i < row.getLength(); ++i) {
    const double x = op == kAMax ? std::fabs(row.get(0, i)) : row.get(0, i);
    if (std::isnan(x)) {
      if (keepsNan)
        return {x, i};
      continue;
    }
    if (!isFound || (op == kMin ? x < best.value : x > best.value))
      best = {x, i};
    isFound = true;
  }
  return best;
}

static Approx sumUp(Row &row, ReduceOp op) {
  ApproxSum sum;
  Approx product = 1;
  for (int64_t i = 0; i < row.getLength(); ++i) {
    Approx x = row.get(0, i);
    if (std::isnan(x.value) && (row.getMode() & kSkipsNan))
      continue;
    if (op == kMul)
      product = product * x;
    else
      sum.add(op == kNorm1 ? abs(x) : op == kNorm2 ? x * x : x);
  }
  if (op == kMul)
    return product;
  if (op == kAvg)
    return sum.get() / static_cast<double>(row.getLength());
  return op == kNorm2 ? sqrt(sum.get()) : sum.get();
}

/// The tensors are a, the old c if beta is not 0, c, and the indices.
void tessera::reference::evaluateReduce(Row &row) {
  const auto op = static_cast<ReduceOp>(row.getMode() & 7);
  const bool isExtreme = op == kMin || op == kMax || op == kAMax;
  const Extreme extreme = isExtreme ? findExtreme(row, op) : Extreme{};
  const bool hasOld = row.getTensor(1).role == RowRole::Input;
  const int output = hasOld ? 2 : 1;
  if (row.getMode() & kOnlyIndices)
    return row.set(output, static_cast<double>(extreme.index));
  Approx result = Approx(row.getScalar(0)) *
                  (isExtreme ? Approx(extreme.value) : sumUp(row, op));
  if (hasOld)
    result = result + Approx(row.getScalar(1)) * row.get(1);
  row.set(output, result);
  if (row.getMode() & kHasIndices)
    row.set(output + 1, static_cast<double>(extreme.index));
}

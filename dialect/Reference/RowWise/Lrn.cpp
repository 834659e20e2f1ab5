//===- Lrn.cpp - Rows are the windows of local response normalisation -----===//

#include "dialect/Reference/RowWise/RowWiseEvaluators.h"

using namespace tessera::reference;

namespace {
/// The bits of the mode.
enum : uint32_t {
  kHasSums = 1, ///< The window holds partial sums already.
  kSaves = 2,   ///< lrn_fwd: stores the scale.
};
} // namespace

/// Returns the sum of the squares in a window, or of its elements if these are
/// sums of squares.
static Approx addSquares(const Row &row, bool areSquares) {
  ApproxSum sum;
  for (int64_t i = 0; i < row.getLength(); ++i) {
    const Approx x = row.get(0, i);
    sum.add(areSquares ? x : x * x);
  }
  return sum.get();
}

void tessera::reference::evaluateLrnSum(Row &row) {
  row.set(1, addSquares(row, false));
}

/// The tensors are window, x, optionally scale, and y; the scalars are alpha
/// divided by the window's size, beta, k.
void tessera::reference::evaluateLrnForward(Row &row) {
  const Approx sum = addSquares(row, row.getMode() & kHasSums);
  const Approx scale =
      Approx(row.getScalar(2)) + Approx(row.getScalar(0)) * sum;
  int next = 2;
  if (row.getMode() & kSaves)
    row.set(next++, scale);
  row.set(next, Approx(row.get(1)) * pow(scale, -row.getScalar(1)));
}

/// Returns the sum of dy y / scale, which are three windows, or of the elements
/// of one window of such sums.
static Approx addRatios(const Row &row, bool areRatios) {
  ApproxSum sum;
  for (int64_t i = 0; i < row.getLength(); ++i)
    sum.add(areRatios ? Approx(row.get(0, i))
                      : Approx(row.get(0, i)) * row.get(1, i) / row.get(2, i));
  return sum.get();
}

void tessera::reference::evaluateLrnBackwardSum(Row &row) {
  row.set(3, addRatios(row, false));
}

/// The tensors are the windows of dy, y and scale, or one of their sums, then
/// dy, x and scale of the element, and dx. The scalars are 2 alpha beta divided
/// by the window's size, and beta.
void tessera::reference::evaluateLrnBackward(Row &row) {
  const bool hasSums = row.getMode() & kHasSums;
  const int first = hasSums ? 1 : 3;
  const Approx sum = addRatios(row, hasSums);
  const Approx direct =
      Approx(row.get(first)) * pow(row.get(first + 2), -row.getScalar(1));
  row.set(first + 3,
          direct - Approx(row.getScalar(0)) * row.get(first + 1) * sum);
}

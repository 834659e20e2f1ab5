//===- Elementwise.cpp - Sums, products and copies of elements ------------===//

#include "dialect/Reference/RowWise/RowWiseEvaluators.h"

using namespace tessera::reference;

namespace {
/// The mode of op_tensor.
enum OpTensorMode { kAdd, kMultiply, kLeast, kMost };
} // namespace

static Approx combine(uint32_t mode, Approx a, Approx b) {
  switch (mode) {
  case kAdd:
    return a + b;
  case kMultiply:
    return a * b;
  case kLeast:
    return min(a, b);
  default:
    return max(a, b);
  }
}

/// c = op(alpha1 a, alpha2 b) + beta c. If beta is not 0, the old c is the
/// third tensor.
void tessera::reference::evaluateOpTensor(Row &row) {
  const int c = row.getTensorCount() - 1;
  for (int64_t i = 0; i < row.getLength(); ++i) {
    Approx result =
        combine(row.getMode(), Approx(row.getScalar(0)) * row.get(0, i),
                Approx(row.getScalar(1)) * row.get(1, i));
    if (c == 3)
      result = result + Approx(row.getScalar(2)) * row.get(2, i);
    row.set(c, i, result);
  }
}

/// A float is given as one scalar. An integer is given in three pieces of 22
/// bits, the most significant first, because an f32 can hold such a piece.
static double getNumber(const Row &row, int first, ElementType type) {
  if (!isInteger(type))
    return row.getScalar(first);
  constexpr double kPiece = 0x1p22;
  return (row.getScalar(first) * kPiece + row.getScalar(first + 1)) * kPiece +
         row.getScalar(first + 2);
}

void tessera::reference::evaluateSetTensor(Row &row) {
  for (int64_t i = 0; i < row.getLength(); ++i)
    row.set(0, i, getNumber(row, 0, row.getTensor(0).type));
}

/// y = alpha y. The old y is the first tensor.
void tessera::reference::evaluateScaleTensor(Row &row) {
  for (int64_t i = 0; i < row.getLength(); ++i)
    row.set(1, i, Approx(row.getScalar(0)) * row.get(0, i));
}

/// y = x in mode 0; otherwise y = alpha x + beta y, where the old y follows x
/// if beta is not 0.
void tessera::reference::evaluateTransformTensor(Row &row) {
  const int y = row.getTensorCount() - 1;
  for (int64_t i = 0; i < row.getLength(); ++i) {
    Approx result = row.get(0, i);
    if (row.getMode() != 0)
      result = Approx(row.getScalar(0)) * result;
    if (y == 2)
      result = result + Approx(row.getScalar(1)) * row.get(1, i);
    row.set(y, i, result);
  }
}

//===----------------------------------------------------------------------===//
// Gated linear units
//===----------------------------------------------------------------------===//

static Approx getLogistic(Approx v) {
  return Approx(1) / (Approx(1) + exp(-v));
}

/// y = a logistic(b).
void tessera::reference::evaluateGluForward(Row &row) {
  for (int64_t i = 0; i < row.getLength(); ++i)
    row.set(2, i, Approx(row.get(0, i)) * getLogistic(row.get(1, i)));
}

/// The tensors are a, b, dy, da, db.
void tessera::reference::evaluateGluBackward(Row &row) {
  for (int64_t i = 0; i < row.getLength(); ++i) {
    const Approx gate = getLogistic(row.get(1, i));
    const Approx da = Approx(row.get(2, i)) * gate;
    row.set(3, i, da);
    row.set(4, i, da * (Approx(1) - gate) * row.get(0, i));
  }
}

/// The tensors are x, w, dy, and those of dw and dx that are present. dw is a
/// row output.
void tessera::reference::evaluatePReluBackward(Row &row) {
  ApproxSum sum;
  for (int64_t i = 0; i < row.getLength(); ++i) {
    const bool isAbove = row.get(0, i) > 0;
    const Approx dy = row.get(2, i);
    sum.add(isAbove ? 0 : dy * row.get(0, i));
    const int dx = row.getTensorCount() - 1;
    if (row.getTensor(dx).role == RowRole::Output)
      row.set(dx, i, isAbove ? dy : dy * row.get(1, i));
  }
  if (row.getTensor(3).role == RowRole::RowOutput)
    row.set(3, sum.get());
}

/// The elements are pairs (a, b), rotated by angles that are given as pairs of
/// cosine and sine, and rotated back in mode 1.
void tessera::reference::evaluateRope(Row &row) {
  for (int64_t i = 0; i < row.getLength(); ++i) {
    auto get = [&](int tensor) { return Approx(row.get(tensor, i)); };
    const bool isBack = row.getMode() == 1;
    const Approx sinOfA = isBack ? -get(5) : get(4);
    const Approx sinOfB = isBack ? -get(4) : get(5);
    row.set(6, i, get(0) * get(2) - get(1) * sinOfA);
    row.set(7, i, get(1) * get(3) + get(0) * sinOfB);
  }
}

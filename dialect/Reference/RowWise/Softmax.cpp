//===- Softmax.cpp - Exponentials as parts of their sum -------------------===//

#include "dialect/Reference/RowWise/RowWiseEvaluators.h"

using namespace tessera::reference;

namespace {
/// The row's mode.
enum SoftmaxMode { kFast, kAccurate, kLog };
} // namespace

/// y = alpha softmax(x) + beta y. If beta is not 0, the old y is an input of
/// its own, which follows x.
void tessera::reference::evaluateSoftmaxForward(Row &row) {
  const int64_t length = row.getLength();
  const int y = row.getTensorCount() - 1;
  double largest = -INFINITY;
  for (int64_t i = 0; i < length; ++i)
    largest = std::fmax(largest, row.get(0, i));
  const double shift = row.getMode() == kFast ? 0 : largest;
  auto getDifference = [&](int64_t i) { return Approx(row.get(0, i)) - shift; };
  ApproxSum sum;
  for (int64_t i = 0; i < length; ++i)
    sum.add(exp(getDifference(i)));
  for (int64_t i = 0; i < length; ++i) {
    Approx result = row.getMode() == kLog ? getDifference(i) - log(sum.get())
                                          : exp(getDifference(i)) / sum.get();
    result = Approx(row.getScalar(0)) * result;
    if (y == 2)
      result = result + Approx(row.getScalar(1)) * row.get(1, i);
    row.set(y, i, result);
  }
}

/// dx = alpha times the gradient + beta dx. The tensors are y, dy, the old dx
/// if beta is not 0, and dx.
void tessera::reference::evaluateSoftmaxBackward(Row &row) {
  const bool isLog = row.getMode() == kLog;
  const int dx = row.getTensorCount() - 1;
  ApproxSum sum;
  for (int64_t i = 0; i < row.getLength(); ++i)
    sum.add(isLog ? Approx(row.get(1, i))
                  : Approx(row.get(0, i)) * row.get(1, i));
  for (int64_t i = 0; i < row.getLength(); ++i) {
    const Approx y = row.get(0, i), dy = row.get(1, i);
    Approx result = isLog ? dy - sum.get() * exp(y) : y * (dy - sum.get());
    result = Approx(row.getScalar(0)) * result;
    if (dx == 3)
      result = result + Approx(row.getScalar(1)) * row.get(2, i);
    row.set(dx, i, result);
  }
}

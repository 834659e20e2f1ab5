//===- Margin.cpp - Margin losses -----------------------------------------===//

#include "dialect/Reference/RowWise/RowWiseEvaluators.h"

using namespace tessera::reference;

/// ln(1 + e^(-x t)).
static Approx getSoftMargin(const Row &row, int64_t i) {
  const Approx argument = -(Approx(row.get(0, i)) * row.get(1, i));
  return activate(Activation::SoftRelu, {}, argument);
}

/// The tensors are x, t and, in mode 0, the losses, in mode 1 their sum times
/// the scalar.
void tessera::reference::evaluateSoftMargin(Row &row) {
  ApproxSum sum;
  for (int64_t i = 0; i < row.getLength(); ++i)
    if (row.getMode() == 0)
      row.set(2, i, getSoftMargin(row, i));
    else
      sum.add(getSoftMargin(row, i));
  if (row.getMode() == 1)
    row.set(2, Approx(row.getScalar(0)) * sum.get());
}

/// The tensors are x, t, dy, dx; the scalar is a factor of dx.
void tessera::reference::evaluateSoftMarginGradient(Row &row) {
  for (int64_t i = 0; i < row.getLength(); ++i) {
    const Approx t = row.get(1, i);
    const Approx slope =
        activate(Activation::Logistic, {}, -(Approx(row.get(0, i)) * t));
    row.set(3, i, -(t * slope * row.get(2, i) * Approx(row.getScalar(0))));
  }
}

/// The tensors are x, the target, the weights of classes, the loss; the scalar
/// is the margin and the mode one less than the power.
void tessera::reference::evaluateMultiMargin(Row &row) {
  const double target = row.get(1);
  if (!(target >= 0 && target < static_cast<double>(row.getLength()))) {
    row.set(3, std::nan(""));
    return;
  }
  const auto y = static_cast<int64_t>(target);
  ApproxSum sum;
  for (int64_t i = 0; i < row.getLength(); ++i) {
    if (i == y)
      continue;
    Approx loss = max(Approx(row.getScalar(0)) - row.get(0, y) + row.get(0, i),
                      Approx(0));
    sum.add(row.getMode() == 1 ? loss * loss : loss);
  }
  row.set(3, Approx(row.get(2, y)) * sum.get() /
                 static_cast<double>(row.getLength()));
}

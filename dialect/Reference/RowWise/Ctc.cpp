//===- Ctc.cpp - The steps of a CTC loss ----------------------------------===//

#include "dialect/Reference/RowWise/RowWiseEvaluators.h"

using namespace tessera::reference;

/// The logarithm of the probability 0 (docs/spec/row-wise.md).
static constexpr double kLogZero = -1e30;

/// The tensors are the logarithms of probabilities, the label of the state, the
/// numbers of the classes, and the logarithm of the label's probability.
void tessera::reference::evaluateCtcGather(Row &row) {
  ApproxSum found;
  for (int64_t i = 0; i < row.getLength(); ++i)
    if (row.get(1) == row.get(2, i))
      found.add(row.get(0, i));
  row.set(3, row.get(1) < 0 ? kLogZero : max(found.get(), kLogZero));
}

/// The tensors are three old states, a flag for the third one, the logarithm of
/// the probability, the length of the sequence, and the new state; the scalar
/// is the time.
void tessera::reference::evaluateCtcStep(Row &row) {
  for (int64_t i = 0; i < row.getLength(); ++i) {
    if (row.getScalar(0) >= row.get(5, i)) {
      row.set(6, i, row.get(0, i));
      continue;
    }
    const double third = row.get(3, i) != 0 ? row.get(2, i) : kLogZero;
    const double most =
        std::fmax(std::fmax(row.get(0, i), row.get(1, i)), third);
    Approx sum = 0;
    for (double state : {row.get(0, i), row.get(1, i), third})
      sum = sum + exp(Approx(state) - most);
    const Approx next = Approx(most) + log(sum) + row.get(4, i);
    row.set(6, i, max(next, kLogZero));
  }
}

/// The tensors are the last states, flags of those that are final, and the
/// loss.
void tessera::reference::evaluateCtcLoss(Row &row) {
  double most = kLogZero;
  for (int64_t i = 0; i < row.getLength(); ++i)
    if (row.get(1, i) != 0)
      most = std::fmax(most, row.get(0, i));
  ApproxSum sum;
  for (int64_t i = 0; i < row.getLength(); ++i)
    if (row.get(1, i) != 0)
      sum.add(exp(Approx(row.get(0, i)) - most));
  const Approx loss = -(Approx(most) + log(sum.get()));
  row.set(2, loss.value > -kLogZero / 2 ? Approx(INFINITY) : loss);
}

/// The tensors are the states of both directions, the logarithm of the
/// probability, the loss and the length of the sequence, the time, and the
/// occupancy.
void tessera::reference::evaluateCtcOccupancy(Row &row) {
  for (int64_t i = 0; i < row.getLength(); ++i) {
    const bool isZero =
        row.get(5, i) >= row.get(4, i) || std::isinf(row.get(3, i));
    row.set(6, i,
            isZero ? 0
                   : exp(Approx(row.get(0, i)) + row.get(1, i) - row.get(2, i) +
                         row.get(3, i)));
  }
}

/// The tensors are the logarithm of the class's probability, the occupancy and
/// label of each state, the number of the class, the time, the length of the
/// sequence, and the gradient.
void tessera::reference::evaluateCtcGradient(Row &row) {
  ApproxSum sum;
  for (int64_t i = 0; i < row.getLength(); ++i)
    if (row.get(2, i) == row.get(3))
      sum.add(row.get(1, i));
  const Approx p = exp(Approx(row.get(0)));
  Approx gradient = row.getMode() == 0 ? p - sum.get() : -(sum.get() / p);
  if (row.getMode() == 1 && sum.get().value == 0)
    gradient = 0;
  row.set(6, row.get(4) < row.get(5) ? gradient : 0);
}

//===- Adam.cpp - Steps of Adam and AdamW ---------------------------------===//

#include "dialect/Reference/RowWise/RowWiseEvaluators.h"

using namespace tessera::reference;

namespace {
/// The bits of both modes (docs/spec/row-wise.md).
enum { kAmsgrad = 1, kMaximize = 2, kFirst = 4, kLast = 8, kFactors = 16 };
enum { kStep = 1, kScale = 2, kFlag = 4, kCorrects = 8, kTransformers = 16 };
} // namespace

/// A number that a kernel rounds to its arithmetic.
static Approx rounded(double value) { return {value, std::fabs(value)}; }

/// The tensors are the parameter, its gradient, the averages of gradients and
/// of their squares, the largest of these, three factors, and the new values
/// but of the gradient.
void tessera::reference::evaluateAdam(Row &row) {
  const uint32_t mode = row.getMode();
  const double beta1 = row.getScalar(0), beta2 = row.getScalar(1);
  const Approx decay = rounded(row.getScalar(3));
  const int factors = mode & kAmsgrad ? 5 : 4;
  const int outputs = factors + (mode & kFactors ? 3 : 0);
  for (int64_t i = 0; i < row.getLength(); ++i) {
    auto get = [&](int tensor) { return Approx(row.get(tensor, i)); };
    Approx x = get(0), g = get(1);
    Approx size = rounded(row.getScalar(4)), root = rounded(row.getScalar(5));
    if (mode & kFactors) {
      g = g * get(factors);
      size = get(factors + 1);
      root = get(factors + 2);
    }
    if (mode & kMaximize)
      g = -g;
    if (mode & kFirst)
      x = x - decay * x;
    else if (!(mode & kLast))
      g = g + decay * x;
    const Approx m = get(2) * beta1 + g * (Approx(1) - beta1);
    const Approx v = get(3) * beta2 + g * g * (Approx(1) - beta2);
    const Approx most = mode & kAmsgrad ? max(v, get(4)) : v;
    x = x - size * m / (sqrt(most) * root + row.getScalar(2));
    if (mode & kLast)
      x = x - decay * x;
    const bool isSkipped = mode & kFactors && row.get(factors, i) == 0;
    row.set(outputs, i, isSkipped ? get(0) : x);
    row.set(outputs + 1, i, isSkipped ? get(2) : m);
    row.set(outputs + 2, i, isSkipped ? get(3) : v);
    if (mode & kAmsgrad)
      row.set(outputs + 3, i, isSkipped ? get(4) : most);
  }
}

/// The tensors are the number of steps before, the scale of gradients, the flag
/// of infinities, and the new number and three factors for evaluateAdam().
void tessera::reference::evaluateAdamStep(Row &row) {
  const uint32_t mode = row.getMode();
  int next = 0;
  auto take = [&](uint32_t bit, double none) {
    return mode & bit ? row.get(next++) : none;
  };
  const double before = take(kStep, row.getScalar(3) - 1);
  const double scale = take(kScale, 1);
  const bool isSkipped = take(kFlag, 0) != 0;
  const double step = before + 1;
  const double first = 1 - std::pow(row.getScalar(0), step);
  const double root = std::sqrt(1 - std::pow(row.getScalar(1), step));
  double size = row.getScalar(2);
  if (mode & kCorrects)
    size *= (mode & kTransformers ? root : 1) / first;
  if (mode & kStep)
    row.set(next++, 0, isSkipped ? before : step);
  row.set(next++, 0, isSkipped ? Approx(0) : rounded(1 / scale));
  row.set(next++, 0, rounded(size));
  const bool hasRoot = mode & kCorrects && !(mode & kTransformers);
  row.set(next, 0, hasRoot ? rounded(1 / root) : Approx(1));
}

//===- Norm.cpp - Rows that are normalised independently ------------------===//
//
// These are layer norm, group norm, the layer norm of T5, which does not
// subtract the mean, and the statistics alone.
//
//===----------------------------------------------------------------------===//

#include "dialect/Reference/RowWise/RowWiseEvaluators.h"

using namespace tessera::reference;

namespace {
/// The bits of the mode of norm_fwd, which say which tensors exist. They follow
/// x in this order; y is the last.
enum : uint32_t {
  kAdds = 1,
  kHasWeight = 2,
  kHasBias = 4,
  kSavesMean = 8,
  kSavesInverse = 16,
  kIsT5 = 32, ///< Divides by the root of the mean square.
};
} // namespace

/// The tensors are x, mean and variance.
void tessera::reference::evaluateMoments(Row &row) {
  const ApproxMoments moments = ApproxMoments::of(
      row.getLength(), [&](int64_t i) { return Approx(row.get(0, i)); });
  row.set(1, moments.mean);
  row.set(2, moments.squares / static_cast<double>(row.getLength()));
}

void tessera::reference::evaluateNormForward(Row &row) {
  const uint32_t mode = row.getMode();
  const auto count = static_cast<double>(row.getLength());
  int next = 1;
  auto getCoords = [&](uint32_t bit) { return mode & bit ? next++ : -1; };
  const int other = getCoords(kAdds), weight = getCoords(kHasWeight),
            bias = getCoords(kHasBias), savedMean = getCoords(kSavesMean),
            savedInverse = getCoords(kSavesInverse), y = next;
  auto getElement = [&](int64_t i) {
    const Approx x = row.get(0, i);
    return other < 0 ? x : x + row.get(other, i);
  };
  Approx mean, square;
  if (mode & kIsT5) {
    ApproxSum sum;
    for (int64_t i = 0; i < row.getLength(); ++i)
      sum.add(getElement(i) * getElement(i));
    square = sum.get() / count;
  } else {
    const ApproxMoments moments =
        ApproxMoments::of(row.getLength(), getElement);
    mean = moments.mean;
    square = moments.squares / count;
  }
  const Approx inverse = rsqrt(square + row.getScalar(0));
  if (savedMean >= 0)
    row.set(savedMean, mean);
  if (savedInverse >= 0)
    row.set(savedInverse, inverse);
  for (int64_t i = 0; i < row.getLength(); ++i) {
    Approx value = (getElement(i) - mean) * inverse;
    if (weight >= 0)
      value = value * row.get(weight, i);
    if (bias >= 0)
      value = value + row.get(bias, i);
    row.set(y, i, value);
  }
}

/// The tensors are x, dy, mean, inverse, weight if the mode is 1, and dx.
void tessera::reference::evaluateNormBackward(Row &row) {
  const bool hasWeight = row.getMode() & 1;
  const auto count = static_cast<double>(row.getLength());
  const Approx mean = row.get(2), inverse = row.get(3);
  auto getNormal = [&](int64_t i) {
    return (Approx(row.get(0, i)) - mean) * inverse;
  };
  auto getGradient = [&](int64_t i) {
    const Approx dy = row.get(1, i);
    return hasWeight ? dy * row.get(4, i) : dy;
  };
  ApproxSum sum, product;
  for (int64_t i = 0; i < row.getLength(); ++i) {
    sum.add(getGradient(i));
    product.add(getGradient(i) * getNormal(i));
  }
  const Approx ofMean = sum.get() / count, ofVariance = product.get() / count;
  for (int64_t i = 0; i < row.getLength(); ++i)
    row.set(hasWeight ? 5 : 4, i,
            inverse * (getGradient(i) - ofMean - getNormal(i) * ofVariance));
}

/// The tensors are x, dy, mean, inverse, dweight and dbias. A row consists of
/// the elements that one weight multiplies.
void tessera::reference::evaluateNormBackwardWeight(Row &row) {
  ApproxSum weight, bias;
  for (int64_t i = 0; i < row.getLength(); ++i) {
    const Approx dy = row.get(1, i);
    weight.add((Approx(row.get(0, i)) - row.get(2, i)) * row.get(3, i) * dy);
    bias.add(dy);
  }
  row.set(4, weight.get());
  row.set(5, bias.get());
}

/// The tensors are x, dy, inverse, weight if the mode is 1, and dx.
void tessera::reference::evaluateT5Backward(Row &row) {
  const bool hasWeight = row.getMode() & 1;
  const Approx inverse = row.get(2);
  auto getGradient = [&](int64_t i) {
    const Approx dy = row.get(1, i);
    return hasWeight ? dy * row.get(3, i) : dy;
  };
  ApproxSum sum;
  for (int64_t i = 0; i < row.getLength(); ++i)
    sum.add(getGradient(i) * row.get(0, i));
  const Approx common =
      sum.get() * inverse * inverse / static_cast<double>(row.getLength());
  for (int64_t i = 0; i < row.getLength(); ++i)
    row.set(hasWeight ? 4 : 3, i,
            inverse * (getGradient(i) - Approx(row.get(0, i)) * common));
}

/// The tensors are x, dy, inverse, dw. A row consists of the elements that one
/// weight multiplies.
void tessera::reference::evaluateT5BackwardWeight(Row &row) {
  ApproxSum sum;
  for (int64_t i = 0; i < row.getLength(); ++i)
    sum.add(Approx(row.get(0, i)) * row.get(1, i) * row.get(2, i));
  row.set(3, sum.get());
}

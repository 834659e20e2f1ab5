//===- BatchNorm.cpp - Rows are what shares a mean and a variance ---------===//

#include "dialect/Reference/RowWise/RowWiseEvaluators.h"

using namespace tessera::reference;

namespace {
/// The bits of the mode above those of the activation.
enum : uint32_t {
  kActivationBits = 15,
  kTakesInverse = 16, ///< bnorm_infer: 1 / sqrt(v + epsilon) is given.
  kHasRunning = 16,   ///< bnorm_train
  kSaves = 32,        ///< bnorm_train
  kHasSaved = 16,     ///< bnorm_bwd
};

/// The statistics that normalise a row.
struct Statistics {
  Approx mean;
  Approx variance;
  Approx inverse; ///< 1 / standard deviation
};
} // namespace

static Activation getActivation(const Row &row) {
  return static_cast<Activation>(row.getMode() & kActivationBits);
}

/// Returns the parameters of the activation, which begin at scalar `first`.
static std::array<double, 3> getParameters(const Row &row, int first) {
  return {row.getScalar(first), row.getScalar(first + 1),
          row.getScalar(first + 2)};
}

/// Measures the first tensor.
static Statistics measure(const Row &row, double epsilon) {
  const ApproxMoments moments = ApproxMoments::of(
      row.getLength(), [&](int64_t i) { return Approx(row.get(0, i)); });
  const Approx variance =
      moments.squares / static_cast<double>(row.getLength());
  return {moments.mean, variance, rsqrt(variance + epsilon)};
}

/// The tensors are x, mean, variance, scale, bias, y; the scalars are epsilon
/// and those of the activation.
void tessera::reference::evaluateBatchNormInference(Row &row) {
  for (int64_t i = 0; i < row.getLength(); ++i) {
    const Approx given = row.get(2, i);
    const Approx inverse =
        row.getMode() & kTakesInverse ? given : rsqrt(given + row.getScalar(0));
    const Approx normal = (Approx(row.get(0, i)) - row.get(1, i)) * inverse;
    const Approx result = normal * row.get(3, i) + row.get(4, i);
    row.set(5, i, activate(getActivation(row), getParameters(row, 1), result));
  }
}

/// The tensors are x, scale, bias, then optionally the old and the new running
/// mean and variance, then optionally the saved mean and inverse, and y. The
/// scalars are epsilon, the weight of the new value in a running statistic, and
/// those of the activation.
void tessera::reference::evaluateBatchNormTraining(Row &row) {
  const Statistics statistics = measure(row, row.getScalar(0));
  int next = 3;
  if (row.getMode() & kHasRunning) {
    const auto count = static_cast<double>(row.getLength());
    const double factor = row.getScalar(1);
    // The variance of a single element cannot be corrected.
    const Approx unbiased = count > 1
                                ? statistics.variance * (count / (count - 1))
                                : statistics.variance;
    auto blend = [&](Approx old, Approx now) {
      return old * (1 - factor) + now * factor;
    };
    row.set(5, blend(row.get(3), statistics.mean));
    row.set(6, blend(row.get(4), unbiased));
    next = 7;
  }
  if (row.getMode() & kSaves) {
    row.set(next++, statistics.mean);
    row.set(next++, statistics.inverse);
  }
  for (int64_t i = 0; i < row.getLength(); ++i) {
    const Approx normal =
        (Approx(row.get(0, i)) - statistics.mean) * statistics.inverse;
    const Approx result = normal * row.get(1) + row.get(2);
    row.set(next, i,
            activate(getActivation(row), getParameters(row, 2), result));
  }
}

/// The tensors are x, dy, scale, bias if there is an activation, optionally the
/// saved mean and inverse, the gradients of scale and bias, and dx. The scalars
/// are epsilon and those of the activation.
void tessera::reference::evaluateBatchNormBackward(Row &row) {
  const Activation activation = getActivation(row);
  int next = activation == Activation::None ? 3 : 4;
  const Approx scale = row.get(2);
  Statistics statistics;
  if (row.getMode() & kHasSaved) {
    statistics.mean = row.get(next++);
    statistics.inverse = row.get(next++);
  } else {
    statistics = measure(row, row.getScalar(0));
  }
  auto getNormal = [&](int64_t i) {
    return (Approx(row.get(0, i)) - statistics.mean) * statistics.inverse;
  };
  /// The gradient of the normalised value.
  auto getGradient = [&](int64_t i) {
    const Approx dy = row.get(1, i);
    if (activation == Activation::None)
      return dy;
    return dy * differentiate(activation, getParameters(row, 1),
                              getNormal(i) * scale + row.get(3));
  };
  ApproxSum scaleSum, biasSum;
  for (int64_t i = 0; i < row.getLength(); ++i) {
    scaleSum.add(getGradient(i) * getNormal(i));
    biasSum.add(getGradient(i));
  }
  row.set(next++, scaleSum.get());
  row.set(next++, biasSum.get());
  const auto count = static_cast<double>(row.getLength());
  const Approx factor = scale * statistics.inverse;
  for (int64_t i = 0; i < row.getLength(); ++i)
    row.set(next, i,
            factor * (getGradient(i) -
                      (biasSum.get() + getNormal(i) * scaleSum.get()) / count));
}

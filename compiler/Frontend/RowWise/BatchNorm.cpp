//===- BatchNorm.cpp - Batch normalisation --------------------------------===//
//
// A row is the set of elements that share a mean and a variance. Region `row`
// computes everything that is the same for all elements of a row, so that
// inference costs a subtraction and two multiplications for each element.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/ActivationFormulas.h"
#include "compiler/Frontend/RowWise/RowWiseFormulas.h"
#include "runtime/Base/RowWiseKind.h"

#include <string>

using namespace mlir;
using namespace tessera;

namespace {
/// Bits of the mode above those of the activation.
enum : uint32_t {
  kActivationBits = 15,
  kTakesInverse = 16, ///< bnorm_infer
  kHasRunning = 16,   ///< bnorm_train
  kSaves = 32,        ///< bnorm_train
  kHasSaved = 16,     ///< bnorm_bwd
};

using Values = SmallVector<Value>;
} // namespace

static Activation getActivation(const RowWiseProblem &problem) {
  return static_cast<Activation>(problem.mode & kActivationBits);
}

static Status checkMode(const RowWiseProblem &problem, uint32_t bits) {
  if ((problem.mode & ~(kActivationBits | bits)) == 0 &&
      (problem.mode & kActivationBits) <=
          static_cast<uint32_t>(Activation::Clamp))
    return Status::ok();
  return invalidArgument("a batch normalisation has no mode " +
                         std::to_string(problem.mode));
}

/// Applies the activation, whose parameters begin at scalar `first`.
static Value activate(RowRegion &r, Activation activation, int first,
                      Value value) {
  return buildActivation(r, activation, value,
                         [&](int number) { return r.scalar(first + number); });
}

/// 1 / sqrt(variance + epsilon).
static Value invert(RowRegion &r, Value variance) {
  return r.rsqrt(r.add(variance, r.scalar(0)));
}

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

static ErrorOr<RowWiseFormulas>
getInferenceFormulas(const RowWiseProblem &problem) {
  Status status = expectTensors(problem, "iiiiio");
  if (status.isOk())
    status = checkMode(problem, kTakesInverse);
  if (!status.isOk())
    return status;
  const Activation activation = getActivation(problem);
  const bool takesInverse = problem.mode & kTakesInverse;
  RowWiseFormulas formulas;
  formulas.scalarCount = 1 + countParameters(activation);
  formulas.map = [=](RowRegion &r) -> Values {
    Value given = r.get(2);
    Value inverse = takesInverse ? given : invert(r, given);
    Value scale = r.mul(inverse, r.get(3));
    Value value = r.add(r.mul(r.sub(r.get(0), r.get(1)), scale), r.get(4));
    return {r.toTensor(5, activate(r, activation, 1, value))};
  };
  return formulas;
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

/// The new running value, old (1 - factor) + current factor. The factor is
/// MIOpen's expAvgFactor.
static Value updateRunning(RowRegion &r, Value old, Value current) {
  Value factor = r.scalar(1);
  return r.add(r.mul(old, r.sub(r.constant(1), factor)),
               r.mul(current, factor));
}

static ErrorOr<RowWiseFormulas>
getTrainingFormulas(const RowWiseProblem &problem) {
  const bool isRunning = problem.mode & kHasRunning;
  const bool saves = problem.mode & kSaves;
  const std::string roles =
      std::string(isRunning ? "iiiiirr" : "iii") + (saves ? "rr" : "") + "o";
  Status status = expectTensors(problem, roles);
  if (status.isOk())
    status = checkMode(problem, kHasRunning | kSaves);
  if (!status.isOk())
    return status;
  const Activation activation = getActivation(problem);
  const auto count = static_cast<double>(problem.getRowLength());
  const int y = problem.tensorCount - 1;
  RowWiseFormulas formulas;
  formulas.scalarCount = 2 + countParameters(activation);
  formulas.reductions.push_back(
      {{dnn::ReduceKind::Moments},
       [](RowRegion &r) -> Values { return {r.get(0)}; }});
  formulas.row = [=](RowRegion &r) -> Values {
    Value mean = r.result(0);
    Value variance = r.mul(r.result(1), r.constant(1 / count));
    Value inverse = invert(r, variance);
    Values yielded;
    if (isRunning) {
      // The variance of one element is not corrected, to avoid 0 / 0.
      Value unbiased =
          r.mul(r.result(1), r.constant(1 / (count > 1 ? count - 1 : count)));
      yielded.push_back(r.toTensor(5, updateRunning(r, r.get(3), mean)));
      yielded.push_back(r.toTensor(6, updateRunning(r, r.get(4), unbiased)));
    }
    if (saves) {
      yielded.push_back(r.toTensor(y - 2, mean));
      yielded.push_back(r.toTensor(y - 1, inverse));
    }
    yielded.push_back(r.mul(inverse, r.get(1)));
    return yielded;
  };
  formulas.map = [=](RowRegion &r) -> Values {
    Value value =
        r.add(r.mul(r.sub(r.get(0), r.result(0)), r.rowValue(0)), r.get(2));
    return {r.toTensor(y, activate(r, activation, 2, value))};
  };
  return formulas;
}

//===----------------------------------------------------------------------===//
// The gradient
//===----------------------------------------------------------------------===//

namespace {
/// The terms of the gradient's formulas. With p = x - mean, d the inverse of
/// the standard deviation and dy' the gradient of the normalisation's result,
/// the terms that are due to the mean and to the variance are subtracted:
///   dx = scale d (dy' - sum(dy') / count - p d^2 sum(dy' p) / count).
struct Gradient {
  Activation activation;
  bool hasSaved;
  int mean; ///< The tensor of the saved mean; the next one is the inverse.

  Value getMean(RowRegion &r) const {
    return hasSaved ? r.get(mean) : r.result(0);
  }
  Value getInverse(RowRegion &r, double count) const {
    if (hasSaved)
      return r.get(mean + 1);
    return invert(r, r.mul(r.result(1), r.constant(1 / count)));
  }
  Value getDifference(RowRegion &r) const {
    return r.sub(r.get(0), getMean(r));
  }
  /// dy', the gradient of the normalisation's result, before the activation.
  Value getGradient(RowRegion &r, double count) const {
    if (activation == Activation::None)
      return r.get(1);
    auto parameter = [&](int number) { return r.scalar(1 + number); };
    Value scale = r.mul(getInverse(r, count), r.get(2));
    Value before = r.add(r.mul(getDifference(r), scale), r.get(3));
    Value after = buildActivation(r, activation, before, parameter);
    return buildActivationGradient(r, activation, before, after, r.get(1),
                                   parameter);
  }
};
} // namespace

static ErrorOr<RowWiseFormulas>
getBackwardFormulas(const RowWiseProblem &problem) {
  const Activation activation = getActivation(problem);
  const bool isActivated = activation != Activation::None;
  const bool hasSaved = problem.mode & kHasSaved;
  const std::string roles = std::string(isActivated ? "iiii" : "iii") +
                            (hasSaved ? "ii" : "") + "rro";
  Status status = expectTensors(problem, roles);
  if (status.isOk())
    status = checkMode(problem, kHasSaved);
  if (!status.isOk())
    return status;
  const auto count = static_cast<double>(problem.getRowLength());
  const Gradient g{activation, hasSaved, isActivated ? 4 : 3};
  const int dx = problem.tensorCount - 1;
  const int sums = hasSaved ? 0 : 2; // The results after the moments.
  RowWiseFormulas formulas;
  formulas.scalarCount = 1 + countParameters(activation);
  if (!hasSaved)
    formulas.reductions.push_back(
        {{dnn::ReduceKind::Moments},
         [](RowRegion &r) -> Values { return {r.get(0)}; }});
  formulas.reductions.push_back({{dnn::ReduceKind::Sum, dnn::ReduceKind::Sum},
                                 [=](RowRegion &r) -> Values {
                                   Value gradient = g.getGradient(r, count);
                                   return {gradient,
                                           r.mul(gradient, g.getDifference(r))};
                                 }});
  formulas.row = [=](RowRegion &r) -> Values {
    Value inverse = g.getInverse(r, count);
    Value scaleGradient = r.mul(r.result(sums + 1), inverse);
    Value inverseCount = r.constant(1 / count);
    return {r.toTensor(dx - 2, scaleGradient),
            r.toTensor(dx - 1, r.result(sums)), r.mul(r.get(2), inverse),
            r.mul(r.result(sums), inverseCount),
            r.mul(r.mul(scaleGradient, inverse), inverseCount)};
  };
  formulas.map = [=](RowRegion &r) -> Values {
    Value common =
        r.add(r.rowValue(1), r.mul(g.getDifference(r), r.rowValue(2)));
    Value value = r.mul(r.rowValue(0), r.sub(g.getGradient(r, count), common));
    return {r.toTensor(dx, value)};
  };
  return formulas;
}

ErrorOr<RowWiseFormulas>
tessera::getBatchNormFormulas(const RowWiseProblem &problem) {
  switch (problem.op) {
  case RowWiseKind::BatchNormInference:
    return getInferenceFormulas(problem);
  case RowWiseKind::BatchNormTraining:
    return getTrainingFormulas(problem);
  default:
    return getBackwardFormulas(problem);
  }
}

//===- Norm.cpp - Normalisations with the statistics of each row ----------===//
//
// These are layer and group normalisation, T5's layer normalisation, which
// subtracts no mean, and the statistics alone.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/RowWise/RowWiseFormulas.h"
#include "runtime/Base/RowWiseKind.h"

#include <string>

using namespace mlir;
using namespace tessera;

namespace {
/// Bits of the mode of norm_fwd. They say which tensors exist; these come in
/// this order after x, and y is the last.
enum : uint32_t {
  kAdds = 1,
  kHasWeight = 2,
  kHasBias = 4,
  kSavesMean = 8,
  kSavesInverse = 16,
  kIsT5 = 32, ///< Divides by the root mean square.
  kModes = 64,
};

using Values = SmallVector<Value>;

/// The indices of the tensors of norm_fwd; -1 if there is none.
struct NormTensors {
  explicit NormTensors(uint32_t mode) {
    int next = 1;
    auto getIndex = [&](uint32_t bit) { return mode & bit ? next++ : -1; };
    other = getIndex(kAdds);
    weight = getIndex(kHasWeight);
    bias = getIndex(kHasBias);
    mean = getIndex(kSavesMean);
    inverse = getIndex(kSavesInverse);
    y = next;
  }

  std::string getRoles() const {
    std::string roles = "i";
    for (int input : {other, weight, bias})
      roles += input >= 0 ? "i" : "";
    for (int result : {mean, inverse})
      roles += result >= 0 ? "r" : "";
    return roles + "o";
  }
  Value getElement(RowRegion &r) const {
    return other < 0 ? r.get(0) : r.add(r.get(0), r.get(other));
  }

  int other, weight, bias, mean, inverse, y;
};
} // namespace

/// The tensors are x, mean and variance.
static ErrorOr<RowWiseFormulas> getMoments(const RowWiseProblem &problem) {
  if (Status status = expectMode(problem, 1); !status.isOk())
    return status;
  if (Status status = expectTensors(problem, "irr"); !status.isOk())
    return status;
  const auto count = static_cast<double>(problem.getRowLength());
  RowWiseFormulas formulas;
  formulas.reductions.push_back(
      {{dnn::ReduceKind::Moments},
       [](RowRegion &r) -> Values { return {r.get(0)}; }});
  formulas.row = [=](RowRegion &r) -> Values {
    Value variance = r.mul(r.result(1), r.constant(1 / count));
    return {r.toTensor(1, r.result(0)), r.toTensor(2, variance)};
  };
  return formulas;
}

static ErrorOr<RowWiseFormulas>
getForwardFormulas(const RowWiseProblem &problem) {
  if (Status status = expectMode(problem, kModes); !status.isOk())
    return status;
  const NormTensors t(problem.mode);
  if (Status status = expectTensors(problem, t.getRoles()); !status.isOk())
    return status;
  const bool isT5 = problem.mode & kIsT5;
  if (isT5 && t.mean >= 0)
    return invalidArgument("a T5 normalisation has no mean to save");
  const auto count = static_cast<double>(problem.getRowLength());
  RowWiseFormulas formulas;
  formulas.scalarCount = 1;
  formulas.reductions.push_back(
      {{isT5 ? dnn::ReduceKind::Sum : dnn::ReduceKind::Moments},
       [=](RowRegion &r) -> Values {
         Value x = t.getElement(r);
         return {isT5 ? r.mul(x, x) : x};
       }});
  formulas.row = [=](RowRegion &r) -> Values {
    Value square = r.mul(r.result(isT5 ? 0 : 1), r.constant(1 / count));
    Value inverse = r.rsqrt(r.add(square, r.scalar(0)));
    Values yielded;
    if (t.mean >= 0)
      yielded.push_back(r.toTensor(t.mean, r.result(0)));
    if (t.inverse >= 0)
      yielded.push_back(r.toTensor(t.inverse, inverse));
    yielded.push_back(inverse);
    return yielded;
  };
  formulas.map = [=](RowRegion &r) -> Values {
    Value x = t.getElement(r);
    Value value = r.mul(isT5 ? x : r.sub(x, r.result(0)), r.rowValue(0));
    if (t.weight >= 0)
      value = r.mul(value, r.get(t.weight));
    if (t.bias >= 0)
      value = r.add(value, r.get(t.bias));
    return {r.toTensor(t.y, value)};
  };
  return formulas;
}

/// With p = x - mean, d the inverse of the deviation and g = dy weight:
///   dx = d (g - sum(g) / count - p d^2 sum(g p) / count).
/// The tensors are x, dy, mean, inverse, weight if the mode is 1, and dx.
static ErrorOr<RowWiseFormulas> getBackward(const RowWiseProblem &problem) {
  if (Status status = expectMode(problem, 2); !status.isOk())
    return status;
  const bool hasWeight = problem.mode & 1;
  if (Status status = expectTensors(problem, hasWeight ? "iiiiio" : "iiiio");
      !status.isOk())
    return status;
  const auto count = static_cast<double>(problem.getRowLength());
  auto getGradient = [=](RowRegion &r) {
    return hasWeight ? r.mul(r.get(1), r.get(4)) : r.get(1);
  };
  auto getDifference = [](RowRegion &r) { return r.sub(r.get(0), r.get(2)); };
  RowWiseFormulas formulas;
  formulas.reductions.push_back(
      {{dnn::ReduceKind::Sum, dnn::ReduceKind::Sum},
       [=](RowRegion &r) -> Values {
         Value gradient = getGradient(r);
         return {gradient, r.mul(gradient, getDifference(r))};
       }});
  formulas.row = [=](RowRegion &r) -> Values {
    Value inverse = r.get(3), inverseCount = r.constant(1 / count);
    // The inverse's square alone may be beyond what a float holds.
    Value product = r.mul(r.mul(r.result(1), inverse), inverse);
    return {r.mul(r.result(0), inverseCount), r.mul(product, inverseCount)};
  };
  formulas.map = [=](RowRegion &r) -> Values {
    Value common = r.add(r.rowValue(0), r.mul(getDifference(r), r.rowValue(1)));
    Value value = r.mul(r.get(3), r.sub(getGradient(r), common));
    return {r.toTensor(problem.tensorCount - 1, value)};
  };
  return formulas;
}

/// The tensors are x, dy, mean, inverse, dweight and dbias. A row is what one
/// weight multiplies.
static ErrorOr<RowWiseFormulas>
getBackwardWeight(const RowWiseProblem &problem) {
  if (Status status = expectMode(problem, 1); !status.isOk())
    return status;
  if (Status status = expectTensors(problem, "iiiirr"); !status.isOk())
    return status;
  RowWiseFormulas formulas;
  formulas.reductions.push_back({{dnn::ReduceKind::Sum, dnn::ReduceKind::Sum},
                                 [](RowRegion &r) -> Values {
                                   Value normal = r.mul(
                                       r.sub(r.get(0), r.get(2)), r.get(3));
                                   return {r.mul(normal, r.get(1)), r.get(1)};
                                 }});
  formulas.row = [](RowRegion &r) -> Values {
    return {r.toTensor(4, r.result(0)), r.toTensor(5, r.result(1))};
  };
  return formulas;
}

/// With d the inverse of the root mean square and g = dy weight:
///   dx = d (g - x d^2 sum(g x) / count).
static ErrorOr<RowWiseFormulas> getT5Backward(const RowWiseProblem &problem) {
  if (Status status = expectMode(problem, 2); !status.isOk())
    return status;
  const bool hasWeight = problem.mode & 1;
  if (Status status = expectTensors(problem, hasWeight ? "iiiio" : "iiio");
      !status.isOk())
    return status;
  const auto count = static_cast<double>(problem.getRowLength());
  auto getGradient = [=](RowRegion &r) {
    return hasWeight ? r.mul(r.get(1), r.get(3)) : r.get(1);
  };
  RowWiseFormulas formulas;
  formulas.reductions.push_back(
      {{dnn::ReduceKind::Sum}, [=](RowRegion &r) -> Values {
         return {r.mul(getGradient(r), r.get(0))};
       }});
  formulas.row = [=](RowRegion &r) -> Values {
    Value inverse = r.get(2);
    Value square = r.mul(inverse, inverse);
    return {r.mul(r.mul(r.result(0), square), r.constant(1 / count))};
  };
  formulas.map = [=](RowRegion &r) -> Values {
    Value difference = r.sub(getGradient(r), r.mul(r.get(0), r.rowValue(0)));
    return {r.toTensor(problem.tensorCount - 1, r.mul(r.get(2), difference))};
  };
  return formulas;
}

static ErrorOr<RowWiseFormulas>
getT5BackwardWeight(const RowWiseProblem &problem) {
  if (Status status = expectTensors(problem, "iiir"); !status.isOk())
    return status;
  RowWiseFormulas formulas;
  formulas.reductions.push_back(
      {{dnn::ReduceKind::Sum}, [](RowRegion &r) -> Values {
         return {r.mul(r.mul(r.get(0), r.get(1)), r.get(2))};
       }});
  formulas.row = [](RowRegion &r) -> Values {
    return {r.toTensor(3, r.result(0))};
  };
  return formulas;
}

ErrorOr<RowWiseFormulas>
tessera::getNormFormulas(const RowWiseProblem &problem) {
  switch (problem.op) {
  case RowWiseKind::Moments:
    return getMoments(problem);
  case RowWiseKind::NormForward:
    return getForwardFormulas(problem);
  case RowWiseKind::NormBackward:
    return getBackward(problem);
  case RowWiseKind::NormBackwardWeight:
    return getBackwardWeight(problem);
  case RowWiseKind::T5Backward:
    return getT5Backward(problem);
  default:
    return getT5BackwardWeight(problem);
  }
}

//===- Adam.cpp - Steps of Adam and AdamW ---------------------------------===//
//
// `adam` is the step of each parameter. What is the same for all of them,
// `adam_step` computes before it where the number of the step or the scale of
// the gradients is in device memory (docs/spec/row-wise.md).
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/RowWise/RowWiseFormulas.h"
#include "runtime/Base/RowWiseKind.h"

using namespace mlir;
using namespace tessera;
using arith::CmpFPredicate;

using Values = SmallVector<Value>;

namespace {
/// Bits of the mode of `adam`.
enum AdamBit : uint32_t {
  kIsAmsgrad = 1,
  kIsMaximizing = 2,
  kDecaysFirst = 4,
  kDecaysLast = 8,
  kHasFactors = 16, ///< In tensors instead of scalars.
  kAllAdamBits = 31,
};
/// Bits of the mode of `adam_step`.
enum AdamStepBit : uint32_t {
  kHasStep = 1,
  kHasScale = 2,
  kHasFlag = 4,
  kCorrectsBias = 8,
  kIsTransformers = 16,
  kAllStepBits = 31,
};
/// The tensors of `adam` in front of those that it may lack.
enum AdamTensor { kParam, kGradient, kMean, kSquare, kFixed };
} // namespace

static Values getAdam(RowRegion &r, uint32_t mode) {
  auto scalar = [&](int i) { return r.scalar(i); };
  Value one = r.constant(1), zero = r.constant(0);
  Value beta1 = scalar(0), beta2 = scalar(1), epsilon = scalar(2),
        decay = scalar(3);
  int next = kFixed;
  Value oldMost = mode & kIsAmsgrad ? r.get(next++) : Value();
  const bool hasFactors = mode & kHasFactors;
  Value gradientFactor = hasFactors ? r.get(next++) : Value();
  Value stepSize = hasFactors ? r.get(next++) : scalar(4);
  Value rootFactor = hasFactors ? r.get(next++) : scalar(5);

  Value param = r.get(kParam), gradient = r.get(kGradient);
  if (hasFactors)
    gradient = r.mul(gradient, gradientFactor);
  if (mode & kIsMaximizing)
    gradient = r.sub(zero, gradient);
  if (mode & kDecaysFirst)
    param = r.sub(param, r.mul(decay, param));
  else if (!(mode & kDecaysLast))
    gradient = r.add(gradient, r.mul(decay, param));
  Value mean =
      r.add(r.mul(r.get(kMean), beta1), r.mul(gradient, r.sub(one, beta1)));
  Value square = r.add(r.mul(r.get(kSquare), beta2),
                       r.mul(r.mul(gradient, gradient), r.sub(one, beta2)));
  Value most = oldMost ? r.atLeast(square, oldMost) : square;
  Value divisor = r.add(r.mul(r.sqrt(most), rootFactor), epsilon);
  param = r.sub(param, r.div(r.mul(stepSize, mean), divisor));
  if (mode & kDecaysLast)
    param = r.sub(param, r.mul(decay, param));

  Values values{param, mean, square};
  Values old{r.get(kParam), r.get(kMean), r.get(kSquare)};
  if (oldMost) {
    values.push_back(most);
    old.push_back(oldMost);
  }
  // A factor of 0 means that there is no step.
  if (hasFactors)
    for (auto [value, before] : llvm::zip(values, old))
      value = r.select(CmpFPredicate::OEQ, gradientFactor, zero, before, value);
  return values;
}

/// 1 - beta^step in f64, because beta is close to 1.
static Value getCorrection(FloatBuilder &f, Value beta, Value step) {
  Value power = f.exp2(f.mul(step, f.log2(f.convert(beta))));
  return f.sub(f.constant(1), power);
}

static Values getAdamStep(RowRegion &r, uint32_t mode) {
  FloatBuilder f = getArithmetic(r, /*hasIntegers=*/true);
  int next = 0;
  auto take = [&](uint32_t bit) {
    return mode & bit ? f.convert(r.input(next++)) : Value();
  };
  Value old = take(kHasStep), scale = take(kHasScale), flag = take(kHasFlag);
  Value one = f.constant(1), zero = f.constant(0);
  Value step = old ? f.add(old, one) : f.convert(r.scalar(3));
  Value size = f.convert(r.scalar(2)), rootFactor = one;
  if (mode & kCorrectsBias) {
    Value first = getCorrection(f, r.scalar(0), step);
    Value root = f.sqrt(getCorrection(f, r.scalar(1), step));
    size = f.div(size, first);
    if (mode & kIsTransformers)
      size = f.mul(size, root);
    else
      rootFactor = f.div(one, root);
  }
  Value factor = scale ? f.div(one, scale) : one;
  if (flag) {
    factor = f.select(CmpFPredicate::ONE, flag, zero, zero, factor);
    step = old ? f.select(CmpFPredicate::ONE, flag, zero, old, step) : step;
  }
  Values values;
  if (old)
    values.push_back(r.round(step, DataType::I32));
  for (Value value : {factor, size, rootFactor})
    values.push_back(r.convert(value));
  return values;
}

ErrorOr<RowWiseFormulas> tessera::getAdamFormulas(const RowWiseProblem &p) {
  const uint32_t mode = p.mode;
  const bool isStep = p.op == RowWiseKind::AdamStep;
  std::string roles;
  if (isStep) {
    roles.assign(llvm::popcount(mode & (kHasStep | kHasScale | kHasFlag)), 'i');
    roles.append(mode & kHasStep ? "oooo" : "ooo");
  } else {
    const bool isAmsgrad = mode & kIsAmsgrad;
    roles.assign(kFixed + isAmsgrad + (mode & kHasFactors ? 3 : 0), 'i');
    roles.append(isAmsgrad ? "oooo" : "ooo");
  }
  Status status =
      expectMode(p, (isStep ? uint32_t(kAllStepBits) : kAllAdamBits) + 1);
  if (status.isOk())
    status = expectTensors(p, roles);
  if (!status.isOk())
    return status;
  RowWiseFormulas formulas;
  formulas.scalarCount = isStep || mode & kHasFactors ? 4 : 6;
  formulas.map = [=](RowRegion &r) {
    return isStep ? getAdamStep(r, mode) : getAdam(r, mode);
  };
  return formulas;
}

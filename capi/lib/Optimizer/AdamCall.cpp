//===- AdamCall.cpp - One step of Adam or AdamW ---------------------------===//

#include "capi/lib/Optimizer/AdamCall.h"

#include <cmath>
#include <string>

using namespace tessera;
using namespace tessera::capi;

namespace {
/// The bits of `adam` and of `adam_step` (docs/spec/row-wise.md).
enum : uint32_t {
  kAmsgrad = 1,
  kMaximize = 2,
  kDecaysFirst = 4,
  kDecaysLast = 8,
  kHasFactors = 16,
};
enum : uint32_t {
  kHasStep = 1,
  kHasScale = 2,
  kHasFlag = 4,
  kCorrectsBias = 8,
  kTransformers = 16,
};
} // namespace

static Status checkLike(const char *name, const AdamTensor &tensor,
                        const miopenTensorDescriptor &param, bool sameType) {
  Status status = checkSameLengths(name, *tensor.desc, "param", param);
  if (status.isOk() && sameType)
    status = checkSameType(name, *tensor.desc, "param", param);
  return status;
}

static Status checkSingle(const char *name, const AdamTensor &tensor) {
  if (!tensor.isThere())
    return Status::ok();
  int64_t elements = 1;
  for (int64_t length : tensor.desc->lengths)
    elements *= length;
  if (elements != 1)
    return invalidArgument(std::string(name) + " has " +
                           std::to_string(elements) + " elements, not 1");
  return Status::ok();
}

static Status check(const AdamCall &call) {
  const miopenTensorDescriptor &param = *call.param.desc;
  Status status = Status::ok();
  // Scaled gradients may be of another type.
  const bool isMixed = call.scale.desc || call.flag.desc || call.step.isThere();
  status = checkLike("grad", call.gradient, param, !isMixed);
  for (auto [name, tensor] :
       {std::pair("paramOut", &call.newParam), std::pair("expAvg", &call.mean),
        std::pair("expAvgOut", &call.newMean),
        std::pair("expAvgSq", &call.square),
        std::pair("expAvgSqOut", &call.newSquare),
        std::pair("maxExpAvgSq", &call.most),
        std::pair("maxExpAvgSqOut", &call.newMost)})
    if (status.isOk() && tensor->isThere())
      status = checkLike(name, *tensor, param, true);
  if (status.isOk() && call.isAmsgrad &&
      !(call.most.isThere() && call.newMost.isThere()))
    status = invalidArgument("AMSGrad needs maxExpAvgSq");
  if (status.isOk() && call.newHalf.isThere()) {
    status = checkLike("paramOutFloat16", call.newHalf, param, false);
    if (status.isOk() && call.newHalf.desc->dataType != miopenHalf)
      status = invalidArgument("paramOutFloat16 is not of miopenHalf");
  }
  for (auto [name, tensor] :
       {std::pair("stateStep", &call.step), std::pair("gradScale", &call.scale),
        std::pair("foundInf", &call.flag)})
    if (status.isOk())
      status = checkSingle(name, *tensor);
  if (status.isOk() && call.step.isThere()) {
    if (!call.newStep.isThere())
      return invalidArgument("stateStepOut is NULL, but stateStep is not");
    status = checkSingle("stateStepOut", call.newStep);
    for (const AdamTensor *step : {&call.step, &call.newStep})
      if (status.isOk() && step->desc->dataType != miopenInt32)
        status = invalidArgument("stateStep is not of miopenInt32");
  }
  return status;
}

/// The rate of the step before its bias is corrected.
static double getRate(const AdamCall &call) {
  return call.isTransformers && call.stepSize >= 0 ? call.stepSize : call.rate;
}

static bool correctsBias(const AdamCall &call) {
  return call.correctsBias && !(call.isTransformers && call.stepSize >= 0);
}

namespace {
/// What is the same for all parameters: numbers, or elements of device memory.
struct Factors {
  double stepSize = 0, root = 1;
  void *memory = nullptr; ///< Three elements, if it is not null.
  DataType type = DataType::F32;
};
} // namespace

static Factors computeFactors(const AdamCall &call) {
  Factors factors;
  factors.stepSize = getRate(call);
  if (!correctsBias(call))
    return factors;
  const double step = call.stepNumber;
  const double root = std::sqrt(1 - std::pow(double(call.beta2), step));
  factors.stepSize *= (call.isTransformers ? root : 1) /
                      (1 - std::pow(double(call.beta1), step));
  factors.root = call.isTransformers ? 1 : 1 / root;
  return factors;
}

/// Computes the factors on the device, and the new number of steps.
static ApiResult launchFactors(miopenHandle &handle, const AdamCall &call,
                               Factors &factors) {
  factors.type =
      call.param.desc->dataType == miopenDouble ? DataType::F64 : DataType::F32;
  const int64_t bytes = getByteSize(factors.type);
  const ErrorOr<void *> scratch =
      handle.getScratch(static_cast<size_t>(3 * bytes));
  if (!scratch)
    return scratch.getStatus();
  factors.memory = *scratch;
  uint32_t mode = (correctsBias(call) ? kCorrectsBias : 0) |
                  (call.isTransformers ? kTransformers : 0);
  for (auto [tensor, bit] :
       {std::pair(&call.step, kHasStep), std::pair(&call.scale, kHasScale),
        std::pair(&call.flag, kHasFlag)})
    mode |= tensor->isThere() ? bit : 0;
  constexpr int64_t one[] = {1};
  RowWiseCall rowCall(handle, RowWiseKind::AdamStep, mode, one);
  for (auto [name, tensor] :
       {std::pair("stateStep", &call.step), std::pair("gradScale", &call.scale),
        std::pair("foundInf", &call.flag)}) {
    if (!tensor->isThere())
      continue;
    const ErrorOr<DataType> type = getRowType(tensor->desc->dataType);
    if (!type)
      return type.getStatus().withContext(name);
    rowCall.add(RowRole::Input, name, *type, one, tensor->data);
  }
  if (call.step.isThere())
    rowCall.add(RowRole::Output, "stateStepOut", DataType::I32, one,
                call.newStep.data);
  for (int i = 0; i < 3; ++i)
    rowCall.add(RowRole::Output, "factor", factors.type, one,
                static_cast<const char *>(factors.memory) + i * bytes);
  return rowCall.scalar(call.beta1)
      .scalar(call.beta2)
      .scalar(getRate(call))
      .scalar(call.stepNumber)
      .run();
}

static uint32_t getMode(const AdamCall &call, const Factors &factors) {
  return (call.isAmsgrad ? kAmsgrad : 0) | (call.isMaximizing ? kMaximize : 0) |
         (call.isTransformers ? kDecaysLast
          : call.isDecoupled  ? kDecaysFirst
                              : 0) |
         (factors.memory ? kHasFactors : 0);
}

static ApiResult launchStep(miopenHandle &handle, const AdamCall &call,
                            const Factors &factors) {
  RowWiseCall rowCall(handle, RowWiseKind::Adam, getMode(call, factors),
                      call.param.desc->lengths);
  auto add = [&](RowRole role, const char *name, const AdamTensor &tensor) {
    rowCall.add(role, name, *tensor.desc, tensor.data);
  };
  add(RowRole::Input, "param", call.param);
  add(RowRole::Input, "grad", call.gradient);
  add(RowRole::Input, "expAvg", call.mean);
  add(RowRole::Input, "expAvgSq", call.square);
  if (call.isAmsgrad)
    add(RowRole::Input, "maxExpAvgSq", call.most);
  const std::vector<int64_t> same(call.param.desc->lengths.size(), 0);
  for (int i = 0; factors.memory && i < 3; ++i)
    rowCall.add(RowRole::Input, "factor", factors.type, same,
                static_cast<const char *>(factors.memory) +
                    i * getByteSize(factors.type));
  add(RowRole::Output, "param", call.newParam);
  add(RowRole::Output, "expAvg", call.newMean);
  add(RowRole::Output, "expAvgSq", call.newSquare);
  if (call.isAmsgrad)
    add(RowRole::Output, "maxExpAvgSq", call.newMost);
  const bool isDecoupled = call.isTransformers || call.isDecoupled;
  rowCall.scalar(call.beta1).scalar(call.beta2).scalar(call.epsilon);
  rowCall.scalar(isDecoupled ? double(call.rate) * call.decay : call.decay);
  if (!factors.memory)
    rowCall.scalar(factors.stepSize).scalar(factors.root);
  return rowCall.run();
}

ApiResult capi::runAdam(miopenHandle &handle, const AdamCall &call) {
  if (Status status = check(call); !status.isOk())
    return status;
  const KernelTimeSum sum(handle);
  Factors factors = computeFactors(call);
  ApiResult result = Status::ok();
  if (call.step.isThere() || call.scale.isThere() || call.flag.isThere())
    result = launchFactors(handle, call, factors);
  if (result.getStatus() == miopenStatusSuccess)
    result = launchStep(handle, call, factors);
  if (result.getStatus() != miopenStatusSuccess || !call.newHalf.isThere())
    return result;
  return RowWiseCall(handle, RowWiseKind::TransformTensor, 0,
                     call.param.desc->lengths)
      .add(RowRole::Input, "paramOut", *call.newParam.desc, call.newParam.data)
      .add(RowRole::Output, "paramOutFloat16", *call.newHalf.desc,
           call.newHalf.data)
      .run();
}

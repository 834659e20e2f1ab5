//===- BatchNormCall.cpp - One batch normalisation of any kind ------------===//
//
// The rows of the row-wise operation are channels, or single activations.
// The bits of the modes and the order of tensors and scalars are those of
// docs/spec/row-wise.md.
//
//===----------------------------------------------------------------------===//

#include "capi/lib/Normalization/BatchNormCall.h"

#include "capi/lib/Fusion/FusedConvolution.h"
#include "capi/lib/Common/Objects.h"

#include <string>

using namespace tessera;
using namespace tessera::capi;

namespace {
enum : uint32_t {
  kTakesInverse = 16,
  kHasRunning = 16,
  kSaves = 32,
  kHasSaved = 16,
};
} // namespace

static uint32_t getActivationMode(const BatchNormCall &call) {
  return static_cast<uint32_t>(getActivation(call.activation.mode));
}

/// Whether a mean is taken over the dimension.
static bool isReduced(const BatchNormCall &call, int dim) {
  return call.mode == miopenBNSpatial ? dim != 1 : dim == 0;
}

static Status checkTensors(const BatchNormCall &call, const TensorArg &other,
                           const char *name) {
  if (Status status = checkEnum(call.mode, miopenBNSpatial, "mode");
      !status.isOk())
    return status;
  const miopenTensorDescriptor &x = call.x.desc;
  if (x.getRank() < 3 || x.getRank() > kMaxRowRank)
    return invalidArgument("x has " + std::to_string(x.getRank()) +
                           " dimensions, not 3 to 5");
  if (Status status = checkSameLengths("x", x, name, other.desc);
      !status.isOk())
    return status;
  return checkSameType("x", x, name, other.desc);
}

namespace {
/// A RowWiseCall whose tensors may be parameters.
class Call {
public:
  Call(miopenHandle &handle, const BatchNormCall &call, RowWiseKind op,
       uint32_t mode)
      : call(call), rowCall(handle, op, mode, call.x.desc.lengths) {
    if (op == RowWiseKind::BatchNormInference)
      return;
    for (int dim = 0; dim < call.x.desc.getRank(); ++dim)
      if (isReduced(call, dim))
        rowCall.reduce(dim);
  }

  void add(RowRole role, const char *name, const TensorArg &tensor) {
    rowCall.add(role, name, tensor.desc, tensor.memory);
  }

  /// Adds a tensor with one element for each mean.
  void addParameter(RowRole role, const char *name,
                    const miopenTensorDescriptor &desc, const void *memory) {
    const miopenTensorDescriptor &x = call.x.desc;
    bool fits = desc.getRank() == x.getRank();
    for (int dim = 0; fits && dim < x.getRank(); ++dim)
      fits = desc.lengths[dim] == (isReduced(call, dim) ? 1 : x.lengths[dim]);
    if (!fits && status.isOk())
      status = invalidArgument(
          "the lengths of " + std::string(name) +
          " are not those that miopenDeriveBNTensorDescriptor() gives");
    rowCall.add(role, name, desc, memory);
  }
  void addParameter(RowRole role, const char *name, const TensorArg &tensor) {
    addParameter(role, name, tensor.desc, tensor.memory);
  }

  /// Launches with these scalars and then those of the activation.
  ApiResult run(std::initializer_list<double> scalars) {
    if (!status.isOk())
      return status;
    for (double scalar : scalars)
      rowCall.scalar(scalar);
    const miopenActivationDescriptor &a = call.activation;
    return rowCall.scalar(a.alpha).scalar(a.beta).scalar(a.gamma).run();
  }

private:
  const BatchNormCall &call;
  RowWiseCall rowCall;
  Status status = Status::ok();
};
} // namespace

ApiResult capi::run(miopenHandle &handle, const BatchNormCall &call,
                    const BatchNormTraining &t) {
  if (Status status = checkTensors(call, t.y, "y"); !status.isOk())
    return status;
  const bool isRunning = t.running.isThere() && t.updated.isThere();
  Call rowCall(handle, call, RowWiseKind::BatchNormTraining,
               getActivationMode(call) | (isRunning ? kHasRunning : 0) |
                   (t.saved.isThere() ? kSaves : 0));
  auto addPair = [&](RowRole role, const char *mean, const char *variance,
                     const StatisticPair &pair) {
    rowCall.addParameter(role, mean, t.meanDesc, pair.mean);
    rowCall.addParameter(role, variance, t.varianceDesc, pair.variance);
  };
  rowCall.add(RowRole::Input, "x", call.x);
  rowCall.addParameter(RowRole::Input, "bnScale", call.scale);
  rowCall.addParameter(RowRole::Input, "bnBias", t.bias);
  if (isRunning) {
    addPair(RowRole::Input, "the running mean", "the running variance",
            t.running);
    addPair(RowRole::RowOutput, "the new running mean",
            "the new running variance", t.updated);
  }
  if (t.saved.isThere())
    addPair(RowRole::RowOutput, "resultSaveMean", "resultSaveInvVariance",
            t.saved);
  rowCall.add(RowRole::Output, "y", t.y);
  return rowCall.run({call.epsilon, t.factor});
}

ApiResult capi::run(miopenHandle &handle, const BatchNormCall &call,
                    const BatchNormInference &i) {
  if (Status status = checkTensors(call, i.y, "y"); !status.isOk())
    return status;
  Call rowCall(handle, call, RowWiseKind::BatchNormInference,
               getActivationMode(call) | (i.takesInverse ? kTakesInverse : 0));
  rowCall.add(RowRole::Input, "x", call.x);
  rowCall.addParameter(RowRole::Input, "estimatedMean", i.mean);
  rowCall.addParameter(RowRole::Input, "estimatedVariance", i.variance);
  rowCall.addParameter(RowRole::Input, "bnScale", call.scale);
  rowCall.addParameter(RowRole::Input, "bnBias", i.bias);
  rowCall.add(RowRole::Output, "y", i.y);
  return rowCall.run({call.epsilon});
}

ApiResult capi::run(miopenHandle &handle, const BatchNormCall &call,
                    const BatchNormBackward &b) {
  for (auto [tensor, name] : {std::pair(&b.dy, "dy"), std::pair(&b.dx, "dx")})
    if (Status status = checkTensors(call, *tensor, name); !status.isOk())
      return status;
  const uint32_t activation = getActivationMode(call);
  Call rowCall(handle, call, RowWiseKind::BatchNormBackward,
               activation | (b.saved.isThere() ? kHasSaved : 0));
  rowCall.add(RowRole::Input, "x", call.x);
  rowCall.add(RowRole::Input, "dy", b.dy);
  rowCall.addParameter(RowRole::Input, "bnScale", call.scale);
  if (activation)
    rowCall.addParameter(RowRole::Input, "bnBias", b.bias);
  if (b.saved.isThere()) {
    rowCall.addParameter(RowRole::Input, "savedMean", b.meanDesc, b.saved.mean);
    rowCall.addParameter(RowRole::Input, "savedInvVariance", b.varianceDesc,
                         b.saved.variance);
  }
  rowCall.addParameter(RowRole::RowOutput, "resultBnScaleDiff", call.scale.desc,
                       b.scaleGradient);
  rowCall.addParameter(RowRole::RowOutput, "resultBnBiasDiff", b.bias.desc,
                       b.biasGradient);
  rowCall.add(RowRole::Output, "dx", b.dx);
  return rowCall.run({call.epsilon});
}

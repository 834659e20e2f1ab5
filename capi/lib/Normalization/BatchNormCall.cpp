//===- BatchNormCall.cpp - One batch normalisation of any kind ------------===//
//
// Rows are channels, or single activations. The bits of the modes and the order
// of tensors and scalars are those of docs/spec/rows.md.
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
/// A RowCall whose tensors may be parameters.
class Call {
public:
  Call(miopenHandle &handle, const BatchNormCall &call, RowOp op, uint32_t mode)
      : call(call), rows(handle, op, mode, call.x.desc.lengths) {
    if (op == RowOp::BatchNormInference)
      return;
    for (int dim = 0; dim < call.x.desc.getRank(); ++dim)
      if (isReduced(call, dim))
        rows.reduce(dim);
  }

  void add(RowRole role, const char *name, const TensorArg &tensor) {
    rows.add(role, name, tensor.desc, tensor.memory);
  }

  /// An element for each mean.
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
    rows.add(role, name, desc, memory);
  }
  void addParameter(RowRole role, const char *name, const TensorArg &tensor) {
    addParameter(role, name, tensor.desc, tensor.memory);
  }

  /// With these scalars and the activation's.
  ApiResult run(std::initializer_list<double> scalars) {
    if (!status.isOk())
      return status;
    for (double scalar : scalars)
      rows.scalar(scalar);
    const miopenActivationDescriptor &a = call.activation;
    return rows.scalar(a.alpha).scalar(a.beta).scalar(a.gamma).run();
  }

private:
  const BatchNormCall &call;
  RowCall rows;
  Status status = Status::ok();
};
} // namespace

ApiResult capi::run(miopenHandle &handle, const BatchNormCall &call,
                    const BatchNormTraining &t) {
  if (Status status = checkTensors(call, t.y, "y"); !status.isOk())
    return status;
  const bool isRunning = t.running.isThere() && t.updated.isThere();
  Call rows(handle, call, RowOp::BatchNormTraining,
            getActivationMode(call) | (isRunning ? kHasRunning : 0) |
                (t.saved.isThere() ? kSaves : 0));
  auto addPair = [&](RowRole role, const char *mean, const char *variance,
                     const StatisticPair &pair) {
    rows.addParameter(role, mean, t.meanDesc, pair.mean);
    rows.addParameter(role, variance, t.varianceDesc, pair.variance);
  };
  rows.add(RowRole::Input, "x", call.x);
  rows.addParameter(RowRole::Input, "bnScale", call.scale);
  rows.addParameter(RowRole::Input, "bnBias", t.bias);
  if (isRunning) {
    addPair(RowRole::Input, "the running mean", "the running variance",
            t.running);
    addPair(RowRole::RowOutput, "the new running mean",
            "the new running variance", t.updated);
  }
  if (t.saved.isThere())
    addPair(RowRole::RowOutput, "resultSaveMean", "resultSaveInvVariance",
            t.saved);
  rows.add(RowRole::Output, "y", t.y);
  return rows.run({call.epsilon, t.factor});
}

ApiResult capi::run(miopenHandle &handle, const BatchNormCall &call,
                    const BatchNormInference &i) {
  if (Status status = checkTensors(call, i.y, "y"); !status.isOk())
    return status;
  Call rows(handle, call, RowOp::BatchNormInference,
            getActivationMode(call) | (i.takesInverse ? kTakesInverse : 0));
  rows.add(RowRole::Input, "x", call.x);
  rows.addParameter(RowRole::Input, "estimatedMean", i.mean);
  rows.addParameter(RowRole::Input, "estimatedVariance", i.variance);
  rows.addParameter(RowRole::Input, "bnScale", call.scale);
  rows.addParameter(RowRole::Input, "bnBias", i.bias);
  rows.add(RowRole::Output, "y", i.y);
  return rows.run({call.epsilon});
}

ApiResult capi::run(miopenHandle &handle, const BatchNormCall &call,
                    const BatchNormBackward &b) {
  for (auto [tensor, name] : {std::pair(&b.dy, "dy"), std::pair(&b.dx, "dx")})
    if (Status status = checkTensors(call, *tensor, name); !status.isOk())
      return status;
  const uint32_t activation = getActivationMode(call);
  Call rows(handle, call, RowOp::BatchNormBackward,
            activation | (b.saved.isThere() ? kHasSaved : 0));
  rows.add(RowRole::Input, "x", call.x);
  rows.add(RowRole::Input, "dy", b.dy);
  rows.addParameter(RowRole::Input, "bnScale", call.scale);
  if (activation)
    rows.addParameter(RowRole::Input, "bnBias", b.bias);
  if (b.saved.isThere()) {
    rows.addParameter(RowRole::Input, "savedMean", b.meanDesc, b.saved.mean);
    rows.addParameter(RowRole::Input, "savedInvVariance", b.varianceDesc,
                      b.saved.variance);
  }
  rows.addParameter(RowRole::RowOutput, "resultBnScaleDiff", call.scale.desc,
                    b.scaleGradient);
  rows.addParameter(RowRole::RowOutput, "resultBnBiasDiff", b.bias.desc,
                    b.biasGradient);
  rows.add(RowRole::Output, "dx", b.dx);
  return rows.run({call.epsilon});
}

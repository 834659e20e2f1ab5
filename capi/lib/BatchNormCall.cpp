//===- BatchNormCall.cpp - One batch normalisation of any kind ------------===//
//
// Rows are channels, or single activations. The bits of the modes and the order
// of tensors and scalars are those of docs/spec/rows.md.
//
//===----------------------------------------------------------------------===//

#include "capi/lib/BatchNormCall.h"

#include "capi/lib/FusedConvolution.h"
#include "capi/lib/Objects.h"

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

static bool isSpatial(const BatchNormCall &call) {
  return call.mode == miopenBNSpatial;
}

static uint32_t getActivationMode(const BatchNormCall &call) {
  return static_cast<uint32_t>(getActivation(call.activation.mode));
}

/// Dimensions over which a mean is taken.
static uint32_t getReduced(const BatchNormCall &call) {
  const uint32_t all = (1u << call.x.desc.getRank()) - 1;
  return isSpatial(call) ? all & ~2u : 1u;
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
  if (other.desc.lengths != x.lengths)
    return invalidArgument(std::string("x and ") + name +
                           " have different lengths");
  if (other.desc.dataType != x.dataType)
    return invalidArgument(std::string("x and ") + name +
                           " have different data types");
  return Status::ok();
}

/// Adds a tensor of parameters: an element for each row.
static Status addParameter(RowCall &rows, const BatchNormCall &call,
                           RowRole role, const miopenTensorDescriptor &desc,
                           const void *memory) {
  const miopenTensorDescriptor &x = call.x.desc;
  const uint32_t reduced = getReduced(call);
  RowCall::Strides strides{};
  bool fits = desc.getRank() == x.getRank();
  for (int dim = 0; fits && dim < x.getRank(); ++dim) {
    const bool hasOne = reduced >> dim & 1;
    fits = desc.lengths[dim] == (hasOne ? 1 : x.lengths[dim]);
    strides[dim] = hasOne || x.lengths[dim] == 1 ? 0 : desc.strides[dim];
  }
  if (!fits)
    return invalidArgument("the lengths of a parameter are not those that "
                           "miopenDeriveBNTensorDescriptor() gives");
  rows.add(role, desc.dataType, strides, memory);
  return Status::ok();
}

/// The same for several.
static Status
addParameters(RowCall &rows, const BatchNormCall &call, RowRole role,
              std::initializer_list<
                  std::pair<const miopenTensorDescriptor *, const void *>>
                  tensors) {
  for (auto [desc, memory] : tensors)
    if (Status status = addParameter(rows, call, role, *desc, memory);
        !status.isOk())
      return status;
  return Status::ok();
}

static void addActivation(RowCall &rows, const BatchNormCall &call) {
  for (double parameter :
       {call.activation.alpha, call.activation.beta, call.activation.gamma})
    rows.addScalar(parameter);
}

ApiResult capi::run(miopenHandle &handle, const BatchNormCall &call,
                    const BatchNormTraining &t) {
  Status status = checkTensors(call, t.y, "y");
  if (!status.isOk())
    return status;
  const bool isRunning = t.running.isThere() && t.updated.isThere();
  RowCall rows(RowOp::BatchNormTraining,
               getActivationMode(call) | (isRunning ? kHasRunning : 0) |
                   (t.saved.isThere() ? kSaves : 0),
               call.x.desc.lengths, getReduced(call));
  rows.addInput(call.x.desc, call.x.memory);
  status = addParameters(
      rows, call, RowRole::Input,
      {{&call.scale.desc, call.scale.memory}, {&t.bias.desc, t.bias.memory}});
  auto addPair = [&](RowRole role, const StatisticPair &pair) {
    if (status.isOk())
      status = addParameters(
          rows, call, role,
          {{&t.meanDesc, pair.mean}, {&t.varianceDesc, pair.variance}});
  };
  if (isRunning) {
    addPair(RowRole::Input, t.running);
    addPair(RowRole::RowOutput, t.updated);
  }
  if (t.saved.isThere())
    addPair(RowRole::RowOutput, t.saved);
  if (!status.isOk())
    return status;
  rows.addOutput(t.y.desc, t.y.getOutput());
  rows.addScalar(call.epsilon);
  rows.addScalar(t.factor);
  addActivation(rows, call);
  return rows.run(handle);
}

ApiResult capi::run(miopenHandle &handle, const BatchNormCall &call,
                    const BatchNormInference &i) {
  Status status = checkTensors(call, i.y, "y");
  if (!status.isOk())
    return status;
  RowCall rows(RowOp::BatchNormInference,
               getActivationMode(call) | (i.takesInverse ? kTakesInverse : 0),
               call.x.desc.lengths);
  rows.addInput(call.x.desc, call.x.memory);
  status = addParameters(rows, call, RowRole::Input,
                         {{&i.mean.desc, i.mean.memory},
                          {&i.variance.desc, i.variance.memory},
                          {&call.scale.desc, call.scale.memory},
                          {&i.bias.desc, i.bias.memory}});
  if (!status.isOk())
    return status;
  rows.addOutput(i.y.desc, i.y.getOutput());
  rows.addScalar(call.epsilon);
  addActivation(rows, call);
  return rows.run(handle);
}

ApiResult capi::run(miopenHandle &handle, const BatchNormCall &call,
                    const BatchNormBackward &b) {
  Status status = checkTensors(call, b.dy, "dy");
  if (status.isOk())
    status = checkTensors(call, b.dx, "dx");
  if (!status.isOk())
    return status;
  const uint32_t activation = getActivationMode(call);
  RowCall rows(RowOp::BatchNormBackward,
               activation | (b.saved.isThere() ? kHasSaved : 0),
               call.x.desc.lengths, getReduced(call));
  rows.addInput(call.x.desc, call.x.memory);
  rows.addInput(b.dy.desc, b.dy.memory);
  status = addParameter(rows, call, RowRole::Input, call.scale.desc,
                        call.scale.memory);
  if (status.isOk() && activation)
    status =
        addParameter(rows, call, RowRole::Input, b.bias.desc, b.bias.memory);
  if (status.isOk() && b.saved.isThere())
    status = addParameters(
        rows, call, RowRole::Input,
        {{&b.meanDesc, b.saved.mean}, {&b.varianceDesc, b.saved.variance}});
  if (status.isOk())
    status = addParameters(
        rows, call, RowRole::RowOutput,
        {{&call.scale.desc, b.scaleGradient}, {&b.bias.desc, b.biasGradient}});
  if (!status.isOk())
    return status;
  rows.addOutput(b.dx.desc, b.dx.getOutput());
  rows.addScalar(call.epsilon);
  addActivation(rows, call);
  return rows.run(handle);
}

//===- FusedBatchNorm.cpp - A plan that is a batch normalisation ----------===//

#include "capi/lib/Fusion/FusedBatchNorm.h"

#include "capi/lib/Normalization/BatchNormCall.h"

using namespace tessera;
using namespace tessera::capi;

using Kind = FusionOp::Kind;

static bool isNorm(const FusionOp &op) {
  return op.kind >= Kind::BatchNormInference;
}

/// Finds the normalisation among the operations of a plan; null if there is
/// none.
static const FusionOp *findNorm(const miopenFusionPlanDescriptor &plan) {
  for (const ObjectPtr<FusionOp> &op : plan.ops)
    if (isNorm(*op))
      return op.get();
  return nullptr;
}

/// Finds the activation or its gradient; null if there is none.
static const FusionOp *findActivation(const miopenFusionPlanDescriptor &plan) {
  for (const ObjectPtr<FusionOp> &op : plan.ops)
    if (op->kind == Kind::Activation || op->kind == Kind::ActivationBackward)
      return op.get();
  return nullptr;
}

bool capi::isFusedBatchNorm(const miopenFusionPlanDescriptor &plan) {
  const FusionOp *norm = findNorm(plan);
  if (!norm || plan.ops.size() > 2)
    return false;
  if (plan.ops.size() == 1)
    return true;
  const FusionOp *activation = findActivation(plan);
  if (!activation)
    return false;
  if (norm->kind == Kind::BatchNormBackward)
    return activation->kind == Kind::ActivationBackward;
  return activation->kind == Kind::Activation && norm == plan.ops[0].get();
}

/// The descriptor of parameters that miopenDeriveBNTensorDescriptor() gives.
static miopenTensorDescriptor deriveParameters(const miopenTensorDescriptor &x,
                                               miopenBatchNormMode_t mode) {
  miopenTensorDescriptor derived;
  derived.lengths = x.lengths;
  for (int dim = 0; dim < x.getRank(); ++dim)
    if (mode == miopenBNSpatial ? dim != 1 : dim == 0)
      derived.lengths[dim] = 1;
  derived.strides.resize(x.getRank());
  int64_t stride = 1;
  for (int dim = x.getRank() - 1; dim >= 0; --dim) {
    derived.strides[dim] = stride;
    stride *= derived.lengths[dim];
  }
  return derived;
}

/// The arguments of an operation; InvalidArgument if none were set.
static ErrorOr<miopenOperatorArgs::Values>
getValues(const miopenOperatorArgs &args, const FusionOp &op) {
  const auto found = args.values.find(&op);
  if (found == args.values.end())
    return invalidArgument("an operation of the plan has no arguments");
  return found->second;
}

static ErrorOr<miopenActivationDescriptor>
getActivation(const miopenFusionPlanDescriptor &plan,
              const miopenOperatorArgs &args) {
  const FusionOp *op = findActivation(plan);
  if (!op)
    return miopenActivationDescriptor{};
  const auto values = getValues(args, *op);
  if (!values)
    return values.getStatus();
  return miopenActivationDescriptor{
      {}, op->mode, values->alpha, values->beta, values->gamma};
}

ApiResult capi::executeBatchNorm(miopenHandle &handle,
                                 const miopenFusionPlanDescriptor &plan,
                                 const PlanData &data,
                                 const miopenOperatorArgs &args) {
  const FusionOp &op = *findNorm(plan);
  const auto values = getValues(args, op);
  const auto activation = getActivation(plan, args);
  if (!values || !activation)
    return values ? activation.getStatus() : values.getStatus();
  const miopenOperatorArgs::Values &v = *values;
  const miopenTensorDescriptor parameters =
      op.kind == Kind::BatchNormInference
          ? op.tensor
          : deriveParameters(plan.input, op.normMode);
  const TensorArg input{data.inputDesc, data.input};
  const TensorArg output{data.outputDesc, data.output};
  const TensorArg bias{parameters, v.bias};
  const BatchNormCall call{
      op.normMode, input, {parameters, v.scale}, v.epsilon, *activation};
  const StatisticPair statistics{v.mean, v.variance};
  switch (op.kind) {
  case Kind::BatchNormInference:
    return run(
        handle, call,
        BatchNormInference{
            output, bias, {parameters, v.mean}, {parameters, v.variance}});
  case Kind::BatchNormForward: {
    const StatisticPair running{v.runningMean, v.runningVariance};
    return run(handle, call,
               BatchNormTraining{output, bias, parameters, parameters, v.factor,
                                 running, running, statistics});
  }
  default: {
    const BatchNormCall gradient{
        op.normMode, {data.inputDesc, v.x}, call.scale, v.epsilon, *activation};
    return run(handle, gradient,
               BatchNormBackward{input, output, bias, v.scaleGradient,
                                 v.biasGradient, parameters, parameters,
                                 statistics});
  }
  }
}

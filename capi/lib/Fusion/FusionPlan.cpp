//===- FusionPlan.cpp - From a plan to a kernel ---------------------------===//

#include "capi/lib/Fusion/FusionPlan.h"

#include "capi/lib/Fusion/FusedBatchNorm.h"
#include "capi/lib/Fusion/FusedConvolution.h"

#include <algorithm>
#include <numeric>
#include <string>

using namespace tessera;
using namespace tessera::capi;

using Kind = FusionOp::Kind;

static const FusionOp *find(const miopenFusionPlanDescriptor &plan, Kind kind) {
  for (const ObjectPtr<FusionOp> &op : plan.ops)
    if (op->kind == kind)
      return op.get();
  return nullptr;
}

bool capi::isFusedConvolution(const miopenFusionPlanDescriptor &plan) {
  if (plan.ops.empty() || plan.ops[0]->kind != Kind::Convolution)
    return false;
  for (size_t i = 1; i < plan.ops.size(); ++i)
    if (plan.ops[i]->kind > Kind::LastOfConvolution ||
        plan.ops[i]->kind <= plan.ops[i - 1]->kind)
      return false;
  return true;
}

bool capi::isNormalizedConvolution(const miopenFusionPlanDescriptor &plan) {
  size_t next = 0;
  const auto take = [&](Kind kind) {
    const bool isNext = next < plan.ops.size() && plan.ops[next]->kind == kind;
    next += isNext;
    return isNext;
  };
  if (!take(Kind::Convolution))
    return false;
  take(Kind::Bias);
  if (!take(Kind::BatchNormInference))
    return false;
  take(Kind::Activation);
  return next == plan.ops.size();
}

/// The output that a plan is compiled for: packed, with its dimensions in the
/// order of the strides of the input. The client passes its own output when it
/// executes the plan.
static ErrorOr<miopenTensorDescriptor>
getOutput(const miopenFusionPlanDescriptor &plan) {
  const FusionOp &conv = *plan.ops[0];
  const ErrorOr<OutputLengths> lengths =
      getForwardOutputLengths(conv.conv, plan.input, conv.tensor);
  if (!lengths)
    return lengths.getStatus();
  const int rank = lengths->rank;
  miopenTensorDescriptor output;
  output.dataType = plan.input.dataType;
  output.lengths.assign(lengths->lengths.begin(),
                        lengths->lengths.begin() + rank);
  std::vector<int> order(rank); // The fastest dimension first.
  std::iota(order.begin(), order.end(), 0);
  const std::vector<int64_t> &strides = plan.input.strides;
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return strides[a] != strides[b] ? strides[a] < strides[b] : a > b;
  });
  output.strides.resize(rank);
  int64_t stride = 1;
  for (int dimension : order) {
    output.strides[dimension] = stride;
    if (__builtin_mul_overflow(stride, output.lengths[dimension], &stride))
      return notSupported("the output has more than 2^63 elements");
  }
  return output;
}

static ErrorOr<const LoadedKernel *>
preparePlan(miopenHandle &handle, const miopenFusionPlanDescriptor &plan,
            const miopenTensorDescriptor &output) {
  const FusionOp &conv = *plan.ops[0];
  const ConvolutionOperands operands{plan.input, conv.tensor, conv.conv,
                                     output};
  Epilogue epilogue;
  if (const FusionOp *bias = find(plan, Kind::Bias)) {
    if (Status status = checkBias(operands, bias->tensor); !status.isOk())
      return status;
    epilogue.bias = true;
  }
  // An activation behind a normalisation is in the kernel of that.
  if (const FusionOp *activation = find(plan, Kind::Activation);
      activation && isFusedConvolution(plan))
    epilogue.activation = getActivation(activation->mode);
  return prepareFused(handle, operands, epilogue);
}

ApiResult capi::compilePlan(miopenHandle &handle,
                            miopenFusionPlanDescriptor &plan) {
  if (isFusedBatchNorm(plan)) {
    // The kernel depends on the arguments, which say which statistics are
    // wanted. It is compiled when the plan is executed.
    plan.isCompiled = true;
    return Status::ok();
  }
  if (!isFusedConvolution(plan) && !isNormalizedConvolution(plan))
    return {miopenStatusUnsupportedOp, "no kernel fuses the " +
                                           std::to_string(plan.ops.size()) +
                                           " operations of the plan"};
  const ErrorOr<miopenTensorDescriptor> output = getOutput(plan);
  if (!output)
    return output.getStatus();
  const ErrorOr<const LoadedKernel *> kernel =
      preparePlan(handle, plan, *output);
  if (!kernel && kernel.getStatus().getCode() == StatusCode::NotSupported)
    return {miopenStatusUnsupportedOp, kernel.getStatus().getMessage()};
  plan.isCompiled = static_cast<bool>(kernel);
  return kernel.getStatus();
}

/// The launch arguments that the operations' arguments give.
static ErrorOr<LaunchArgs> getArgs(const miopenFusionPlanDescriptor &plan,
                                   const miopenOperatorArgs &args) {
  LaunchArgs launch;
  for (const ObjectPtr<FusionOp> &op : plan.ops) {
    const auto found = args.values.find(op.get());
    if (found == args.values.end())
      return invalidArgument("an operation of the plan has no arguments");
    const miopenOperatorArgs::Values &values = found->second;
    if (op->kind == Kind::Convolution) {
      launch.w = values.memory;
    } else if (op->kind == Kind::Bias) {
      launch.bias = values.memory;
    } else if (op->kind == Kind::Activation) {
      launch.activAlpha = values.alpha;
      launch.activBeta = values.beta;
      launch.activGamma = values.gamma;
    }
  }
  return launch;
}

ApiResult capi::executePlan(miopenHandle &handle,
                            const miopenFusionPlanDescriptor &plan,
                            const PlanData &data,
                            const miopenOperatorArgs &args) {
  if (!plan.isCompiled)
    return invalidArgument("the plan was not compiled");
  if (data.inputDesc.dataType != plan.input.dataType ||
      data.inputDesc.lengths != plan.input.lengths ||
      data.inputDesc.strides != plan.input.strides)
    return invalidArgument("the input is not that of the plan");
  if (isFusedBatchNorm(plan))
    return executeBatchNorm(handle, plan, data, args);
  const ErrorOr<const LoadedKernel *> kernel =
      preparePlan(handle, plan, data.outputDesc);
  if (!kernel)
    return kernel.getStatus();
  ErrorOr<LaunchArgs> launch = getArgs(plan, args);
  if (!launch)
    return launch.getStatus();
  launch->x = data.input;
  launch->y = data.output;
  launch->workspace = data.workspace;
  Status status = launchFused(handle, **kernel, *launch, data.workspaceBytes);
  if (!status.isOk() || isFusedConvolution(plan))
    return status;
  // The normalisation replaces the convolution's result, element by element.
  return executeBatchNorm(
      handle, plan,
      {data.outputDesc, data.output, data.outputDesc, data.output, nullptr, 0},
      args);
}

/// NotSupported unless the scale factors of an operation are 1 and 0. Clients
/// pass no others.
static Status checkFactors(const void *alpha, const void *beta) {
  if ((alpha && *static_cast<const float *>(alpha) != 1) ||
      (beta && *static_cast<const float *>(beta) != 0))
    return notSupported("only alpha = 1 and beta = 0 are implemented");
  return Status::ok();
}

Status capi::setArgs(miopenOperatorArgs &args, const FusionOp &op,
                     FusionOp::Kind kind, const void *alpha, const void *beta,
                     const miopenOperatorArgs::Values &values) {
  if (op.kind != kind)
    return invalidArgument("the operation is of another kind");
  if (Status status = checkFactors(alpha, beta); !status.isOk())
    return status;
  args.values.insert_or_assign(&op, values);
  return Status::ok();
}

//===- Fusion.cpp - miopen/fusion.h ---------------------------------------===//
//
// A plan is a list of operations. Two kinds of plans become one problem: a
// forward convolution with an optional bias and an optional activation, in this
// order, and a batch normalisation with an optional activation. Every other
// plan is an unsupported operation, and clients then run the operations one by
// one.
//
//===----------------------------------------------------------------------===//

#include <miopen/fusion.h>

#include "capi/lib/Common/Objects.h"
#include "capi/lib/Convolution/ConvolutionCall.h"
#include "capi/lib/Fusion/FusionPlan.h"

#include <utility>

using namespace tessera;
using namespace tessera::capi;

using Kind = FusionOp::Kind;

static Status append(miopenFusionPlanDescriptor &plan, FusionOp *&op,
                     FusionOp values) {
  plan.isCompiled = false;
  plan.ops.push_back(
      ObjectPtr<FusionOp>(makeObject<FusionOp>(std::move(values))));
  op = plan.ops.back().get();
  return Status::ok();
}

static Status appendActivation(miopenFusionPlanDescriptor &plan, FusionOp *&op,
                               miopenActivationMode_t mode, Kind kind) {
  if (Status status = checkEnum(mode, miopenActivationELU, "activation");
      !status.isOk())
    return status;
  return append(plan, op, {.kind = kind, .mode = mode});
}

static Status appendBatchNorm(miopenFusionPlanDescriptor &plan, FusionOp *&op,
                              miopenBatchNormMode_t mode, Kind kind,
                              const miopenTensorDescriptor &parameters = {}) {
  if (Status status = checkEnum(mode, miopenBNSpatial, "mode"); !status.isOk())
    return status;
  return append(plan, op,
                {.kind = kind, .tensor = parameters, .normMode = mode});
}

extern "C" {

miopenStatus_t
miopenCreateFusionPlan(miopenFusionPlanDescriptor_t *fusePlanDesc,
                       const miopenFusionDirection_t fuseDirection,
                       const miopenTensorDescriptor_t inputDesc) {
  return guard(__func__, REQUIRED(fusePlanDesc, inputDesc), [&]() -> ApiResult {
    if (Status status =
            checkEnum(fuseDirection, miopenHorizontalFusion, "direction");
        !status.isOk())
      return status;
    *fusePlanDesc =
        makeObject<miopenFusionPlanDescriptor>(ObjectTag(), *inputDesc);
    return Status::ok();
  });
}

miopenStatus_t
miopenDestroyFusionPlan(miopenFusionPlanDescriptor_t fusePlanDesc) {
  return destroyObject(__func__, REQUIRED(fusePlanDesc), fusePlanDesc);
}

miopenStatus_t
miopenCompileFusionPlan(miopenHandle_t handle,
                        miopenFusionPlanDescriptor_t fusePlanDesc) {
  return guard(__func__, REQUIRED(handle, fusePlanDesc), [&]() -> ApiResult {
    return compilePlan(*handle, *fusePlanDesc);
  });
}

miopenStatus_t miopenFusionPlanGetOp(miopenFusionPlanDescriptor_t fusePlanDesc,
                                     const int op_idx,
                                     miopenFusionOpDescriptor_t *op) {
  return guard(__func__, REQUIRED(fusePlanDesc, op), [&]() -> ApiResult {
    const auto &ops = fusePlanDesc->ops;
    if (op_idx < 0 || static_cast<size_t>(op_idx) >= ops.size())
      return invalidArgument("the plan has " + std::to_string(ops.size()) +
                             " operations, and none with the number " +
                             std::to_string(op_idx));
    *op = ops[op_idx].get();
    return Status::ok();
  });
}

miopenStatus_t miopenFusionPlanGetWorkSpaceSize(
    miopenHandle_t handle, miopenFusionPlanDescriptor_t fusePlanDesc,
    size_t *workSpaceSize, miopenConvFwdAlgorithm_t) {
  return guard(__func__, REQUIRED(handle, fusePlanDesc, workSpaceSize),
               [&]() -> ApiResult {
                 *workSpaceSize = 0;
                 return Status::ok();
               });
}

miopenStatus_t miopenFusionPlanConvolutionGetAlgo(
    miopenFusionPlanDescriptor_t fusePlanDesc, const int requestAlgoCount,
    int *returnedAlgoCount, miopenConvFwdAlgorithm_t *returnedAlgos) {
  return guard(__func__,
               REQUIRED(fusePlanDesc, returnedAlgoCount, returnedAlgos),
               [&]() -> ApiResult {
                 *returnedAlgoCount =
                     requestAlgoCount > 0 && isFusedConvolution(*fusePlanDesc);
                 if (*returnedAlgoCount)
                   *returnedAlgos = miopenConvolutionFwdAlgoDirect;
                 return Status::ok();
               });
}

miopenStatus_t
miopenFusionPlanConvolutionSetAlgo(miopenFusionPlanDescriptor_t fusePlanDesc,
                                   miopenConvFwdAlgorithm_t algo) {
  return guard(__func__, REQUIRED(fusePlanDesc), [&]() -> ApiResult {
    return checkAlgorithm(Direction::Forward, algo);
  });
}

miopenStatus_t
miopenCreateOpConvForward(miopenFusionPlanDescriptor_t fusePlanDesc,
                          miopenFusionOpDescriptor_t *convOp,
                          miopenConvolutionDescriptor_t convDesc,
                          const miopenTensorDescriptor_t wDesc) {
  return guard(__func__, REQUIRED(fusePlanDesc, convOp, convDesc, wDesc),
               [&]() -> ApiResult {
                 return append(*fusePlanDesc, *convOp,
                               {.kind = Kind::Convolution,
                                .conv = *convDesc,
                                .tensor = *wDesc});
               });
}

miopenStatus_t
miopenCreateOpActivationForward(miopenFusionPlanDescriptor_t fusePlanDesc,
                                miopenFusionOpDescriptor_t *activFwdOp,
                                miopenActivationMode_t mode) {
  return guard(__func__, REQUIRED(fusePlanDesc, activFwdOp),
               [&]() -> ApiResult {
                 return appendActivation(*fusePlanDesc, *activFwdOp, mode,
                                         Kind::Activation);
               });
}

miopenStatus_t
miopenCreateOpActivationBackward(miopenFusionPlanDescriptor_t fusePlanDesc,
                                 miopenFusionOpDescriptor_t *activBwdOp,
                                 miopenActivationMode_t mode) {
  return guard(__func__, REQUIRED(fusePlanDesc, activBwdOp),
               [&]() -> ApiResult {
                 return appendActivation(*fusePlanDesc, *activBwdOp, mode,
                                         Kind::ActivationBackward);
               });
}

miopenStatus_t
miopenCreateOpBiasForward(miopenFusionPlanDescriptor_t fusePlanDesc,
                          miopenFusionOpDescriptor_t *biasOp,
                          const miopenTensorDescriptor_t bDesc) {
  return guard(__func__, REQUIRED(fusePlanDesc, biasOp, bDesc),
               [&]() -> ApiResult {
                 return append(*fusePlanDesc, *biasOp,
                               {.kind = Kind::Bias, .tensor = *bDesc});
               });
}

miopenStatus_t miopenCreateOpBatchNormInference(
    miopenFusionPlanDescriptor_t fusePlanDesc, miopenFusionOpDescriptor_t *bnOp,
    const miopenBatchNormMode_t bn_mode,
    const miopenTensorDescriptor_t bnScaleBiasMeanVarDesc) {
  return guard(__func__, REQUIRED(fusePlanDesc, bnOp, bnScaleBiasMeanVarDesc),
               [&]() -> ApiResult {
                 return appendBatchNorm(*fusePlanDesc, *bnOp, bn_mode,
                                        Kind::BatchNormInference,
                                        *bnScaleBiasMeanVarDesc);
               });
}

miopenStatus_t
miopenCreateOpBatchNormForward(miopenFusionPlanDescriptor_t fusePlanDesc,
                               miopenFusionOpDescriptor_t *bnFwdOp,
                               const miopenBatchNormMode_t bn_mode, bool) {
  return guard(__func__, REQUIRED(fusePlanDesc, bnFwdOp), [&]() -> ApiResult {
    return appendBatchNorm(*fusePlanDesc, *bnFwdOp, bn_mode,
                           Kind::BatchNormForward);
  });
}

miopenStatus_t
miopenCreateOpBatchNormBackward(miopenFusionPlanDescriptor_t fusePlanDesc,
                                miopenFusionOpDescriptor_t *bnBwdOp,
                                const miopenBatchNormMode_t bn_mode) {
  return guard(__func__, REQUIRED(fusePlanDesc, bnBwdOp), [&]() -> ApiResult {
    return appendBatchNorm(*fusePlanDesc, *bnBwdOp, bn_mode,
                           Kind::BatchNormBackward);
  });
}

miopenStatus_t miopenCreateOperatorArgs(miopenOperatorArgs_t *args) {
  return createObject(__func__, REQUIRED(args), args);
}

miopenStatus_t miopenDestroyOperatorArgs(miopenOperatorArgs_t args) {
  return destroyObject(__func__, REQUIRED(args), args);
}

miopenStatus_t
miopenSetOpArgsConvForward(miopenOperatorArgs_t args,
                           const miopenFusionOpDescriptor_t convOp,
                           const void *alpha, const void *beta, const void *w) {
  return guard(__func__, REQUIRED(args, convOp, w), [&]() -> ApiResult {
    return setArgs(*args, *convOp, Kind::Convolution, alpha, beta, {w});
  });
}

miopenStatus_t miopenSetOpArgsBiasForward(
    miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t biasOp,
    const void *alpha, const void *beta, const void *bias) {
  return guard(__func__, REQUIRED(args, biasOp, bias), [&]() -> ApiResult {
    return setArgs(*args, *biasOp, Kind::Bias, alpha, beta, {bias});
  });
}

miopenStatus_t miopenSetOpArgsActivForward(
    miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t activFwdOp,
    const void *alpha, const void *beta, double activAlpha, double activBeta,
    double activGamma) {
  return guard(__func__, REQUIRED(args, activFwdOp), [&]() -> ApiResult {
    return setArgs(*args, *activFwdOp, Kind::Activation, alpha, beta,
                   {nullptr, activAlpha, activBeta, activGamma});
  });
}

miopenStatus_t miopenSetOpArgsActivBackward(
    miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t activBwdOp,
    const void *alpha, const void *beta, const void *, const void *,
    double activAlpha, double activBeta, double activGamma) {
  return guard(__func__, REQUIRED(args, activBwdOp), [&]() -> ApiResult {
    return setArgs(*args, *activBwdOp, Kind::ActivationBackward, alpha, beta,
                   {nullptr, activAlpha, activBeta, activGamma});
  });
}

miopenStatus_t miopenSetOpArgsBatchNormInference(
    miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t bnOp,
    const void *alpha, const void *beta, const void *bnScale,
    const void *bnBias, const void *estimatedMean,
    const void *estimatedVariance, double epsilon) {
  return guard(
      __func__,
      REQUIRED(args, bnOp, bnScale, bnBias, estimatedMean, estimatedVariance),
      [&]() -> ApiResult {
        return setArgs(*args, *bnOp, Kind::BatchNormInference, alpha, beta,
                       {.scale = bnScale,
                        .bias = bnBias,
                        .mean = estimatedMean,
                        .variance = estimatedVariance,
                        .epsilon = epsilon});
      });
}

miopenStatus_t miopenSetOpArgsBatchNormForward(
    miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t bnOp,
    const void *alpha, const void *beta, const void *bnScale,
    const void *bnBias, void *savedMean, void *savedInvVariance,
    void *runningMean, void *runningVariance, double expAvgFactor,
    double epsilon) {
  return guard(
      __func__, REQUIRED(args, bnOp, bnScale, bnBias), [&]() -> ApiResult {
        return setArgs(*args, *bnOp, Kind::BatchNormForward, alpha, beta,
                       {.scale = bnScale,
                        .bias = bnBias,
                        .mean = savedMean,
                        .variance = savedInvVariance,
                        .runningMean = runningMean,
                        .runningVariance = runningVariance,
                        .factor = expAvgFactor,
                        .epsilon = epsilon});
      });
}

miopenStatus_t miopenSetOpArgsBatchNormBackward(
    miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t bnOp,
    const void *alpha, const void *beta, const void *x, const void *bnScale,
    const void *bnBias, void *resultBnScaleDiff, void *resultBnBiasDiff,
    const void *savedMean, const void *savedInvVariance) {
  return guard(__func__,
               REQUIRED(args, bnOp, x, bnScale, bnBias, resultBnScaleDiff,
                        resultBnBiasDiff, savedMean, savedInvVariance),
               [&]() -> ApiResult {
                 return setArgs(*args, *bnOp, Kind::BatchNormBackward, alpha,
                                beta,
                                {.x = x,
                                 .scale = bnScale,
                                 .bias = bnBias,
                                 .mean = savedMean,
                                 .variance = savedInvVariance,
                                 .scaleGradient = resultBnScaleDiff,
                                 .biasGradient = resultBnBiasDiff});
               });
}

miopenStatus_t
miopenExecuteFusionPlan(const miopenHandle_t handle,
                        const miopenFusionPlanDescriptor_t fusePlanDesc,
                        const miopenTensorDescriptor_t inputDesc,
                        const void *input,
                        const miopenTensorDescriptor_t outputDesc, void *output,
                        miopenOperatorArgs_t args) {
  return miopenExecuteFusionPlan_v2(handle, fusePlanDesc, inputDesc, input,
                                    outputDesc, output, args, nullptr, 0);
}

miopenStatus_t miopenExecuteFusionPlan_v2(
    const miopenHandle_t handle,
    const miopenFusionPlanDescriptor_t fusePlanDesc,
    const miopenTensorDescriptor_t inputDesc, const void *input,
    const miopenTensorDescriptor_t outputDesc, void *output,
    miopenOperatorArgs_t args, void *workspace, size_t workspaceSize) {
  return guard(__func__,
               REQUIRED(handle, fusePlanDesc, inputDesc, input, outputDesc,
                        output, args),
               [&]() -> ApiResult {
                 return executePlan(*handle, *fusePlanDesc,
                                    {*inputDesc, input, *outputDesc, output,
                                     workspace, workspaceSize},
                                    *args);
               });
}

} // extern "C"

//===- Fusion.cpp - The plans of miopen/fusion.h --------------------------===//
//
// Clients build a plan, try to compile it and run its operations one by one
// if that is an unsupported operation, which it always is so far. A plan is
// what they build, and no more.
//
//===----------------------------------------------------------------------===//

#include <miopen/fusion.h>

#include "capi/lib/Objects.h"
#include "capi/lib/TensorDescriptor.h"

#include <memory>
#include <vector>

using namespace tessera;
using namespace tessera::capi;

/// An operation of a plan, which owns it.
struct miopenFusionOpDescriptor {};

/// Owned by the client.
struct miopenFusionPlanDescriptor {
  std::vector<std::unique_ptr<miopenFusionOpDescriptor>> ops;
};

/// Arguments of all operations. Owned by the client.
struct miopenOperatorArgs {};

static Status append(miopenFusionPlanDescriptor &plan,
                     miopenFusionOpDescriptor *&op) {
  plan.ops.push_back(std::make_unique<miopenFusionOpDescriptor>());
  op = plan.ops.back().get();
  return Status::ok();
}

static Status appendActivation(miopenFusionPlanDescriptor &plan,
                               miopenFusionOpDescriptor *&op,
                               miopenActivationMode_t mode) {
  if (Status status = checkEnum(mode, miopenActivationELU, "activation");
      !status.isOk())
    return status;
  return append(plan, op);
}

static Status appendBatchNorm(miopenFusionPlanDescriptor &plan,
                              miopenFusionOpDescriptor *&op,
                              miopenBatchNormMode_t mode) {
  if (Status status = checkEnum(mode, miopenBNSpatial, "mode"); !status.isOk())
    return status;
  return append(plan, op);
}

static Status notCompiled() {
  return invalidArgument("the plan was not compiled");
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
    *fusePlanDesc = new miopenFusionPlanDescriptor;
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
    return {miopenStatusUnsupportedOp,
            "no kernel fuses the " + std::to_string(fusePlanDesc->ops.size()) +
                " operations of the plan"};
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

miopenStatus_t
miopenFusionPlanConvolutionGetAlgo(miopenFusionPlanDescriptor_t fusePlanDesc,
                                   const int, int *returnedAlgoCount,
                                   miopenConvFwdAlgorithm_t *returnedAlgos) {
  return guard(__func__,
               REQUIRED(fusePlanDesc, returnedAlgoCount, returnedAlgos),
               [&]() -> ApiResult {
                 *returnedAlgoCount = 0;
                 return Status::ok();
               });
}

miopenStatus_t
miopenCreateOpConvForward(miopenFusionPlanDescriptor_t fusePlanDesc,
                          miopenFusionOpDescriptor_t *convOp,
                          miopenConvolutionDescriptor_t convDesc,
                          const miopenTensorDescriptor_t wDesc) {
  return guard(__func__, REQUIRED(fusePlanDesc, convOp, convDesc, wDesc),
               [&]() -> ApiResult { return append(*fusePlanDesc, *convOp); });
}

miopenStatus_t
miopenCreateOpActivationForward(miopenFusionPlanDescriptor_t fusePlanDesc,
                                miopenFusionOpDescriptor_t *activFwdOp,
                                miopenActivationMode_t mode) {
  return guard(__func__, REQUIRED(fusePlanDesc, activFwdOp),
               [&]() -> ApiResult {
                 return appendActivation(*fusePlanDesc, *activFwdOp, mode);
               });
}

miopenStatus_t
miopenCreateOpActivationBackward(miopenFusionPlanDescriptor_t fusePlanDesc,
                                 miopenFusionOpDescriptor_t *activBwdOp,
                                 miopenActivationMode_t mode) {
  return guard(__func__, REQUIRED(fusePlanDesc, activBwdOp),
               [&]() -> ApiResult {
                 return appendActivation(*fusePlanDesc, *activBwdOp, mode);
               });
}

miopenStatus_t
miopenCreateOpBiasForward(miopenFusionPlanDescriptor_t fusePlanDesc,
                          miopenFusionOpDescriptor_t *biasOp,
                          const miopenTensorDescriptor_t bDesc) {
  return guard(__func__, REQUIRED(fusePlanDesc, biasOp, bDesc),
               [&]() -> ApiResult { return append(*fusePlanDesc, *biasOp); });
}

miopenStatus_t miopenCreateOpBatchNormInference(
    miopenFusionPlanDescriptor_t fusePlanDesc, miopenFusionOpDescriptor_t *bnOp,
    const miopenBatchNormMode_t bn_mode,
    const miopenTensorDescriptor_t bnScaleBiasMeanVarDesc) {
  return guard(__func__, REQUIRED(fusePlanDesc, bnOp, bnScaleBiasMeanVarDesc),
               [&]() -> ApiResult {
                 return appendBatchNorm(*fusePlanDesc, *bnOp, bn_mode);
               });
}

miopenStatus_t
miopenCreateOpBatchNormForward(miopenFusionPlanDescriptor_t fusePlanDesc,
                               miopenFusionOpDescriptor_t *bnFwdOp,
                               const miopenBatchNormMode_t bn_mode, bool) {
  return guard(__func__, REQUIRED(fusePlanDesc, bnFwdOp), [&]() -> ApiResult {
    return appendBatchNorm(*fusePlanDesc, *bnFwdOp, bn_mode);
  });
}

miopenStatus_t
miopenCreateOpBatchNormBackward(miopenFusionPlanDescriptor_t fusePlanDesc,
                                miopenFusionOpDescriptor_t *bnBwdOp,
                                const miopenBatchNormMode_t bn_mode) {
  return guard(__func__, REQUIRED(fusePlanDesc, bnBwdOp), [&]() -> ApiResult {
    return appendBatchNorm(*fusePlanDesc, *bnBwdOp, bn_mode);
  });
}

miopenStatus_t miopenCreateOperatorArgs(miopenOperatorArgs_t *args) {
  return createObject(__func__, REQUIRED(args), args);
}

miopenStatus_t miopenDestroyOperatorArgs(miopenOperatorArgs_t args) {
  return destroyObject(__func__, REQUIRED(args), args);
}

miopenStatus_t
miopenExecuteFusionPlan(const miopenHandle_t handle,
                        const miopenFusionPlanDescriptor_t fusePlanDesc,
                        const miopenTensorDescriptor_t inputDesc,
                        const void *input,
                        const miopenTensorDescriptor_t outputDesc, void *output,
                        miopenOperatorArgs_t args) {
  return guard(__func__,
               REQUIRED(handle, fusePlanDesc, inputDesc, input, outputDesc,
                        output, args),
               []() -> ApiResult { return notCompiled(); });
}

miopenStatus_t miopenExecuteFusionPlan_v2(
    const miopenHandle_t handle,
    const miopenFusionPlanDescriptor_t fusePlanDesc,
    const miopenTensorDescriptor_t inputDesc, const void *input,
    const miopenTensorDescriptor_t outputDesc, void *output,
    miopenOperatorArgs_t args, void *, size_t) {
  return guard(__func__,
               REQUIRED(handle, fusePlanDesc, inputDesc, input, outputDesc,
                        output, args),
               []() -> ApiResult { return notCompiled(); });
}

} // extern "C"

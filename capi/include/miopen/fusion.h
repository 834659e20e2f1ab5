/*===- fusion.h - Several operations in one kernel -----------------------===*\
|*
|* A plan is a list of operations. It is built, compiled for a handle, and
|* executed with arguments. A forward convolution, then perhaps a bias, then
|* perhaps an activation, of half, bfloat16 or float, is one kernel. For every
|* other plan miopenCompileFusionPlan() answers miopenStatusUnsupportedOp, on
|* which clients run the operations one by one.
|*
\*===----------------------------------------------------------------------===*/

#ifndef MIOPEN_FUSION_H
#define MIOPEN_FUSION_H

#include <miopen/activation.h>
#include <miopen/batchnorm.h>
#include <miopen/convolution.h>
#include <miopen/export.h>
#include <miopen/handle.h>
#include <miopen/tensor.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

MIOPEN_DECLARE_OBJECT(miopenFusionOpDescriptor);
MIOPEN_DECLARE_OBJECT(miopenFusionPlanDescriptor);
MIOPEN_DECLARE_OBJECT(miopenOperatorDescriptor);
MIOPEN_DECLARE_OBJECT(miopenOperatorArgs);

typedef enum {
  miopenVerticalFusion = 0,
  miopenHorizontalFusion = 1
} miopenFusionDirection_t;

/**
 * Creates an empty plan for an input; release it with
 * miopenDestroyFusionPlan().
 */
MIOPEN_EXPORT miopenStatus_t
miopenCreateFusionPlan(miopenFusionPlanDescriptor_t *fusePlanDesc,
                       const miopenFusionDirection_t fuseDirection,
                       const miopenTensorDescriptor_t inputDesc);

/** Destroys a plan and its operations. */
MIOPEN_EXPORT miopenStatus_t
miopenDestroyFusionPlan(miopenFusionPlanDescriptor_t fusePlanDesc);

/**
 * Makes one kernel for all operations, or finds it: a lookup, after the first
 * time. A plan is a forward convolution, perhaps with a bias, perhaps with an
 * activation; or a batch normalisation, perhaps with an activation, or the
 * gradients of both, whose kernel is made when the plan is first executed.
 *
 * @retval miopenStatusSuccess        The plan can be executed.
 * @retval miopenStatusUnsupportedOp  There is no kernel for such a plan.
 * @retval miopenStatusBadParm        A pointer is NULL, or the tensors do not fit
 *                                    each other.
 */
MIOPEN_EXPORT miopenStatus_t miopenCompileFusionPlan(
    miopenHandle_t handle, miopenFusionPlanDescriptor_t fusePlanDesc);

/** The operation with the number `op_idx`; it belongs to the plan. */
MIOPEN_EXPORT miopenStatus_t
miopenFusionPlanGetOp(miopenFusionPlanDescriptor_t fusePlanDesc,
                      const int op_idx, miopenFusionOpDescriptor_t *op);

/** Workspace that a client has to give: 0. */
MIOPEN_EXPORT miopenStatus_t miopenFusionPlanGetWorkSpaceSize(
    miopenHandle_t handle, miopenFusionPlanDescriptor_t fusePlanDesc,
    size_t *workSpaceSize, miopenConvFwdAlgorithm_t algo);

/** Families of kernels for the convolution of a plan: Direct, if it is one that
 *  can be compiled. */
MIOPEN_EXPORT miopenStatus_t miopenFusionPlanConvolutionGetAlgo(
    miopenFusionPlanDescriptor_t fusePlanDesc, const int requestAlgoCount,
    int *returnedAlgoCount, miopenConvFwdAlgorithm_t *returnedAlgos);

/** Asks for an algorithm. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenFusionPlanConvolutionSetAlgo(
    miopenFusionPlanDescriptor_t fusePlanDesc, miopenConvFwdAlgorithm_t algo);

/** Appends a forward convolution; the operation belongs to the plan. */
MIOPEN_EXPORT miopenStatus_t miopenCreateOpConvForward(
    miopenFusionPlanDescriptor_t fusePlanDesc,
    miopenFusionOpDescriptor_t *convOp, miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t wDesc);

/** Appends an activation. */
MIOPEN_EXPORT miopenStatus_t miopenCreateOpActivationForward(
    miopenFusionPlanDescriptor_t fusePlanDesc,
    miopenFusionOpDescriptor_t *activFwdOp, miopenActivationMode_t mode);

/** Appends the gradient of an activation. */
MIOPEN_EXPORT miopenStatus_t miopenCreateOpActivationBackward(
    miopenFusionPlanDescriptor_t fusePlanDesc,
    miopenFusionOpDescriptor_t *activBwdOp, miopenActivationMode_t mode);

/** Appends the addition of a bias. */
MIOPEN_EXPORT miopenStatus_t miopenCreateOpBiasForward(
    miopenFusionPlanDescriptor_t fusePlanDesc,
    miopenFusionOpDescriptor_t *biasOp, const miopenTensorDescriptor_t bDesc);

/** Appends a batch normalisation by given statistics. */
MIOPEN_EXPORT miopenStatus_t miopenCreateOpBatchNormInference(
    miopenFusionPlanDescriptor_t fusePlanDesc, miopenFusionOpDescriptor_t *bnOp,
    const miopenBatchNormMode_t bn_mode,
    const miopenTensorDescriptor_t bnScaleBiasMeanVarDesc);

/** Appends a batch normalisation by those of the batch. */
MIOPEN_EXPORT miopenStatus_t miopenCreateOpBatchNormForward(
    miopenFusionPlanDescriptor_t fusePlanDesc,
    miopenFusionOpDescriptor_t *bnFwdOp, const miopenBatchNormMode_t bn_mode,
    bool runningMeanVariance);

/** Appends the gradient of a batch normalisation. */
MIOPEN_EXPORT miopenStatus_t miopenCreateOpBatchNormBackward(
    miopenFusionPlanDescriptor_t fusePlanDesc,
    miopenFusionOpDescriptor_t *bnBwdOp, const miopenBatchNormMode_t bn_mode);

/**
 * Creates an empty set of arguments; release it with
 * miopenDestroyOperatorArgs().
 */
MIOPEN_EXPORT miopenStatus_t
miopenCreateOperatorArgs(miopenOperatorArgs_t *args);

/** Destroys a set of arguments. */
MIOPEN_EXPORT miopenStatus_t
miopenDestroyOperatorArgs(miopenOperatorArgs_t args);

/** Gives a convolution its filter. `alpha` points to 1 and `beta` to 0, as with
 *  all operations; else miopenStatusNotImplemented. Both may be NULL. */
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsConvForward(
    miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t convOp,
    const void *alpha, const void *beta, const void *w);

/** Gives an activation its parameters. */
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsActivForward(
    miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t activFwdOp,
    const void *alpha, const void *beta, double activAlpha, double activBeta,
    double activGamma);

/** Gives a gradient of an activation its parameters. y and `reserved` may be
 * NULL: the kernel computes y anew. */
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsActivBackward(
    miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t activBwdOp,
    const void *alpha, const void *beta, const void *y, const void *reserved,
    double activAlpha, double activBeta, double activGamma);

/** Gives a normalisation by given statistics its parameters. */
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsBatchNormInference(
    miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t bnOp,
    const void *alpha, const void *beta, const void *bnScale,
    const void *bnBias, const void *estimatedMean,
    const void *estimatedVariance, double epsilon);

/** Gives a normalisation its parameters, of float. Running statistics, and those
 * to save, may be NULL. */
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsBatchNormForward(
    miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t bnOp,
    const void *alpha, const void *beta, const void *bnScale,
    const void *bnBias, void *savedMean, void *savedInvVariance,
    void *runningMean, void *runningVariance, double expAvgFactor,
    double epsilon);

/** Gives a gradient its tensors, parameters of float. The input of the plan is
 * the gradient of what the activation gives, its output that of x. */
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsBatchNormBackward(
    miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t bnOp,
    const void *alpha, const void *beta, const void *x, const void *bnScale,
    const void *bnBias, void *resultBnScaleDiff, void *resultBnBiasDiff,
    const void *savedMean, const void *savedInvVariance);

/** Gives a bias its values. */
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsBiasForward(
    miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t biasOp,
    const void *alpha, const void *beta, const void *bias);

/**
 * Runs a compiled plan on the stream of the handle, and does not wait.
 *
 * @retval miopenStatusSuccess  The kernel is on the stream.
 * @retval miopenStatusBadParm  A pointer is NULL, the plan was not compiled, its
 *                              input is another one, or an operation has no
 *                              arguments.
 */
MIOPEN_EXPORT miopenStatus_t miopenExecuteFusionPlan(
    const miopenHandle_t handle,
    const miopenFusionPlanDescriptor_t fusePlanDesc,
    const miopenTensorDescriptor_t inputDesc, const void *input,
    const miopenTensorDescriptor_t outputDesc, void *output,
    miopenOperatorArgs_t args);

/** The same with a workspace; one that is too small is not used. */
MIOPEN_EXPORT miopenStatus_t miopenExecuteFusionPlan_v2(
    const miopenHandle_t handle,
    const miopenFusionPlanDescriptor_t fusePlanDesc,
    const miopenTensorDescriptor_t inputDesc, const void *input,
    const miopenTensorDescriptor_t outputDesc, void *output,
    miopenOperatorArgs_t args, void *workspace, size_t workspaceSize);

/**
 * y = f(alpha1 conv(x, w) + alpha2 z + bias) in one kernel.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, or the tensors do not
 *                                     fit each other.
 * @retval miopenStatusNotImplemented  alpha2 is neither 0 nor 1, z lies not as y
 *                                     does, or the convolution is transposed or
 *                                     of another type than half, bfloat16 and
 *                                     float.
 */
MIOPEN_EXPORT miopenStatus_t miopenConvolutionBiasActivationForward(
    miopenHandle_t handle, const void *alpha1,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t wDesc, const void *w,
    const miopenConvolutionDescriptor_t convDesc, miopenConvFwdAlgorithm_t algo,
    void *workspace, size_t workspaceSizeInBytes, const void *alpha2,
    const miopenTensorDescriptor_t zDesc, const void *z,
    const miopenTensorDescriptor_t biasDesc, const void *bias,
    const miopenActivationDescriptor_t activationDesc,
    const miopenTensorDescriptor_t yDesc, void *y);

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_FUSION_H */

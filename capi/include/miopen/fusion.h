/*===- fusion.h - Several operations in one kernel ------------------------===*/
/**
 * @file
 * A plan is a list of operations. It is built, compiled for a handle, and
 * executed with arguments. Three kinds of plans are implemented; for every other
 * plan miopenCompileFusionPlan() returns miopenStatusUnsupportedOp, on which
 * clients run the operations one by one:
 *
 * - a forward convolution of half, bfloat16 or float, then optionally a bias,
 *   then optionally an activation;
 * - the same with a batch normalisation by given statistics before the
 *   activation, as two launches: the convolution's result is rounded to the
 *   type of the output between them;
 * - a batch normalisation, then optionally an activation, or the gradients of
 *   both.
 */

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

/** An operation of a plan, owned by the plan. */
MIOPEN_DECLARE_OBJECT(miopenFusionOpDescriptor);
/** A list of operations. */
MIOPEN_DECLARE_OBJECT(miopenFusionPlanDescriptor);
/** Declared by MIOpen; no function takes it. */
MIOPEN_DECLARE_OBJECT(miopenOperatorDescriptor);
/** The arguments of the operations of a plan. */
MIOPEN_DECLARE_OBJECT(miopenOperatorArgs);

/** How the operations of a plan depend on each other; has no effect. */
typedef enum {
  /** Each operation reads the result of the one before it. */
  miopenVerticalFusion = 0,
  /** All operations read the same input. */
  miopenHorizontalFusion = 1
} miopenFusionDirection_t;

/**
 * Creates an empty plan for an input.
 *
 * @param[out] fusePlanDesc   Owned by the caller: release it with
 *                            miopenDestroyFusionPlan().
 * @param[in]  fuseDirection  An enumerator; has no effect.
 * @param[in]  inputDesc      Describes the input; copied.
 *
 * @retval miopenStatusSuccess      `*fusePlanDesc` is usable.
 * @retval miopenStatusBadParm      A pointer is NULL, or the direction is
 *                                  unknown.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `inputDesc`.
 */
MIOPEN_EXPORT miopenStatus_t
miopenCreateFusionPlan(miopenFusionPlanDescriptor_t *fusePlanDesc,
                       const miopenFusionDirection_t fuseDirection,
                       const miopenTensorDescriptor_t inputDesc);

/**
 * Destroys a plan and its operations.
 *
 * @param[in] fusePlanDesc  Not usable afterwards, nor are its operations.
 *
 * @retval miopenStatusSuccess  The plan is destroyed.
 * @retval miopenStatusBadParm  `fusePlanDesc` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `fusePlanDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t
miopenDestroyFusionPlan(miopenFusionPlanDescriptor_t fusePlanDesc);

/**
 * Makes the kernel of a plan that is a convolution, or finds it. The kernel of
 * a batch normalisation depends on the arguments and is made when the plan is
 * first executed.
 *
 * @param[in]     handle        Supplies the device.
 * @param[in,out] fusePlanDesc  The plan to compile.
 *
 * @retval miopenStatusSuccess         The plan can be executed.
 * @retval miopenStatusBadParm         A pointer is NULL, or the tensors do not
 *                                     fit each other.
 * @retval miopenStatusUnsupportedOp   No kernel fuses the operations, or none
 *                                     covers the data types and lengths.
 * @retval miopenStatusNotImplemented  A length is 2^31 or more, or the output
 *                                     has more than 2^63 elements.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 *
 * @par Cost
 *   Compiles on first use; launches nothing.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap. The plan
 *   is changed: no other call may use it meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenCompileFusionPlan(
    miopenHandle_t handle, miopenFusionPlanDescriptor_t fusePlanDesc);

/**
 * Reads an operation of a plan.
 *
 * @param[in]  fusePlanDesc  The plan.
 * @param[in]  op_idx        Number of the operation, counted from 0.
 * @param[out] op            Owned by the plan.
 *
 * @retval miopenStatusSuccess  `*op` is set.
 * @retval miopenStatusBadParm  A pointer is NULL, or the plan has no such
 *                              operation.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `fusePlanDesc`.
 */
MIOPEN_EXPORT miopenStatus_t
miopenFusionPlanGetOp(miopenFusionPlanDescriptor_t fusePlanDesc,
                      const int op_idx, miopenFusionOpDescriptor_t *op);

/**
 * Gets the size of the workspace that a caller must give: none. A kernel that
 * needs one uses scratch memory of the handle.
 *
 * @param[in]  handle         Checked for NULL only.
 * @param[in]  fusePlanDesc   The plan.
 * @param[out] workSpaceSize  0 bytes.
 * @param[in]  algo           Not used.
 *
 * @retval miopenStatusSuccess  `*workSpaceSize` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t miopenFusionPlanGetWorkSpaceSize(
    miopenHandle_t handle, miopenFusionPlanDescriptor_t fusePlanDesc,
    size_t *workSpaceSize, miopenConvFwdAlgorithm_t algo);

/**
 * Lists the algorithms for the convolution of a plan.
 *
 * @param[in]  fusePlanDesc       The plan.
 * @param[in]  requestAlgoCount   Capacity of `returnedAlgos`.
 * @param[out] returnedAlgoCount  1 if the plan is a convolution that can be
 *                                compiled and `requestAlgoCount` is at least 1,
 *                                else 0.
 * @param[out] returnedAlgos      miopenConvolutionFwdAlgoDirect.
 *
 * @retval miopenStatusSuccess  `*returnedAlgoCount` is set, and as many
 *                              algorithms.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `fusePlanDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenFusionPlanConvolutionGetAlgo(
    miopenFusionPlanDescriptor_t fusePlanDesc, const int requestAlgoCount,
    int *returnedAlgoCount, miopenConvFwdAlgorithm_t *returnedAlgos);

/**
 * Chooses the algorithm for the convolution of a plan. There is one kernel for
 * each problem, which every algorithm stands for, so the choice has no effect.
 *
 * @param[in] fusePlanDesc  The plan; it may have no convolution yet.
 * @param[in] algo          The algorithm.
 *
 * @retval miopenStatusSuccess  The plan runs the kernel of its problem.
 * @retval miopenStatusBadParm  `fusePlanDesc` is NULL, or `algo` is unknown.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t miopenFusionPlanConvolutionSetAlgo(
    miopenFusionPlanDescriptor_t fusePlanDesc, miopenConvFwdAlgorithm_t algo);

/**
 * Appends a forward convolution.
 *
 * @param[in,out] fusePlanDesc  The plan to append to.
 * @param[out]    convOp        The operation, owned by the plan.
 * @param[in]     convDesc      The convolution; copied.
 * @param[in]     wDesc         Describes the filter; copied.
 *
 * @retval miopenStatusSuccess      The operation is appended; the plan must be
 *                                  compiled again.
 * @retval miopenStatusBadParm      A pointer is NULL.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `fusePlanDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenCreateOpConvForward(
    miopenFusionPlanDescriptor_t fusePlanDesc,
    miopenFusionOpDescriptor_t *convOp, miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t wDesc);

/**
 * Appends an activation.
 *
 * @param[in,out] fusePlanDesc  The plan to append to.
 * @param[out]    activFwdOp    The operation, owned by the plan.
 * @param[in]     mode          The function of the activation.
 *
 * @retval miopenStatusSuccess      The operation is appended; the plan must be
 *                                  compiled again.
 * @retval miopenStatusBadParm      A pointer is NULL, or there is no such
 *                                  function.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `fusePlanDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenCreateOpActivationForward(
    miopenFusionPlanDescriptor_t fusePlanDesc,
    miopenFusionOpDescriptor_t *activFwdOp, miopenActivationMode_t mode);

/**
 * Appends the gradient of an activation.
 *
 * @param[in,out] fusePlanDesc  The plan to append to.
 * @param[out]    activBwdOp    The operation, owned by the plan.
 * @param[in]     mode          The function of the activation.
 *
 * @retval miopenStatusSuccess      The operation is appended; the plan must be
 *                                  compiled again.
 * @retval miopenStatusBadParm      A pointer is NULL, or there is no such
 *                                  function.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `fusePlanDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenCreateOpActivationBackward(
    miopenFusionPlanDescriptor_t fusePlanDesc,
    miopenFusionOpDescriptor_t *activBwdOp, miopenActivationMode_t mode);

/**
 * Appends the addition of a bias.
 *
 * @param[in,out] fusePlanDesc  The plan to append to.
 * @param[out]    biasOp        The operation, owned by the plan.
 * @param[in]     bDesc         Describes the bias, 1, C, 1, 1; copied.
 *
 * @retval miopenStatusSuccess      The operation is appended; the plan must be
 *                                  compiled again.
 * @retval miopenStatusBadParm      A pointer is NULL.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `fusePlanDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenCreateOpBiasForward(
    miopenFusionPlanDescriptor_t fusePlanDesc,
    miopenFusionOpDescriptor_t *biasOp, const miopenTensorDescriptor_t bDesc);

/**
 * Appends a batch normalisation by given statistics.
 *
 * @param[in,out] fusePlanDesc        The plan to append to.
 * @param[out]    bnOp                The operation, owned by the plan.
 * @param[in]     bn_mode             Which elements share a mean.
 * @param[in]     bnScaleBiasMeanVarDesc  Describes all parameters; copied.
 *
 * @retval miopenStatusSuccess      The operation is appended; the plan must be
 *                                  compiled again.
 * @retval miopenStatusBadParm      A pointer is NULL, or the mode is unknown.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `fusePlanDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenCreateOpBatchNormInference(
    miopenFusionPlanDescriptor_t fusePlanDesc, miopenFusionOpDescriptor_t *bnOp,
    const miopenBatchNormMode_t bn_mode,
    const miopenTensorDescriptor_t bnScaleBiasMeanVarDesc);

/**
 * Appends a batch normalisation by the statistics of the batch.
 *
 * @param[in,out] fusePlanDesc        The plan to append to.
 * @param[out]    bnFwdOp             The operation, owned by the plan.
 * @param[in]     bn_mode             Which elements share a mean.
 * @param[in]     runningMeanVariance  Not used: the arguments say which
 *                                    statistics are wanted.
 *
 * @retval miopenStatusSuccess      The operation is appended; the plan must be
 *                                  compiled again.
 * @retval miopenStatusBadParm      A pointer is NULL, or the mode is unknown.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `fusePlanDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenCreateOpBatchNormForward(
    miopenFusionPlanDescriptor_t fusePlanDesc,
    miopenFusionOpDescriptor_t *bnFwdOp, const miopenBatchNormMode_t bn_mode,
    bool runningMeanVariance);

/**
 * Appends the gradient of a batch normalisation.
 *
 * @param[in,out] fusePlanDesc  The plan to append to.
 * @param[out]    bnBwdOp       The operation, owned by the plan.
 * @param[in]     bn_mode       Which elements share a mean.
 *
 * @retval miopenStatusSuccess      The operation is appended; the plan must be
 *                                  compiled again.
 * @retval miopenStatusBadParm      A pointer is NULL, or the mode is unknown.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `fusePlanDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenCreateOpBatchNormBackward(
    miopenFusionPlanDescriptor_t fusePlanDesc,
    miopenFusionOpDescriptor_t *bnBwdOp, const miopenBatchNormMode_t bn_mode);

/**
 * Creates an empty set of arguments.
 *
 * @param[out] args  Owned by the caller: release it with
 *                   miopenDestroyOperatorArgs().
 *
 * @retval miopenStatusSuccess      `*args` is usable.
 * @retval miopenStatusBadParm      `args` is NULL.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t
miopenCreateOperatorArgs(miopenOperatorArgs_t *args);

/**
 * Destroys a set of arguments. Device memory that it names stays.
 *
 * @param[in] args  Not usable afterwards.
 *
 * @retval miopenStatusSuccess  The set is destroyed.
 * @retval miopenStatusBadParm  `args` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `args` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t
miopenDestroyOperatorArgs(miopenOperatorArgs_t args);

/**
 * Sets the filter of a convolution.
 *
 * @param[in,out] args    The set of arguments to change.
 * @param[in]     convOp  The operation.
 * @param[in]     alpha   NULL, or a float that must be 1.
 * @param[in]     beta    NULL, or a float that must be 0.
 * @param[in]     w       The filter; device memory, valid until the plan is
 *                        executed.
 *
 * @retval miopenStatusSuccess         The arguments are recorded.
 * @retval miopenStatusBadParm         `args`, `convOp` or `w` is NULL, or the
 *                                     operation is of another kind.
 * @retval miopenStatusNotImplemented  `alpha` is not 1 or `beta` not 0.
 * @retval miopenStatusAllocFailed     Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `args` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsConvForward(
    miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t convOp,
    const void *alpha, const void *beta, const void *w);

/**
 * Sets the parameters of an activation.
 *
 * @param[in,out] args        The set of arguments to change.
 * @param[in]     activFwdOp  The operation.
 * @param[in]     alpha       NULL, or a float that must be 1.
 * @param[in]     beta        NULL, or a float that must be 0.
 * @param[in]     activAlpha  Parameter a of the function.
 * @param[in]     activBeta   Parameter b of the function.
 * @param[in]     activGamma  Parameter c of the function.
 *
 * @retval miopenStatusSuccess         The arguments are recorded.
 * @retval miopenStatusBadParm         `args` or `activFwdOp` is NULL, or the
 *                                     operation is of another kind.
 * @retval miopenStatusNotImplemented  `alpha` is not 1 or `beta` not 0.
 * @retval miopenStatusAllocFailed     Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `args` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsActivForward(
    miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t activFwdOp,
    const void *alpha, const void *beta, double activAlpha, double activBeta,
    double activGamma);

/**
 * Sets the parameters of a gradient of an activation.
 *
 * @param[in,out] args        The set of arguments to change.
 * @param[in]     activBwdOp  The operation.
 * @param[in]     alpha       NULL, or a float that must be 1.
 * @param[in]     beta        NULL, or a float that must be 0.
 * @param[in]     y           Not used, because the kernel computes y again; may
 *                            be NULL.
 * @param[in]     reserved    Not used; may be NULL.
 * @param[in]     activAlpha  Parameter a of the function.
 * @param[in]     activBeta   Parameter b of the function.
 * @param[in]     activGamma  Parameter c of the function.
 *
 * @retval miopenStatusSuccess         The arguments are recorded.
 * @retval miopenStatusBadParm         `args` or `activBwdOp` is NULL, or the
 *                                     operation is of another kind.
 * @retval miopenStatusNotImplemented  `alpha` is not 1 or `beta` not 0.
 * @retval miopenStatusAllocFailed     Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `args` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsActivBackward(
    miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t activBwdOp,
    const void *alpha, const void *beta, const void *y, const void *reserved,
    double activAlpha, double activBeta, double activGamma);

/**
 * Sets the parameters of a batch normalisation by given statistics.
 *
 * @param[in,out] args               The set of arguments to change.
 * @param[in]     bnOp               The operation.
 * @param[in]     alpha              NULL, or a float that must be 1.
 * @param[in]     beta               NULL, or a float that must be 0.
 * @param[in]     bnScale            Scale; device memory, valid until the plan
 *                                   is executed.
 * @param[in]     bnBias             Bias; device memory, valid until the plan
 *                                   is executed.
 * @param[in]     estimatedMean      Mean; device memory, valid until the plan
 *                                   is executed.
 * @param[in]     estimatedVariance  Variance; device memory, valid until the
 *                                   plan is executed.
 * @param[in]     epsilon            Added to the variance.
 *
 * @retval miopenStatusSuccess         The arguments are recorded.
 * @retval miopenStatusBadParm         A pointer other than `alpha` and `beta`
 *                                     is NULL, or the operation is of another
 *                                     kind.
 * @retval miopenStatusNotImplemented  `alpha` is not 1 or `beta` not 0.
 * @retval miopenStatusAllocFailed     Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `args` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsBatchNormInference(
    miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t bnOp,
    const void *alpha, const void *beta, const void *bnScale,
    const void *bnBias, const void *estimatedMean,
    const void *estimatedVariance, double epsilon);

/**
 * Sets the parameters of a batch normalisation by the statistics of the batch.
 * They are tensors of float.
 *
 * @param[in,out] args              The set of arguments to change.
 * @param[in]     bnOp              The operation.
 * @param[in]     alpha             NULL, or a float that must be 1.
 * @param[in]     beta              NULL, or a float that must be 0.
 * @param[in]     bnScale           Scale; device memory, valid until the plan
 *                                  is executed.
 * @param[in]     bnBias            Bias; device memory, valid until the plan is
 *                                  executed.
 * @param[in]     savedMean         Receives the mean; device memory. If this or
 *                                  `savedInvVariance` is NULL, neither is
 *                                  saved.
 * @param[in]     savedInvVariance  Receives 1 / sqrt(variance + epsilon);
 *                                  device memory, or NULL.
 * @param[in]     runningMean       Blended with the mean; device memory. If
 *                                  this or `runningVariance` is NULL, neither
 *                                  is updated.
 * @param[in]     runningVariance   Blended with the unbiased variance; device
 *                                  memory, or NULL.
 * @param[in]     expAvgFactor      f: running statistics become (1 - f) old + f
 *                                  new.
 * @param[in]     epsilon           Added to the variance.
 *
 * @retval miopenStatusSuccess         The arguments are recorded.
 * @retval miopenStatusBadParm         `args`, `bnOp`, `bnScale` or `bnBias` is
 *                                     NULL, or the operation is of another
 *                                     kind.
 * @retval miopenStatusNotImplemented  `alpha` is not 1 or `beta` not 0.
 * @retval miopenStatusAllocFailed     Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `args` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsBatchNormForward(
    miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t bnOp,
    const void *alpha, const void *beta, const void *bnScale,
    const void *bnBias, void *savedMean, void *savedInvVariance,
    void *runningMean, void *runningVariance, double expAvgFactor,
    double epsilon);

/**
 * Sets the tensors of a gradient of a batch normalisation; parameters are
 * tensors of float. The input of the plan is dy, the gradient of the output of
 * the last operation; its output is dx.
 *
 * @param[in,out] args               The set of arguments to change.
 * @param[in]     bnOp               The operation.
 * @param[in]     alpha              NULL, or a float that must be 1.
 * @param[in]     beta               NULL, or a float that must be 0.
 * @param[in]     x                  Input of the forward pass, described as the
 *                                   input of the plan; device memory, valid
 *                                   until the plan is executed.
 * @param[in]     bnScale            Scale; device memory, valid until the plan
 *                                   is executed.
 * @param[in]     bnBias             Bias; device memory, valid until the plan
 *                                   is executed.
 * @param[in]     resultBnScaleDiff  Receives the gradient of scale; device
 *                                   memory.
 * @param[in]     resultBnBiasDiff   Receives the gradient of bias; device
 *                                   memory.
 * @param[in]     savedMean          The mean that training saved; device
 *                                   memory, valid until the plan is executed.
 * @param[in]     savedInvVariance   1 / sqrt(variance + epsilon) that training
 *                                   saved; device memory, valid until the plan
 *                                   is executed.
 *
 * @retval miopenStatusSuccess         The arguments are recorded.
 * @retval miopenStatusBadParm         A pointer other than `alpha` and `beta`
 *                                     is NULL, or the operation is of another
 *                                     kind.
 * @retval miopenStatusNotImplemented  `alpha` is not 1 or `beta` not 0.
 * @retval miopenStatusAllocFailed     Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `args` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsBatchNormBackward(
    miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t bnOp,
    const void *alpha, const void *beta, const void *x, const void *bnScale,
    const void *bnBias, void *resultBnScaleDiff, void *resultBnBiasDiff,
    const void *savedMean, const void *savedInvVariance);

/**
 * Sets the values of a bias.
 *
 * @param[in,out] args    The set of arguments to change.
 * @param[in]     biasOp  The operation.
 * @param[in]     alpha   NULL, or a float that must be 1.
 * @param[in]     beta    NULL, or a float that must be 0.
 * @param[in]     bias    One value for each channel; device memory, valid until
 *                        the plan is executed.
 *
 * @retval miopenStatusSuccess         The arguments are recorded.
 * @retval miopenStatusBadParm         `args`, `biasOp` or `bias` is NULL, or
 *                                     the operation is of another kind.
 * @retval miopenStatusNotImplemented  `alpha` is not 1 or `beta` not 0.
 * @retval miopenStatusAllocFailed     Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `args` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsBiasForward(
    miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t biasOp,
    const void *alpha, const void *beta, const void *bias);

/**
 * Runs a compiled plan. A kernel that needs workspace uses scratch memory of
 * the handle.
 *
 * @param[in]  handle        Supplies the device and the stream.
 * @param[in]  fusePlanDesc  A plan that was compiled.
 * @param[in]  inputDesc     The descriptor that the plan was created with.
 * @param[in]  input         Device memory, read.
 * @param[in]  outputDesc    Describes the output.
 * @param[out] output        Device memory, every element overwritten.
 * @param[in]  args          Arguments of every operation.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, the plan was not
 *                                     compiled, the input is described in
 *                                     another way, an operation has no
 *                                     arguments, or the tensors do not fit each
 *                                     other.
 * @retval miopenStatusNotImplemented  No kernel covers the layout of the output
 *                                     or the data types.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Compiles on first use, then launches; does not wait for the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap. Plan and
 *   arguments are only read.
 */
MIOPEN_EXPORT miopenStatus_t miopenExecuteFusionPlan(
    const miopenHandle_t handle,
    const miopenFusionPlanDescriptor_t fusePlanDesc,
    const miopenTensorDescriptor_t inputDesc, const void *input,
    const miopenTensorDescriptor_t outputDesc, void *output,
    miopenOperatorArgs_t args);

/**
 * miopenExecuteFusionPlan() with a workspace.
 *
 * @param[in]     handle         Supplies the device and the stream.
 * @param[in]     fusePlanDesc   A plan that was compiled.
 * @param[in]     inputDesc      The descriptor that the plan was created with.
 * @param[in]     input          Device memory, read.
 * @param[in]     outputDesc     Describes the output.
 * @param[out]    output         Device memory, every element overwritten.
 * @param[in]     args           Arguments of every operation.
 * @param[in,out] workspace      Device memory; NULL, or one that is too small,
 *                               means scratch memory of the handle. A batch
 *                               normalisation does not use it.
 * @param[in]     workspaceSize  Size of `workspace` in bytes.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer other than `workspace` is NULL,
 *                                     the plan was not compiled, the input is
 *                                     described in another way, an operation
 *                                     has no arguments, or the tensors do not
 *                                     fit each other.
 * @retval miopenStatusNotImplemented  No kernel covers the layout of the output
 *                                     or the data types.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Compiles on first use, then launches; does not wait for the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap. Plan and
 *   arguments are only read.
 */
MIOPEN_EXPORT miopenStatus_t miopenExecuteFusionPlan_v2(
    const miopenHandle_t handle,
    const miopenFusionPlanDescriptor_t fusePlanDesc,
    const miopenTensorDescriptor_t inputDesc, const void *input,
    const miopenTensorDescriptor_t outputDesc, void *output,
    miopenOperatorArgs_t args, void *workspace, size_t workspaceSize);

/**
 * Computes y = f(alpha1 conv(x, w) + alpha2 z + bias) in one kernel.
 *
 * @param[in]     handle              Supplies the device and the stream.
 * @param[in]     alpha1              A float.
 * @param[in]     xDesc               Input: half, bfloat16 or float; any layout
 *                                    and strides.
 * @param[in]     x                   Input; device memory, read.
 * @param[in]     wDesc               Filter, of the data type of x.
 * @param[in]     w                   Filter; device memory, read.
 * @param[in]     convDesc            A convolution that is not transposed.
 * @param[in]     algo                Not used.
 * @param[in,out] workspace           Device memory; NULL, or one that is too
 *                                    small, means scratch memory of the handle.
 * @param[in]     workspaceSizeInBytes  Size of `workspace` in bytes.
 * @param[in]     alpha2              A float, 0 or 1; NULL means 0.
 * @param[in]     zDesc               The data type, lengths and strides of y;
 *                                    may be NULL if `alpha2` is 0.
 * @param[in]     z                   Device memory, read; may be NULL if
 *                                    `alpha2` is 0.
 * @param[in]     biasDesc            The data type of x; one value for each
 *                                    channel of y: 1, K, 1, 1.
 * @param[in]     bias                Device memory, read.
 * @param[in]     activationDesc      The function f.
 * @param[in]     yDesc               Output, of the data type of x.
 * @param[out]    y                   Device memory, every element overwritten.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer that is needed is NULL, or the
 *                                     tensors do not fit each other or the
 *                                     convolution.
 * @retval miopenStatusNotImplemented  `alpha2` is neither 0 nor 1, z differs
 *                                     from y in data type, lengths or strides,
 *                                     the convolution is transposed or of
 *                                     another data type, or no kernel covers
 *                                     it.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Compiles on first use, then launches; does not wait for the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
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

/*===- batchnorm.h - Batch normalisation ---------------------------------===*\
|*
|* What shares a mean and a variance is a channel of the batch (spatial), or one
|* activation of it (per activation). Formulas are in docs/spec/rows.md.
|*
|* Common to all functions: x has 3 to 5 dimensions, any strides, and is of
|* half, bfloat16, float or double; y, dy and dx have its lengths and type.
|* Parameters have the lengths that miopenDeriveBNTensorDescriptor() gives, and
|* float or the type of x. Arithmetic is in float, or in double for double.
|*
|* The functions ending in _V2 have a descriptor for each parameter tensor,
|* those ending in _V3 running statistics that are not updated in place;
|* InvVariance takes the reciprocal of the standard deviation. With an
|* activation, its function is applied to what the normalisation gives, in the
|* same kernel.
|*
|* The first call for a problem compiles its kernel, or finds it in the cache,
|* and blocks meanwhile; later calls only launch. The work is put on the
|* handle's stream and not waited for. Few long rows need scratch memory, which
|* the handle allocates once and keeps.
|*
|* All that run return
|*   miopenStatusSuccess         the work is on the stream;
|*   miopenStatusBadParm         a pointer that is needed is NULL, the mode is
|*                               unknown, or tensors do not fit each other; of
|*                               inference and gradients, also if alpha is not 1
|*                               or beta not 0;
|*   miopenStatusUnknownError    of training: alpha is not 1 or beta not 0;
|*   miopenStatusNotImplemented  no kernel has these types, or double has an
|*                               activation with an exponential;
|*   miopenStatusInternalError   the compiler or the driver failed; the text is
|*                               in tesseraGetLastErrorMessage() of this thread.
|* Threads: safe on different handles; calls on one handle must not overlap.
|*
\*===----------------------------------------------------------------------===*/

#ifndef MIOPEN_BATCHNORM_H
#define MIOPEN_BATCHNORM_H

#include <miopen/activation.h>
#include <miopen/export.h>
#include <miopen/handle.h>
#include <miopen/tensor.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  miopenBNPerActivation = 0,
  miopenBNSpatial = 1
} miopenBatchNormMode_t;

/**
 * Sets the descriptor of the parameters that belong to x: 1, C and ones when
 * spatial, else 1 and all further lengths of x; always of float.
 *
 * @retval miopenStatusSuccess   `derivedBnDesc` is set.
 * @retval miopenStatusBadParm   A pointer is NULL, the mode is unknown, or x
 * has not 4 or 5 dimensions.
 */
MIOPEN_EXPORT miopenStatus_t miopenDeriveBNTensorDescriptor(
    miopenTensorDescriptor_t derivedBnDesc,
    const miopenTensorDescriptor_t xDesc, miopenBatchNormMode_t bn_mode);

/**
 * Normalises by the statistics of the batch, and blends them into running
 * statistics.
 *
 * @param      handle    Supplies the device and the stream.
 * @param      bn_mode   What shares a mean.
 * @param      alpha     Points to 1, as float or, for double, as double.
 * @param      beta      Points to 0.
 * @param      xDesc     x.
 * @param      x         Device memory, read.
 * @param      yDesc     y.
 * @param[out] y         Device memory, every element overwritten.
 * @param      bnScaleBiasMeanVarDesc  All parameters.
 * @param      bnScale   Factor of a normalised element.
 * @param      bnBias    What is added then.
 * @param      expAvgFactor  f: running statistics become (1 - f) old + f new.
 * @param[in,out] resultRunningMean      Blended with the mean.
 * @param[in,out] resultRunningVariance  Blended with the unbiased variance. Both
 *                       or none: if one is NULL, neither is updated.
 * @param      epsilon   Added to the variance.
 * @param[out] resultSaveMean         For the gradient: the mean.
 * @param[out] resultSaveInvVariance  And 1 / sqrt(variance + epsilon), of the
 *                       biased variance. Both or none, too.
 */
MIOPEN_EXPORT miopenStatus_t miopenBatchNormalizationForwardTraining(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t bnScaleBiasMeanVarDesc, void *bnScale,
    void *bnBias, double expAvgFactor, void *resultRunningMean,
    void *resultRunningVariance, double epsilon, void *resultSaveMean,
    void *resultSaveInvVariance);

/** The same; statistics have the descriptors of the saved ones. */
MIOPEN_EXPORT miopenStatus_t miopenBatchNormalizationForwardTraining_V2(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t scaleDesc,
    const miopenTensorDescriptor_t biasVarDesc,
    const miopenTensorDescriptor_t savedMeanDesc,
    const miopenTensorDescriptor_t savedVarDesc, void *bnScale, void *bnBias,
    double expAvgFactor, void *resultRunningMean, void *resultRunningVariance,
    double epsilon, void *resultSaveMean, void *resultSaveInvVariance);

/** The same; reads running statistics in one place and writes them in another,
 * which may be the same. All four are there, or none counts. */
MIOPEN_EXPORT miopenStatus_t miopenBatchNormalizationForwardTraining_V3(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t scaleDesc,
    const miopenTensorDescriptor_t biasVarDesc,
    const miopenTensorDescriptor_t savedMeanDesc,
    const miopenTensorDescriptor_t savedVarDesc, void *bnScale, void *bnBias,
    double expAvgFactor, const void *prevResultRunningMean,
    const void *prevResultRunningVariance, void *nextResultRunningMean,
    void *nextResultRunningVariance, double epsilon, void *resultSaveMean,
    void *resultSaveInvVariance);

/**
 * Normalises by given statistics.
 *
 * @param      handle    Supplies the device and the stream.
 * @param      bn_mode   What shares a mean.
 * @param      alpha     Points to 1, as float or, for double, as double.
 * @param      beta      Points to 0.
 * @param      xDesc     x.
 * @param      x         Device memory, read.
 * @param      yDesc     y.
 * @param[out] y         Device memory, every element overwritten; may be x.
 * @param      bnScaleBiasMeanVarDesc  All parameters.
 * @param      bnScale   Factor of a normalised element.
 * @param      bnBias    What is added then.
 * @param      estimatedMean      Subtracted from an element.
 * @param      estimatedVariance  Its root, after epsilon, divides the
 *                                difference.
 * @param      epsilon   Added to the variance.
 */
MIOPEN_EXPORT miopenStatus_t miopenBatchNormalizationForwardInference(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t bnScaleBiasMeanVarDesc, void *bnScale,
    void *bnBias, void *estimatedMean, void *estimatedVariance, double epsilon);

/** The same, with a descriptor for each parameter. */
MIOPEN_EXPORT miopenStatus_t miopenBatchNormalizationForwardInference_V2(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t scaleDesc,
    const miopenTensorDescriptor_t biasDesc,
    const miopenTensorDescriptor_t estMeanDesc,
    const miopenTensorDescriptor_t estVarianceDesc, void *bnScale, void *bnBias,
    void *estimatedMean, void *estimatedVariance, double epsilon);

/** The same, given 1 / sqrt(variance + epsilon). */
MIOPEN_EXPORT miopenStatus_t
miopenBatchNormalizationForwardInferenceInvVariance(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t scaleDesc,
    const miopenTensorDescriptor_t biasDesc,
    const miopenTensorDescriptor_t estMeanDesc,
    const miopenTensorDescriptor_t estInvVarianceDesc, void *bnScale,
    void *bnBias, void *estimatedMean, void *estimatedInvVariance);

/**
 * Computes the gradients of x, scale and bias from that of y.
 *
 * @param      handle    Supplies the device and the stream.
 * @param      bn_mode   What shares a mean.
 * @param      alphaDataDiff   Points to 1, as float or, for double, as double.
 * @param      betaDataDiff    Points to 0.
 * @param      alphaParamDiff  Points to 1.
 * @param      betaParamDiff   Points to 0.
 * @param      xDesc     x.
 * @param      x         Device memory, read.
 * @param      dyDesc    dy.
 * @param      dy        Device memory, read.
 * @param      dxDesc    dx.
 * @param[out] dx        Device memory, every element overwritten.
 * @param      bnScaleBiasDiffDesc  All parameters.
 * @param      bnScale   Factor of a normalised element.
 * @param[out] resultBnScaleDiff  Its gradient.
 * @param[out] resultBnBiasDiff   That of the bias.
 * @param      epsilon   Added to the variance, unless statistics are saved.
 * @param      savedMean          What training saved.
 * @param      savedInvVariance   Both or none: if one is NULL, both are
 *                                computed anew from x.
 */
MIOPEN_EXPORT miopenStatus_t miopenBatchNormalizationBackward(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode,
    const void *alphaDataDiff, const void *betaDataDiff,
    const void *alphaParamDiff, const void *betaParamDiff,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t dyDesc, const void *dy,
    const miopenTensorDescriptor_t dxDesc, void *dx,
    const miopenTensorDescriptor_t bnScaleBiasDiffDesc, const void *bnScale,
    void *resultBnScaleDiff, void *resultBnBiasDiff, double epsilon,
    const void *savedMean, const void *savedInvVariance);

/** The same, with descriptors for scale and its gradient, the bias' gradient,
 * and what is saved. */
MIOPEN_EXPORT miopenStatus_t miopenBatchNormalizationBackward_V2(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode,
    const void *alphaDataDiff, const void *betaDataDiff,
    const void *alphaParamDiff, const void *betaParamDiff,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t dyDesc, const void *dy,
    const miopenTensorDescriptor_t dxDesc, void *dx,
    const miopenTensorDescriptor_t scaleDesc,
    const miopenTensorDescriptor_t biasDesc,
    const miopenTensorDescriptor_t savedMeanDesc,
    const miopenTensorDescriptor_t savedVarDesc, const void *bnScale,
    void *resultBnScaleDiff, void *resultBnBiasDiff, double epsilon,
    const void *savedMean, const void *savedInvVariance);

/** miopenBatchNormalizationForwardTraining_V2(), then an activation. */
MIOPEN_EXPORT miopenStatus_t miopenBatchNormForwardTrainingActivation(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t scaleDesc,
    const miopenTensorDescriptor_t biasVarDesc,
    const miopenTensorDescriptor_t savedMeanDesc,
    const miopenTensorDescriptor_t savedVarDesc, void *bnScale, void *bnBias,
    double expAvgFactor, void *resultRunningMean, void *resultRunningVariance,
    double epsilon, void *resultSaveMean, void *resultSaveInvVariance,
    const miopenActivationDescriptor_t activDesc);

/** miopenBatchNormalizationForwardTraining_V3(), then an activation. */
MIOPEN_EXPORT miopenStatus_t miopenBatchNormForwardTrainingActivation_V2(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t scaleDesc,
    const miopenTensorDescriptor_t biasVarDesc,
    const miopenTensorDescriptor_t savedMeanDesc,
    const miopenTensorDescriptor_t savedVarDesc, void *bnScale, void *bnBias,
    double expAvgFactor, const void *prevResultRunningMean,
    const void *prevResultRunningVariance, void *nextResultRunningMean,
    void *nextResultRunningVariance, double epsilon, void *resultSaveMean,
    void *resultSaveInvVariance, const miopenActivationDescriptor_t activDesc);

/** miopenBatchNormalizationForwardInference_V2(), then an activation. */
MIOPEN_EXPORT miopenStatus_t miopenBatchNormForwardInferenceActivation(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t scaleDesc,
    const miopenTensorDescriptor_t biasDesc,
    const miopenTensorDescriptor_t estMeanDesc,
    const miopenTensorDescriptor_t estVarianceDesc, void *bnScale, void *bnBias,
    void *estimatedMean, void *estimatedVariance, double epsilon,
    const miopenActivationDescriptor_t activDesc);

/** The same, given 1 / sqrt(variance + epsilon). */
MIOPEN_EXPORT miopenStatus_t
miopenBatchNormForwardInferenceActivationInvVariance(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t scaleDesc,
    const miopenTensorDescriptor_t biasDesc,
    const miopenTensorDescriptor_t estMeanDesc,
    const miopenTensorDescriptor_t estInvVarianceDesc, void *bnScale,
    void *bnBias, void *estimatedMean, void *estimatedInvVariance,
    const miopenActivationDescriptor_t activDesc);

/** miopenBatchNormalizationBackward_V2() of a normalisation with an activation:
 * dy is the gradient of what the activation gives. */
MIOPEN_EXPORT miopenStatus_t miopenBatchNormBackwardActivation(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode,
    const void *alphaDataDiff, const void *betaDataDiff,
    const void *alphaParamDiff, const void *betaParamDiff,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t dyDesc, const void *dy,
    const miopenTensorDescriptor_t dxDesc, void *dx,
    const miopenTensorDescriptor_t scaleDesc,
    const miopenTensorDescriptor_t biasDesc,
    const miopenTensorDescriptor_t savedMeanDesc,
    const miopenTensorDescriptor_t savedVarianceDesc, const void *bnScale,
    const void *bnBias, void *resultBnScaleDiff, void *resultBnBiasDiff,
    double epsilon, const void *savedMean, const void *savedInvVariance,
    const miopenActivationDescriptor_t activDesc);

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_BATCHNORM_H */

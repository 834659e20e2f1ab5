/*===- batchnorm.h - Batch normalisation ---------------------------------===*\
|*
|* The functions ending in _V2 have a descriptor for each parameter tensor,
|* those ending in _V3 running statistics that are not updated in place;
|* InvVariance takes the reciprocal of the standard deviation. None of them
|* runs yet: they answer miopenStatusNotImplemented.
|* miopenDeriveBNTensorDescriptor() works.
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

/** Normalises by the statistics of the batch. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenBatchNormalizationForwardTraining(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t bnScaleBiasMeanVarDesc, void *bnScale,
    void *bnBias, double expAvgFactor, void *resultRunningMean,
    void *resultRunningVariance, double epsilon, void *resultSaveMean,
    void *resultSaveInvVariance);

/** The same, with four descriptors. Not implemented. */
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

/** The same, out of place. Not implemented. */
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

/** Normalises by given statistics. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenBatchNormalizationForwardInference(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t bnScaleBiasMeanVarDesc, void *bnScale,
    void *bnBias, void *estimatedMean, void *estimatedVariance, double epsilon);

/** The same, with four descriptors. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenBatchNormalizationForwardInference_V2(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t scaleDesc,
    const miopenTensorDescriptor_t biasDesc,
    const miopenTensorDescriptor_t estMeanDesc,
    const miopenTensorDescriptor_t estVarianceDesc, void *bnScale, void *bnBias,
    void *estimatedMean, void *estimatedVariance, double epsilon);

/** The same, given reciprocals. Not implemented. */
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

/** Gradients of x, scale and bias. Not implemented. */
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

/** The same, with four descriptors. Not implemented. */
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

/** Training, then an activation. Not implemented. */
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

/** The same, out of place. Not implemented. */
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

/** Inference, then an activation. Not implemented. */
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

/** The same, given reciprocals. Not implemented. */
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

/** Gradients through both. Not implemented. */
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

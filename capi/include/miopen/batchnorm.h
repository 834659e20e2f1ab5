/*===- batchnorm.h - Batch normalisation ----------------------------------===*/
/**
 * @file
 * The elements that share a mean and a variance are those of a channel in all
 * images (spatial), or those of one channel and position in all images (per
 * activation). Formulas are in docs/spec/row-wise.md.
 *
 * For all functions: x has 3 to 5 dimensions, any layout and strides, and is
 * half, bfloat16, float or double; y, dy and dx have its lengths and data type,
 * and strides of their own. Parameters (scale, bias, mean, variance and their
 * gradients) have the lengths that miopenDeriveBNTensorDescriptor() gives, and
 * are float or of the data type of x. Arithmetic is in float, or in double for
 * double.
 *
 * The functions ending in _V2 have a descriptor for each parameter tensor,
 * those ending in _V3 running statistics that are not updated in place;
 * InvVariance takes the reciprocal of the standard deviation. With an
 * activation, its function is applied to the result of the normalisation in the
 * same kernel.
 */

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

/** Which elements share a mean and a variance. */
typedef enum {
  /** One mean for each channel and position, over the batch. */
  miopenBNPerActivation = 0,
  /** One mean for each channel, over the batch and all positions. */
  miopenBNSpatial = 1
} miopenBatchNormMode_t;

/**
 * Sets the descriptor of the parameters that belong to x: a packed tensor of
 * floats with the lengths 1, C, 1, ... in spatial mode, else with the lengths
 * 1, C, [D,] H, W of one image of x.
 *
 * @param[in,out] derivedBnDesc  The descriptor to set; unchanged on failure.
 * @param[in]     xDesc          Describes x, of 4 or 5 dimensions.
 * @param[in]     bn_mode        Which elements share a mean: a channel or an
 *                               activation.
 *
 * @retval miopenStatusSuccess      `derivedBnDesc` is set.
 * @retval miopenStatusBadParm      A pointer is NULL, the mode is unknown, or x
 *                                  does not have 4 or 5 dimensions.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `derivedBnDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenDeriveBNTensorDescriptor(
    miopenTensorDescriptor_t derivedBnDesc,
    const miopenTensorDescriptor_t xDesc, miopenBatchNormMode_t bn_mode);

/**
 * Normalises by the statistics of the batch, and blends them into running
 * statistics.
 *
 * @param[in]     handle              Supplies the device and the stream.
 * @param[in]     bn_mode             Which elements share a mean: a channel or
 *                                    an activation.
 * @param[in]     alpha               Must be 1: a float, or a double if x is
 *                                    double.
 * @param[in]     beta                Must be 0; has the type of `alpha`.
 * @param[in]     xDesc               3 to 5 dimensions; half, bfloat16, float
 *                                    or double; any strides.
 * @param[in]     x                   Device memory, read.
 * @param[in]     yDesc               The lengths and the data type of x; any
 *                                    strides.
 * @param[out]    y                   Device memory, every element overwritten;
 *                                    may be x if the strides agree.
 * @param[in]     bnScaleBiasMeanVarDesc  All parameters, with the lengths of a
 *                                    parameter.
 * @param[in]     bnScale             Multiplies a normalised element; device
 *                                    memory, read.
 * @param[in]     bnBias              Added after the multiplication; device
 *                                    memory, read.
 * @param[in]     expAvgFactor        f: running statistics become (1 - f) old +
 *                                    f new.
 * @param[in,out] resultRunningMean   Blended with the mean; device memory. If
 *                                    this or `resultRunningVariance` is NULL,
 *                                    neither is updated.
 * @param[in,out] resultRunningVariance  Blended with the unbiased variance;
 *                                    device memory, or NULL.
 * @param[in]     epsilon             Added to the variance.
 * @param[out]    resultSaveMean      The mean, for the gradient; device memory.
 *                                    If this or `resultSaveInvVariance` is
 *                                    NULL, neither is saved.
 * @param[out]    resultSaveInvVariance  1 / sqrt(variance + epsilon), of the
 *                                    biased variance; device memory, or NULL.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer that may not be NULL is, the
 *                                     mode is unknown, tensors do not fit each
 *                                     other, or elements of a result overlap.
 * @retval miopenStatusUnknownError    `alpha` is not 1 or `beta` not 0.
 * @retval miopenStatusNotImplemented  No kernel covers the data types.
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
MIOPEN_EXPORT miopenStatus_t miopenBatchNormalizationForwardTraining(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t bnScaleBiasMeanVarDesc, void *bnScale,
    void *bnBias, double expAvgFactor, void *resultRunningMean,
    void *resultRunningVariance, double epsilon, void *resultSaveMean,
    void *resultSaveInvVariance);

/**
 * miopenBatchNormalizationForwardTraining() with a descriptor for each
 * parameter.
 *
 * @param[in]     handle              Supplies the device and the stream.
 * @param[in]     bn_mode             Which elements share a mean: a channel or
 *                                    an activation.
 * @param[in]     alpha               Must be 1: a float, or a double if x is
 *                                    double.
 * @param[in]     beta                Must be 0; has the type of `alpha`.
 * @param[in]     xDesc               3 to 5 dimensions; half, bfloat16, float
 *                                    or double; any strides.
 * @param[in]     x                   Device memory, read.
 * @param[in]     yDesc               The lengths and the data type of x; any
 *                                    strides.
 * @param[out]    y                   Device memory, every element overwritten;
 *                                    may be x if the strides agree.
 * @param[in]     scaleDesc           Scale, with the lengths of a parameter.
 * @param[in]     biasVarDesc         Bias, with the lengths of a parameter.
 * @param[in]     savedMeanDesc       Saved and running mean, with the lengths
 *                                    of a parameter.
 * @param[in]     savedVarDesc        Saved and running variance, with the
 *                                    lengths of a parameter.
 * @param[in]     bnScale             Multiplies a normalised element; device
 *                                    memory, read.
 * @param[in]     bnBias              Added after the multiplication; device
 *                                    memory, read.
 * @param[in]     expAvgFactor        f: running statistics become (1 - f) old +
 *                                    f new.
 * @param[in,out] resultRunningMean   Blended with the mean; device memory. If
 *                                    this or `resultRunningVariance` is NULL,
 *                                    neither is updated.
 * @param[in,out] resultRunningVariance  Blended with the unbiased variance;
 *                                    device memory, or NULL.
 * @param[in]     epsilon             Added to the variance.
 * @param[out]    resultSaveMean      The mean, for the gradient; device memory.
 *                                    If this or `resultSaveInvVariance` is
 *                                    NULL, neither is saved.
 * @param[out]    resultSaveInvVariance  1 / sqrt(variance + epsilon), of the
 *                                    biased variance; device memory, or NULL.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer that may not be NULL is, the
 *                                     mode is unknown, tensors do not fit each
 *                                     other, or elements of a result overlap.
 * @retval miopenStatusUnknownError    `alpha` is not 1 or `beta` not 0.
 * @retval miopenStatusNotImplemented  No kernel covers the data types.
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

/**
 * miopenBatchNormalizationForwardTraining_V2() that reads running statistics
 * from one tensor and writes them to another.
 *
 * @param[in]  handle                 Supplies the device and the stream.
 * @param[in]  bn_mode                Which elements share a mean: a channel or
 *                                    an activation.
 * @param[in]  alpha                  Must be 1: a float, or a double if x is
 *                                    double.
 * @param[in]  beta                   Must be 0; has the type of `alpha`.
 * @param[in]  xDesc                  3 to 5 dimensions; half, bfloat16, float
 *                                    or double; any strides.
 * @param[in]  x                      Device memory, read.
 * @param[in]  yDesc                  The lengths and the data type of x; any
 *                                    strides.
 * @param[out] y                      Device memory, every element overwritten;
 *                                    may be x if the strides agree.
 * @param[in]  scaleDesc              Scale, with the lengths of a parameter.
 * @param[in]  biasVarDesc            Bias, with the lengths of a parameter.
 * @param[in]  savedMeanDesc          Saved and running mean, with the lengths
 *                                    of a parameter.
 * @param[in]  savedVarDesc           Saved and running variance, with the
 *                                    lengths of a parameter.
 * @param[in]  bnScale                Multiplies a normalised element; device
 *                                    memory, read.
 * @param[in]  bnBias                 Added after the multiplication; device
 *                                    memory, read.
 * @param[in]  expAvgFactor           f: running statistics become (1 - f) old +
 *                                    f new.
 * @param[in]  prevResultRunningMean  Running mean before; device memory. If one
 *                                    of the four running statistics is NULL,
 *                                    none is read or written.
 * @param[in]  prevResultRunningVariance  Running variance before; device
 *                                    memory, or NULL.
 * @param[out] nextResultRunningMean  Running mean blended with the mean; device
 *                                    memory, or NULL. May be
 *                                    `prevResultRunningMean`.
 * @param[out] nextResultRunningVariance  Running variance blended with the
 *                                    unbiased variance; device memory, or NULL.
 *                                    May be `prevResultRunningVariance`.
 * @param[in]  epsilon                Added to the variance.
 * @param[out] resultSaveMean         The mean, for the gradient; device memory.
 *                                    If this or `resultSaveInvVariance` is
 *                                    NULL, neither is saved.
 * @param[out] resultSaveInvVariance  1 / sqrt(variance + epsilon), of the
 *                                    biased variance; device memory, or NULL.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer that may not be NULL is, the
 *                                     mode is unknown, tensors do not fit each
 *                                     other, or elements of a result overlap.
 * @retval miopenStatusUnknownError    `alpha` is not 1 or `beta` not 0.
 * @retval miopenStatusNotImplemented  No kernel covers the data types.
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
 * @param[in]  handle                 Supplies the device and the stream.
 * @param[in]  bn_mode                Which elements share a mean: a channel or
 *                                    an activation.
 * @param[in]  alpha                  Must be 1: a float, or a double if x is
 *                                    double.
 * @param[in]  beta                   Must be 0; has the type of `alpha`.
 * @param[in]  xDesc                  3 to 5 dimensions; half, bfloat16, float
 *                                    or double; any strides.
 * @param[in]  x                      Device memory, read.
 * @param[in]  yDesc                  The lengths and the data type of x; any
 *                                    strides.
 * @param[out] y                      Device memory, every element overwritten;
 *                                    may be x if the strides agree.
 * @param[in]  bnScaleBiasMeanVarDesc  All parameters, with the lengths of a
 *                                    parameter.
 * @param[in]  bnScale                Multiplies a normalised element; device
 *                                    memory, read.
 * @param[in]  bnBias                 Added after the multiplication; device
 *                                    memory, read.
 * @param[in]  estimatedMean          Subtracted from an element; device memory,
 *                                    read.
 * @param[in]  estimatedVariance      1 / sqrt(variance + epsilon) multiplies
 *                                    the difference; device memory, read.
 * @param[in]  epsilon                Added to the variance.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, `alpha` is not 1 or
 *                                     `beta` not 0, the mode is unknown,
 *                                     tensors do not fit each other, or
 *                                     elements of y overlap.
 * @retval miopenStatusNotImplemented  No kernel covers the data types.
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
MIOPEN_EXPORT miopenStatus_t miopenBatchNormalizationForwardInference(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t bnScaleBiasMeanVarDesc, void *bnScale,
    void *bnBias, void *estimatedMean, void *estimatedVariance, double epsilon);

/**
 * miopenBatchNormalizationForwardInference() with a descriptor for each
 * parameter.
 *
 * @param[in]  handle             Supplies the device and the stream.
 * @param[in]  bn_mode            Which elements share a mean: a channel or an
 *                                activation.
 * @param[in]  alpha              Must be 1: a float, or a double if x is
 *                                double.
 * @param[in]  beta               Must be 0; has the type of `alpha`.
 * @param[in]  xDesc              3 to 5 dimensions; half, bfloat16, float or
 *                                double; any strides.
 * @param[in]  x                  Device memory, read.
 * @param[in]  yDesc              The lengths and the data type of x; any
 *                                strides.
 * @param[out] y                  Device memory, every element overwritten; may
 *                                be x if the strides agree.
 * @param[in]  scaleDesc          Scale, with the lengths of a parameter.
 * @param[in]  biasDesc           Bias, with the lengths of a parameter.
 * @param[in]  estMeanDesc        Mean, with the lengths of a parameter.
 * @param[in]  estVarianceDesc    Variance, with the lengths of a parameter.
 * @param[in]  bnScale            Multiplies a normalised element; device
 *                                memory, read.
 * @param[in]  bnBias             Added after the multiplication; device memory,
 *                                read.
 * @param[in]  estimatedMean      Subtracted from an element; device memory,
 *                                read.
 * @param[in]  estimatedVariance  1 / sqrt(variance + epsilon) multiplies the
 *                                difference; device memory, read.
 * @param[in]  epsilon            Added to the variance.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, `alpha` is not 1 or
 *                                     `beta` not 0, the mode is unknown,
 *                                     tensors do not fit each other, or
 *                                     elements of y overlap.
 * @retval miopenStatusNotImplemented  No kernel covers the data types.
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
MIOPEN_EXPORT miopenStatus_t miopenBatchNormalizationForwardInference_V2(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t scaleDesc,
    const miopenTensorDescriptor_t biasDesc,
    const miopenTensorDescriptor_t estMeanDesc,
    const miopenTensorDescriptor_t estVarianceDesc, void *bnScale, void *bnBias,
    void *estimatedMean, void *estimatedVariance, double epsilon);

/**
 * miopenBatchNormalizationForwardInference_V2() with 1 / sqrt(variance +
 * epsilon) instead of the variance.
 *
 * @param[in]  handle                Supplies the device and the stream.
 * @param[in]  bn_mode               Which elements share a mean: a channel or
 *                                   an activation.
 * @param[in]  alpha                 Must be 1: a float, or a double if x is
 *                                   double.
 * @param[in]  beta                  Must be 0; has the type of `alpha`.
 * @param[in]  xDesc                 3 to 5 dimensions; half, bfloat16, float or
 *                                   double; any strides.
 * @param[in]  x                     Device memory, read.
 * @param[in]  yDesc                 The lengths and the data type of x; any
 *                                   strides.
 * @param[out] y                     Device memory, every element overwritten;
 *                                   may be x if the strides agree.
 * @param[in]  scaleDesc             Scale, with the lengths of a parameter.
 * @param[in]  biasDesc              Bias, with the lengths of a parameter.
 * @param[in]  estMeanDesc           Mean, with the lengths of a parameter.
 * @param[in]  estInvVarianceDesc    Reciprocal, with the lengths of a
 *                                   parameter.
 * @param[in]  bnScale               Multiplies a normalised element; device
 *                                   memory, read.
 * @param[in]  bnBias                Added after the multiplication; device
 *                                   memory, read.
 * @param[in]  estimatedMean         Subtracted from an element; device memory,
 *                                   read.
 * @param[in]  estimatedInvVariance  1 / sqrt(variance + epsilon), which
 *                                   multiplies the difference; device memory,
 *                                   read.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, `alpha` is not 1 or
 *                                     `beta` not 0, the mode is unknown,
 *                                     tensors do not fit each other, or
 *                                     elements of y overlap.
 * @retval miopenStatusNotImplemented  No kernel covers the data types.
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
 * @param[in]  handle               Supplies the device and the stream.
 * @param[in]  bn_mode              Which elements share a mean: a channel or an
 *                                  activation.
 * @param[in]  alphaDataDiff        Must be 1: a float, or a double if x is
 *                                  double.
 * @param[in]  betaDataDiff         Must be 0; has the type of `alphaDataDiff`.
 * @param[in]  alphaParamDiff       Must be 1; has the type of `alphaDataDiff`.
 * @param[in]  betaParamDiff        Must be 0; has the type of `alphaDataDiff`.
 * @param[in]  xDesc                3 to 5 dimensions; half, bfloat16, float or
 *                                  double; any strides.
 * @param[in]  x                    Device memory, read.
 * @param[in]  dyDesc               The lengths and the data type of x; any
 *                                  strides.
 * @param[in]  dy                   Gradient of y; device memory, read.
 * @param[in]  dxDesc               The lengths and the data type of x; any
 *                                  strides.
 * @param[out] dx                   Gradient of x; device memory, every element
 *                                  overwritten; may be x or dy if the strides
 *                                  agree.
 * @param[in]  bnScaleBiasDiffDesc  All parameters, with the lengths of a
 *                                  parameter.
 * @param[in]  bnScale              Multiplies a normalised element; device
 *                                  memory, read.
 * @param[out] resultBnScaleDiff    Gradient of scale; device memory, every
 *                                  element overwritten.
 * @param[out] resultBnBiasDiff     Gradient of bias; device memory, every
 *                                  element overwritten.
 * @param[in]  epsilon              Added to the variance; not used with saved
 *                                  statistics.
 * @param[in]  savedMean            The mean that training saved; device memory.
 *                                  If this or `savedInvVariance` is NULL, both
 *                                  are computed from x.
 * @param[in]  savedInvVariance     1 / sqrt(variance + epsilon) that training
 *                                  saved; device memory, or NULL.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer that may not be NULL is, a
 *                                     scaling factor is not 1 or 0 as it must
 *                                     be, the mode is unknown, tensors do not
 *                                     fit each other, or elements of a result
 *                                     overlap.
 * @retval miopenStatusNotImplemented  No kernel covers the data types.
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

/**
 * miopenBatchNormalizationBackward() with a descriptor for each parameter.
 *
 * @param[in]  handle             Supplies the device and the stream.
 * @param[in]  bn_mode            Which elements share a mean: a channel or an
 *                                activation.
 * @param[in]  alphaDataDiff      Must be 1: a float, or a double if x is
 *                                double.
 * @param[in]  betaDataDiff       Must be 0; has the type of `alphaDataDiff`.
 * @param[in]  alphaParamDiff     Must be 1; has the type of `alphaDataDiff`.
 * @param[in]  betaParamDiff      Must be 0; has the type of `alphaDataDiff`.
 * @param[in]  xDesc              3 to 5 dimensions; half, bfloat16, float or
 *                                double; any strides.
 * @param[in]  x                  Device memory, read.
 * @param[in]  dyDesc             The lengths and the data type of x; any
 *                                strides.
 * @param[in]  dy                 Gradient of y; device memory, read.
 * @param[in]  dxDesc             The lengths and the data type of x; any
 *                                strides.
 * @param[out] dx                 Gradient of x; device memory, every element
 *                                overwritten; may be x or dy if the strides
 *                                agree.
 * @param[in]  scaleDesc          Scale and its gradient, with the lengths of a
 *                                parameter.
 * @param[in]  biasDesc           Gradient of bias, with the lengths of a
 *                                parameter.
 * @param[in]  savedMeanDesc      Saved mean, with the lengths of a parameter.
 * @param[in]  savedVarDesc       Saved reciprocal, with the lengths of a
 *                                parameter.
 * @param[in]  bnScale            Multiplies a normalised element; device
 *                                memory, read.
 * @param[out] resultBnScaleDiff  Gradient of scale; device memory, every
 *                                element overwritten.
 * @param[out] resultBnBiasDiff   Gradient of bias; device memory, every element
 *                                overwritten.
 * @param[in]  epsilon            Added to the variance; not used with saved
 *                                statistics.
 * @param[in]  savedMean          The mean that training saved; device memory.
 *                                If this or `savedInvVariance` is NULL, both
 *                                are computed from x.
 * @param[in]  savedInvVariance   1 / sqrt(variance + epsilon) that training
 *                                saved; device memory, or NULL.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer that may not be NULL is, a
 *                                     scaling factor is not 1 or 0 as it must
 *                                     be, the mode is unknown, tensors do not
 *                                     fit each other, or elements of a result
 *                                     overlap.
 * @retval miopenStatusNotImplemented  No kernel covers the data types.
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

/**
 * miopenBatchNormalizationForwardTraining_V2() followed by an activation, in
 * one kernel.
 *
 * @param[in]     handle              Supplies the device and the stream.
 * @param[in]     bn_mode             Which elements share a mean: a channel or
 *                                    an activation.
 * @param[in]     alpha               Must be 1: a float, or a double if x is
 *                                    double.
 * @param[in]     beta                Must be 0; has the type of `alpha`.
 * @param[in]     xDesc               3 to 5 dimensions; half, bfloat16, float
 *                                    or double; any strides.
 * @param[in]     x                   Device memory, read.
 * @param[in]     yDesc               The lengths and the data type of x; any
 *                                    strides.
 * @param[out]    y                   Device memory, every element overwritten;
 *                                    may be x if the strides agree.
 * @param[in]     scaleDesc           Scale, with the lengths of a parameter.
 * @param[in]     biasVarDesc         Bias, with the lengths of a parameter.
 * @param[in]     savedMeanDesc       Saved and running mean, with the lengths
 *                                    of a parameter.
 * @param[in]     savedVarDesc        Saved and running variance, with the
 *                                    lengths of a parameter.
 * @param[in]     bnScale             Multiplies a normalised element; device
 *                                    memory, read.
 * @param[in]     bnBias              Added after the multiplication; device
 *                                    memory, read.
 * @param[in]     expAvgFactor        f: running statistics become (1 - f) old +
 *                                    f new.
 * @param[in,out] resultRunningMean   Blended with the mean; device memory. If
 *                                    this or `resultRunningVariance` is NULL,
 *                                    neither is updated.
 * @param[in,out] resultRunningVariance  Blended with the unbiased variance;
 *                                    device memory, or NULL.
 * @param[in]     epsilon             Added to the variance.
 * @param[out]    resultSaveMean      The mean, for the gradient; device memory.
 *                                    If this or `resultSaveInvVariance` is
 *                                    NULL, neither is saved.
 * @param[out]    resultSaveInvVariance  1 / sqrt(variance + epsilon), of the
 *                                    biased variance; device memory, or NULL.
 * @param[in]     activDesc           The activation.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer that may not be NULL is, the
 *                                     mode is unknown, tensors do not fit each
 *                                     other, or elements of a result overlap.
 * @retval miopenStatusUnknownError    `alpha` is not 1 or `beta` not 0.
 * @retval miopenStatusNotImplemented  No kernel covers the data types.
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

/**
 * miopenBatchNormalizationForwardTraining_V3() followed by an activation, in
 * one kernel.
 *
 * @param[in]  handle                 Supplies the device and the stream.
 * @param[in]  bn_mode                Which elements share a mean: a channel or
 *                                    an activation.
 * @param[in]  alpha                  Must be 1: a float, or a double if x is
 *                                    double.
 * @param[in]  beta                   Must be 0; has the type of `alpha`.
 * @param[in]  xDesc                  3 to 5 dimensions; half, bfloat16, float
 *                                    or double; any strides.
 * @param[in]  x                      Device memory, read.
 * @param[in]  yDesc                  The lengths and the data type of x; any
 *                                    strides.
 * @param[out] y                      Device memory, every element overwritten;
 *                                    may be x if the strides agree.
 * @param[in]  scaleDesc              Scale, with the lengths of a parameter.
 * @param[in]  biasVarDesc            Bias, with the lengths of a parameter.
 * @param[in]  savedMeanDesc          Saved and running mean, with the lengths
 *                                    of a parameter.
 * @param[in]  savedVarDesc           Saved and running variance, with the
 *                                    lengths of a parameter.
 * @param[in]  bnScale                Multiplies a normalised element; device
 *                                    memory, read.
 * @param[in]  bnBias                 Added after the multiplication; device
 *                                    memory, read.
 * @param[in]  expAvgFactor           f: running statistics become (1 - f) old +
 *                                    f new.
 * @param[in]  prevResultRunningMean  Running mean before; device memory. If one
 *                                    of the four running statistics is NULL,
 *                                    none is read or written.
 * @param[in]  prevResultRunningVariance  Running variance before; device
 *                                    memory, or NULL.
 * @param[out] nextResultRunningMean  Running mean blended with the mean; device
 *                                    memory, or NULL. May be
 *                                    `prevResultRunningMean`.
 * @param[out] nextResultRunningVariance  Running variance blended with the
 *                                    unbiased variance; device memory, or NULL.
 *                                    May be `prevResultRunningVariance`.
 * @param[in]  epsilon                Added to the variance.
 * @param[out] resultSaveMean         The mean, for the gradient; device memory.
 *                                    If this or `resultSaveInvVariance` is
 *                                    NULL, neither is saved.
 * @param[out] resultSaveInvVariance  1 / sqrt(variance + epsilon), of the
 *                                    biased variance; device memory, or NULL.
 * @param[in]  activDesc              The activation.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer that may not be NULL is, the
 *                                     mode is unknown, tensors do not fit each
 *                                     other, or elements of a result overlap.
 * @retval miopenStatusUnknownError    `alpha` is not 1 or `beta` not 0.
 * @retval miopenStatusNotImplemented  No kernel covers the data types.
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

/**
 * miopenBatchNormalizationForwardInference_V2() followed by an activation, in
 * one kernel.
 *
 * @param[in]  handle             Supplies the device and the stream.
 * @param[in]  bn_mode            Which elements share a mean: a channel or an
 *                                activation.
 * @param[in]  alpha              Must be 1: a float, or a double if x is
 *                                double.
 * @param[in]  beta               Must be 0; has the type of `alpha`.
 * @param[in]  xDesc              3 to 5 dimensions; half, bfloat16, float or
 *                                double; any strides.
 * @param[in]  x                  Device memory, read.
 * @param[in]  yDesc              The lengths and the data type of x; any
 *                                strides.
 * @param[out] y                  Device memory, every element overwritten; may
 *                                be x if the strides agree.
 * @param[in]  scaleDesc          Scale, with the lengths of a parameter.
 * @param[in]  biasDesc           Bias, with the lengths of a parameter.
 * @param[in]  estMeanDesc        Mean, with the lengths of a parameter.
 * @param[in]  estVarianceDesc    Variance, with the lengths of a parameter.
 * @param[in]  bnScale            Multiplies a normalised element; device
 *                                memory, read.
 * @param[in]  bnBias             Added after the multiplication; device memory,
 *                                read.
 * @param[in]  estimatedMean      Subtracted from an element; device memory,
 *                                read.
 * @param[in]  estimatedVariance  1 / sqrt(variance + epsilon) multiplies the
 *                                difference; device memory, read.
 * @param[in]  epsilon            Added to the variance.
 * @param[in]  activDesc          The activation.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, `alpha` is not 1 or
 *                                     `beta` not 0, the mode is unknown,
 *                                     tensors do not fit each other, or
 *                                     elements of y overlap.
 * @retval miopenStatusNotImplemented  No kernel covers the data types.
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

/**
 * miopenBatchNormalizationForwardInferenceInvVariance() followed by an
 * activation, in one kernel.
 *
 * @param[in]  handle                Supplies the device and the stream.
 * @param[in]  bn_mode               Which elements share a mean: a channel or
 *                                   an activation.
 * @param[in]  alpha                 Must be 1: a float, or a double if x is
 *                                   double.
 * @param[in]  beta                  Must be 0; has the type of `alpha`.
 * @param[in]  xDesc                 3 to 5 dimensions; half, bfloat16, float or
 *                                   double; any strides.
 * @param[in]  x                     Device memory, read.
 * @param[in]  yDesc                 The lengths and the data type of x; any
 *                                   strides.
 * @param[out] y                     Device memory, every element overwritten;
 *                                   may be x if the strides agree.
 * @param[in]  scaleDesc             Scale, with the lengths of a parameter.
 * @param[in]  biasDesc              Bias, with the lengths of a parameter.
 * @param[in]  estMeanDesc           Mean, with the lengths of a parameter.
 * @param[in]  estInvVarianceDesc    Reciprocal, with the lengths of a
 *                                   parameter.
 * @param[in]  bnScale               Multiplies a normalised element; device
 *                                   memory, read.
 * @param[in]  bnBias                Added after the multiplication; device
 *                                   memory, read.
 * @param[in]  estimatedMean         Subtracted from an element; device memory,
 *                                   read.
 * @param[in]  estimatedInvVariance  1 / sqrt(variance + epsilon), which
 *                                   multiplies the difference; device memory,
 *                                   read.
 * @param[in]  activDesc             The activation.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, `alpha` is not 1 or
 *                                     `beta` not 0, the mode is unknown,
 *                                     tensors do not fit each other, or
 *                                     elements of y overlap.
 * @retval miopenStatusNotImplemented  No kernel covers the data types.
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

/**
 * miopenBatchNormalizationBackward_V2() for a normalisation followed by an
 * activation: dy is the gradient of the output of the activation.
 *
 * @param[in]  handle             Supplies the device and the stream.
 * @param[in]  bn_mode            Which elements share a mean: a channel or an
 *                                activation.
 * @param[in]  alphaDataDiff      Must be 1: a float, or a double if x is
 *                                double.
 * @param[in]  betaDataDiff       Must be 0; has the type of `alphaDataDiff`.
 * @param[in]  alphaParamDiff     Must be 1; has the type of `alphaDataDiff`.
 * @param[in]  betaParamDiff      Must be 0; has the type of `alphaDataDiff`.
 * @param[in]  xDesc              3 to 5 dimensions; half, bfloat16, float or
 *                                double; any strides.
 * @param[in]  x                  Device memory, read.
 * @param[in]  dyDesc             The lengths and the data type of x; any
 *                                strides.
 * @param[in]  dy                 Gradient of the output of the activation;
 *                                device memory, read.
 * @param[in]  dxDesc             The lengths and the data type of x; any
 *                                strides.
 * @param[out] dx                 Gradient of x; device memory, every element
 *                                overwritten; may be x or dy if the strides
 *                                agree.
 * @param[in]  scaleDesc          Scale and its gradient, with the lengths of a
 *                                parameter.
 * @param[in]  biasDesc           Bias and its gradient, with the lengths of a
 *                                parameter.
 * @param[in]  savedMeanDesc      Saved mean, with the lengths of a parameter.
 * @param[in]  savedVarianceDesc  Saved reciprocal, with the lengths of a
 *                                parameter.
 * @param[in]  bnScale            Multiplies a normalised element; device
 *                                memory, read.
 * @param[in]  bnBias             Added after the multiplication; device memory,
 *                                read.
 * @param[out] resultBnScaleDiff  Gradient of scale; device memory, every
 *                                element overwritten.
 * @param[out] resultBnBiasDiff   Gradient of bias; device memory, every element
 *                                overwritten.
 * @param[in]  epsilon            Added to the variance; not used with saved
 *                                statistics.
 * @param[in]  savedMean          The mean that training saved; device memory.
 *                                If this or `savedInvVariance` is NULL, both
 *                                are computed from x.
 * @param[in]  savedInvVariance   1 / sqrt(variance + epsilon) that training
 *                                saved; device memory, or NULL.
 * @param[in]  activDesc          The activation.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer that may not be NULL is, a
 *                                     scaling factor is not 1 or 0 as it must
 *                                     be, the mode is unknown, tensors do not
 *                                     fit each other, or elements of a result
 *                                     overlap.
 * @retval miopenStatusNotImplemented  No kernel covers the data types.
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

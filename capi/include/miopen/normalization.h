/*===- normalization.h - Normalisation of layers and groups ---------------===*/
/**
 * @file
 * The functions compute y = (x - mean) / sqrt(variance + epsilon) * weight +
 * bias, with mean and variance of each layer, or of each group of channels of
 * an image. The normalisation of T5 subtracts no mean and takes the mean square
 * instead of the variance. Formulas are in docs/spec/row-wise.md.
 *
 * Weight and bias are used in the modes of WEIGHT_BIAS; in those of
 * ELEMENTWISE_AFFINE they and their descriptors may be NULL. mean and rstd, the
 * reciprocal of the root, are written unless they or their descriptors are
 * NULL. x, x2, y, dy and dx have one data type (half, bfloat16, float or
 * double) and any layout and strides; the others may be of that type or float.
 * Lengths of 1 in the descriptors of weight, bias, mean and rstd are ignored.
 */

#ifndef MIOPEN_NORMALIZATION_H
#define MIOPEN_NORMALIZATION_H

#include <miopen/export.h>
#include <miopen/handle.h>
#include <miopen/tensor.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef MIOPEN_BETA_API

/** The function, and whether weight and bias are used. */
typedef enum {
  /** Layer or group normalisation without weight and bias. */
  MIOPEN_ELEMENTWISE_AFFINE = 0,
  /** Layer or group normalisation with weight and bias. */
  MIOPEN_WEIGHT_BIAS = 1,
  /** Layer normalisation of x + x2 without weight and bias. */
  MIOPEN_ELEMENTWISE_AFFINE_FUSED_ADD = 2,
  /** Layer normalisation of x + x2 with weight and bias. */
  MIOPEN_WEIGHT_BIAS_FUSED_ADD = 3,
  /** Division by the root mean square, without weight. */
  MIOPEN_ELEMENTWISE_AFFINE_T5 = 4,
  /** Division by the root mean square, with weight. */
  MIOPEN_WEIGHT_BIAS_T5 = 5
} miopenNormMode_t;

#endif /* MIOPEN_BETA_API */

#ifdef MIOPEN_BETA_API

/**
 * Normalises each layer: dimension `normalized_dim` and all behind it.
 *
 * @param[in]  handle          Supplies the device and the stream.
 * @param[in]  mode            MIOPEN_ELEMENTWISE_AFFINE or MIOPEN_WEIGHT_BIAS.
 * @param[in]  xDesc           Half, bfloat16, float or double.
 * @param[in]  x               Device memory, read.
 * @param[in]  weightDesc      The normalised dimensions of x; NULL without
 *                             weights.
 * @param[in]  weight          Device memory, read; NULL without weights.
 * @param[in]  biasDesc        The normalised dimensions of x; NULL without
 *                             weights.
 * @param[in]  bias            Device memory, read; NULL without weights.
 * @param[in]  epsilon         Added to the variance.
 * @param[in]  normalized_dim  The first normalised dimension, counted from 0.
 * @param[in]  yDesc           The lengths and the data type of x.
 * @param[out] y               Device memory, every element overwritten; may be
 *                             x if the strides agree.
 * @param[in]  meanDesc        The dimensions of x before the normalised ones;
 *                             may be NULL.
 * @param[out] mean            The means; device memory; may be NULL.
 * @param[in]  rstdDesc        The dimensions of x before the normalised ones;
 *                             may be NULL.
 * @param[out] rstd            The reciprocals; device memory; may be NULL.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer that may not be NULL is, the
 *                                     mode is that of another function, tensors
 *                                     do not fit each other, or elements of a
 *                                     result overlap.
 * @retval miopenStatusNotImplemented  No kernel covers the data type, or a
 *                                     tensor has more than five dimensions that
 *                                     cannot be merged.
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
MIOPEN_EXPORT miopenStatus_t miopenLayerNormForward(
    miopenHandle_t handle, miopenNormMode_t mode,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t weightDesc, const void *weight,
    const miopenTensorDescriptor_t biasDesc, const void *bias,
    const float epsilon, const int32_t normalized_dim,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t meanDesc, void *mean,
    const miopenTensorDescriptor_t rstdDesc, void *rstd);

/**
 * Normalises each layer of x + x2: dimension `normalized_dim` and all behind
 * it.
 *
 * @param[in]  handle          Supplies the device and the stream.
 * @param[in]  mode            MIOPEN_ELEMENTWISE_AFFINE_FUSED_ADD or
 *                             MIOPEN_WEIGHT_BIAS_FUSED_ADD.
 * @param[in]  xDesc           Half, bfloat16, float or double.
 * @param[in]  x               Device memory, read.
 * @param[in]  x2Desc          The lengths and the data type of x.
 * @param[in]  x2              Device memory, read.
 * @param[in]  weightDesc      The normalised dimensions of x; NULL without
 *                             weights.
 * @param[in]  weight          Device memory, read; NULL without weights.
 * @param[in]  biasDesc        The normalised dimensions of x; NULL without
 *                             weights.
 * @param[in]  bias            Device memory, read; NULL without weights.
 * @param[in]  epsilon         Added to the variance.
 * @param[in]  normalized_dim  The first normalised dimension, counted from 0.
 * @param[in]  yDesc           The lengths and the data type of x.
 * @param[out] y               Device memory, every element overwritten; may be
 *                             x if the strides agree.
 * @param[in]  meanDesc        The dimensions of x before the normalised ones;
 *                             may be NULL.
 * @param[out] mean            The means; device memory; may be NULL.
 * @param[in]  rstdDesc        The dimensions of x before the normalised ones;
 *                             may be NULL.
 * @param[out] rstd            The reciprocals; device memory; may be NULL.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer that may not be NULL is, the
 *                                     mode is that of another function, tensors
 *                                     do not fit each other, or elements of a
 *                                     result overlap.
 * @retval miopenStatusNotImplemented  No kernel covers the data type, or a
 *                                     tensor has more than five dimensions that
 *                                     cannot be merged.
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
MIOPEN_EXPORT miopenStatus_t miopenAddLayerNormForward(
    miopenHandle_t handle, miopenNormMode_t mode,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t x2Desc, const void *x2,
    const miopenTensorDescriptor_t weightDesc, const void *weight,
    const miopenTensorDescriptor_t biasDesc, const void *bias,
    const float epsilon, const int32_t normalized_dim,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t meanDesc, void *mean,
    const miopenTensorDescriptor_t rstdDesc, void *rstd);

/**
 * Divides by the root of the mean square of the last dimension.
 *
 * @param[in]  handle      Supplies the device and the stream.
 * @param[in]  mode        MIOPEN_ELEMENTWISE_AFFINE_T5 or
 *                         MIOPEN_WEIGHT_BIAS_T5.
 * @param[in]  xDesc       Half, bfloat16, float or double.
 * @param[in]  x           Device memory, read.
 * @param[in]  weightDesc  The last dimension of x; NULL without weights.
 * @param[in]  weight      Device memory, read; NULL without weights.
 * @param[in]  epsilon     Added to the mean square.
 * @param[in]  yDesc       The lengths and the data type of x.
 * @param[out] y           Device memory, every element overwritten; may be x if
 *                         the strides agree.
 * @param[in]  rstdDesc    The dimensions of x but the last; may be NULL.
 * @param[out] rstd        The reciprocals; device memory; may be NULL.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer that may not be NULL is, the
 *                                     mode is that of another function, tensors
 *                                     do not fit each other, or elements of a
 *                                     result overlap.
 * @retval miopenStatusNotImplemented  No kernel covers the data type, or a
 *                                     tensor has more than five dimensions that
 *                                     cannot be merged.
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
MIOPEN_EXPORT miopenStatus_t miopenT5LayerNormForward(
    miopenHandle_t handle, miopenNormMode_t mode,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t weightDesc, const void *weight,
    const float epsilon, const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t rstdDesc, void *rstd);

/**
 * Gets the size of the workspace of miopenT5LayerNormBackward(): 0, because
 * kernels use scratch memory of the handle.
 *
 * @param[in]  handle       Checked for NULL only.
 * @param[in]  mode         Not used.
 * @param[in]  dyDesc       Checked for NULL only.
 * @param[in]  xDesc        Checked for NULL only.
 * @param[in]  weightDesc   Not used; may be NULL.
 * @param[in]  rstdDesc     Checked for NULL only.
 * @param[in]  dxDesc       Checked for NULL only.
 * @param[in]  dwDesc       Not used; may be NULL.
 * @param[out] sizeInBytes  0 bytes.
 *
 * @retval miopenStatusSuccess  `*sizeInBytes` is set.
 * @retval miopenStatusBadParm  A pointer that may not be NULL is.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetT5LayerNormBackwardWorkspaceSize(
    miopenHandle_t handle, miopenNormMode_t mode,
    const miopenTensorDescriptor_t dyDesc, const miopenTensorDescriptor_t xDesc,
    const miopenTensorDescriptor_t weightDesc,
    const miopenTensorDescriptor_t rstdDesc,
    const miopenTensorDescriptor_t dxDesc,
    const miopenTensorDescriptor_t dwDesc, size_t *sizeInBytes);

/**
 * Computes the gradients of x and, unless `dw` or its descriptor is NULL, of
 * the weight: one launch, or two.
 *
 * @param[in]  handle                Supplies the device and the stream.
 * @param[in]  mode                  MIOPEN_ELEMENTWISE_AFFINE_T5 or
 *                                   MIOPEN_WEIGHT_BIAS_T5.
 * @param[in]  workspace             Not used; may be NULL.
 * @param[in]  workspaceSizeInBytes  Not used.
 * @param[in]  dyDesc                The lengths and the data type of x.
 * @param[in]  dy                    Gradient of y; device memory, read.
 * @param[in]  xDesc                 Half, bfloat16, float or double.
 * @param[in]  x                     Device memory, read.
 * @param[in]  weightDesc            The last dimension of x; NULL without
 *                                   weights.
 * @param[in]  weight                Device memory, read; NULL without weights.
 * @param[in]  rstdDesc              The dimensions of x but the last.
 * @param[in]  rstd                  The reciprocals that the forward pass
 *                                   wrote; device memory, read.
 * @param[in]  dxDesc                The lengths and the data type of x.
 * @param[out] dx                    Gradient of x; device memory, every element
 *                                   overwritten.
 * @param[in]  dwDesc                The last dimension of x; may be NULL.
 * @param[out] dw                    Gradient of the weight; device memory,
 *                                   every element overwritten; may be NULL.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer that may not be NULL is, the
 *                                     mode is that of another function, tensors
 *                                     do not fit each other, or elements of a
 *                                     result overlap.
 * @retval miopenStatusNotImplemented  No kernel covers the data type, or a
 *                                     tensor has more than five dimensions that
 *                                     cannot be merged.
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
MIOPEN_EXPORT miopenStatus_t miopenT5LayerNormBackward(
    miopenHandle_t handle, miopenNormMode_t mode, void *workspace,
    size_t workspaceSizeInBytes, const miopenTensorDescriptor_t dyDesc,
    const void *dy, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t weightDesc, const void *weight,
    const miopenTensorDescriptor_t rstdDesc, const void *rstd,
    const miopenTensorDescriptor_t dxDesc, void *dx,
    const miopenTensorDescriptor_t dwDesc, void *dw);

/**
 * Normalises each of `num_groups` groups of channels of each image.
 *
 * @param[in]  handle      Supplies the device and the stream.
 * @param[in]  mode        MIOPEN_ELEMENTWISE_AFFINE or MIOPEN_WEIGHT_BIAS.
 * @param[in]  xDesc       N, C and spatial dimensions.
 * @param[in]  x           Device memory, read.
 * @param[in]  weightDesc  One element for each channel, packed; NULL without
 *                         weights.
 * @param[in]  weight      Device memory, read; NULL without weights.
 * @param[in]  biasDesc    One element for each channel, packed; NULL without
 *                         weights.
 * @param[in]  bias        Device memory, read; NULL without weights.
 * @param[in]  num_groups  Number of groups, at least 1; divides the channels.
 * @param[in]  epsilon     Added to the variance.
 * @param[in]  yDesc       The lengths and the data type of x.
 * @param[out] y           Device memory, every element overwritten; may be x if
 *                         the strides agree.
 * @param[in]  meanDesc    One element for each image and group, packed; may be
 *                         NULL.
 * @param[out] mean        The means; device memory; may be NULL.
 * @param[in]  rstdDesc    One element for each image and group, packed; may be
 *                         NULL.
 * @param[out] rstd        The reciprocals; device memory; may be NULL.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer that may not be NULL is, the
 *                                     mode is that of another function,
 *                                     `num_groups` does not divide the
 *                                     channels, tensors do not fit each other,
 *                                     or elements of a result overlap.
 * @retval miopenStatusNotImplemented  No kernel covers the data type, or x has
 *                                     more than four dimensions that cannot be
 *                                     merged.
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
MIOPEN_EXPORT miopenStatus_t miopenGroupNormForward(
    miopenHandle_t handle, miopenNormMode_t mode,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t weightDesc, const void *weight,
    const miopenTensorDescriptor_t biasDesc, const void *bias,
    const uint64_t num_groups, const float epsilon,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t meanDesc, void *mean,
    const miopenTensorDescriptor_t rstdDesc, void *rstd);

#endif /* MIOPEN_BETA_API */

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_NORMALIZATION_H */

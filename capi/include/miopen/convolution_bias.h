/*===- convolution_bias.h - The bias of a convolution ---------------------===*/
/**
 * @file
 * One number for each channel: a tensor of the lengths 1, C, 1, 1.
 */

#ifndef MIOPEN_CONVOLUTION_BIAS_H
#define MIOPEN_CONVOLUTION_BIAS_H

#include <miopen/export.h>
#include <miopen/handle.h>
#include <miopen/tensor.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Computes y = alpha y + alpha b + beta y, as MIOpen does: miopenOpTensor()
 * with y as A and C and b as B. To add the bias, pass alpha = 1 and beta = 0.
 *
 * @param[in]     handle  Supplies the device and the stream.
 * @param[in]     alpha   A float, or a double if y is double.
 * @param[in]     bDesc   The data type of y; the lengths of y or 1, as 1, C, 1,
 *                        1.
 * @param[in]     b       The bias; device memory, read.
 * @param[in]     beta    Has the type of `alpha`.
 * @param[in]     yDesc   Half, bfloat16, float, double, int32 or int8; any
 *                        layout and strides.
 * @param[in,out] y       Device memory, read and overwritten.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, a descriptor was never
 *                                     set, the data types differ, a length of b
 *                                     is neither 1 nor that of y, or elements
 *                                     of y overlap.
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
MIOPEN_EXPORT miopenStatus_t miopenConvolutionForwardBias(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t bDesc, const void *b, const void *beta,
    const miopenTensorDescriptor_t yDesc, void *y);

/**
 * Computes db, the gradient of a bias: the sum of dy over images and pixels.
 *
 * @param[in]  handle  Supplies the device and the stream.
 * @param[in]  alpha   Must be 1: a float, or a double if dy is double.
 * @param[in]  dyDesc  Half, bfloat16, float or double; at least 2 dimensions,
 *                     any layout and strides.
 * @param[in]  dy      Device memory, read.
 * @param[in]  beta    Must be 0; has the type of `alpha`.
 * @param[in]  dbDesc  As many dimensions as dy, all of length 1 but that of the
 *                     channels; any of these data types.
 * @param[out] db      Device memory, every element overwritten.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, or the lengths of db
 *                                     are not 1, C, 1, ...
 * @retval miopenStatusUnknownError    `alpha` is not 1 or `beta` not 0.
 * @retval miopenStatusNotImplemented  No kernel covers the data types, or dy
 *                                     has more than five dimensions that cannot
 *                                     be merged.
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
MIOPEN_EXPORT miopenStatus_t miopenConvolutionBackwardBias(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t dyDesc, const void *dy, const void *beta,
    const miopenTensorDescriptor_t dbDesc, void *db);

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_CONVOLUTION_BIAS_H */

/*===- convolution_bias.h - The bias of a convolution --------------------===*\
|*
|* A number for each channel: a tensor of the lengths 1, C, 1, 1.
|*
\*===----------------------------------------------------------------------===*/

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
 * y = alpha y + alpha b + beta y, as MIOpen has it: miopenOpTensor() with y as A
 * and C and b as B. Give alpha = 1 and beta = 0 to add the bias.
 *
 * @param handle  Stream and device.
 * @param alpha   A float, or a double if y is double.
 * @param bDesc   The data type of y; lengths 1 but for the channels.
 * @param b       The bias.
 * @param beta    As alpha.
 * @param yDesc   Describes y, of up to five dimensions, of any strides.
 * @param y       The tensor.
 *
 * @return As miopenOpTensor().
 */
MIOPEN_EXPORT miopenStatus_t miopenConvolutionForwardBias(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t bDesc, const void *b, const void *beta,
    const miopenTensorDescriptor_t yDesc, void *y);

/**
 * db = the sum of dy over images and pixels, the gradient of a bias.
 *
 * @param handle  Stream and device.
 * @param alpha   Must point to 1: a float, or a double if dy is double.
 * @param dyDesc  Half, bfloat16, float or double; 2 to 5 dimensions.
 * @param dy      Device memory, read.
 * @param beta    Must point to 0.
 * @param dbDesc  As many dimensions, all of length 1 but that of the channels.
 * @param db      Device memory, overwritten.
 *
 * @retval miopenStatusSuccess         The kernel is launched.
 * @retval miopenStatusBadParm         A pointer is NULL, or db does not fit dy.
 * @retval miopenStatusUnknownError    alpha is not 1 or beta not 0.
 * @retval miopenStatusNotImplemented  No kernel has these data types.
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenConvolutionBackwardBias(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t dyDesc, const void *dy, const void *beta,
    const miopenTensorDescriptor_t dbDesc, void *db);

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_CONVOLUTION_BIAS_H */

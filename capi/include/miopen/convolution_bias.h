/*===- convolution_bias.h - The bias of a convolution --------------------===*\
|*
|* Not implemented yet: both answer miopenStatusNotImplemented.
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

/** y += b, a value for each channel. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenConvolutionForwardBias(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t bDesc, const void *b, const void *beta,
    const miopenTensorDescriptor_t yDesc, void *y);

/** db = the sum of dy over images and pixels. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenConvolutionBackwardBias(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t dyDesc, const void *dy, const void *beta,
    const miopenTensorDescriptor_t dbDesc, void *db);

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_CONVOLUTION_BIAS_H */

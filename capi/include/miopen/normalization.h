/*===- normalization.h - Normalisation of layers and groups --------------===*\
|*
|* y = (x - mean) / sqrt(variance + epsilon) * weight + bias, with mean and
|* variance of each layer, or of each group of channels of an image; T5's has no
|* mean and the mean square in the place of the variance. Formulas are in
|* docs/spec/rows.md.
|*
|* Weight and bias count in the modes of WEIGHT_BIAS; in those of
|* ELEMENTWISE_AFFINE they may be NULL. mean and rstd, the reciprocal of the
|* root, are written unless they are NULL. x, x2, y, dy and dx have one type and
|* any strides; the others may be of that type or float. Lengths of 1 in
|* descriptors of weight, bias, mean and rstd mean nothing.
|*
|* The first call for a problem compiles its kernel; the work is put on the
|* handle's stream and not waited for. All return
|*   miopenStatusSuccess         the work is on the stream;
|*   miopenStatusBadParm         a pointer that is needed is NULL, the mode is
|*                               another function's, or tensors do not fit;
|*   miopenStatusNotImplemented  no kernel has this type, or a group norm has
|*                               more than four dimensions;
|*   miopenStatusInternalError   the compiler or the driver failed.
|* Threads: safe on different handles; calls on one handle must not overlap.
|*
\*===----------------------------------------------------------------------===*/

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

typedef enum {
  MIOPEN_ELEMENTWISE_AFFINE = 0,
  MIOPEN_WEIGHT_BIAS = 1,
  MIOPEN_ELEMENTWISE_AFFINE_FUSED_ADD = 2,
  MIOPEN_WEIGHT_BIAS_FUSED_ADD = 3,
  MIOPEN_ELEMENTWISE_AFFINE_T5 = 4,
  MIOPEN_WEIGHT_BIAS_T5 = 5
} miopenNormMode_t;

#endif /* MIOPEN_BETA_API */

#ifdef MIOPEN_BETA_API

/** Normalises each layer: dimensions `normalized_dim` and all behind it. weight
 * and bias have these dimensions, mean and rstd those before. */
MIOPEN_EXPORT miopenStatus_t miopenLayerNormForward(
    miopenHandle_t handle, miopenNormMode_t mode,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t weightDesc, const void *weight,
    const miopenTensorDescriptor_t biasDesc, const void *bias,
    const float epsilon, const int32_t normalized_dim,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t meanDesc, void *mean,
    const miopenTensorDescriptor_t rstdDesc, void *rstd);

/** The same of x + x2. */
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

/** Divides by the root of the mean square of the last dimension. */
MIOPEN_EXPORT miopenStatus_t miopenT5LayerNormForward(
    miopenHandle_t handle, miopenNormMode_t mode,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t weightDesc, const void *weight,
    const float epsilon, const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t rstdDesc, void *rstd);

/** 0: what the kernels need is the handle's. */
MIOPEN_EXPORT miopenStatus_t miopenGetT5LayerNormBackwardWorkspaceSize(
    miopenHandle_t handle, miopenNormMode_t mode,
    const miopenTensorDescriptor_t dyDesc, const miopenTensorDescriptor_t xDesc,
    const miopenTensorDescriptor_t weightDesc,
    const miopenTensorDescriptor_t rstdDesc,
    const miopenTensorDescriptor_t dxDesc,
    const miopenTensorDescriptor_t dwDesc, size_t *sizeInBytes);

/** Gradients of x and, unless `dw` is NULL, of the weight, with what the forward
 * pass wrote to rstd. `workspace` may be NULL. */
MIOPEN_EXPORT miopenStatus_t miopenT5LayerNormBackward(
    miopenHandle_t handle, miopenNormMode_t mode, void *workspace,
    size_t workspaceSizeInBytes, const miopenTensorDescriptor_t dyDesc,
    const void *dy, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t weightDesc, const void *weight,
    const miopenTensorDescriptor_t rstdDesc, const void *rstd,
    const miopenTensorDescriptor_t dxDesc, void *dx,
    const miopenTensorDescriptor_t dwDesc, void *dw);

/** Normalises each of `num_groups` groups of channels of each image. weight and
 * bias have an element for each channel, mean and rstd one for each image and
 * group, packed. */
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

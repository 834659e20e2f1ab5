/*===- normalization.h - Normalisation of layers and groups --------------===*\
|*
|* None of these runs yet: they answer miopenStatusNotImplemented.
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

/** Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenLayerNormForward(
    miopenHandle_t handle, miopenNormMode_t mode,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t weightDesc, const void *weight,
    const miopenTensorDescriptor_t biasDesc, const void *bias,
    const float epsilon, const int32_t normalized_dim,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t meanDesc, void *mean,
    const miopenTensorDescriptor_t rstdDesc, void *rstd);

/** Not implemented. */
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

/** Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenT5LayerNormForward(
    miopenHandle_t handle, miopenNormMode_t mode,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t weightDesc, const void *weight,
    const float epsilon, const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t rstdDesc, void *rstd);

/** Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenGetT5LayerNormBackwardWorkspaceSize(
    miopenHandle_t handle, miopenNormMode_t mode,
    const miopenTensorDescriptor_t dyDesc, const miopenTensorDescriptor_t xDesc,
    const miopenTensorDescriptor_t weightDesc,
    const miopenTensorDescriptor_t rstdDesc,
    const miopenTensorDescriptor_t dxDesc,
    const miopenTensorDescriptor_t dwDesc, size_t *sizeInBytes);

/** Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenT5LayerNormBackward(
    miopenHandle_t handle, miopenNormMode_t mode, void *workspace,
    size_t workspaceSizeInBytes, const miopenTensorDescriptor_t dyDesc,
    const void *dy, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t weightDesc, const void *weight,
    const miopenTensorDescriptor_t rstdDesc, const void *rstd,
    const miopenTensorDescriptor_t dxDesc, void *dx,
    const miopenTensorDescriptor_t dwDesc, void *dw);

/** Not implemented. */
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

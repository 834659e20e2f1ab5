/*===- tensor_operations.h - What is done to whole tensors ---------------===*\
|*
|* None of these runs yet: they answer miopenStatusNotImplemented.
|*
\*===----------------------------------------------------------------------===*/

#ifndef MIOPEN_TENSOR_OPERATIONS_H
#define MIOPEN_TENSOR_OPERATIONS_H

#include <miopen/export.h>
#include <miopen/handle.h>
#include <miopen/tensor.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  miopenTensorOpAdd = 0,
  miopenTensorOpMul = 1,
  miopenTensorOpMin = 2,
  miopenTensorOpMax = 3
} miopenTensorOp_t;

/** C = op(alpha1 A, alpha2 B) + beta C, with B broadcast. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenOpTensor(
    miopenHandle_t handle, miopenTensorOp_t tensorOp, const void *alpha1,
    const miopenTensorDescriptor_t aDesc, const void *A, const void *alpha2,
    const miopenTensorDescriptor_t bDesc, const void *B, const void *beta,
    const miopenTensorDescriptor_t cDesc, void *C);

/** Sets every element. Not implemented. */
MIOPEN_EXPORT miopenStatus_t
miopenSetTensor(miopenHandle_t handle, const miopenTensorDescriptor_t yDesc,
                void *y, const void *alpha);

/** Multiplies every element. Not implemented. */
MIOPEN_EXPORT miopenStatus_t
miopenScaleTensor(miopenHandle_t handle, const miopenTensorDescriptor_t yDesc,
                  void *y, const void *alpha);

/** y = alpha x + beta y between two layouts. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenTransformTensor(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t xDesc, const void *x, const void *beta,
    const miopenTensorDescriptor_t yDesc, void *y);

#ifdef MIOPEN_BETA_API

/** Puts tensors one behind another. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenCatForward(
    miopenHandle_t handle, const int32_t xCount,
    const miopenTensorDescriptor_t *xDescs, const void *const *xs,
    const miopenTensorDescriptor_t yDesc, void *y, const int32_t dim);

/** Bytes of workspace. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenGetGetitemWorkspaceSize(
    miopenHandle_t handle, uint32_t indexCount,
    const miopenTensorDescriptor_t *indexDescs, size_t *sizeInBytes);

/** Gradient of an indexing. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenGetitemBackward(
    miopenHandle_t handle, void *workspace, size_t workspaceSizeInBytes,
    const miopenTensorDescriptor_t dyDesc, const void *dy, uint32_t indexCount,
    const miopenTensorDescriptor_t *indexDescs, const void *const *indexs,
    const miopenTensorDescriptor_t dxDesc, void *dx,
    const miopenTensorDescriptor_t errorDesc, void *error, uint32_t dimCount,
    const int32_t *dims, uint32_t sliceCount, const int32_t *slices,
    uint32_t offset);

/** Rotary positional embedding. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenRoPEForward(
    miopenHandle_t handle, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t cosDesc, const void *cos,
    const miopenTensorDescriptor_t sinDesc, const void *sin,
    const miopenTensorDescriptor_t yDesc, void *y);

/** Its gradient. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenRoPEBackward(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const void *dy, const miopenTensorDescriptor_t cosDesc, const void *cos,
    const miopenTensorDescriptor_t sinDesc, const void *sin,
    const miopenTensorDescriptor_t dxDesc, void *dx);

/** The k-th smallest along a dimension. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenKthvalueForward(
    miopenHandle_t handle, miopenTensorDescriptor_t inputDesc,
    const void *input, miopenTensorDescriptor_t outputDesc, void *output,
    miopenTensorDescriptor_t indicesDesc, size_t *indices, size_t k,
    int32_t dim MIOPEN_DEFAULT(-1), bool keepDim MIOPEN_DEFAULT(false));

/** Bytes of workspace. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenGetPReLUBackwardWorkspaceSize(
    miopenHandle_t handle, miopenTensorDescriptor_t inputDesc,
    miopenTensorDescriptor_t weightDesc, size_t *sizeInBytes);

/** Gradients of a ReLU with a slope for each channel. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenPReLUBackward(
    miopenHandle_t handle, void *workspace, size_t workspaceSizeInBytes,
    miopenTensorDescriptor_t inputDesc, const void *input,
    miopenTensorDescriptor_t weightDesc, const void *weight,
    miopenTensorDescriptor_t doutputDesc, const void *doutput,
    miopenTensorDescriptor_t dinputDesc, void *dinput,
    miopenTensorDescriptor_t dweightDesc, void *dweight);

#endif /* MIOPEN_BETA_API */

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_TENSOR_OPERATIONS_H */

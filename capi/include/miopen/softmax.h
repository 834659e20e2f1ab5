/*===- softmax.h - Softmax -----------------------------------------------===*\
|*
|* Not implemented yet: the functions that run answer
|* miopenStatusNotImplemented. The descriptor is for
|* miopenCreateSoftmaxProblem() (find2.h) and holds what it was given.
|*
\*===----------------------------------------------------------------------===*/

#ifndef MIOPEN_SOFTMAX_H
#define MIOPEN_SOFTMAX_H

#include <miopen/export.h>
#include <miopen/handle.h>
#include <miopen/tensor.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

MIOPEN_DECLARE_OBJECT(miopenSoftmaxDescriptor);

typedef enum {
  MIOPEN_SOFTMAX_FAST = 0,
  MIOPEN_SOFTMAX_ACCURATE = 1,
  MIOPEN_SOFTMAX_LOG = 2
} miopenSoftmaxAlgorithm_t;

typedef enum {
  MIOPEN_SOFTMAX_MODE_INSTANCE = 0,
  MIOPEN_SOFTMAX_MODE_CHANNEL = 1
} miopenSoftmaxMode_t;

/** y = alpha softmax(x) + beta y over channels. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenSoftmaxForward(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t xDesc, const void *x, const void *beta,
    const miopenTensorDescriptor_t yDesc, void *y);

/** Its gradient. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenSoftmaxBackward(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t yDesc, const void *y,
    const miopenTensorDescriptor_t dyDesc, const void *dy, const void *beta,
    const miopenTensorDescriptor_t dxDesc, void *dx);

/** The same, by algorithm and mode. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenSoftmaxForward_V2(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t xDesc, const void *x, const void *beta,
    const miopenTensorDescriptor_t yDesc, void *y,
    miopenSoftmaxAlgorithm_t algorithm, miopenSoftmaxMode_t mode);

/** Its gradient. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenSoftmaxBackward_V2(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t yDesc, const void *y,
    const miopenTensorDescriptor_t dyDesc, const void *dy, const void *beta,
    const miopenTensorDescriptor_t dxDesc, void *dx,
    miopenSoftmaxAlgorithm_t algorithm, miopenSoftmaxMode_t mode);

/**
 * Creates a descriptor. MIOpen has no function to destroy one;
 * tesseraDestroySoftmaxDescriptor() (tessera/tessera.h) does.
 */
MIOPEN_EXPORT miopenStatus_t
miopenCreateSoftmaxDescriptor(miopenSoftmaxDescriptor_t *softmaxDesc);

/** Sets factors, algorithm and mode; miopenStatusBadParm if one is unknown. */
MIOPEN_EXPORT miopenStatus_t miopenSetSoftmaxDescriptor(
    miopenSoftmaxDescriptor_t softmaxDesc, float alpha, float beta,
    miopenSoftmaxAlgorithm_t algorithm, miopenSoftmaxMode_t mode);

/** Reads what was set; a pointer that is NULL is left out. */
MIOPEN_EXPORT miopenStatus_t miopenGetSoftmaxDescriptor(
    const miopenSoftmaxDescriptor_t softmaxDesc, float *alpha, float *beta,
    miopenSoftmaxAlgorithm_t *algorithm, miopenSoftmaxMode_t *mode);

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_SOFTMAX_H */

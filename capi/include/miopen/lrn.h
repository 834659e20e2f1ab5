/*===- lrn.h - Local response normalisation ------------------------------===*\
|*
|* A descriptor holds the window and the three parameters. Running one is not
|* implemented yet and answers miopenStatusNotImplemented.
|*
\*===----------------------------------------------------------------------===*/

#ifndef MIOPEN_LRN_H
#define MIOPEN_LRN_H

#include <miopen/export.h>
#include <miopen/handle.h>
#include <miopen/tensor.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

MIOPEN_DECLARE_OBJECT(miopenLRNDescriptor);

typedef enum {
  miopenLRNWithinChannel = 0,
  miopenLRNCrossChannel = 1
} miopenLRNMode_t;

/** Creates a descriptor; release it with miopenDestroyLRNDescriptor(). */
MIOPEN_EXPORT miopenStatus_t
miopenCreateLRNDescriptor(miopenLRNDescriptor_t *lrnDesc);

/** Sets mode, window and parameters; miopenStatusBadParm if there is no such
 * mode. */
MIOPEN_EXPORT miopenStatus_t miopenSetLRNDescriptor(
    const miopenLRNDescriptor_t lrnDesc, miopenLRNMode_t mode,
    unsigned int lrnN, double lrnAlpha, double lrnBeta, double lrnK);

/** Reads what was set. */
MIOPEN_EXPORT miopenStatus_t miopenGetLRNDescriptor(
    const miopenLRNDescriptor_t lrnDesc, miopenLRNMode_t *mode,
    unsigned int *lrnN, double *lrnAlpha, double *lrnBeta, double *lrnK);

/** Bytes that the forward pass keeps for the backward one. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenLRNGetWorkSpaceSize(
    const miopenTensorDescriptor_t yDesc, size_t *workSpaceSize);

/** Normalises. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenLRNForward(
    miopenHandle_t handle, const miopenLRNDescriptor_t lrnDesc,
    const void *alpha, const miopenTensorDescriptor_t xDesc, const void *x,
    const void *beta, const miopenTensorDescriptor_t yDesc, void *y,
    bool do_backward, void *workSpace);

/** Gradient of the input. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenLRNBackward(
    miopenHandle_t handle, const miopenLRNDescriptor_t lrnDesc,
    const void *alpha, const miopenTensorDescriptor_t yDesc, const void *y,
    const miopenTensorDescriptor_t dyDesc, const void *dy,
    const miopenTensorDescriptor_t xDesc, const void *x, const void *beta,
    const miopenTensorDescriptor_t dxDesc, void *dx, const void *workSpace);

/** Destroys a descriptor. */
MIOPEN_EXPORT miopenStatus_t
miopenDestroyLRNDescriptor(miopenLRNDescriptor_t lrnDesc);

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_LRN_H */

/*===- lrn.h - Local response normalisation ------------------------------===*\
|*
|* A descriptor holds the window and the three parameters. An element is divided
|* by a power of its neighbourhood,
|*   y = x scale^-beta,   scale = K + alpha / size * sum of x^2,
|* summed over n channels around its own, or over n x n pixels of its own channel;
|* size is n, or n x n, however much of the window is outside of x. Tensors have 4
|* dimensions, are packed, and of half, bfloat16 or float. The factors alpha and
|* beta of the two functions are not looked at, as in MIOpen.
|*
|* A call is a launch for the inside and one for each place near a border, of
|* which there are n - 1; in a plane twice as many, with memory of the handle.
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

/** Bytes that the forward pass keeps for the backward one: an element of scale
 * for each of y. miopenStatusBadParm if a pointer is NULL. */
MIOPEN_EXPORT miopenStatus_t miopenLRNGetWorkSpaceSize(
    const miopenTensorDescriptor_t yDesc, size_t *workSpaceSize);

/**
 * Normalises. The first call for a problem compiles its kernels.
 *
 * @param      handle       Supplies the device and the stream.
 * @param      lrnDesc      Window and parameters.
 * @param      alpha        Not looked at.
 * @param      xDesc        x.
 * @param      x            Device memory, read.
 * @param      beta         Not looked at.
 * @param      yDesc        y.
 * @param[out] y            Device memory, every element overwritten; not x.
 * @param      do_backward  Whether the scales are kept.
 * @param[out] workSpace    Device memory for them, laid out as y.
 *
 * @retval miopenStatusSuccess         The work is on the stream.
 * @retval miopenStatusBadParm         A pointer that is needed is NULL, the
 *                                     tensors do not fit each other, are not
 *                                     packed or have not 4 dimensions.
 * @retval miopenStatusUnknownError    K of the descriptor is 0.
 * @retval miopenStatusNotImplemented  No kernel has this type, or a window holds
 *                                     more than 64 elements along a dimension.
 * @retval miopenStatusInternalError   The compiler or the driver failed.
 *
 * @par Threads
 *   Safe on different handles; calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenLRNForward(
    miopenHandle_t handle, const miopenLRNDescriptor_t lrnDesc,
    const void *alpha, const miopenTensorDescriptor_t xDesc, const void *x,
    const void *beta, const miopenTensorDescriptor_t yDesc, void *y,
    bool do_backward, void *workSpace);

/**
 * Computes the gradient of x from that of y.
 *
 * @param      handle     Supplies the device and the stream.
 * @param      lrnDesc    Window and parameters.
 * @param      alpha      Not looked at.
 * @param      yDesc      y.
 * @param      y          Device memory, read.
 * @param      dyDesc     dy.
 * @param      dy         Device memory, read.
 * @param      xDesc      x.
 * @param      x          Device memory, read.
 * @param      beta       Not looked at.
 * @param      dxDesc     dx.
 * @param[out] dx         Device memory, every element overwritten.
 * @param      workSpace  What the forward pass kept.
 *
 * @retval miopenStatusSuccess         The work is on the stream.
 * @retval miopenStatusBadParm         A pointer that is needed is NULL, the
 *                                     tensors do not fit each other, are not
 *                                     packed or have not 4 dimensions.
 * @retval miopenStatusUnknownError    K of the descriptor is 0.
 * @retval miopenStatusNotImplemented  No kernel has this type, or a window holds
 *                                     more than 64 elements along a dimension.
 * @retval miopenStatusInternalError   The compiler or the driver failed.
 *
 * @par Threads
 *   Safe on different handles; calls on one handle must not overlap.
 */
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

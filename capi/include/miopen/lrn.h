/*===- lrn.h - Local response normalisation -------------------------------===*/
/**
 * @file
 * A descriptor holds the window and the three parameters. An element is divided
 * by a power of its neighbourhood,
 *
 *     y = x scale^-beta,   scale = K + alpha / size * sum of x^2,
 *
 * where the sum is over n channels around its own, or over n x n pixels of its
 * own channel, and size is n, or n x n, however much of the window is outside
 * of x. Tensors have 4 dimensions (N, C, H, W), are packed in any layout, and
 * are half, bfloat16 or float. The arguments alpha and beta of the two
 * functions are not read, as in MIOpen.
 *
 * A call makes one launch for the windows that lie inside of x and one for each
 * of the n - 1 positions near a border; within a channel it makes twice as
 * many, with scratch memory of the handle between them.
 */

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

/** Window and parameters of a local response normalisation. */
MIOPEN_DECLARE_OBJECT(miopenLRNDescriptor);

/** Which elements the window of an element holds. */
typedef enum {
  /** n x n pixels around its own, in its own channel. */
  miopenLRNWithinChannel = 0,
  /** n channels around its own, at its own pixel. */
  miopenLRNCrossChannel = 1
} miopenLRNMode_t;

/**
 * Creates the descriptor of a window of one element within a channel, with
 * alpha = beta = 0 and K = 1.
 *
 * @param[out] lrnDesc  Owned by the caller: release it with
 *                      miopenDestroyLRNDescriptor().
 *
 * @retval miopenStatusSuccess      `*lrnDesc` is usable.
 * @retval miopenStatusBadParm      `lrnDesc` is NULL.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t
miopenCreateLRNDescriptor(miopenLRNDescriptor_t *lrnDesc);

/**
 * Sets mode, window and parameters. miopenLRNForward() and miopenLRNBackward()
 * check the numbers.
 *
 * @param[in,out] lrnDesc   The descriptor to set; unchanged on failure.
 * @param[in]     mode      Across channels, or within a channel.
 * @param[in]     lrnN      Elements of the window along each dimension, at
 *                          least 1.
 * @param[in]     lrnAlpha  alpha.
 * @param[in]     lrnBeta   beta.
 * @param[in]     lrnK      K; not 0.
 *
 * @retval miopenStatusSuccess  The descriptor is set.
 * @retval miopenStatusBadParm  `lrnDesc` is NULL, or the mode is unknown.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `lrnDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetLRNDescriptor(
    const miopenLRNDescriptor_t lrnDesc, miopenLRNMode_t mode,
    unsigned int lrnN, double lrnAlpha, double lrnBeta, double lrnK);

/**
 * Reads mode, window and parameters.
 *
 * @param[in]  lrnDesc   The descriptor to read.
 * @param[out] mode      Across channels, or within a channel.
 * @param[out] lrnN      Elements of the window along each dimension.
 * @param[out] lrnAlpha  alpha.
 * @param[out] lrnBeta   beta.
 * @param[out] lrnK      K.
 *
 * @retval miopenStatusSuccess  All five are set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `lrnDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetLRNDescriptor(
    const miopenLRNDescriptor_t lrnDesc, miopenLRNMode_t *mode,
    unsigned int *lrnN, double *lrnAlpha, double *lrnBeta, double *lrnK);

/**
 * Gets the size of what the forward pass keeps for the backward pass: one
 * element of scale for each element of y.
 *
 * @param[in]  yDesc          Describes y.
 * @param[out] workSpaceSize  Bytes.
 *
 * @retval miopenStatusSuccess  `*workSpaceSize` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `yDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenLRNGetWorkSpaceSize(
    const miopenTensorDescriptor_t yDesc, size_t *workSpaceSize);

/**
 * Normalises x.
 *
 * @param[in]  handle       Supplies the device and the stream.
 * @param[in]  lrnDesc      Window and parameters.
 * @param[in]  alpha        Not read.
 * @param[in]  xDesc        Half, bfloat16 or float.
 * @param[in]  x            Device memory, read.
 * @param[in]  beta         Not read.
 * @param[in]  yDesc        The lengths and the data type of x; the layout may
 *                          differ.
 * @param[out] y            Device memory, every element overwritten; not x.
 * @param[in]  do_backward  Whether the scales are kept.
 * @param[out] workSpace    Device memory for the scales, in the layout of y;
 *                          may be NULL without `do_backward`.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer that is needed is NULL, the
 *                                     window of the descriptor is 0, or the
 *                                     tensors do not fit each other, are not
 *                                     packed, do not have 4 dimensions, or
 *                                     share memory.
 * @retval miopenStatusUnknownError    K of the descriptor is 0.
 * @retval miopenStatusNotImplemented  No kernel covers the data type, or a
 *                                     window holds more than 64 elements along
 *                                     a dimension.
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
MIOPEN_EXPORT miopenStatus_t miopenLRNForward(
    miopenHandle_t handle, const miopenLRNDescriptor_t lrnDesc,
    const void *alpha, const miopenTensorDescriptor_t xDesc, const void *x,
    const void *beta, const miopenTensorDescriptor_t yDesc, void *y,
    bool do_backward, void *workSpace);

/**
 * Computes the gradient of x from that of y.
 *
 * @param[in]  handle     Supplies the device and the stream.
 * @param[in]  lrnDesc    Window and parameters.
 * @param[in]  alpha      Not read.
 * @param[in]  yDesc      The lengths and the data type of x.
 * @param[in]  y          The output of the forward pass; device memory, read.
 * @param[in]  dyDesc     The lengths and the data type of x.
 * @param[in]  dy         Gradient of y; device memory, read.
 * @param[in]  xDesc      Half, bfloat16 or float.
 * @param[in]  x          Device memory, read.
 * @param[in]  beta       Not read.
 * @param[in]  dxDesc     The lengths and the data type of x.
 * @param[out] dx         Gradient of x; device memory, every element
 *                        overwritten; no other tensor of the call.
 * @param[in]  workSpace  The scales that the forward pass kept; device memory.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer that is needed is NULL, the
 *                                     window of the descriptor is 0, or the
 *                                     tensors do not fit each other, are not
 *                                     packed, do not have 4 dimensions, or
 *                                     share memory.
 * @retval miopenStatusUnknownError    K of the descriptor is 0.
 * @retval miopenStatusNotImplemented  No kernel covers the data type, or a
 *                                     window holds more than 64 elements along
 *                                     a dimension.
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
MIOPEN_EXPORT miopenStatus_t miopenLRNBackward(
    miopenHandle_t handle, const miopenLRNDescriptor_t lrnDesc,
    const void *alpha, const miopenTensorDescriptor_t yDesc, const void *y,
    const miopenTensorDescriptor_t dyDesc, const void *dy,
    const miopenTensorDescriptor_t xDesc, const void *x, const void *beta,
    const miopenTensorDescriptor_t dxDesc, void *dx, const void *workSpace);

/**
 * Destroys a descriptor.
 *
 * @param[in] lrnDesc  Not usable afterwards.
 *
 * @retval miopenStatusSuccess  The descriptor is destroyed.
 * @retval miopenStatusBadParm  `lrnDesc` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `lrnDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t
miopenDestroyLRNDescriptor(miopenLRNDescriptor_t lrnDesc);

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_LRN_H */

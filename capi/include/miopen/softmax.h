/*===- softmax.h - Softmax ------------------------------------------------===*/
/**
 * @file
 * Tensors are half, bfloat16 or float, with 2 to 5 dimensions, the second one
 * that of the channels, and any layout and strides. The descriptor is for
 * miopenCreateSoftmaxProblem() (find2.h) only.
 */

#ifndef MIOPEN_SOFTMAX_H
#define MIOPEN_SOFTMAX_H

#include <miopen/export.h>
#include <miopen/handle.h>
#include <miopen/tensor.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Scaling factors, algorithm and mode of a softmax. */
MIOPEN_DECLARE_OBJECT(miopenSoftmaxDescriptor);

/** How a softmax is computed. */
typedef enum {
  /** e^x / sum of e^x; large elements overflow. */
  MIOPEN_SOFTMAX_FAST = 0,
  /** e^(x - m) / sum of e^(x - m), where m is the largest x. */
  MIOPEN_SOFTMAX_ACCURATE = 1,
  /** The logarithm of ACCURATE: x - m - log(sum of e^(x - m)). */
  MIOPEN_SOFTMAX_LOG = 2
} miopenSoftmaxAlgorithm_t;

/** Which elements a sum is taken over. */
typedef enum {
  MIOPEN_SOFTMAX_MODE_INSTANCE = 0, /**< All elements of an image. */
  MIOPEN_SOFTMAX_MODE_CHANNEL = 1   /**< The channels of a pixel. */
} miopenSoftmaxMode_t;

/**
 * Computes y = alpha softmax(x) + beta y over the channels of each pixel:
 * miopenSoftmaxForward_V2() with MIOPEN_SOFTMAX_ACCURATE and
 * MIOPEN_SOFTMAX_MODE_CHANNEL.
 *
 * @param[in]     handle  Supplies the device and the stream.
 * @param[in]     alpha   A float, whatever the data type.
 * @param[in]     xDesc   Half, bfloat16 or float; any strides.
 * @param[in]     x       Device memory, read.
 * @param[in]     beta    A float; y is not read if it is 0.
 * @param[in]     yDesc   The lengths and the data type of x; strides may
 *                        differ.
 * @param[in,out] y       Device memory, every element overwritten; may be x if
 *                        the strides agree.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, the tensors do not fit
 *                                     each other or do not have 2 to 5
 *                                     dimensions, elements of the result
 *                                     overlap, or it shares memory with a
 *                                     tensor of other strides.
 * @retval miopenStatusNotImplemented  No kernel covers the data type.
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
MIOPEN_EXPORT miopenStatus_t miopenSoftmaxForward(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t xDesc, const void *x, const void *beta,
    const miopenTensorDescriptor_t yDesc, void *y);

/**
 * Computes the gradient of miopenSoftmaxForward(): miopenSoftmaxBackward_V2()
 * with MIOPEN_SOFTMAX_ACCURATE and MIOPEN_SOFTMAX_MODE_CHANNEL.
 *
 * @param[in]     handle  Supplies the device and the stream.
 * @param[in]     alpha   A float, whatever the data type.
 * @param[in]     yDesc   The lengths and the data type of dx; strides may
 *                        differ.
 * @param[in]     y       The output of the forward call; device memory, read.
 * @param[in]     dyDesc  The lengths and the data type of dx; strides may
 *                        differ.
 * @param[in]     dy      Gradient of y; device memory, read.
 * @param[in]     beta    A float; dx is not read if it is 0.
 * @param[in]     dxDesc  Half, bfloat16 or float; any strides.
 * @param[in,out] dx      Gradient of x; device memory, every element
 *                        overwritten. May be the memory of another tensor if
 *                        the strides agree.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, the tensors do not fit
 *                                     each other or do not have 2 to 5
 *                                     dimensions, elements of the result
 *                                     overlap, or it shares memory with a
 *                                     tensor of other strides.
 * @retval miopenStatusNotImplemented  No kernel covers the data type.
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
MIOPEN_EXPORT miopenStatus_t miopenSoftmaxBackward(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t yDesc, const void *y,
    const miopenTensorDescriptor_t dyDesc, const void *dy, const void *beta,
    const miopenTensorDescriptor_t dxDesc, void *dx);

/**
 * Computes y = alpha softmax(x) + beta y.
 *
 * @param[in]     handle     Supplies the device and the stream.
 * @param[in]     alpha      A float, whatever the data type.
 * @param[in]     xDesc      Half, bfloat16 or float; any strides.
 * @param[in]     x          Device memory, read.
 * @param[in]     beta       A float; y is not read if it is 0.
 * @param[in]     yDesc      The lengths and the data type of x; strides may
 *                           differ.
 * @param[in,out] y          Device memory, every element overwritten; may be x
 *                           if the strides agree.
 * @param[in]     algorithm  FAST exponentiates x as it is, ACCURATE subtracts
 *                           the maximum before, LOG gives the logarithm of
 *                           ACCURATE.
 * @param[in]     mode       CHANNEL: over the channels of each pixel; INSTANCE:
 *                           over all elements of each image.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, the tensors do not fit
 *                                     each other or do not have 2 to 5
 *                                     dimensions, elements of the result
 *                                     overlap, or it shares memory with a
 *                                     tensor of other strides, or an enumerator
 *                                     is unknown.
 * @retval miopenStatusNotImplemented  No kernel covers the data type.
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
MIOPEN_EXPORT miopenStatus_t miopenSoftmaxForward_V2(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t xDesc, const void *x, const void *beta,
    const miopenTensorDescriptor_t yDesc, void *y,
    miopenSoftmaxAlgorithm_t algorithm, miopenSoftmaxMode_t mode);

/**
 * Computes dx = alpha times the gradient of softmax + beta dx.
 *
 * @param[in]     handle     Supplies the device and the stream.
 * @param[in]     alpha      A float, whatever the data type.
 * @param[in]     yDesc      The lengths and the data type of dx; strides may
 *                           differ.
 * @param[in]     y          The output of the forward call; device memory,
 *                           read.
 * @param[in]     dyDesc     The lengths and the data type of dx; strides may
 *                           differ.
 * @param[in]     dy         Gradient of y; device memory, read.
 * @param[in]     beta       A float; dx is not read if it is 0.
 * @param[in]     dxDesc     Half, bfloat16 or float; any strides.
 * @param[in,out] dx         Gradient of x; device memory, every element
 *                           overwritten. May be the memory of another tensor if
 *                           the strides agree.
 * @param[in]     algorithm  The algorithm of the forward call.
 * @param[in]     mode       The mode of the forward call.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, the tensors do not fit
 *                                     each other or do not have 2 to 5
 *                                     dimensions, elements of the result
 *                                     overlap, or it shares memory with a
 *                                     tensor of other strides, or an enumerator
 *                                     is unknown.
 * @retval miopenStatusNotImplemented  No kernel covers the data type.
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
MIOPEN_EXPORT miopenStatus_t miopenSoftmaxBackward_V2(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t yDesc, const void *y,
    const miopenTensorDescriptor_t dyDesc, const void *dy, const void *beta,
    const miopenTensorDescriptor_t dxDesc, void *dx,
    miopenSoftmaxAlgorithm_t algorithm, miopenSoftmaxMode_t mode);

/**
 * Creates a descriptor of alpha = 1, beta = 0, MIOPEN_SOFTMAX_ACCURATE and
 * MIOPEN_SOFTMAX_MODE_CHANNEL.
 *
 * @param[out] softmaxDesc  Owned by the caller: release it with
 *                          tesseraDestroySoftmaxDescriptor()
 *                          (tessera/tessera.h), because MIOpen has no function
 *                          for that.
 *
 * @retval miopenStatusSuccess      `*softmaxDesc` is usable.
 * @retval miopenStatusBadParm      `softmaxDesc` is NULL.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t
miopenCreateSoftmaxDescriptor(miopenSoftmaxDescriptor_t *softmaxDesc);

/**
 * Sets scaling factors, algorithm and mode.
 *
 * @param[in,out] softmaxDesc  The descriptor to set; unchanged on failure.
 * @param[in]     alpha        Scales the softmax.
 * @param[in]     beta         Scales the old value of the result.
 * @param[in]     algorithm    The algorithm.
 * @param[in]     mode         The mode.
 *
 * @retval miopenStatusSuccess  The descriptor is set.
 * @retval miopenStatusBadParm  `softmaxDesc` is NULL, or an enumerator is
 *                              unknown.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `softmaxDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetSoftmaxDescriptor(
    miopenSoftmaxDescriptor_t softmaxDesc, float alpha, float beta,
    miopenSoftmaxAlgorithm_t algorithm, miopenSoftmaxMode_t mode);

/**
 * Reads scaling factors, algorithm and mode.
 *
 * @param[in]  softmaxDesc  The descriptor to read.
 * @param[out] alpha        Scales the softmax; may be NULL.
 * @param[out] beta         Scales the old value of the result; may be NULL.
 * @param[out] algorithm    The algorithm; may be NULL.
 * @param[out] mode         The mode; may be NULL.
 *
 * @retval miopenStatusSuccess  The outputs that are wanted are set.
 * @retval miopenStatusBadParm  `softmaxDesc` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `softmaxDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetSoftmaxDescriptor(
    const miopenSoftmaxDescriptor_t softmaxDesc, float *alpha, float *beta,
    miopenSoftmaxAlgorithm_t *algorithm, miopenSoftmaxMode_t *mode);

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_SOFTMAX_H */

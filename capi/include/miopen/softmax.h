/*===- softmax.h - Softmax -----------------------------------------------===*\
|*
|* The descriptor is for miopenCreateSoftmaxProblem() (find2.h) and holds what it
|* was given.
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

/**
 * y = alpha softmax(x) + beta y over the channels of each pixel, without
 * overflow: miopenSoftmaxForward_V2() with MIOPEN_SOFTMAX_ACCURATE and
 * MIOPEN_SOFTMAX_MODE_CHANNEL.
 */
MIOPEN_EXPORT miopenStatus_t miopenSoftmaxForward(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t xDesc, const void *x, const void *beta,
    const miopenTensorDescriptor_t yDesc, void *y);

/** Its gradient: miopenSoftmaxBackward_V2() with the same two words. */
MIOPEN_EXPORT miopenStatus_t miopenSoftmaxBackward(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t yDesc, const void *y,
    const miopenTensorDescriptor_t dyDesc, const void *dy, const void *beta,
    const miopenTensorDescriptor_t dxDesc, void *dx);

/**
 * y = alpha softmax(x) + beta y.
 *
 * The first call for a problem compiles its kernel, or finds it in the cache,
 * and blocks meanwhile; later calls only launch. The work is put on the
 * handle's stream and not waited for.
 *
 * @param handle     Stream and device.
 * @param alpha      A float, whatever the data type.
 * @param xDesc      Half, bfloat16 or float; 2 to 5 dimensions, the second one
 *                   that of the channels.
 * @param x          Device memory, read.
 * @param beta       A float; unless it is 0, y is read, too.
 * @param yDesc      The lengths and the data type of x; strides may differ.
 * @param y          Device memory. May be x if the strides agree.
 * @param algorithm  Without the largest number taken off first (FAST), with
 *                   (ACCURATE), or the logarithm of that (LOG).
 * @param mode       Over the channels of a pixel (CHANNEL), or over all of an
 *                   image (INSTANCE).
 *
 * @retval miopenStatusSuccess         The kernel is launched.
 * @retval miopenStatusBadParm         A pointer is NULL, a word is unknown, or
 *                                     the tensors do not fit each other.
 * @retval miopenStatusNotImplemented  No kernel has this data type.
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenSoftmaxForward_V2(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t xDesc, const void *x, const void *beta,
    const miopenTensorDescriptor_t yDesc, void *y,
    miopenSoftmaxAlgorithm_t algorithm, miopenSoftmaxMode_t mode);

/**
 * dx = alpha times the gradient of softmax + beta dx.
 *
 * @param handle     Stream and device.
 * @param alpha      A float, whatever the data type.
 * @param yDesc      Describes y; all tensors have the lengths and the data type
 *                   of dx.
 * @param y          What the forward call gave.
 * @param dyDesc     Describes dy.
 * @param dy         Gradient of y.
 * @param beta       A float; unless it is 0, dx is read, too.
 * @param dxDesc     Describes dx.
 * @param dx         Gradient of x. May be another tensor's memory if the strides
 *                   agree.
 * @param algorithm  That of the forward call.
 * @param mode       That of the forward call.
 *
 * @return As miopenSoftmaxForward_V2().
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 */
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

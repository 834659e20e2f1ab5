/*===- tensor_operations.h - What is done to whole tensors ---------------===*\
|*
|* Tensors may have any layout and strides, and up to five dimensions. Each call
|* compiles a kernel when it first meets these lengths, strides and types, or
|* finds it in the cache, and launches it on the handle's stream. Calls on one
|* handle must not overlap. What does not run yet answers
|* miopenStatusNotImplemented.
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

/**
 * C = op(alpha1 A, alpha2 B) + beta C. B is broadcast along dimensions in which
 * its length is 1. C is not read if beta is 0. Integers are computed with
 * exactly, rounded to the nearest and cut off at the ends of their range.
 *
 * @param handle    Stream and device.
 * @param tensorOp  Sum, product, the smaller or the larger one.
 * @param alpha1    A float, or a double if C is double.
 * @param aDesc     The lengths and the data type of C.
 * @param A         May be C if the strides agree.
 * @param alpha2    As alpha1.
 * @param bDesc     The data type of C, and its lengths or 1.
 * @param B         May be C if lengths and strides agree.
 * @param beta      As alpha1.
 * @param cDesc     Half, bfloat16, float, double, int32 or int8.
 * @param C         The result.
 *
 * @retval miopenStatusSuccess         The kernel is launched.
 * @retval miopenStatusBadParm         A pointer is NULL, there is no such
 *                                     operation, or the tensors do not fit each
 *                                     other.
 * @retval miopenStatusNotImplemented  Another data type, or more dimensions.
 */
MIOPEN_EXPORT miopenStatus_t miopenOpTensor(
    miopenHandle_t handle, miopenTensorOp_t tensorOp, const void *alpha1,
    const miopenTensorDescriptor_t aDesc, const void *A, const void *alpha2,
    const miopenTensorDescriptor_t bDesc, const void *B, const void *beta,
    const miopenTensorDescriptor_t cDesc, void *C);

/**
 * Sets every element.
 *
 * @param handle  Stream and device.
 * @param yDesc   Describes y: half, bfloat16, float, double or an integer.
 * @param y       The tensor.
 * @param alpha   On the host, a number of y's data type.
 *
 * @retval miopenStatusSuccess         The kernel is launched.
 * @retval miopenStatusBadParm         A pointer is NULL, or yDesc was never set.
 * @retval miopenStatusNotImplemented  Another data type, or more dimensions.
 */
MIOPEN_EXPORT miopenStatus_t
miopenSetTensor(miopenHandle_t handle, const miopenTensorDescriptor_t yDesc,
                void *y, const void *alpha);

/**
 * Multiplies every element.
 *
 * @param handle  Stream and device.
 * @param yDesc   Describes y: half, bfloat16, float, double or int32.
 * @param y       The tensor.
 * @param alpha   On the host, a number of y's data type.
 *
 * @retval miopenStatusSuccess         The kernel is launched.
 * @retval miopenStatusBadParm         A pointer is NULL, or another data type.
 * @retval miopenStatusNotImplemented  More dimensions.
 */
MIOPEN_EXPORT miopenStatus_t
miopenScaleTensor(miopenHandle_t handle, const miopenTensorDescriptor_t yDesc,
                  void *y, const void *alpha);

/**
 * y = alpha x + beta y, element by element, between any two layouts and data
 * types. y is not read if beta is 0. Numbers that become integers are rounded
 * to the nearest and cut off at the ends of the range.
 *
 * @param handle  Stream and device.
 * @param alpha   A float, or a double if x is double.
 * @param xDesc   The lengths of y.
 * @param x       May be y if types and strides agree.
 * @param beta    As alpha.
 * @param yDesc   Describes y.
 * @param y       The result.
 *
 * @retval miopenStatusSuccess         The kernel is launched.
 * @retval miopenStatusBadParm         A pointer is NULL, or the tensors do not
 *                                     fit each other.
 * @retval miopenStatusNotImplemented  Another data type, factors for int64, or
 *                                     more dimensions. MIOpen pads the channels
 *                                     of int8; that is not done either.
 */
MIOPEN_EXPORT miopenStatus_t miopenTransformTensor(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t xDesc, const void *x, const void *beta,
    const miopenTensorDescriptor_t yDesc, void *y);

#ifdef MIOPEN_BETA_API

/**
 * Puts tensors one behind another: a launch for each.
 *
 * @param handle  Stream and device.
 * @param xCount  How many, at least 1.
 * @param xDescs  Each with the data type of y, and its lengths but along `dim`.
 * @param xs      The tensors.
 * @param yDesc   Along `dim` it has the sum of their lengths.
 * @param y       The result.
 * @param dim     Where they are put together.
 *
 * @retval miopenStatusSuccess         The kernels are launched.
 * @retval miopenStatusBadParm         A pointer is NULL, or the tensors do not
 *                                     fit each other.
 * @retval miopenStatusNotImplemented  Another data type, or more dimensions.
 */
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

/**
 * Rotary positional embedding: each two neighbours of x are turned by an angle.
 * y[2i] = x[2i] cos[2i] - x[2i+1] sin[2i] and
 * y[2i+1] = x[2i+1] cos[2i+1] + x[2i] sin[2i+1], where cos and sin begin anew
 * when they end.
 *
 * @param handle   Stream and device.
 * @param xDesc    Half, bfloat16 or float; packed, as all of them.
 * @param x        Input.
 * @param cosDesc  An even number of elements that divides that of x.
 * @param cos      Cosines.
 * @param sinDesc  The lengths of cosDesc.
 * @param sin      Sines.
 * @param yDesc    The lengths of xDesc.
 * @param y        Output. May be x if the data types agree.
 *
 * @retval miopenStatusSuccess         The kernel is launched.
 * @retval miopenStatusBadParm         A pointer is NULL, or the tensors do not
 *                                     fit each other.
 * @retval miopenStatusNotImplemented  Another data type, or gaps.
 */
MIOPEN_EXPORT miopenStatus_t miopenRoPEForward(
    miopenHandle_t handle, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t cosDesc, const void *cos,
    const miopenTensorDescriptor_t sinDesc, const void *sin,
    const miopenTensorDescriptor_t yDesc, void *y);

/** Its gradient, with the cosines and sines of the forward call. Returns as
 * miopenRoPEForward(). */
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

/** Bytes of workspace that miopenPReLUBackward() needs: 0. */
MIOPEN_EXPORT miopenStatus_t miopenGetPReLUBackwardWorkspaceSize(
    miopenHandle_t handle, miopenTensorDescriptor_t inputDesc,
    miopenTensorDescriptor_t weightDesc, size_t *sizeInBytes);

/**
 * Gradients of y = x where x > 0, else w x: dinput = dy or w dy, and dweight, the
 * sum of x dy over the elements of a slope that are not above 0.
 *
 * @param handle                 Stream and device.
 * @param workspace              Not used.
 * @param workspaceSizeInBytes   Not used.
 * @param inputDesc              Half, bfloat16 or float, of up to five
 *                               dimensions.
 * @param input                  x.
 * @param weightDesc             One dimension: 1, or as long as the second one
 *                               of the input.
 * @param weight                 Slopes.
 * @param doutputDesc            The lengths of the input.
 * @param doutput                dy.
 * @param dinputDesc             The lengths and the data type of the input.
 * @param dinput                 May be NULL if it is not wanted.
 * @param dweightDesc            The lengths and the data type of the weight.
 * @param dweight                May be NULL if it is not wanted.
 *
 * @retval miopenStatusSuccess         The kernel is launched.
 * @retval miopenStatusBadParm         Another pointer is NULL, or the tensors do
 *                                     not fit each other.
 * @retval miopenStatusNotImplemented  Another data type, or more dimensions.
 */
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

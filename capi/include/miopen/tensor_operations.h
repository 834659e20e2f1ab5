/*===- tensor_operations.h - Operations on whole tensors ------------------===*/
/**
 * @file
 * Tensors may have any layout and strides, and up to five dimensions; more if
 * neighbouring dimensions can be merged into one.
 */

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

/** The operation of miopenOpTensor(). */
typedef enum {
  miopenTensorOpAdd = 0, /**< C = alpha1 A + alpha2 B + beta C. */
  miopenTensorOpMul = 1, /**< C = (alpha1 A) (alpha2 B) + beta C. */
  miopenTensorOpMin = 2, /**< C = min(alpha1 A, alpha2 B) + beta C. */
  miopenTensorOpMax = 3  /**< C = max(alpha1 A, alpha2 B) + beta C. */
} miopenTensorOp_t;

/**
 * Computes C = op(alpha1 A, alpha2 B) + beta C. B is broadcast along dimensions
 * in which its length is 1. Integers are computed without rounding, then
 * rounded to the nearest and clamped to the range of the type.
 *
 * @param[in]     handle    Supplies the device and the stream.
 * @param[in]     tensorOp  Sum, product, minimum or maximum.
 * @param[in]     alpha1    A float, or a double if C is double.
 * @param[in]     aDesc     The lengths and the data type of C.
 * @param[in]     A         Device memory, read; may be C if the strides agree.
 * @param[in]     alpha2    Has the type of `alpha1`.
 * @param[in]     bDesc     The data type of C; its lengths or 1.
 * @param[in]     B         Device memory, read; may be C if lengths and strides
 *                          agree.
 * @param[in]     beta      Has the type of `alpha1`; C is not read if it is 0.
 * @param[in]     cDesc     Half, bfloat16, float, double, int32 or int8.
 * @param[in,out] C         Device memory, every element overwritten.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, a descriptor was never
 *                                     set, there is no such operation, the
 *                                     tensors do not fit each other, or
 *                                     elements of C overlap.
 * @retval miopenStatusNotImplemented  No kernel covers the data type, or a
 *                                     tensor has more than five dimensions that
 *                                     cannot be merged.
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
MIOPEN_EXPORT miopenStatus_t miopenOpTensor(
    miopenHandle_t handle, miopenTensorOp_t tensorOp, const void *alpha1,
    const miopenTensorDescriptor_t aDesc, const void *A, const void *alpha2,
    const miopenTensorDescriptor_t bDesc, const void *B, const void *beta,
    const miopenTensorDescriptor_t cDesc, void *C);

/**
 * Sets every element to one number.
 *
 * @param[in]  handle  Supplies the device and the stream.
 * @param[in]  yDesc   Half, bfloat16, float, double, int8, int32 or int64.
 * @param[out] y       Device memory, every element overwritten.
 * @param[in]  alpha   The number, of the data type of y.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, the descriptor was
 *                                     never set, or elements of y overlap.
 * @retval miopenStatusNotImplemented  No kernel covers the data type, or a
 *                                     tensor has more than five dimensions that
 *                                     cannot be merged.
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
MIOPEN_EXPORT miopenStatus_t
miopenSetTensor(miopenHandle_t handle, const miopenTensorDescriptor_t yDesc,
                void *y, const void *alpha);

/**
 * Multiplies every element by one number.
 *
 * @param[in]     handle  Supplies the device and the stream.
 * @param[in]     yDesc   Half, bfloat16, float, double or int32.
 * @param[in,out] y       Device memory, read and overwritten.
 * @param[in]     alpha   The number, of the data type of y.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, the data type is
 *                                     another one, the descriptor was never
 *                                     set, or elements of y overlap.
 * @retval miopenStatusNotImplemented  No kernel covers the chip, or a tensor
 *                                     has more than five dimensions that cannot
 *                                     be merged.
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
MIOPEN_EXPORT miopenStatus_t
miopenScaleTensor(miopenHandle_t handle, const miopenTensorDescriptor_t yDesc,
                  void *y, const void *alpha);

/**
 * Computes y = alpha x + beta y, element by element, between any two layouts
 * and data types. Numbers that become integers are rounded to the nearest and
 * clamped to the range of the type.
 *
 * Between bytes (int8) of three or more dimensions, the channels may differ:
 * y has those of x, filled up with zeros to a multiple of four, or the first
 * ones of an x whose channels are such a multiple. Then `alpha` must be 1 and
 * `beta` 0.
 *
 * @param[in]     handle  Supplies the device and the stream.
 * @param[in]     alpha   A float, or a double if x is double.
 * @param[in]     xDesc   Half, bfloat16, float, double, int8, int32 or int64;
 *                        the lengths of y, but for channels of bytes.
 * @param[in]     x       Device memory, read; may be y if data types and
 *                        strides agree.
 * @param[in]     beta    Has the type of `alpha`; y is not read if it is 0.
 * @param[in]     yDesc   The lengths of x; any of these data types, any layout
 *                        and strides.
 * @param[in,out] y       Device memory, every element overwritten.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, a descriptor was never
 *                                     set, the lengths differ otherwise, or
 *                                     elements of y overlap.
 * @retval miopenStatusNotImplemented  No kernel covers the data types, `alpha`
 *                                     is not 1 or `beta` not 0 for int64 or
 *                                     with other channels, or a tensor has more
 *                                     than five dimensions that cannot be
 *                                     merged.
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
MIOPEN_EXPORT miopenStatus_t miopenTransformTensor(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t xDesc, const void *x, const void *beta,
    const miopenTensorDescriptor_t yDesc, void *y);

#ifdef MIOPEN_BETA_API

/**
 * Concatenates tensors along a dimension: one launch for each.
 *
 * @param[in]  handle  Supplies the device and the stream.
 * @param[in]  xCount  Number of tensors, at least 1.
 * @param[in]  xDescs  `xCount` descriptors, none NULL; the data type of y, and
 *                     its lengths except along `dim`.
 * @param[in]  xs      `xCount` pointers to device memory, none NULL, read.
 * @param[in]  yDesc   Any data type of miopenTransformTensor(). Its length
 *                     along `dim` is the sum of theirs.
 * @param[out] y       Device memory, every element overwritten.
 * @param[in]  dim     The dimension, counted from 0.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, `xCount` is below 1, y
 *                                     has no dimension `dim`, the tensors do
 *                                     not fit each other, or elements of y
 *                                     overlap. Some of the tensors may have
 *                                     been copied.
 * @retval miopenStatusNotImplemented  No kernel covers the data type, or a
 *                                     tensor has more than five dimensions that
 *                                     cannot be merged.
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
MIOPEN_EXPORT miopenStatus_t miopenCatForward(
    miopenHandle_t handle, const int32_t xCount,
    const miopenTensorDescriptor_t *xDescs, const void *const *xs,
    const miopenTensorDescriptor_t yDesc, void *y, const int32_t dim);

/**
 * Gets the size of the workspace of miopenGetitemBackward(): 0, because the
 * handle has the memory that it needs.
 *
 * @param[in]  handle       A handle.
 * @param[in]  indexCount   Number of index tensors, at most 5.
 * @param[in]  indexDescs   `indexCount` descriptors of them.
 * @param[out] sizeInBytes  Bytes.
 *
 * @retval miopenStatusSuccess  `*sizeInBytes` is set.
 * @retval miopenStatusBadParm  A pointer or a descriptor is NULL, or
 *                              `indexCount` is larger than 5.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetGetitemWorkspaceSize(
    miopenHandle_t handle, uint32_t indexCount,
    const miopenTensorDescriptor_t *indexDescs, size_t *sizeInBytes);

/**
 * Adds the gradient of indexing a tensor with index tensors to dx.
 *
 * With y[a, p, b] = x[a, i1[p], i2[p], ..., b], where the indexed dimensions
 * follow one another, dx[a, j1, j2, ..., b] grows by the sum of dy[a, p, b]
 * over the p with i1[p] = j1, i2[p] = j2, and so on. A negative index counts
 * from the end. One that is outside leads nowhere, and its error becomes -1.
 * Sums are rounded once, and are the same in every run.
 *
 * @param[in]     handle     Supplies the device and the stream.
 * @param[in]     workspace  Not used; may be NULL.
 * @param[in]     workspaceSizeInBytes  Not used.
 * @param[in]     dyDesc     Half, bfloat16, float or double; where dx has the
 *                           indexed dimensions, dy has one, of at most as many
 *                           elements as the index tensors. Other lengths are at
 *                           most those of dx.
 * @param[in]     dy         Gradient of the result; device memory, read.
 * @param[in]     indexCount Number of index tensors, 1 to 3.
 * @param[in]     indexDescs `indexCount` descriptors of them: int32 or int64,
 *                           one dimension, one length.
 * @param[in]     indexs     `indexCount` pointers to them; device memory, read.
 * @param[in]     dxDesc     The type of `dyDesc`.
 * @param[in,out] dx         Gradient of the tensor; device memory, added to.
 * @param[in]     errorDesc  int32, one dimension.
 * @param[in,out] error      An element for each index tensor, written where one
 *                           of its indices is outside; device memory.
 * @param[in]     dimCount   Equals `indexCount`.
 * @param[in]     dims       The indexed dimensions, which follow one another.
 * @param[in]     sliceCount Number of slices of other dimensions of dx.
 * @param[in]     slices     Four numbers for each: dimension, begin (0), end
 *                           and step.
 * @param[in]     offset     0.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, or tensors, dimensions
 *                                     or slices do not fit each other.
 * @retval miopenStatusNotImplemented  Another data type, more index tensors or
 *                                     such with more dimensions, dimensions
 *                                     that do not follow one another, an
 *                                     offset, a slice that does not begin at 0
 *                                     or is of an indexed dimension.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Compiles on first use, then launches two kernels and one for each index
 *   tensor. Each element of dx is compared with all indices.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetitemBackward(
    miopenHandle_t handle, void *workspace, size_t workspaceSizeInBytes,
    const miopenTensorDescriptor_t dyDesc, const void *dy, uint32_t indexCount,
    const miopenTensorDescriptor_t *indexDescs, const void *const *indexs,
    const miopenTensorDescriptor_t dxDesc, void *dx,
    const miopenTensorDescriptor_t errorDesc, void *error, uint32_t dimCount,
    const int32_t *dims, uint32_t sliceCount, const int32_t *slices,
    uint32_t offset);

/**
 * Computes a rotary positional embedding: each pair of neighbours in x is
 * rotated by an angle.
 *
 * y[2i] = x[2i] cos[2i] - x[2i+1] sin[2i] and y[2i+1] = x[2i+1] cos[2i+1] +
 * x[2i] sin[2i+1], where cos and sin are repeated as often as x needs.
 *
 * @param[in]  handle   Supplies the device and the stream.
 * @param[in]  xDesc    Half, bfloat16, float or double; packed.
 * @param[in]  x        Device memory, read.
 * @param[in]  cosDesc  Half, bfloat16, float or double; an even number of
 *                      elements that divides that of x; packed.
 * @param[in]  cos      Cosines; device memory, read.
 * @param[in]  sinDesc  The lengths of `cosDesc`; packed.
 * @param[in]  sin      Sines; device memory, read.
 * @param[in]  yDesc    The lengths of `xDesc`; packed.
 * @param[out] y        Device memory, every element overwritten; may be x if
 *                      the data types agree.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, the lengths do not fit
 *                                     each other, or memory is shared by
 *                                     tensors of different data types.
 * @retval miopenStatusNotImplemented  No kernel covers the data type, or a
 *                                     tensor is not packed in the order of its
 *                                     lengths.
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
MIOPEN_EXPORT miopenStatus_t miopenRoPEForward(
    miopenHandle_t handle, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t cosDesc, const void *cos,
    const miopenTensorDescriptor_t sinDesc, const void *sin,
    const miopenTensorDescriptor_t yDesc, void *y);

/**
 * Computes the gradient of miopenRoPEForward(), with the cosines and sines of
 * the forward call.
 *
 * @param[in]  handle   Supplies the device and the stream.
 * @param[in]  dyDesc   Half, bfloat16, float or double; packed.
 * @param[in]  dy       Gradient of y; device memory, read.
 * @param[in]  cosDesc  Half, bfloat16, float or double; an even number of
 *                      elements that divides that of dy; packed.
 * @param[in]  cos      Cosines; device memory, read.
 * @param[in]  sinDesc  The lengths of `cosDesc`; packed.
 * @param[in]  sin      Sines; device memory, read.
 * @param[in]  dxDesc   The lengths of `dyDesc`; packed.
 * @param[out] dx       Gradient of x; device memory, every element overwritten;
 *                      may be dy if the data types agree.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, the lengths do not fit
 *                                     each other, or memory is shared by
 *                                     tensors of different data types.
 * @retval miopenStatusNotImplemented  No kernel covers the data type, or a
 *                                     tensor is not packed in the order of its
 *                                     lengths.
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
MIOPEN_EXPORT miopenStatus_t miopenRoPEBackward(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const void *dy, const miopenTensorDescriptor_t cosDesc, const void *cos,
    const miopenTensorDescriptor_t sinDesc, const void *sin,
    const miopenTensorDescriptor_t dxDesc, void *dx);

/**
 * Finds the k-th smallest element along a dimension, and the index of the first
 * element that is equal to it. A NaN is larger than any number.
 *
 * @param[in]  handle       Supplies the device and the stream.
 * @param[in]  inputDesc    Half, bfloat16 or float; any strides.
 * @param[in]  input        Device memory, read.
 * @param[in]  outputDesc   The data type of the input; its lengths without the
 *                          dimension, which has length 1 with `keepDim`.
 * @param[out] output       Device memory, every element overwritten.
 * @param[in]  indicesDesc  Int64; the lengths of the output.
 * @param[out] indices      Index of each element along the dimension; device
 *                          memory, every element overwritten.
 * @param[in]  k            k: which element, counted from 1.
 * @param[in]  dim          The dimension; negative numbers count from the last.
 * @param[in]  keepDim      Whether the output keeps the dimension, with length
 *                          1.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, there is no such
 *                                     element or dimension, the tensors do not
 *                                     fit each other, or elements of a result
 *                                     overlap.
 * @retval miopenStatusNotImplemented  No kernel covers the data type or the
 *                                     chip, or a tensor has more than five
 *                                     dimensions that cannot be merged.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Compiles on first use, then launches: 35 kernels, 33 of which read the
 *   input; does not wait for the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenKthvalueForward(
    miopenHandle_t handle, miopenTensorDescriptor_t inputDesc,
    const void *input, miopenTensorDescriptor_t outputDesc, void *output,
    miopenTensorDescriptor_t indicesDesc, size_t *indices, size_t k,
    int32_t dim MIOPEN_DEFAULT(-1), bool keepDim MIOPEN_DEFAULT(false));

/**
 * Gets the size of the workspace of miopenPReLUBackward(): 0.
 *
 * @param[in]  handle       Checked for NULL only.
 * @param[in]  inputDesc    Checked for NULL only.
 * @param[in]  weightDesc   Checked for NULL only.
 * @param[out] sizeInBytes  0 bytes.
 *
 * @retval miopenStatusSuccess  `*sizeInBytes` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetPReLUBackwardWorkspaceSize(
    miopenHandle_t handle, miopenTensorDescriptor_t inputDesc,
    miopenTensorDescriptor_t weightDesc, size_t *sizeInBytes);

/**
 * Computes the gradients of y = x where x > 0, else y = w x: dinput is dy where
 * x > 0, else w dy, and dweight is the sum of x dy over the elements x <= 0 of
 * a slope.
 *
 * @param[in]  handle                Supplies the device and the stream.
 * @param[in]  workspace             Not used; may be NULL.
 * @param[in]  workspaceSizeInBytes  Not used.
 * @param[in]  inputDesc             Half, bfloat16, float or double; any layout
 *                                   and strides.
 * @param[in]  input                 x; device memory, read.
 * @param[in]  weightDesc            One dimension, of length 1 or that of the
 *                                   second one of the input; the data type of
 *                                   the input.
 * @param[in]  weight                The slopes w; device memory, read.
 * @param[in]  doutputDesc           The lengths of the input.
 * @param[in]  doutput               dy; device memory, read.
 * @param[in]  dinputDesc            The lengths and the data type of the input.
 * @param[out] dinput                Device memory, every element overwritten;
 *                                   NULL if it is not wanted.
 * @param[in]  dweightDesc           The lengths and the data type of the
 *                                   weight.
 * @param[out] dweight               Device memory, every element overwritten;
 *                                   NULL if it is not wanted.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream, or no
 *                                     gradient is wanted.
 * @retval miopenStatusBadParm         A pointer other than `workspace`,
 *                                     `dinput` and `dweight` is NULL, or the
 *                                     tensors do not fit each other.
 * @retval miopenStatusNotImplemented  No kernel covers the data type, or a
 *                                     tensor has more than five dimensions that
 *                                     cannot be merged.
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

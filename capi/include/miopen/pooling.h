/*===- pooling.h - Pooling and its gradient -------------------------------===*/
/**
 * @file
 * A pooling is described by a pooling descriptor (mode, window, padding,
 * strides, and how the indices of maxima are saved) and two tensors: input x
 * and output y, of 4 dimensions (N, C, H, W) or 5 (N, C, D, H, W), with any
 * strides. What is computed, ties, NaN and empty windows included, is defined
 * in docs/spec/pooling.md.
 *
 * The workspace of max pooling is not scratch memory: the forward pass writes
 * the index of each maximum there, and the backward pass reads it. It holds one
 * index for each element of y, packed in the layout of y.
 */

#ifndef MIOPEN_POOLING_H
#define MIOPEN_POOLING_H

#include <miopen/export.h>
#include <miopen/handle.h>
#include <miopen/tensor.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Mode, window, padding, strides and indices of a pooling. */
MIOPEN_DECLARE_OBJECT(miopenPoolingDescriptor);

/** What is computed of the elements of a window. */
typedef enum {
  /** The largest element inside x; a NaN is never it. */
  miopenPoolingMax = 0,
  /** The sum divided by the number of elements inside x. */
  miopenPoolingAverage = 1,
  /** The sum divided by the size of the window; padding is zero. */
  miopenPoolingAverageInclusive = 2
} miopenPoolingMode_t;

/** Type of a saved index; unsigned. */
typedef enum {
  miopenIndexUint8 = 0,  /**< 1 byte. */
  miopenIndexUint16 = 1, /**< 2 bytes. */
  miopenIndexUint32 = 2, /**< 4 bytes. */
  miopenIndexUint64 = 3  /**< 8 bytes. */
} miopenIndexType_t;

/** What a saved index counts. */
typedef enum {
  /** Positions of the window, padding included. */
  miopenPoolingWorkspaceIndexMask = 0,
  /** Pixels of the image. */
  miopenPoolingWorkspaceIndexImage = 1
} miopenPoolingWorkspaceIndexMode_t;

/**
 * Creates the descriptor of a 2-D max pooling with a window of 1x1, no padding,
 * strides of 1, 8-bit indices and index mode Mask.
 *
 * @param[out] poolDesc  Owned by the caller: release it with
 *                       miopenDestroyPoolingDescriptor().
 *
 * @retval miopenStatusSuccess      `*poolDesc` is usable.
 * @retval miopenStatusBadParm      `poolDesc` is NULL.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t
miopenCreatePoolingDescriptor(miopenPoolingDescriptor_t *poolDesc);

/**
 * Sets the type of saved indices. The largest number of the type must be
 * greater than the number of positions that are counted, which
 * miopenPoolingForward() checks.
 *
 * @param[in,out] poolDesc    The descriptor to set; unchanged on failure.
 * @param[in]     index_type  The type.
 *
 * @retval miopenStatusSuccess  The type is set.
 * @retval miopenStatusBadParm  `poolDesc` is NULL, or the type is unknown.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `poolDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetPoolingIndexType(
    miopenPoolingDescriptor_t poolDesc, miopenIndexType_t index_type);

/**
 * Reads the type of saved indices.
 *
 * @param[in]  poolDesc    The descriptor to read.
 * @param[out] index_type  The type.
 *
 * @retval miopenStatusSuccess  `*index_type` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `poolDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetPoolingIndexType(
    miopenPoolingDescriptor_t poolDesc, miopenIndexType_t *index_type);

/**
 * Sets what saved indices count.
 *
 * @param[in,out] poolDesc         The descriptor to set; unchanged on failure.
 * @param[in]     workspace_index  The index mode.
 *
 * @retval miopenStatusSuccess  The mode is set.
 * @retval miopenStatusBadParm  `poolDesc` is NULL, or the mode is unknown.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `poolDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetPoolingWorkSpaceIndexMode(
    miopenPoolingDescriptor_t poolDesc,
    miopenPoolingWorkspaceIndexMode_t workspace_index);

/**
 * Reads what saved indices count.
 *
 * @param[in]  poolDesc         The descriptor to read.
 * @param[out] workspace_index  The index mode.
 *
 * @retval miopenStatusSuccess  `*workspace_index` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `poolDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetPoolingWorkSpaceIndexMode(
    miopenPoolingDescriptor_t poolDesc,
    miopenPoolingWorkspaceIndexMode_t *workspace_index);

/**
 * Sets a 2-D pooling. Index type and index mode go back to 8 bits and Mask.
 *
 * @param[in,out] poolDesc      The descriptor to set; unchanged on failure.
 * @param[in]     mode          Maximum or one of the averages.
 * @param[in]     windowHeight  Rows of the window, at least 1.
 * @param[in]     windowWidth   Columns of the window, at least 1.
 * @param[in]     pad_h         Rows added above and below, at least 0.
 * @param[in]     pad_w         Columns added left and right, at least 0.
 * @param[in]     stride_h      Rows between two windows, at least 1.
 * @param[in]     stride_w      Columns between two windows, at least 1.
 *
 * @retval miopenStatusSuccess  The descriptor is set.
 * @retval miopenStatusBadParm  `poolDesc` is NULL, `mode` is unknown, or a
 *                              number is below its minimum.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `poolDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSet2dPoolingDescriptor(
    miopenPoolingDescriptor_t poolDesc, miopenPoolingMode_t mode,
    int windowHeight, int windowWidth, int pad_h, int pad_w, int stride_h,
    int stride_w);

/**
 * Reads a 2-D pooling.
 *
 * @param[in]  poolDesc      The descriptor to read.
 * @param[out] mode          Maximum or one of the averages.
 * @param[out] windowHeight  Rows of the window.
 * @param[out] windowWidth   Columns of the window.
 * @param[out] pad_h         Rows added above and below.
 * @param[out] pad_w         Columns added left and right.
 * @param[out] stride_h      Rows between two windows.
 * @param[out] stride_w      Columns between two windows.
 *
 * @retval miopenStatusSuccess       All seven are set.
 * @retval miopenStatusBadParm       A pointer is NULL.
 * @retval miopenStatusUnknownError  The pooling has three spatial dimensions.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `poolDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGet2dPoolingDescriptor(
    const miopenPoolingDescriptor_t poolDesc, miopenPoolingMode_t *mode,
    int *windowHeight, int *windowWidth, int *pad_h, int *pad_w, int *stride_h,
    int *stride_w);

/**
 * Computes the lengths of y for a 4-D x: along a spatial dimension `max(1,
 * floor((length + 2 pad - window) / stride) + 1)`.
 *
 * @param[in]  poolDesc    A 2-D pooling.
 * @param[in]  tensorDesc  x, of 4 dimensions.
 * @param[out] n           Batch size.
 * @param[out] c           Channels.
 * @param[out] h           Height.
 * @param[out] w           Width.
 *
 * @retval miopenStatusSuccess         All four are set.
 * @retval miopenStatusBadParm         A pointer is NULL, x does not have 4
 *                                     dimensions, or a length exceeds an int.
 * @retval miopenStatusUnknownError    The pooling has three spatial dimensions.
 * @retval miopenStatusNotImplemented  A spatial length of x is 2^31 or more.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `poolDesc` or `tensorDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetPoolingForwardOutputDim(
    const miopenPoolingDescriptor_t poolDesc,
    const miopenTensorDescriptor_t tensorDesc, int *n, int *c, int *h, int *w);

/**
 * Sets a pooling over two or three dimensions. The index type goes back to 8
 * bits, and the index mode to Mask in two dimensions and to Image in three.
 *
 * @param[in,out] poolDesc    The descriptor to set; unchanged on failure.
 * @param[in]     mode        Maximum or one of the averages.
 * @param[in]     nbDims      2 or 3: the length of the three arrays.
 * @param[in]     windowDimA  Window along each dimension, in elements, at least
 *                            1.
 * @param[in]     padA        Padding of each dimension, in elements, at least
 *                            0.
 * @param[in]     stridesA    Stride of each dimension, in elements, at least 1.
 *
 * @retval miopenStatusSuccess  The descriptor is set.
 * @retval miopenStatusBadParm  A pointer is NULL, `nbDims` or `mode` is out of
 *                              range, or a number is below its minimum.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `poolDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetNdPoolingDescriptor(
    miopenPoolingDescriptor_t poolDesc, const miopenPoolingMode_t mode,
    int nbDims, const int *windowDimA, const int *padA, const int *stridesA);

/**
 * Reads a pooling over two or three dimensions.
 *
 * @param[in]  poolDesc         The descriptor to read.
 * @param[in]  nbDimsRequested  Capacity of the three arrays, at least 0.
 * @param[out] mode             Maximum or one of the averages; may be NULL.
 * @param[out] nbDims           Number of spatial dimensions; may be NULL.
 * @param[out] windowDimA       Window along the first `nbDimsRequested`
 *                              dimensions; may be NULL.
 * @param[out] padA             Padding of them; may be NULL.
 * @param[out] stridesA         Strides of them; may be NULL.
 *
 * @retval miopenStatusSuccess       The outputs that are wanted are set.
 * @retval miopenStatusBadParm       `poolDesc` is NULL, or `nbDimsRequested` is
 *                                   negative.
 * @retval miopenStatusUnknownError  `nbDimsRequested` is more than the pooling
 *                                   has.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `poolDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetNdPoolingDescriptor(
    const miopenPoolingDescriptor_t poolDesc, int nbDimsRequested,
    miopenPoolingMode_t *mode, int *nbDims, int *windowDimA, int *padA,
    int *stridesA);

/**
 * Computes the lengths of y for any number of dimensions, as
 * miopenGetPoolingForwardOutputDim() does.
 *
 * @param[in]  poolDesc      The pooling.
 * @param[in]  tensorDesc    x, of two dimensions more than the pooling.
 * @param[in]  dims          The dimensions of x.
 * @param[out] tensorDimArr  `dims` lengths, in the order N, C, [D,] H, W.
 *
 * @retval miopenStatusSuccess         The lengths are set.
 * @retval miopenStatusBadParm         A pointer is NULL, `dims` is not the rank
 *                                     of x, x does not have two dimensions more
 *                                     than the pooling, or a length exceeds an
 *                                     int.
 * @retval miopenStatusNotImplemented  A spatial length of x is 2^31 or more.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `poolDesc` or `tensorDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetPoolingNdForwardOutputDim(
    const miopenPoolingDescriptor_t poolDesc,
    const miopenTensorDescriptor_t tensorDesc, int dims, int *tensorDimArr);

/**
 * Gets the size of 8-bit indices: one byte for each element of y. For other
 * index types call miopenPoolingGetWorkSpaceSizeV2().
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
MIOPEN_EXPORT miopenStatus_t miopenPoolingGetWorkSpaceSize(
    const miopenTensorDescriptor_t yDesc, size_t *workSpaceSize);

/**
 * Gets the size of the indices of max pooling, which forward with `do_backward`
 * and miopenPoolingBackward() need.
 *
 * @param[in]  poolDesc       The pooling.
 * @param[in]  yDesc          Describes y.
 * @param[out] workSpaceSize  Bytes; 0 for an average.
 *
 * @retval miopenStatusSuccess  `*workSpaceSize` is set.
 * @retval miopenStatusBadParm  A pointer is NULL, or the indices would be 2^64
 *                              bytes or more.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `poolDesc` or `yDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenPoolingGetWorkSpaceSizeV2(
    const miopenPoolingDescriptor_t poolDesc,
    const miopenTensorDescriptor_t yDesc, size_t *workSpaceSize);

/**
 * Computes y = pooling(x), and, for max pooling with `do_backward`, the index
 * of each maximum.
 *
 * @param[in]  handle         Supplies the device and the stream.
 * @param[in]  poolDesc       The pooling.
 * @param[in]  alpha          Must be 1: a float, or a double if x is double.
 * @param[in]  xDesc          Half, bfloat16 or float; any layout and strides.
 * @param[in]  x              Device memory, read.
 * @param[in]  beta           Must be 0; has the type of `alpha`.
 * @param[in]  yDesc          The data type of x and the lengths that
 *                            miopenGetPoolingForwardOutputDim() gives; any
 *                            layout and strides.
 * @param[out] y              Device memory, every element overwritten.
 * @param[in]  do_backward    Whether max pooling saves indices.
 * @param[out] workSpace      Device memory for the indices; may be NULL if none
 *                            are saved.
 * @param[in]  workSpaceSize  Size of `workSpace` in bytes.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer that is needed is NULL, x and y
 *                                     do not fit each other or the pooling,
 *                                     elements of y overlap, or the workspace
 *                                     is too small.
 * @retval miopenStatusUnknownError    `alpha` is not 1 or `beta` not 0; or
 *                                     indices are saved, but `workSpace` is
 *                                     NULL or the index type is too small for
 *                                     the number of positions.
 * @retval miopenStatusNotImplemented  There is no kernel for the data type or
 *                                     the size.
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
MIOPEN_EXPORT miopenStatus_t miopenPoolingForward(
    miopenHandle_t handle, const miopenPoolingDescriptor_t poolDesc,
    const void *alpha, const miopenTensorDescriptor_t xDesc, const void *x,
    const void *beta, const miopenTensorDescriptor_t yDesc, void *y,
    bool do_backward, void *workSpace, size_t workSpaceSize);

/**
 * Computes the gradient of x from that of y. No atomics are used, so that the
 * same inputs give the same bits.
 *
 * @param[in]  handle     Supplies the device and the stream.
 * @param[in]  poolDesc   The pooling of the forward pass.
 * @param[in]  alpha      Must be 1: a float, or a double if dx is double.
 * @param[in]  yDesc      Describes y; checked for NULL only.
 * @param[in]  y          Not used; may be NULL.
 * @param[in]  dyDesc     The data type of dx and the lengths of y; any layout
 *                        and strides.
 * @param[in]  dy         Gradient of y; device memory, read.
 * @param[in]  xDesc      Describes x; checked for NULL only.
 * @param[in]  x          Not used; may be NULL.
 * @param[in]  beta       Must be 0; has the type of `alpha`.
 * @param[in]  dxDesc     Half, bfloat16 or float; the lengths of x, any layout
 *                        and strides.
 * @param[out] dx         Gradient of x; device memory, every element
 *                        overwritten.
 * @param[in]  workSpace  Device memory with the indices that the forward pass
 *                        saved for a y of the layout of dy; not used by
 *                        averages, where it may be NULL.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer that is needed is NULL, dx and
 *                                     dy do not fit each other or the pooling,
 *                                     or elements of dx overlap.
 * @retval miopenStatusUnknownError    `alpha` is not 1 or `beta` not 0; or, for
 *                                     max pooling, `workSpace` is NULL or the
 *                                     index type is too small for the number of
 *                                     positions.
 * @retval miopenStatusNotImplemented  There is no kernel for the data type or
 *                                     the size.
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
MIOPEN_EXPORT miopenStatus_t miopenPoolingBackward(
    miopenHandle_t handle, const miopenPoolingDescriptor_t poolDesc,
    const void *alpha, const miopenTensorDescriptor_t yDesc, const void *y,
    const miopenTensorDescriptor_t dyDesc, const void *dy,
    const miopenTensorDescriptor_t xDesc, const void *x, const void *beta,
    const miopenTensorDescriptor_t dxDesc, void *dx, void *workSpace);

/**
 * Destroys a descriptor.
 *
 * @param[in] poolDesc  Not usable afterwards.
 *
 * @retval miopenStatusSuccess  The descriptor is destroyed.
 * @retval miopenStatusBadParm  `poolDesc` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `poolDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t
miopenDestroyPoolingDescriptor(miopenPoolingDescriptor_t poolDesc);

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_POOLING_H */

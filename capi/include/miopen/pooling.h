/*===- pooling.h - Pooling and its gradient ------------------------------===*\
|*
|* A pooling is described by a pooling descriptor (mode, window, padding,
|* strides, and how the places of maxima are saved) and two tensors: input x and
|* output y, of 4 dimensions (N, C, H, W) or 5 (N, C, D, H, W), with any
strides.
|* What is computed, ties, NaN and empty windows included, is defined in
|* docs/spec/pooling.md.
|*
|* The workspace of max pooling is no scratch memory: forward writes there where
|* each maximum was found, and backward reads it. It holds one index for each
|* element of y, packed in y's layout.
|*
\*===----------------------------------------------------------------------===*/

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

MIOPEN_DECLARE_OBJECT(miopenPoolingDescriptor);

/** What becomes of the elements of a window. */
typedef enum {
  miopenPoolingMax = 0,
  miopenPoolingAverage = 1,         /**< Of the elements inside x. */
  miopenPoolingAverageInclusive = 2 /**< Of all positions; padding is zero. */
} miopenPoolingMode_t;

/** Type of a saved index; unsigned. */
typedef enum {
  miopenIndexUint8 = 0,
  miopenIndexUint16 = 1,
  miopenIndexUint32 = 2,
  miopenIndexUint64 = 3
} miopenIndexType_t;

/** What a saved index counts. */
typedef enum {
  miopenPoolingWorkspaceIndexMask = 0, /**< Positions of the window, padding
                                            included. */
  miopenPoolingWorkspaceIndexImage = 1 /**< Pixels of the image. */
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
 * @par Threads
 *   Any.
 */
MIOPEN_EXPORT miopenStatus_t
miopenCreatePoolingDescriptor(miopenPoolingDescriptor_t *poolDesc);

/**
 * Sets the type of saved indices. The largest number of the type must be
 * greater than what the index counts: miopenPoolingForward() checks it.
 *
 * @param poolDesc    The descriptor to set; unchanged on failure.
 * @param index_type  The type.
 *
 * @retval miopenStatusSuccess  The type is set.
 * @retval miopenStatusBadParm  `poolDesc` is NULL or the type is unknown.
 *
 * @par Threads
 *   Nobody else may use the descriptor meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetPoolingIndexType(
    miopenPoolingDescriptor_t poolDesc, miopenIndexType_t index_type);

/**
 * Reads the type of saved indices.
 *
 * @param      poolDesc    A descriptor.
 * @param[out] index_type  The type.
 *
 * @retval miopenStatusSuccess  `*index_type` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Threads
 *   Any.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetPoolingIndexType(
    miopenPoolingDescriptor_t poolDesc, miopenIndexType_t *index_type);

/**
 * Sets what saved indices count.
 *
 * @param poolDesc         The descriptor to set; unchanged on failure.
 * @param workspace_index  The index mode.
 *
 * @retval miopenStatusSuccess  The mode is set.
 * @retval miopenStatusBadParm  `poolDesc` is NULL or the mode is unknown.
 *
 * @par Threads
 *   Nobody else may use the descriptor meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetPoolingWorkSpaceIndexMode(
    miopenPoolingDescriptor_t poolDesc,
    miopenPoolingWorkspaceIndexMode_t workspace_index);

/**
 * Reads what saved indices count.
 *
 * @param      poolDesc         A descriptor.
 * @param[out] workspace_index  The index mode.
 *
 * @retval miopenStatusSuccess  `*workspace_index` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Threads
 *   Any.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetPoolingWorkSpaceIndexMode(
    miopenPoolingDescriptor_t poolDesc,
    miopenPoolingWorkspaceIndexMode_t *workspace_index);

/**
 * Sets a 2-D pooling. Index type and index mode go back to 8 bits and Mask.
 *
 * @param poolDesc      The descriptor to set; unchanged on failure.
 * @param mode          Maximum or one of the averages.
 * @param windowHeight  Rows of the window, at least 1.
 * @param windowWidth   Columns of the window, at least 1.
 * @param pad_h         Rows added above and below, at least 0.
 * @param pad_w         Columns added left and right, at least 0.
 * @param stride_h      Rows between two windows, at least 1.
 * @param stride_w      Columns between two windows, at least 1.
 *
 * @retval miopenStatusSuccess  The descriptor is set.
 * @retval miopenStatusBadParm  `poolDesc` is NULL, `mode` is unknown, or a
 *                              number is below its minimum.
 *
 * @par Threads
 *   Nobody else may use the descriptor meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSet2dPoolingDescriptor(
    miopenPoolingDescriptor_t poolDesc, miopenPoolingMode_t mode,
    int windowHeight, int windowWidth, int pad_h, int pad_w, int stride_h,
    int stride_w);

/**
 * Reads a 2-D pooling.
 *
 * @param      poolDesc      A descriptor.
 * @param[out] mode          Maximum or one of the averages.
 * @param[out] windowHeight  Rows of the window.
 * @param[out] windowWidth   Columns of the window.
 * @param[out] pad_h         Rows added above and below.
 * @param[out] pad_w         Columns added left and right.
 * @param[out] stride_h      Rows between two windows.
 * @param[out] stride_w      Columns between two windows.
 *
 * @retval miopenStatusSuccess       Everything is set.
 * @retval miopenStatusBadParm       A pointer is NULL.
 * @retval miopenStatusUnknownError  The descriptor is for 3 dimensions.
 *
 * @par Threads
 *   Any.
 */
MIOPEN_EXPORT miopenStatus_t miopenGet2dPoolingDescriptor(
    const miopenPoolingDescriptor_t poolDesc, miopenPoolingMode_t *mode,
    int *windowHeight, int *windowWidth, int *pad_h, int *pad_w, int *stride_h,
    int *stride_w);

/**
 * Computes the lengths of y for a 2-D x: along a dimension
 * `max(1, floor((length + 2 pad - window) / stride) + 1)`.
 *
 * @param      poolDesc    A descriptor of a 2-D pooling.
 * @param      tensorDesc  x, of 4 dimensions.
 * @param[out] n           Images.
 * @param[out] c           Channels.
 * @param[out] h           Height.
 * @param[out] w           Width.
 *
 * @retval miopenStatusSuccess       The lengths are set.
 * @retval miopenStatusBadParm       A pointer is NULL, x has not 4 dimensions,
 *                                   or a length does not fit in an int.
 * @retval miopenStatusUnknownError  The descriptor is for 3 dimensions.
 *
 * @par Threads
 *   Any.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetPoolingForwardOutputDim(
    const miopenPoolingDescriptor_t poolDesc,
    const miopenTensorDescriptor_t tensorDesc, int *n, int *c, int *h, int *w);

/**
 * Sets a pooling over two or three dimensions. The index type goes back to 8
 * bits, and the index mode to Mask in two dimensions and to Image in three.
 *
 * @param poolDesc    The descriptor to set; unchanged on failure.
 * @param mode        Maximum or one of the averages.
 * @param nbDims      2 or 3: the length of the three arrays.
 * @param windowDimA  Window along each dimension, at least 1.
 * @param padA        Padding of each dimension, at least 0.
 * @param stridesA    Stride of each dimension, at least 1.
 *
 * @retval miopenStatusSuccess  The descriptor is set.
 * @retval miopenStatusBadParm  A pointer is NULL, `nbDims` or `mode` is out of
 *                              range, or a number is below its minimum.
 *
 * @par Threads
 *   Nobody else may use the descriptor meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetNdPoolingDescriptor(
    miopenPoolingDescriptor_t poolDesc, const miopenPoolingMode_t mode,
    int nbDims, const int *windowDimA, const int *padA, const int *stridesA);

/**
 * Reads a pooling over two or three dimensions. An output that is NULL is not
 * wanted.
 *
 * @param      poolDesc         A descriptor.
 * @param      nbDimsRequested  How many entries the arrays have room for.
 * @param[out] mode             Maximum or one of the averages.
 * @param[out] nbDims           How many dimensions there are.
 * @param[out] windowDimA       Window along the requested dimensions.
 * @param[out] padA             Padding of them.
 * @param[out] stridesA         Strides of them.
 *
 * @retval miopenStatusSuccess       What is wanted is set.
 * @retval miopenStatusBadParm       `poolDesc` is NULL or `nbDimsRequested` is
 *                                   negative.
 * @retval miopenStatusUnknownError  More dimensions are requested than there
 *                                   are.
 *
 * @par Threads
 *   Any.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetNdPoolingDescriptor(
    const miopenPoolingDescriptor_t poolDesc, int nbDimsRequested,
    miopenPoolingMode_t *mode, int *nbDims, int *windowDimA, int *padA,
    int *stridesA);

/**
 * Computes the lengths of y, as miopenGetPoolingForwardOutputDim().
 *
 * @param      poolDesc      A descriptor.
 * @param      tensorDesc    x, of two dimensions more than the pooling.
 * @param      dims          The dimensions of x.
 * @param[out] tensorDimArr  `dims` lengths, in the order N, C, [D,] H, W.
 *
 * @retval miopenStatusSuccess  The lengths are set.
 * @retval miopenStatusBadParm  A pointer is NULL, the numbers of dimensions do
 *                              not agree, or a length does not fit in an int.
 *
 * @par Threads
 *   Any.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetPoolingNdForwardOutputDim(
    const miopenPoolingDescriptor_t poolDesc,
    const miopenTensorDescriptor_t tensorDesc, int dims, int *tensorDimArr);

/**
 * One byte for each element of y: enough for 8-bit indices only. For other
 * index types ask miopenPoolingGetWorkSpaceSizeV2().
 *
 * @param      yDesc          y.
 * @param[out] workSpaceSize  Bytes.
 *
 * @retval miopenStatusSuccess  `*workSpaceSize` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Threads
 *   Any.
 */
MIOPEN_EXPORT miopenStatus_t miopenPoolingGetWorkSpaceSize(
    const miopenTensorDescriptor_t yDesc, size_t *workSpaceSize);

/**
 * The bytes of the indices of max pooling; 0 for an average. Needed only with
 * `do_backward`, and by miopenPoolingBackward().
 *
 * @param      poolDesc       A descriptor.
 * @param      yDesc          y.
 * @param[out] workSpaceSize  Bytes.
 *
 * @retval miopenStatusSuccess  `*workSpaceSize` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Threads
 *   Any.
 */
MIOPEN_EXPORT miopenStatus_t miopenPoolingGetWorkSpaceSizeV2(
    const miopenPoolingDescriptor_t poolDesc,
    const miopenTensorDescriptor_t yDesc, size_t *workSpaceSize);

/**
 * Computes `y = pooling(x)`, and for max pooling with `do_backward` where each
 * maximum was found.
 *
 * The first call for a problem compiles its kernel, or finds it in the cache,
 * and blocks meanwhile; later calls only launch. The work is put on the
 * handle's stream and not waited for. A window as large as an image may need
 * scratch memory, which the handle allocates once and keeps.
 *
 * @param handle         Supplies the device and the stream.
 * @param poolDesc       The pooling.
 * @param alpha          Points to a float 1.
 * @param xDesc          Lengths, strides and type of x: half, bfloat16, float.
 * @param x              Device memory, read.
 * @param beta           Points to a float 0.
 * @param yDesc          Lengths, strides and type of y.
 * @param y              Device memory, every element overwritten.
 * @param do_backward    Whether max pooling saves indices.
 * @param workSpace      Device memory for them; may be NULL if none are saved.
 * @param workSpaceSize  Its bytes.
 *
 * @retval miopenStatusSuccess         The work is on the stream.
 * @retval miopenStatusBadParm         A pointer that is needed is NULL, x and y
 *                                     do not fit each other or the pooling, or
 *                                     the workspace is too small.
 * @retval miopenStatusUnknownError    alpha is not 1 or beta is not 0; indices
 *                                     are to be saved, but `workSpace` is NULL
 *                                     or the index type is too small for what
 *                                     the index counts.
 * @retval miopenStatusNotImplemented  There is no kernel for the data type or
 *                                     the size.
 *
 * @par Threads
 *   One for a handle.
 */
MIOPEN_EXPORT miopenStatus_t miopenPoolingForward(
    miopenHandle_t handle, const miopenPoolingDescriptor_t poolDesc,
    const void *alpha, const miopenTensorDescriptor_t xDesc, const void *x,
    const void *beta, const miopenTensorDescriptor_t yDesc, void *y,
    bool do_backward, void *workSpace, size_t workSpaceSize);

/**
 * Computes the gradient of x from that of y. No atomics are used, so the same
 * inputs give the same bits.
 *
 * Cost as miopenPoolingForward().
 *
 * @param handle     Supplies the device and the stream.
 * @param poolDesc   The pooling of the forward pass.
 * @param alpha      Points to a float 1.
 * @param yDesc      Describes y; not used.
 * @param y          Not used; may be NULL.
 * @param dyDesc     Lengths, strides and type of the gradient of y.
 * @param dy         Device memory, read.
 * @param xDesc      Describes x; not used.
 * @param x          Not used; may be NULL.
 * @param beta       Points to a float 0.
 * @param dxDesc     Lengths, strides and type of the gradient of x.
 * @param dx         Device memory, every element overwritten.
 * @param workSpace  The indices that forward saved, for a `dyDesc` of the same
 *                   layout as forward's `yDesc`; not used by averages.
 *
 * @retval miopenStatusSuccess         The work is on the stream.
 * @retval miopenStatusBadParm         A pointer that is needed is NULL, or dx
 *                                     and dy do not fit each other or the
 *                                     pooling.
 * @retval miopenStatusUnknownError    alpha is not 1 or beta is not 0; or of
 * max pooling, `workSpace` is NULL or the index type is too small for what the
 * index counts.
 * @retval miopenStatusNotImplemented  There is no kernel for the data type or
 *                                     the size.
 *
 * @par Threads
 *   One for a handle.
 */
MIOPEN_EXPORT miopenStatus_t miopenPoolingBackward(
    miopenHandle_t handle, const miopenPoolingDescriptor_t poolDesc,
    const void *alpha, const miopenTensorDescriptor_t yDesc, const void *y,
    const miopenTensorDescriptor_t dyDesc, const void *dy,
    const miopenTensorDescriptor_t xDesc, const void *x, const void *beta,
    const miopenTensorDescriptor_t dxDesc, void *dx, void *workSpace);

/**
 * Releases a descriptor.
 *
 * @param poolDesc  The descriptor; not usable afterwards.
 *
 * @retval miopenStatusSuccess  It is released.
 * @retval miopenStatusBadParm  `poolDesc` is NULL.
 *
 * @par Threads
 *   Nobody else may use the descriptor meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t
miopenDestroyPoolingDescriptor(miopenPoolingDescriptor_t poolDesc);

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_POOLING_H */

/*===- tensor.h - The shape of an array on the device ----------------------===*\
|*
|* A tensor descriptor is an element type, lengths and strides. Lengths are
|* always in the order N, C, [D,] H, W, whatever the order in memory; strides,
|* in elements, say the order in memory.
|*
\*===----------------------------------------------------------------------===*/

#ifndef MIOPEN_TENSOR_H
#define MIOPEN_TENSOR_H

#include <miopen/export.h>
#include <miopen/handle.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

MIOPEN_DECLARE_OBJECT(miopenTensorDescriptor);

/** Type of an element. Descriptors take all of them; what runs
 *  on which of them is in convolution_forward.h. */
typedef enum {
  miopenHalf = 0,
  miopenFloat = 1,
  miopenInt32 = 2,
  miopenInt8 = 3,
  miopenInt8x4 = 4, /**< Retired by MIOpen; no descriptor takes it. */
  miopenBFloat16 = 5,
  miopenDouble = 6,
  miopenFloat8_fnuz = 7,
  miopenBFloat8_fnuz = 8,
#ifdef MIOPEN_BETA_API
  miopenFloat8 = 7, /**< Older names of the two. */
  miopenBFloat8 = 8,
#endif
  miopenInt64 = 9
} miopenDataType_t;

/** How a float8 is rounded. */
typedef enum {
  miopenF8RoundingModeStandard = 0,
  miopenF8RoundingModeStochastic = 1
} miopenF8RoundingMode_t;

/** Order in memory, slowest dimension first. */
typedef enum {
  miopenTensorNCHW = 0,
  miopenTensorNHWC = 1,
  miopenTensorCHWN = 2,
  miopenTensorNCHWc4 = 3,
  miopenTensorNCHWc8 = 4,
  miopenTensorCHWNc4 = 5,
  miopenTensorCHWNc8 = 6,
  miopenTensorNCDHW = 7,
  miopenTensorNDHWC = 8
} miopenTensorLayout_t;

/**
 * Creates a descriptor with no dimensions; set it before use.
 *
 * @param[out] tensorDesc  Owned by the caller: release it with
 *                         miopenDestroyTensorDescriptor().
 *
 * @retval miopenStatusSuccess      `*tensorDesc` can be set.
 * @retval miopenStatusBadParm      `tensorDesc` is NULL.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Threads
 *   Any.
 */
MIOPEN_EXPORT miopenStatus_t
miopenCreateTensorDescriptor(miopenTensorDescriptor_t *tensorDesc);

/**
 * Describes a packed NCHW tensor; with four lengths of 0, none, as at first.
 *
 * @param tensorDesc  The descriptor to set; unchanged on failure.
 * @param dataType    Type of an element.
 * @param n           Batch; like the other three, at least 1 unless all are 0.
 * @param c           Channels.
 * @param h           Height.
 * @param w           Width.
 *
 * @retval miopenStatusSuccess  The descriptor is set.
 * @retval miopenStatusBadParm  `tensorDesc` is NULL, `dataType` is unknown, or
 *                              a length is below 1.
 *
 * @par Threads
 *   Nobody else may use the descriptor meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSet4dTensorDescriptor(
    miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType, int n,
    int c, int h, int w);

/**
 * Describes a packed tensor whose order in memory is `tensorLayout`.
 *
 * @param tensorDesc    The descriptor to set; unchanged on failure.
 * @param dataType      Type of an element.
 * @param tensorLayout  NCHW, NHWC and CHWN take four lengths, NCDHW and NDHWC
 *                      five.
 * @param lens          Lengths, in the order N, C, [D,] H, W.
 * @param num_lens      How many.
 *
 * @retval miopenStatusSuccess         The descriptor is set.
 * @retval miopenStatusInvalidValue    `lens` is NULL or `num_lens` below 1.
 * @retval miopenStatusBadParm         `tensorDesc` is NULL, `dataType` or
 *                                     `tensorLayout` is unknown, the layout
 *                                     takes another number of lengths, or a
 *                                     length is below 1.
 * @retval miopenStatusNotImplemented  A layout with vectors of channels (c4,
 *                                     c8).
 *
 * @par Threads
 *   Nobody else may use the descriptor meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetNdTensorDescriptorWithLayout(
    miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType,
    miopenTensorLayout_t tensorLayout, const int *lens, int num_lens);

/**
 * Describes a 4-D tensor by its lengths and strides.
 *
 * @param tensorDesc  The descriptor to set; unchanged on failure.
 * @param dataType    Type of an element.
 * @param n           Batch; like the other three lengths, at least 1.
 * @param c           Channels.
 * @param h           Height.
 * @param w           Width.
 * @param nStride     Elements from one image to the next; like the other three
 *                    strides, at least 1.
 * @param cStride     Elements from one channel to the next.
 * @param hStride     Elements from one row to the next.
 * @param wStride     Elements from one column to the next.
 *
 * @retval miopenStatusSuccess  The descriptor is set.
 * @retval miopenStatusBadParm  `tensorDesc` is NULL, `dataType` is unknown, or
 *                              a length or stride is below 1.
 *
 * @par Threads
 *   Nobody else may use the descriptor meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSet4dTensorDescriptorEx(
    miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType, int n,
    int c, int h, int w, int nStride, int cStride, int hStride, int wStride);

/**
 * Reads a 4-D descriptor.
 *
 * @param      tensorDesc  A descriptor with four dimensions.
 * @param[out] dataType    Type of an element.
 * @param[out] n           Batch.
 * @param[out] c           Channels.
 * @param[out] h           Height.
 * @param[out] w           Width.
 * @param[out] nStride     Stride of the batch, in elements.
 * @param[out] cStride     Stride of the channels.
 * @param[out] hStride     Stride of the rows.
 * @param[out] wStride     Stride of the columns.
 *
 * @retval miopenStatusSuccess  All nine are set.
 * @retval miopenStatusBadParm  A pointer is NULL, or the descriptor has not
 *                              four dimensions, or a number exceeds an int.
 *
 * @par Threads
 *   Any, while nobody sets or destroys the descriptor.
 */
MIOPEN_EXPORT miopenStatus_t miopenGet4dTensorDescriptor(
    miopenTensorDescriptor_t tensorDesc, miopenDataType_t *dataType, int *n,
    int *c, int *h, int *w, int *nStride, int *cStride, int *hStride,
    int *wStride);

/**
 * Describes a tensor of any rank by its lengths and strides.
 *
 * @param tensorDesc  The descriptor to set; unchanged on failure.
 * @param dataType    Type of an element.
 * @param nbDims      Number of dimensions.
 * @param dimsA       Lengths, each at least 1, in the order N, C, [D,] H, W.
 * @param stridesA    Strides in elements, each at least 1; NULL means packed
 *                    in the order of `dimsA`.
 *
 * @retval miopenStatusSuccess       The descriptor is set.
 * @retval miopenStatusInvalidValue  `dimsA` is NULL or `nbDims` below 1.
 * @retval miopenStatusBadParm       `tensorDesc` is NULL, `dataType` is unknown,
 *                                   or a length or stride is below 1.
 *
 * @par Threads
 *   Nobody else may use the descriptor meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetTensorDescriptor(
    miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType, int nbDims,
    const int *dimsA, const int *stridesA);

/**
 * miopenSetTensorDescriptor() with 64-bit lengths and strides.
 *
 * @param tensorDesc  The descriptor to set; unchanged on failure.
 * @param dataType    Type of an element.
 * @param nbDims      Number of dimensions.
 * @param dimsA       Lengths, each at least 1, in the order N, C, [D,] H, W.
 * @param stridesA    Strides in elements, each at least 1; NULL means packed
 *                    in the order of `dimsA`.
 *
 * @retval miopenStatusSuccess       The descriptor is set.
 * @retval miopenStatusInvalidValue  `dimsA` is NULL or `nbDims` below 1.
 * @retval miopenStatusBadParm       `tensorDesc` is NULL, `dataType` is unknown,
 *                                   or a length or stride is 0 or beyond 2^63.
 *
 * @par Threads
 *   Nobody else may use the descriptor meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetTensorDescriptorV2(
    miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType, int nbDims,
    const size_t *dimsA, const size_t *stridesA);

/**
 * The number of dimensions; 0 for a descriptor that was never set.
 *
 * @param      tensorDesc  The descriptor to read.
 * @param[out] size        Its rank.
 *
 * @retval miopenStatusSuccess  `*size` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Threads
 *   Any, while nobody sets or destroys the descriptor.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetTensorDescriptorSize(
    miopenTensorDescriptor_t tensorDesc, int *size);

/**
 * Reads a descriptor of any rank.
 *
 * @param      tensorDesc  The descriptor to read.
 * @param[out] dataType    Type of an element; may be NULL.
 * @param[out] dimsA       Room for all lengths; may be NULL.
 * @param[out] stridesA    Room for all strides, in elements; may be NULL.
 *
 * @retval miopenStatusSuccess  What was asked for is set.
 * @retval miopenStatusBadParm  `tensorDesc` is NULL, or a number exceeds an
 *                              int.
 *
 * @par Threads
 *   Any, while nobody sets or destroys the descriptor.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetTensorDescriptor(
    miopenTensorDescriptor_t tensorDesc, miopenDataType_t *dataType, int *dimsA,
    int *stridesA);

/**
 * Sets the type that elements are converted to where they are multiplied.
 *
 * @param tensorDesc  The descriptor to change.
 * @param cast_type   Kept and given back; convolutions of a tensor with another
 *                    type than its own are miopenStatusNotImplemented.
 *
 * @retval miopenStatusSuccess  The type is kept.
 * @retval miopenStatusBadParm  `tensorDesc` is NULL, or the type is unknown.
 *
 * @par Threads
 *   Nobody else may use the descriptor meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetTensorCastType(
    miopenTensorDescriptor_t tensorDesc, miopenDataType_t cast_type);

/**
 * Reads what miopenSetTensorCastType() set.
 *
 * @param      tensorDesc  The descriptor to read.
 * @param[out] cast_type   The type of the elements unless another was set.
 *
 * @retval miopenStatusSuccess  `*cast_type` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Threads
 *   Any, while nobody sets or destroys the descriptor.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetTensorCastType(
    miopenTensorDescriptor_t tensorDesc, miopenDataType_t *cast_type);

/**
 * Destroys a descriptor.
 *
 * @param tensorDesc  Not usable afterwards.
 *
 * @retval miopenStatusSuccess  The descriptor is gone.
 * @retval miopenStatusBadParm  `tensorDesc` is NULL.
 *
 * @par Threads
 *   Nobody else may use the descriptor meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t
miopenDestroyTensorDescriptor(miopenTensorDescriptor_t tensorDesc);

/**
 * Bytes from the first element of a tensor to behind its last, gaps between
 * strides included.
 *
 * @param      tensorDesc  The descriptor to read.
 * @param[out] numBytes    What to allocate.
 *
 * @retval miopenStatusSuccess  `*numBytes` is set.
 * @retval miopenStatusBadParm  A pointer is NULL, or the descriptor was never
 *                              set.
 *
 * @par Threads
 *   Any, while nobody sets or destroys the descriptor.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetTensorNumBytes(
    miopenTensorDescriptor_t tensorDesc, size_t *numBytes);

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_TENSOR_H */

/*===- tensor.h - The shape of an array on the device ---------------------===*/
/**
 * @file
 * A tensor descriptor is a data type, lengths and strides. Lengths are always
 * in the order N, C, [D,] H, W, whatever the layout in memory; strides, in
 * elements, give the layout. Packed strides have no gaps.
 */

#ifndef MIOPEN_TENSOR_H
#define MIOPEN_TENSOR_H

#include <miopen/export.h>
#include <miopen/handle.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Data type, lengths and strides of a tensor. */
MIOPEN_DECLARE_OBJECT(miopenTensorDescriptor);

/** Data type of an element. Descriptors take all of them; each function says
 *  which of them it runs on. */
typedef enum {
  /** 16-bit float: 5 bits of exponent, 10 of fraction (IEEE 754). */
  miopenHalf = 0,
  /** 32-bit float (IEEE 754). */
  miopenFloat = 1,
  /** 32-bit signed integer. */
  miopenInt32 = 2,
  /** 8-bit signed integer. */
  miopenInt8 = 3,
  /** Retired by MIOpen; no descriptor takes it. */
  miopenInt8x4 = 4,
  /** 16-bit float: 8 bits of exponent, 7 of fraction. */
  miopenBFloat16 = 5,
  /** 64-bit float (IEEE 754). */
  miopenDouble = 6,
  /** 8-bit float: 4 bits of exponent, 3 of fraction, no infinity and no -0.
   *  Only convolutions run on it. */
  miopenFloat8_fnuz = 7,
  /** 8-bit float: 5 bits of exponent, 2 of fraction, no infinity and no -0.
   *  Only convolutions run on it. */
  miopenBFloat8_fnuz = 8,
#ifdef MIOPEN_BETA_API
  /** Older name of miopenFloat8_fnuz. */
  miopenFloat8 = 7,
  /** Older name of miopenBFloat8_fnuz. */
  miopenBFloat8 = 8,
#endif
  /** 64-bit signed integer. */
  miopenInt64 = 9,
  /** Not one of MIOpen's. 8-bit float of OCP: 4 bits of exponent, 3 of
   *  fraction, no infinity (e4m3fn). Only convolutions run on it. */
  tesseraFloat8 = 14,
  /** Not one of MIOpen's. 8-bit float of OCP: 5 bits of exponent, 2 of
   *  fraction (e5m2). Only convolutions run on it. */
  tesseraBFloat8 = 15
} miopenDataType_t;

/** How a float8 is rounded. Convolutions round to the nearest value. */
typedef enum {
  miopenF8RoundingModeStandard = 0,  /**< To the nearest value. */
  miopenF8RoundingModeStochastic = 1 /**< Up or down at random. */
} miopenF8RoundingMode_t;

/** Layout in memory, the dimension with the largest stride first. */
typedef enum {
  /** Planes of channels: the columns are contiguous. */
  miopenTensorNCHW = 0,
  /** The channels of a pixel are contiguous. */
  miopenTensorNHWC = 1,
  /** The images of a batch are contiguous. */
  miopenTensorCHWN = 2,
  /** NCHW with blocks of 4 channels, which are contiguous. */
  miopenTensorNCHWc4 = 3,
  /** NCHW with blocks of 8 channels, which are contiguous. */
  miopenTensorNCHWc8 = 4,
  /** CHWN with blocks of 4 channels, which are contiguous. */
  miopenTensorCHWNc4 = 5,
  /** CHWN with blocks of 8 channels, which are contiguous. */
  miopenTensorCHWNc8 = 6,
  /** NCHW with depth, for five dimensions. */
  miopenTensorNCDHW = 7,
  /** NHWC with depth, for five dimensions. */
  miopenTensorNDHWC = 8
} miopenTensorLayout_t;

/**
 * Creates a descriptor without dimensions, which must be set before use.
 *
 * @param[out] tensorDesc  Owned by the caller: release it with
 *                         miopenDestroyTensorDescriptor().
 *
 * @retval miopenStatusSuccess      `*tensorDesc` can be set.
 * @retval miopenStatusBadParm      `tensorDesc` is NULL.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t
miopenCreateTensorDescriptor(miopenTensorDescriptor_t *tensorDesc);

/**
 * Describes a packed NCHW tensor. Four lengths of 0 make the descriptor empty,
 * as a new one is.
 *
 * @param[in,out] tensorDesc  The descriptor to set; unchanged on failure.
 * @param[in]     dataType    Data type of an element.
 * @param[in]     n           Batch size; like the other three, at least 1
 *                            unless all are 0.
 * @param[in]     c           Channels.
 * @param[in]     h           Height.
 * @param[in]     w           Width.
 *
 * @retval miopenStatusSuccess      The descriptor is set.
 * @retval miopenStatusBadParm      `tensorDesc` is NULL, `dataType` is unknown,
 *                                  a length is below 1, or the tensor spans
 *                                  2^63 bytes or more.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `tensorDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSet4dTensorDescriptor(
    miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType, int n,
    int c, int h, int w);

/**
 * Describes a packed tensor in a given layout.
 *
 * With blocks of channels (c4, c8) the descriptor has the lengths and strides
 * that MIOpen gives it: C is divided by the block, and CHWNc4 and CHWNc8 have
 * the order C, H, W, N. Convolutions and poolings take such tensors; other
 * functions that compute answer miopenStatusNotImplemented.
 *
 * @param[in,out] tensorDesc    The descriptor to set; unchanged on failure.
 * @param[in]     dataType      Data type of an element.
 * @param[in]     tensorLayout  NCDHW and NDHWC take five lengths, others four.
 * @param[in]     lens          `num_lens` lengths, in the order N, C, [D,] H,
 *                              W, each at least 1.
 * @param[in]     num_lens      Number of lengths.
 *
 * @retval miopenStatusSuccess         The descriptor is set.
 * @retval miopenStatusInvalidValue    `lens` is NULL, or `num_lens` is below 1.
 * @retval miopenStatusBadParm         `tensorDesc` is NULL, `dataType` or
 *                                     `tensorLayout` is unknown, the layout
 *                                     takes another number of lengths, a length
 *                                     is below 1, a block of the layout does
 *                                     not divide C, or the tensor spans 2^63
 *                                     bytes or more.
 * @retval miopenStatusAllocFailed     Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `tensorDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetNdTensorDescriptorWithLayout(
    miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType,
    miopenTensorLayout_t tensorLayout, const int *lens, int num_lens);

/**
 * Describes a 4-D tensor by its lengths and strides.
 *
 * @param[in,out] tensorDesc  The descriptor to set; unchanged on failure.
 * @param[in]     dataType    Data type of an element.
 * @param[in]     n           Batch size; like the other three lengths, at least
 *                            1.
 * @param[in]     c           Channels.
 * @param[in]     h           Height.
 * @param[in]     w           Width.
 * @param[in]     nStride     Elements from one image to the next; like the
 *                            other three strides, at least 1.
 * @param[in]     cStride     Elements from one channel to the next.
 * @param[in]     hStride     Elements from one row to the next.
 * @param[in]     wStride     Elements from one column to the next.
 *
 * @retval miopenStatusSuccess      The descriptor is set.
 * @retval miopenStatusBadParm      `tensorDesc` is NULL, `dataType` is unknown,
 *                                  a length or stride is below 1, or the tensor
 *                                  spans 2^63 bytes or more.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `tensorDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSet4dTensorDescriptorEx(
    miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType, int n,
    int c, int h, int w, int nStride, int cStride, int hStride, int wStride);

/**
 * Reads a 4-D descriptor.
 *
 * @param[in]  tensorDesc  A descriptor with four dimensions.
 * @param[out] dataType    Data type of an element.
 * @param[out] n           Batch size.
 * @param[out] c           Channels.
 * @param[out] h           Height.
 * @param[out] w           Width.
 * @param[out] nStride     Stride of the batch, in elements.
 * @param[out] cStride     Stride of the channels, in elements.
 * @param[out] hStride     Stride of the rows, in elements.
 * @param[out] wStride     Stride of the columns, in elements.
 *
 * @retval miopenStatusSuccess  All nine are set.
 * @retval miopenStatusBadParm  A pointer is NULL, the descriptor does not have
 *                              four dimensions, or a number exceeds an int.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `tensorDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGet4dTensorDescriptor(
    miopenTensorDescriptor_t tensorDesc, miopenDataType_t *dataType, int *n,
    int *c, int *h, int *w, int *nStride, int *cStride, int *hStride,
    int *wStride);

/**
 * Describes a tensor of any rank by its lengths and strides.
 *
 * @param[in,out] tensorDesc  The descriptor to set; unchanged on failure.
 * @param[in]     dataType    Data type of an element.
 * @param[in]     nbDims      Number of dimensions, at least 1.
 * @param[in]     dimsA       `nbDims` lengths, each at least 1, in the order N,
 *                            C, [D,] H, W.
 * @param[in]     stridesA    `nbDims` strides in elements, each at least 1;
 *                            NULL means packed in the order of `dimsA`.
 *
 * @retval miopenStatusSuccess       The descriptor is set.
 * @retval miopenStatusInvalidValue  `dimsA` is NULL, or `nbDims` is below 1.
 * @retval miopenStatusBadParm       `tensorDesc` is NULL, `dataType` is
 *                                   unknown, a length or stride is below 1, or
 *                                   the tensor spans 2^63 bytes or more.
 * @retval miopenStatusAllocFailed   Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `tensorDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetTensorDescriptor(
    miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType, int nbDims,
    const int *dimsA, const int *stridesA);

/**
 * Describes a tensor of any rank by 64-bit lengths and strides.
 *
 * @param[in,out] tensorDesc  The descriptor to set; unchanged on failure.
 * @param[in]     dataType    Data type of an element.
 * @param[in]     nbDims      Number of dimensions, at least 1.
 * @param[in]     dimsA       `nbDims` lengths, each at least 1, in the order N,
 *                            C, [D,] H, W.
 * @param[in]     stridesA    `nbDims` strides in elements, each at least 1;
 *                            NULL means packed in the order of `dimsA`.
 *
 * @retval miopenStatusSuccess       The descriptor is set.
 * @retval miopenStatusInvalidValue  `dimsA` is NULL, or `nbDims` is below 1.
 * @retval miopenStatusBadParm       `tensorDesc` is NULL, `dataType` is
 *                                   unknown, a length or stride is 0 or at
 *                                   least 2^63, or the tensor spans 2^63 bytes
 *                                   or more.
 * @retval miopenStatusAllocFailed   Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `tensorDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetTensorDescriptorV2(
    miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType, int nbDims,
    const size_t *dimsA, const size_t *stridesA);

/**
 * Reads the rank of a descriptor.
 *
 * @param[in]  tensorDesc  The descriptor to read.
 * @param[out] size        Number of dimensions; 0 if the descriptor was never
 *                         set.
 *
 * @retval miopenStatusSuccess  `*size` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `tensorDesc`.
 */
MIOPEN_EXPORT miopenStatus_t
miopenGetTensorDescriptorSize(miopenTensorDescriptor_t tensorDesc, int *size);

/**
 * Reads a descriptor of any rank.
 *
 * @param[in]  tensorDesc  The descriptor to read.
 * @param[out] dataType    Data type of an element; may be NULL.
 * @param[out] dimsA       All lengths, as many as the rank; may be NULL.
 * @param[out] stridesA    All strides in elements, as many as the rank; may be
 *                         NULL.
 *
 * @retval miopenStatusSuccess  The outputs that are wanted are set.
 * @retval miopenStatusBadParm  `tensorDesc` is NULL, or a number exceeds an
 *                              int.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `tensorDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetTensorDescriptor(
    miopenTensorDescriptor_t tensorDesc, miopenDataType_t *dataType, int *dimsA,
    int *stridesA);

/**
 * Sets the data type that elements are converted to before they are multiplied.
 *
 * The type is stored and can be read back. A convolution of a tensor whose cast
 * type differs from its data type returns miopenStatusNotImplemented. Setting
 * lengths resets the cast type.
 *
 * @param[in,out] tensorDesc  The descriptor to change.
 * @param[in]     cast_type   The cast type.
 *
 * @retval miopenStatusSuccess  The type is stored.
 * @retval miopenStatusBadParm  `tensorDesc` is NULL, or the type is unknown.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `tensorDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetTensorCastType(
    miopenTensorDescriptor_t tensorDesc, miopenDataType_t cast_type);

/**
 * Reads the cast type.
 *
 * @param[in]  tensorDesc  The descriptor to read.
 * @param[out] cast_type   The data type of the elements unless another was set.
 *
 * @retval miopenStatusSuccess  `*cast_type` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `tensorDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetTensorCastType(
    miopenTensorDescriptor_t tensorDesc, miopenDataType_t *cast_type);

/**
 * Destroys a descriptor.
 *
 * @param[in] tensorDesc  Not usable afterwards.
 *
 * @retval miopenStatusSuccess  The descriptor is destroyed.
 * @retval miopenStatusBadParm  `tensorDesc` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `tensorDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t
miopenDestroyTensorDescriptor(miopenTensorDescriptor_t tensorDesc);

/**
 * Computes the bytes that a tensor spans, from its first element to behind its
 * last, gaps between strides included.
 *
 * @param[in]  tensorDesc  The descriptor to read.
 * @param[out] numBytes    Bytes to allocate.
 *
 * @retval miopenStatusSuccess  `*numBytes` is set.
 * @retval miopenStatusBadParm  A pointer is NULL, or the descriptor was never
 *                              set.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `tensorDesc`.
 */
MIOPEN_EXPORT miopenStatus_t
miopenGetTensorNumBytes(miopenTensorDescriptor_t tensorDesc, size_t *numBytes);

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_TENSOR_H */

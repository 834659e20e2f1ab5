/*===- reduce.h - Reductions over dimensions ------------------------------===*/
/**
 * @file
 * miopenReduceTensor() reduces any dimensions as a descriptor says; the others
 * reduce one dimension, which their results lack.
 */

#ifndef MIOPEN_REDUCE_H
#define MIOPEN_REDUCE_H

#include <miopen/export.h>
#include <miopen/handle.h>
#include <miopen/tensor.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An operation, and what it does with NaN and indices. */
MIOPEN_DECLARE_OBJECT(miopenReduceTensorDescriptor);

/** The operation of a reduction. */
typedef enum {
  MIOPEN_REDUCE_TENSOR_ADD = 0,   /**< Sum. */
  MIOPEN_REDUCE_TENSOR_MUL = 1,   /**< Product. */
  MIOPEN_REDUCE_TENSOR_MIN = 2,   /**< Smallest element. */
  MIOPEN_REDUCE_TENSOR_MAX = 3,   /**< Largest element. */
  MIOPEN_REDUCE_TENSOR_AMAX = 4,  /**< Largest magnitude. */
  MIOPEN_REDUCE_TENSOR_AVG = 5,   /**< Sum divided by the number of elements. */
  MIOPEN_REDUCE_TENSOR_NORM1 = 6, /**< Sum of magnitudes. */
  MIOPEN_REDUCE_TENSOR_NORM2 = 7  /**< Square root of the sum of squares. */
} miopenReduceTensorOp_t;

/** Whether MIN, MAX and AMAX give a NaN if there is one. */
typedef enum {
  MIOPEN_NOT_PROPAGATE_NAN = 0, /**< A NaN loses against every number. */
  MIOPEN_PROPAGATE_NAN = 1      /**< A NaN wins against every number. */
} miopenNanPropagation_t;

/** Whether MIN, MAX and AMAX also give the index of the element. */
typedef enum {
  /** No index is written. */
  MIOPEN_REDUCE_TENSOR_NO_INDICES = 0,
  /** The index among the reduced elements is written. */
  MIOPEN_REDUCE_TENSOR_FLATTENED_INDICES = 1
} miopenReduceTensorIndices_t;

/** Type of an index. */
typedef enum {
  MIOPEN_32BIT_INDICES = 0, /**< 4 bytes; the only type that kernels write. */
  MIOPEN_64BIT_INDICES = 1, /**< 8 bytes. */
  MIOPEN_16BIT_INDICES = 2, /**< 2 bytes. */
  MIOPEN_8BIT_INDICES = 3   /**< 1 byte. */
} miopenIndicesType_t;

#ifdef MIOPEN_BETA_API

/** Whether a NaN counts in a sum or product, or is left out. */
typedef enum {
  /** A NaN is left out. */
  MIOPEN_REDUCE_CALCULATION_NOT_PROPAGATE_NAN = 0,
  /** A NaN makes the result a NaN. */
  MIOPEN_REDUCE_CALCULATION_PROPAGATE_NAN = 1
} miopenReduceCalculationNanPropagation_t;

/** The operation of miopenReduceCalculationForward(). */
typedef enum {
  MIOPEN_REDUCE_CALCULATION_PROD = 1, /**< Product. */
  MIOPEN_REDUCE_CALCULATION_SUM = 2   /**< Sum. */
} miopenReduceCalculationOp_t;

/** The operation of miopenReduceExtremeForward(). */
typedef enum {
  MIOPEN_REDUCE_EXTREME_ARGMIN = 1, /**< Index of the smallest element. */
  MIOPEN_REDUCE_EXTREME_ARGMAX = 2, /**< Index of the largest element. */
  MIOPEN_REDUCE_EXTREME_MIN = 3,    /**< Smallest element and its index. */
  MIOPEN_REDUCE_EXTREME_MAX = 4     /**< Largest element and its index. */
} miopenReduceExtremeOp_t;

#endif /* MIOPEN_BETA_API */

/**
 * Creates the descriptor of a sum of floats without indices.
 *
 * @param[out] reduceTensorDesc  Owned by the caller: release it with
 *                               miopenDestroyReduceTensorDescriptor().
 *
 * @retval miopenStatusSuccess      `*reduceTensorDesc` is usable.
 * @retval miopenStatusBadParm      `reduceTensorDesc` is NULL.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t miopenCreateReduceTensorDescriptor(
    miopenReduceTensorDescriptor_t *reduceTensorDesc);

/**
 * Destroys a descriptor.
 *
 * @param[in] reduceTensorDesc  Not usable afterwards.
 *
 * @retval miopenStatusSuccess  The descriptor is destroyed.
 * @retval miopenStatusBadParm  `reduceTensorDesc` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `reduceTensorDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenDestroyReduceTensorDescriptor(
    miopenReduceTensorDescriptor_t reduceTensorDesc);

/**
 * Sets a reduction.
 *
 * @param[in,out] reduceTensorDesc    The descriptor to set; unchanged on
 *                                    failure.
 * @param[in]     reduceTensorOp      The operation.
 * @param[in]     reduceTensorCompType  Stored without effect: sums are kept in
 *                                    float, or in double for double.
 * @param[in]     reduceTensorNanOpt  Whether a NaN wins among extremes.
 * @param[in]     reduceTensorIndices  Whether extremes give indices.
 * @param[in]     reduceTensorIndicesType  Type of the indices;
 *                                    miopenReduceTensor() takes 32 bits.
 *
 * @retval miopenStatusSuccess  The descriptor is set.
 * @retval miopenStatusBadParm  `reduceTensorDesc` is NULL, or an enumerator is
 *                              unknown.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `reduceTensorDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t
miopenSetReduceTensorDescriptor(miopenReduceTensorDescriptor_t reduceTensorDesc,
                                miopenReduceTensorOp_t reduceTensorOp,
                                miopenDataType_t reduceTensorCompType,
                                miopenNanPropagation_t reduceTensorNanOpt,
                                miopenReduceTensorIndices_t reduceTensorIndices,
                                miopenIndicesType_t reduceTensorIndicesType);

/**
 * Reads a reduction.
 *
 * @param[in]  reduceTensorDesc       The descriptor to read.
 * @param[out] reduceTensorOp         The operation; may be NULL.
 * @param[out] reduceTensorCompType   The data type that was set; may be NULL.
 * @param[out] reduceTensorNanOpt     Whether a NaN wins; may be NULL.
 * @param[out] reduceTensorIndices    Whether extremes give indices; may be
 *                                    NULL.
 * @param[out] reduceTensorIndicesType  Type of the indices; may be NULL.
 *
 * @retval miopenStatusSuccess  The outputs that are wanted are set.
 * @retval miopenStatusBadParm  `reduceTensorDesc` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `reduceTensorDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetReduceTensorDescriptor(
    const miopenReduceTensorDescriptor_t reduceTensorDesc,
    miopenReduceTensorOp_t *reduceTensorOp,
    miopenDataType_t *reduceTensorCompType,
    miopenNanPropagation_t *reduceTensorNanOpt,
    miopenReduceTensorIndices_t *reduceTensorIndices,
    miopenIndicesType_t *reduceTensorIndicesType);

/**
 * Gets the size of the indices of miopenReduceTensor(): four bytes for each
 * element of C if the descriptor asks for them and its operation is an extreme
 * (MIN, MAX, AMAX), else 0.
 *
 * @param[in]  handle            Checked for NULL only.
 * @param[in]  reduceTensorDesc  The reduction.
 * @param[in]  aDesc             Describes A.
 * @param[in]  cDesc             As many dimensions as A, each of length 1 or of
 *                               the length of A.
 * @param[out] sizeInBytes       Bytes.
 *
 * @retval miopenStatusSuccess       `*sizeInBytes` is set.
 * @retval miopenStatusBadParm       A pointer is NULL.
 * @retval miopenStatusUnknownError  C does not have as many dimensions as A, or
 *                                   a length of C is neither 1 nor that of A.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys one of
 *   the descriptors.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetReductionIndicesSize(
    miopenHandle_t handle,
    const miopenReduceTensorDescriptor_t reduceTensorDesc,
    const miopenTensorDescriptor_t aDesc, const miopenTensorDescriptor_t cDesc,
    size_t *sizeInBytes);

/**
 * Gets the size of the workspace of miopenReduceTensor(): 0, because kernels
 * use scratch memory of the handle.
 *
 * @param[in]  handle            Checked for NULL only.
 * @param[in]  reduceTensorDesc  The reduction.
 * @param[in]  aDesc             Describes A.
 * @param[in]  cDesc             As many dimensions as A, each of length 1 or of
 *                               the length of A.
 * @param[out] sizeInBytes       0 bytes.
 *
 * @retval miopenStatusSuccess       `*sizeInBytes` is set.
 * @retval miopenStatusBadParm       A pointer is NULL.
 * @retval miopenStatusUnknownError  C does not have as many dimensions as A, or
 *                                   a length of C is neither 1 nor that of A.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys one of
 *   the descriptors.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetReductionWorkspaceSize(
    miopenHandle_t handle,
    const miopenReduceTensorDescriptor_t reduceTensorDesc,
    const miopenTensorDescriptor_t aDesc, const miopenTensorDescriptor_t cDesc,
    size_t *sizeInBytes);

/**
 * Computes C = alpha reduce(A) + beta C, over the dimensions in which C has
 * length 1.
 *
 * Sums are kept in float, or in double for double, whatever data type the
 * descriptor names.
 *
 * @param[in]     handle              Supplies the device and the stream.
 * @param[in]     reduceTensorDesc    The reduction.
 * @param[out]    indices             Device memory: the index of the extreme
 *                                    among the reduced elements of A, the first
 *                                    of equal ones, as packed int32 in the
 *                                    order of C. May be NULL without indices.
 * @param[in]     indicesSizeInBytes  At least the bytes that
 *                                    miopenGetReductionIndicesSize() gives.
 * @param[in]     workspace           Not used; may be NULL.
 * @param[in]     workspaceSizeInBytes  Not used.
 * @param[in]     alpha               A float, or a double if A is double.
 * @param[in]     aDesc               Half, bfloat16, float or double; any
 *                                    layout and strides.
 * @param[in]     A                   Device memory, read.
 * @param[in]     beta                Has the type of `alpha`; C is not read if
 *                                    it is 0.
 * @param[in]     cDesc               As many dimensions as A, each of length 1
 *                                    or of the length of A; any of these data
 *                                    types, any layout and strides.
 * @param[in,out] C                   Device memory, every element overwritten.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer that is needed is NULL, or
 *                                     elements of C overlap.
 * @retval miopenStatusUnknownError    C does not have as many dimensions as A,
 *                                     or a length of C is neither 1 nor that of
 *                                     A, no length of C is 1, or indices are
 *                                     wanted that do not have 32 bits or do not
 *                                     fit in `indicesSizeInBytes`.
 * @retval miopenStatusNotImplemented  No kernel covers the data types, or a
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
MIOPEN_EXPORT miopenStatus_t miopenReduceTensor(
    miopenHandle_t handle,
    const miopenReduceTensorDescriptor_t reduceTensorDesc, void *indices,
    size_t indicesSizeInBytes, void *workspace, size_t workspaceSizeInBytes,
    const void *alpha, const miopenTensorDescriptor_t aDesc, const void *A,
    const void *beta, const miopenTensorDescriptor_t cDesc, void *C);

#ifdef MIOPEN_BETA_API

/**
 * Gets the size of the workspace of miopenReduceCalculationForward(): 0,
 * because kernels use scratch memory of the handle.
 *
 * @param[in]  handle               Checked for NULL only.
 * @param[in]  xDesc                Describes x.
 * @param[in]  dim                  The dimension that is reduced, counted from
 *                                  0.
 * @param[in]  reduceCalculationOp  Sum or product.
 * @param[in]  reduceDesc           The lengths of x without that dimension.
 * @param[out] sizeInBytes          0 bytes.
 *
 * @retval miopenStatusSuccess      `*sizeInBytes` is set.
 * @retval miopenStatusBadParm      A pointer is NULL, the operation is unknown,
 *                                  x has no dimension `dim`, or the lengths do
 *                                  not fit each other.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys one of
 *   the descriptors.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetReduceCalculationWorkspaceSize(
    miopenHandle_t handle, const miopenTensorDescriptor_t xDesc,
    const int32_t dim, const miopenReduceCalculationOp_t reduceCalculationOp,
    const miopenTensorDescriptor_t reduceDesc, size_t *sizeInBytes);

/**
 * Computes the sum or the product along a dimension.
 *
 * @param[in]  handle                Supplies the device and the stream.
 * @param[in]  nanPropagation        Whether a NaN counts, or is left out.
 * @param[in]  workspace             Not used; may be NULL.
 * @param[in]  workspaceSizeInBytes  Not used.
 * @param[in]  xDesc                 Half, bfloat16, float or double; any layout
 *                                   and strides.
 * @param[in]  x                     Device memory, read.
 * @param[in]  dim                   The dimension that is reduced, counted from
 *                                   0.
 * @param[in]  reduceCalculationOp   Sum or product.
 * @param[in]  reduceDesc            The data type of x, and its lengths without
 *                                   that dimension; any layout and strides.
 * @param[out] y                     Device memory, every element overwritten.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer other than `workspace` is NULL,
 *                                     an enumerator is unknown, x has no
 *                                     dimension `dim`, the tensors do not fit
 *                                     each other, or elements of a result
 *                                     overlap.
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
MIOPEN_EXPORT miopenStatus_t miopenReduceCalculationForward(
    miopenHandle_t handle,
    miopenReduceCalculationNanPropagation_t nanPropagation, void *workspace,
    size_t workspaceSizeInBytes, const miopenTensorDescriptor_t xDesc,
    const void *x, const int32_t dim,
    const miopenReduceCalculationOp_t reduceCalculationOp,
    const miopenTensorDescriptor_t reduceDesc, void *y);

/**
 * Finds the smallest or the largest element along a dimension, or only its
 * index. A NaN loses against every number.
 *
 * @param[in]  handle           Supplies the device and the stream.
 * @param[in]  xDesc            Half, bfloat16, float or double; any layout and
 *                              strides.
 * @param[in]  x                Device memory, read.
 * @param[in]  dim              The dimension that is reduced, counted from 0.
 * @param[in]  reduceExtremeOp  Smallest or largest, with y or with the index
 *                              only.
 * @param[in]  yDesc            The data type of x, and its lengths without that
 *                              dimension; may be NULL if only the index is
 *                              wanted.
 * @param[out] y                Device memory, every element overwritten; may be
 *                              NULL if only the index is wanted.
 * @param[in]  indiceDesc       miopenInt32, and the lengths of x without that
 *                              dimension.
 * @param[out] indice           Device memory: the index of the extreme along
 *                              the dimension, the first of equal ones.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer that is needed is NULL, the
 *                                     indices are not of miopenInt32, an
 *                                     enumerator is unknown, x has no dimension
 *                                     `dim`, the tensors do not fit each other,
 *                                     or elements of a result overlap.
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
MIOPEN_EXPORT miopenStatus_t miopenReduceExtremeForward(
    miopenHandle_t handle, const miopenTensorDescriptor_t xDesc, const void *x,
    const int32_t dim, const miopenReduceExtremeOp_t reduceExtremeOp,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t indiceDesc, void *indice);

#endif /* MIOPEN_BETA_API */

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_REDUCE_H */

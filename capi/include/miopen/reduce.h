/*===- reduce.h - Reductions over dimensions -----------------------------===*\
|*
|* miopenReduceTensor() reduces any dimensions as a descriptor says; the others
|* reduce one, and their results lack it.
|*
\*===----------------------------------------------------------------------===*/

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

MIOPEN_DECLARE_OBJECT(miopenReduceTensorDescriptor);

typedef enum {
  MIOPEN_REDUCE_TENSOR_ADD = 0,
  MIOPEN_REDUCE_TENSOR_MUL = 1,
  MIOPEN_REDUCE_TENSOR_MIN = 2,
  MIOPEN_REDUCE_TENSOR_MAX = 3,
  MIOPEN_REDUCE_TENSOR_AMAX = 4,
  MIOPEN_REDUCE_TENSOR_AVG = 5,
  MIOPEN_REDUCE_TENSOR_NORM1 = 6,
  MIOPEN_REDUCE_TENSOR_NORM2 = 7
} miopenReduceTensorOp_t;

typedef enum {
  MIOPEN_NOT_PROPAGATE_NAN = 0,
  MIOPEN_PROPAGATE_NAN = 1
} miopenNanPropagation_t;

typedef enum {
  MIOPEN_REDUCE_TENSOR_NO_INDICES = 0,
  MIOPEN_REDUCE_TENSOR_FLATTENED_INDICES = 1
} miopenReduceTensorIndices_t;

typedef enum {
  MIOPEN_32BIT_INDICES = 0,
  MIOPEN_64BIT_INDICES = 1,
  MIOPEN_16BIT_INDICES = 2,
  MIOPEN_8BIT_INDICES = 3
} miopenIndicesType_t;

#ifdef MIOPEN_BETA_API

typedef enum {
  MIOPEN_REDUCE_CALCULATION_NOT_PROPAGATE_NAN = 0,
  MIOPEN_REDUCE_CALCULATION_PROPAGATE_NAN = 1
} miopenReduceCalculationNanPropagation_t;

typedef enum {
  MIOPEN_REDUCE_CALCULATION_PROD = 1,
  MIOPEN_REDUCE_CALCULATION_SUM = 2
} miopenReduceCalculationOp_t;

typedef enum {
  MIOPEN_REDUCE_EXTREME_ARGMIN = 1,
  MIOPEN_REDUCE_EXTREME_ARGMAX = 2,
  MIOPEN_REDUCE_EXTREME_MIN = 3,
  MIOPEN_REDUCE_EXTREME_MAX = 4
} miopenReduceExtremeOp_t;

#endif /* MIOPEN_BETA_API */

/** Creates a descriptor; release it with miopenDestroyReduceTensorDescriptor().
 */
MIOPEN_EXPORT miopenStatus_t miopenCreateReduceTensorDescriptor(
    miopenReduceTensorDescriptor_t *reduceTensorDesc);

/** Destroys a descriptor. */
MIOPEN_EXPORT miopenStatus_t miopenDestroyReduceTensorDescriptor(
    miopenReduceTensorDescriptor_t reduceTensorDesc);

/** Sets operation, type and indices; miopenStatusBadParm if one is unknown. */
MIOPEN_EXPORT miopenStatus_t
miopenSetReduceTensorDescriptor(miopenReduceTensorDescriptor_t reduceTensorDesc,
                                miopenReduceTensorOp_t reduceTensorOp,
                                miopenDataType_t reduceTensorCompType,
                                miopenNanPropagation_t reduceTensorNanOpt,
                                miopenReduceTensorIndices_t reduceTensorIndices,
                                miopenIndicesType_t reduceTensorIndicesType);

/** Reads what was set; a pointer that is NULL is left out. */
MIOPEN_EXPORT miopenStatus_t miopenGetReduceTensorDescriptor(
    const miopenReduceTensorDescriptor_t reduceTensorDesc,
    miopenReduceTensorOp_t *reduceTensorOp,
    miopenDataType_t *reduceTensorCompType,
    miopenNanPropagation_t *reduceTensorNanOpt,
    miopenReduceTensorIndices_t *reduceTensorIndices,
    miopenIndicesType_t *reduceTensorIndicesType);

/**
 * The bytes of the indices of miopenReduceTensor(): four for each element of c
 * if the descriptor asks for them and its operation is an extreme, else 0.
 *
 * @retval miopenStatusSuccess       `*sizeInBytes` is set.
 * @retval miopenStatusBadParm       A pointer is NULL.
 * @retval miopenStatusUnknownError  The lengths do not fit each other.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetReductionIndicesSize(
    miopenHandle_t handle,
    const miopenReduceTensorDescriptor_t reduceTensorDesc,
    const miopenTensorDescriptor_t aDesc, const miopenTensorDescriptor_t cDesc,
    size_t *sizeInBytes);

/**
 * 0: the handle has memory for what a kernel needs, which it allocates once and
 * keeps. Statuses are those of miopenGetReductionIndicesSize().
 */
MIOPEN_EXPORT miopenStatus_t miopenGetReductionWorkspaceSize(
    miopenHandle_t handle,
    const miopenReduceTensorDescriptor_t reduceTensorDesc,
    const miopenTensorDescriptor_t aDesc, const miopenTensorDescriptor_t cDesc,
    size_t *sizeInBytes);

/**
 * C = alpha reduce(A) + beta C, over the dimensions in which C has length 1.
 *
 * The first call for a problem compiles its kernel, or finds it in the cache,
 * and blocks meanwhile; later calls only launch. Sums are kept in float (double
 * for double), whatever type the descriptor names.
 *
 * @param handle                Stream and device.
 * @param reduceTensorDesc      The operation, what becomes of a NaN among
 *                              extremes, and whether there are indices.
 * @param indices               Device memory: the number of the extreme among
 *                              the elements of A that are reduced, of equals the
 *                              first, as packed int32 in the order of C. NULL
 *                              without indices.
 * @param indicesSizeInBytes    At least what miopenGetReductionIndicesSize()
 *                              gives.
 * @param workspace             Not used.
 * @param workspaceSizeInBytes  Not used.
 * @param alpha                 A float, or a double if A is double.
 * @param aDesc                 Half, bfloat16, float or double; any strides.
 * @param A                     Device memory, read.
 * @param beta                  As alpha; unless it is 0, C is read, too.
 * @param cDesc                 As many dimensions as A, each of length 1 or of
 *                              that of A; any of these types and any strides.
 * @param C                     Device memory, overwritten.
 *
 * @retval miopenStatusSuccess         The kernel is launched.
 * @retval miopenStatusBadParm         A pointer is NULL.
 * @retval miopenStatusUnknownError    The lengths do not fit each other, nothing
 *                                     is reduced, or there are too few bytes for
 *                                     the indices, or these have not 32 bits.
 * @retval miopenStatusNotImplemented  No kernel has these data types.
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenReduceTensor(
    miopenHandle_t handle,
    const miopenReduceTensorDescriptor_t reduceTensorDesc, void *indices,
    size_t indicesSizeInBytes, void *workspace, size_t workspaceSizeInBytes,
    const void *alpha, const miopenTensorDescriptor_t aDesc, const void *A,
    const void *beta, const miopenTensorDescriptor_t cDesc, void *C);

#ifdef MIOPEN_BETA_API

/** 0, as miopenGetReductionWorkspaceSize(); BadParm if the tensors do not fit
    each other. */
MIOPEN_EXPORT miopenStatus_t miopenGetReduceCalculationWorkspaceSize(
    miopenHandle_t handle, const miopenTensorDescriptor_t xDesc,
    const int32_t dim, const miopenReduceCalculationOp_t reduceCalculationOp,
    const miopenTensorDescriptor_t reduceDesc, size_t *sizeInBytes);

/**
 * Sum or product along a dimension.
 *
 * @param handle                Stream and device.
 * @param nanPropagation        Whether a NaN counts, or is left out.
 * @param workspace             Not used.
 * @param workspaceSizeInBytes  Not used.
 * @param xDesc                 Half, bfloat16, float or double; any strides.
 * @param x                     Device memory, read.
 * @param dim                   The dimension that is reduced.
 * @param reduceCalculationOp   Sum or product.
 * @param reduceDesc            The type of x, and its lengths without that of
 *                              the dimension.
 * @param y                     Device memory, overwritten.
 *
 * @retval miopenStatusSuccess         The kernel is launched.
 * @retval miopenStatusBadParm         A pointer is NULL, a word is unknown, or
 *                                     the tensors do not fit each other.
 * @retval miopenStatusNotImplemented  No kernel has this data type.
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenReduceCalculationForward(
    miopenHandle_t handle,
    miopenReduceCalculationNanPropagation_t nanPropagation, void *workspace,
    size_t workspaceSizeInBytes, const miopenTensorDescriptor_t xDesc,
    const void *x, const int32_t dim,
    const miopenReduceCalculationOp_t reduceCalculationOp,
    const miopenTensorDescriptor_t reduceDesc, void *y);

/**
 * Extreme, or its place, along a dimension. A NaN is none.
 *
 * @param handle           Stream and device.
 * @param xDesc            Half, bfloat16, float or double; any strides.
 * @param x                Device memory, read.
 * @param dim              The dimension that is reduced.
 * @param reduceExtremeOp  The smallest or the largest, and whether y is wanted
 *                         besides the place.
 * @param yDesc            The type of x, and its lengths without that of the
 *                         dimension; may be NULL if only the place is wanted.
 * @param y                Device memory, overwritten; as yDesc.
 * @param indiceDesc       miopenInt32, and the lengths of y.
 * @param indice           The number of the extreme along the dimension, of
 *                         equals the first.
 *
 * @return As miopenReduceCalculationForward().
 *
 * @par Threads
 *   Calls on one handle must not overlap.
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

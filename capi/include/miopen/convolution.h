/*===- convolution.h - What a convolution is ------------------------------===*/
/**
 * @file
 * A convolution is described by a convolution descriptor (padding, strides,
 * dilations, groups) and three tensors: input x, filter w, output y. How to run
 * one is in convolution_forward.h, convolution_backward_data.h and
 * convolution_backward_weights.h.
 */

#ifndef MIOPEN_CONVOLUTION_H
#define MIOPEN_CONVOLUTION_H

#include <miopen/export.h>
#include <miopen/handle.h>
#include <miopen/tensor.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Padding, strides, dilations, groups and attributes of a convolution. */
MIOPEN_DECLARE_OBJECT(miopenConvolutionDescriptor);

/** Kind of convolution. */
typedef enum {
  /** Cross-correlation of x with w. */
  miopenConvolution = 0,
  /** The gradient of a convolution with respect to its input, as an operation
   *  of its own. */
  miopenTranspose = 1,
  /** Stored as miopenConvolution: the group count says the rest. */
  miopenGroupConv = 2,
  /** Stored as miopenConvolution: the group count says the rest. */
  miopenDepthwise = 3
} miopenConvolutionMode_t;

/** How padding is chosen. Clients use it for themselves; no function takes
 *  it. */
typedef enum {
  /** The padding that the descriptor has. */
  miopenPaddingDefault = 0,
  /** As much as gives an output of ceil(input / stride). */
  miopenPaddingSame = 1,
  /** None. */
  miopenPaddingValid = 2
} miopenPaddingMode_t;

/** Algorithm of a forward kernel. Find reports Direct for every kernel of this
 *  library, because clients know that value and some abort on ImplicitGEMM.
 *  miopenConvolutionForward() takes every one and runs the same kernel. */
typedef enum {
  /** A matrix product over the im2col matrix. */
  miopenConvolutionFwdAlgoGEMM = 0,
  /** Sums over the taps; reported for every kernel. */
  miopenConvolutionFwdAlgoDirect = 1,
  /** A product of Fourier transforms. */
  miopenConvolutionFwdAlgoFFT = 2,
  /** Winograd's minimal filtering. */
  miopenConvolutionFwdAlgoWinograd = 3,
  /** A matrix product whose operands are addressed in place. */
  miopenConvolutionFwdAlgoImplicitGEMM = 5,
  /** Existed from MIOpen 2.1 to 2.5; never reported. */
  miopenConvolutionFwdAlgoStaticCompiledGEMM = 6
} miopenConvFwdAlgorithm_t;

/** Algorithm of a kernel for the gradient of the filter; see
 *  miopenConvFwdAlgorithm_t. */
typedef enum {
  /** A matrix product over the im2col matrix. */
  miopenConvolutionBwdWeightsAlgoGEMM = 0,
  /** Sums over the taps; reported for every kernel. */
  miopenConvolutionBwdWeightsAlgoDirect = 1,
  /** Winograd's minimal filtering. */
  miopenConvolutionBwdWeightsAlgoWinograd = 3,
  /** A matrix product whose operands are addressed in place. */
  miopenConvolutionBwdWeightsAlgoImplicitGEMM = 5
} miopenConvBwdWeightsAlgorithm_t;

/** Algorithm of a kernel for the gradient of the input; see
 *  miopenConvFwdAlgorithm_t. */
typedef enum {
  /** A matrix product over the im2col matrix. */
  miopenConvolutionBwdDataAlgoGEMM = 0,
  /** Sums over the taps; reported for every kernel. */
  miopenConvolutionBwdDataAlgoDirect = 1,
  /** A product of Fourier transforms. */
  miopenConvolutionBwdDataAlgoFFT = 2,
  /** Winograd's minimal filtering. */
  miopenConvolutionBwdDataAlgoWinograd = 3,
  /** Unknown to this library; never reported. */
  miopenTransposeBwdDataAlgoGEMM = 4,
  /** A matrix product whose operands are addressed in place. */
  miopenConvolutionBwdDataAlgoImplicitGEMM = 5
} miopenConvBwdDataAlgorithm_t;

/** Algorithm of a kernel in any direction; see miopenConvFwdAlgorithm_t. */
typedef enum {
  /** A matrix product over the im2col matrix. */
  miopenConvolutionAlgoGEMM = 0,
  /** Sums over the taps; reported for every kernel. */
  miopenConvolutionAlgoDirect = 1,
  /** A product of Fourier transforms. */
  miopenConvolutionAlgoFFT = 2,
  /** Winograd's minimal filtering. */
  miopenConvolutionAlgoWinograd = 3,
  /** A matrix product whose operands are addressed in place. */
  miopenConvolutionAlgoImplicitGEMM = 5,
  /** Existed from MIOpen 2.1 to 2.5; never reported. */
  miopenConvolutionAlgoStaticCompiledGEMM = 6
} miopenConvAlgorithm_t;

/** Find's report on one algorithm. */
typedef struct {
  union {
    miopenConvFwdAlgorithm_t fwd_algo;                /**< Set by forward. */
    miopenConvBwdWeightsAlgorithm_t bwd_weights_algo; /**< By its direction. */
    miopenConvBwdDataAlgorithm_t bwd_data_algo;       /**< By its direction. */
  };
  float time;    /**< Milliseconds of one run, as measured. */
  size_t memory; /**< Workspace that it needs, in bytes. */
} miopenConvAlgoPerf_t;

/** Immediate mode's report on one solution. */
typedef struct {
  float time;                      /**< Milliseconds; 0 means not measured. */
  size_t workspace_size;           /**< Workspace that it needs, in bytes. */
  uint64_t solution_id;            /**< Stable across releases. */
  miopenConvAlgorithm_t algorithm; /**< Always Direct. */
} miopenConvSolution_t;

/** Attributes of a convolution descriptor. */
typedef enum {
  /** -1, 0 or 1; has no effect. */
  MIOPEN_CONVOLUTION_ATTRIB_FP16_ALT_IMPL = 0,
  /** 0 or 1; kernels are deterministic unless TESSERA_TILE names one that is
   *  not, which 1 refuses. */
  MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC = 1,
#ifdef MIOPEN_BETA_API
  /** A miopenF8RoundingMode_t; has no effect. */
  MIOPEN_CONVOLUTION_ATTRIB_FP8_ROUNDING_MODE = 2,
#else
  /** The number of an attribute of the beta API. */
  miopenReserved1 = 2,
#endif
  /** A miopenMathType_t; miopenMathPedantic in a new descriptor. */
  MIOPEN_CONVOLUTION_ATTRIB_MATH_TYPE = 3,
  /** An extension of this library. 1, as in a new descriptor: 3x3 convolutions
   *  may be computed by Winograd's transforms, which need fewer products and
   *  round differently. 0 forbids it, as MIOPEN_DEBUG_CONV_WINOGRAD=0 does for
   *  the process. */
  TESSERA_CONVOLUTION_ATTRIB_WINOGRAD = 1000
} miopenConvolutionAttrib_t;

/** Whether f32 operands may be rounded before they are multiplied. */
typedef enum {
  /** Rounded to tf32 on devices that multiply it faster. */
  miopenMathDefault = 0,
  /** Multiplied with all bits of f32. */
  miopenMathPedantic = 1
} miopenMathType_t;

/** How thoroughly MIOpen's Find searches. The mode is kept in the descriptor
 *  and given back; Find of this library does the same in every mode, because it
 *  has one kernel for a problem. */
typedef enum {
  /** Measure every solver. */
  miopenConvolutionFindModeNormal = 1,
  /** Take what the database has, else an estimate; measure nothing. */
  miopenConvolutionFindModeFast = 2,
  /** Take what the database has, else measure every solver. */
  miopenConvolutionFindModeHybrid = 3,
  /** Hybrid, without solvers that are slow to compile. */
  miopenConvolutionFindModeDynamicHybrid = 5,
  /** Measure what the database has, and tune if it is slower than
   *  recorded. */
  miopenConvolutionFindModeTrustVerify = 6,
  /** TrustVerify without a limit on the time of tuning. */
  miopenConvolutionFindModeTrustVerifyFull = 7,
  /** The mode of a new descriptor. */
  miopenConvolutionFindModeDefault = 5
} miopenConvolutionFindMode_t;

/**
 * Creates the descriptor of a 2-D convolution with no padding, strides and
 * dilations of 1 and one group.
 *
 * @param[out] convDesc  Owned by the caller: release it with
 *                       miopenDestroyConvolutionDescriptor().
 *
 * @retval miopenStatusSuccess      `*convDesc` is usable.
 * @retval miopenStatusBadParm      `convDesc` is NULL.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t
miopenCreateConvolutionDescriptor(miopenConvolutionDescriptor_t *convDesc);

/**
 * Sets a 2-D convolution. Group count, output padding, attributes and find mode
 * go back to their defaults.
 *
 * @param[in,out] convDesc    The descriptor to set; unchanged on failure.
 * @param[in]     c_mode      Kind of convolution.
 * @param[in]     pad_h       Rows of zeros above and below, at least 0.
 * @param[in]     pad_w       Columns of zeros left and right, at least 0.
 * @param[in]     stride_h    Rows between two outputs, at least 1.
 * @param[in]     stride_w    Columns between two outputs, at least 1.
 * @param[in]     dilation_h  Rows between two filter taps, at least 1.
 * @param[in]     dilation_w  Columns between two filter taps, at least 1.
 *
 * @retval miopenStatusSuccess  The descriptor is set.
 * @retval miopenStatusBadParm  `convDesc` is NULL, `c_mode` is unknown, or a
 *                              number is below its minimum.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `convDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenInitConvolutionDescriptor(
    miopenConvolutionDescriptor_t convDesc, miopenConvolutionMode_t c_mode,
    int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h,
    int dilation_w);

/**
 * Sets a convolution of one to three spatial dimensions; in all else it does
 * what miopenInitConvolutionDescriptor() does.
 *
 * @param[in,out] convDesc    The descriptor to set; unchanged on failure.
 * @param[in]     spatialDim  1, 2 or 3: the length of the three arrays.
 * @param[in]     padA        Padding of each dimension, in elements, at least
 *                            0.
 * @param[in]     strideA     Stride of each dimension, in elements, at least 1.
 * @param[in]     dilationA   Dilation of each dimension, in elements, at least
 *                            1.
 * @param[in]     c_mode      Kind of convolution.
 *
 * @retval miopenStatusSuccess  The descriptor is set.
 * @retval miopenStatusBadParm  A pointer is NULL, `spatialDim` or `c_mode` is
 *                              out of range, or a number is below its minimum.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `convDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenInitConvolutionNdDescriptor(
    miopenConvolutionDescriptor_t convDesc, int spatialDim, const int *padA,
    const int *strideA, const int *dilationA, miopenConvolutionMode_t c_mode);

/**
 * Reads the number of spatial dimensions.
 *
 * @param[in]  convDesc    The descriptor to read.
 * @param[out] spatialDim  1, 2 or 3.
 *
 * @retval miopenStatusSuccess  `*spatialDim` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `convDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetConvolutionSpatialDim(
    miopenConvolutionDescriptor_t convDesc, int *spatialDim);

/**
 * Reads a 2-D descriptor.
 *
 * @param[in]  convDesc    The descriptor to read.
 * @param[out] c_mode      miopenConvolution or miopenTranspose.
 * @param[out] pad_h       Padding of the rows.
 * @param[out] pad_w       Padding of the columns.
 * @param[out] stride_h    Stride of the rows.
 * @param[out] stride_w    Stride of the columns.
 * @param[out] dilation_h  Dilation of the rows.
 * @param[out] dilation_w  Dilation of the columns.
 *
 * @retval miopenStatusSuccess       All seven are set.
 * @retval miopenStatusBadParm       A pointer is NULL.
 * @retval miopenStatusUnknownError  The descriptor is not 2-D.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `convDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetConvolutionDescriptor(
    miopenConvolutionDescriptor_t convDesc, miopenConvolutionMode_t *c_mode,
    int *pad_h, int *pad_w, int *stride_h, int *stride_w, int *dilation_h,
    int *dilation_w);

/**
 * Reads a descriptor of any number of spatial dimensions. To learn that number,
 * ask for 0 dimensions.
 *
 * @param[in]  convDesc             The descriptor to read.
 * @param[in]  requestedSpatialDim  Capacity of the three arrays, at least 0.
 * @param[out] spatialDim           Number of spatial dimensions of the
 *                                  descriptor; may be NULL.
 * @param[out] padA                 The first `requestedSpatialDim` paddings;
 *                                  may be NULL if that is 0.
 * @param[out] strideA              The first `requestedSpatialDim` strides; may
 *                                  be NULL if that is 0.
 * @param[out] dilationA            The first `requestedSpatialDim` dilations;
 *                                  may be NULL if that is 0.
 * @param[out] c_mode               miopenConvolution or miopenTranspose; may be
 *                                  NULL.
 *
 * @retval miopenStatusSuccess       The outputs that are wanted are set.
 * @retval miopenStatusBadParm       `convDesc` is NULL, `requestedSpatialDim`
 *                                   is negative, or it is positive and an array
 *                                   is NULL.
 * @retval miopenStatusUnknownError  `requestedSpatialDim` is more than the
 *                                   descriptor has. Nothing is set.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `convDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetConvolutionNdDescriptor(
    miopenConvolutionDescriptor_t convDesc, int requestedSpatialDim,
    int *spatialDim, int *padA, int *strideA, int *dilationA,
    miopenConvolutionMode_t *c_mode);

/**
 * Reads the group count.
 *
 * @param[in]  convDesc    The descriptor to read.
 * @param[out] groupCount  1 unless it was set.
 *
 * @retval miopenStatusSuccess  `*groupCount` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `convDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetConvolutionGroupCount(
    miopenConvolutionDescriptor_t convDesc, int *groupCount);

/**
 * Sets the group count. It is not checked here, but by the functions that take
 * the descriptor together with tensors.
 *
 * @param[in,out] convDesc    The descriptor to change.
 * @param[in]     groupCount  Must divide the channels of x and of y when it is
 *                            used.
 *
 * @retval miopenStatusSuccess  The count is stored.
 * @retval miopenStatusBadParm  `convDesc` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `convDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetConvolutionGroupCount(
    miopenConvolutionDescriptor_t convDesc, int groupCount);

/**
 * Sets the rows and columns added to the output of a 2-D transposed
 * convolution. The functions that use them check them against the strides.
 *
 * @param[in,out] convDesc  The descriptor to change.
 * @param[in]     adj_h     Rows, at least 0, and below `stride_h` when it is
 *                          used.
 * @param[in]     adj_w     Columns, at least 0, and below `stride_w` when it is
 *                          used.
 *
 * @retval miopenStatusSuccess       The numbers are stored.
 * @retval miopenStatusBadParm       `convDesc` is NULL, or a number is
 *                                   negative.
 * @retval miopenStatusUnknownError  The descriptor is not 2-D.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `convDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetTransposeConvOutputPadding(
    miopenConvolutionDescriptor_t convDesc, int adj_h, int adj_w);

/**
 * Sets the output padding of a transposed convolution of any number of
 * dimensions, as miopenSetTransposeConvOutputPadding() does.
 *
 * @param[in,out] convDesc    The descriptor to change.
 * @param[in]     spatialDim  Must be that of the descriptor.
 * @param[in]     adjA        One number of elements for each dimension, at
 *                            least 0.
 *
 * @retval miopenStatusSuccess       The numbers are stored.
 * @retval miopenStatusBadParm       A pointer is NULL, or a number is negative.
 * @retval miopenStatusUnknownError  `spatialDim` is not that of the descriptor.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `convDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetTransposeConvNdOutputPadding(
    miopenConvolutionDescriptor_t convDesc, int spatialDim, const int *adjA);

/**
 * Computes the lengths of y of a 2-D convolution.
 *
 * The length along a dimension is (in + 2 pad - (1 + dilation (filter - 1))) /
 * stride + 1, or, for a transposed convolution, stride (in - 1) + 1 + dilation
 * (filter - 1) - 2 pad + output padding; it is at least 1.
 *
 * @param[in]  convDesc         A 2-D convolution.
 * @param[in]  inputTensorDesc  x: N, C, H, W.
 * @param[in]  filterDesc       w: K, C / groups, Y, X; transposed: C, K /
 *                              groups, Y, X.
 * @param[out] n                Batch size of y.
 * @param[out] c                Channels of y.
 * @param[out] h                Height of y.
 * @param[out] w                Width of y.
 *
 * @retval miopenStatusSuccess         All four are set.
 * @retval miopenStatusBadParm         A pointer is NULL, x or w is not 4-D,
 *                                     their data types or channels disagree,
 *                                     the group count does not divide, an
 *                                     output padding is not below its stride,
 *                                     or an output length exceeds an int.
 * @retval miopenStatusUnknownError    The descriptor is not 2-D.
 * @retval miopenStatusNotImplemented  A length of x or w is 2^31 or more.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys one of
 *   the descriptors.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetConvolutionForwardOutputDim(
    miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t inputTensorDesc,
    const miopenTensorDescriptor_t filterDesc, int *n, int *c, int *h, int *w);

/**
 * Computes the lengths of y for any number of dimensions, as
 * miopenGetConvolutionForwardOutputDim() does.
 *
 * @param[in]  convDesc          The convolution.
 * @param[in]  inputTensorDesc   x.
 * @param[in]  filterDesc        w.
 * @param[out] nDim              Dimensions of y: two more than spatial ones.
 * @param[out] outputTensorDimA  As many lengths as x has, in the order N, C,
 *                               [D,] H, W.
 *
 * @retval miopenStatusSuccess         Both are set.
 * @retval miopenStatusBadParm         A pointer is NULL, x or w does not have
 *                                     two dimensions more than the descriptor,
 *                                     their data types or channels disagree,
 *                                     the group count does not divide, an
 *                                     output padding is not below its stride,
 *                                     or an output length exceeds an int.
 * @retval miopenStatusNotImplemented  A length of x or w is 2^31 or more.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys one of
 *   the descriptors.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetConvolutionNdForwardOutputDim(
    miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t inputTensorDesc,
    const miopenTensorDescriptor_t filterDesc, int *nDim,
    int *outputTensorDimA);

/**
 * Destroys a descriptor.
 *
 * @param[in] convDesc  Not usable afterwards.
 *
 * @retval miopenStatusSuccess  The descriptor is destroyed.
 * @retval miopenStatusBadParm  `convDesc` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `convDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t
miopenDestroyConvolutionDescriptor(miopenConvolutionDescriptor_t convDesc);

/**
 * Sets an attribute.
 *
 * @param[in,out] convDesc  The descriptor to change.
 * @param[in]     attr      The attribute.
 * @param[in]     value     One of the values listed at
 *                          miopenConvolutionAttrib_t.
 *
 * @retval miopenStatusSuccess  The value is stored.
 * @retval miopenStatusBadParm  `convDesc` is NULL, or the attribute or its
 *                              value is unknown.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `convDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetConvolutionAttribute(
    miopenConvolutionDescriptor_t convDesc,
    const miopenConvolutionAttrib_t attr, int value);

/**
 * Reads an attribute.
 *
 * @param[in]  convDesc  The descriptor to read.
 * @param[in]  attr      The attribute.
 * @param[out] value     The value that was set last; at first 0, but -1 for
 *                       MIOPEN_CONVOLUTION_ATTRIB_FP16_ALT_IMPL,
 *                       miopenMathPedantic for
 *                       MIOPEN_CONVOLUTION_ATTRIB_MATH_TYPE and 1 for
 *                       TESSERA_CONVOLUTION_ATTRIB_WINOGRAD.
 *
 * @retval miopenStatusSuccess  `*value` is set.
 * @retval miopenStatusBadParm  A pointer is NULL, or the attribute is unknown.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `convDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetConvolutionAttribute(
    miopenConvolutionDescriptor_t convDesc,
    const miopenConvolutionAttrib_t attr, int *value);

/**
 * Sets the find mode of this convolution. It is stored and can be read back;
 * Find does the same in every mode.
 *
 * @param[in,out] convDesc  The descriptor to change.
 * @param[in]     findMode  One of the enumerators.
 *
 * @retval miopenStatusSuccess  The mode is stored.
 * @retval miopenStatusBadParm  `convDesc` is NULL, or the mode is unknown.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `convDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t
miopenSetConvolutionFindMode(miopenConvolutionDescriptor_t convDesc,
                             miopenConvolutionFindMode_t findMode);

/**
 * Reads the find mode.
 *
 * @param[in]  convDesc  The descriptor to read.
 * @param[out] findMode  miopenConvolutionFindModeDefault unless another was
 *                       set.
 *
 * @retval miopenStatusSuccess  `*findMode` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `convDesc`.
 */
MIOPEN_EXPORT miopenStatus_t
miopenGetConvolutionFindMode(const miopenConvolutionDescriptor_t convDesc,
                             miopenConvolutionFindMode_t *findMode);

/**
 * Sets the find mode, as miopenSetConvolutionFindMode() does; MIGraphX declares
 * and calls this name.
 *
 * @param[in,out] convDesc  The descriptor to change.
 * @param[in]     findMode  A value of miopenConvolutionFindMode_t.
 *
 * @retval miopenStatusSuccess  The mode is stored.
 * @retval miopenStatusBadParm  `convDesc` is NULL, or the mode is unknown.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `convDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenHiddenSetConvolutionFindMode(
    miopenConvolutionDescriptor_t convDesc, int findMode);

/**
 * Reads the find mode, as miopenGetConvolutionFindMode() does; MIGraphX
 * declares and calls this name.
 *
 * @param[in]  convDesc  The descriptor to read.
 * @param[out] findMode  A value of miopenConvolutionFindMode_t;
 *                       miopenConvolutionFindModeDefault unless another was
 *                       set.
 *
 * @retval miopenStatusSuccess  `*findMode` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `convDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenHiddenGetConvolutionFindMode(
    miopenConvolutionDescriptor_t convDesc, int *findMode);

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_CONVOLUTION_H */

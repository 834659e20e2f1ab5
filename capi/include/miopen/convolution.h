/*===- convolution.h - What a convolution is -------------------------------===*\
|*
|* A convolution is described by a convolution descriptor (padding, strides,
|* dilations, groups) and three tensors: input x, filter w, output y. How to
|* run one is in convolution_forward.h, convolution_backward_data.h and
|* convolution_backward_weights.h.
|*
\*===----------------------------------------------------------------------===*/

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

MIOPEN_DECLARE_OBJECT(miopenConvolutionDescriptor);

/** What kind of convolution. GroupConv and Depthwise are Convolution with a
 *  group count; a descriptor remembers them as Convolution. */
typedef enum {
  miopenConvolution = 0, /**< Cross-correlation. */
  miopenTranspose = 1,   /**< Its gradient with respect to the input. */
  miopenGroupConv = 2,
  miopenDepthwise = 3
} miopenConvolutionMode_t;

/** How a client rounds its padding; only stored by clients. */
typedef enum {
  miopenPaddingDefault = 0,
  miopenPaddingSame = 1,
  miopenPaddingValid = 2
} miopenPaddingMode_t;

/** Family of a forward kernel. The kernels of this library are reported as
 *  Direct: clients know that value, and some abort on ImplicitGEMM. */
typedef enum {
  miopenConvolutionFwdAlgoGEMM = 0,
  miopenConvolutionFwdAlgoDirect = 1,
  miopenConvolutionFwdAlgoFFT = 2,
  miopenConvolutionFwdAlgoWinograd = 3,
  miopenConvolutionFwdAlgoImplicitGEMM = 5,
  miopenConvolutionFwdAlgoStaticCompiledGEMM = 6 /**< Of MIOpen 2.1 to 2.5;
                                                    never reported. */
} miopenConvFwdAlgorithm_t;

/** Family of a kernel for the gradient of the filter. */
typedef enum {
  miopenConvolutionBwdWeightsAlgoGEMM = 0,
  miopenConvolutionBwdWeightsAlgoDirect = 1,
  miopenConvolutionBwdWeightsAlgoWinograd = 3,
  miopenConvolutionBwdWeightsAlgoImplicitGEMM = 5
} miopenConvBwdWeightsAlgorithm_t;

/** Family of a kernel for the gradient of the input. */
typedef enum {
  miopenConvolutionBwdDataAlgoGEMM = 0,
  miopenConvolutionBwdDataAlgoDirect = 1,
  miopenConvolutionBwdDataAlgoFFT = 2,
  miopenConvolutionBwdDataAlgoWinograd = 3,
  miopenTransposeBwdDataAlgoGEMM = 4, /**< Never reported. */
  miopenConvolutionBwdDataAlgoImplicitGEMM = 5
} miopenConvBwdDataAlgorithm_t;

/** Family of a kernel in any direction. */
typedef enum {
  miopenConvolutionAlgoGEMM = 0,
  miopenConvolutionAlgoDirect = 1,
  miopenConvolutionAlgoFFT = 2,
  miopenConvolutionAlgoWinograd = 3,
  miopenConvolutionAlgoImplicitGEMM = 5,
  miopenConvolutionAlgoStaticCompiledGEMM = 6 /**< Of MIOpen 2.1 to 2.5. */
} miopenConvAlgorithm_t;

/** What Find reports of one algorithm. */
typedef struct {
  union {
    miopenConvFwdAlgorithm_t fwd_algo;
    miopenConvBwdWeightsAlgorithm_t bwd_weights_algo;
    miopenConvBwdDataAlgorithm_t bwd_data_algo;
  };
  float time;    /**< Milliseconds of one run, as measured. */
  size_t memory; /**< Workspace that it needs, in bytes. */
} miopenConvAlgoPerf_t;

/** What immediate mode reports of one solution. */
typedef struct {
  float time;            /**< Milliseconds; 0 means not measured. */
  size_t workspace_size; /**< Workspace that it needs, in bytes. */
  uint64_t solution_id;  /**< Stable across releases. */
  miopenConvAlgorithm_t algorithm;
} miopenConvSolution_t;

/** Attributes of a convolution descriptor. */
typedef enum {
  MIOPEN_CONVOLUTION_ATTRIB_FP16_ALT_IMPL = 0, /**< -1, 0 or 1; no effect. */
  MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC = 1, /**< 0 or 1; kernels are
                                                    deterministic unless
                                                    TESSERA_TILE names one that
                                                    is not, which 1 refuses. */
#ifdef MIOPEN_BETA_API
  MIOPEN_CONVOLUTION_ATTRIB_FP8_ROUNDING_MODE = 2, /**< 0 or 1; no effect. */
#else
  miopenReserved1 = 2,
#endif
  MIOPEN_CONVOLUTION_ATTRIB_MATH_TYPE = 3 /**< A miopenMathType_t; a descriptor
                                               begins as miopenMathPedantic. */
} miopenConvolutionAttrib_t;

/** Whether factors of f32 may be rounded before they are multiplied. */
typedef enum {
  miopenMathDefault = 0, /**< To tf32, where the device is faster so. */
  miopenMathPedantic = 1
} miopenMathType_t;

/** How hard Find works. Kept in the descriptor and given back; Find does the
 *  same in every mode, because this release has one kernel for a problem. */
typedef enum {
  miopenConvolutionFindModeNormal = 1,
  miopenConvolutionFindModeFast = 2,
  miopenConvolutionFindModeHybrid = 3,
  miopenConvolutionFindModeDynamicHybrid = 5,
  miopenConvolutionFindModeTrustVerify = 6,
  miopenConvolutionFindModeTrustVerifyFull = 7,
  miopenConvolutionFindModeDefault = 5
} miopenConvolutionFindMode_t;

/**
 * Creates the descriptor of a 2-D convolution with no padding, strides and
 * dilations 1 and one group.
 *
 * @param[out] convDesc  Owned by the caller: release it with
 *                       miopenDestroyConvolutionDescriptor().
 *
 * @retval miopenStatusSuccess      `*convDesc` is usable.
 * @retval miopenStatusBadParm      `convDesc` is NULL.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Threads
 *   Any.
 */
MIOPEN_EXPORT miopenStatus_t
miopenCreateConvolutionDescriptor(miopenConvolutionDescriptor_t *convDesc);

/**
 * Sets a 2-D convolution. Group count, output padding and attributes go back
 * to their defaults.
 *
 * @param convDesc    The descriptor to set; unchanged on failure.
 * @param c_mode      Kind of convolution.
 * @param pad_h       Rows of zeros above and below, at least 0.
 * @param pad_w       Columns of zeros left and right, at least 0.
 * @param stride_h    Rows between two outputs, at least 1.
 * @param stride_w    Columns between two outputs, at least 1.
 * @param dilation_h  Rows between two filter taps, at least 1.
 * @param dilation_w  Columns between two filter taps, at least 1.
 *
 * @retval miopenStatusSuccess  The descriptor is set.
 * @retval miopenStatusBadParm  `convDesc` is NULL, `c_mode` is unknown, or a
 *                              number is below its minimum.
 *
 * @par Threads
 *   Nobody else may use the descriptor meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenInitConvolutionDescriptor(
    miopenConvolutionDescriptor_t convDesc, miopenConvolutionMode_t c_mode,
    int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h,
    int dilation_w);

/**
 * Sets a convolution of one to three spatial dimensions. As
 * miopenInitConvolutionDescriptor() otherwise.
 *
 * @param convDesc    The descriptor to set; unchanged on failure.
 * @param spatialDim  1, 2 or 3: the length of the three arrays.
 * @param padA        Padding of each dimension, at least 0.
 * @param strideA     Stride of each dimension, at least 1.
 * @param dilationA   Dilation of each dimension, at least 1.
 * @param c_mode      Kind of convolution.
 *
 * @retval miopenStatusSuccess  The descriptor is set.
 * @retval miopenStatusBadParm  A pointer is NULL, `spatialDim` or `c_mode` is
 *                              out of range, or a number is below its minimum.
 *
 * @par Threads
 *   Nobody else may use the descriptor meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenInitConvolutionNdDescriptor(
    miopenConvolutionDescriptor_t convDesc, int spatialDim, const int *padA,
    const int *strideA, const int *dilationA, miopenConvolutionMode_t c_mode);

/**
 * The number of spatial dimensions.
 *
 * @param      convDesc    The descriptor to read.
 * @param[out] spatialDim  1, 2 or 3.
 *
 * @retval miopenStatusSuccess  `*spatialDim` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Threads
 *   Any, while nobody sets or destroys the descriptor.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetConvolutionSpatialDim(
    miopenConvolutionDescriptor_t convDesc, int *spatialDim);

/**
 * Reads a 2-D descriptor.
 *
 * @param      convDesc    The descriptor to read.
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
 * @par Threads
 *   Any, while nobody sets or destroys the descriptor.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetConvolutionDescriptor(
    miopenConvolutionDescriptor_t convDesc, miopenConvolutionMode_t *c_mode,
    int *pad_h, int *pad_w, int *stride_h, int *stride_w, int *dilation_h,
    int *dilation_w);

/**
 * Reads a descriptor of any number of spatial dimensions. Clients learn the
 * number by asking for 0 dimensions, or by asking for more until it fails.
 *
 * @param      convDesc             The descriptor to read.
 * @param      requestedSpatialDim  How many dimensions the arrays have room
 *                                  for, 0 included.
 * @param[out] spatialDim           How many the descriptor has; may be NULL.
 * @param[out] padA                 The first `requestedSpatialDim` paddings.
 * @param[out] strideA              Their strides.
 * @param[out] dilationA            Their dilations.
 * @param[out] c_mode               Kind of convolution; may be NULL.
 *
 * @retval miopenStatusSuccess       What was asked for is set.
 * @retval miopenStatusBadParm       `convDesc` is NULL, `requestedSpatialDim`
 *                                   is negative, or it is positive and an
 *                                   array is NULL.
 * @retval miopenStatusUnknownError  `requestedSpatialDim` is more than the
 *                                   descriptor has. Nothing is set.
 *
 * @par Threads
 *   Any, while nobody sets or destroys the descriptor.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetConvolutionNdDescriptor(
    miopenConvolutionDescriptor_t convDesc, int requestedSpatialDim,
    int *spatialDim, int *padA, int *strideA, int *dilationA,
    miopenConvolutionMode_t *c_mode);

/**
 * Reads the group count.
 *
 * @param      convDesc    The descriptor to read.
 * @param[out] groupCount  1 unless it was set.
 *
 * @retval miopenStatusSuccess  `*groupCount` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Threads
 *   Any, while nobody sets or destroys the descriptor.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetConvolutionGroupCount(
    miopenConvolutionDescriptor_t convDesc, int *groupCount);

/**
 * Sets the group count. It is checked against the tensors where they meet,
 * not here.
 *
 * @param convDesc    The descriptor to change.
 * @param groupCount  Must divide the channels of x and of y when used.
 *
 * @retval miopenStatusSuccess  The count is kept.
 * @retval miopenStatusBadParm  `convDesc` is NULL.
 *
 * @par Threads
 *   Nobody else may use the descriptor meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetConvolutionGroupCount(
    miopenConvolutionDescriptor_t convDesc, int groupCount);

/**
 * Sets the rows and columns added to the output of a 2-D transposed
 * convolution. They are checked against the strides where they are used.
 *
 * @param convDesc  The descriptor to change.
 * @param adj_h     Rows, below `stride_h` when used.
 * @param adj_w     Columns, below `stride_w` when used.
 *
 * @retval miopenStatusSuccess       The numbers are kept.
 * @retval miopenStatusBadParm       `convDesc` is NULL, or a number is negative.
 * @retval miopenStatusUnknownError  The descriptor is not 2-D.
 *
 * @par Threads
 *   Nobody else may use the descriptor meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetTransposeConvOutputPadding(
    miopenConvolutionDescriptor_t convDesc, int adj_h, int adj_w);

/**
 * miopenSetTransposeConvOutputPadding() for any number of dimensions.
 *
 * @param convDesc    The descriptor to change.
 * @param spatialDim  Must be that of the descriptor.
 * @param adjA        One number for each dimension.
 *
 * @retval miopenStatusSuccess       The numbers are kept.
 * @retval miopenStatusBadParm       A pointer is NULL, or a number is negative.
 * @retval miopenStatusUnknownError  `spatialDim` is not that of the descriptor.
 *
 * @par Threads
 *   Nobody else may use the descriptor meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetTransposeConvNdOutputPadding(
    miopenConvolutionDescriptor_t convDesc, int spatialDim, const int *adjA);

/**
 * The lengths of y of a 2-D convolution, by the descriptor's mode:
 * (in + 2 pad - (1 + dilation (filter - 1))) / stride + 1, or, transposed,
 * stride (in - 1) + 1 + dilation (filter - 1) - 2 pad + output padding; at
 * least 1.
 *
 * @param      convDesc         A 2-D descriptor.
 * @param      inputTensorDesc  x: N, C, H, W.
 * @param      filterDesc       w: K, C / groups, Y, X; transposed: C,
 *                              K / groups, Y, X.
 * @param[out] n                Batch of y.
 * @param[out] c                Channels of y.
 * @param[out] h                Height of y.
 * @param[out] w                Width of y.
 *
 * @retval miopenStatusSuccess       All four are set.
 * @retval miopenStatusBadParm       A pointer is NULL, x or w is not 4-D, their
 *                                   types or channels disagree, the group count
 *                                   does not divide, or an output padding is
 *                                   not below its stride.
 * @retval miopenStatusUnknownError  The descriptor is not 2-D.
 *
 * @par Threads
 *   Any, while nobody sets or destroys the descriptors.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetConvolutionForwardOutputDim(
    miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t inputTensorDesc,
    const miopenTensorDescriptor_t filterDesc, int *n, int *c, int *h, int *w);

/**
 * miopenGetConvolutionForwardOutputDim() for any number of dimensions.
 *
 * @param      convDesc          The convolution.
 * @param      inputTensorDesc   x.
 * @param      filterDesc        w.
 * @param[out] nDim              Dimensions of y: two more than spatial ones.
 * @param[out] outputTensorDimA  Room for as many lengths as x has.
 *
 * @retval miopenStatusSuccess  Both are set.
 * @retval miopenStatusBadParm  As miopenGetConvolutionForwardOutputDim(), or x
 *                              or w has not two dimensions more than the
 *                              descriptor.
 *
 * @par Threads
 *   Any, while nobody sets or destroys the descriptors.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetConvolutionNdForwardOutputDim(
    miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t inputTensorDesc,
    const miopenTensorDescriptor_t filterDesc, int *nDim,
    int *outputTensorDimA);

/**
 * Destroys a descriptor.
 *
 * @param convDesc  Not usable afterwards.
 *
 * @retval miopenStatusSuccess  The descriptor is gone.
 * @retval miopenStatusBadParm  `convDesc` is NULL.
 *
 * @par Threads
 *   Nobody else may use the descriptor meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t
miopenDestroyConvolutionDescriptor(miopenConvolutionDescriptor_t convDesc);

/**
 * Sets an attribute.
 *
 * @param convDesc  The descriptor to change.
 * @param attr      Which attribute.
 * @param value     One of the values listed at miopenConvolutionAttrib_t.
 *
 * @retval miopenStatusSuccess  The value is kept.
 * @retval miopenStatusBadParm  `convDesc` is NULL, or the attribute or its
 *                              value is unknown.
 *
 * @par Threads
 *   Nobody else may use the descriptor meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetConvolutionAttribute(
    miopenConvolutionDescriptor_t convDesc,
    const miopenConvolutionAttrib_t attr, int value);

/**
 * Reads an attribute.
 *
 * @param      convDesc  The descriptor to read.
 * @param      attr      Which attribute.
 * @param[out] value     What was set last; at first 0, and -1 for
 *                       MIOPEN_CONVOLUTION_ATTRIB_FP16_ALT_IMPL.
 *
 * @retval miopenStatusSuccess  `*value` is set.
 * @retval miopenStatusBadParm  A pointer is NULL, or the attribute is unknown.
 *
 * @par Threads
 *   Any, while nobody sets or destroys the descriptor.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetConvolutionAttribute(
    miopenConvolutionDescriptor_t convDesc,
    const miopenConvolutionAttrib_t attr, int *value);

/**
 * Sets the find mode of this convolution.
 *
 * @param convDesc  The descriptor to change.
 * @param findMode  One of the modes.
 *
 * @retval miopenStatusSuccess  The mode is kept.
 * @retval miopenStatusBadParm  `convDesc` is NULL, or the mode is unknown.
 *
 * @par Threads
 *   Nobody else may use the descriptor meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t
miopenSetConvolutionFindMode(miopenConvolutionDescriptor_t convDesc,
                             miopenConvolutionFindMode_t findMode);

/**
 * Reads the find mode.
 *
 * @param      convDesc  The descriptor to read.
 * @param[out] findMode  miopenConvolutionFindModeDefault unless it was set.
 *
 * @retval miopenStatusSuccess  `*findMode` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Threads
 *   Any, while nobody sets or destroys the descriptor.
 */
MIOPEN_EXPORT miopenStatus_t
miopenGetConvolutionFindMode(const miopenConvolutionDescriptor_t convDesc,
                             miopenConvolutionFindMode_t *findMode);

/** miopenSetConvolutionFindMode() as MIGraphX knows it. */
MIOPEN_EXPORT miopenStatus_t miopenHiddenSetConvolutionFindMode(
    miopenConvolutionDescriptor_t convDesc, int findMode);

/** miopenGetConvolutionFindMode() as MIGraphX knows it. */
MIOPEN_EXPORT miopenStatus_t miopenHiddenGetConvolutionFindMode(
    miopenConvolutionDescriptor_t convDesc, int *findMode);

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_CONVOLUTION_H */

/*===- loss.h - Loss functions --------------------------------------------===*/
/**
 * @file
 * The CTC loss, of float, with its gradient; soft margin losses and their
 * gradients, and multi-class margin losses, of half, bfloat16, float and
 * double.
 */

#ifndef MIOPEN_LOSS_H
#define MIOPEN_LOSS_H

#include <miopen/export.h>
#include <miopen/handle.h>
#include <miopen/tensor.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Data type and blank label of a CTC loss. */
MIOPEN_DECLARE_OBJECT(miopenCTCLossDescriptor);

/** Algorithm of the CTC loss; there is one. */
typedef enum {
  /** The same input gives the same bits. */
  MIOPEN_CTC_LOSS_ALGO_DETERMINISTIC = 0
} miopenCTCLossAlgo_t;

#ifdef MIOPEN_BETA_API

/** How the losses of elements become the output. */
typedef enum {
  MIOPEN_LOSS_REDUCTION_NONE = 0, /**< One loss for each element. */
  MIOPEN_LOSS_REDUCTION_SUM = 1,  /**< The sum of all losses. */
  MIOPEN_LOSS_REDUCTION_MEAN = 2  /**< The mean of all losses. */
} miopenLossReductionMode_t;

#endif /* MIOPEN_BETA_API */

/**
 * Creates a descriptor of miopenFloat, with blank label 0 and a softmax layer.
 *
 * @param[out] ctcLossDesc  Owned by the caller: release it with
 *                          miopenDestroyCTCLossDescriptor().
 *
 * @retval miopenStatusSuccess      `*ctcLossDesc` is usable.
 * @retval miopenStatusBadParm      `ctcLossDesc` is NULL.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t
miopenCreateCTCLossDescriptor(miopenCTCLossDescriptor_t *ctcLossDesc);

/**
 * Reads a descriptor.
 *
 * @param[in]  ctcLossDesc          The descriptor to read.
 * @param[out] dataType             Data type; may be NULL.
 * @param[out] blank_label_id       Number of the blank label; may be NULL.
 * @param[out] apply_softmax_layer  Whether a softmax comes first; may be NULL.
 *
 * @retval miopenStatusSuccess  The outputs that are wanted are set.
 * @retval miopenStatusBadParm  `ctcLossDesc` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `ctcLossDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetCTCLossDescriptor(
    miopenCTCLossDescriptor_t ctcLossDesc, miopenDataType_t *dataType,
    int *blank_label_id, bool *apply_softmax_layer);

/**
 * Destroys a descriptor.
 *
 * @param[in] ctcLossDesc  Not usable afterwards.
 *
 * @retval miopenStatusSuccess  The descriptor is destroyed.
 * @retval miopenStatusBadParm  `ctcLossDesc` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `ctcLossDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t
miopenDestroyCTCLossDescriptor(miopenCTCLossDescriptor_t ctcLossDesc);

/**
 * Sets a descriptor.
 *
 * @param[in,out] ctcLossDesc         The descriptor to set; unchanged on
 *                                    failure.
 * @param[in]     dataType            Data type.
 * @param[in]     blank_label_id      Number of the blank label.
 * @param[in]     apply_softmax_layer  Whether a softmax comes first.
 *
 * @retval miopenStatusSuccess  The descriptor is set.
 * @retval miopenStatusBadParm  `ctcLossDesc` is NULL, or `dataType` is unknown.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `ctcLossDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetCTCLossDescriptor(
    miopenCTCLossDescriptor_t ctcLossDesc, miopenDataType_t dataType,
    const int blank_label_id, bool apply_softmax_layer);

/**
 * Gets the size of the workspace of miopenCTCLoss().
 *
 * @param[in]  handle         Supplies the device and the stream.
 * @param[in]  probsDesc      Float: time steps, batch, classes; any strides.
 * @param[in]  gradientsDesc  The lengths and the data type of `probsDesc`; any
 *                            strides.
 * @param[in]  labels         Labels of all sequences, one sequence after the
 *                            other: classes, counted from 0. Host or device
 *                            memory.
 * @param[in]  labelLengths   Number of labels of each sequence; host or device
 *                            memory.
 * @param[in]  inputLengths   Time steps of each sequence, at least 1; host or
 *                            device memory.
 * @param[in]  algo           The algorithm.
 * @param[in]  ctcLossDesc    The loss function.
 * @param[out] workSpaceSize  Bytes.
 *
 * @retval miopenStatusSuccess         `*workSpaceSize` is set.
 * @retval miopenStatusBadParm         A pointer is NULL, a tensor has not 3
 *                                     dimensions, or the tensors differ; a
 *                                     length or a label is out of range, or a
 *                                     sequence has fewer time steps than labels
 *                                     and blanks between equal ones.
 * @retval miopenStatusNotImplemented  The data type is half, or there are more
 *                                     than 2^24 time steps or classes.
 * @retval miopenStatusInternalError   The driver failed.
 *
 * @par Cost
 *   Host only; waits for the stream if labels or lengths are on the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetCTCLossWorkspaceSize(
    miopenHandle_t handle, const miopenTensorDescriptor_t probsDesc,
    const miopenTensorDescriptor_t gradientsDesc, const int *labels,
    const int *labelLengths, const int *inputLengths, miopenCTCLossAlgo_t algo,
    const miopenCTCLossDescriptor_t ctcLossDesc, size_t *workSpaceSize);

/**
 * Computes CTC losses, -ln of the probability of each sequence's labels, and
 * their gradients.
 *
 * With a softmax layer, `probs` is its input, and the gradients are those of
 * that input. Without one, `probs` are logarithms of probabilities, and the
 * gradients are those of the probabilities, as in MIOpen. Behind the time steps
 * of a sequence they are 0. A blank label out of range means the nearest class.
 *
 * @param[in]     handle         Supplies the device and the stream.
 * @param[in]     probsDesc      Float: time steps, batch, classes; any strides.
 * @param[in]     probs          Device memory, read.
 * @param[in]     labels         Labels of all sequences, one sequence after the
 *                               other: classes, counted from 0. Host or device
 *                               memory.
 * @param[in]     labelLengths   Number of labels of each sequence; host or
 *                               device memory.
 * @param[in]     inputLengths   Time steps of each sequence, at least 1; host
 *                               or device memory.
 * @param[out]    losses         A float for each sequence; device memory.
 * @param[in]     gradientsDesc  The lengths and the data type of `probsDesc`;
 *                               any strides.
 * @param[out]    gradients      Device memory, every element overwritten.
 * @param[in]     algo           The algorithm; the same input gives the same
 *                               bits.
 * @param[in]     ctcLossDesc    The loss function.
 * @param[in,out] workSpace      Device memory, of any content.
 * @param[in]     workSpaceSize  Size of `workSpace` in bytes, at least what
 *                               miopenGetCTCLossWorkspaceSize() gives.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         As in miopenGetCTCLossWorkspaceSize(), or
 *                                     the workspace is too small, or elements
 *                                     of the gradients overlap.
 * @retval miopenStatusNotImplemented  The data type is half, or there are more
 *                                     than 2^24 time steps or classes, or no
 *                                     kernel covers the chip.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Compiles on first use, then launches: two kernels for each time step and
 *   seven others. Waits for the stream before the first one and not after the
 *   last.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenCTCLoss(
    miopenHandle_t handle, const miopenTensorDescriptor_t probsDesc,
    const void *probs, const int *labels, const int *labelLengths,
    const int *inputLengths, void *losses,
    const miopenTensorDescriptor_t gradientsDesc, void *gradients,
    miopenCTCLossAlgo_t algo, const miopenCTCLossDescriptor_t ctcLossDesc,
    void *workSpace, size_t workSpaceSize);

#ifdef MIOPEN_BETA_API

/**
 * Gets the size of the workspace of miopenSoftMarginLossForward(), which is 0:
 * kernels use scratch memory of the handle.
 *
 * @param[in]  handle       Checked for NULL only.
 * @param[in]  inputDesc    Half, bfloat16, float or double; any strides.
 * @param[in]  targetDesc   The lengths and the data type of the input.
 * @param[in]  outputDesc   The data type of the input; its lengths, or one
 *                          element for a sum or mean.
 * @param[in]  reduction    None, sum or mean.
 * @param[out] sizeInBytes  Bytes.
 *
 * @retval miopenStatusSuccess  `*sizeInBytes` is 0.
 * @retval miopenStatusBadParm  A pointer is NULL, the tensors do not fit each
 *                              other, or `reduction` is unknown.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetSoftMarginLossForwardWorkspaceSize(
    miopenHandle_t handle, miopenTensorDescriptor_t inputDesc,
    miopenTensorDescriptor_t targetDesc, miopenTensorDescriptor_t outputDesc,
    miopenLossReductionMode_t reduction, size_t *sizeInBytes);

/**
 * Computes soft margin losses, ln(1 + e^(-t x)), or their sum or mean.
 *
 * @param[in]  handle               Supplies the device and the stream.
 * @param[in]  inputDesc            Half, bfloat16, float or double; any
 *                                  strides.
 * @param[in]  input                x; device memory, read.
 * @param[in]  targetDesc           The lengths and the data type of the input.
 * @param[in]  target               t, 1 or -1; device memory, read.
 * @param[in]  outputDesc           The data type of the input; its lengths, or
 *                                  one element for a sum or mean.
 * @param[out] output               Device memory, every element overwritten.
 * @param[in]  reduction            None, sum or mean.
 * @param[in]  workspace            Not used.
 * @param[in]  workspaceSizeInBytes  Not used.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer other than `workspace` is NULL,
 *                                     the tensors do not fit each other,
 *                                     elements of the output overlap, or
 *                                     `reduction` is unknown.
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
 *   Compiles on first use, then launches; does not wait for the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenSoftMarginLossForward(
    miopenHandle_t handle, miopenTensorDescriptor_t inputDesc,
    const void *input, miopenTensorDescriptor_t targetDesc, const void *target,
    miopenTensorDescriptor_t outputDesc, void *output,
    miopenLossReductionMode_t reduction,
    void *workspace MIOPEN_DEFAULT(nullptr),
    size_t workspaceSizeInBytes MIOPEN_DEFAULT(0));

/**
 * Computes the gradient of a soft margin loss: -t / (1 + e^(t x)) times that of
 * the output, divided by the number of elements for a mean.
 *
 * @param[in]  handle       Supplies the device and the stream.
 * @param[in]  inputDesc    Half, bfloat16, float or double; any strides.
 * @param[in]  input        x; device memory, read.
 * @param[in]  targetDesc   The lengths and the data type of the input.
 * @param[in]  target       t; device memory, read.
 * @param[in]  doutputDesc  The lengths and the data type of the input, whatever
 *                          the reduction is.
 * @param[in]  doutput      Gradient of the output; device memory, read.
 * @param[in]  dinputDesc   The lengths and the data type of the input.
 * @param[out] dinput       Gradient of the input; device memory, every element
 *                          overwritten; may be another tensor if the strides
 *                          agree.
 * @param[in]  reduction    None, sum or mean.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, the tensors do not fit
 *                                     each other, elements of the result
 *                                     overlap, or `reduction` is unknown.
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
 *   Compiles on first use, then launches; does not wait for the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenSoftMarginLossBackward(
    miopenHandle_t handle, miopenTensorDescriptor_t inputDesc,
    const void *input, miopenTensorDescriptor_t targetDesc, const void *target,
    miopenTensorDescriptor_t doutputDesc, const void *doutput,
    miopenTensorDescriptor_t dinputDesc, void *dinput,
    miopenLossReductionMode_t reduction);

/**
 * Gets the size of the workspace of miopenMultiMarginLossForward(): a number
 * for each row if there is a reduction.
 *
 * @param[in]  handle       Checked for NULL only.
 * @param[in]  inputDesc    Half, bfloat16, float or double; rows and classes.
 * @param[in]  targetDesc   Int64; an element for each row.
 * @param[in]  weightDesc   The data type of the input; an element for each
 *                          class.
 * @param[in]  outputDesc   The data type of the input; an element for each row,
 *                          or one for a sum or mean.
 * @param[in]  p            Exponent, 1 or 2.
 * @param[in]  margin       Margin of the loss.
 * @param[in]  reduction    None, sum or mean.
 * @param[out] sizeInBytes  Bytes.
 *
 * @retval miopenStatusSuccess         `*sizeInBytes` is set.
 * @retval miopenStatusBadParm         A pointer is NULL, the tensors do not fit
 *                                     each other, or `p` or `reduction` is
 *                                     another number.
 * @retval miopenStatusNotImplemented  There are more than 2^24 classes.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetMultiMarginLossForwardWorkspaceSize(
    miopenHandle_t handle, miopenTensorDescriptor_t inputDesc,
    miopenTensorDescriptor_t targetDesc, miopenTensorDescriptor_t weightDesc,
    miopenTensorDescriptor_t outputDesc, long p, float margin,
    miopenLossReductionMode_t reduction, size_t *sizeInBytes);

/**
 * Computes multi-class margin losses: of a row x with target t, the sum of
 * max(0, margin - x[t] + x[c])^p over all classes c but t, times the weight of
 * t, divided by the number of classes; or their sum or mean. A target that is
 * no class makes a NaN.
 *
 * @param[in]     handle              Supplies the device and the stream.
 * @param[in]     inputDesc           Half, bfloat16, float or double; rows and
 *                                    classes, any strides.
 * @param[in]     input               Device memory, read.
 * @param[in]     targetDesc          Int64; an element for each row.
 * @param[in]     target              Classes, counted from 0; device memory,
 *                                    read.
 * @param[in]     weightDesc          The data type of the input; an element for
 *                                    each class.
 * @param[in]     weight              Weight of each class; device memory, read.
 * @param[in]     outputDesc          The data type of the input; an element for
 *                                    each row, or one for a sum or mean.
 * @param[out]    output              Device memory, every element overwritten.
 * @param[in]     p                   Exponent, 1 or 2.
 * @param[in]     margin              Margin of the loss.
 * @param[in]     reduction           None, sum or mean.
 * @param[in,out] workspace           Device memory; may be NULL without a
 *                                    reduction.
 * @param[in]     workspaceSizeInBytes  Size of `workspace` in bytes, at least
 *                                    that of the function above.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, the tensors do not fit
 *                                     each other, elements of the output
 *                                     overlap, `p` or `reduction` is another
 *                                     number, or the workspace is too small.
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
 *   Compiles on first use, then launches; does not wait for the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenMultiMarginLossForward(
    miopenHandle_t handle, miopenTensorDescriptor_t inputDesc,
    const void *input, miopenTensorDescriptor_t targetDesc, const void *target,
    miopenTensorDescriptor_t weightDesc, const void *weight,
    miopenTensorDescriptor_t outputDesc, void *output, long p, float margin,
    miopenLossReductionMode_t reduction, void *workspace,
    size_t workspaceSizeInBytes);

#endif /* MIOPEN_BETA_API */

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_LOSS_H */

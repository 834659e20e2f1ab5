/*===- convolution_forward.h - Run y = conv(x, w) --------------------------===*\
|*
|* What holds here holds for convolution_backward_data.h and
|* convolution_backward_weights.h as well.
|*
|* Two ways to the same kernel; clients mix them freely:
|*
|*  - Find 1.0: ask for the workspace, let Find measure, execute. Execution
|*    does not depend on Find here: a kernel that is missing is compiled.
|*  - Immediate mode: count and list solutions, compile one, execute it. There
|*    is one solution for each problem.
|*
|* What runs: convolutions over 1, 2 or 3 dimensions of miopenHalf,
|* miopenBFloat16, miopenFloat or miopenDouble tensors; forward also of
|* miopenInt8 with a y of miopenInt32 or miopenFloat. Tensors may have any
|* strides, gaps included, that put no two elements of the one that is written
|* in the same place. Other types answer miopenStatusNotImplemented.
|*
|* With a descriptor of miopenTranspose, w is [C, K / groups, ...], "forward"
|* computes what a convolution's gradient would be, and "backward data" is a
|* convolution.
|*
|* "The problem" below means the three tensors and the convolution descriptor
|* together. It is *inconsistent* when the types differ, x and w disagree in
|* channels, w and y in output channels, x and y in batch, the group count does
|* not divide the channels, or y has not the lengths that
|* miopenGetConvolutionForwardOutputDim() gives.
|*
|* The first call of a process for a problem looks in the kernel database and
|* else compiles, some tens of milliseconds; "needs the kernel" marks the
|* functions that may do so. Every later call costs a lookup in memory.
|*
|* The same call on the same data gives the same bits, always.
|*
\*===----------------------------------------------------------------------===*/

#ifndef MIOPEN_CONVOLUTION_FORWARD_H
#define MIOPEN_CONVOLUTION_FORWARD_H

#include <miopen/convolution.h>

#ifdef __cplusplus
extern "C" {
#endif

/*===-- Find 1.0 -----------------------------------------------------------===*/

/**
 * The workspace that miopenConvolutionForward() needs.
 *
 * Needs the kernel; launches nothing.
 *
 * @param      handle         Supplies the device.
 * @param      wDesc          Filter. Note that it comes before the input.
 * @param      xDesc          Input.
 * @param      convDesc       The convolution.
 * @param      yDesc          Output.
 * @param[out] workSpaceSize  Bytes; 0 means that NULL may be passed.
 *
 * @retval miopenStatusSuccess         `*workSpaceSize` is set.
 * @retval miopenStatusBadParm         A pointer is NULL, or the problem is
 *                                     inconsistent.
 * @retval miopenStatusNotImplemented  No kernel covers the problem.
 * @retval miopenStatusInternalError   Compiler or driver failed.
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenConvolutionForwardGetWorkSpaceSize(
    miopenHandle_t handle, const miopenTensorDescriptor_t wDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, size_t *workSpaceSize);

/**
 * Measures the algorithms for a problem.
 *
 * Needs the kernel; launches it a few times, which writes `y`, and waits for
 * it. One algorithm is reported, miopenConvolutionFwdAlgoDirect.
 *
 * @param      handle              Supplies device and stream.
 * @param      xDesc               Input.
 * @param      x                   Its data, on the device.
 * @param      wDesc               Filter.
 * @param      w                   Its data.
 * @param      convDesc            The convolution.
 * @param      yDesc               Output.
 * @param[out] y                   Its data; overwritten.
 * @param      requestAlgoCount    Room in `perfResults`, at least 1.
 * @param[out] returnedAlgoCount   How many are set.
 * @param[out] perfResults         The fastest first.
 * @param      workSpace           On the device; may be NULL if the size is 0.
 * @param      workSpaceSize       Its bytes.
 * @param      exhaustiveSearch    No effect: no kernel has anything to tune yet.
 *
 * @retval miopenStatusSuccess         At least one result is set.
 * @retval miopenStatusBadParm         A pointer other than `workSpace` is NULL,
 *                                     `requestAlgoCount` is below 1, or the
 *                                     problem is inconsistent.
 * @retval miopenStatusNotImplemented  No kernel covers the problem.
 * @retval miopenStatusUnknownError    Every kernel for the problem needs more
 *                                     workspace than was given.
 * @retval miopenStatusInternalError   Compiler or driver failed.
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenFindConvolutionForwardAlgorithm(
    miopenHandle_t handle, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t wDesc, const void *w,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, void *y, const int requestAlgoCount,
    int *returnedAlgoCount, miopenConvAlgoPerf_t *perfResults, void *workSpace,
    size_t workSpaceSize, bool exhaustiveSearch);

/**
 * Runs y = alpha conv(x, w) + beta y.
 *
 * Needs the kernel, whether or not Find ran; launches it on the handle's
 * stream and does not wait, unless profiling is enabled.
 *
 * @param      handle         Supplies device and stream.
 * @param      alpha          Points to a float, a double if the tensors are of
 *                            miopenDouble. Must be 1 unless the convolution is
 *                            3-D.
 * @param      xDesc          Input.
 * @param      x              Its data, on the device.
 * @param      wDesc          Filter.
 * @param      w              Its data.
 * @param      convDesc       The convolution.
 * @param      algo           What Find reported. Any of the enumerators runs
 *                            the same kernel.
 * @param      beta           The same; must be 0 unless the convolution is 3-D.
 *                            Where it is 0, y is not read.
 * @param      yDesc          Output.
 * @param[out] y              Its data; overwritten.
 * @param      workSpace      On the device; may be NULL if none is needed.
 * @param      workSpaceSize  Its bytes; more than needed is fine.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, `algo` is unknown, the
 *                                     problem is inconsistent, or the workspace
 *                                     is too small.
 * @retval miopenStatusNotImplemented  No kernel covers the problem, or alpha is
 *                                     not 1 or beta not 0 where they must be.
 * @retval miopenStatusInternalError   Compiler or driver failed.
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenConvolutionForward(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t wDesc, const void *w,
    const miopenConvolutionDescriptor_t convDesc, miopenConvFwdAlgorithm_t algo,
    const void *beta, const miopenTensorDescriptor_t yDesc, void *y,
    void *workSpace, size_t workSpaceSize);

/*===-- Immediate mode -----------------------------------------------------===*/

/**
 * How many solutions a problem has: 1.
 *
 * Needs the kernel, so that a solution which is counted can also be run;
 * launches nothing.
 *
 * @param      handle         Supplies the device.
 * @param      wDesc          Filter.
 * @param      xDesc          Input.
 * @param      convDesc       The convolution.
 * @param      yDesc          Output.
 * @param[out] solutionCount  How many solutions.
 *
 * @retval miopenStatusSuccess         `*solutionCount` is set.
 * @retval miopenStatusBadParm         A pointer is NULL, or the problem is
 *                                     inconsistent.
 * @retval miopenStatusNotImplemented  No kernel covers the problem.
 * @retval miopenStatusInternalError   Compiler or driver failed.
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenConvolutionForwardGetSolutionCount(
    miopenHandle_t handle, const miopenTensorDescriptor_t wDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, size_t *solutionCount);

/**
 * Lists the solutions of a problem.
 *
 * Needs the kernel; launches nothing.
 *
 * @param      handle            Supplies the device.
 * @param      wDesc             Filter.
 * @param      xDesc             Input.
 * @param      convDesc          The convolution.
 * @param      yDesc             Output.
 * @param      maxSolutionCount  Room in `solutions`, at least 1.
 * @param[out] solutionCount     How many are set.
 * @param[out] solutions         The best first; `time` is not measured.
 *
 * @retval miopenStatusSuccess         At least one solution is set.
 * @retval miopenStatusBadParm         A pointer is NULL, `maxSolutionCount` is
 *                                     0, or the problem is inconsistent.
 * @retval miopenStatusNotImplemented  No kernel covers the problem.
 * @retval miopenStatusInternalError   Compiler or driver failed.
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenConvolutionForwardGetSolution(
    miopenHandle_t handle, const miopenTensorDescriptor_t wDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, const size_t maxSolutionCount,
    size_t *solutionCount, miopenConvSolution_t *solutions);

/**
 * The workspace that a solution needs.
 *
 * Needs the kernel; launches nothing.
 *
 * @param      handle         Supplies the device.
 * @param      wDesc          Filter.
 * @param      xDesc          Input.
 * @param      convDesc       The convolution.
 * @param      yDesc          Output.
 * @param      solution_id    From miopenConvolutionForwardGetSolution().
 * @param[out] workSpaceSize  Bytes; 0 means that NULL may be passed.
 *
 * @retval miopenStatusSuccess         `*workSpaceSize` is set.
 * @retval miopenStatusBadParm         A pointer is NULL, the problem is
 *                                     inconsistent, or there is no such
 *                                     solution.
 * @retval miopenStatusNotImplemented  No kernel covers the problem.
 * @retval miopenStatusInternalError   Compiler or driver failed.
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenConvolutionForwardGetSolutionWorkspaceSize(
    miopenHandle_t handle, const miopenTensorDescriptor_t wDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, const uint64_t solution_id,
    size_t *workSpaceSize);

/**
 * Makes a solution ready, so that running it the first time costs no more
 * than running it again.
 *
 * Needs the kernel; launches nothing.
 *
 * @param handle       Supplies the device.
 * @param wDesc        Filter.
 * @param xDesc        Input.
 * @param convDesc     The convolution.
 * @param yDesc        Output.
 * @param solution_id  From miopenConvolutionForwardGetSolution().
 *
 * @retval miopenStatusSuccess         The solution is loaded on the device.
 * @retval miopenStatusBadParm         A pointer is NULL, the problem is
 *                                     inconsistent, or there is no such
 *                                     solution.
 * @retval miopenStatusNotImplemented  No kernel covers the problem.
 * @retval miopenStatusInternalError   Compiler or driver failed.
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenConvolutionForwardCompileSolution(
    miopenHandle_t handle, const miopenTensorDescriptor_t wDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, const uint64_t solution_id);

/**
 * Runs y = conv(x, w) by a solution.
 *
 * Needs the kernel, whether or not it was compiled before; launches it on the
 * handle's stream and does not wait, unless profiling is enabled.
 *
 * @param      handle         Supplies device and stream.
 * @param      wDesc          Filter.
 * @param      w              Its data, on the device.
 * @param      xDesc          Input.
 * @param      x              Its data.
 * @param      convDesc       The convolution.
 * @param      yDesc          Output.
 * @param[out] y              Its data; overwritten.
 * @param      workSpace      On the device; may be NULL if none is needed.
 * @param      workSpaceSize  Its bytes; more than needed is fine.
 * @param      solution_id    From miopenConvolutionForwardGetSolution().
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, the problem is
 *                                     inconsistent, the workspace is too small,
 *                                     or there is no such solution.
 * @retval miopenStatusNotImplemented  No kernel covers the problem.
 * @retval miopenStatusInternalError   Compiler or driver failed.
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenConvolutionForwardImmediate(
    miopenHandle_t handle, const miopenTensorDescriptor_t wDesc, const void *w,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, void *y, void *workSpace,
    size_t workSpaceSize, const uint64_t solution_id);

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_CONVOLUTION_FORWARD_H */

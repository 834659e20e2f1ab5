/*===- convolution_forward.h - Run y = conv(x, w) -------------------------===*/
/**
 * @file
 * The rules of this file apply to convolution_backward_data.h and
 * convolution_backward_weights.h as well.
 *
 * There are two ways to run the same kernel, and they can be mixed:
 *
 * - Find 1.0: ask for the workspace, let Find measure, execute. Execution does
 *   not depend on Find: a kernel that is missing is compiled.
 * - Immediate mode: count and list the solutions, compile one, execute it.
 *   There is one solution for each problem, and where it needs a workspace a
 *   second one that needs none, if a kernel can do without.
 *
 * Convolutions over 1, 2 or 3 dimensions are implemented for miopenHalf,
 * miopenBFloat16, miopenFloat and miopenDouble, and forward ones also for
 * miopenInt8 with a y of miopenInt32 or miopenFloat; other data types return
 * miopenStatusNotImplemented. Tensors may have any strides, gaps included; no
 * two elements of the tensor that is written may overlap.
 *
 * With a descriptor of miopenTranspose, w is [C, K / groups, ...], "forward"
 * computes what the gradient of a convolution would be, and "backward data" is
 * a convolution.
 *
 * "The problem" means the three tensors and the convolution descriptor
 * together. It is *inconsistent* when the data types differ, x and w disagree
 * in channels, w and y in output channels, x and y in the batch size, the group
 * count does not divide the channels, or y does not have the lengths that
 * miopenGetConvolutionForwardOutputDim() gives.
 *
 * The same call on the same data gives the same bits.
 */

#ifndef MIOPEN_CONVOLUTION_FORWARD_H
#define MIOPEN_CONVOLUTION_FORWARD_H

#include <miopen/convolution.h>

#ifdef __cplusplus
extern "C" {
#endif

/*===-- Find 1.0 ----------------------------------------------------------===*/

/**
 * Gets the size of the workspace that miopenConvolutionForward() needs.
 * With a smaller one another kernel runs, which needs none and may be slower;
 * where there is no such kernel, the call fails.
 *
 * @param[in]  handle         Supplies the device.
 * @param[in]  wDesc          Filter: K, C / groups, [[Z,] Y,] X; any strides.
 * @param[in]  xDesc          Input: N, C, [[D,] H,] W; any strides.
 * @param[in]  convDesc       The convolution.
 * @param[in]  yDesc          Output: N, K, [[D,] H,] W; any strides.
 * @param[out] workSpaceSize  Bytes; 0 means that `workSpace` may be NULL.
 *
 * @retval miopenStatusSuccess         `*workSpaceSize` is set.
 * @retval miopenStatusBadParm         A pointer is NULL, or the problem is
 *                                     inconsistent.
 * @retval miopenStatusNotImplemented  No kernel covers the problem.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 *
 * @par Cost
 *   Compiles on first use; launches nothing.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenConvolutionForwardGetWorkSpaceSize(
    miopenHandle_t handle, const miopenTensorDescriptor_t wDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, size_t *workSpaceSize);

/**
 * Measures the algorithms for a problem.
 *
 * One algorithm is reported, miopenConvolutionFwdAlgoDirect: the kernel that
 * miopenConvolutionForward() runs. It is launched up to five times, and
 * overwrites `y`. With `exhaustiveSearch`, the first call of the process for
 * the problem tunes it before, on tensors of its own, which takes up to
 * MIOPEN_TUNING_TIME_MS_MAX (30 s); what it finds goes to the database.
 *
 * @param[in]     handle             Supplies the device and the stream.
 * @param[in]     xDesc              Input: N, C, [[D,] H,] W; any strides.
 * @param[in]     x                  Input; device memory, read.
 * @param[in]     wDesc              Filter: K, C / groups, [[Z,] Y,] X; any
 *                                   strides.
 * @param[in]     w                  Filter; device memory, read.
 * @param[in]     convDesc           The convolution.
 * @param[in]     yDesc              Output: N, K, [[D,] H,] W; any strides.
 * @param[out]    y                  Output; device memory, overwritten.
 * @param[in]     requestAlgoCount   Capacity of `perfResults`, at least 1.
 * @param[out]    returnedAlgoCount  Number of results that are set: 1.
 * @param[out]    perfResults        Time in milliseconds and workspace in bytes
 *                                   of each algorithm, the fastest first.
 * @param[in,out] workSpace          Device memory; may be NULL if the kernel
 *                                   needs none.
 * @param[in]     workSpaceSize      Size of `workSpace` in bytes.
 * @param[in]     exhaustiveSearch   Whether to tune the problem.
 *
 * @retval miopenStatusSuccess         One result is set.
 * @retval miopenStatusBadParm         A pointer other than `workSpace` is NULL,
 *                                     `requestAlgoCount` is below 1, or the
 *                                     problem is inconsistent.
 * @retval miopenStatusUnknownError    Every kernel needs more workspace than
 *                                     was given.
 * @retval miopenStatusNotImplemented  No kernel covers the problem.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Compiles on first use, then launches several times and waits for the
 *   results.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenFindConvolutionForwardAlgorithm(
    miopenHandle_t handle, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t wDesc, const void *w,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, void *y, const int requestAlgoCount,
    int *returnedAlgoCount, miopenConvAlgoPerf_t *perfResults, void *workSpace,
    size_t workSpaceSize, bool exhaustiveSearch);

/**
 * Computes y = alpha conv(x, w) + beta y.
 *
 * Find need not have run before: a kernel that is missing is compiled.
 *
 * @param[in]     handle         Supplies the device and the stream.
 * @param[in]     alpha          A float, or a double if the tensors are of
 *                               miopenDouble. Must be 1 if the result is of
 *                               miopenInt32.
 * @param[in]     xDesc          Input: N, C, [[D,] H,] W; any strides.
 * @param[in]     x              Input; device memory, read.
 * @param[in]     wDesc          Filter: K, C / groups, [[Z,] Y,] X; any
 *                               strides.
 * @param[in]     w              Filter; device memory, read.
 * @param[in]     convDesc       The convolution.
 * @param[in]     algo           The algorithm that Find reported. Every
 *                               enumerator runs the same kernel.
 * @param[in]     beta           Has the type of `alpha`. Must be 0 if the
 *                               result is of miopenInt32; `y` is not read if
 *                               it is 0.
 * @param[in]     yDesc          Output: N, K, [[D,] H,] W; any strides.
 * @param[in,out] y              Output; device memory, every element
 *                               overwritten.
 * @param[in,out] workSpace      Device memory; may be NULL if the kernel needs
 *                               none.
 * @param[in]     workSpaceSize  Size of `workSpace` in bytes; more than needed
 *                               is fine.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer other than `workSpace` is NULL,
 *                                     `algo` is unknown, the problem is
 *                                     inconsistent, or the workspace is too
 *                                     small.
 * @retval miopenStatusNotImplemented  No kernel covers the problem, or `alpha`
 *                                     is not 1 or `beta` not 0 where they must
 *                                     be.
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
MIOPEN_EXPORT miopenStatus_t miopenConvolutionForward(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t wDesc, const void *w,
    const miopenConvolutionDescriptor_t convDesc, miopenConvFwdAlgorithm_t algo,
    const void *beta, const miopenTensorDescriptor_t yDesc, void *y,
    void *workSpace, size_t workSpaceSize);

/*===-- Immediate mode ----------------------------------------------------===*/

/**
 * Counts the solutions of a problem: 1 or 2. Kernels are made ready before they
 * are counted, so that they can be run.
 *
 * @param[in]  handle         Supplies the device.
 * @param[in]  wDesc          Filter: K, C / groups, [[Z,] Y,] X; any strides.
 * @param[in]  xDesc          Input: N, C, [[D,] H,] W; any strides.
 * @param[in]  convDesc       The convolution.
 * @param[in]  yDesc          Output: N, K, [[D,] H,] W; any strides.
 * @param[out] solutionCount  Number of solutions.
 *
 * @retval miopenStatusSuccess         `*solutionCount` is set.
 * @retval miopenStatusBadParm         A pointer is NULL, or the problem is
 *                                     inconsistent.
 * @retval miopenStatusNotImplemented  No kernel covers the problem.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 *
 * @par Cost
 *   Compiles on first use; launches nothing.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenConvolutionForwardGetSolutionCount(
    miopenHandle_t handle, const miopenTensorDescriptor_t wDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, size_t *solutionCount);

/**
 * Lists the solutions of a problem.
 *
 * @param[in]  handle            Supplies the device.
 * @param[in]  wDesc             Filter: K, C / groups, [[Z,] Y,] X; any
 *                               strides.
 * @param[in]  xDesc             Input: N, C, [[D,] H,] W; any strides.
 * @param[in]  convDesc          The convolution.
 * @param[in]  yDesc             Output: N, K, [[D,] H,] W; any strides.
 * @param[in]  maxSolutionCount  Capacity of `solutions`, at least 1.
 * @param[out] solutionCount     Number of solutions that are set.
 * @param[out] solutions         Id, algorithm and workspace in bytes of each,
 *                               the best first; `time` is 0, which means not
 *                               measured.
 *
 * @retval miopenStatusSuccess         The solutions are set.
 * @retval miopenStatusBadParm         A pointer is NULL, `maxSolutionCount` is
 *                                     0, or the problem is inconsistent.
 * @retval miopenStatusNotImplemented  No kernel covers the problem.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 *
 * @par Cost
 *   Compiles on first use; launches nothing.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenConvolutionForwardGetSolution(
    miopenHandle_t handle, const miopenTensorDescriptor_t wDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, const size_t maxSolutionCount,
    size_t *solutionCount, miopenConvSolution_t *solutions);

/**
 * Gets the size of the workspace that a solution needs.
 *
 * @param[in]  handle         Supplies the device.
 * @param[in]  wDesc          Filter: K, C / groups, [[Z,] Y,] X; any strides.
 * @param[in]  xDesc          Input: N, C, [[D,] H,] W; any strides.
 * @param[in]  convDesc       The convolution.
 * @param[in]  yDesc          Output: N, K, [[D,] H,] W; any strides.
 * @param[in]  solution_id    An id that miopenConvolutionForwardGetSolution()
 *                            gave.
 * @param[out] workSpaceSize  Bytes; 0 means that `workSpace` may be NULL.
 *
 * @retval miopenStatusSuccess         `*workSpaceSize` is set.
 * @retval miopenStatusBadParm         A pointer is NULL, the problem is
 *                                     inconsistent, or there is no such
 *                                     solution.
 * @retval miopenStatusNotImplemented  No kernel covers the problem.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 *
 * @par Cost
 *   Compiles on first use; launches nothing.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenConvolutionForwardGetSolutionWorkspaceSize(
    miopenHandle_t handle, const miopenTensorDescriptor_t wDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, const uint64_t solution_id,
    size_t *workSpaceSize);

/**
 * Makes a solution ready, so that the first run costs no more than later ones.
 *
 * @param[in] handle       Supplies the device.
 * @param[in] wDesc        Filter: K, C / groups, [[Z,] Y,] X; any strides.
 * @param[in] xDesc        Input: N, C, [[D,] H,] W; any strides.
 * @param[in] convDesc     The convolution.
 * @param[in] yDesc        Output: N, K, [[D,] H,] W; any strides.
 * @param[in] solution_id  An id that miopenConvolutionForwardGetSolution()
 *                         gave.
 *
 * @retval miopenStatusSuccess         The solution is loaded on the device.
 * @retval miopenStatusBadParm         A pointer is NULL, the problem is
 *                                     inconsistent, or there is no such
 *                                     solution.
 * @retval miopenStatusNotImplemented  No kernel covers the problem.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 *
 * @par Cost
 *   Compiles on first use; launches nothing.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenConvolutionForwardCompileSolution(
    miopenHandle_t handle, const miopenTensorDescriptor_t wDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, const uint64_t solution_id);

/**
 * Computes y = conv(x, w) by a solution. It need not have been compiled before.
 *
 * @param[in]     handle         Supplies the device and the stream.
 * @param[in]     wDesc          Filter: K, C / groups, [[Z,] Y,] X; any
 *                               strides.
 * @param[in]     w              Filter; device memory, read.
 * @param[in]     xDesc          Input: N, C, [[D,] H,] W; any strides.
 * @param[in]     x              Input; device memory, read.
 * @param[in]     convDesc       The convolution.
 * @param[in]     yDesc          Output: N, K, [[D,] H,] W; any strides.
 * @param[out]    y              Output; device memory, overwritten.
 * @param[in,out] workSpace      Device memory; may be NULL if the kernel needs
 *                               none.
 * @param[in]     workSpaceSize  Size of `workSpace` in bytes; more than needed
 *                               is fine.
 * @param[in]     solution_id    An id that
 *                               miopenConvolutionForwardGetSolution() gave.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer other than `workSpace` is NULL,
 *                                     the problem is inconsistent, the
 *                                     workspace is too small, or there is no
 *                                     such solution.
 * @retval miopenStatusNotImplemented  No kernel covers the problem.
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

/*===- convolution_backward_data.h - Run the gradient of x ----------------===*/
/**
 * @file
 * These functions compute dx, the gradient of the input, from dy, the gradient
 * of the output, and the filter w. The rules are those of
 * convolution_forward.h; "the problem" has dx and dy instead of x and y. A
 * problem of miopenInt8 is *inconsistent*.
 */

#ifndef MIOPEN_CONVOLUTION_BACKWARD_DATA_H
#define MIOPEN_CONVOLUTION_BACKWARD_DATA_H

#include <miopen/convolution.h>

#ifdef __cplusplus
extern "C" {
#endif

/*===-- Find 1.0 ----------------------------------------------------------===*/

/**
 * Gets the size of the workspace that miopenConvolutionBackwardData() needs.
 * With a smaller one another kernel runs, which needs none and may be slower;
 * where there is no such kernel, the call fails.
 *
 * @param[in]  handle         Supplies the device.
 * @param[in]  dyDesc         Gradient of the output: N, K, [[D,] H,] W; any
 *                            strides.
 * @param[in]  wDesc          Filter: K, C / groups, [[Z,] Y,] X; any strides.
 * @param[in]  convDesc       The convolution.
 * @param[in]  dxDesc         Gradient of the input: N, C, [[D,] H,] W; any
 *                            strides.
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
MIOPEN_EXPORT miopenStatus_t miopenConvolutionBackwardDataGetWorkSpaceSize(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const miopenTensorDescriptor_t wDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dxDesc, size_t *workSpaceSize);

/**
 * Measures the algorithms for a problem.
 *
 * One algorithm is reported, miopenConvolutionBwdDataAlgoDirect: the kernel
 * that miopenConvolutionBackwardData() runs. It is launched up to five times,
 * and overwrites `dx`. With `exhaustiveSearch`, the first call of the process
 * for the problem tunes it before, on tensors of its own, which takes up to
 * MIOPEN_TUNING_TIME_MS_MAX (30 s); what it finds goes to the database.
 *
 * @param[in]     handle             Supplies the device and the stream.
 * @param[in]     dyDesc             Gradient of the output: N, K, [[D,] H,] W;
 *                                   any strides.
 * @param[in]     dy                 Gradient of the output; device memory,
 *                                   read.
 * @param[in]     wDesc              Filter: K, C / groups, [[Z,] Y,] X; any
 *                                   strides.
 * @param[in]     w                  Filter; device memory, read.
 * @param[in]     convDesc           The convolution.
 * @param[in]     dxDesc             Gradient of the input: N, C, [[D,] H,] W;
 *                                   any strides.
 * @param[out]    dx                 Gradient of the input; device memory,
 *                                   overwritten.
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
MIOPEN_EXPORT miopenStatus_t miopenFindConvolutionBackwardDataAlgorithm(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const void *dy, const miopenTensorDescriptor_t wDesc, const void *w,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dxDesc, void *dx, const int requestAlgoCount,
    int *returnedAlgoCount, miopenConvAlgoPerf_t *perfResults, void *workSpace,
    size_t workSpaceSize, bool exhaustiveSearch);

/**
 * Computes dx = alpha conv_backward_data(dy, w) + beta dx.
 *
 * Find need not have run before: a kernel that is missing is compiled.
 *
 * @param[in]     handle         Supplies the device and the stream.
 * @param[in]     alpha          A float, or a double if the tensors are of
 *                               miopenDouble. Must be 1 if the result is of
 *                               miopenInt32.
 * @param[in]     dyDesc         Gradient of the output: N, K, [[D,] H,] W; any
 *                               strides.
 * @param[in]     dy             Gradient of the output; device memory, read.
 * @param[in]     wDesc          Filter: K, C / groups, [[Z,] Y,] X; any
 *                               strides.
 * @param[in]     w              Filter; device memory, read.
 * @param[in]     convDesc       The convolution.
 * @param[in]     algo           The algorithm that Find reported. Every
 *                               enumerator runs the same kernel.
 * @param[in]     beta           Has the type of `alpha`. Must be 0 if the
 *                               result is of miopenInt32; `dx` is not read if
 *                               it is 0.
 * @param[in]     dxDesc         Gradient of the input: N, C, [[D,] H,] W; any
 *                               strides.
 * @param[in,out] dx             Gradient of the input; device memory, every
 *                               element overwritten.
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
MIOPEN_EXPORT miopenStatus_t miopenConvolutionBackwardData(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t dyDesc, const void *dy,
    const miopenTensorDescriptor_t wDesc, const void *w,
    const miopenConvolutionDescriptor_t convDesc,
    miopenConvBwdDataAlgorithm_t algo, const void *beta,
    const miopenTensorDescriptor_t dxDesc, void *dx, void *workSpace,
    size_t workSpaceSize);

/*===-- Immediate mode ----------------------------------------------------===*/

/**
 * Counts the solutions of a problem: 1 or 2. Kernels are made ready before they
 * are counted, so that they can be run.
 *
 * @param[in]  handle         Supplies the device.
 * @param[in]  dyDesc         Gradient of the output: N, K, [[D,] H,] W; any
 *                            strides.
 * @param[in]  wDesc          Filter: K, C / groups, [[Z,] Y,] X; any strides.
 * @param[in]  convDesc       The convolution.
 * @param[in]  dxDesc         Gradient of the input: N, C, [[D,] H,] W; any
 *                            strides.
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
MIOPEN_EXPORT miopenStatus_t miopenConvolutionBackwardDataGetSolutionCount(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const miopenTensorDescriptor_t wDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dxDesc, size_t *solutionCount);

/**
 * Lists the solutions of a problem.
 *
 * @param[in]  handle            Supplies the device.
 * @param[in]  dyDesc            Gradient of the output: N, K, [[D,] H,] W; any
 *                               strides.
 * @param[in]  wDesc             Filter: K, C / groups, [[Z,] Y,] X; any
 *                               strides.
 * @param[in]  convDesc          The convolution.
 * @param[in]  dxDesc            Gradient of the input: N, C, [[D,] H,] W; any
 *                               strides.
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
MIOPEN_EXPORT miopenStatus_t miopenConvolutionBackwardDataGetSolution(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const miopenTensorDescriptor_t wDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dxDesc, const size_t maxSolutionCount,
    size_t *solutionCount, miopenConvSolution_t *solutions);

/**
 * Gets the size of the workspace that a solution needs.
 *
 * @param[in]  handle         Supplies the device.
 * @param[in]  dyDesc         Gradient of the output: N, K, [[D,] H,] W; any
 *                            strides.
 * @param[in]  wDesc          Filter: K, C / groups, [[Z,] Y,] X; any strides.
 * @param[in]  convDesc       The convolution.
 * @param[in]  dxDesc         Gradient of the input: N, C, [[D,] H,] W; any
 *                            strides.
 * @param[in]  solution_id    An id that
 *                            miopenConvolutionBackwardDataGetSolution() gave.
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
MIOPEN_EXPORT miopenStatus_t
miopenConvolutionBackwardDataGetSolutionWorkspaceSize(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const miopenTensorDescriptor_t wDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dxDesc, const uint64_t solution_id,
    size_t *workSpaceSize);

/**
 * Makes a solution ready, so that the first run costs no more than later ones.
 *
 * @param[in] handle       Supplies the device.
 * @param[in] dyDesc       Gradient of the output: N, K, [[D,] H,] W; any
 *                         strides.
 * @param[in] wDesc        Filter: K, C / groups, [[Z,] Y,] X; any strides.
 * @param[in] convDesc     The convolution.
 * @param[in] dxDesc       Gradient of the input: N, C, [[D,] H,] W; any
 *                         strides.
 * @param[in] solution_id  An id that miopenConvolutionBackwardDataGetSolution()
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
MIOPEN_EXPORT miopenStatus_t miopenConvolutionBackwardDataCompileSolution(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const miopenTensorDescriptor_t wDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dxDesc, const uint64_t solution_id);

/**
 * Computes dx = conv_backward_data(dy, w) by a solution. It need not have been
 * compiled before.
 *
 * @param[in]     handle         Supplies the device and the stream.
 * @param[in]     dyDesc         Gradient of the output: N, K, [[D,] H,] W; any
 *                               strides.
 * @param[in]     dy             Gradient of the output; device memory, read.
 * @param[in]     wDesc          Filter: K, C / groups, [[Z,] Y,] X; any
 *                               strides.
 * @param[in]     w              Filter; device memory, read.
 * @param[in]     convDesc       The convolution.
 * @param[in]     dxDesc         Gradient of the input: N, C, [[D,] H,] W; any
 *                               strides.
 * @param[out]    dx             Gradient of the input; device memory,
 *                               overwritten.
 * @param[in,out] workSpace      Device memory; may be NULL if the kernel needs
 *                               none.
 * @param[in]     workSpaceSize  Size of `workSpace` in bytes; more than needed
 *                               is fine.
 * @param[in]     solution_id    An id that
 *                               miopenConvolutionBackwardDataGetSolution()
 *                               gave.
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
MIOPEN_EXPORT miopenStatus_t miopenConvolutionBackwardDataImmediate(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const void *dy, const miopenTensorDescriptor_t wDesc, const void *w,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dxDesc, void *dx, void *workSpace,
    size_t workSpaceSize, const uint64_t solution_id);

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_CONVOLUTION_BACKWARD_DATA_H */

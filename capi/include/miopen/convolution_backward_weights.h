/*===- convolution_backward_weights.h - Run the gradient of w -------------===*\
|*
|* dw, the gradient of the filter, from x and dy, the gradient of the output.
|* The rules are those of convolution_forward.h; "the problem" has dw and dy in
|* the places of w and y. int8 is miopenStatusBadParm here.
|*
\*===----------------------------------------------------------------------===*/

#ifndef MIOPEN_CONVOLUTION_BACKWARD_WEIGHTS_H
#define MIOPEN_CONVOLUTION_BACKWARD_WEIGHTS_H

#include <miopen/convolution.h>

#ifdef __cplusplus
extern "C" {
#endif

/*===-- Find 1.0 -----------------------------------------------------------===*/

/**
 * The workspace that miopenConvolutionBackwardWeights() needs.
 *
 * Needs the kernel; launches nothing.
 *
 * @param      handle         Supplies the device.
 * @param      dyDesc         Gradient of the output.
 * @param      xDesc          Input.
 * @param      convDesc       The convolution.
 * @param      dwDesc         Gradient of the filter.
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
MIOPEN_EXPORT miopenStatus_t miopenConvolutionBackwardWeightsGetWorkSpaceSize(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dwDesc, size_t *workSpaceSize);

/**
 * Measures the algorithms for a problem.
 *
 * Needs the kernel; launches it a few times, which writes `dw`, and waits for
 * it. One algorithm is reported, miopenConvolutionBwdWeightsAlgoDirect.
 *
 * @param      handle              Supplies device and stream.
 * @param      dyDesc              Gradient of the output.
 * @param      dy                  Its data, on the device.
 * @param      xDesc               Input.
 * @param      x                   Its data.
 * @param      convDesc            The convolution.
 * @param      dwDesc              Gradient of the filter.
 * @param[out] dw                  Its data; overwritten.
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
MIOPEN_EXPORT miopenStatus_t miopenFindConvolutionBackwardWeightsAlgorithm(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const void *dy, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dwDesc, void *dw, const int requestAlgoCount,
    int *returnedAlgoCount, miopenConvAlgoPerf_t *perfResults, void *workSpace,
    size_t workSpaceSize, bool exhaustiveSearch);

/**
 * Runs dw = alpha conv_backward_weights(dy, x) + beta dw.
 *
 * Needs the kernel, whether or not Find ran; launches it on the handle's
 * stream and does not wait, unless profiling is enabled.
 *
 * @param      handle         Supplies device and stream.
 * @param      alpha          Points to a float, a double if the tensors are of
 *                            miopenDouble. Must be 1 unless the convolution is
 *                            3-D.
 * @param      dyDesc         Gradient of the output.
 * @param      dy             Its data, on the device.
 * @param      xDesc          Input.
 * @param      x              Its data.
 * @param      convDesc       The convolution.
 * @param      algo           What Find reported. Any of the enumerators runs
 *                            the same kernel.
 * @param      beta           The same; must be 0 unless the convolution is 3-D.
 *                            Where it is 0, dw is not read.
 * @param      dwDesc         Gradient of the filter.
 * @param[out] dw             Its data; overwritten.
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
MIOPEN_EXPORT miopenStatus_t miopenConvolutionBackwardWeights(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t dyDesc, const void *dy,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenConvolutionDescriptor_t convDesc,
    miopenConvBwdWeightsAlgorithm_t algo, const void *beta,
    const miopenTensorDescriptor_t dwDesc, void *dw, void *workSpace,
    size_t workSpaceSize);

/*===-- Immediate mode -----------------------------------------------------===*/

/**
 * How many solutions a problem has: 1.
 *
 * Needs the kernel, so that a solution which is counted can also be run;
 * launches nothing.
 *
 * @param      handle         Supplies the device.
 * @param      dyDesc         Gradient of the output.
 * @param      xDesc          Input.
 * @param      convDesc       The convolution.
 * @param      dwDesc         Gradient of the filter.
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
MIOPEN_EXPORT miopenStatus_t miopenConvolutionBackwardWeightsGetSolutionCount(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dwDesc, size_t *solutionCount);

/**
 * Lists the solutions of a problem.
 *
 * Needs the kernel; launches nothing.
 *
 * @param      handle            Supplies the device.
 * @param      dyDesc            Gradient of the output.
 * @param      xDesc             Input.
 * @param      convDesc          The convolution.
 * @param      dwDesc            Gradient of the filter.
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
MIOPEN_EXPORT miopenStatus_t miopenConvolutionBackwardWeightsGetSolution(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dwDesc, const size_t maxSolutionCount,
    size_t *solutionCount, miopenConvSolution_t *solutions);

/**
 * The workspace that a solution needs.
 *
 * Needs the kernel; launches nothing.
 *
 * @param      handle         Supplies the device.
 * @param      dyDesc         Gradient of the output.
 * @param      xDesc          Input.
 * @param      convDesc       The convolution.
 * @param      dwDesc         Gradient of the filter.
 * @param      solution_id    Of the solutions that were listed.
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
MIOPEN_EXPORT miopenStatus_t
miopenConvolutionBackwardWeightsGetSolutionWorkspaceSize(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dwDesc, const uint64_t solution_id,
    size_t *workSpaceSize);

/**
 * Makes a solution ready, so that running it the first time costs no more
 * than running it again.
 *
 * Needs the kernel; launches nothing.
 *
 * @param handle       Supplies the device.
 * @param dyDesc       Gradient of the output.
 * @param xDesc        Input.
 * @param convDesc     The convolution.
 * @param dwDesc       Gradient of the filter.
 * @param solution_id  Of the solutions that were listed.
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
MIOPEN_EXPORT miopenStatus_t miopenConvolutionBackwardWeightsCompileSolution(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dwDesc, const uint64_t solution_id);

/**
 * Runs dw = conv_backward_weights(dy, x) by a solution.
 *
 * Needs the kernel, whether or not it was compiled before; launches it on the
 * handle's stream and does not wait, unless profiling is enabled.
 *
 * @param      handle         Supplies device and stream.
 * @param      dyDesc         Gradient of the output.
 * @param      dy             Its data, on the device.
 * @param      xDesc          Input.
 * @param      x              Its data.
 * @param      convDesc       The convolution.
 * @param      dwDesc         Gradient of the filter.
 * @param[out] dw             Its data; overwritten.
 * @param      workSpace      On the device; may be NULL if none is needed.
 * @param      workSpaceSize  Its bytes; more than needed is fine.
 * @param      solution_id    Of the solutions that were listed.
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
MIOPEN_EXPORT miopenStatus_t miopenConvolutionBackwardWeightsImmediate(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const void *dy, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dwDesc, void *dw, void *workSpace,
    size_t workSpaceSize, const uint64_t solution_id);

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_CONVOLUTION_BACKWARD_WEIGHTS_H */

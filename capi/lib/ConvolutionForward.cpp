//===- ConvolutionForward.cpp - miopen/convolution_forward.h --------------===//
//
// Every way to run a convolution is the same three steps: descriptors to a
// problem, problem to a loaded kernel (a lookup, after the first time), launch.
// Find and immediate mode differ only in what they report around it.
//
//===----------------------------------------------------------------------===//

#include <miopen/convolution_forward.h>

#include "capi/lib/ErrorGuard.h"
#include "capi/lib/ForwardKernel.h"
#include "capi/lib/HandleState.h"

#include <algorithm>
#include <string>

using namespace tessera;
using namespace tessera::capi;

/// The one solution: implicit GEMM, forward. Far from MIOpen's ids, which are
/// positions in its registry; never given to anything else.
static constexpr uint64_t kImplicitGemmForward = 1001;

static Status checkWorkspace(const LoadedKernel &kernel, const void *workspace,
                             size_t workspaceBytes) {
  const uint64_t needed = kernel.getKernel().workspaceBytes;
  if (needed > workspaceBytes)
    return invalidArgument(
        "the workspace has " + std::to_string(workspaceBytes) +
        " bytes, but the kernel needs " + std::to_string(needed));
  if (needed != 0 && !workspace)
    return invalidArgument("workSpace is NULL, but the kernel needs " +
                           std::to_string(needed) + " bytes");
  return Status::ok();
}

static Status checkSolution(uint64_t solution) {
  if (solution != kImplicitGemmForward)
    return invalidArgument("there is no solution " + std::to_string(solution));
  return Status::ok();
}

static Status checkAlgorithm(int algorithm) {
  constexpr int kRetired = 4;
  if (algorithm < miopenConvolutionFwdAlgoGEMM || algorithm == kRetired ||
      algorithm > miopenConvolutionFwdAlgoImplicitGEMM)
    return invalidArgument("algorithm " + std::to_string(algorithm) +
                           " is unknown");
  return Status::ok();
}

/// alpha and beta have the type of the computation: double for double data.
static Status checkScaling(miopenDataType_t dataType, const void *alpha,
                           const void *beta) {
  const bool isDouble = dataType == miopenDouble;
  auto read = [isDouble](const void *number) {
    return isDouble ? *static_cast<const double *>(number)
                    : *static_cast<const float *>(number);
  };
  if (read(alpha) != 1 || read(beta) != 0)
    return notSupported("only alpha = 1 and beta = 0 are implemented");
  return Status::ok();
}

/// Checks, then launches on the handle's stream.
static Status execute(miopenHandle &handle, const ForwardOperands &operands,
                      const LaunchArgs &args, size_t workspaceBytes) {
  const ErrorOr<const LoadedKernel *> kernel =
      prepareForward(handle, operands, LogCommand::Yes);
  if (!kernel)
    return kernel.getStatus();
  if (Status status = checkWorkspace(**kernel, args.workspace, workspaceBytes);
      !status.isOk())
    return status;
  return handle.launch(**kernel, args);
}

/// The time of one launch: the least of a few, because the first one also pays
/// for caches that are cold. Long kernels are run once.
static Status measure(miopenHandle &handle, const LoadedKernel &kernel,
                      const LaunchArgs &args, float &timeMs) {
  constexpr int kMaxRuns = 5;
  constexpr float kBudgetMs = 5;
  float totalMs = 0;
  for (int run = 0; run < kMaxRuns && totalMs < kBudgetMs; ++run) {
    float runMs = 0;
    if (Status status = handle.launchTimed(kernel, args, runMs); !status.isOk())
      return status;
    timeMs = run == 0 ? runMs : std::min(timeMs, runMs);
    totalMs += runMs;
  }
  return Status::ok();
}

static ApiResult find(miopenHandle &handle, const ForwardOperands &operands,
                      const LaunchArgs &args, size_t workspaceBytes,
                      miopenConvAlgoPerf_t &result) {
  const ErrorOr<const LoadedKernel *> kernel =
      prepareForward(handle, operands, LogCommand::Yes);
  if (!kernel)
    return kernel.getStatus();
  // MIOpen skips what does not fit, and then found nothing.
  if (Status status = checkWorkspace(**kernel, args.workspace, workspaceBytes);
      !status.isOk())
    return {miopenStatusUnknownError,
            "no algorithm fits: " + status.getMessage()};
  float timeMs = 0;
  if (Status status = measure(handle, **kernel, args, timeMs); !status.isOk())
    return status;
  result.fwd_algo = miopenConvolutionFwdAlgoDirect;
  result.time = timeMs;
  result.memory = (*kernel)->getKernel().workspaceBytes;
  return Status::ok();
}

/// Checks the solution, then the problem, and gives its kernel.
static ErrorOr<const LoadedKernel *>
prepareSolution(miopenHandle &handle, const ForwardOperands &operands,
                uint64_t solution) {
  if (Status status = checkSolution(solution); !status.isOk())
    return status;
  return prepareForward(handle, operands);
}

extern "C" {

miopenStatus_t miopenConvolutionForwardGetWorkSpaceSize(
    miopenHandle_t handle, const miopenTensorDescriptor_t wDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, size_t *workSpaceSize) {
  return guard(__func__,
               {{handle, "handle"},
                {wDesc, "wDesc"},
                {xDesc, "xDesc"},
                {convDesc, "convDesc"},
                {yDesc, "yDesc"},
                {workSpaceSize, "workSpaceSize"}},
               [&]() -> ApiResult {
                 const auto kernel = prepareForward(
                     *handle, {*xDesc, *wDesc, *convDesc, *yDesc});
                 if (!kernel)
                   return kernel.getStatus();
                 *workSpaceSize = (*kernel)->getKernel().workspaceBytes;
                 return Status::ok();
               });
}

miopenStatus_t miopenFindConvolutionForwardAlgorithm(
    miopenHandle_t handle, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t wDesc, const void *w,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, void *y, const int requestAlgoCount,
    int *returnedAlgoCount, miopenConvAlgoPerf_t *perfResults, void *workSpace,
    size_t workSpaceSize, bool exhaustiveSearch) {
  return guard(__func__,
               {{handle, "handle"},
                {xDesc, "xDesc"},
                {x, "x"},
                {wDesc, "wDesc"},
                {w, "w"},
                {convDesc, "convDesc"},
                {yDesc, "yDesc"},
                {y, "y"},
                {returnedAlgoCount, "returnedAlgoCount"},
                {perfResults, "perfResults"}},
               [&]() -> ApiResult {
                 if (requestAlgoCount < 1)
                   return invalidArgument("requestAlgoCount is below 1");
                 ApiResult result =
                     find(*handle, {*xDesc, *wDesc, *convDesc, *yDesc},
                          {x, w, y, workSpace}, workSpaceSize, *perfResults);
                 if (result.getStatus() == miopenStatusSuccess)
                   *returnedAlgoCount = 1;
                 return result;
               });
}

miopenStatus_t
miopenConvolutionForward(miopenHandle_t handle, const void *alpha,
                         const miopenTensorDescriptor_t xDesc, const void *x,
                         const miopenTensorDescriptor_t wDesc, const void *w,
                         const miopenConvolutionDescriptor_t convDesc,
                         miopenConvFwdAlgorithm_t algo, const void *beta,
                         const miopenTensorDescriptor_t yDesc, void *y,
                         void *workSpace, size_t workSpaceSize) {
  return guard(__func__,
               {{handle, "handle"},
                {alpha, "alpha"},
                {xDesc, "xDesc"},
                {x, "x"},
                {wDesc, "wDesc"},
                {w, "w"},
                {convDesc, "convDesc"},
                {beta, "beta"},
                {yDesc, "yDesc"},
                {y, "y"}},
               [&]() -> ApiResult {
                 if (Status status = checkAlgorithm(algo); !status.isOk())
                   return status;
                 if (Status status = checkScaling(xDesc->dataType, alpha, beta);
                     !status.isOk())
                   return status;
                 return execute(*handle, {*xDesc, *wDesc, *convDesc, *yDesc},
                                {x, w, y, workSpace}, workSpaceSize);
               });
}

miopenStatus_t miopenConvolutionForwardGetSolutionCount(
    miopenHandle_t handle, const miopenTensorDescriptor_t wDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, size_t *solutionCount) {
  return guard(__func__,
               {{handle, "handle"},
                {wDesc, "wDesc"},
                {xDesc, "xDesc"},
                {convDesc, "convDesc"},
                {yDesc, "yDesc"},
                {solutionCount, "solutionCount"}},
               [&]() -> ApiResult {
                 const auto kernel = prepareForward(
                     *handle, {*xDesc, *wDesc, *convDesc, *yDesc});
                 if (!kernel)
                   return kernel.getStatus();
                 *solutionCount = 1;
                 return Status::ok();
               });
}

miopenStatus_t miopenConvolutionForwardGetSolution(
    miopenHandle_t handle, const miopenTensorDescriptor_t wDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, const size_t maxSolutionCount,
    size_t *solutionCount, miopenConvSolution_t *solutions) {
  return guard(__func__,
               {{handle, "handle"},
                {wDesc, "wDesc"},
                {xDesc, "xDesc"},
                {convDesc, "convDesc"},
                {yDesc, "yDesc"},
                {solutionCount, "solutionCount"},
                {solutions, "solutions"}},
               [&]() -> ApiResult {
                 if (maxSolutionCount < 1)
                   return invalidArgument("maxSolutionCount is 0");
                 const auto kernel = prepareForward(
                     *handle, {*xDesc, *wDesc, *convDesc, *yDesc});
                 if (!kernel)
                   return kernel.getStatus();
                 solutions->time = 0;
                 solutions->workspace_size =
                     (*kernel)->getKernel().workspaceBytes;
                 solutions->solution_id = kImplicitGemmForward;
                 solutions->algorithm = miopenConvolutionAlgoDirect;
                 *solutionCount = 1;
                 return Status::ok();
               });
}

miopenStatus_t miopenConvolutionForwardGetSolutionWorkspaceSize(
    miopenHandle_t handle, const miopenTensorDescriptor_t wDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, const uint64_t solution_id,
    size_t *workSpaceSize) {
  return guard(__func__,
               {{handle, "handle"},
                {wDesc, "wDesc"},
                {xDesc, "xDesc"},
                {convDesc, "convDesc"},
                {yDesc, "yDesc"},
                {workSpaceSize, "workSpaceSize"}},
               [&]() -> ApiResult {
                 const auto kernel = prepareSolution(
                     *handle, {*xDesc, *wDesc, *convDesc, *yDesc}, solution_id);
                 if (!kernel)
                   return kernel.getStatus();
                 *workSpaceSize = (*kernel)->getKernel().workspaceBytes;
                 return Status::ok();
               });
}

miopenStatus_t miopenConvolutionForwardCompileSolution(
    miopenHandle_t handle, const miopenTensorDescriptor_t wDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, const uint64_t solution_id) {
  return guard(__func__,
               {{handle, "handle"},
                {wDesc, "wDesc"},
                {xDesc, "xDesc"},
                {convDesc, "convDesc"},
                {yDesc, "yDesc"}},
               [&]() -> ApiResult {
                 return prepareSolution(*handle,
                                        {*xDesc, *wDesc, *convDesc, *yDesc},
                                        solution_id)
                     .getStatus();
               });
}

miopenStatus_t miopenConvolutionForwardImmediate(
    miopenHandle_t handle, const miopenTensorDescriptor_t wDesc, const void *w,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, void *y, void *workSpace,
    size_t workSpaceSize, const uint64_t solution_id) {
  return guard(__func__,
               {{handle, "handle"},
                {wDesc, "wDesc"},
                {w, "w"},
                {xDesc, "xDesc"},
                {x, "x"},
                {convDesc, "convDesc"},
                {yDesc, "yDesc"},
                {y, "y"}},
               [&]() -> ApiResult {
                 if (Status status = checkSolution(solution_id); !status.isOk())
                   return status;
                 return execute(*handle, {*xDesc, *wDesc, *convDesc, *yDesc},
                                {x, w, y, workSpace}, workSpaceSize);
               });
}

} // extern "C"

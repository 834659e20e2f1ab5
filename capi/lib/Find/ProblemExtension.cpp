//===- ProblemExtension.cpp - tessera/problem.h ---------------------------===//

#include <tessera/problem.h>

#include "capi/lib/Common/ErrorGuard.h"
#include "capi/lib/Common/GenericUse.h"
#include "capi/lib/Find/FindSearch.h"
#include "capi/lib/Find/Solution.h"
#include "capi/lib/Handle/HandleState.h"
#include "capi/lib/Handle/KernelChecks.h"
#include "capi/lib/Handle/KernelInfo.h"
#include "runtime/DriverCommand/LogCommand.h"
#include "runtime/Engine/GenericKernel.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

using namespace tessera;
using namespace tessera::capi;

static LaunchArgs getArgs(const Problem &problem,
                          const tesseraProblemArguments &arguments) {
  LaunchArgs args;
  args.x = arguments.x;
  args.w = arguments.w;
  args.y = arguments.y;
  args.workspace = arguments.workSpace;
  args.bias = arguments.bias;
  args.residual = arguments.residual;
  args.indices = arguments.indices;
  args.mean = arguments.mean;
  args.variance = arguments.variance;
  args.alpha = arguments.alpha;
  args.beta = arguments.beta;
  args.activAlpha = arguments.activAlpha;
  args.activBeta = arguments.activBeta;
  args.activGamma = arguments.activGamma;
  std::ranges::copy(arguments.tensors, args.tensors.begin());
  std::ranges::copy(arguments.scalars, args.scalars.begin());
  if (!problem.getRows())
    args.setFromEnd((arguments.flags & TESSERA_PROBLEM_FROM_END) != 0);
  return args;
}

/// Copies the client's struct, which may end before `tensors`, as in the
/// release that had no row-wise problems, or before the statistics.
static ErrorOr<tesseraProblemArguments>
copyArguments(const tesseraProblemArguments &given) {
  constexpr size_t kFirst = offsetof(tesseraProblemArguments, tensors),
                   kSecond = offsetof(tesseraProblemArguments, mean);
  tesseraProblemArguments arguments = TESSERA_PROBLEM_ARGUMENTS_INIT;
  if (given.structSize != kFirst && given.structSize != kSecond)
    if (Status status = checkStructSize(given.structSize, sizeof given);
        !status.isOk())
      return status;
  std::memcpy(&arguments, &given, given.structSize);
  if ((arguments.flags & ~uint32_t(TESSERA_PROBLEM_FROM_END)) != 0)
    return invalidArgument("flags has a bit that is none of "
                           "tesseraProblemFlags");
  return arguments;
}

/// The problem of a text, which is read when the handle first gets it.
static ErrorOr<const Problem *> readProblem(miopenHandle &handle,
                                            std::string_view text) {
  const auto known = handle.problems.find(text);
  if (known != handle.problems.end())
    return &known->second;
  ErrorOr<Problem> parsed = parseNetworkConfig(text);
  if (!parsed)
    return parsed.getStatus();
  return &handle.problems.emplace(text, std::move(*parsed)).first->second;
}

namespace {
struct Prepared {
  const Problem *problem;
  const LoadedKernel *kernel;
};
} // namespace

/// The problem of a text with its kernel, compiled unless it is known.
static ErrorOr<Prepared> prepare(miopenHandle &handle, std::string_view text) {
  const ErrorOr<const Problem *> problem = readProblem(handle, text);
  if (!problem)
    return problem.getStatus();
  const ErrorOr<const LoadedKernel *> kernel = handle.engine.prepare(**problem);
  if (!kernel)
    return kernel.getStatus();
  return Prepared{*problem, *kernel};
}

static Status run(miopenHandle &handle, const Problem &problem,
                  const tesseraProblemArguments &arguments) {
  const ErrorOr<const LoadedKernel *> kernel = handle.engine.prepare(problem);
  if (!kernel)
    return kernel.getStatus();
  LaunchArgs args = getArgs(problem, arguments);
  const uint64_t needed = (*kernel)->getKernel().workspaceBytes;
  // MIOpen's calls of such operations have no argument for a workspace.
  const bool isOwn =
      problem.getRows() && !arguments.workSpace && !arguments.workSpaceSize;
  Status status = isOwn ? Status::ok()
                        : checkWorkspace(needed, arguments.workSpace,
                                         arguments.workSpaceSize);
  if (isOwn) {
    const ErrorOr<void *> scratch = handle.getScratch(needed);
    if (!scratch)
      return scratch.getStatus();
    args.workspace = *scratch;
  }
  if (status.isOk())
    status = checkArguments(**kernel, args);
  if (!status.isOk())
    return status;
  return handle.launch(**kernel, args);
}

/// A saved kernel is a solution without tensors.
static ErrorOr<std::string> save(miopenHandle &handle, std::string_view text) {
  const ErrorOr<const GpuTarget *> target = handle.engine.getGpu().getTarget();
  if (!target)
    return target.getStatus();
  const ErrorOr<Prepared> prepared = prepare(handle, text);
  if (!prepared)
    return prepared.getStatus();
  SolutionData data;
  data.networkConfig = prepared->problem->toNetworkConfig();
  data.target = (*target)->name;
  data.kernel = prepared->kernel->getKernel();
  data.kernel.codeObject = prepared->kernel->getCodeObject();
  return saveSolution(data);
}

static ApiResult load(miopenHandle &handle, std::string_view bytes) {
  SolutionData data;
  if (ApiResult result = loadSolution(bytes, data);
      result.getStatus() != miopenStatusSuccess)
    return result;
  const ErrorOr<const GpuTarget *> target = handle.engine.getGpu().getTarget();
  if (!target)
    return target.getStatus();
  if ((*target)->name != data.target)
    return notSupported("the kernel is for " + data.target +
                        ", but the device is a " +
                        std::string((*target)->name));
  const ErrorOr<Problem> problem = parseNetworkConfig(data.networkConfig);
  if (!problem)
    return notSupported(problem.getStatus().getMessage());
  return handle.engine.provide(*problem, data.kernel)
      .withContext(data.networkConfig);
}

extern "C" {

miopenStatus_t tesseraGetProblemKernelInfo(miopenHandle_t handle,
                                           const char *problem,
                                           tesseraKernelInfo *info) {
  return guard(__func__, REQUIRED(handle, problem, info), [&]() -> ApiResult {
    if (Status status = checkStructSize(info->structSize, sizeof *info);
        !status.isOk())
      return status;
    const ErrorOr<Prepared> prepared = prepare(*handle, problem);
    if (!prepared)
      return prepared.getStatus();
    describe(*prepared->kernel, *info);
    return Status::ok();
  });
}

miopenStatus_t tesseraRunProblem(miopenHandle_t handle, const char *problem,
                                 const tesseraProblemArguments *arguments) {
  return guard(
      __func__, REQUIRED(handle, problem, arguments), [&]() -> ApiResult {
        const ErrorOr<tesseraProblemArguments> copied =
            copyArguments(*arguments);
        if (!copied)
          return copied.getStatus();
        const ErrorOr<const Problem *> known = readProblem(*handle, problem);
        if (!known)
          return known.getStatus();
        logCommand(**known);
        return run(*handle, **known, *copied);
      });
}

miopenStatus_t tesseraTuneProblem(miopenHandle_t handle, const char *problem) {
  return guard(__func__, REQUIRED(handle, problem), [&]() -> ApiResult {
    const ErrorOr<Prepared> prepared = prepare(*handle, problem);
    if (!prepared)
      return prepared.getStatus();
    return searchForFind(handle->engine, *prepared->problem, *prepared->kernel,
                         /*isAsked=*/true, readFindSettingsOnce())
        .getStatus();
  });
}

miopenStatus_t tesseraSaveKernel(miopenHandle_t handle, const char *problem,
                                 char *bytes, size_t *size) {
  return guard(__func__, REQUIRED(handle, problem, size), [&]() -> ApiResult {
    const ErrorOr<std::string> saved = save(*handle, problem);
    if (!saved)
      return saved.getStatus();
    const size_t capacity = std::exchange(*size, saved->size());
    if (!bytes)
      return Status::ok();
    if (capacity < saved->size())
      return invalidArgument("the kernel has " + std::to_string(saved->size()) +
                             " bytes, but there is space for " +
                             std::to_string(capacity));
    std::memcpy(bytes, saved->data(), saved->size());
    return Status::ok();
  });
}

miopenStatus_t tesseraLoadKernel(miopenHandle_t handle, const char *bytes,
                                 size_t size) {
  return guard(__func__, REQUIRED(handle, bytes),
               [&]() -> ApiResult { return load(*handle, {bytes, size}); });
}

miopenStatus_t tesseraExpectNewSizes(void) {
  if (areGenericKernelsForbidden())
    return miopenStatusUnsupportedOp;
  expectNewSizes(true);
  return miopenStatusSuccess;
}

} // extern "C"

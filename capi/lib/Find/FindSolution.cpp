//===- FindSolution.cpp - From a problem of Find 2.0 to its solution ------===//

// MIOPEN_BETA_API declares the ids of the tensors of a softmax.
#define MIOPEN_BETA_API 1
#include "capi/lib/Common/Objects.h"
#include "capi/lib/Convolution/ConvolutionCall.h"
#include "capi/lib/Convolution/MeasuredTimes.h"
#include "capi/lib/Find/Find2Problem.h"
#include "capi/lib/Find/FindSettings.h"
#include "capi/lib/Find/Solution.h"
#include "capi/lib/Softmax/SoftmaxCall.h"
#include "runtime/Gpu/DeviceBuffer.h"

#include <algorithm>
#include <deque>
#include <span>

using namespace tessera;
using namespace tessera::capi;

/// The id of the solutions of softmax problems; getSolution() has the ids of
/// convolutions.
static constexpr uint64_t kSoftmaxSolution = 1004;

//===----------------------------------------------------------------------===//
// Memory to measure on
//===----------------------------------------------------------------------===//

namespace {
/// Device memory for a measurement: the buffers of the options, or memory that
/// is allocated and lives as long as this object.
class Buffers {
public:
  Buffers(const GpuApi &gpu, const miopenFindOptions &options)
      : gpu(gpu), options(options) {}

  /// The memory of a tensor of the problem.
  ErrorOr<void *> getTensor(int id, const miopenTensorDescriptor &desc) {
    const ErrorOr<size_t> bytes = getTensorBytes(desc);
    if (!bytes)
      return bytes.getStatus();
    const auto found = options.tensors.find(id);
    return get(found == options.tensors.end() ? nullptr : found->second,
               *bytes);
  }
  ErrorOr<void *> getWorkspace(size_t bytes) {
    return get(options.workspace, bytes);
  }

private:
  ErrorOr<void *> get(void *given, size_t bytes) {
    if (given)
      return given;
    ErrorOr<DeviceBuffer> buffer = DeviceBuffer::allocate(gpu, bytes);
    if (!buffer)
      return buffer.getStatus();
    return own.emplace_back(std::move(*buffer)).get();
  }

  const GpuApi &gpu;
  const miopenFindOptions &options;
  std::deque<DeviceBuffer> own;
};
} // namespace

//===----------------------------------------------------------------------===//
// Helpers of all problems
//===----------------------------------------------------------------------===//

/// InvalidValue unless the client has described these tensors.
static ApiResult checkDescribed(const miopenProblem &problem,
                                std::span<const int> ids) {
  for (int id : ids)
    if (!problem.getTensor(id))
      return {miopenStatusInvalidValue, std::string("tensor ") +
                                            getTensorName(id) +
                                            " of the problem is not described"};
  return Status::ok();
}

static ApiResult checkLimit(size_t needed, const miopenFindOptions &options) {
  const size_t limit =
      options.workspace ? options.workspaceBytes : options.workspaceLimit;
  if (needed > std::min(limit, options.workspaceLimit))
    return {miopenStatusUnknownError,
            "the kernel needs a workspace of " + std::to_string(needed) +
                " bytes, which is more than the limit"};
  return Status::ok();
}

/// The time that was measured before, unless a search is wanted.
static std::optional<float> getKnownTime(const LoadedKernel &kernel,
                                         const miopenFindOptions &options) {
  if (options.isSearchAsked ||
      readFindSettingsOnce().enforce != FindEnforce::None)
    return std::nullopt;
  return getMeasuredTime(kernel);
}

/// Completes `data`, in which the caller has set what depends on the kind of
/// problem, and makes the solution.
static ApiResult createSolution(const miopenHandle &handle,
                                const LoadedKernel &kernel, float timeMs,
                                SolutionData data, miopenSolution_t &solution) {
  const ErrorOr<const GpuTarget *> target = handle.engine.getGpu().getTarget();
  if (!target)
    return target.getStatus();
  data.target = (*target)->name;
  data.timeMs = timeMs;
  data.kernel = kernel.getKernel();
  data.kernel.codeObject = kernel.getCodeObject();
  solution = makeObject<miopenSolution>(std::move(data));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

static Direction getDirection(miopenProblemDirection_t direction) {
  switch (direction) {
  case miopenProblemDirectionForward:
    return Direction::Forward;
  case miopenProblemDirectionBackward:
    return Direction::BackwardData;
  default:
    return Direction::BackwardWeights;
  }
}

/// Measures the kernel of `call`, on memory that is freed afterwards.
static ApiResult measureConvolution(const ConvolutionCall &call,
                                    size_t workspaceBytes,
                                    const miopenFindOptions &options,
                                    float &timeMs) {
  Buffers buffers(call.handle.engine.getGpu(), options);
  const auto &[xDesc, wDesc, conv, yDesc] = call.operands;
  const ErrorOr<void *> x = buffers.getTensor(miopenTensorConvolutionX, xDesc);
  const ErrorOr<void *> w = buffers.getTensor(miopenTensorConvolutionW, wDesc);
  const ErrorOr<void *> y = buffers.getTensor(miopenTensorConvolutionY, yDesc);
  const ErrorOr<void *> workspace = buffers.getWorkspace(workspaceBytes);
  for (const ErrorOr<void *> *memory : {&x, &w, &y, &workspace})
    if (!*memory)
      return memory->getStatus();
  int count = 0;
  miopenConvAlgoPerf_t perf{};
  ApiResult result = findAlgorithm(
      call,
      {*x, *w, *y, *workspace,
       options.workspace ? options.workspaceBytes : workspaceBytes},
      1, count, &perf, options.isSearchAsked);
  timeMs = perf.time;
  return result;
}

static ApiResult findConvolution(const ConvolutionCall &call,
                                 const miopenFindOptions &options,
                                 miopenSolution_t &solution) {
  ErrorOr<const LoadedKernel *> kernel = prepareKernel(call);
  if (!kernel)
    return kernel.getStatus();
  const size_t needed = (*kernel)->getKernel().workspaceBytes;
  if (ApiResult result = checkLimit(needed, options);
      result.getStatus() != miopenStatusSuccess)
    return result;
  std::optional<float> timeMs = getKnownTime(**kernel, options);
  if (!timeMs) {
    if (ApiResult result =
            measureConvolution(call, needed, options, timeMs.emplace());
        result.getStatus() != miopenStatusSuccess)
      return result;
    // The search may have found another kernel.
    kernel = prepareKernel(call);
    if (kernel)
      keepMeasuredTime(**kernel, *timeMs);
  }
  const ErrorOr<ConvProblem> problem =
      makeConvProblem(call.direction, call.operands);
  if (!kernel || !problem)
    return kernel ? problem.getStatus() : kernel.getStatus();
  // The x of a transposed convolution is the y of its problem.
  const bool areSwapped = call.operands.areSwapped();
  SolutionData data;
  data.networkConfig = problem->toNetworkConfig();
  data.id = getSolution(call.direction);
  data.tensors = {{miopenTensorConvolutionX,
                   areSwapped ? KernelArg::Y : KernelArg::X, call.operands.x},
                  {miopenTensorConvolutionW, KernelArg::W, call.operands.w},
                  {miopenTensorConvolutionY,
                   areSwapped ? KernelArg::X : KernelArg::Y, call.operands.y}};
  return createSolution(call.handle, **kernel, *timeMs, std::move(data),
                        solution);
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// The tensors of a direction in the order of the operation; the result is the
/// last one.
static std::vector<int> getSoftmaxTensors(bool isBackward) {
  if (isBackward)
    return {miopenTensorSoftmaxY, miopenTensorSoftmaxDY, miopenTensorSoftmaxDX};
  return {miopenTensorSoftmaxX, miopenTensorSoftmaxY};
}

/// Makes the call with the tensors in `memory`, whose pointers may be null if
/// the call is not run.
static ErrorOr<RowWiseCall> makeCall(miopenHandle &handle,
                                     const miopenProblem &problem,
                                     std::span<const int> ids,
                                     std::span<void *const> memory) {
  std::vector<SoftmaxOperand> operands;
  for (size_t i = 0; i != ids.size(); ++i)
    operands.push_back(
        {getTensorName(ids[i]), *problem.getTensor(ids[i]), memory[i]});
  const bool isBackward = operands.size() == 3;
  return makeSoftmaxCall(
      handle,
      isBackward ? RowWiseKind::SoftmaxBackward : RowWiseKind::SoftmaxForward,
      *problem.softmax, std::span(operands).first(operands.size() - 1),
      operands.back());
}

static ApiResult
measureSoftmax(miopenHandle &handle, const miopenProblem &problem,
               std::span<const int> ids, const LoadedKernel &kernel,
               const miopenFindOptions &options, float &timeMs) {
  Buffers buffers(handle.engine.getGpu(), options);
  std::vector<void *> memory;
  for (int id : ids) {
    const ErrorOr<void *> buffer =
        buffers.getTensor(id, *problem.getTensor(id));
    if (!buffer)
      return buffer.getStatus();
    memory.push_back(*buffer);
  }
  const ErrorOr<void *> workspace =
      buffers.getWorkspace(kernel.getKernel().workspaceBytes);
  if (!workspace)
    return workspace.getStatus();
  const ErrorOr<RowWiseCall> call = makeCall(handle, problem, ids, memory);
  if (!call)
    return call.getStatus();
  return handle.measure(kernel, call->getArgs(*workspace), timeMs);
}

static ApiResult findSoftmax(miopenHandle &handle, const miopenProblem &problem,
                             const miopenFindOptions &options,
                             miopenSolution_t &solution) {
  if (problem.direction == miopenProblemDirectionBackwardWeights)
    return notSupported("a softmax has no weights");
  const std::vector<int> ids =
      getSoftmaxTensors(problem.direction == miopenProblemDirectionBackward);
  if (ApiResult result = checkDescribed(problem, ids);
      result.getStatus() != miopenStatusSuccess)
    return result;
  const std::vector<void *> noMemory(ids.size());
  const ErrorOr<RowWiseCall> call = makeCall(handle, problem, ids, noMemory);
  const ErrorOr<RowWiseProblem> rowProblem =
      call ? call->getProblem() : ErrorOr<RowWiseProblem>(call.getStatus());
  const ErrorOr<const LoadedKernel *> kernel =
      rowProblem ? handle.engine.prepare(*rowProblem)
                 : ErrorOr<const LoadedKernel *>(rowProblem.getStatus());
  if (!kernel)
    return kernel.getStatus();
  if (ApiResult result =
          checkLimit((*kernel)->getKernel().workspaceBytes, options);
      result.getStatus() != miopenStatusSuccess)
    return result;
  std::optional<float> timeMs = getKnownTime(**kernel, options);
  if (!timeMs) {
    if (ApiResult result = measureSoftmax(handle, problem, ids, **kernel,
                                          options, timeMs.emplace());
        result.getStatus() != miopenStatusSuccess)
      return result;
    keepMeasuredTime(**kernel, *timeMs);
  }
  SolutionData data;
  data.networkConfig = rowProblem->toNetworkConfig();
  data.id = kSoftmaxSolution;
  for (int tensor = 0; tensor != rowProblem->tensorCount; ++tensor) {
    // The result follows the inputs; if beta is not 0, it is listed twice,
    // first as an input.
    const int id = ids[std::min<size_t>(tensor, ids.size() - 1)];
    data.tensors.push_back({id, getTensorArg(tensor), *problem.getTensor(id)});
  }
  data.scalars = {problem.softmax->alpha, problem.softmax->beta};
  return createSolution(handle, **kernel, *timeMs, std::move(data), solution);
}

ApiResult capi::findSolution(miopenHandle &handle, const miopenProblem &problem,
                             const miopenFindOptions &options,
                             miopenSolution_t &solution) {
  if (problem.softmax)
    return findSoftmax(handle, problem, options, solution);
  static constexpr int kTensors[] = {miopenTensorConvolutionX,
                                     miopenTensorConvolutionW,
                                     miopenTensorConvolutionY};
  if (ApiResult result = checkDescribed(problem, kTensors);
      result.getStatus() != miopenStatusSuccess)
    return result;
  return findConvolution(
      {handle,
       getDirection(problem.direction),
       {*problem.getTensor(miopenTensorConvolutionX),
        *problem.getTensor(miopenTensorConvolutionW), *problem.conv,
        *problem.getTensor(miopenTensorConvolutionY)}},
      options, solution);
}

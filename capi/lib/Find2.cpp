//===- Find2.cpp - Problems, options and the search of miopen/find2.h -----===//

// Their declarations are what makes the beta functions visible to clients.
#define MIOPEN_BETA_API 1
#include <miopen/find2.h>

#include "capi/lib/ConvolutionCall.h"
#include "capi/lib/FindSettings.h"
#include "capi/lib/MeasuredTimes.h"
#include "capi/lib/Objects.h"
#include "capi/lib/Solution.h"
#include "runtime/Gpu/DeviceBuffer.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

using namespace tessera;
using namespace tessera::capi;

/// An operation, a direction and tensors. Owned by the client; any number of
/// threads may read it at once.
struct miopenProblem {
  miopenProblemDirection_t direction;
  /// Of a convolution; other operations have no solutions, so that nobody
  /// needs to know what they are.
  std::optional<miopenConvolutionDescriptor> conv;
  bool isFused = false;
  std::map<int, miopenTensorDescriptor> tensors;

  const miopenTensorDescriptor *getTensor(int id) const {
    const auto found = tensors.find(id);
    return found == tensors.end() ? nullptr : &found->second;
  }
};

/// Owned by the client, as are the buffers.
struct miopenFindOptions {
  bool isSearchAsked = false;
  size_t workspaceLimit = std::numeric_limits<size_t>::max();
  void *workspace = nullptr;
  size_t workspaceBytes = 0;
  std::map<int, void *> tensors;
};

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

/// Of a convolution, inference is no direction.
static Status checkDirection(int direction, bool isConv) {
  if (direction == miopenProblemDirectionInference && !isConv)
    return Status::ok();
  return checkEnum(direction, miopenProblemDirectionBackwardWeights,
                   "direction");
}

static ApiResult createProblem(miopenProblem_t &problem,
                               const miopenConvolutionDescriptor *conv,
                               miopenProblemDirection_t direction) {
  if (Status status = checkDirection(direction, conv); !status.isOk())
    return status;
  problem = new miopenProblem{direction, {}, false, {}};
  if (conv)
    problem->conv = *conv;
  return Status::ok();
}

static ApiResult setTensor(miopenProblem &problem, int id,
                           const miopenTensorDescriptor &tensor) {
  if (problem.isFused)
    return invalidArgument("the tensors of a fused problem follow from those "
                           "of its parts");
  if (id == miopenTensorArgumentIdInvalid ||
      (problem.conv && (id < 0 || id > int(miopenTensorConvolutionY))))
    return invalidArgument("the problem has no tensor with the id " +
                           std::to_string(id));
  if (tensor.getRank() == 0)
    return invalidArgument("the tensor was never set");
  problem.tensors.insert_or_assign(id, tensor);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Solutions
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

namespace {
/// Memory for measuring: what the client gives, else our own.
struct Buffers {
  std::vector<DeviceBuffer> own;

  ErrorOr<void *> get(const GpuApi &gpu, void *given, size_t bytes) {
    if (given)
      return given;
    ErrorOr<DeviceBuffer> buffer = DeviceBuffer::allocate(gpu, bytes);
    if (!buffer)
      return buffer.getStatus();
    own.push_back(std::move(*buffer));
    return own.back().get();
  }
};
} // namespace

static ErrorOr<size_t> getTensorBytes(const miopenTensorDescriptor &tensor) {
  size_t bytes = 0;
  // Reads only; MIOpen's handles are not const.
  if (miopenGetTensorNumBytes(const_cast<miopenTensorDescriptor *>(&tensor),
                              &bytes) != miopenStatusSuccess)
    return invalidArgument("a tensor is larger than 2^63 bytes");
  return bytes;
}

static void *getGiven(const miopenFindOptions &options, int id) {
  const auto found = options.tensors.find(id);
  return found == options.tensors.end() ? nullptr : found->second;
}

/// Measures the kernel of `call`, on memory that lives for the time of it.
static ApiResult measure(const ConvolutionCall &call, size_t workspaceBytes,
                         const miopenFindOptions &options,
                         miopenConvAlgoPerf_t &perf) {
  const GpuApi &gpu = call.handle.engine.getGpu();
  const auto &[x, w, conv, y] = call.operands;
  const miopenTensorDescriptor *tensors[] = {&x, &w, &y};
  Buffers buffers;
  std::array<void *, 3> memory{};
  for (int i = 0; i < 3; ++i) {
    const ErrorOr<size_t> bytes = getTensorBytes(*tensors[i]);
    if (!bytes)
      return bytes.getStatus();
    const ErrorOr<void *> buffer = buffers.get(
        gpu, getGiven(options, miopenTensorConvolutionX + i), *bytes);
    if (!buffer)
      return buffer.getStatus();
    memory[i] = *buffer;
  }
  const ErrorOr<void *> workspace =
      buffers.get(gpu, options.workspace, workspaceBytes);
  if (!workspace)
    return workspace.getStatus();
  int count = 0;
  return findAlgorithm(
      call,
      {memory[0], memory[1], memory[2], *workspace,
       options.workspace ? options.workspaceBytes : workspaceBytes},
      1, count, &perf, options.isSearchAsked);
}

/// The time that was measured before, unless a search is asked for.
static std::optional<float> getKnownTime(const LoadedKernel &kernel,
                                         const miopenFindOptions &options) {
  if (options.isSearchAsked ||
      readFindSettingsOnce().enforce != FindEnforce::None)
    return std::nullopt;
  return getMeasuredTime(kernel);
}

/// The one solution of a convolution.
static ApiResult findSolution(const ConvolutionCall &call,
                              const miopenFindOptions &options,
                              miopenSolution_t &solution) {
  const ErrorOr<const GpuTarget *> target =
      call.handle.engine.getGpu().getTarget();
  if (!target)
    return target.getStatus();
  ErrorOr<const LoadedKernel *> kernel = prepareKernel(call);
  if (!kernel)
    return kernel.getStatus();
  const size_t needed = (*kernel)->getKernel().workspaceBytes;
  const size_t limit =
      options.workspace ? options.workspaceBytes : options.workspaceLimit;
  if (needed > std::min(limit, options.workspaceLimit))
    return {miopenStatusUnknownError,
            "the kernel needs a workspace of " + std::to_string(needed) +
                " bytes, which is more than the limit"};
  std::optional<float> timeMs = getKnownTime(**kernel, options);
  if (!timeMs) {
    miopenConvAlgoPerf_t perf{};
    if (ApiResult result = measure(call, needed, options, perf);
        result.getStatus() != miopenStatusSuccess)
      return result;
    // A search may have found another one.
    kernel = prepareKernel(call);
    timeMs = perf.time;
    if (kernel)
      keepMeasuredTime(**kernel, perf.time);
  }
  const ErrorOr<ConvProblem> problem =
      makeConvProblem(call.direction, call.operands);
  if (!kernel || !problem)
    return kernel ? problem.getStatus() : kernel.getStatus();
  SolutionData data;
  data.networkConfig = problem->toNetworkConfig();
  data.target = (*target)->name;
  data.id = getSolution(call.direction);
  data.timeMs = *timeMs;
  data.areExchanged = call.operands.areExchanged();
  data.tensors = {call.operands.x, call.operands.w, call.operands.y};
  data.kernel = (*kernel)->getKernel();
  solution = new miopenSolution(std::move(data));
  return Status::ok();
}

static ApiResult findSolutions(miopenHandle &handle,
                               const miopenProblem &problem,
                               const miopenFindOptions &options,
                               miopenSolution_t *solutions, size_t *count,
                               size_t maxCount) {
  if (maxCount < 1)
    return invalidArgument("maxSolutions is 0");
  if (problem.isFused || !problem.conv)
    return notSupported("only problems of convolutions have solutions");
  const miopenTensorDescriptor *x = problem.getTensor(miopenTensorConvolutionX);
  const miopenTensorDescriptor *w = problem.getTensor(miopenTensorConvolutionW);
  const miopenTensorDescriptor *y = problem.getTensor(miopenTensorConvolutionY);
  if (!x || !w || !y)
    return {miopenStatusInvalidValue, std::string("tensor ") +
                                          (!x   ? "x"
                                           : !w ? "w"
                                                : "y") +
                                          " of the problem is not described"};
  if (ApiResult result = findSolution({handle,
                                       getDirection(problem.direction),
                                       {*x, *w, *problem.conv, *y}},
                                      options, solutions[0]);
      result.getStatus() != miopenStatusSuccess)
    return result;
  setIfWanted(count, size_t(1));
  return Status::ok();
}

extern "C" {

miopenStatus_t
miopenCreateConvProblem(miopenProblem_t *problem,
                        miopenConvolutionDescriptor_t operatorDesc,
                        miopenProblemDirection_t direction) {
  return guard(__func__, REQUIRED(problem, operatorDesc), [&]() -> ApiResult {
    return createProblem(*problem, operatorDesc, direction);
  });
}

miopenStatus_t miopenCreateMhaProblem(miopenProblem_t *problem,
                                      miopenMhaDescriptor_t operatorDesc,
                                      miopenProblemDirection_t direction) {
  return guard(__func__, REQUIRED(problem, operatorDesc), [&]() -> ApiResult {
    return createProblem(*problem, nullptr, direction);
  });
}

miopenStatus_t
miopenCreateActivationProblem(miopenProblem_t *problem,
                              miopenActivationDescriptor_t operatorDesc,
                              miopenProblemDirection_t direction) {
  return guard(__func__, REQUIRED(problem, operatorDesc), [&]() -> ApiResult {
    return createProblem(*problem, nullptr, direction);
  });
}

miopenStatus_t
miopenCreateBatchnormProblem(miopenProblem_t *problem,
                             miopenBatchNormMode_t mode, bool,
                             miopenProblemDirection_t direction) {
  return guard(__func__, REQUIRED(problem), [&]() -> ApiResult {
    if (Status status = checkEnum(mode, miopenBNSpatial, "mode");
        !status.isOk())
      return status;
    return createProblem(*problem, nullptr, direction);
  });
}

miopenStatus_t miopenCreateBiasProblem(miopenProblem_t *problem,
                                       miopenProblemDirection_t direction) {
  return guard(__func__, REQUIRED(problem), [&]() -> ApiResult {
    return createProblem(*problem, nullptr, direction);
  });
}

miopenStatus_t
miopenCreateSoftmaxProblem(miopenProblem_t *problem,
                           miopenSoftmaxDescriptor_t operatorDesc,
                           miopenProblemDirection_t direction) {
  return guard(__func__, REQUIRED(problem, operatorDesc), [&]() -> ApiResult {
    return createProblem(*problem, nullptr, direction);
  });
}

miopenStatus_t miopenFuseProblems(miopenProblem_t problem1,
                                  miopenProblem_t problem2) {
  return guard(__func__, REQUIRED(problem1, problem2), [&]() -> ApiResult {
    problem1->isFused = true;
    return Status::ok();
  });
}

miopenStatus_t miopenDestroyProblem(miopenProblem_t problem) {
  return destroyObject(__func__, REQUIRED(problem), problem);
}

miopenStatus_t
miopenSetProblemTensorDescriptor(miopenProblem_t problem,
                                 miopenTensorArgumentId_t id,
                                 const miopenTensorDescriptor_t descriptor) {
  return guard(__func__, REQUIRED(problem, descriptor), [&]() -> ApiResult {
    return setTensor(*problem, static_cast<int>(id), *descriptor);
  });
}

miopenStatus_t miopenCreateFindOptions(miopenFindOptions_t *options) {
  return createObject(__func__, REQUIRED(options), options);
}

miopenStatus_t miopenDestroyFindOptions(miopenFindOptions_t options) {
  return destroyObject(__func__, REQUIRED(options), options);
}

miopenStatus_t miopenSetFindOptionTuning(miopenFindOptions_t options,
                                         int value) {
  return guard(__func__, REQUIRED(options), [&]() -> ApiResult {
    options->isSearchAsked = value != 0;
    return Status::ok();
  });
}

miopenStatus_t miopenSetFindOptionResultsOrder(miopenFindOptions_t options,
                                               miopenFindResultsOrder_t value) {
  return guard(__func__, REQUIRED(options), [&]() -> ApiResult {
    // One solution is in every order.
    return checkEnum(value, miopenFindResultsOrderByWorkspaceSize, "order");
  });
}

miopenStatus_t miopenSetFindOptionWorkspaceLimit(miopenFindOptions_t options,
                                                 size_t value) {
  return guard(__func__, REQUIRED(options), [&]() -> ApiResult {
    options->workspaceLimit = value;
    return Status::ok();
  });
}

miopenStatus_t
miopenSetFindOptionPreallocatedWorkspace(miopenFindOptions_t options,
                                         void *buffer, size_t size) {
  return guard(__func__, REQUIRED(options), [&]() -> ApiResult {
    options->workspace = buffer;
    options->workspaceBytes = size;
    return Status::ok();
  });
}

miopenStatus_t miopenSetFindOptionPreallocatedTensor(
    miopenFindOptions_t options, miopenTensorArgumentId_t id, void *buffer) {
  return guard(__func__, REQUIRED(options), [&]() -> ApiResult {
    options->tensors.insert_or_assign(static_cast<int>(id), buffer);
    return Status::ok();
  });
}

miopenStatus_t miopenSetFindOptionAttachBinaries(miopenFindOptions_t options,
                                                 unsigned attach) {
  return guard(__func__, REQUIRED(options), [&]() -> ApiResult {
    if (attach > 1)
      return invalidArgument("attach is neither 0 nor 1");
    return Status::ok();
  });
}

miopenStatus_t miopenFindSolutions(miopenHandle_t handle,
                                   miopenProblem_t problem,
                                   miopenFindOptions_t options,
                                   miopenSolution_t *solutions,
                                   size_t *numSolutions, size_t maxSolutions) {
  return guard(__func__, REQUIRED(handle, problem, solutions),
               [&]() -> ApiResult {
                 return findSolutions(*handle, *problem,
                                      options ? *options : miopenFindOptions(),
                                      solutions, numSolutions, maxSolutions);
               });
}

} // extern "C"

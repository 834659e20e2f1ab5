//===- Solution.cpp - Running and saving solutions of Find 2.0 ------------===//

// MIOPEN_BETA_API declares the ids of the tensors of a softmax.
#define MIOPEN_BETA_API 1
#include "capi/lib/Find/Solution.h"

#include "capi/lib/Convolution/ConvolutionCall.h"
#include "capi/lib/Handle/HandleState.h"
#include "capi/lib/Handle/KernelChecks.h"
#include "capi/lib/Common/Objects.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace tessera;
using namespace tessera::capi;

ErrorOr<const LoadedKernel *> miopenSolution::getLoaded(Engine &engine) {
  const GpuApi &gpu = engine.getGpu();
  int device = 0;
  if (Status status = gpu.check(gpu.hipGetDevice(&device), "hipGetDevice");
      !status.isOk())
    return status;
  const std::lock_guard lock(mutex);
  for (const Loaded &entry : loaded)
    if (entry.device == device)
      return entry.kernel.get();
  const ErrorOr<const GpuTarget *> target = gpu.getTarget();
  if (!target)
    return target.getStatus();
  if ((*target)->name != data.target)
    return invalidArgument("the solution is for " + data.target +
                           ", but the device is a " +
                           std::string((*target)->name));
  // The text may come from a release with another form of texts; the kernel is
  // then loaded without a problem.
  const ErrorOr<Problem> problem = parseNetworkConfig(data.networkConfig);
  ErrorOr<std::unique_ptr<LoadedKernel>> kernel =
      engine.loadKernel(data.kernel, problem ? &*problem : nullptr);
  if (!kernel)
    return kernel.getStatus().withContext(data.networkConfig);
  loaded.push_back({device, std::move(*kernel)});
  return loaded.back().kernel.get();
}

/// Whether a client's descriptor describes the tensor that the solution was
/// made for.
static bool isSameTensor(const miopenTensorDescriptor &given,
                         const miopenTensorDescriptor &expected) {
  return given.dataType == expected.dataType &&
         given.lengths == expected.lengths && given.strides == expected.strides;
}

const char *capi::getTensorName(int id) {
  switch (id) {
  case miopenTensorConvolutionX:
  case miopenTensorSoftmaxX:
    return "x";
  case miopenTensorConvolutionW:
    return "w";
  case miopenTensorConvolutionY:
  case miopenTensorSoftmaxY:
    return "y";
  case miopenTensorSoftmaxDX:
    return "dx";
  case miopenTensorSoftmaxDY:
    return "dy";
  default:
    return "without a name";
  }
}

/// Assigns the client's tensors to the arguments of the kernel, by their ids.
static ApiResult readTensors(const SolutionData &data,
                             std::span<const miopenTensorArgument_t> tensors,
                             LaunchArgs &args) {
  for (const miopenTensorArgument_t &given : tensors) {
    bool isKnown = false;
    for (const SolutionTensor &tensor : data.tensors) {
      if (tensor.id != static_cast<int>(given.id))
        continue;
      isKnown = true;
      if (given.descriptor && *given.descriptor &&
          !isSameTensor(**given.descriptor, tensor.desc))
        return invalidArgument(std::string("the descriptor of ") +
                               getTensorName(tensor.id) +
                               " is not that of the problem");
      args.getPointer(tensor.arg) = given.buffer;
    }
    if (!isKnown)
      return invalidArgument("the problem has no tensor with the id " +
                             std::to_string(static_cast<int>(given.id)));
  }
  for (const SolutionTensor &tensor : data.tensors)
    if (!args.getPointer(tensor.arg))
      return {miopenStatusInvalidValue,
              std::string("there is no tensor ") + getTensorName(tensor.id)};
  return Status::ok();
}

static ApiResult runSolution(miopenHandle &handle, miopenSolution &solution,
                             std::span<const miopenTensorArgument_t> tensors,
                             void *workspace, size_t workspaceBytes) {
  LaunchArgs args;
  if (ApiResult result = readTensors(solution.data, tensors, args);
      result.getStatus() != miopenStatusSuccess)
    return result;
  if (Status status = checkWorkspace(solution.data.kernel.workspaceBytes,
                                     workspace, workspaceBytes);
      !status.isOk())
    return status;
  const ErrorOr<const LoadedKernel *> kernel =
      solution.getLoaded(handle.engine);
  if (!kernel)
    return kernel.getStatus();
  std::ranges::copy(solution.data.scalars, args.scalars.begin());
  args.workspace = workspace;
  return handle.launch(**kernel, args);
}

extern "C" {

miopenStatus_t miopenRunSolution(miopenHandle_t handle,
                                 miopenSolution_t solution, size_t nInputs,
                                 const miopenTensorArgument_t *tensors,
                                 void *workspace, size_t workspaceSize) {
  return guard(__func__, REQUIRED(handle, solution, tensors),
               [&]() -> ApiResult {
                 return runSolution(*handle, *solution, {tensors, nInputs},
                                    workspace, workspaceSize);
               });
}

miopenStatus_t miopenDestroySolution(miopenSolution_t solution) {
  return destroyObject(__func__, REQUIRED(solution), solution);
}

miopenStatus_t miopenLoadSolution(miopenSolution_t *solution, const char *data,
                                  size_t size) {
  return guard(__func__, REQUIRED(solution, data), [&]() -> ApiResult {
    SolutionData loaded;
    ApiResult result = loadSolution({data, size}, loaded);
    if (result.getStatus() == miopenStatusSuccess)
      *solution = makeObject<miopenSolution>(std::move(loaded));
    return result;
  });
}

miopenStatus_t miopenSaveSolution(miopenSolution_t solution, char *data) {
  return guard(__func__, REQUIRED(solution, data), [&]() -> ApiResult {
    const std::string bytes = saveSolution(solution->data);
    std::memcpy(data, bytes.data(), bytes.size());
    return Status::ok();
  });
}

miopenStatus_t miopenGetSolutionSize(miopenSolution_t solution, size_t *size) {
  return guard(__func__, REQUIRED(solution, size), [&]() -> ApiResult {
    *size = saveSolution(solution->data).size();
    return Status::ok();
  });
}

miopenStatus_t miopenGetSolutionWorkspaceSize(miopenSolution_t solution,
                                              size_t *workspaceSize) {
  return guard(__func__, REQUIRED(solution, workspaceSize), [&]() -> ApiResult {
    *workspaceSize = solution->data.kernel.workspaceBytes;
    return Status::ok();
  });
}

miopenStatus_t miopenGetSolutionTime(miopenSolution_t solution, float *time) {
  return guard(__func__, REQUIRED(solution, time), [&]() -> ApiResult {
    *time = solution->data.timeMs;
    return Status::ok();
  });
}

miopenStatus_t miopenGetSolutionSolverId(miopenSolution_t solution,
                                         uint64_t *solverId) {
  return guard(__func__, REQUIRED(solution, solverId), [&]() -> ApiResult {
    *solverId = solution->data.id;
    return Status::ok();
  });
}

miopenStatus_t miopenGetSolverIdConvAlgorithm(uint64_t solverId,
                                              miopenConvAlgorithm_t *result) {
  return guard(__func__, REQUIRED(result), [&]() -> ApiResult {
    for (Direction direction : {Direction::Forward, Direction::BackwardData,
                                Direction::BackwardWeights})
      if (solverId == getSolution(direction)) {
        *result = miopenConvolutionAlgoDirect;
        return Status::ok();
      }
    return invalidArgument("there is no solver " + std::to_string(solverId));
  });
}

} // extern "C"

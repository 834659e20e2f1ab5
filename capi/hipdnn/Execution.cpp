//===- Execution.cpp - Plans on a device ----------------------------------===//

#include "capi/hipdnn/Execution.h"

#include <algorithm>
#include <string>
#include <unordered_map>

using namespace tessera;
using namespace tessera::hipdnn;

/// As memory from hipMalloc, so that kernels find the vectors they want.
static constexpr size_t kAlignment = 256;

static size_t align(size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

Status tessera::hipdnn::convert(const Library &library, miopenStatus_t status) {
  const std::string message = library.getMessage();
  switch (status) {
  case miopenStatusSuccess:
    return Status::ok();
  case miopenStatusBadParm:
  case miopenStatusInvalidValue:
    return invalidArgument(message);
  case miopenStatusNotImplemented:
  case miopenStatusVersionMismatch:
    return notSupported(message);
  case miopenStatusAllocFailed:
    return {StatusCode::ResourceExhausted, message};
  default:
    return internalError(message);
  }
}

Handle::~Handle() {
  if (handle)
    (*getLibrary()).destroy(handle);
}

ErrorOr<miopenHandle_t> Handle::get() {
  const ErrorOr<Library> &library = getLibrary();
  if (!library)
    return library.getStatus();
  if (!handle)
    if (Status status =
            convert(*library,
                    library->create(&handle, static_cast<hipStream_t>(stream)));
        !status.isOk())
      return status;
  return handle;
}

Status Handle::setStream(void *newStream) {
  stream = newStream;
  if (!handle)
    return Status::ok();
  const Library &library = *getLibrary();
  return convert(
      library, library.setStream(handle, static_cast<hipStream_t>(newStream)));
}

/// The scratch memory of a step's kernel.
static ErrorOr<uint64_t> getScratchBytes(miopenHandle_t handle,
                                         const std::string &problem) {
  tesseraKernelInfo info = {};
  info.structSize = sizeof info;
  const Library &library = *getLibrary();
  if (Status status =
          convert(library, library.getInfo(handle, problem.c_str(), &info));
      !status.isOk())
    return status.withContext(problem);
  return info.workspaceBytes;
}

static bool isRowWise(const Step &step) {
  return step.problem.starts_with("rowwise-");
}

/// The same for a kernel that has so much space, which may be another one.
static ErrorOr<uint64_t> getScratchBytes(miopenHandle_t handle, Step &step,
                                         uint64_t space) {
  const ErrorOr<uint64_t> bytes = getScratchBytes(handle, step.problem);
  if (!bytes || *bytes <= space || isRowWise(step))
    return bytes;
  const ErrorOr<Problem> problem = parseNetworkConfig(step.problem);
  if (!problem || !problem->getConv())
    return Status(StatusCode::ResourceExhausted,
                  step.problem + " needs a workspace of " +
                      std::to_string(*bytes) + " bytes, but gets " +
                      std::to_string(space));
  step.problem = problem->asWithoutWorkspace().toNetworkConfig();
  return getScratchBytes(handle, step.problem);
}

ErrorOr<std::unique_ptr<Context>>
tessera::hipdnn::prepare(Handle &handle, Plan plan,
                         std::optional<size_t> workspaceBytes) {
  const ErrorOr<miopenHandle_t> own = handle.get();
  if (!own)
    return own.getStatus();
  auto context = std::make_unique<Context>();
  for (const PlanTensor &tensor : plan.tensors) {
    context->offsets.push_back(context->scratchOffset);
    context->scratchOffset += align(tensor.bytes);
  }
  if (workspaceBytes && *workspaceBytes < context->scratchOffset)
    return invalidArgument(
        "virtual tensors need " + std::to_string(context->scratchOffset) +
        " bytes, and the workspace has " + std::to_string(*workspaceBytes));
  const uint64_t space =
      workspaceBytes ? *workspaceBytes - context->scratchOffset : UINT64_MAX;
  uint64_t most = 0;
  for (Step &step : plan.steps) {
    const ErrorOr<uint64_t> bytes = getScratchBytes(*own, step, space);
    if (!bytes)
      return bytes.getStatus();
    context->scratchBytes.push_back(*bytes);
    most = std::max(most, *bytes);
    context->needsWorkspace |= *bytes && !isRowWise(step);
  }
  context->needsWorkspace |= context->scratchOffset != 0;
  context->workspaceBytes =
      workspaceBytes.value_or(context->scratchOffset + most);
  context->plan = std::move(plan);
  return context;
}

/// Where an address belongs; the structs are C's, and results are not const
/// for whoever writes them.
static const void **find(tesseraProblemArguments &arguments, Slot slot) {
  switch (slot) {
  case Slot::X:
    return &arguments.x;
  case Slot::W:
    return &arguments.w;
  case Slot::Y:
    return &arguments.y;
  case Slot::Bias:
    return &arguments.bias;
  case Slot::Residual:
    return &arguments.residual;
  case Slot::Indices:
    return const_cast<const void **>(&arguments.indices);
  case Slot::FirstTensor:
    break;
  }
  return &arguments.tensors[static_cast<int>(slot) -
                            static_cast<int>(Slot::FirstTensor)];
}

Status Context::run(Handle &handle, void *workspace,
                    std::span<const DeviceBuffer> buffers) const {
  if (needsWorkspace && !workspace)
    return invalidArgument("the graph needs a workspace of " +
                           std::to_string(workspaceBytes) +
                           " bytes, but has none");
  std::unordered_map<int64_t, void *> memories;
  for (const DeviceBuffer &buffer : buffers)
    memories[buffer.uid] = buffer.memory;
  auto *own = static_cast<char *>(workspace);
  const ErrorOr<miopenHandle_t> device = handle.get();
  if (!device)
    return device.getStatus();
  // All steps have their memory before the first one runs.
  std::vector<tesseraProblemArguments> arguments;
  for (const Step &step : plan.steps) {
    tesseraProblemArguments &next = arguments.emplace_back(step.arguments);
    for (const auto &[slot, number] : step.addresses) {
      const PlanTensor &tensor = plan.tensors[number];
      const void *memory =
          tensor.isVirtual ? own + offsets[number] : memories[tensor.uid];
      if (!memory)
        return invalidArgument("tensor " + std::to_string(tensor.uid) +
                               " has no memory");
      *find(next, slot) = memory;
    }
    const size_t space = workspace ? workspaceBytes - scratchOffset : 0;
    if (scratchBytes[arguments.size() - 1] <= space) {
      next.workSpaceSize = space;
      next.workSpace = space ? own + scratchOffset : nullptr;
    }
  }
  const Library &library = *getLibrary();
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const std::string &problem = plan.steps[i].problem;
    if (Status status = convert(
            library, library.run(*device, problem.c_str(), &arguments[i]));
        !status.isOk())
      return status.withContext(problem);
  }
  return Status::ok();
}

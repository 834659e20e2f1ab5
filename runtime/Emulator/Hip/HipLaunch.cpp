//===- HipLaunch.cpp - Kernel launches of the emulated HIP ----------------===//

#include "runtime/Emulator/Hip/Handles.h"
#include "runtime/Emulator/Hip/IssueCount.h"
#include "runtime/Emulator/Hip/Module.h"
#include "runtime/Emulator/Launch.h"

#include <cstring>

using namespace tessera;
using namespace tessera::emulator;
using tessera::hip::LaunchRequest;

static constexpr uint64_t kMaxGridItems = uint64_t(1) << 32;
/// The most groups of a cooperative launch: each needs a host thread.
static constexpr uint64_t kMaxCooperativeGroups = 1024;

/// Collects the explicit arguments, which HIP accepts in two forms.
static hipError_t collectArguments(const KernelImage &kernel, void **params,
                                   void **extra, std::vector<uint8_t> &bytes) {
  bytes.assign(kernel.descriptor.kernargBytes, 0);
  if (params) {
    size_t next = 0;
    for (const KernelArgument &argument : kernel.arguments) {
      if (argument.isHidden())
        continue;
      if (uint64_t(argument.offset) + argument.bytes > bytes.size())
        return setError(hipErrorInvalidImage);
      std::memcpy(bytes.data() + argument.offset, params[next++],
                  argument.bytes);
    }
    return hipSuccess;
  }
  if (!extra)
    return hipSuccess;
  const void *buffer = nullptr;
  size_t size = 0;
  for (; *extra != HIP_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == HIP_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = extra[1];
    else if (*extra == HIP_LAUNCH_PARAM_BUFFER_SIZE)
      size = *static_cast<size_t *>(extra[1]);
    else
      return setError(hipErrorInvalidValue);
  }
  if (!buffer || !size)
    return size ? setError(hipErrorInvalidValue) : hipSuccess;
  std::memcpy(bytes.data(), buffer, std::min(size, bytes.size()));
  return hipSuccess;
}

static hipError_t checkConfiguration(const Launch &launch) {
  uint64_t groupItems = 1;
  for (unsigned d = 0; d < 3; ++d) {
    if (!launch.items[d] || !launch.groupSize[d] || launch.groupSize[d] > 1024)
      return setError(hipErrorInvalidConfiguration,
                      "kernel '" + launch.kernel.name + "': dimension " +
                          std::to_string(d) + " has " +
                          std::to_string(launch.items[d]) +
                          " work-items in blocks of " +
                          std::to_string(launch.groupSize[d]) +
                          "; neither may be 0, and a block has at most 1024");
    groupItems *= launch.groupSize[d];
  }
  if (groupItems > std::min(1024u, launch.kernel.maxWorkgroupSize))
    return setError(hipErrorInvalidConfiguration,
                    "kernel '" + launch.kernel.name + "' allows " +
                        std::to_string(launch.kernel.maxWorkgroupSize) +
                        " threads a block, not " + std::to_string(groupItems));
  if (Status status = checkGroupSize(launch); !status.isOk())
    return setError(hipErrorInvalidConfiguration, status.getMessage());
  if (Status status = checkLds(launch); !status.isOk())
    return setError(hipErrorInvalidConfiguration, status.getMessage());
  return hipSuccess;
}

static hipError_t toHipError(FaultKind kind) {
  switch (kind) {
  case FaultKind::None:
    return hipSuccess;
  case FaultKind::IllegalAddress:
    return hipErrorIllegalAddress;
  case FaultKind::UnknownInstruction:
    return hipErrorInvalidDeviceFunction;
  case FaultKind::Watchdog:
    return hipErrorLaunchTimeOut;
  case FaultKind::Misaligned:
  case FaultKind::IllegalState:
  case FaultKind::DivergentBarrier:
  case FaultKind::MissingWait:
  case FaultKind::Uninitialized:
  case FaultKind::Race:
    return hipErrorLaunchFailure;
  }
  return hipErrorUnknown;
}

/// Groups of a cooperative launch may wait for each other, so each gets a host
/// thread of its own.
static hipError_t prepareCooperation(const Launch &launch, Settings &settings) {
  auto [x, y, z] = launch.getGroups();
  uint64_t groups = uint64_t(x) * y * z;
  if (groups > kMaxCooperativeGroups)
    return setError(hipErrorCooperativeLaunchTooLarge,
                    "kernel '" + launch.kernel.name + "' asks for " +
                        std::to_string(groups) +
                        " groups that wait for each other; the emulator runs "
                        "at most " +
                        std::to_string(kMaxCooperativeGroups));
  settings.threads = static_cast<unsigned>(groups);
  settings.maxGroups = 0;
  return hipSuccess;
}

static hipError_t checkRequest(const LaunchRequest &request) {
  if (!Device::get())
    return setError(hipErrorNoDevice);
  if (!isFunction(request.function))
    return setError(hipErrorInvalidHandle);
  for (uint64_t items : request.items)
    if (items >= kMaxGridItems)
      return setError(hipErrorInvalidConfiguration,
                      "a grid of 2^32 or more work-items in one dimension");
  return checkStream(request.stream);
}

hipError_t tessera::hip::launchKernel(const LaunchRequest &request) {
  if (hipError_t error = checkRequest(request))
    return error;
  Device *device = Device::get();
  hipFunction_t function = request.function;
  std::array<uint32_t, 3> items;
  std::copy_n(request.items, 3, items.begin());
  Launch launch{
      *function->kernel,
      function->module->getProgram(device->chip,
                                   function->getLanes(device->chip)),
      device->chip,
      items,
      {request.block[0], request.block[1], request.block[2]},
      static_cast<uint32_t>(std::min<size_t>(request.dynamicLds, 1u << 30)),
      {}};
  if (hipError_t error = checkConfiguration(launch))
    return error;
  if (hipError_t error = collectArguments(launch.kernel, request.params,
                                          request.extra, launch.arguments))
    return error;
  Settings settings = device->settings;
  if (request.isCooperative)
    if (hipError_t error = prepareCooperation(launch, settings))
      return error;
  if (isPredicting()) {
    const Status status = predictLaunch(launch, device->memory, settings);
    return status.isOk() ? hipSuccess
                         : setError(hipErrorLaunchFailure, status.getMessage());
  }
  IssueCount issue;
  LaunchOutcome outcome =
      run(launch, device->memory, settings, issue.getWatch());
  issue.add(launch);
  if (outcome.fault == FaultKind::None)
    return hipSuccess;
  return setError(toHipError(outcome.fault), outcome.message);
}

TESSERA_HIP hipError_t hipModuleLaunchKernel(
    hipFunction_t function, unsigned gridX, unsigned gridY, unsigned gridZ,
    unsigned blockX, unsigned blockY, unsigned blockZ, unsigned dynamicLds,
    hipStream_t stream, void **params, void **extra) {
  return hip::launchKernel({function,
                            {uint64_t(gridX) * blockX, uint64_t(gridY) * blockY,
                             uint64_t(gridZ) * blockZ},
                            {blockX, blockY, blockZ},
                            dynamicLds,
                            stream,
                            params,
                            extra});
}

//===- HipModule.cpp - Modules and launches of the emulated HIP -----------===//

#include "runtime/Emulator/Decode/CodeObject.h"
#include "runtime/Emulator/Hip/Device.h"
#include "runtime/Emulator/Hip/Handles.h"
#include "runtime/Emulator/Launch.h"

#include <cstring>
#include <fstream>
#include <iterator>

using namespace tessera;
using namespace tessera::emulator;

// hip_ext.h declares the extension launch; it needs device headers.
static constexpr uint64_t kMaxGridItems = uint64_t(1) << 32;

/// A function of a module. Lives as long as its module.
struct ihipModuleSymbol_t {
  ihipModule_t *module;
  const KernelImage *kernel;
};

/// Decodes its code when the first kernel is launched, once for each wave size
/// that its kernels use.
struct ihipModule_t {
  std::shared_ptr<const CodeObject> object;
  std::mutex mutex;
  std::unique_ptr<Program> programs[2];
  std::vector<ihipModuleSymbol_t *> functions;

  const Program &getProgram(const Chip &chip, unsigned lanes) {
    std::lock_guard lock(mutex);
    std::unique_ptr<Program> &program = programs[lanes == 64];
    if (!program) {
      Decoder decoder(chip, lanes);
      program = std::make_unique<Program>(decoder, object->getText(),
                                          object->getLoadAddress());
      program->setSourceLines(object->getSourceLines());
    }
    return *program;
  }
};

static HandleSet<ihipModule_t> &getModules() {
  static auto *modules = new HandleSet<ihipModule_t>;
  return *modules;
}
static HandleSet<ihipModuleSymbol_t> &getFunctions() {
  static auto *functions = new HandleSet<ihipModuleSymbol_t>;
  return *functions;
}

static hipError_t loadModule(hipModule_t *module, const void *image,
                             size_t size) {
  Device *device = Device::get();
  if (!device)
    return setError(hipErrorNoDevice);
  auto object = CodeObject::load(image, size, device->chip, device->memory);
  if (!object) {
    hipError_t error =
        object.getStatus().getCode() == StatusCode::NotSupported
            ? hipErrorNoBinaryForGpu
        : object.getStatus().getCode() == StatusCode::ResourceExhausted
            ? hipErrorOutOfMemory
            : hipErrorInvalidImage;
    return setError(error,
                    "cannot load a module: " + object.getStatus().getMessage());
  }
  auto *created = new ihipModule_t;
  created->object = *object;
  *module = getModules().add(created);
  return hipSuccess;
}

TESSERA_HIP hipError_t hipModuleLoadData(hipModule_t *module,
                                         const void *image) {
  if (!module || !image)
    return setError(hipErrorInvalidValue);
  *module = nullptr;
  size_t size = getElfSize(image);
  if (!size)
    return setError(hipErrorInvalidImage,
                    "cannot load a module: not an AMDGPU ELF file");
  return loadModule(module, image, size);
}
TESSERA_HIP hipError_t hipModuleLoadDataEx(hipModule_t *module,
                                           const void *image, unsigned,
                                           hipJitOption *, void **) {
  return hipModuleLoadData(module, image);
}
TESSERA_HIP hipError_t hipModuleLoad(hipModule_t *module, const char *path) {
  if (!module || !path)
    return setError(hipErrorInvalidValue);
  *module = nullptr;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return setError(hipErrorFileNotFound);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  return loadModule(module, bytes.data(), bytes.size());
}
TESSERA_HIP hipError_t hipModuleUnload(hipModule_t module) {
  if (!getModules().has(module))
    return setError(hipErrorInvalidHandle);
  for (ihipModuleSymbol_t *function : module->functions)
    getFunctions().remove(function);
  getModules().remove(module);
  return hipSuccess;
}

TESSERA_HIP hipError_t hipModuleGetFunction(hipFunction_t *function,
                                            hipModule_t module,
                                            const char *name) {
  if (!function || !name)
    return setError(hipErrorInvalidValue);
  *function = nullptr;
  if (!getModules().has(module))
    return setError(hipErrorInvalidHandle);
  const KernelImage *kernel = module->object->findKernel(name);
  if (!kernel)
    return setError(hipErrorNotFound,
                    "the module has no kernel '" + std::string(name) + "'");
  std::lock_guard lock(module->mutex);
  for (ihipModuleSymbol_t *known : module->functions)
    if (known->kernel == kernel)
      *function = known;
  if (!*function) {
    *function = getFunctions().add(new ihipModuleSymbol_t{module, kernel});
    module->functions.push_back(*function);
  }
  return hipSuccess;
}

TESSERA_HIP hipError_t hipModuleGetGlobal(hipDeviceptr_t *pointer,
                                          size_t *bytes, hipModule_t module,
                                          const char *name) {
  if (!name || !getModules().has(module))
    return setError(name ? hipErrorInvalidHandle : hipErrorInvalidValue);
  const GlobalImage *global = module->object->findGlobal(name);
  if (!global)
    return setError(hipErrorNotFound);
  if (pointer)
    *pointer = reinterpret_cast<hipDeviceptr_t>(global->address);
  if (bytes)
    *bytes = global->bytes;
  return hipSuccess;
}

TESSERA_HIP hipError_t hipFuncGetAttribute(int *value,
                                           hipFunction_attribute attribute,
                                           hipFunction_t function) {
  if (!value)
    return setError(hipErrorInvalidValue);
  if (!getFunctions().has(function))
    return setError(hipErrorInvalidHandle);
  const KernelImage &kernel = *function->kernel;
  switch (attribute) {
  case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *value = static_cast<int>(kernel.maxWorkgroupSize);
    return hipSuccess;
  case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    *value = static_cast<int>(kernel.descriptor.ldsBytes);
    return hipSuccess;
  case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    *value = static_cast<int>(kernel.descriptor.scratchBytes);
    return hipSuccess;
  case HIP_FUNC_ATTRIBUTE_NUM_REGS:
    *value = static_cast<int>(kernel.vgprCount);
    return hipSuccess;
  default:
    *value = 0;
    return setError(hipErrorInvalidValue);
  }
}

/// Explicit arguments, from either of HIP's two ways to give them.
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
  if (!buffer && size)
    return setError(hipErrorInvalidValue);
  std::memcpy(bytes.data(), buffer, std::min(size, bytes.size()));
  return hipSuccess;
}

static hipError_t checkConfiguration(const Launch &launch) {
  uint64_t groupItems = 1;
  for (unsigned d = 0; d < 3; ++d) {
    if (!launch.items[d] || !launch.groupSize[d] || launch.groupSize[d] > 1024)
      return setError(hipErrorInvalidConfiguration,
                      "a grid or block dimension is out of range");
    groupItems *= launch.groupSize[d];
  }
  if (groupItems > std::min(1024u, launch.kernel.maxWorkgroupSize))
    return setError(hipErrorInvalidConfiguration,
                    "kernel '" + launch.kernel.name + "' allows " +
                        std::to_string(launch.kernel.maxWorkgroupSize) +
                        " threads a block, not " + std::to_string(groupItems));
  uint32_t available = launch.chip.getTarget().ldsBytes;
  if (launch.getLdsBytes() > available)
    return setError(hipErrorInvalidConfiguration,
                    "kernel '" + launch.kernel.name + "' asks for " +
                        std::to_string(launch.getLdsBytes()) +
                        " bytes of LDS, but there are " +
                        std::to_string(available));
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

static hipError_t launchKernel(hipFunction_t function,
                               std::array<uint32_t, 3> items,
                               std::array<uint32_t, 3> block, size_t dynamicLds,
                               hipStream_t stream, void **params,
                               void **extra) {
  Device *device = Device::get();
  if (!device)
    return setError(hipErrorNoDevice);
  if (!function || !getFunctions().has(function))
    return setError(hipErrorInvalidHandle);
  if (hipError_t error = checkStream(stream))
    return error;
  const KernelImage &kernel = *function->kernel;
  unsigned lanes =
      !device->chip.isGfx9() && kernel.descriptor.isWave32() ? 32 : 64;
  Launch launch{kernel,
                function->module->getProgram(device->chip, lanes),
                device->chip,
                items,
                block,
                static_cast<uint32_t>(std::min<size_t>(dynamicLds, 1u << 30)),
                {}};
  if (hipError_t error = checkConfiguration(launch))
    return error;
  if (hipError_t error =
          collectArguments(kernel, params, extra, launch.arguments))
    return error;
  LaunchOutcome outcome = run(launch, device->memory, device->settings);
  if (outcome.fault == FaultKind::None)
    return hipSuccess;
  return setError(toHipError(outcome.fault), outcome.message);
}

TESSERA_HIP hipError_t hipModuleLaunchKernel(
    hipFunction_t function, unsigned gridX, unsigned gridY, unsigned gridZ,
    unsigned blockX, unsigned blockY, unsigned blockZ, unsigned dynamicLds,
    hipStream_t stream, void **params, void **extra) {
  std::array<uint32_t, 3> items;
  const unsigned grid[] = {gridX, gridY, gridZ};
  const unsigned block[] = {blockX, blockY, blockZ};
  for (unsigned d = 0; d < 3; ++d) {
    uint64_t count = uint64_t(grid[d]) * block[d];
    if (count >= kMaxGridItems)
      return setError(hipErrorInvalidConfiguration);
    items[d] = static_cast<uint32_t>(count);
  }
  return launchKernel(function, items, {blockX, blockY, blockZ}, dynamicLds,
                      stream, params, extra);
}

TESSERA_HIP hipError_t hipExtModuleLaunchKernel(
    hipFunction_t function, uint32_t itemsX, uint32_t itemsY, uint32_t itemsZ,
    uint32_t blockX, uint32_t blockY, uint32_t blockZ, size_t dynamicLds,
    hipStream_t stream, void **params, void **extra, hipEvent_t startEvent,
    hipEvent_t stopEvent, uint32_t) {
  for (hipEvent_t event : {startEvent, stopEvent})
    if (event && !isEvent(event))
      return setError(hipErrorInvalidHandle);
  if (startEvent)
    recordEvent(startEvent);
  hipError_t error =
      launchKernel(function, {itemsX, itemsY, itemsZ}, {blockX, blockY, blockZ},
                   dynamicLds, stream, params, extra);
  if (stopEvent)
    recordEvent(stopEvent);
  return error;
}

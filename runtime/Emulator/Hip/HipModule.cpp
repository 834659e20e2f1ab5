//===- HipModule.cpp - Modules of the emulated HIP ------------------------===//

#include "runtime/Emulator/Decode/OffloadBundle.h"
#include "runtime/Emulator/Hip/Handles.h"
#include "runtime/Emulator/Hip/Module.h"

#include <span>

using namespace tessera;
using namespace tessera::emulator;

const Program &ihipModule_t::getProgram(const Chip &chip, unsigned lanes) {
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

static HandleSet<ihipModule_t> &getModules() {
  static auto *modules = new HandleSet<ihipModule_t>;
  return *modules;
}
static HandleSet<ihipModuleSymbol_t> &getFunctions() {
  static auto *functions = new HandleSet<ihipModuleSymbol_t>;
  return *functions;
}

bool tessera::emulator::isFunction(hipFunction_t function) {
  return function && getFunctions().has(function);
}

static hipError_t refuse(const Status &status) {
  hipError_t error = hipErrorInvalidImage;
  if (status.getCode() == StatusCode::NotSupported)
    error = hipErrorNoBinaryForGpu;
  else if (status.getCode() == StatusCode::ResourceExhausted)
    error = hipErrorOutOfMemory;
  return setError(error, "cannot load a module: " + status.getMessage());
}

/// `image` is a pointer or a span, as for selectCodeObject().
template <typename Image>
static hipError_t loadModule(hipModule_t *module, Image image) {
  Device *device = Device::get();
  if (!device)
    return setError(hipErrorNoDevice);
  auto bytes = selectCodeObject(image, device->chip);
  if (!bytes)
    return refuse(bytes.getStatus());
  auto object = CodeObject::load(bytes->data(), bytes->size(), device->chip,
                                 device->memory);
  if (!object)
    return refuse(object.getStatus());
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
  return loadModule(module, image);
}
hipError_t hip::loadModuleFile(hipModule_t *module, const std::string &bytes) {
  return loadModule(
      module,
      std::span(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
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

/// Called by the library's engine. Here every launch waits for the previous one
/// anyway.
TESSERA_HIP hipError_t tesseraLaunchDependent(
    hipFunction_t function, unsigned gridX, unsigned gridY, unsigned gridZ,
    unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
    hipStream_t stream, void **params, void **extra) {
  return hipModuleLaunchKernel(function, gridX, gridY, gridZ, blockX, blockY,
                               blockZ, sharedBytes, stream, params, extra);
}

/// Called by the library's engine for kernels that take tensor maps. None of
/// the emulated chips has a tensor memory accelerator.
TESSERA_HIP hipError_t tesseraEncodeTensorMap(void *, const void *,
                                              const void *) {
  return setError(hipErrorNotSupported);
}

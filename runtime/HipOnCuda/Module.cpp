//===- Module.cpp - Modules and functions of HIP over CUDA ----------------===//
//
// Code objects are PTX text, which ends with a zero, cubins, and NVIDIA's fat
// binaries: everything that the driver accepts.
//
//===----------------------------------------------------------------------===//

#include "runtime/HipOnCuda/Driver.h"

#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

using namespace tessera::cuda;

namespace {
/// The modules that were loaded here, each with the functions that were looked
/// up in it, so that a stale module is an error and errors can name a function.
struct Modules {
  std::mutex mutex;
  std::unordered_map<hipModule_t, std::vector<hipFunction_t>> loaded;
  std::unordered_map<hipFunction_t, std::string> names;
};
} // namespace

static Modules &getModules() {
  static auto *modules = new Modules;
  return *modules;
}

static bool isLoaded(hipModule_t module) {
  Modules &modules = getModules();
  std::lock_guard lock(modules.mutex);
  return modules.loaded.contains(module);
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Whether the code is for AMD: the driver would only say that it is no code.
static bool isForAmd(const void *image) {
  constexpr std::string_view kElf = "\177ELF";
  constexpr size_t kMachineOffset = 18;
  constexpr uint16_t kAmdgpu = 224;
  const auto *bytes = static_cast<const char *>(image);
  if (std::strncmp(bytes, "__CLANG_OFFLOAD_BUNDLE__", 24) == 0 ||
      std::strncmp(bytes, "CCOB", 4) == 0)
    return true;
  if (std::strncmp(bytes, kElf.data(), kElf.size()) != 0)
    return false;
  uint16_t machine;
  std::memcpy(&machine, bytes + kMachineOffset, sizeof machine);
  return machine == kAmdgpu;
}

/// Loads `image`. If the driver's compiler rejects PTX, its log becomes part of
/// the error.
static hipError_t loadModule(hipModule_t *module, const void *image) {
  const Driver *driver;
  if (hipError_t error = enter(driver))
    return error;
  if (isForAmd(image))
    return setError(hipErrorNoBinaryForGpu,
                    "the code is for AMD's chips, but the device is NVIDIA's");
  char log[4096] = "";
  int options[] = {kJitErrorLog, kJitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log - 1)};
  CudaError error =
      driver->cuModuleLoadDataEx(module, image, 2, options, values);
  if (error != CudaError::Success) {
    std::string what = "cuModuleLoadDataEx";
    if (log[0])
      what += std::string(": ") + log;
    return report(*driver, error, what.c_str());
  }
  Modules &modules = getModules();
  std::lock_guard lock(modules.mutex);
  modules.loaded[*module];
  return hipSuccess;
}

TESSERA_HIP hipError_t hipModuleLoadData(hipModule_t *module,
                                         const void *image) {
  if (!module || !image)
    return setError(hipErrorInvalidValue);
  *module = nullptr;
  return loadModule(module, image);
}
hipError_t tessera::hip::loadModuleFile(hipModule_t *module,
                                        const std::string &bytes) {
  return loadModule(module, bytes.c_str());
}
TESSERA_HIP hipError_t hipModuleUnload(hipModule_t module) {
  Modules &modules = getModules();
  {
    std::lock_guard lock(modules.mutex);
    auto found = modules.loaded.find(module);
    if (found == modules.loaded.end())
      return setError(hipErrorInvalidHandle);
    for (hipFunction_t function : found->second)
      modules.names.erase(function);
    modules.loaded.erase(found);
  }
  return CALL_CUDA(cuModuleUnload, module);
}

TESSERA_HIP hipError_t hipModuleGetGlobal(hipDeviceptr_t *pointer,
                                          size_t *bytes, hipModule_t module,
                                          const char *name) {
  if (!name || !isLoaded(module))
    return setError(name ? hipErrorInvalidHandle : hipErrorInvalidValue);
  return CALL_CUDA(cuModuleGetGlobal, pointer, bytes, module, name);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Lets launches ask for all the shared memory that the device has for a block.
/// Without it the limit is 48 KiB. The limit is raised here and not at the
/// launch, because threads that launch the same function must not lower each
/// other's limit.
static hipError_t raiseSharedLimit(hipFunction_t function) {
  int device = 0, most = 0, own = 0;
  if (hipError_t error = getCurrentDevice(&device))
    return error;
  if (hipError_t error = CALL_CUDA(cuDeviceGetAttribute, &most,
                                   kAttributeSharedPerBlockOptin, device))
    return error;
  if (hipError_t error =
          CALL_CUDA(cuFuncGetAttribute, &own, kFunctionSharedBytes, function))
    return error;
  return CALL_CUDA(cuFuncSetAttribute, function, kFunctionMaxDynamicShared,
                   most - own);
}

TESSERA_HIP hipError_t hipModuleGetFunction(hipFunction_t *function,
                                            hipModule_t module,
                                            const char *name) {
  if (!function || !name)
    return setError(hipErrorInvalidValue);
  *function = nullptr;
  if (!isLoaded(module))
    return setError(hipErrorInvalidHandle);
  hipFunction_t found = nullptr;
  if (hipError_t error = CALL_CUDA(cuModuleGetFunction, &found, module, name))
    return error == hipErrorNotFound
               ? setError(error, std::string("the module has no kernel '") +
                                     name + "'")
               : error;
  Modules &modules = getModules();
  std::lock_guard lock(modules.mutex);
  // This needs the lock: a thread that finds the name there may launch at once.
  if (modules.names.emplace(found, name).second) {
    modules.loaded[module].push_back(found);
    if (hipError_t error = raiseSharedLimit(found))
      return error;
  }
  *function = found;
  return hipSuccess;
}

TESSERA_HIP const char *hipKernelNameRef(const hipFunction_t function) {
  Modules &modules = getModules();
  std::lock_guard lock(modules.mutex);
  auto found = modules.names.find(function);
  return found == modules.names.end() ? nullptr : found->second.c_str();
}

// HIP's attributes have CUDA's numbers.
TESSERA_HIP hipError_t hipFuncGetAttribute(int *value,
                                           hipFunction_attribute attribute,
                                           hipFunction_t function) {
  if (!value)
    return setError(hipErrorInvalidValue);
  *value = 0;
  return function ? CALL_CUDA(cuFuncGetAttribute, value, attribute, function)
                  : setError(hipErrorInvalidHandle);
}

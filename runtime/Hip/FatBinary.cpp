//===- FatBinary.cpp - Code that came inside the program ------------------===//
//
// clang adds to each translation unit with device code a constructor that
// registers its bundle of code objects, its kernels and its variables before
// main(). They are only recorded then, and loaded at their first use: a program
// without code for this device fails at its first launch, with an error that it
// can handle.
//
//===----------------------------------------------------------------------===//

#include "runtime/Hip/FatBinary.h"

#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

using namespace tessera::hip;

static constexpr uint32_t kWrapperMagic = 0x48495046; // "HIPF"

namespace {
/// The struct that clang's constructor passes (CGCUDANV.cpp,
/// makeModuleCtorFunction).
struct Wrapper {
  uint32_t magic;
  uint32_t version;
  const void *bundle;
  void *unused;
};

/// A variable in managed memory; the code object has only a pointer to it,
/// which has the variable's name.
struct ManagedVariable {
  std::string name;
  void *memory;
};

struct FatBinary {
  const void *bundle = nullptr;
  hipModule_t module = nullptr; ///< Loaded at the first use.
  std::vector<ManagedVariable> managed;
};

struct Symbol {
  FatBinary *owner;
  std::string name;
};

/// Everything that was registered. Constructors of shared objects that dlopen()
/// loads may run while other threads launch.
struct Registry {
  std::mutex mutex;
  std::unordered_map<const void *, Symbol> functions;
  std::unordered_map<const void *, Symbol> variables;
};

struct CallConfiguration {
  dim3 grid, block;
  size_t dynamicLds;
  hipStream_t stream;
};
} // namespace

static Registry &getRegistry() {
  static auto *registry = new Registry;
  return *registry;
}

static thread_local std::vector<CallConfiguration> callConfigurations;

TESSERA_HIP void **__hipRegisterFatBinary(const void *data) {
  auto *binary = new FatBinary;
  const auto *wrapper = static_cast<const Wrapper *>(data);
  if (wrapper && wrapper->magic == kWrapperMagic)
    binary->bundle = wrapper->bundle;
  return reinterpret_cast<void **>(binary);
}

TESSERA_HIP void __hipRegisterFunction(void **handle, const void *stub, char *,
                                       const char *name, unsigned, uint3 *,
                                       uint3 *, dim3 *, dim3 *, int *) {
  Registry &registry = getRegistry();
  std::lock_guard lock(registry.mutex);
  registry.functions[stub] = {reinterpret_cast<FatBinary *>(handle), name};
}

TESSERA_HIP void __hipRegisterVar(void **handle, void *shadow, char *,
                                  const char *name, int, size_t, int, int) {
  Registry &registry = getRegistry();
  std::lock_guard lock(registry.mutex);
  registry.variables[shadow] = {reinterpret_cast<FatBinary *>(handle), name};
}

// The host reads the variable through `*pointer` from main() on. Without a
// device it finds at least the initial value there.
TESSERA_HIP void __hipRegisterManagedVar(void **handle, void **pointer,
                                         void *initial, const char *name,
                                         size_t bytes, unsigned) {
  void *memory = nullptr;
  bool isThere =
      hipMallocManaged(&memory, bytes, hipMemAttachGlobal) == hipSuccess;
  *pointer = isThere ? memory : initial;
  if (!isThere)
    return;
  std::memcpy(memory, initial, bytes);
  Registry &registry = getRegistry();
  std::lock_guard lock(registry.mutex);
  reinterpret_cast<FatBinary *>(handle)->managed.push_back({name, memory});
}

TESSERA_HIP void __hipUnregisterFatBinary(void **handle) {
  auto *binary = reinterpret_cast<FatBinary *>(handle);
  Registry &registry = getRegistry();
  std::lock_guard lock(registry.mutex);
  auto isOurs = [&](const auto &entry) { return entry.second.owner == binary; };
  std::erase_if(registry.functions, isOurs);
  std::erase_if(registry.variables, isOurs);
  if (binary->module)
    (void)hipModuleUnload(binary->module);
  for (const ManagedVariable &variable : binary->managed)
    (void)hipFree(variable.memory);
  delete binary;
}

/// Writes the address of the variable into the module.
static hipError_t setManaged(const FatBinary &binary,
                             const ManagedVariable &variable) {
  hipDeviceptr_t address = nullptr;
  if (hipError_t error = hipModuleGetGlobal(&address, nullptr, binary.module,
                                            variable.name.c_str()))
    return error;
  return hipMemcpy(address, &variable.memory, sizeof variable.memory,
                   hipMemcpyHostToDevice);
}

/// Loads the code unless it is loaded; the caller holds the registry's lock.
static hipError_t load(FatBinary &binary) {
  if (binary.module)
    return hipSuccess;
  if (!binary.bundle)
    return setError(hipErrorInvalidImage,
                    "the program's device code has an unknown wrapper");
  if (hipError_t error = hipModuleLoadData(&binary.module, binary.bundle))
    return error;
  for (const ManagedVariable &variable : binary.managed)
    if (hipError_t error = setManaged(binary, variable))
      return error;
  return hipSuccess;
}

hipError_t tessera::hip::findRegistered(const void *stub,
                                        hipFunction_t *function) {
  Registry &registry = getRegistry();
  std::lock_guard lock(registry.mutex);
  auto found = registry.functions.find(stub);
  if (found == registry.functions.end())
    return setError(hipErrorInvalidDeviceFunction,
                    "no kernel was registered under this address");
  const Symbol &symbol = found->second;
  if (hipError_t error = load(*symbol.owner))
    return error;
  return hipModuleGetFunction(function, symbol.owner->module,
                              symbol.name.c_str());
}

/// The host's symbol of a managed variable is already the memory itself.
static hipError_t findManaged(const void *variable, void **address,
                              size_t *bytes) {
  *address = const_cast<void *>(variable);
  hipPointerAttribute_t attributes;
  if (hipPointerGetAttributes(&attributes, variable) || !attributes.isManaged)
    return setError(hipErrorInvalidSymbol,
                    "no variable was registered under this address");
  hipDeviceptr_t begin = nullptr;
  if (hipError_t error = hipMemGetAddressRange(&begin, bytes, *address))
    return error;
  *bytes -= static_cast<size_t>(static_cast<const char *>(variable) -
                                static_cast<const char *>(begin));
  return hipSuccess;
}

hipError_t tessera::hip::findRegisteredVariable(const void *shadow,
                                                void **address, size_t *bytes) {
  Registry &registry = getRegistry();
  std::lock_guard lock(registry.mutex);
  auto found = registry.variables.find(shadow);
  if (found == registry.variables.end())
    return findManaged(shadow, address, bytes);
  const Symbol &symbol = found->second;
  if (hipError_t error = load(*symbol.owner))
    return error;
  if (hipModuleGetGlobal(address, bytes, symbol.owner->module,
                         symbol.name.c_str()))
    return setError(hipErrorInvalidSymbol,
                    "the device code has no variable '" + symbol.name + "'");
  return hipSuccess;
}

// kernel<<<grid, block>>>(...) is compiled to a push, a call of the stub, and
// in the stub a pop and hipLaunchKernel.
TESSERA_HIP hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block,
                                                  size_t dynamicLds,
                                                  hipStream_t stream) {
  callConfigurations.push_back({grid, block, dynamicLds, stream});
  return hipSuccess;
}
TESSERA_HIP hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block,
                                                 size_t *dynamicLds,
                                                 hipStream_t *stream) {
  if (callConfigurations.empty())
    return setError(hipErrorMissingConfiguration);
  CallConfiguration &top = callConfigurations.back();
  *grid = top.grid;
  *block = top.block;
  *dynamicLds = top.dynamicLds;
  *stream = top.stream;
  callConfigurations.pop_back();
  return hipSuccess;
}

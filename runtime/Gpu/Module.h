//===- Module.h - A loaded code object -------------------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_GPU_MODULE_H
#define TESSERA_RUNTIME_GPU_MODULE_H

#include "runtime/Gpu/GpuResource.h"

#include <span>

namespace tessera {

/// Owns a module of the current device. Its functions live as long as it does.
class Module {
public:
  static ErrorOr<Module> load(const GpuApi &gpu,
                              std::span<const char> codeObject) {
    hipModule_t module = nullptr;
    // HIP reads the size from the object's header, and would read past an empty
    // one.
    if (codeObject.empty())
      return invalidArgument("the code object is empty");
    if (Status status =
            gpu.checkOwn(gpu.hipModuleLoadData(&module, codeObject.data()),
                         "hipModuleLoadData");
        !status.isOk())
      return status;
    return Module(gpu, module);
  }

  hipModule_t get() const { return handle.get(); }

  ErrorOr<hipFunction_t> getFunction(const std::string &symbol) const {
    const GpuApi &gpu = handle.getGpu();
    hipFunction_t function = nullptr;
    if (Status status = gpu.checkOwn(
            gpu.hipModuleGetFunction(&function, get(), symbol.c_str()),
            "hipModuleGetFunction");
        !status.isOk())
      return status.withContext("kernel '" + symbol + "'");
    return function;
  }

private:
  Module(const GpuApi &gpu, hipModule_t module) : handle(gpu, module) {}
  GpuResource<hipModule_t, &GpuApi::hipModuleUnload> handle;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_GPU_MODULE_H

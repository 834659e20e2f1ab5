//===- TorchApi.cpp - Finds the functions of PyTorch ----------------------===//

#include "capi/torch/TorchApi.h"

#include <dlfcn.h>

#include <optional>

using namespace tessera::torch;

/// A library that the process has loaded already, or null.
static void *findLoaded(const char *name) {
  return dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
}

static std::optional<TorchApi> find() {
  void *library = findLoaded("libtorch_cpu.so");
  if (!library)
    return std::nullopt;
  TorchApi api;
#define TORCH_SYMBOL(name, parameters)                                         \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, #name));      \
  if (!api.name)                                                               \
    return std::nullopt;
#include "capi/torch/TorchSymbols.def"
  // A PyTorch for AMD's GPUs has the function under the same name.
  for (const char *name : {"libtorch_cuda.so", "libtorch_hip.so"})
    if (void *gpu = findLoaded(name))
      api.getCurrentStream = reinterpret_cast<decltype(api.getCurrentStream)>(
          dlsym(gpu, "aoti_torch_get_current_cuda_stream"));
  return api;
}

const TorchApi *TorchApi::get() {
  static const std::optional<TorchApi> api = find();
  return api ? &*api : nullptr;
}

//===- NullHip.cpp - A device that does nothing ---------------------------===//
//
// A HIP runtime whose functions succeed at once, so that the cost of a call of
// the library is the library's own. Its chip is gfx942, or the one that
// NULL_HIP_CHIP names.
//
//===----------------------------------------------------------------------===//

#include <cstdlib>
#include <cstring>

#include <hip/hip_runtime_api.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT hipError_t hipGetDeviceCount(int *count) {
  *count = 1;
  return hipSuccess;
}
EXPORT hipError_t hipGetDevice(int *device) {
  *device = 0;
  return hipSuccess;
}
EXPORT hipError_t hipGetDeviceProperties(hipDeviceProp_t *properties, int) {
  std::memset(properties, 0, sizeof *properties);
  const char *chip = std::getenv("NULL_HIP_CHIP");
  std::strncpy(properties->gcnArchName, chip ? chip : "gfx942",
               sizeof properties->gcnArchName - 1);
  return hipSuccess;
}
EXPORT const char *hipGetErrorString(hipError_t) { return "no error"; }

EXPORT hipError_t hipMalloc(void **memory, size_t bytes) {
  *memory = std::malloc(bytes);
  return *memory ? hipSuccess : hipErrorOutOfMemory;
}
EXPORT hipError_t hipFree(void *memory) {
  std::free(memory);
  return hipSuccess;
}

/// Modules and functions are only handles.
EXPORT hipError_t hipModuleLoadData(hipModule_t *module, const void *) {
  *module = reinterpret_cast<hipModule_t>(8);
  return hipSuccess;
}
EXPORT hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t,
                                       const char *) {
  *function = reinterpret_cast<hipFunction_t>(8);
  return hipSuccess;
}

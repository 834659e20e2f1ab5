//===- Small.cpp - Entry points that every device answers alike -----------===//
//
// Other names of other functions, and hints that have no effect here.
//
//===----------------------------------------------------------------------===//

#include "runtime/Hip/Export.h"

#include <filesystem>
#include <fstream>
#include <iterator>

using namespace tessera::hip;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TESSERA_HIP hipError_t hipMemAllocPitch(hipDeviceptr_t *pointer, size_t *pitch,
                                        size_t width, size_t height, unsigned) {
  return hipMallocPitch(pointer, pitch, width, height);
}
TESSERA_HIP hipError_t hipMalloc3D(hipPitchedPtr *pointer, hipExtent extent) {
  if (!pointer)
    return setError(hipErrorInvalidValue);
  if (extent.depth && extent.height > SIZE_MAX / extent.depth)
    return setError(hipErrorOutOfMemory);
  pointer->xsize = extent.width;
  pointer->ysize = extent.height;
  return hipMallocPitch(&pointer->ptr, &pointer->pitch, extent.width,
                        extent.height * extent.depth);
}

TESSERA_HIP hipError_t
hipDrvPointerGetAttributes(unsigned count, hipPointer_attribute *attributes,
                           void **data, hipDeviceptr_t pointer) {
  if (!attributes || !data)
    return setError(hipErrorInvalidValue);
  for (unsigned i = 0; i < count; ++i)
    if (hipError_t error =
            hipPointerGetAttribute(data[i], attributes[i], pointer))
      return error;
  return hipSuccess;
}

TESSERA_HIP hipError_t hipMemPtrGetInfo(void *pointer, size_t *bytes) {
  if (!bytes)
    return setError(hipErrorInvalidValue);
  return hipMemGetAddressRange(nullptr, bytes, pointer);
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

// The options are those of AMD's compiler, which is not used here.
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
  // Reading a folder would throw an exception.
  std::error_code error;
  if (!file || !std::filesystem::is_regular_file(path, error))
    return setError(hipErrorFileNotFound,
                    std::string("'") + path + "' is no file that can be read");
  return loadModuleFile(module, {std::istreambuf_iterator<char>(file), {}});
}

//===----------------------------------------------------------------------===//
// Hints
//===----------------------------------------------------------------------===//

// The sizes of caches and of LDS banks cannot be configured.
TESSERA_HIP hipError_t hipDeviceGetCacheConfig(hipFuncCache_t *config) {
  if (!config)
    return setError(hipErrorInvalidValue);
  *config = hipFuncCachePreferNone;
  return hipInit(0);
}
TESSERA_HIP hipError_t hipDeviceSetCacheConfig(hipFuncCache_t) {
  return hipInit(0);
}
TESSERA_HIP hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig *config) {
  if (!config)
    return setError(hipErrorInvalidValue);
  *config = hipSharedMemBankSizeFourByte;
  return hipInit(0);
}
TESSERA_HIP hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig) {
  return hipInit(0);
}

TESSERA_HIP hipError_t hipCtxGetCacheConfig(hipFuncCache_t *config) {
  return hipDeviceGetCacheConfig(config);
}
TESSERA_HIP hipError_t hipCtxSetCacheConfig(hipFuncCache_t config) {
  return hipDeviceSetCacheConfig(config);
}
TESSERA_HIP hipError_t hipCtxGetSharedMemConfig(hipSharedMemConfig *config) {
  return hipDeviceGetSharedMemConfig(config);
}
TESSERA_HIP hipError_t hipCtxSetSharedMemConfig(hipSharedMemConfig config) {
  return hipDeviceSetSharedMemConfig(config);
}
TESSERA_HIP hipError_t hipFuncSetCacheConfig(const void *, hipFuncCache_t) {
  return hipSuccess;
}
TESSERA_HIP hipError_t hipFuncSetSharedMemConfig(const void *,
                                                 hipSharedMemConfig) {
  return hipSuccess;
}

// There is no profiler to start.
TESSERA_HIP hipError_t hipProfilerStart() { return hipInit(0); }
TESSERA_HIP hipError_t hipProfilerStop() { return hipInit(0); }

TESSERA_HIP hipError_t hipCtxGetApiVersion(hipCtx_t, int *version) {
  return hipDriverGetVersion(version);
}

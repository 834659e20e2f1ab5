//===- Stubs.cpp - Kernels by their address on the host -------------------===//
//
// kernel<<<...>>> and HIP's runtime interface identify a kernel by the address
// of a function of the program. The kernel is looked up here and passed to the
// functions of the module interface. Launch functions that are variants of
// others are here, too.
//
//===----------------------------------------------------------------------===//

#include "runtime/Hip/FatBinary.h"
#include "runtime/Hip/Launch.h"

using namespace tessera::hip;

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// A launch between two events, either of which may be null.
static hipError_t launchTimed(const LaunchRequest &request, hipEvent_t begin,
                              hipEvent_t end) {
  if (begin)
    if (hipError_t error = hipEventRecord(begin, request.stream))
      return error;
  hipError_t error = launchKernel(request);
  if (error == hipSuccess && end)
    return hipEventRecord(end, request.stream);
  return error;
}

TESSERA_HIP hipError_t hipExtModuleLaunchKernel(
    hipFunction_t function, uint32_t itemsX, uint32_t itemsY, uint32_t itemsZ,
    uint32_t blockX, uint32_t blockY, uint32_t blockZ, size_t dynamicLds,
    hipStream_t stream, void **params, void **extra, hipEvent_t begin,
    hipEvent_t end, uint32_t) {
  return launchTimed({function,
                      {itemsX, itemsY, itemsZ},
                      {blockX, blockY, blockZ},
                      dynamicLds,
                      stream,
                      params,
                      extra},
                     begin, end);
}

/// Fills a launch request for the kernel that the host knows by `stub`.
static hipError_t fillRequest(const void *stub, dim3 grid, dim3 block,
                              void **arguments, size_t dynamicLds,
                              hipStream_t stream, LaunchRequest &request) {
  request = {nullptr,
             {uint64_t(grid.x) * block.x, uint64_t(grid.y) * block.y,
              uint64_t(grid.z) * block.z},
             {block.x, block.y, block.z},
             dynamicLds,
             stream,
             arguments};
  return findRegistered(stub, &request.function);
}

TESSERA_HIP hipError_t hipLaunchKernel(const void *stub, dim3 grid, dim3 block,
                                       void **arguments, size_t dynamicLds,
                                       hipStream_t stream) {
  LaunchRequest request;
  if (hipError_t error = fillRequest(stub, grid, block, arguments, dynamicLds,
                                     stream, request))
    return error;
  return launchKernel(request);
}
TESSERA_HIP_ALIAS(hipLaunchKernel_spt, hipLaunchKernel,
                  (const void *, dim3, dim3, void **, size_t, hipStream_t));

TESSERA_HIP hipError_t hipExtLaunchKernel(const void *stub, dim3 grid,
                                          dim3 block, void **arguments,
                                          size_t dynamicLds, hipStream_t stream,
                                          hipEvent_t begin, hipEvent_t end,
                                          int) {
  LaunchRequest request;
  if (hipError_t error = fillRequest(stub, grid, block, arguments, dynamicLds,
                                     stream, request))
    return error;
  return launchTimed(request, begin, end);
}

TESSERA_HIP hipError_t hipLaunchCooperativeKernel(const void *stub, dim3 grid,
                                                  dim3 block, void **arguments,
                                                  unsigned dynamicLds,
                                                  hipStream_t stream) {
  LaunchRequest request;
  if (hipError_t error = fillRequest(stub, grid, block, arguments, dynamicLds,
                                     stream, request))
    return error;
  request.isCooperative = true;
  return launchKernel(request);
}
TESSERA_HIP_ALIAS(hipLaunchCooperativeKernel_spt, hipLaunchCooperativeKernel,
                  (const void *, dim3, dim3, void **, uint32_t, hipStream_t));

// C++ programs call these names: hip_ext.h declares the two outside extern "C".
TESSERA_HIP hipError_t hipExtModuleLaunchKernelCxx(
    hipFunction_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
    size_t, hipStream_t, void **, void **, hipEvent_t, hipEvent_t,
    uint32_t) __asm__("_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_"
                      "tjjjjjjmP12ihip"
                      "Stream_tPPvS4_P11ihipEvent_tS6_j")
    __attribute__((alias("hipExtModuleLaunchKernel")));
TESSERA_HIP hipError_t hipHccModuleLaunchKernelCxx(
    hipFunction_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
    size_t, hipStream_t, void **, void **, hipEvent_t,
    hipEvent_t) __asm__("_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_"
                        "tjjjjjjmP12ihip"
                        "Stream_tPPvS4_P11ihipEvent_tS6_")
    __attribute__((alias("hipExtModuleLaunchKernel")));

//===----------------------------------------------------------------------===//
// Attributes of a kernel
//===----------------------------------------------------------------------===//

TESSERA_HIP hipError_t hipFuncGetAttributes(hipFuncAttributes *attributes,
                                            const void *stub) {
  if (!attributes)
    return setError(hipErrorInvalidValue);
  hipFunction_t function;
  if (hipError_t error = findRegistered(stub, &function))
    return error;
  hipError_t failure = hipSuccess;
  auto get = [&](hipFunction_attribute attribute) {
    int value = 0;
    if (hipError_t error = hipFuncGetAttribute(&value, attribute, function))
      failure = error;
    return value;
  };
  auto getSize = [&](hipFunction_attribute attribute) {
    return static_cast<size_t>(get(attribute));
  };
  *attributes = {};
  attributes->binaryVersion = get(HIP_FUNC_ATTRIBUTE_BINARY_VERSION);
  attributes->ptxVersion = get(HIP_FUNC_ATTRIBUTE_PTX_VERSION);
  attributes->cacheModeCA = get(HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA);
  attributes->constSizeBytes = getSize(HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
  attributes->localSizeBytes = getSize(HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  attributes->sharedSizeBytes = getSize(HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  attributes->maxDynamicSharedSizeBytes =
      get(HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  attributes->maxThreadsPerBlock =
      get(HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  attributes->numRegs = get(HIP_FUNC_ATTRIBUTE_NUM_REGS);
  attributes->preferredShmemCarveout =
      get(HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  return failure;
}

TESSERA_HIP const char *hipKernelNameRefByPtr(const void *stub, hipStream_t) {
  hipFunction_t function;
  return findRegistered(stub, &function) ? nullptr : hipKernelNameRef(function);
}

TESSERA_HIP hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(
    int *groups, const void *stub, int block, size_t dynamicLds) {
  hipFunction_t function;
  if (hipError_t error = findRegistered(stub, &function))
    return error;
  return hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(groups, function,
                                                            block, dynamicLds);
}
TESSERA_HIP hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *groups, const void *stub, int block, size_t dynamicLds, unsigned) {
  return hipOccupancyMaxActiveBlocksPerMultiprocessor(groups, stub, block,
                                                      dynamicLds);
}
TESSERA_HIP hipError_t hipOccupancyMaxPotentialBlockSize(int *grid, int *block,
                                                         const void *stub,
                                                         size_t dynamicLds,
                                                         int limit) {
  hipFunction_t function;
  if (hipError_t error = findRegistered(stub, &function))
    return error;
  return hipModuleOccupancyMaxPotentialBlockSize(grid, block, function,
                                                 dynamicLds, limit);
}

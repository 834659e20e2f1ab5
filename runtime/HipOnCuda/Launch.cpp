//===- Launch.cpp - Kernel launches of HIP over CUDA ----------------------===//

#include "runtime/Hip/Launch.h"
#include "runtime/Hip/FatBinary.h"
#include "runtime/HipOnCuda/Driver.h"

#include <limits>

using namespace tessera;
using namespace tessera::cuda;
using tessera::hip::LaunchRequest;

/// Translates the list of launch parameters in memory: HIP ends it with another
/// marker.
static hipError_t translateExtra(void **extra, void *(&translated)[5]) {
  void *buffer = nullptr, *size = nullptr;
  for (; *extra != HIP_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == HIP_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = extra[1];
    else if (*extra == HIP_LAUNCH_PARAM_BUFFER_SIZE)
      size = extra[1];
    else
      return setError(hipErrorInvalidValue);
  }
  if (!buffer || !size)
    return setError(hipErrorInvalidValue,
                    "a launch gives its arguments as a buffer, but not both "
                    "its address and its size");
  void *const list[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, buffer,
                        HIP_LAUNCH_PARAM_BUFFER_SIZE, size,
                        /*CU_LAUNCH_PARAM_END=*/nullptr};
  std::copy(std::begin(list), std::end(list), translated);
  return hipSuccess;
}

/// The driver calls every mistake an invalid value; HIP distinguishes a launch
/// that asks for too much from wrong arguments.
static hipError_t explain(const Driver &driver, hipFunction_t function,
                          uint64_t threads, uint64_t sharedBytes) {
  int maxThreads = 0, maxShared = 0;
  (void)driver.cuFuncGetAttribute(&maxThreads, kFunctionMaxThreads, function);
  (void)driver.cuFuncGetAttribute(&maxShared, kFunctionMaxDynamicShared,
                                  function);
  if (threads == 0 || threads > static_cast<uint64_t>(maxThreads))
    return setError(hipErrorInvalidConfiguration,
                    "the kernel allows blocks of 1 to " +
                        std::to_string(maxThreads) + " threads, not of " +
                        std::to_string(threads));
  if (sharedBytes > static_cast<uint64_t>(maxShared))
    return setError(hipErrorInvalidConfiguration,
                    "the kernel allows " + std::to_string(maxShared) +
                        " bytes of dynamic shared memory, not " +
                        std::to_string(sharedBytes));
  return report(driver, CudaError::InvalidValue, "cuLaunchKernel");
}

/// A call of the driver with `config`, the kernel, and its arguments in one of
/// two forms; the other one is null.
using AskDriver = CudaError(const Driver &driver,
                            const CudaLaunchConfig &config,
                            hipFunction_t function, void **params,
                            void **extra);

static hipError_t launch(const CudaLaunchConfig &config, hipFunction_t function,
                         void **params, void **extra, AskDriver *ask) {
  const Driver *driver;
  if (hipError_t error = enter(driver))
    return error;
  if (!function)
    return setError(hipErrorInvalidHandle);
  const auto &[gridX, gridY, gridZ] = config.grid;
  if (!gridX || !gridY || !gridZ)
    return setError(hipErrorInvalidConfiguration, "a grid without a block");
  void *list[5];
  if (params) {
    extra = nullptr;
  } else if (extra) {
    if (hipError_t error = translateExtra(extra, list))
      return error;
    extra = list;
  }
  CudaError error = ask(*driver, config, function, params, extra);
  if (error == CudaError::Success)
    return hipSuccess;
  const auto &[blockX, blockY, blockZ] = config.block;
  if (error == CudaError::InvalidValue)
    return explain(*driver, function, uint64_t(blockX) * blockY * blockZ,
                   config.sharedBytes);
  return report(*driver, error, "cuLaunchKernel");
}

TESSERA_HIP hipError_t hipModuleLaunchKernel(
    hipFunction_t function, unsigned gridX, unsigned gridY, unsigned gridZ,
    unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
    hipStream_t stream, void **params, void **extra) {
  return launch({{gridX, gridY, gridZ},
                 {blockX, blockY, blockZ},
                 sharedBytes,
                 stream,
                 nullptr,
                 0},
                function, params, extra,
                [](const Driver &driver, const CudaLaunchConfig &c,
                   hipFunction_t kernel, void **values, void **buffer) {
                  return driver.cuLaunchKernel(
                      kernel, c.grid[0], c.grid[1], c.grid[2], c.block[0],
                      c.block[1], c.block[2], c.sharedBytes, c.stream, values,
                      buffer);
                });
}

/// The library's engine calls this for a kernel that waits by itself for the
/// launch in front. In a capture it becomes a programmatic edge of the graph.
TESSERA_HIP hipError_t tesseraLaunchDependent(
    hipFunction_t function, unsigned gridX, unsigned gridY, unsigned gridZ,
    unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
    hipStream_t stream, void **params, void **extra) {
  const CudaLaunchAttribute dependent = {.id = kLaunchIsDependent, .value = 1};
  return launch({{gridX, gridY, gridZ},
                 {blockX, blockY, blockZ},
                 sharedBytes,
                 stream,
                 &dependent,
                 1},
                function, params, extra,
                [](const Driver &driver, const CudaLaunchConfig &c,
                   hipFunction_t kernel, void **values, void **buffer) {
                  return driver.cuLaunchKernelEx(&c, kernel, values, buffer);
                });
}

static hipError_t launchCooperative(const LaunchRequest &request,
                                    const unsigned (&grid)[3]) {
  const Driver *driver;
  if (hipError_t error = enter(driver))
    return error;
  const uint32_t *block = request.block;
  CudaError error = driver->cuLaunchCooperativeKernel(
      request.function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
      static_cast<unsigned>(request.dynamicLds), request.stream,
      request.params);
  if (error == CudaError::Success)
    return hipSuccess;
  if (error == CudaError::InvalidValue)
    return explain(*driver, request.function,
                   uint64_t(block[0]) * block[1] * block[2],
                   request.dynamicLds);
  return report(*driver, error, "cuLaunchCooperativeKernel");
}

/// Converts work-items to blocks: CUDA has no smaller blocks at the end of a
/// grid.
hipError_t tessera::hip::launchKernel(const LaunchRequest &request) {
  unsigned grid[3];
  for (int d = 0; d < 3; ++d) {
    uint32_t block = request.block[d];
    if (!block || request.items[d] % block)
      return setError(hipErrorInvalidConfiguration,
                      std::to_string(request.items[d]) +
                          " work-items are no whole number of blocks of " +
                          std::to_string(block));
    uint64_t count = request.items[d] / block;
    if (!count || count > std::numeric_limits<unsigned>::max())
      return setError(hipErrorInvalidConfiguration,
                      "a grid of " + std::to_string(count) + " blocks");
    grid[d] = static_cast<unsigned>(count);
  }
  if (request.dynamicLds > std::numeric_limits<unsigned>::max())
    return setError(hipErrorInvalidConfiguration,
                    "4 GiB or more of dynamic shared memory");
  if (!request.function)
    return setError(hipErrorInvalidHandle);
  if (request.isCooperative)
    return launchCooperative(request, grid);
  return hipModuleLaunchKernel(request.function, grid[0], grid[1], grid[2],
                               request.block[0], request.block[1],
                               request.block[2],
                               static_cast<unsigned>(request.dynamicLds),
                               request.stream, request.params, request.extra);
}

//===----------------------------------------------------------------------===//
// Limits of a launch
//===----------------------------------------------------------------------===//

TESSERA_HIP hipError_t hipFuncSetAttribute(const void *stub,
                                           hipFuncAttribute attribute,
                                           int value) {
  hipFunction_t function;
  if (hipError_t error = hip::findRegistered(stub, &function))
    return error;
  if (attribute != hipFuncAttributeMaxDynamicSharedMemorySize &&
      attribute != hipFuncAttributePreferredSharedMemoryCarveout)
    return setError(hipErrorInvalidValue);
  return CALL_CUDA(cuFuncSetAttribute, function, attribute, value);
}

TESSERA_HIP hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    int *groups, hipFunction_t function, int block, size_t dynamicBytes) {
  if (!groups || block <= 0)
    return setError(hipErrorInvalidValue);
  if (!function)
    return setError(hipErrorInvalidHandle);
  return CALL_CUDA(cuOccupancyMaxActiveBlocksPerMultiprocessor, groups,
                   function, block, dynamicBytes);
}
TESSERA_HIP hipError_t
hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *groups, hipFunction_t function, int block, size_t dynamicBytes,
    unsigned) {
  return hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
      groups, function, block, dynamicBytes);
}
TESSERA_HIP hipError_t hipModuleOccupancyMaxPotentialBlockSize(
    int *grid, int *block, hipFunction_t function, size_t dynamicBytes,
    int limit) {
  if (!grid || !block || limit < 0)
    return setError(hipErrorInvalidValue);
  if (!function)
    return setError(hipErrorInvalidHandle);
  return CALL_CUDA(cuOccupancyMaxPotentialBlockSize, grid, block, function,
                   nullptr, dynamicBytes, limit);
}
TESSERA_HIP hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(
    int *grid, int *block, hipFunction_t function, size_t dynamicBytes,
    int limit, unsigned) {
  return hipModuleOccupancyMaxPotentialBlockSize(grid, block, function,
                                                 dynamicBytes, limit);
}

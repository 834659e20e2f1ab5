//===- HipOccupancy.cpp - How many groups a multiprocessor holds ----------===//
//
// The rules are those of Measure/Occupancy.h: registers in granules, LDS, and
// the waves that a SIMD tracks. A multiprocessor is a compute unit, as in
// hipDeviceProp_t::multiProcessorCount; on RDNA two compute units are one unit
// of Measure/.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Hip/Module.h"
#include "runtime/Emulator/Measure/Occupancy.h"

using namespace tessera::emulator;

static constexpr unsigned kMaxGroup = 1024;

/// Returns the number of groups of `block` threads that one multiprocessor
/// holds, or 0 when it cannot hold even one.
static unsigned getGroups(hipFunction_t function, unsigned block,
                          size_t dynamicLds) {
  const Chip &chip = Device::get()->chip;
  const ChipCosts &costs = getChipCosts(chip.name);
  const KernelImage &kernel = *function->kernel;
  unsigned lanes = function->getLanes(chip);
  size_t lds = kernel.descriptor.ldsBytes + dynamicLds;
  if (!block || block > kernel.maxWorkgroupSize ||
      lds > chip.getTarget().ldsBytes)
    return 0;
  KernelResources resources;
  resources.vgprs = kernel.vgprCount;
  resources.sgprs = kernel.sgprCount;
  resources.ldsBytes = static_cast<uint32_t>(lds);
  resources.lanes = lanes;
  resources.wavesPerGroup = (block + lanes - 1) / lanes;
  unsigned groups = getOccupancy(costs, resources).groupsPerUnit;
  return std::max(1u, groups / costs.getComputeUnits());
}

static hipError_t countGroups(int *groups, hipFunction_t function, int block,
                              size_t dynamicLds) {
  if (!groups || block <= 0)
    return setError(hipErrorInvalidValue);
  if (!isFunction(function))
    return setError(hipErrorInvalidHandle);
  *groups = static_cast<int>(
      getGroups(function, static_cast<unsigned>(block), dynamicLds));
  return hipSuccess;
}

/// Chooses the block size that keeps most threads on a multiprocessor, the
/// largest if there are several, and a grid that fills the device once.
static hipError_t chooseBlock(int *grid, int *block, hipFunction_t function,
                              size_t dynamicLds, int limit) {
  if (!grid || !block || limit < 0)
    return setError(hipErrorInvalidValue);
  if (!isFunction(function))
    return setError(hipErrorInvalidHandle);
  const Chip &chip = Device::get()->chip;
  unsigned lanes = function->getLanes(chip);
  unsigned largest = std::min(kMaxGroup, function->kernel->maxWorkgroupSize);
  if (limit)
    largest = std::min(largest, static_cast<unsigned>(limit));
  unsigned bestThreads = 0;
  *grid = *block = 0;
  for (unsigned size = std::min(largest, lanes); size <= largest;
       size += lanes) {
    unsigned groups = getGroups(function, size, dynamicLds);
    if (groups * size < bestThreads || !groups)
      continue;
    bestThreads = groups * size;
    *block = static_cast<int>(size);
    *grid = static_cast<int>(groups * chip.computeUnits);
  }
  return hipSuccess;
}

TESSERA_HIP hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    int *groups, hipFunction_t function, int block, size_t dynamicLds) {
  return countGroups(groups, function, block, dynamicLds);
}
TESSERA_HIP hipError_t
hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *groups, hipFunction_t function, int block, size_t dynamicLds,
    unsigned) {
  return countGroups(groups, function, block, dynamicLds);
}
TESSERA_HIP hipError_t hipModuleOccupancyMaxPotentialBlockSize(
    int *grid, int *block, hipFunction_t function, size_t dynamicLds,
    int limit) {
  return chooseBlock(grid, block, function, dynamicLds, limit);
}
TESSERA_HIP hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(
    int *grid, int *block, hipFunction_t function, size_t dynamicLds, int limit,
    unsigned) {
  return chooseBlock(grid, block, function, dynamicLds, limit);
}

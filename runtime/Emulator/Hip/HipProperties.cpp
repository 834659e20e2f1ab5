//===- HipProperties.cpp - What the device reports about itself -----------===//
//
// Facts about the chip are those of Chip.cpp and GpuTarget.cpp. Properties of a
// board (buses, caches, memory clocks) are plausible inventions.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Hip/Device.h"

#include <algorithm>
#include <cstring>
#include <optional>

using namespace tessera;
using namespace tessera::emulator;

static constexpr int kMaxGroup = 1024;
static constexpr int kMaxInt = 0x7fffffff;

int tessera::emulator::getMajor(const Chip &chip) { return chip.generation; }
int tessera::emulator::getMinor(const Chip &chip) {
  char digit = chip.name[chip.name.size() - 2];
  return digit >= 'a' ? digit - 'a' + 10 : digit - '0';
}
/// Returns HIP 5's number of the architecture: 910 for gfx90a, 942 for gfx942,
/// 1030 for gfx1030.
static int getGcnArch(const Chip &chip) {
  char digit = chip.name.back();
  int stepping = digit >= 'a' ? digit - 'a' + 10 : digit - '0';
  return getMajor(chip) * 100 + getMinor(chip) * 10 + stepping;
}

static void copyText(char *to, size_t size, std::string_view from) {
  size_t count = std::min(size - 1, from.size());
  std::memcpy(to, from.data(), count);
  to[count] = 0;
}

TESSERA_HIP hipError_t hipDeviceGetName(char *name, int length,
                                        hipDevice_t id) {
  if (!name || length <= 0)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = checkDevice(id))
    return error;
  copyText(name, static_cast<size_t>(length),
           Device::get()->chip.marketingName);
  return hipSuccess;
}

static hipDeviceArch_t getArchFeatures() {
  hipDeviceArch_t arch{};
  arch.hasGlobalInt32Atomics = arch.hasGlobalFloatAtomicExch = 1;
  arch.hasSharedInt32Atomics = arch.hasSharedFloatAtomicExch = 1;
  arch.hasFloatAtomicAdd = 1;
  arch.hasGlobalInt64Atomics = arch.hasSharedInt64Atomics = 1;
  arch.hasDoubles = 1;
  arch.hasWarpVote = arch.hasWarpBallot = arch.hasWarpShuffle = 1;
  arch.hasThreadFenceSystem = arch.has3dGrid = 1;
  return arch;
}

TESSERA_HIP hipError_t hipGetDeviceProperties(hipDeviceProp_t *properties,
                                              int id) {
  if (!properties)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = checkDevice(id))
    return error;
  const Chip &chip = Device::get()->chip;
  const GpuTarget &target = chip.getTarget();
  *properties = {};
  hipDeviceProp_t &p = *properties;
  copyText(p.name, sizeof p.name, chip.marketingName);
  copyText(p.gcnArchName, sizeof p.gcnArchName, chip.archName);
  p.totalGlobalMem = MemoryMap::getTotalBytes();
  p.sharedMemPerBlock = p.maxSharedMemoryPerMultiProcessor = target.ldsBytes;
  p.regsPerBlock = 65536;
  p.warpSize = static_cast<int>(target.waveSize);
  p.maxThreadsPerBlock = kMaxGroup;
  std::fill_n(p.maxThreadsDim, 3, kMaxGroup);
  std::fill_n(p.maxGridSize, 3, kMaxInt);
  p.clockRate = static_cast<int>(chip.clockMhz * 1000);
  p.clockInstructionRate = 100000;
  p.memoryClockRate = 1000000;
  p.memoryBusWidth = 4096;
  p.totalConstMem = kMaxInt;
  p.major = getMajor(chip);
  p.minor = getMinor(chip);
  p.multiProcessorCount = static_cast<int>(chip.computeUnits);
  p.maxThreadsPerMultiProcessor = static_cast<int>(
      target.maxWavesPerSimd * target.simdsPerCu * target.waveSize);
  p.l2CacheSize = 4 << 20;
  p.concurrentKernels = 1;
  p.canMapHostMemory = 1;
  p.isLargeBar = 1;
  p.memPitch = kMaxInt;
  p.arch = getArchFeatures();
  p.gcnArch = getGcnArch(chip);
  p.pciBusID = 1;
  p.cooperativeLaunch = 1;
  p.ECCEnabled = chip.isGfx9();
  p.managedMemory = p.directManagedMemAccessFromHost = 1;
  p.concurrentManagedAccess = 1;
  return hipSuccess;
}

/// Returns the attribute's value from the properties; empty if this device does
/// not know the attribute.
static std::optional<int64_t> findAttribute(const hipDeviceProp_t &p,
                                            hipDeviceAttribute_t attribute) {
  switch (attribute) {
#define TESSERA_ATTRIBUTE(name, value)                                         \
  case hipDeviceAttribute##name:                                               \
    return static_cast<int64_t>(value);
#include "runtime/Emulator/Hip/Attributes.def"
  default:
    return std::nullopt;
  }
}

TESSERA_HIP hipError_t hipDeviceGetAttribute(int *value,
                                             hipDeviceAttribute_t attribute,
                                             int id) {
  if (!value)
    return setError(hipErrorInvalidValue);
  hipDeviceProp_t properties;
  if (hipError_t error = hipGetDeviceProperties(&properties, id))
    return error;
  std::optional<int64_t> found = findAttribute(properties, attribute);
  *value = static_cast<int>(std::min<int64_t>(found.value_or(0), kMaxInt));
  return found ? hipSuccess : setError(hipErrorInvalidValue);
}

/// Behaves like hipChooseDevice on a machine with one device.
TESSERA_HIP hipError_t hipChooseDevice(int *id, const hipDeviceProp_t *wanted) {
  if (!id || !wanted)
    return setError(hipErrorInvalidValue);
  *id = 0;
  return checkDevice(0);
}

TESSERA_HIP hipError_t hipDeviceComputeCapability(int *major, int *minor,
                                                  hipDevice_t id) {
  if (!major || !minor)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = checkDevice(id))
    return error;
  *major = getMajor(Device::get()->chip);
  *minor = getMinor(Device::get()->chip);
  return hipSuccess;
}

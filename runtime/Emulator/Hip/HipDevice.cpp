//===- HipDevice.cpp - Device queries of the emulated HIP -----------------===//
//
// Compiled for any x86-64 host, unlike the lane loops: this is where a host
// that cannot run them is turned away.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Hip/Device.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace tessera;
using namespace tessera::emulator;

static constexpr int kHipVersion = 50200000;
static constexpr int kMaxGroup = 1024;

static bool canRunLaneLoops() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c");
}

Device *Device::get() {
  static Device *const device = []() -> Device * {
    if (!canRunLaneLoops()) {
      (void)setError(
          hipErrorNoDevice,
          "the emulated device needs a host with AVX2, FMA, BMI2, F16C");
      return nullptr;
    }
    Settings settings = readSettings();
    const Chip *chip = findChip(settings.chip);
    if (!chip) {
      (void)setError(hipErrorNoDevice, "TESSERA_DEVICE names the chip '" +
                                           settings.chip + "', but there are " +
                                           std::string(getTargetNames()));
      return nullptr;
    }
    return new Device(*chip, std::move(settings));
  }();
  return device;
}

static hipError_t checkDevice(int id) {
  if (!Device::get())
    return setError(hipErrorNoDevice);
  return id == 0 ? hipSuccess : setError(hipErrorInvalidDevice);
}

static void copyText(char *to, size_t size, std::string_view from) {
  size_t count = std::min(size - 1, from.size());
  std::memcpy(to, from.data(), count);
  to[count] = 0;
}

TESSERA_HIP hipError_t hipInit(unsigned) { return checkDevice(0); }

TESSERA_HIP hipError_t hipGetDeviceCount(int *count) {
  if (!count)
    return setError(hipErrorInvalidValue);
  *count = Device::get() ? 1 : 0;
  return *count ? hipSuccess : setError(hipErrorNoDevice);
}
TESSERA_HIP hipError_t hipGetDevice(int *id) {
  if (!id)
    return setError(hipErrorInvalidValue);
  *id = 0;
  return checkDevice(0);
}
TESSERA_HIP hipError_t hipSetDevice(int id) { return checkDevice(id); }
TESSERA_HIP hipError_t hipDeviceGet(hipDevice_t *device, int ordinal) {
  if (!device)
    return setError(hipErrorInvalidValue);
  *device = ordinal;
  return checkDevice(ordinal);
}
TESSERA_HIP hipError_t hipDriverGetVersion(int *version) {
  if (!version)
    return setError(hipErrorInvalidValue);
  *version = kHipVersion;
  return hipSuccess;
}
TESSERA_HIP hipError_t hipRuntimeGetVersion(int *version) {
  return hipDriverGetVersion(version);
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
TESSERA_HIP hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t id) {
  if (!bytes)
    return setError(hipErrorInvalidValue);
  *bytes = MemoryMap::getTotalBytes();
  return checkDevice(id);
}
TESSERA_HIP hipError_t hipMemGetInfo(size_t *free, size_t *total) {
  if (!free || !total)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = checkDevice(0))
    return error;
  *total = MemoryMap::getTotalBytes();
  *free = *total - std::min(*total, Device::get()->memory.getAllocatedBytes());
  return hipSuccess;
}
// Everything is synchronous: there is nothing to wait for or to reset.
TESSERA_HIP hipError_t hipDeviceSynchronize() { return checkDevice(0); }
TESSERA_HIP hipError_t hipDeviceReset() { return checkDevice(0); }

/// gfx942 -> 9, 4; gfx1030 -> 10, 3: as HIP fills major and minor.
static int getMajor(const Chip &chip) { return chip.generation; }
static int getMinor(const Chip &chip) {
  char digit = chip.name[chip.name.size() - 2];
  return digit >= 'a' ? digit - 'a' + 10 : digit - '0';
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
  std::fill_n(p.maxGridSize, 3, 0x7fffffff);
  p.clockRate = static_cast<int>(chip.clockMhz * 1000);
  p.clockInstructionRate = 100000;
  p.memoryClockRate = 1000000;
  p.memoryBusWidth = 4096;
  p.totalConstMem = 0x7fffffff;
  p.major = getMajor(chip);
  p.minor = getMinor(chip);
  p.multiProcessorCount = static_cast<int>(chip.computeUnits);
  p.maxThreadsPerMultiProcessor = static_cast<int>(
      target.maxWavesPerSimd * target.simdsPerCu * target.waveSize);
  p.l2CacheSize = 4 << 20;
  p.concurrentKernels = 1;
  p.canMapHostMemory = 1;
  p.isLargeBar = 1;
  p.memPitch = 0x7fffffff;
  return hipSuccess;
}

TESSERA_HIP hipError_t hipDeviceGetAttribute(int *value,
                                             hipDeviceAttribute_t attribute,
                                             int id) {
  if (!value)
    return setError(hipErrorInvalidValue);
  hipDeviceProp_t p;
  if (hipError_t error = hipGetDeviceProperties(&p, id))
    return error;
  switch (attribute) {
  case hipDeviceAttributeMultiprocessorCount:
    *value = p.multiProcessorCount;
    return hipSuccess;
  case hipDeviceAttributeWarpSize:
    *value = p.warpSize;
    return hipSuccess;
  case hipDeviceAttributeMaxThreadsPerBlock:
  case hipDeviceAttributeMaxBlockDimX:
  case hipDeviceAttributeMaxBlockDimY:
  case hipDeviceAttributeMaxBlockDimZ:
    *value = p.maxThreadsPerBlock;
    return hipSuccess;
  case hipDeviceAttributeMaxGridDimX:
  case hipDeviceAttributeMaxGridDimY:
  case hipDeviceAttributeMaxGridDimZ:
    *value = p.maxGridSize[0];
    return hipSuccess;
  case hipDeviceAttributeMaxSharedMemoryPerBlock:
  case hipDeviceAttributeMaxSharedMemoryPerMultiprocessor:
    *value = static_cast<int>(p.sharedMemPerBlock);
    return hipSuccess;
  case hipDeviceAttributeMaxThreadsPerMultiProcessor:
    *value = p.maxThreadsPerMultiProcessor;
    return hipSuccess;
  case hipDeviceAttributeMaxRegistersPerBlock:
    *value = p.regsPerBlock;
    return hipSuccess;
  case hipDeviceAttributeClockRate:
    *value = p.clockRate;
    return hipSuccess;
  case hipDeviceAttributeMemoryClockRate:
    *value = p.memoryClockRate;
    return hipSuccess;
  case hipDeviceAttributeMemoryBusWidth:
    *value = p.memoryBusWidth;
    return hipSuccess;
  case hipDeviceAttributeL2CacheSize:
    *value = p.l2CacheSize;
    return hipSuccess;
  case hipDeviceAttributeComputeCapabilityMajor:
    *value = p.major;
    return hipSuccess;
  case hipDeviceAttributeComputeCapabilityMinor:
    *value = p.minor;
    return hipSuccess;
  default:
    *value = 0;
    return setError(hipErrorInvalidValue);
  }
}

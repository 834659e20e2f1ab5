//===- HipDevice.cpp - Device queries of the emulated HIP -----------------===//
//
// Compiled for any x86-64 host, unlike the lane loops: this is where a host
// that cannot run them is refused.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Hip/Device.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <string_view>

using namespace tessera;
using namespace tessera::emulator;

static constexpr int kHipVersion = 50200000;

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
    Settings settings = readSettingsOnce();
    const Chip *chip = findChip(settings.chip);
    if (!chip) {
      (void)setError(hipErrorNoDevice, "TESSERA_DEVICE names the chip '" +
                                           settings.chip + "', but there are " +
                                           getChipNames());
      return nullptr;
    }
    return new Device(*chip, std::move(settings));
  }();
  return device;
}

const char *tessera::hip::getDeviceKind() { return "emulated"; }

// Does not use Device, because creating it may be what failed.
bool tessera::hip::areErrorsPrinted() { return readSettingsOnce().logErrors; }

hipError_t tessera::emulator::checkDevice(int id) {
  if (!Device::get())
    return setError(hipErrorNoDevice);
  return id == 0 ? hipSuccess : setError(hipErrorInvalidDevice);
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

// All calls are synchronous, so there is nothing to wait for. A reset does
// nothing, because it would free memory that the application may still use.
TESSERA_HIP hipError_t hipDeviceSynchronize() { return checkDevice(0); }
TESSERA_HIP hipError_t hipDeviceReset() { return checkDevice(0); }

static std::atomic<unsigned> deviceFlags{hipDeviceScheduleAuto};

TESSERA_HIP hipError_t hipSetDeviceFlags(unsigned flags) {
  constexpr unsigned kKnown =
      hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax;
  if (flags & ~kKnown)
    return setError(hipErrorInvalidValue);
  deviceFlags = flags;
  return checkDevice(0);
}
TESSERA_HIP hipError_t hipGetDeviceFlags(unsigned *flags) {
  if (!flags)
    return setError(hipErrorInvalidValue);
  *flags = deviceFlags;
  return checkDevice(0);
}

static constexpr char kBusId[] = "0000:01:00.0";

TESSERA_HIP hipError_t hipDeviceGetPCIBusId(char *text, int length, int id) {
  if (!text || length <= 0)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = checkDevice(id))
    return error;
  std::snprintf(text, static_cast<size_t>(length), "%s", kBusId);
  return hipSuccess;
}
TESSERA_HIP hipError_t hipDeviceGetByPCIBusId(int *id, const char *text) {
  if (!id || !text)
    return setError(hipErrorInvalidValue);
  *id = 0;
  if (std::string_view(text) != kBusId)
    return setError(hipErrorInvalidDevice);
  return checkDevice(0);
}
TESSERA_HIP hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t id) {
  if (!uuid)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = checkDevice(id))
    return error;
  *uuid = {};
  std::snprintf(uuid->bytes, sizeof uuid->bytes, "emu-%s",
                std::string(Device::get()->chip.name).c_str());
  return hipSuccess;
}

TESSERA_HIP hipError_t hipDeviceGetLimit(size_t *value, hipLimit_t limit) {
  if (!value)
    return setError(hipErrorInvalidValue);
  // Kernels have neither printf nor malloc in the emulator.
  *value = 0;
  if (limit != hipLimitPrintfFifoSize && limit != hipLimitMallocHeapSize)
    return setError(hipErrorUnsupportedLimit);
  return checkDevice(0);
}

// The only device has no peer.
TESSERA_HIP hipError_t hipDeviceCanAccessPeer(int *can, int id, int peer) {
  if (!can)
    return setError(hipErrorInvalidValue);
  *can = 0;
  if (hipError_t error = checkDevice(id))
    return error;
  return checkDevice(peer);
}
TESSERA_HIP hipError_t hipDeviceEnablePeerAccess(int, unsigned) {
  return setError(hipErrorInvalidDevice);
}
TESSERA_HIP hipError_t hipDeviceDisablePeerAccess(int) {
  return setError(hipErrorPeerAccessNotEnabled);
}
TESSERA_HIP hipError_t hipDeviceGetP2PAttribute(int *value, hipDeviceP2PAttr,
                                                int, int) {
  if (!value)
    return setError(hipErrorInvalidValue);
  *value = 0;
  return setError(hipErrorInvalidDevice);
}

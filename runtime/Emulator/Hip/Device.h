//===- Device.h - The one emulated device ----------------------*- C++ -*-===//

#ifndef TESSERA_RUNTIME_EMULATOR_HIP_DEVICE_H
#define TESSERA_RUNTIME_EMULATOR_HIP_DEVICE_H

#include "runtime/Emulator/Chip.h"
#include "runtime/Emulator/MemoryMap.h"
#include "runtime/Emulator/Settings.h"

#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__
#endif
#include <hip/hip_runtime_api.h>

#include <string>

/// In front of every exported function.
#define TESSERA_HIP extern "C" __attribute__((visibility("default")))
/// A second name of a function of the same file.
#define TESSERA_HIP_ALIAS(name, target, parameters)                            \
  TESSERA_HIP hipError_t name parameters __attribute__((alias(#target)))

namespace tessera::emulator {

/// Made at the first call of any HIP function and never destroyed, because
/// static destructors of the application may still free memory.
class Device {
public:
  /// Null when there is none: the host lacks AVX2, or the chip is unknown.
  /// The reason is then the last error text.
  static Device *get();

  const Chip &chip;
  const Settings settings;
  MemoryMap memory;

private:
  Device(const Chip &chip, Settings settings)
      : chip(chip), settings(std::move(settings)) {}
};

/// hipSuccess if there is a device and `id` is its number.
hipError_t checkDevice(int id);

/// gfx942 -> 9, 4; gfx1030 -> 10, 3: as HIP fills major and minor.
int getMajor(const Chip &chip);
int getMinor(const Chip &chip);

/// Remembers `error` for hipGetLastError() of this thread, and returns it.
hipError_t setError(hipError_t error);
/// The same with a text for tesseraEmulatorGetLastError(), which also goes to
/// stderr if the settings allow.
hipError_t setError(hipError_t error, std::string text);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_HIP_DEVICE_H

//===- Device.h - The one emulated device ----------------------*- C++ -*-===//

#ifndef TESSERA_RUNTIME_EMULATOR_HIP_DEVICE_H
#define TESSERA_RUNTIME_EMULATOR_HIP_DEVICE_H

#include "runtime/Emulator/Chip.h"
#include "runtime/Emulator/MemoryMap.h"
#include "runtime/Emulator/Settings.h"
#include "runtime/Hip/Export.h"

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

using hip::setError;

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_HIP_DEVICE_H

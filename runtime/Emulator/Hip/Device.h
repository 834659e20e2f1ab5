//===- Device.h - The one emulated device ----------------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_EMULATOR_HIP_DEVICE_H
#define TESSERA_RUNTIME_EMULATOR_HIP_DEVICE_H

#include "runtime/Emulator/Chip.h"
#include "runtime/Emulator/MemoryMap.h"
#include "runtime/Emulator/Settings.h"
#include "runtime/Hip/Export.h"

namespace tessera::emulator {

/// Created at the first call of any HIP function and never destroyed, because
/// static destructors of the application may still free memory.
class Device {
public:
  /// Returns null if there is no device: the host lacks AVX2, or the chip is
  /// unknown. The last error text then has the reason.
  static Device *get();

  const Chip &chip;
  const Settings settings;
  MemoryMap memory;

private:
  Device(const Chip &chip, Settings settings)
      : chip(chip), settings(std::move(settings)) {}
};

/// Returns hipSuccess if there is a device and `id` is its number.
hipError_t checkDevice(int id);

/// Major and minor as HIP counts them: 9 and 4 for gfx942, 10 and 3 for
/// gfx1030.
int getMajor(const Chip &chip);
int getMinor(const Chip &chip);

using hip::setError;

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_HIP_DEVICE_H

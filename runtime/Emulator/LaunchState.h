//===- LaunchState.h - How a kernel finds the machine ----------*- C++ -*-===//
//
// The kernel descriptor says which registers hold what when a wave starts;
// the metadata says which hidden arguments follow the explicit ones.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_LAUNCHSTATE_H
#define TESSERA_RUNTIME_EMULATOR_LAUNCHSTATE_H

#include "runtime/Emulator/Check/Definedness.h"
#include "runtime/Emulator/Launch.h"
#include "runtime/Emulator/Wave.h"

namespace tessera::emulator {

/// The kernarg segment: explicit arguments, then hidden ones.
std::vector<uint8_t> makeKernarg(const Launch &launch);
/// The AQL dispatch packet that dispatch_ptr points to.
std::array<uint8_t, 64> makeDispatchPacket(const Launch &launch,
                                           const LaunchMemory &memory);

/// Where a wave is: its group, its number there, and its scratch slot.
struct WavePlace {
  std::array<uint32_t, 3> group;
  std::array<uint32_t, 3> groupSize; ///< Smaller at the edge of the grid.
  uint32_t wave;
  uint64_t scratchSlot; ///< Unique among waves that run at one time.
};

/// Sets every register and the pc. Those that a kernel may not rely on hold a
/// pattern that is an unlikely number, a NaN in the vector registers.
void initializeWave(Wave &wave, const Launch &launch,
                    const LaunchMemory &memory, const WavePlace &place);

/// The registers that initializeWave() gives a meaning; all others hold its
/// pattern.
PresetRegisters getPresetRegisters(const Launch &launch);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_LAUNCHSTATE_H

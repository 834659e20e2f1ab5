//===- LaunchState.h - How a kernel finds the machine ----------*- C++ -*--===//
//
// The kernel descriptor says what the registers hold when a wave starts. The
// metadata says which hidden arguments follow the explicit ones.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_LAUNCHSTATE_H
#define TESSERA_RUNTIME_EMULATOR_LAUNCHSTATE_H

#include "runtime/Emulator/Check/Definedness.h"
#include "runtime/Emulator/Launch.h"
#include "runtime/Emulator/Wave.h"

namespace tessera::emulator {

/// Makes the kernarg segment: explicit arguments, then hidden ones.
std::vector<uint8_t> makeKernarg(const Launch &launch);
/// Makes the AQL dispatch packet that dispatch_ptr points to.
std::array<uint8_t, 64> makeDispatchPacket(const Launch &launch,
                                           const LaunchMemory &memory);

/// A wave's group, its index in the group, and its slot of scratch memory.
struct WavePosition {
  std::array<uint32_t, 3> group;
  std::array<uint32_t, 3> groupSize; ///< Smaller at the edge of the grid.
  uint32_t wave;
  uint64_t scratchSlot; ///< Unique among the waves that run at the same time.
};

/// Sets every register and the pc. Registers that a kernel may not rely on get
/// a pattern: an unlikely number, a NaN in vector registers.
void initializeWave(Wave &wave, const Launch &launch,
                    const LaunchMemory &memory, const WavePosition &position);

/// Returns the registers to which initializeWave() gives a meaningful value;
/// all others hold its pattern.
PresetRegisters getPresetRegisters(const Launch &launch);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_LAUNCHSTATE_H

//===- AddressUnit.h - Clocks of the texture addresser ---------*- C++ -*--===//
//
// Each compute unit has one texture addresser, through which all vector memory
// instructions go. A load of two bytes holds it for as long as one of sixteen,
// which neither issue slots nor bytes show.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_MEASURE_ADDRESSUNIT_H
#define TESSERA_RUNTIME_EMULATOR_MEASURE_ADDRESSUNIT_H

#include "runtime/Emulator/Measure/InstructionCosts.h"

#include <array>

namespace tessera::emulator {

/// The lanes of one instruction: those that are on, and the accesses of those
/// whose addresses are in range.
class AddressUnit {
public:
  explicit AddressUnit(const ChipCosts &chip)
      : blockBytes(chip.memoryClockBytes / chip.getComputeUnits()) {}

  void addAccess(unsigned lane, uint64_t address, uint32_t bytes);
  /// Returns the clocks for which the instruction holds the unit, 0 if no
  /// address was in range, and begins anew. `exec` are the lanes that are on.
  uint64_t finish(uint64_t exec);

private:
  /// Lanes that access consecutive dwords, or less, of one block of L1.
  struct Run {
    uint64_t first = 0;  ///< The lowest address.
    uint64_t last = 0;   ///< The highest.
    uint64_t origin = 0; ///< Where the first lane of the run would be.
    bool hasAccess = false;
    bool isConsecutive = true;
  };

  uint64_t countClocks(const Run &run, uint64_t exec) const;

  uint32_t blockBytes; ///< What L1 gives in a clock.
  std::array<Run, 4> runs;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_MEASURE_ADDRESSUNIT_H

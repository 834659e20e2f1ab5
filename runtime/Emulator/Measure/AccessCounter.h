//===- AccessCounter.h - Which bytes a launch touches ----------*- C++ -*-===//

#ifndef TESSERA_RUNTIME_EMULATOR_MEASURE_ACCESSCOUNTER_H
#define TESSERA_RUNTIME_EMULATOR_MEASURE_ACCESSCOUNTER_H

#include "runtime/Emulator/Check/Observer.h"
#include "runtime/Emulator/Measure/Stats.h"

#include <array>

namespace tessera::emulator {

struct Chip;

/// Counts bytes, cache lines and bank conflicts of each instruction.
class AccessCounter : public Observer {
public:
  /// `stats` outlives it and was prepared for addresses.
  AccessCounter(const Chip &chip, LaunchStats &stats);
  void onAccesses(Wave &wave, const Instruction &instruction,
                  std::span<const MemoryAccess> accesses) override;

private:
  /// The different cache lines of one instruction. Emptied by a new stamp.
  class SegmentSet {
  public:
    void clear() { ++stamp; }
    /// True when it was not there.
    bool insert(uint64_t segment);

  private:
    static constexpr unsigned kSlots = 2048; ///< 64 lanes, 16 pieces each.
    struct Slot {
      uint64_t segment = 0;
      uint64_t stamp = 0;
    };
    std::array<Slot, kSlots> slots{};
    uint64_t stamp = 1;
  };

  void countGlobal(const MemoryAccess &access, MemoryCount &count);
  void addLds(const MemoryAccess &access, MemoryCount &count);
  void finishLds(MemoryCount &count);

  LaunchStats &stats;
  uint32_t segmentBytes;
  uint32_t banks;
  SegmentSet segments;
  // One access of LDS, as far as its lanes are known.
  std::array<LdsLaneAccess, 64> ldsLanes;
  unsigned ldsCount = 0;
  uint32_t ldsBytes = 0; ///< Of each lane.
  bool ldsIsWrite = false;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_MEASURE_ACCESSCOUNTER_H

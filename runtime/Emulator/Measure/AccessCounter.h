//===- AccessCounter.h - Which bytes a launch touches ----------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_EMULATOR_MEASURE_ACCESSCOUNTER_H
#define TESSERA_RUNTIME_EMULATOR_MEASURE_ACCESSCOUNTER_H

#include "runtime/Base/LdsBanks.h"
#include "runtime/Emulator/Check/Observer.h"
#include "runtime/Emulator/Measure/AddressUnit.h"
#include "runtime/Emulator/Measure/Stats.h"

#include <array>

namespace tessera::emulator {

struct Chip;

/// Counts bytes, cache lines, address clocks and bank conflicts of each
/// instruction.
class AccessCounter : public Observer {
public:
  /// `stats` must outlive this object and have space for the memory counts.
  AccessCounter(const Chip &chip, LaunchStats &stats);
  void onAccesses(Wave &wave, const Instruction &instruction,
                  std::span<const MemoryAccess> accesses) override;

private:
  /// The distinct cache lines of one instruction. A new stamp empties the set.
  class SegmentSet {
  public:
    void clear() { ++stamp; }
    /// Returns true if the segment was not in the set.
    bool insert(uint64_t segment);

  private:
    /// 64 lanes with up to 16 segments each.
    static constexpr unsigned kSlots = 2048;
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
  AddressUnit addresses;
  // The accesses of one LDS instruction that have been seen so far.
  std::array<LdsLaneAccess, 64> ldsLanes;
  unsigned ldsCount = 0;
  uint32_t ldsBytes = 0; ///< per lane
  bool ldsIsWrite = false;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_MEASURE_ACCESSCOUNTER_H

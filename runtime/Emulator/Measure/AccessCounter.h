//===- AccessCounter.h - Which bytes a launch touches ----------*- C++ -*-===//

#ifndef TESSERA_RUNTIME_EMULATOR_MEASURE_ACCESSCOUNTER_H
#define TESSERA_RUNTIME_EMULATOR_MEASURE_ACCESSCOUNTER_H

#include "runtime/Emulator/Check/Observer.h"
#include "runtime/Emulator/Measure/Stats.h"

#include <array>

namespace tessera::emulator {

struct Chip;

/// Collects what the lanes of one instruction touch and, when it is done,
/// counts bytes, cache lines and bank conflicts for it.
class AccessCounter : public Observer {
public:
  /// `stats` outlives it and was prepared for addresses.
  AccessCounter(const Chip &chip, LaunchStats &stats);
  void onAccess(Wave &wave, const Instruction &instruction,
                const MemoryAccess &access) override;
  void afterInstruction(Wave &wave, const Instruction &instruction) override;

private:
  struct LaneAccess {
    AccessKind kind;
    uint8_t lane;
    uint32_t bytes;
    uint64_t address;
  };

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

  static void add(std::vector<LaneAccess> &list, const MemoryAccess &access);
  void countGlobal(MemoryCount &count);
  void countLds(MemoryCount &count);

  LaunchStats &stats;
  uint32_t segmentBytes;
  uint32_t banks;
  std::vector<LaneAccess> global, lds;
  MemoryCount scratch;
  bool isEmpty = true;
  SegmentSet segments;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_MEASURE_ACCESSCOUNTER_H

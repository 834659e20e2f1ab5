//===- MemoryModel.h - Caches and memory as one compute unit sees them -*- C++
//-*-//
//
// One compute unit is replayed. The others do the same at the same time on
// other groups, so L2, the Infinity Cache and memory give it an even share of
// their rates. What of their capacity the others fill follows from which lines
// other groups touched, too: a line that only this group touches stands for as
// many as there are units.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_TIME_MEMORYMODEL_H
#define TESSERA_RUNTIME_EMULATOR_TIME_MEMORYMODEL_H

#include "runtime/Emulator/Time/ChipTimes.h"
#include "runtime/Emulator/Time/GroupTrace.h"
#include "runtime/Emulator/Time/LineTable.h"

#include <algorithm>
#include <span>

namespace tessera::emulator {

/// Who uses a line that a group of the replayed unit touches.
struct LineSharing {
  bool isFirsts = false, isSeconds = false; ///< groups of the unit
  /// Units of the die whose groups use it at about the same time, and dies of
  /// the chip, from one on.
  float unitsOfDie = 1, dies = 1;
};
using SharingTable = LineTable<LineSharing>;

struct MemorySystem {
  const ChipTimes &times;
  uint32_t lineBytes;
  double clockGhz;
  /// Compute units that have work, of a die and of the chip.
  double unitsOfDie, units;
  /// Bytes that the whole launch may touch: whether they fit a cache says
  /// whether an earlier launch has left them there.
  double footprintBytes;
};

/// What a compute unit has asked of each level, in bytes, for all units: lines
/// that several of them share count once where one request serves all.
struct Traffic {
  double l1 = 0, l2 = 0, far = 0, memory = 0;
};

class MemoryModel {
public:
  MemoryModel(const MemorySystem &system, const SharingTable &sharing);

  /// Returns the clock at which the value of the last line is there. `copy` 0
  /// and 1 are the recorded groups; the others are copies of these, whose own
  /// lines are others.
  double load(double now, std::span<const uint32_t> lines, unsigned copy);
  double loadScalar(double now, std::span<const uint32_t> lines, unsigned copy);
  /// Stores go through to L2. Returns when the last one is there.
  double store(double now, std::span<const uint32_t> lines, unsigned copy,
               bool isAtomic);

  const Traffic &getTraffic() const { return traffic; }
  /// When all that was asked for is done.
  double getEnd() const { return std::max({l2Free, farFree, memoryFree}); }
  /// For how many clocks the unit's share of each was taken.
  double getL2Clocks() const { return l2Clocks; }
  double getMemoryClocks() const { return memoryClocks; }

private:
  /// Of a set-associative cache: the line, when it arrived or will, and when it
  /// was used last.
  struct Way {
    uint64_t line = ~uint64_t(0);
    double ready = 0;
    uint64_t used = 0;
  };
  class Cache {
  public:
    Cache(double bytes, uint32_t lineBytes, size_t setWays);
    /// Returns the line's way, or the one to replace.
    Way &find(uint64_t line);

  private:
    size_t setWays;
    std::vector<Way> ways;
    uint64_t clock = 0;
  };
  /// A large cache, of which only the order matters in which lines are filled:
  /// a line is there until as many others as it holds came in. Filling is
  /// counted in lines of all units.
  struct Level {
    double capacity = 0; ///< in lines
    double filled = 0;
    bool isWarm = false;
    LineTable<double> lastFilled;
    /// Notes the use, and returns whether the line was there. A line that is
    /// not there stands for `weight` lines that are filled.
    bool use(uint64_t line, double weight);
  };

  uint64_t getKey(uint32_t line, unsigned copy) const;
  LineSharing getSharing(uint32_t line) const;
  /// Bytes a clock of this unit from or to each level.
  struct Rates {
    double l2, far, memory;
  };
  static Rates getRates(const MemorySystem &system, double l2, double memory);
  /// Returns when a line arrives that was asked for at `now`.
  double request(double now, uint32_t line, unsigned copy, const Rates &rates);
  double requestFar(double now, uint32_t line, uint64_t key,
                    const Rates &rates);

  const MemorySystem system;
  const SharingTable &sharing;
  Cache l1, scalar;
  Level l2, far;
  const Rates reads, writes;
  double l2Free = 0, farFree = 0, memoryFree = 0;
  double l2Clocks = 0, memoryClocks = 0;
  Traffic traffic;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_TIME_MEMORYMODEL_H

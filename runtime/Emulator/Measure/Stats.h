//===- Stats.h - What a launch did, in numbers -----------------*- C++ -*-===//
//
// While a launch runs, only this is counted: how often each instruction ran,
// for how many lanes, and, if asked for, which bytes it touched. All that
// follows from the instruction itself (class, multiplications, clocks) is
// summed up afterwards (Measure/Summary.h), so that counting costs little.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_MEASURE_STATS_H
#define TESSERA_RUNTIME_EMULATOR_MEASURE_STATS_H

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::emulator {

/// What a launch counts. Addresses make it several times slower.
enum class MeasureLevel : uint8_t { None, Counts, Addresses };

struct ExecutionCount {
  uint64_t times = 0; ///< Once a wave.
  uint64_t lanes = 0; ///< Lanes that EXEC had on, summed over the times.
};

/// Bytes are those that lanes asked for and got; a segment is a cache line that
/// one instruction touched, counted once for it.
struct MemoryCount {
  uint64_t bytesLoaded = 0;
  uint64_t bytesStored = 0; ///< By atomics, too.
  uint64_t segmentsLoaded = 0;
  uint64_t segmentsStored = 0;
  uint64_t scratchBytesLoaded = 0;
  uint64_t scratchBytesStored = 0;
  uint64_t ldsBytesRead = 0;
  uint64_t ldsBytesWritten = 0;
  uint64_t ldsReadConflictCycles = 0; ///< LdsBanks.cpp has the rules.
  uint64_t ldsWriteConflictCycles = 0;

  MemoryCount &operator+=(const MemoryCount &other);
};

/// Each worker counts into its own; merge() sums them up.
struct LaunchStats {
  std::vector<ExecutionCount> executed; ///< By instruction of the program.
  std::vector<MemoryCount> memory;      ///< The same; empty without addresses.

  void prepare(size_t instructions, MeasureLevel level);
  void merge(const LaunchStats &other);
};

/// Cycles that an LDS access of `bytes` a lane takes beyond the fewest that it
/// could: bank conflicts. LdsBanks.cpp has the rules. At most 64 accesses, in
/// ascending order of lanes.
struct LdsLaneAccess {
  uint32_t lane;
  uint32_t address;
};
uint32_t countLdsConflicts(std::span<const LdsLaneAccess> accesses,
                           uint32_t bytes, uint32_t banks, bool isWrite);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_MEASURE_STATS_H

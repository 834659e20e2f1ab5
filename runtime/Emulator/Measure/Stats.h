//===- Stats.h - What a launch did, in numbers -----------------*- C++ -*--===//
//
// While a launch runs, only this is counted: how often each instruction was
// executed, for how many lanes, and, if asked for, which bytes it accessed.
// Everything that follows from the instruction itself (class, multiplications,
// clocks) is added up afterwards (Measure/Summary.h), so that counting costs
// little.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_MEASURE_STATS_H
#define TESSERA_RUNTIME_EMULATOR_MEASURE_STATS_H

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::emulator {

/// What a launch counts. Counting addresses makes it several times slower.
enum class MeasureLevel : uint8_t { None, Counts, Addresses };

struct ExecutionCount {
  uint64_t times = 0; ///< by waves
  uint64_t lanes = 0; ///< Lanes that were active, summed over the executions.
};

/// Bytes are those that lanes accessed. A segment is a cache line that an
/// instruction touched; several lanes of one instruction count it once.
/// AddressUnit.h says what address clocks are.
struct MemoryCount {
  uint64_t bytesLoaded = 0;
  uint64_t bytesStored = 0; ///< by atomics, too
  uint64_t segmentsLoaded = 0;
  uint64_t segmentsStored = 0;
  uint64_t addressClocks = 0;
  uint64_t scratchBytesLoaded = 0;
  uint64_t scratchBytesStored = 0;
  uint64_t ldsBytesRead = 0;
  uint64_t ldsBytesWritten = 0;
  uint64_t ldsReadConflictCycles = 0; ///< See Base/LdsBanks.cpp.
  uint64_t ldsWriteConflictCycles = 0;

  MemoryCount &operator+=(const MemoryCount &other);
};

/// Each worker thread counts into its own object; merge() adds them up.
struct LaunchStats {
  std::vector<ExecutionCount> executed; ///< by instruction of the program
  /// The same; empty unless addresses are counted.
  std::vector<MemoryCount> memory;

  void prepare(size_t instructions, MeasureLevel level);
  void merge(const LaunchStats &other);
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_MEASURE_STATS_H

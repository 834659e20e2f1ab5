//===- Summary.h - The measurements of one launch --------------*- C++ -*--===//
//
// Combines what was counted (Stats.h) with what instructions cost
// (InstructionCosts.h), and prints it as one line of JSON. The guide,
// docs/guides/emulator.md, explains each figure.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_MEASURE_SUMMARY_H
#define TESSERA_RUNTIME_EMULATOR_MEASURE_SUMMARY_H

#include "runtime/Base/Status.h"
#include "runtime/Emulator/Measure/Occupancy.h"
#include "runtime/Emulator/Measure/Stats.h"

#include <optional>
#include <string>

namespace tessera::emulator {

class Program;

/// What is known of a launch besides the counts.
struct LaunchSummary {
  std::string_view kernel;
  std::string_view chip;
  uint32_t computeUnits = 1;
  std::array<uint32_t, 3> groups{};
  std::array<uint32_t, 3> groupSize{};
  KernelResources resources;
  double timeMs = 0;
  /// Multiply-adds that the problem needs; only the caller can know them.
  std::optional<uint64_t> usefulMacs;

  uint64_t getGroupCount() const {
    return uint64_t(groups[0]) * groups[1] * groups[2];
  }
};

/// Clocks for which the whole launch occupies each unit: of a SIMD for the
/// first four, of a unit for the last two.
struct PipeClocks {
  uint64_t matrix = 0;
  uint64_t valu = 0;
  uint64_t scalar = 0; ///< SALU, scalar loads and branches
  uint64_t wave = 0;   ///< issue slots of the waves
  uint64_t lds = 0;
  uint64_t vmem = 0;
};

/// What the executions of a class of vector memory instructions did.
struct VmemTotals {
  uint64_t times = 0; ///< by waves
  uint64_t bytes = 0;
  uint64_t lines = 0;
  uint64_t addressClocks = 0;
};

struct LaunchTotals {
  std::array<uint64_t, kCostClasses> instructions{};
  uint64_t vectorInstructions = 0; ///< Those that obey EXEC: all but MFMA.
  uint64_t vectorLanes = 0;        ///< lanes that were active in them
  uint64_t macs = 0;
  uint64_t scalarBytesLoaded = 0;
  MemoryCount memory;               ///< without scalar loads
  std::array<VmemTotals, 3> vmem{}; ///< loads, stores, atomics
  PipeClocks pipes;
};

/// `program` must be the program that was counted.
LaunchTotals sumUp(const LaunchSummary &summary, const Program &program,
                   const LaunchStats &stats);

/// The clocks of the busiest resource of the busiest SIMD or unit. This is a
/// model of issue, without latency and without memory beyond L1.
struct IssueEstimate {
  uint64_t clocks = 0;
  const char *limit = "none"; ///< The name of the busiest resource.
  PipeClocks busiest;         ///< In the busiest SIMD or unit.
};
IssueEstimate estimateIssue(const LaunchSummary &summary,
                            const LaunchTotals &totals);

/// Returns what an instruction that is executed `times` times adds to each
/// pipe.
PipeClocks getPipeClocks(const ChipCosts &chip, const InstructionCost &cost,
                         const ExecutionCount &count,
                         const MemoryCount *memory);

/// Returns one line of JSON without a line end. `hasAddresses` says whether
/// totals.memory was counted.
std::string formatSummary(const LaunchSummary &summary,
                          const LaunchTotals &totals, bool hasAddresses);

/// Appends a line to `path`, completely or not at all.
Status appendStats(const std::string &path, const std::string &line);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_MEASURE_SUMMARY_H

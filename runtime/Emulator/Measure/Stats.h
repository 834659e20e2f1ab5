//===- Stats.h - What a launch did, in numbers -----------------*- C++ -*-===//
//
// Counted only when TESSERA_EMULATOR_STATS names a file, one JSON object a
// launch and line, so that the usual run pays nothing.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_MEASURE_STATS_H
#define TESSERA_RUNTIME_EMULATOR_MEASURE_STATS_H

#include "runtime/Emulator/Instruction.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tessera::emulator {

/// Each worker counts into its own; merge() sums them up.
struct LaunchStats {
  std::array<uint64_t, kInstructionClasses> instructions{};
  uint64_t bytesLoaded = 0; ///< Global, flat, buffer and scalar loads.
  uint64_t bytesStored = 0;
  uint64_t ldsBytesRead = 0;
  uint64_t ldsBytesWritten = 0;
  uint64_t ldsReadConflictCycles = 0; ///< LdsBanks.cpp has the rules.
  uint64_t ldsWriteConflictCycles = 0;

  void merge(const LaunchStats &other);
};

/// What is known of a launch besides the counts.
struct LaunchSummary {
  std::string_view kernel;
  std::string_view chip;
  std::array<uint32_t, 3> groups{};
  std::array<uint32_t, 3> groupSize{};
  uint32_t ldsBytes = 0;
  double timeMs = 0;
};

/// One line of JSON, without the line end.
std::string formatStats(const LaunchSummary &summary, const LaunchStats &stats);

/// Appends a line to `path`. A file that cannot be written is reported once
/// on stderr: statistics never fail a launch.
void appendStats(const std::string &path, const std::string &line);

/// Cycles that an LDS access of `bytes` a lane takes beyond the fewest that it
/// could: bank conflicts. LdsBanks.cpp has the rules.
struct LdsLaneAccess {
  uint32_t lane;
  uint32_t address;
};
uint32_t countLdsConflicts(std::span<const LdsLaneAccess> accesses,
                           uint32_t bytes, uint32_t banks, bool isWrite);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_MEASURE_STATS_H

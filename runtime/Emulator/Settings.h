//===- Settings.h - What the environment asks of the emulator --*- C++ -*--===//

#ifndef TESSERA_RUNTIME_EMULATOR_SETTINGS_H
#define TESSERA_RUNTIME_EMULATOR_SETTINGS_H

#include "runtime/Emulator/Check/CheckSet.h"
#include "runtime/Emulator/Measure/Stats.h"

#include <cstdint>
#include <string>

namespace tessera::emulator {

/// Read from the environment; docs/guides/emulator.md lists the variables.
struct Settings {
  std::string chip = "gfx942"; ///< TESSERA_DEVICE=emulated:gfx942
  unsigned threads = 1;        ///< TESSERA_EMULATOR_THREADS
  uint64_t maxInstructions = uint64_t(1)
                             /// Per wave: TESSERA_EMULATOR_MAX_INSTRUCTIONS
                             << 30;
  /// Groups of one launch to execute, spread over its grid; 0 means all:
  /// TESSERA_EMULATOR_GROUPS. For programs that do not look at results and
  /// would otherwise take days.
  uint64_t maxGroups = 0;
  /// Accesses beyond the end of LDS do what the hardware does: stores are
  /// dropped and loads give 0. Otherwise they are faults. dnn-emu alone sets it.
  bool ignoresLdsOverruns = false;
  CheckSet checks = CheckSet::defaults(); ///< TESSERA_EMULATOR_CHECK
  std::string statsPath;                  ///< TESSERA_EMULATOR_STATS
  /// What the statistics count: TESSERA_EMULATOR_STATS_ADDRESSES=0 leaves out
  /// what needs the address of every access.
  MeasureLevel statsLevel = MeasureLevel::Addresses;
  bool logErrors = true; ///< TESSERA_EMULATOR_LOG=0 silences stderr.
};

/// Reads the settings and reports invalid values on stderr.
Settings readSettings();
/// Returns what readSettings() returned the first time.
const Settings &readSettingsOnce();

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_SETTINGS_H

//===- Options.h - The command line of dnn-emu -----------------*- C++ -*--===//

#ifndef TESSERA_TOOLS_DNN_EMU_OPTIONS_H
#define TESSERA_TOOLS_DNN_EMU_OPTIONS_H

#include "runtime/Emulator/Check/CheckSet.h"
#include "tools/dnn-emu/ArgumentSpec.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::emu {

/// The value of --dump N=FILE.
struct DumpSpec {
  unsigned argument;
  std::string path;
};

/// The value of --compare N=FILE[:RTOL]: bitwise without a tolerance.
struct CompareSpec {
  unsigned argument;
  std::string path;
  std::optional<double> tolerance;
};

struct EmuOptions {
  std::string file;
  std::string kernel; ///< May be empty when the file has only one.
  std::string target; ///< Empty: that of the file.
  std::array<uint32_t, 3> grid{1, 1, 1}; ///< In workgroups.
  /// Zeros select the kernel's own block, or 64,1,1.
  std::array<uint32_t, 3> block{};
  uint32_t dynamicLdsBytes = 0;
  bool ignoresLdsOverruns = false;
  uint64_t groups = 0; ///< To execute, spread over the grid; 0: all.
  std::vector<ArgumentSpec> arguments;
  std::vector<DumpSpec> dumps;
  std::vector<CompareSpec> compares;
  emulator::CheckSet checks = emulator::CheckSet::defaults();
  unsigned threads = 0; ///< 0: as many as the host has.
  uint64_t maxInstructions = uint64_t(1) << 30;
  bool trace = false;
  std::string tracePath; ///< Empty: stdout.
  /// Workgroup and wave; if empty, all of them.
  std::optional<std::array<uint32_t, 2>> traceWave;
  uint64_t traceLimit = 10000;
  bool stats = false;
  std::string statsPath; ///< Empty: stdout.
  std::optional<uint64_t> usefulMacs;
  bool profile = false;
  bool time = false;
  std::string timePath;     ///< Empty: stdout, for people.
  std::string timelinePath; ///< Empty: none.
  /// Parameters of the timing model to change, by name.
  std::vector<std::pair<std::string, double>> timeParameters;
  bool list = false;
  bool disassemble = false;
  bool help = false;
  bool checkHelp = false;
};

ErrorOr<EmuOptions> parseOptions(int argc, char **argv);

void printHelp();
void printCheckHelp();

} // namespace tessera::emu

#endif // TESSERA_TOOLS_DNN_EMU_OPTIONS_H

//===- GroupTrace.h - What the waves of a workgroup have done --*- C++ -*--===//
//
// The timing model does not execute: it replays what was recorded. A wave's
// trace is the instructions in their order and, for each memory instruction,
// for how long it holds the address unit or LDS and which lines it touched.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_TIME_GROUPTRACE_H
#define TESSERA_RUNTIME_EMULATOR_TIME_GROUPTRACE_H

#include <cstdint>
#include <vector>

namespace tessera::emulator {

/// One execution of a memory instruction.
struct MemoryStep {
  uint32_t firstLine = 0; ///< Index in WaveTrace::lines.
  uint16_t lines = 0;
  uint16_t addressClocks = 0; ///< of the address unit
  uint16_t dataClocks = 0;    ///< lanes * bytes / what L1 gives in a clock
  uint16_t ldsClocks = 0;     ///< conflicts included
};

struct WaveTrace {
  std::vector<uint32_t> steps;    ///< Instruction::index
  std::vector<MemoryStep> memory; ///< of the memory instructions among them
  std::vector<uint32_t> lines;    ///< LineNames' names
  uint64_t executed = 0;          ///< May be more than there are steps.
};

struct GroupTrace {
  uint64_t group = 0; ///< x first
  std::vector<WaveTrace> waves;
  /// Whether it was ended when enough of it was recorded: what was executed is
  /// not all that the launch would execute.
  bool isCut = false;

  uint64_t getSteps() const {
    uint64_t sum = 0;
    for (const WaveTrace &wave : waves)
      sum += wave.steps.size();
    return sum;
  }
  uint64_t getExecuted() const {
    uint64_t sum = 0;
    for (const WaveTrace &wave : waves)
      sum += wave.executed;
    return sum;
  }
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_TIME_GROUPTRACE_H

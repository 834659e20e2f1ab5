//===- StepTable.h - What the timing model knows of an instruction -*- C++ -*-//

#ifndef TESSERA_RUNTIME_EMULATOR_TIME_STEPTABLE_H
#define TESSERA_RUNTIME_EMULATOR_TIME_STEPTABLE_H

#include "runtime/Emulator/Check/WaitModel.h"
#include "runtime/Emulator/Decode/Effects.h"
#include "runtime/Emulator/Measure/InstructionCosts.h"
#include "runtime/Emulator/Time/ChipTimes.h"

#include <optional>

namespace tessera::emulator {

/// The units that take one instruction of a SIMD each time that it may
/// issue.
enum class IssuePort : uint8_t { Valu, Scalar, Vmem, Lds, Branch, Internal };

struct StepInfo {
  IssuePort port = IssuePort::Internal;
  CostClass kind = CostClass::Other;
  uint32_t issueClocks = 0;
  uint32_t valuClocks = 0;
  uint32_t matrixClocks = 0;
  bool hasMemoryStep = false;
  bool isBarrier = false, isWait = false, isEnd = false;
  /// Of a wave that sleeps: clocks.
  uint32_t sleepClocks = 0;
  WaitTraits wait;
  /// Vector registers that are read and written; of a matrix instruction the
  /// addend is left out of `reads` where it is also the destination.
  Effects reads, writes;
};

/// Computed for each instruction when it is first needed.
class StepTable {
public:
  StepTable(const Chip &chip, const ChipTimes &times, const Program &program,
            unsigned lanes);
  const StepInfo &get(uint32_t index);

private:
  StepInfo make(const Instruction &instruction);

  const Program &program;
  const ChipCosts &costs;
  const ChipTimes &times;
  const unsigned lanes;
  WaitTable waits;
  std::vector<std::optional<StepInfo>> steps;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_TIME_STEPTABLE_H

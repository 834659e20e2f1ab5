//===- StepTable.cpp - What the timing model knows of an instruction ------===//

#include "runtime/Emulator/Time/StepTable.h"

using namespace tessera::emulator;

/// s_sleep n: 64 clocks each (ISA guides).
static constexpr uint32_t kSleepClocks = 64;

StepTable::StepTable(const Chip &chip, const ChipTimes &times,
                     const Program &program, unsigned lanes)
    : program(program), costs(getChipCosts(chip.name)), times(times),
      lanes(lanes), waits(chip, program), steps(program.size()) {}

const StepInfo &StepTable::get(uint32_t index) {
  std::optional<StepInfo> &step = steps[index];
  if (!step)
    step = make(program.getBegin()[index]);
  return *step;
}

static IssuePort getPort(CostClass kind) {
  if (kind <= CostClass::Valu)
    return IssuePort::Valu;
  if (kind <= CostClass::Smem)
    return IssuePort::Scalar;
  if (kind <= CostClass::VmemAtomic)
    return IssuePort::Vmem;
  if (kind <= CostClass::LdsAtomic)
    return IssuePort::Lds;
  return kind == CostClass::Branch ? IssuePort::Branch : IssuePort::Internal;
}

static bool contains(const Effects &uses, const RegisterUse &use) {
  return std::ranges::any_of(uses, [&](const RegisterUse &other) {
    return other.first == use.first && other.dwords == use.dwords;
  });
}

static bool isProduct(std::string_view text) {
  return text.starts_with("v_mul_lo_u32") || text.starts_with("v_mul_hi_") ||
         text.starts_with("v_mad_u64_u32") || text.starts_with("v_mad_i64_i32");
}

static bool isWideConversion(std::string_view text) {
  return text.starts_with("v_cvt_") &&
         text.substr(0, text.find(' ')).find("f64") != text.npos;
}

StepInfo StepTable::make(const Instruction &instruction) {
  const std::string &text = program.getText(instruction);
  const InstructionCost cost = getInstructionCost(costs, lanes, text);
  StepInfo info;
  info.kind = cost.kind;
  info.port = getPort(cost.kind);
  info.issueClocks = cost.issueClocks;
  if (info.port == IssuePort::Valu)
    info.issueClocks =
        std::max(info.issueClocks, static_cast<uint32_t>(times.vectorClocks));
  info.valuClocks = isProduct(text) ? static_cast<uint32_t>(times.productClocks)
                    : isWideConversion(text)
                        ? static_cast<uint32_t>(times.convertClocks)
                        : cost.valuClocks;
  info.matrixClocks = cost.matrixClocks;
  info.hasMemoryStep = instruction.kind >= InstructionClass::Smem &&
                       instruction.kind <= InstructionClass::LdsWrite;
  info.isBarrier = cost.kind == CostClass::Barrier;
  info.isWait = cost.kind == CostClass::Wait;
  info.isEnd = text.starts_with("s_endpgm");
  if (text.starts_with("s_sleep"))
    info.sleepClocks =
        kSleepClocks * static_cast<uint8_t>(instruction.getSimm16());
  info.wait = waits.get(instruction);
  for (const RegisterUse &use : program.getEffects(instruction))
    if (!use.isScalar)
      (use.isWrite ? info.writes : info.reads).push_back(use);
  if (info.kind == CostClass::Matrix)
    std::erase_if(info.reads, [&](const RegisterUse &use) {
      return contains(info.writes, use);
    });
  return info;
}

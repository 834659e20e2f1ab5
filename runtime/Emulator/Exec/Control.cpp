//===- Control.cpp - Branches, waits, barriers, the end ---------------===//
//
// Memory instructions take effect at once and in order, so waits have nothing
// to wait for; they are still counted.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Decode/Program.h"
#include "runtime/Emulator/Exec/OpcodeTable.h"
#include "runtime/Emulator/Wave.h"

#include <chrono>

using namespace tessera::emulator;

static void doNothing(Wave &, const Instruction &) {}

static void endProgram(Wave &wave, const Instruction &) {
  wave.stop = StopReason::End;
}

static void yield(Wave &wave, const Instruction &) {
  wave.stop = StopReason::Yield;
}

static void trap(Wave &wave, const Instruction &in) {
  wave.fail(FaultKind::IllegalState, in, -1, 0, "the kernel trapped");
}

static void jump(Wave &wave, const Instruction &in, uint64_t address) {
  if (const Instruction *next = wave.group->program->find(address))
    wave.pc = next;
  else
    wave.fail(FaultKind::IllegalAddress, in, -1, address,
              "jump to where no instruction starts");
}

static void branch(Wave &wave, const Instruction &in) {
  jump(wave, in,
       wave.group->program->getNextAddress(in) +
           static_cast<uint64_t>(int64_t(in.getSimm16()) * 4));
}

namespace {
enum class Condition { Scc0, Scc1, Vccz, Vccnz, Execz, Execnz };
} // namespace

template <Condition C>
static void branchIf(Wave &wave, const Instruction &in) {
  bool taken = false;
  switch (C) {
  case Condition::Scc0:
    taken = !wave.scc;
    break;
  case Condition::Scc1:
    taken = wave.scc;
    break;
  case Condition::Vccz:
    taken = wave.readMask(kVccLo) == 0;
    break;
  case Condition::Vccnz:
    taken = wave.readMask(kVccLo) != 0;
    break;
  case Condition::Execz:
    taken = wave.exec == 0;
    break;
  case Condition::Execnz:
    taken = wave.exec != 0;
    break;
  }
  if (taken)
    branch(wave, in);
}

static void getPc(Wave &wave, const Instruction &in) {
  wave.writeScalar64(in.op[0].reg, wave.group->program->getNextAddress(in));
}
static void setPc(Wave &wave, const Instruction &in) {
  jump(wave, in, wave.scalar64(in.op[0]));
}
static void swapPc(Wave &wave, const Instruction &in) {
  uint64_t target = wave.scalar64(in.op[1]);
  getPc(wave, in);
  jump(wave, in, target);
}
static void call(Wave &wave, const Instruction &in) {
  getPc(wave, in);
  branch(wave, in);
}

// simm16 = id[5:0] | offset << 6 | (size - 1) << 11.
static constexpr unsigned kHwMode = 1;

static uint32_t readHardware(const Wave &wave, unsigned id) {
  return id == kHwMode ? wave.mode : 0;
}

// Printed as "s_getreg_b32 s1, hwreg(...)"; SOPK has the register in bits
// 22:16.
static void getHardwareRegister(Wave &wave, const Instruction &in) {
  unsigned id = in.raw[0] & 63, offset = in.raw[0] >> 6 & 31;
  unsigned size = (in.raw[0] >> 11 & 31) + 1;
  uint32_t value = readHardware(wave, id) >> offset;
  wave.writeScalar(in.raw[0] >> 16 & 0x7f,
                   size < 32 ? value & ((1u << size) - 1) : value);
}

static void setHardware(Wave &wave, const Instruction &in, uint32_t value) {
  unsigned id = in.raw[0] & 63, offset = in.raw[0] >> 6 & 31;
  unsigned size = (in.raw[0] >> 11 & 31) + 1;
  uint32_t mask = (size < 32 ? (1u << size) - 1 : ~0u) << offset;
  // FLAT_SCRATCH of RDNA2 is one that kernels set: it says nothing that the
  // wave does not know, like all others that are not emulated.
  if (id != kHwMode)
    return;
  uint32_t mode = (wave.mode & ~mask) | (value << offset & mask);
  if (mode & 0xf)
    wave.fail(FaultKind::UnknownInstruction, in, -1, 0,
              "only rounding to nearest even is emulated");
  wave.setMode(mode);
}
static void setHardwareRegister(Wave &wave, const Instruction &in) {
  // Printed as "s_setreg_b32 hwreg(...), s1"; the register is in the encoding.
  setHardware(wave, in, wave.readScalar(in.raw[0] >> 16 & 0x7f));
}
static void setHardwareConstant(Wave &wave, const Instruction &in) {
  setHardware(wave, in, in.raw[1]);
}
static void setDenormMode(Wave &wave, const Instruction &in) {
  wave.setMode((wave.mode & ~0xf0u) | (in.raw[0] & 0xf) << 4);
}
static void setRoundMode(Wave &wave, const Instruction &in) {
  if (in.raw[0] & 0xf)
    wave.fail(FaultKind::UnknownInstruction, in, -1, 0,
              "only rounding to nearest even is emulated");
}

static void readClock(Wave &wave, const Instruction &in) {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  wave.writeScalar64(
      in.op[0].reg,
      static_cast<uint64_t>(std::chrono::nanoseconds(now).count()) / 10);
}

static void addBranches(OpcodeTable &table) {
  auto addRow = [&](const char *name, Handler handler,
                    std::vector<ValueType> types = {}) {
    table.add(name, {handler, InstructionClass::Branch, 0, std::move(types)});
  };
  addRow("s_branch", branch);
  addRow("s_cbranch_scc0", branchIf<Condition::Scc0>);
  addRow("s_cbranch_scc1", branchIf<Condition::Scc1>);
  addRow("s_cbranch_vccz", branchIf<Condition::Vccz>);
  addRow("s_cbranch_vccnz", branchIf<Condition::Vccnz>);
  addRow("s_cbranch_execz", branchIf<Condition::Execz>);
  addRow("s_cbranch_execnz", branchIf<Condition::Execnz>);
  addRow("s_getpc_b64", getPc, {ValueType::U64});
  addRow("s_setpc_b64", setPc, {ValueType::U64});
  addRow("s_swappc_b64", swapPc, {ValueType::U64, ValueType::U64});
  addRow("s_call_b64", call, {ValueType::U64});
  addRow("s_endpgm", endProgram);
  addRow("s_trap", trap);
}

static void addWaits(OpcodeTable &table) {
  for (const char *name :
       {"s_waitcnt", "s_waitcnt_vscnt", "s_waitcnt_vmcnt", "s_waitcnt_expcnt",
        "s_waitcnt_lgkmcnt", "s_waitcnt_depctr", "s_wait_idle"})
    table.add(name, {doNothing, InstructionClass::Wait, 0, {}});
  table.add("s_sleep", {yield, InstructionClass::Other, 0, {}});
  for (const char *name :
       {"s_nop", "s_clause", "s_setprio", "s_inst_prefetch",
        "s_set_inst_prefetch_distance", "s_sendmsg", "s_sethalt", "s_delay_alu",
        "s_icache_inv", "s_dcache_inv", "s_dcache_wb", "s_dcache_inv_vol",
        "s_dcache_wb_vol", "s_gl1_inv", "s_ttracedata", "s_incperflevel",
        "s_decperflevel", "s_code_end", "v_nop"})
    table.add(name, {doNothing, InstructionClass::Other, 0, {}});
}

void tessera::emulator::addControl(OpcodeTable &table) {
  addBranches(table);
  addWaits(table);
  auto addRow = [&](const char *name, Handler handler,
                    std::vector<ValueType> types = {}) {
    table.add(name, {handler, InstructionClass::Salu, 0, std::move(types)});
  };
  addRow("s_setreg_b32", setHardwareRegister);
  addRow("s_setreg_imm32_b32", setHardwareConstant);
  addRow("s_denorm_mode", setDenormMode);
  addRow("s_round_mode", setRoundMode);
  addRow("s_memtime", readClock, {ValueType::U64});
  addRow("s_memrealtime", readClock, {ValueType::U64});
  addRow("s_getreg_b32", getHardwareRegister);
}

//===- Control.cpp - Branches, waits, barriers, the end -------------------===//
//
// Memory instructions take effect at once and in order, so waits do nothing but
// are still counted.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Decode/Program.h"
#include "runtime/Emulator/Exec/OpcodeTable.h"
#include "runtime/Emulator/Wave.h"

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
  for (const char *name : {"s_nop",
                           "s_clause",
                           "s_setprio",
                           "s_inst_prefetch",
                           "s_set_inst_prefetch_distance",
                           "s_sendmsg",
                           "s_sethalt",
                           "s_delay_alu",
                           "s_icache_inv",
                           "s_dcache_inv",
                           "s_dcache_wb",
                           "s_dcache_inv_vol",
                           "s_dcache_wb_vol",
                           "s_gl1_inv",
                           "s_ttracedata",
                           "s_incperflevel",
                           "s_decperflevel",
                           "s_code_end",
                           "s_version",
                           "s_wait_alu",
                           "v_nop",
                           "v_pipeflush"})
    table.add(name, {doNothing, InstructionClass::Other, 0, {}});
}

void tessera::emulator::addControl(OpcodeTable &table) {
  addBranches(table);
  addWaits(table);
}

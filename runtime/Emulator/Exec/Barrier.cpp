//===- Barrier.cpp - Barriers, whole and in two parts ---------------------===//
//
// gfx12 splits the barrier: a wave signals, may continue, and waits later. The
// older s_barrier is a signal and a wait in one. Handlers count signals; the
// workgroup's thread completes barriers, because only it sees all waves.
//
// Sources: AMD's RDNA4 pseudocode of S_BARRIER_SIGNAL, _SIGNAL_ISFIRST and
// _WAIT. A wave's "complete" bit is kept as the number of barriers that it has
// seen completed: the bit is set when that differs from the group's number.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/OpcodeTable.h"
#include "runtime/Emulator/Wave.h"

using namespace tessera::emulator;

static void arriveAndWait(Wave &wave, const Instruction &) {
  ++wave.group->barrierSignals;
  wave.stop = StopReason::Barrier;
}

/// Number -1 is the workgroup's barrier and 0 is none. A kernel may not use the
/// trap handler's barriers, and named barriers are useful from gfx12.5 on only.
static bool isGroupBarrier(Wave &wave, const Instruction &in, int32_t number) {
  if (number == -1)
    return true;
  if (number != 0)
    wave.fail(FaultKind::UnknownInstruction, in, -1, 0,
              "only the barrier of the workgroup is emulated");
  return false;
}

static int32_t getNumber(const Wave &wave, const Instruction &in,
                         unsigned operand) {
  const Operand &number = in.op[operand];
  // M0 names one of 32 barriers and so cannot be negative.
  return number.kind == OperandKind::Scalar
             ? static_cast<int32_t>(wave.readScalar(kM0) & 31)
             : static_cast<int32_t>(number.value[0]);
}

template <bool AsksForFirst>
static void signal(Wave &wave, const Instruction &in) {
  GroupContext &group = *wave.group;
  bool counts = isGroupBarrier(wave, in, getNumber(wave, in, 0));
  // A group of one wave has no barrier, so its wave cannot be the first there.
  if (AsksForFirst)
    wave.scc = counts && group.waveCount > 1 &&
               group.barrierSignals % group.liveWaves == 0;
  group.barrierSignals += counts;
}

static void wait(Wave &wave, const Instruction &in) {
  if (!isGroupBarrier(wave, in, in.getSimm16()))
    return;
  if (wave.barriersSeen == wave.group->barriersDone)
    wave.stop = StopReason::Barrier;
  else
    wave.barriersSeen = wave.group->barriersDone;
}

/// Writes {valid, members, signals} to bits 0, 10:4 and 22:16.
static void getState(Wave &wave, const Instruction &in) {
  if (!isGroupBarrier(wave, in, getNumber(wave, in, 1)))
    return;
  const GroupContext &group = *wave.group;
  uint32_t signals = group.barrierSignals % group.liveWaves;
  wave.writeScalar(in.op[0].reg, 1u | group.liveWaves << 4 | signals << 16);
}

void tessera::emulator::addBarriers(OpcodeTable &table) {
  auto add = [&](const char *name, Handler handler, InstructionClass kind,
                 std::vector<ValueType> types = {}) {
    table.add(name, {handler, kind, 0, std::move(types)});
  };
  const std::vector<ValueType> one{ValueType::I32};
  add("s_barrier", arriveAndWait, InstructionClass::Barrier);
  add("s_barrier_signal", signal<false>, InstructionClass::Other, one);
  add("s_barrier_signal_isfirst", signal<true>, InstructionClass::Other, one);
  add("s_barrier_wait", wait, InstructionClass::Barrier);
  add("s_get_barrier_state", getState, InstructionClass::Salu,
      {ValueType::U32, ValueType::I32});
  // These wait for counters of memory operations, which complete at issue here.
  for (const char *name :
       {"s_wait_loadcnt", "s_wait_storecnt", "s_wait_dscnt", "s_wait_kmcnt",
        "s_wait_expcnt", "s_wait_samplecnt", "s_wait_bvhcnt",
        "s_wait_loadcnt_dscnt", "s_wait_storecnt_dscnt", "s_wait_event"})
    add(name, [](Wave &, const Instruction &) {}, InstructionClass::Wait);
}

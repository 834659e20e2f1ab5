//===- LaneMove.cpp - Moves between lanes ---------------------------------===//

#include "runtime/Emulator/Exec/VectorOps.h"

using namespace tessera::emulator;

static uint32_t readLane(Wave &wave, const Operand &source, unsigned lane) {
  return source.kind == OperandKind::Vector ? wave.vector[source.reg][lane]
                                            : wave.scalar32(source);
}

static void readFirstLane(Wave &wave, const Instruction &in) {
  unsigned lane =
      wave.exec ? static_cast<unsigned>(std::countr_zero(wave.exec)) : 0;
  wave.writeScalar(in.op[0].reg, readLane(wave, in.op[1], lane));
}

static void readAnyLane(Wave &wave, const Instruction &in) {
  unsigned lane = wave.scalar32(in.op[2]) % wave.lanes;
  wave.writeScalar(in.op[0].reg, readLane(wave, in.op[1], lane));
}

static void writeLane(Wave &wave, const Instruction &in) {
  unsigned lane = wave.scalar32(in.op[2]) % wave.lanes;
  wave.vector[in.op[0].reg][lane] = wave.scalar32(in.op[1]);
}

/// Adds the number of mask bits below each lane.
template <bool High>
static void countBelow(Wave &wave, const Instruction &in) {
  LaneRows mask = wave.source(in, 1, 0), base = wave.source(in, 2, 1);
  RowTarget target = wave.beginWrite(in);
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    unsigned bit = High ? (lane > 32 ? lane - 32 : 0) : lane;
    uint32_t below = bit >= 32 ? ~0u : (1u << bit) - 1;
    target.lo[lane] =
        static_cast<uint32_t>(std::popcount(mask.lo[lane] & below)) +
        base.lo[lane];
  }
  if (!target.direct)
    wave.finishWrite(in, ValueType::U32);
}

static void swapRows(Wave &wave, const Instruction &in) {
  LaneRow a, b;
  std::memcpy(a, wave.vector[in.op[0].reg], sizeof a);
  std::memcpy(b, wave.vector[in.op[1].reg], sizeof b);
  wave.writeRow(in.op[0].reg, b);
  wave.writeRow(in.op[1].reg, a);
}

/// v_permlane16 and v_permlanex16: each lane of a row of 16 reads the lane that
/// a nibble of {src2, src1} selects, in its own row or in the other row of the
/// pair.
template <bool Cross>
static void permuteLanes16(Wave &wave, const Instruction &in) {
  uint64_t selectors =
      wave.scalar32(in.op[2]) | uint64_t(wave.scalar32(in.op[3])) << 32;
  // op_sel[0] means that inactive lanes are read, op_sel[1] is bound_ctrl.
  bool fetchInactive = in.opSel & 1, boundControl = in.opSel & 2;
  const uint32_t *from = wave.vector[in.op[1].reg];
  const uint32_t *old = wave.vector[in.op[0].reg];
  alignas(64) LaneRow out;
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    unsigned row = lane / 16 ^ (Cross ? 1 : 0);
    unsigned source =
        row * 16 + static_cast<unsigned>(selectors >> (4 * (lane % 16)) & 15);
    bool readable = fetchInactive || (wave.exec >> source & 1);
    out[lane] = readable ? from[source] : boundControl ? 0 : old[lane];
  }
  wave.writeRow(in.op[0].reg, out);
}

/// v_permlane16_var: the nibble is in the lane's own src1.
template <bool Cross>
static void permuteLanes16ByLane(Wave &wave, const Instruction &in) {
  bool fetchInactive = in.opSel & 1, boundControl = in.opSel & 2;
  const uint32_t *from = wave.vector[in.op[1].reg];
  const uint32_t *select = wave.source(in, 2, 1).lo;
  const uint32_t *old = wave.vector[in.op[0].reg];
  alignas(64) LaneRow out;
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    unsigned source =
        (lane / 16 ^ (Cross ? 1u : 0u)) * 16 + (select[lane] & 15);
    bool readable = fetchInactive || (wave.exec >> source & 1);
    out[lane] = readable ? from[source] : boundControl ? 0 : old[lane];
  }
  wave.writeRow(in.op[0].reg, out);
}

/// v_permlane64: swaps the halves of a wave of 64; a wave of 32 stays as it is.
static void permuteHalves(Wave &wave, const Instruction &in) {
  if (!wave.isWave64())
    return;
  const uint32_t *from = wave.vector[in.op[1].reg];
  alignas(64) LaneRow out;
  for (unsigned lane = 0; lane < kMaxLanes; ++lane)
    out[lane] = from[lane ^ 32];
  wave.writeRow(in.op[0].reg, out);
}

/// v_swap_b16: each operand is one half of a register.
static void swapHalves(Wave &wave, const Instruction &in) {
  const Operand &a = in.op[0], &b = in.op[1];
  unsigned shiftA = a.modifiers & kHighHalf ? 16 : 0;
  unsigned shiftB = b.modifiers & kHighHalf ? 16 : 0;
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    if (!(wave.exec >> lane & 1))
      continue;
    uint32_t &wordA = wave.vector[a.reg][lane];
    uint32_t &wordB = wave.vector[b.reg][lane];
    uint32_t fromA = wordA >> shiftA & 0xffff, fromB = wordB >> shiftB & 0xffff;
    wordA = (wordA & ~(0xffffu << shiftA)) | fromB << shiftA;
    wordB = (wordB & ~(0xffffu << shiftB)) | fromA << shiftB;
  }
}

/// v_movrelsd_2 and v_swaprel: M0[9:0] is added to the source, M0[25:16] to the
/// destination.
template <bool Swaps>
static void moveRelativeBoth(Wave &wave, const Instruction &in) {
  uint32_t offsets = wave.readScalar(kM0);
  unsigned from = in.op[1].reg + (offsets & 0x3ff);
  unsigned to = in.op[0].reg + (offsets >> 16 & 0x3ff);
  if (to >= kAccumulationRow || from >= kAccumulationRow) {
    wave.fail(FaultKind::IllegalState, in, -1, 0,
              "a register number relative to M0 is out of range");
    return;
  }
  LaneRow old;
  std::memcpy(old, wave.vector[to], sizeof old);
  wave.writeRow(to, wave.vector[from]);
  if (Swaps)
    wave.writeRow(from, old);
}

/// v_movrels and v_movreld: M0 is added to the register number of the source or
/// destination.
template <bool Source, bool Destination>
static void moveRelative(Wave &wave, const Instruction &in) {
  uint32_t offset = wave.readScalar(kM0);
  unsigned to = in.op[0].reg + (Destination ? offset : 0);
  unsigned from = in.op[1].reg + (Source ? offset : 0);
  if (to >= kAccumulationRow || from >= kAccumulationRow) {
    wave.fail(FaultKind::IllegalState, in, -1, 0,
              "a register number relative to M0 is out of range");
    return;
  }
  if (in.op[1].kind == OperandKind::Vector)
    wave.writeRow(to, wave.vector[from]);
  else
    wave.writeRow(to, wave.rawRow(in.op[1], 0, 0));
}

void tessera::emulator::addLaneMoves(OpcodeTable &table) {
  auto add = [&](const char *name, Handler handler, uint16_t flags = 0) {
    table.add(name, {handler, InstructionClass::Valu, flags,
                     std::vector<ValueType>(4, ValueType::U32)});
  };
  add("v_readfirstlane_b32", readFirstLane);
  add("v_readlane_b32", readAnyLane);
  add("v_writelane_b32", writeLane);
  add("v_mbcnt_lo_u32_b32", countBelow<false>);
  add("v_mbcnt_hi_u32_b32", countBelow<true>);
  add("v_swap_b32", swapRows);
  add("v_permlane16_b32", permuteLanes16<false>, kRawModifiers);
  add("v_permlanex16_b32", permuteLanes16<true>, kRawModifiers);
  add("v_permlane16_var_b32", permuteLanes16ByLane<false>, kRawModifiers);
  add("v_permlanex16_var_b32", permuteLanes16ByLane<true>, kRawModifiers);
  add("v_permlane64_b32", permuteHalves);
  add("v_swap_b16", swapHalves);
  add("v_movrelsd_2_b32", moveRelativeBoth<false>);
  add("v_swaprel_b32", moveRelativeBoth<true>);
  add("v_movrels_b32", moveRelative<true, false>);
  add("v_movreld_b32", moveRelative<false, true>);
  add("v_movrelsd_b32", moveRelative<true, true>);
}

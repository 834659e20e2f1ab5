//===- VectorCarry.cpp - Vector arithmetic with carry or clamp ------------===//
//
// Carries are one bit a lane in scalar registers. The complete mask is written;
// inactive lanes get 0.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/VectorOps.h"

using namespace tessera::emulator;

static uint32_t addCarry(uint32_t a, uint32_t b, uint32_t carry,
                         uint32_t &out) {
  uint32_t sum = a + b, total = sum + carry;
  out = uint32_t(sum < a) | uint32_t(total < sum);
  return total;
}
static uint32_t subBorrow(uint32_t a, uint32_t b, uint32_t borrow,
                          uint32_t &out) {
  uint32_t difference = a - b;
  out = uint32_t(a < b) | uint32_t(difference < borrow);
  return difference - borrow;
}
static uint32_t reverseSubBorrow(uint32_t a, uint32_t b, uint32_t borrow,
                                 uint32_t &out) {
  return subBorrow(b, a, borrow, out);
}

/// "clamp": lanes with a carry out get the end of the range.
static void saturate(const Wave &wave, uint32_t *row, const uint32_t *carry,
                     uint32_t limit) {
  for (unsigned lane = 0; lane < wave.lanes; ++lane)
    row[lane] = carry[lane] & 1 ? limit : row[lane];
}

/// vdst, carry-out, src0, src1 [, carry-in]. Fn(a, b, carryIn, &carryOut) ->
/// result.
template <auto Fn, bool HasCarryIn>
static void addWithCarry(Wave &wave, const Instruction &in) {
  LaneRows a = wave.source(in, 2, 0), b = wave.source(in, 3, 1);
  LaneRows c{};
  if constexpr (HasCarryIn)
    c = wave.source(in, 4, 2);
  alignas(64) LaneRow carryRow;
  uint32_t *const carry = carryRow;
  RowTarget target = wave.beginWrite(in);
  forEachLane(wave, [=](size_t lane) {
    uint32_t carryOut;
    target.lo[lane] =
        Fn(a.lo[lane], b.lo[lane], HasCarryIn ? c.lo[lane] & 1 : 0u, carryOut);
    carry[lane] = carryOut;
  });
  if (in.has(kClamp))
    saturate(wave, target.lo, carry, Fn == addCarry ? ~0u : 0u);
  if (!target.direct)
    wave.finishWrite(in, ValueType::U32);
  wave.writeMask(in.op[1].reg, collectMask(wave, carry) & wave.exec);
}

/// v_mad_u64_u32 vdst, sdst, src0, src1, src2: a 65-bit sum.
template <bool IsSigned>
static void multiplyAdd64(Wave &wave, const Instruction &in) {
  LaneRows a = wave.source(in, 2, 0), b = wave.source(in, 3, 1);
  LaneRows c = wave.source(in, 4, 2);
  alignas(64) LaneRow carryRow;
  uint32_t *const carry = carryRow;
  RowTarget target = wave.beginWrite(in);
  forEachLane(wave, [=](size_t lane) {
    uint64_t addend = c.lo[lane] | uint64_t(c.hi[lane]) << 32;
    uint64_t product =
        IsSigned
            ? static_cast<uint64_t>(int64_t(static_cast<int32_t>(a.lo[lane])) *
                                    static_cast<int32_t>(b.lo[lane]))
            : uint64_t(a.lo[lane]) * b.lo[lane];
    uint64_t sum = product + addend;
    target.lo[lane] = static_cast<uint32_t>(sum);
    target.hi[lane] = static_cast<uint32_t>(sum >> 32);
    carry[lane] = sum < product;
  });
  if (!target.direct)
    wave.finishWrite(in, ValueType::U64);
  wave.writeMask(in.op[1].reg, collectMask(wave, carry) & wave.exec);
}

void tessera::emulator::addVectorCarry(OpcodeTable &table) {
  using enum ValueType;
  auto add = [&](Handler handler, std::initializer_list<const char *> names) {
    for (const char *name : names)
      table.add(name, {handler,
                       InstructionClass::Valu,
                       kClampOk,
                       {U32, Mask, U32, U32, Mask}});
  };
  add(addWithCarry<addCarry, false>, {"v_add_co_u32"});
  add(addWithCarry<subBorrow, false>, {"v_sub_co_u32"});
  add(addWithCarry<reverseSubBorrow, false>, {"v_subrev_co_u32"});
  add(addWithCarry<addCarry, true>, {"v_addc_co_u32", "v_add_co_ci_u32"});
  add(addWithCarry<subBorrow, true>, {"v_subb_co_u32", "v_sub_co_ci_u32"});
  add(addWithCarry<reverseSubBorrow, true>,
      {"v_subbrev_co_u32", "v_subrev_co_ci_u32"});
  for (const char *name : {"v_mad_u64_u32", "v_mad_co_u64_u32"})
    table.add(name, {multiplyAdd64<false>,
                     InstructionClass::Valu,
                     0,
                     {U64, Mask, U32, U32, U64}});
  for (const char *name : {"v_mad_i64_i32", "v_mad_co_i64_i32"})
    table.add(name, {multiplyAdd64<true>,
                     InstructionClass::Valu,
                     0,
                     {I64, Mask, I32, I32, I64}});
}

//===- VectorGfx950.cpp - Vector instructions that came with gfx950 -------===//
//
// Semantics: AMD's CDNA4 instruction pseudocode.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/VectorOps.h"

using namespace tessera::emulator;

using U = uint32_t;
using I = int32_t;

/// v_bitop3: the result is bit 4 a + 2 b + c of a table of eight bits, which is
/// encoded where VOP3 has omod, abs and neg.
template <typename Word>
static void selectByTable(Wave &wave, const Instruction &in) {
  U table =
      (in.raw[1] >> 27 & 3) << 6 | (in.raw[0] >> 8 & 7) << 3 | in.raw[1] >> 29;
  U term[8];
  for (unsigned i = 0; i < 8; ++i)
    term[i] = 0u - (table >> i & 1);
  const U *a = wave.source(in, 1, 0).lo, *b = wave.source(in, 2, 1).lo;
  const U *c = wave.source(in, 3, 2).lo;
  const RowTarget target = wave.beginWrite(in);
  forEachLane(wave, [=](size_t lane) {
    auto pick = [&](U zero, U one) {
      return (zero & ~c[lane]) | (one & c[lane]);
    };
    U bothOff = pick(term[0], term[1]), onlyB = pick(term[2], term[3]);
    U onlyA = pick(term[4], term[5]), both = pick(term[6], term[7]);
    U withoutA = (bothOff & ~b[lane]) | (onlyB & b[lane]);
    U withA = (onlyA & ~b[lane]) | (both & b[lane]);
    target.lo[lane] =
        static_cast<Word>((withoutA & ~a[lane]) | (withA & a[lane]));
  });
  if (!target.direct)
    wave.finishWrite(in, sizeof(Word) == 2 ? ValueType::U16 : ValueType::U32);
}

/// v_permlaneN_swap: swaps the upper N lanes of each 2 N of vdst with the lower
/// N of the source. op_sel[0] means that inactive lanes are read, op_sel[1]
/// that they read as 0; otherwise a lane that would read an inactive one keeps
/// its value.
template <unsigned N>
static void swapLanes(Wave &wave, const Instruction &in) {
  bool isLong = in.bytes == 8;
  bool fetchInactive = isLong && in.raw[0] >> 11 & 1;
  bool boundControl = isLong && in.raw[0] >> 12 & 1;
  alignas(64) LaneRow upper, lower;
  const U *to = wave.vector[in.op[0].reg], *from = wave.vector[in.op[1].reg];
  std::memcpy(upper, to, sizeof upper);
  std::memcpy(lower, from, sizeof lower);
  auto read = [&](const U *row, unsigned lane, U old) {
    if (fetchInactive || wave.exec >> lane & 1)
      return row[lane];
    return boundControl ? 0 : old;
  };
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    if (lane / N % 2)
      upper[lane] = read(from, lane - N, upper[lane]);
    else
      lower[lane] = read(to, lane + N, lower[lane]);
  }
  wave.writeRow(in.op[0].reg, upper);
  wave.writeRow(in.op[1].reg, lower);
}

/// Stochastic rounding to the upper bits of an f32: noise is added to the
/// `Dropped` mantissa bits, which are then cut off.
template <unsigned Dropped>
static float addNoise(float value, U noise) {
  if (!std::isfinite(value))
    return value;
  U bits = std::bit_cast<U>(value) + (noise >> (32 - Dropped));
  return std::bit_cast<float>(bits & ~((1u << Dropped) - 1));
}

static U cutToHalf(float value, U noise) {
  float cut = addNoise<13>(value, noise);
  U half = floatToHalf(cut);
  bool isLarger = std::fabs(halfToFloat(half)) > std::fabs(cut);
  return isLarger && std::isfinite(halfToFloat(half)) ? half - 1 : half;
}
static U cutToBf16(float value, U noise) {
  return floatToBf16(addNoise<16>(value, noise));
}

/// v_cvt_sr_f16_f32 and v_cvt_sr_bf16_f32 write the half that op_sel[3] selects
/// and keep the other.
template <U (*Convert)(float, U)>
static void roundByNoise(Wave &wave, const Instruction &in) {
  const U *value = wave.source(in, 1, 0).lo, *noise = wave.source(in, 2, 1).lo;
  const U *old = wave.vector[in.op[0].reg];
  unsigned shift = in.raw[0] >> 14 & 1 ? 16 : 0;
  alignas(64) LaneRow out;
  for (unsigned lane = 0; lane < wave.lanes; ++lane)
    out[lane] = (old[lane] & ~(0xffffu << shift)) |
                Convert(std::bit_cast<float>(value[lane]), noise[lane])
                    << shift;
  wave.writeRow(in.op[0].reg, out);
}

template <I Low, I High>
static uint16_t shiftAndPack(I a, I b, U count) {
  auto fit = [&](I value) {
    value >>= count & 31;
    return static_cast<U>(value < Low    ? Low
                          : value > High ? High
                                         : value) &
           0xff;
  };
  return static_cast<uint16_t>(fit(a) | fit(b) << 8);
}

void tessera::emulator::addVectorGfx950(OpcodeTable &table) {
  using enum ValueType;
  auto add = [&](const char *name, Handler handler, uint16_t flags,
                 std::vector<ValueType> types) {
    table.add(name, {handler, InstructionClass::Valu, flags, std::move(types)});
  };
  add("v_bitop3_b32", selectByTable<uint32_t>, 0, {U32, U32, U32, U32});
  add("v_bitop3_b16", selectByTable<uint16_t>, kPicksHalf,
      {U16, U16, U16, U16});
  add("v_permlane16_swap_b32", swapLanes<16>, kRawModifiers, {U32, U32});
  add("v_permlane32_swap_b32", swapLanes<32>, kRawModifiers, {U32, U32});
  add("v_cvt_sr_f16_f32", roundByNoise<cutToHalf>, kRawModifiers,
      {U32, F32, U32});
  add("v_cvt_sr_bf16_f32", roundByNoise<cutToBf16>, kRawModifiers,
      {U32, F32, U32});
  addVector<[](U a) { return a << 1 ^ (a >> 31 ? 197u : 0u); }>(table,
                                                                "v_prng_b32");
  addVector<[](I a, I b, U c) { return shiftAndPack<-128, 127>(a, b, c); }>(
      table, "v_ashr_pk_i8_i32");
  addVector<[](I a, I b, U c) { return shiftAndPack<0, 255>(a, b, c); }>(
      table, "v_ashr_pk_u8_i32");
  addVector<[](uint16_t a) { return bf16ToFloat(a); }>(table, "v_cvt_f32_bf16");
}

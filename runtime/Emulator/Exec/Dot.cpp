//===- Dot.cpp - Dot products and mixed-precision fma ---------------------===//

#include "runtime/Emulator/Exec/Float8.h"
#include "runtime/Emulator/Exec/VectorOps.h"

using namespace tessera::emulator;

// The published form is c += a0 * b0; c += a1 * b1. Products of two f16 are
// exact in f32, so each step rounds once here. It is not published how the
// hardware rounds in between.
static float dotHalf(uint32_t a, uint32_t b, float c) {
  c = __builtin_fmaf(halfToFloat(a), halfToFloat(b), c);
  return __builtin_fmaf(halfToFloat(a >> 16), halfToFloat(b >> 16), c);
}
static float dotBf16(uint32_t a, uint32_t b, float c) {
  c = __builtin_fmaf(bf16ToFloat(a), bf16ToFloat(b), c);
  return __builtin_fmaf(bf16ToFloat(a >> 16), bf16ToFloat(b >> 16), c);
}

/// Returns one source with its halves in the order that op_sel and op_sel_hi
/// ask for, and with signs flipped by neg_lo and neg_hi. Usually this is the
/// source itself.
static const uint32_t *arrangeHalves(const Wave &wave, const Instruction &in,
                                     unsigned s, const uint32_t *row,
                                     LaneRow &scratch) {
  uint32_t lowShift = in.opSel >> s & 1 ? 16 : 0;
  uint32_t highShift = in.opSelHi >> s & 1 ? 16 : 0;
  uint32_t flip =
      (in.negLo >> s & 1 ? 0x8000u : 0) | (in.negHi >> s & 1 ? 0x80000000u : 0);
  if (lowShift == 0 && highShift == 16 && !flip)
    return row;
  uint32_t *to = scratch;
  forEachLane(wave, [=](size_t lane) {
    uint32_t low = row[lane] >> lowShift & 0xffff;
    uint32_t high = row[lane] >> highShift & 0xffff;
    to[lane] = (low | high << 16) ^ flip;
  });
  return scratch;
}

// As published, each step rounds to the type of the result.
static F16 dotToHalf(uint32_t a, uint32_t b, F16 c) {
  auto step = [](uint32_t x, uint32_t y, float sum) {
    double exact = double(halfToFloat(x)) * halfToFloat(y) + double(sum);
    return halfToFloat(floatToHalf(roundToOdd(exact)));
  };
  return {step(a >> 16, b >> 16, step(a, b, c.value))};
}
static uint32_t dotToBf16(uint32_t a, uint32_t b, uint32_t c) {
  auto step = [](uint32_t x, uint32_t y, uint32_t sum) {
    double exact =
        double(bf16ToFloat(x)) * bf16ToFloat(y) + double(bf16ToFloat(sum));
    return floatToBf16(roundToOdd(exact));
  };
  return step(a >> 16, b >> 16, step(a & 0xffff, b & 0xffff, c));
}

/// Computes v_dot2_f16_f16.
static void dotHalfResult(Wave &wave, const Instruction &in) {
  const uint32_t *a = wave.source(in, 1, 0).lo, *b = wave.source(in, 2, 1).lo;
  const LaneRows c = wave.source(in, 3, 2);
  const RowTarget target = wave.beginWrite(in);
  forEachLane(wave, [=](size_t lane) {
    Lane<F16>::put(target, lane,
                   dotToHalf(a[lane], b[lane], Lane<F16>::get(c, lane)));
  });
  if (!target.direct)
    wave.finishWrite(in, ValueType::F16);
}

/// Computes v_dot2_bf16_bf16.
static void dotBf16Result(Wave &wave, const Instruction &in) {
  const uint32_t *a = wave.source(in, 1, 0).lo, *b = wave.source(in, 2, 1).lo;
  const uint32_t *c = wave.source(in, 3, 2).lo;
  const RowTarget target = wave.beginWrite(in);
  forEachLane(wave, [=](size_t lane) {
    target.lo[lane] = dotToBf16(a[lane], b[lane], c[lane]);
  });
  if (!target.direct)
    wave.finishWrite(in, ValueType::U16);
}

template <auto Fn>
static void dotFloat(Wave &wave, const Instruction &in) {
  alignas(64) LaneRow scratchA, scratchB;
  const uint32_t *a =
      arrangeHalves(wave, in, 0, wave.source(in, 1, 0).lo, scratchA);
  const uint32_t *b =
      arrangeHalves(wave, in, 1, wave.source(in, 2, 1).lo, scratchB);
  const uint32_t *c = wave.source(in, 3, 2).lo;
  const RowTarget target = wave.beginWrite(in);
  forEachLane(wave, [=](size_t lane) {
    target.lo[lane] = std::bit_cast<uint32_t>(
        Fn(a[lane], b[lane], std::bit_cast<float>(c[lane])));
  });
  if (!target.direct)
    wave.finishWrite(in, ValueType::F32);
}

/// Element `i` of a word of `Bits`-bit integers.
template <typename Part, unsigned Bits>
static int64_t getPart(int64_t word, unsigned i) {
  constexpr int64_t kMask = (int64_t(1) << Bits) - 1;
  constexpr int64_t kSign =
      std::is_signed_v<Part> ? int64_t(1) << (Bits - 1) : 0;
  return ((word >> (Bits * i) & kMask) ^ kSign) - kSign;
}

/// Computes a . b + c without overflow.
template <typename A, typename B, unsigned Bits>
static int64_t dotInteger(int64_t a, int64_t b, int64_t c) {
  int64_t sum = c;
  for (unsigned i = 0; i < 32 / Bits; ++i)
    sum += getPart<A, Bits>(a, i) * getPart<B, Bits>(b, i);
  return sum;
}

/// Adds a dot product of integers; the addend is signed if the elements are.
template <typename Part, unsigned Bits>
static void addInteger(OpcodeTable &table,
                       std::initializer_list<const char *> names,
                       std::initializer_list<const char *> accumulating) {
  using Sum = std::conditional_t<std::is_signed_v<Part>, int32_t, uint32_t>;
  // The default op_sel_hi of VOP3P has no meaning here.
  addSaturating<dotInteger<Part, Part, Bits>, Sum, uint32_t, uint32_t, Sum>(
      table, names);
  addSaturating<dotInteger<Part, Part, Bits>, Sum, uint32_t, uint32_t, Sum>(
      table, accumulating, kReadsDst);
}

/// v_dot4_i32_iu8 and v_dot8_i32_iu4: neg_lo says for each of the two sources
/// whether it is signed. The sum is signed.
template <typename Signed, typename Unsigned, unsigned Bits, bool Saturates>
static void dotMixedSigns(Wave &wave, const Instruction &in) {
  static constexpr int64_t (*kDots[])(int64_t, int64_t, int64_t) = {
      dotInteger<Unsigned, Unsigned, Bits>, dotInteger<Signed, Unsigned, Bits>,
      dotInteger<Unsigned, Signed, Bits>, dotInteger<Signed, Signed, Bits>};
  auto dot = kDots[in.negLo & 3];
  const uint32_t *a = wave.source(in, 1, 0).lo, *b = wave.source(in, 2, 1).lo;
  const uint32_t *c = wave.source(in, 3, 2).lo;
  const RowTarget target = wave.beginWrite(in);
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    int64_t sum = dot(a[lane], b[lane], static_cast<int32_t>(c[lane]));
    target.lo[lane] = static_cast<uint32_t>(
        Saturates ? saturateTo<int32_t>(sum) : static_cast<int32_t>(sum));
  }
  if (!target.direct)
    wave.finishWrite(in, ValueType::I32);
}

template <typename Signed, typename Unsigned, unsigned Bits>
static void addMixedSigns(OpcodeTable &table, const char *name) {
  using enum ValueType;
  table.add(name, {dotMixedSigns<Signed, Unsigned, Bits, false>,
                   InstructionClass::Valu,
                   kRawModifiers,
                   {I32, U32, U32, I32},
                   dotMixedSigns<Signed, Unsigned, Bits, true>});
}

template <const Float8Format &A, const Float8Format &B>
static float dotFloat8(uint32_t a, uint32_t b, float c) {
  for (unsigned i = 0; i < 4; ++i)
    c = __builtin_fmaf(getFloat8Table<A>()[a >> (8 * i) & 0xff],
                       getFloat8Table<B>()[b >> (8 * i) & 0xff], c);
  return c;
}

/// Adds one of gfx12's v_dot4_f32_*: the products are exact, and each addition
/// rounds.
template <const Float8Format &A, const Float8Format &B>
static void addFloat8(OpcodeTable &table, const char *name) {
  addVector<[](uint32_t a, uint32_t b, float c) {
    return dotFloat8<A, B>(a, b, c);
  }>(table, name);
}

/// Computes v_fma_mix: op_sel_hi chooses f16, of which op_sel selects the half,
/// or f32; neg_hi means abs.
static void mix(Wave &wave, const Instruction &in, uint32_t *out) {
  alignas(64) float values[3][kMaxLanes];
  RoundingScope rounding(wave, ValueType::F32);
  for (unsigned s = 0; s < 3; ++s) {
    bool isHalf = in.opSelHi >> s & 1;
    unsigned shift = in.opSel >> s & 1 ? 16 : 0;
    // A constant is bound as f32, whatever the other operands are.
    bool isConstant = in.op[1 + s].kind == OperandKind::Constant;
    LaneRows rows = wave.source(in, 1 + s, s);
    bool absolute = in.negHi >> s & 1, negate = in.negLo >> s & 1;
    for (unsigned lane = 0; lane < wave.lanes; ++lane) {
      float value = isHalf && !isConstant ? halfToFloat(rows.lo[lane] >> shift)
                                          : std::bit_cast<float>(rows.lo[lane]);
      value = absolute ? std::fabs(value) : value;
      values[s][lane] = negate ? -value : value;
    }
  }
  for (unsigned lane = 0; lane < wave.lanes; ++lane)
    out[lane] = std::bit_cast<uint32_t>(
        __builtin_fmaf(values[0][lane], values[1][lane], values[2][lane]));
}

static float clampUnit(float value) {
  return value > 0 ? (value < 1 ? value : 1.0f) : 0.0f;
}

static void mixFloat(Wave &wave, const Instruction &in) {
  alignas(64) LaneRow out;
  mix(wave, in, out);
  if (in.has(kClamp))
    for (unsigned lane = 0; lane < wave.lanes; ++lane)
      out[lane] =
          std::bit_cast<uint32_t>(clampUnit(std::bit_cast<float>(out[lane])));
  wave.writeRow(in.op[0].reg, out);
}

template <bool High>
static void mixHalf(Wave &wave, const Instruction &in) {
  alignas(64) LaneRow out;
  mix(wave, in, out);
  const uint32_t *old = wave.vector[in.op[0].reg];
  RoundingScope rounding(wave, ValueType::F16);
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    float value = std::bit_cast<float>(out[lane]);
    uint32_t half = floatToHalf(in.has(kClamp) ? clampUnit(value) : value);
    out[lane] = High ? (old[lane] & 0xffff) | half << 16
                     : (old[lane] & 0xffff0000) | half;
  }
  wave.writeRow(in.op[0].reg, out);
}

void tessera::emulator::addDots(OpcodeTable &table) {
  using enum ValueType;
  auto add = [&](const char *name, Handler handler, uint16_t flags,
                 ValueType part = DotF16) {
    table.add(name, {handler,
                     InstructionClass::Valu,
                     static_cast<uint16_t>(flags | kClampOk),
                     {F32, part, part, F32}});
  };
  add("v_dot2_f32_f16", dotFloat<dotHalf>, kVop3p);
  add("v_dot2c_f32_f16", dotFloat<dotHalf>, kVop3p | kReadsDst);
  add("v_dot2_f32_bf16", dotFloat<dotBf16>, kVop3p, DotBf16);
  add("v_dot2c_f32_bf16", dotFloat<dotBf16>, kVop3p | kReadsDst, DotBf16);
  add("v_dot2acc_f32_f16", dotFloat<dotHalf>, kVop3p | kReadsDst);
  add("v_dot2acc_f32_bf16", dotFloat<dotBf16>, kVop3p | kReadsDst, DotBf16);
  table.add("v_dot2_f16_f16", {dotHalfResult,
                               InstructionClass::Valu,
                               kPicksHalf,
                               {F16, DotF16, DotF16, F16}});
  table.add("v_dot2_bf16_bf16", {dotBf16Result,
                                 InstructionClass::Valu,
                                 kPicksHalf,
                                 {Bf16, DotBf16, DotBf16, Bf16}});
  addMixedSigns<int8_t, uint8_t, 8>(table, "v_dot4_i32_iu8");
  addMixedSigns<int8_t, uint8_t, 4>(table, "v_dot8_i32_iu4");
  addFloat8<kFp8Ocp, kFp8Ocp>(table, "v_dot4_f32_fp8_fp8");
  addFloat8<kFp8Ocp, kBf8Ocp>(table, "v_dot4_f32_fp8_bf8");
  addFloat8<kBf8Ocp, kFp8Ocp>(table, "v_dot4_f32_bf8_fp8");
  addFloat8<kBf8Ocp, kBf8Ocp>(table, "v_dot4_f32_bf8_bf8");
  addInteger<int8_t, 8>(table, {"v_dot4_i32_i8"}, {"v_dot4c_i32_i8"});
  addInteger<uint8_t, 8>(table, {"v_dot4_u32_u8"}, {});
  addInteger<int8_t, 4>(table, {"v_dot8_i32_i4"}, {"v_dot8c_i32_i4"});
  addInteger<uint8_t, 4>(table, {"v_dot8_u32_u4"}, {});
  addInteger<int16_t, 16>(table, {"v_dot2_i32_i16"}, {"v_dot2c_i32_i16"});
  addInteger<uint16_t, 16>(table, {"v_dot2_u32_u16"}, {});
  for (const char *name : {"v_fma_mix_f32", "v_mad_mix_f32"})
    table.add(name, {mixFloat,
                     InstructionClass::Valu,
                     kVop3p | kMixSources,
                     {F32, F32, F32, F32}});
  for (const char *name : {"v_fma_mixlo_f16", "v_mad_mixlo_f16"})
    table.add(name, {mixHalf<false>,
                     InstructionClass::Valu,
                     kVop3p | kMixSources,
                     {F32, F32, F32, F32}});
  for (const char *name : {"v_fma_mixhi_f16", "v_mad_mixhi_f16"})
    table.add(name, {mixHalf<true>,
                     InstructionClass::Valu,
                     kVop3p | kMixSources,
                     {F32, F32, F32, F32}});
}

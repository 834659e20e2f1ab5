//===- Packed.cpp - Two operations in one register ------------------------===//
//
// VOP3P: op_sel selects the half of each source for the lower result, op_sel_hi
// for the upper one; neg_lo and neg_hi negate likewise.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/FloatMath.h"
#include "runtime/Emulator/Exec/VectorOps.h"

using namespace tessera::emulator;

namespace {
/// How a 16-bit type is read and written.
struct PackedHalf {
  using Value = float;
  static constexpr ValueType type = ValueType::PackedF16;
  static Value get(uint32_t bits) { return halfToFloat(bits); }
  static uint32_t put(Value value) { return floatToHalf(value); }
};
/// Integers are computed in 64 bits and then wrap, or saturate with "clamp".
template <typename Short, bool Saturates>
struct PackedInteger {
  using Value = int64_t;
  static constexpr ValueType type = ValueType::PackedI16;
  static Value get(uint32_t bits) { return static_cast<Short>(bits); }
  static uint32_t put(Value value) {
    return static_cast<uint16_t>(Saturates ? saturateTo<Short>(value) : value);
  }
};

/// The shift and sign flip that extract one half of a source.
struct HalfPick {
  uint32_t shift, flip;
};
HalfPick pickHalf(const Instruction &in, unsigned source, bool high) {
  bool upper = (high ? in.opSelHi : in.opSel) >> source & 1;
  bool negate = (high ? in.negHi : in.negLo) >> source & 1;
  return {upper ? 16u : 0u, negate ? 0x8000u : 0u};
}
uint32_t applyPick(HalfPick pick, uint32_t word) {
  return (word >> pick.shift & 0xffff) ^ pick.flip;
}
} // namespace

static uint32_t clampHalf(uint32_t bits) {
  float value = halfToFloat(bits);
  return floatToHalf(value > 0 ? (value < 1 ? value : 1.0f) : 0.0f);
}

template <typename P, unsigned Sources, auto Fn>
static void packed(Wave &wave, const Instruction &in) {
  LaneRows source[3] = {};
  HalfPick low[3], high[3];
  for (unsigned s = 0; s < Sources; ++s) {
    source[s] = wave.source(in, 1 + s, s);
    low[s] = pickHalf(in, s, false);
    high[s] = pickHalf(in, s, true);
  }
  alignas(64) LaneRow row;
  uint32_t *const out = row;
  auto compute = [=](const HalfPick *pick, size_t lane) {
    auto value = [&](unsigned s) {
      return P::get(applyPick(pick[s], source[s].lo[lane]));
    };
    if constexpr (Sources == 2)
      return P::put(Fn(value(0), value(1)));
    else
      return P::put(Fn(value(0), value(1), value(2)));
  };
  RoundingScope rounding(wave, P::type);
  forEachLane(wave, [=](size_t lane) {
    out[lane] = compute(low, lane) | compute(high, lane) << 16;
  });
  if (P::type == ValueType::PackedF16 && in.has(kClamp))
    for (unsigned lane = 0; lane < wave.lanes; ++lane)
      out[lane] = clampHalf(out[lane]) | clampHalf(out[lane] >> 16) << 16;
  wave.writeRow(in.op[0].reg, out);
}

template <typename P, unsigned Sources, auto Fn>
static void add(OpcodeTable &table, std::initializer_list<const char *> names,
                uint16_t flags = 0) {
  for (const char *name : names)
    table.add(name, {packed<P, Sources, Fn>, InstructionClass::Valu,
                     static_cast<uint16_t>(kVop3p | kClampOk | flags),
                     std::vector<ValueType>(4, P::type)});
}

template <typename Short, unsigned Sources, auto Fn>
static void addInteger(OpcodeTable &table, const char *name) {
  table.add(name, {packed<PackedInteger<Short, false>, Sources, Fn>,
                   InstructionClass::Valu, kVop3p,
                   std::vector<ValueType>(4, ValueType::PackedI16),
                   packed<PackedInteger<Short, true>, Sources, Fn>});
}

static void addHalves(OpcodeTable &table) {
  using P = PackedHalf;
  add<P, 2, [](float a, float b) { return a + b; }>(table, {"v_pk_add_f16"});
  add<P, 2, [](float a, float b) { return a * b; }>(table, {"v_pk_mul_f16"});
  add<P, 2, [](float a, float b) { return minimum(a, b); }>(
      table, {"v_pk_min_f16", "v_pk_min_num_f16"});
  add<P, 2, [](float a, float b) { return maximum(a, b); }>(
      table, {"v_pk_max_f16", "v_pk_max_num_f16"});
  add<P, 3, [](float a, float b, float c) {
    return minimumOrNan(minimumOrNan(a, b), c);
  }>(table, {"v_pk_minimum3_f16"});
  add<P, 3, [](float a, float b, float c) {
    return maximumOrNan(maximumOrNan(a, b), c);
  }>(table, {"v_pk_maximum3_f16"});
  add<P, 2, [](float a, float b) { return minimumOrNan(a, b); }>(
      table, {"v_pk_minimum_f16"});
  add<P, 2, [](float a, float b) { return maximumOrNan(a, b); }>(
      table, {"v_pk_maximum_f16"});
  constexpr auto kFma = [](float a, float b, float c) {
    return roundToOdd(double(a) * b + double(c));
  };
  add<P, 3, kFma>(table, {"v_pk_fma_f16"});
  add<P, 3, kFma>(table, {"v_pk_fmac_f16"}, kReadsDst);
}

static void addIntegers(OpcodeTable &table) {
  using U = uint16_t;
  using S = int16_t;
  using L = int64_t;
  constexpr auto kAdd = [](L a, L b) { return a + b; };
  constexpr auto kSub = [](L a, L b) { return a - b; };
  constexpr auto kMad = [](L a, L b, L c) { return a * b + c; };
  constexpr auto kMin = [](L a, L b) { return a < b ? a : b; };
  constexpr auto kMax = [](L a, L b) { return a > b ? a : b; };
  constexpr auto kLeft = [](L a, L b) { return b << (a & 15); };
  constexpr auto kRight = [](L a, L b) { return b >> (a & 15); };
  addInteger<U, 2, kAdd>(table, "v_pk_add_u16");
  addInteger<S, 2, kAdd>(table, "v_pk_add_i16");
  addInteger<U, 2, kSub>(table, "v_pk_sub_u16");
  addInteger<S, 2, kSub>(table, "v_pk_sub_i16");
  addInteger<U, 2, [](L a, L b) { return a * b; }>(table, "v_pk_mul_lo_u16");
  addInteger<U, 3, kMad>(table, "v_pk_mad_u16");
  addInteger<S, 3, kMad>(table, "v_pk_mad_i16");
  addInteger<U, 2, kMin>(table, "v_pk_min_u16");
  addInteger<U, 2, kMax>(table, "v_pk_max_u16");
  addInteger<S, 2, kMin>(table, "v_pk_min_i16");
  addInteger<S, 2, kMax>(table, "v_pk_max_i16");
  addInteger<U, 2, kLeft>(table, "v_pk_lshlrev_b16");
  addInteger<U, 2, kRight>(table, "v_pk_lshrrev_b16");
  addInteger<S, 2, kRight>(table, "v_pk_ashrrev_i16");
}

/// v_pk_*_f32: the same bits select dwords of register pairs.
template <unsigned Sources, auto Fn>
static void pair(Wave &wave, const Instruction &in) {
  LaneRows source[3] = {};
  for (unsigned s = 0; s < Sources; ++s)
    source[s] = wave.source(in, 1 + s, s);
  alignas(64) LaneRow out[2];
  RoundingScope rounding(wave, ValueType::PairF32);
  for (unsigned half = 0; half < 2; ++half) {
    const uint32_t *rows[3] = {};
    uint32_t flip[3] = {};
    for (unsigned s = 0; s < Sources; ++s) {
      bool upper = (half ? in.opSelHi : in.opSel) >> s & 1;
      rows[s] = upper ? source[s].hi : source[s].lo;
      flip[s] = (half ? in.negHi : in.negLo) >> s & 1 ? 0x80000000 : 0;
    }
    uint32_t *const to = out[half];
    forEachLane(wave, [=](size_t lane) {
      auto value = [&](unsigned s) {
        return std::bit_cast<float>(rows[s][lane] ^ flip[s]);
      };
      if constexpr (Sources == 2)
        to[lane] = std::bit_cast<uint32_t>(Fn(value(0), value(1)));
      else
        to[lane] = std::bit_cast<uint32_t>(Fn(value(0), value(1), value(2)));
    });
    if (in.has(kClamp))
      for (unsigned lane = 0; lane < wave.lanes; ++lane) {
        auto value = std::bit_cast<float>(out[half][lane]);
        out[half][lane] = std::bit_cast<uint32_t>(
            value > 0 ? (value < 1 ? value : 1.0f) : 0.0f);
      }
  }
  wave.writeRow(in.op[0].reg, out[0]);
  wave.writeRow(in.op[0].reg + 1u, out[1]);
}

/// v_pk_mov_b32: op_sel[0] selects the dword of src0 for the lower register,
/// op_sel[1] that of src1 for the upper.
static void pairMove(Wave &wave, const Instruction &in) {
  LaneRows a = wave.source(in, 1, 0), b = wave.source(in, 2, 1);
  LaneRow lo, hi;
  std::memcpy(lo, in.opSel & 1 ? a.hi : a.lo, sizeof lo);
  std::memcpy(hi, in.opSel & 2 ? b.hi : b.lo, sizeof hi);
  wave.writeRow(in.op[0].reg, lo);
  wave.writeRow(in.op[0].reg + 1u, hi);
}

void tessera::emulator::addPacked(OpcodeTable &table) {
  addHalves(table);
  addIntegers(table);
  auto addPair = [&](const char *name, Handler handler) {
    table.add(name, {handler, InstructionClass::Valu, kVop3p | kClampOk,
                     std::vector<ValueType>(4, ValueType::PairF32)});
  };
  addPair("v_pk_add_f32", pair<2, [](float a, float b) { return a + b; }>);
  addPair("v_pk_mul_f32", pair<2, [](float a, float b) { return a * b; }>);
  addPair("v_pk_fma_f32", pair<3, [](float a, float b, float c) {
            return __builtin_fmaf(a, b, c);
          }>);
  addPair("v_pk_mov_b32", pairMove);
}

//===- Packed.cpp - Two operations in one register --------------------===//
//
// VOP3P: op_sel picks the half of each source for the lower result, op_sel_hi
// for the upper one; neg_lo and neg_hi negate likewise.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/FloatMath.h"
#include "runtime/Emulator/Exec/VectorOps.h"

using namespace tessera::emulator;

namespace {
/// One 16-bit type: how it is read and written.
struct PackedHalf {
  using Value = float;
  static constexpr ValueType type = ValueType::PackedF16;
  static Value get(uint32_t bits) { return halfToFloat(bits); }
  static uint32_t put(Value value) { return floatToHalf(value); }
};
struct PackedSigned {
  using Value = int32_t;
  static constexpr ValueType type = ValueType::PackedI16;
  static constexpr int64_t kLow = -0x8000, kHigh = 0x7fff;
  static Value get(uint32_t bits) { return static_cast<int16_t>(bits); }
  static uint32_t put(Value value) { return static_cast<uint16_t>(value); }
};
struct PackedUnsigned {
  using Value = uint32_t;
  static constexpr ValueType type = ValueType::PackedI16;
  static constexpr int64_t kLow = 0, kHigh = 0xffff;
  static Value get(uint32_t bits) { return static_cast<uint16_t>(bits); }
  static uint32_t put(Value value) { return value & 0xffff; }
};

/// Shift and sign flip that bring one half of a source down.
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

/// Brings the results into [0, 1].
static float clampResult(PackedHalf, float value) {
  return value > 0 ? (value < 1 ? value : 1.0f) : 0.0f;
}
/// Brings them into the range of the type.
template <typename P>
static typename P::Value clampResult(P, int64_t value) {
  return static_cast<typename P::Value>(value < P::kLow    ? P::kLow
                                        : value > P::kHigh ? P::kHigh
                                                           : value);
}

namespace {
/// What arguments are widened to, so that a sum can be clamped.
template <typename P>
struct Exact {
  using Type = int64_t;
};
template <>
struct Exact<PackedHalf> {
  using Type = float;
};
} // namespace

template <typename P, unsigned Sources, auto Fn, bool Clamps>
static void packed(Wave &wave, const Instruction &in) {
  LaneRows source[3] = {};
  HalfPick low[3], high[3];
  for (unsigned s = 0; s < Sources; ++s) {
    source[s] = wave.source(in, 1 + s, s);
    low[s] = pickHalf(in, s, false);
    high[s] = pickHalf(in, s, true);
  }
  using Argument =
      std::conditional_t<Clamps, typename Exact<P>::Type, typename P::Value>;
  alignas(64) LaneRow row;
  uint32_t *const out = row;
  auto compute = [=](const HalfPick *pick, size_t lane) {
    auto value = [&](unsigned s) {
      return Argument(P::get(applyPick(pick[s], source[s].lo[lane])));
    };
    Argument result;
    if constexpr (Sources == 2)
      result = Fn(value(0), value(1));
    else
      result = Fn(value(0), value(1), value(2));
    if constexpr (Clamps)
      return P::put(clampResult(P(), result));
    else
      return P::put(result);
  };
  RoundingScope rounding(wave, P::type);
  forEachLane(wave, [=](size_t lane) {
    out[lane] = compute(low, lane) | compute(high, lane) << 16;
  });
  wave.writeRow(in.op[0].reg, out);
}

template <typename P, unsigned Sources, auto Fn>
static void add(OpcodeTable &table, std::initializer_list<const char *> names,
                uint16_t flags = 0) {
  for (const char *name : names)
    table.add(name, {packed<P, Sources, Fn, false>, InstructionClass::Valu,
                     static_cast<uint16_t>(kVop3p | flags),
                     std::vector<ValueType>(4, P::type),
                     packed<P, Sources, Fn, true>});
}

static void addHalves(OpcodeTable &table) {
  using P = PackedHalf;
  add<P, 2, [](float a, float b) { return a + b; }>(table, {"v_pk_add_f16"});
  add<P, 2, [](float a, float b) { return a * b; }>(table, {"v_pk_mul_f16"});
  add<P, 2, [](float a, float b) { return minimum(a, b); }>(
      table, {"v_pk_min_f16", "v_pk_min_num_f16"});
  add<P, 2, [](float a, float b) { return maximum(a, b); }>(
      table, {"v_pk_max_f16", "v_pk_max_num_f16"});
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
  using S = PackedSigned;
  using U = PackedUnsigned;
  constexpr auto kSum = [](auto a, auto b) { return a + b; };
  constexpr auto kDifference = [](auto a, auto b) { return a - b; };
  constexpr auto kProductSum = [](auto a, auto b, auto c) { return a * b + c; };
  constexpr auto kMin = [](auto a, auto b) { return a < b ? a : b; };
  constexpr auto kMax = [](auto a, auto b) { return a > b ? a : b; };
  add<U, 2, kSum>(table, {"v_pk_add_u16"});
  add<S, 2, kSum>(table, {"v_pk_add_i16"});
  add<U, 2, kDifference>(table, {"v_pk_sub_u16"});
  add<S, 2, kDifference>(table, {"v_pk_sub_i16"});
  add<U, 2, [](auto a, auto b) { return a * b; }>(table, {"v_pk_mul_lo_u16"});
  add<U, 3, kProductSum>(table, {"v_pk_mad_u16"});
  add<S, 3, kProductSum>(table, {"v_pk_mad_i16"});
  add<U, 2, kMin>(table, {"v_pk_min_u16"});
  add<U, 2, kMax>(table, {"v_pk_max_u16"});
  add<S, 2, kMin>(table, {"v_pk_min_i16"});
  add<S, 2, kMax>(table, {"v_pk_max_i16"});
  add<U, 2, [](auto a, auto b) { return b << (a & 15); }>(table,
                                                          {"v_pk_lshlrev_b16"});
  add<U, 2, [](auto a, auto b) { return b >> (a & 15); }>(table,
                                                          {"v_pk_lshrrev_b16"});
  add<S, 2, [](auto a, auto b) { return b >> (a & 15); }>(table,
                                                          {"v_pk_ashrrev_i16"});
}

/// v_pk_*_f32: the same bits pick dwords of register pairs.
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

/// v_pk_mov_b32: op_sel[0] picks the dword of src0 for the lower register,
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
    table.add(name, {handler, InstructionClass::Valu, kVop3p,
                     std::vector<ValueType>(4, ValueType::PairF32)});
  };
  addPair("v_pk_add_f32", pair<2, [](float a, float b) { return a + b; }>);
  addPair("v_pk_mul_f32", pair<2, [](float a, float b) { return a * b; }>);
  addPair("v_pk_fma_f32", pair<3, [](float a, float b, float c) {
            return __builtin_fmaf(a, b, c);
          }>);
  addPair("v_pk_mov_b32", pairMove);
}

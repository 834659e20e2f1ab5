//===- Compare.cpp - Vector comparisons -----------------------------------===//
//
// A comparison writes a complete mask: inactive lanes get 0. v_cmpx writes
// EXEC, and on gfx9 its destination as well.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/FloatMath.h"
#include "runtime/Emulator/Exec/VectorOps.h"

#include <string>

using namespace tessera::emulator;

namespace {
/// An f16 as bits, because conversion would quiet a signalling NaN.
struct HalfBits {
  uint16_t bits;
};
} // namespace
template <>
struct tessera::emulator::Lane<HalfBits> {
  static constexpr ValueType type = ValueType::F16;
  static HalfBits get(const LaneRows &rows, size_t lane) {
    return {static_cast<uint16_t>(rows.lo[lane])};
  }
};

static uint32_t classifyHalf(HalfBits half) {
  bool isSubnormal = !(half.bits & 0x7c00) && half.bits & 0x3ff;
  bool isSignalling = (half.bits & 0x7fff) > 0x7c00 && !(half.bits & 0x200);
  if (isSignalling)
    return 1;
  if (isSubnormal)
    return half.bits & 0x8000 ? 0x10 : 0x80;
  return classify(halfToFloat(half.bits));
}

/// `First` is the index of the first source: 1, or 0 for v_cmpx on RDNA.
template <auto Fn, typename A, typename B, unsigned First>
static uint64_t evaluate(Wave &wave, const Instruction &in) {
  LaneRows a = wave.source(in, First, 0), b = wave.source(in, First + 1, 1);
  alignas(64) LaneRow row;
  uint32_t *const outcome = row;
  forEachLane(wave, [=](size_t lane) {
    outcome[lane] = Fn(Lane<A>::get(a, lane), Lane<B>::get(b, lane));
  });
  uint64_t mask = collectMask(wave, outcome) & wave.exec;
  return in.dpp ? mask & wave.dppWriteMask : mask;
}

template <auto Fn, typename A, typename B>
static void compare(Wave &wave, const Instruction &in) {
  wave.writeMask(in.op[0].reg, evaluate<Fn, A, B, 1>(wave, in));
}
template <auto Fn, typename A, typename B>
static void compareExec(Wave &wave, const Instruction &in) {
  if (in.operandCount == 2) {
    wave.setExec(evaluate<Fn, A, B, 0>(wave, in));
    return;
  }
  uint64_t mask = evaluate<Fn, A, B, 1>(wave, in);
  wave.writeMask(in.op[0].reg, mask);
  wave.setExec(mask);
}

template <auto Fn, typename A, typename B = A>
static void add(OpcodeTable &table, const std::string &name) {
  ValueType a = Lane<A>::type, b = Lane<B>::type;
  uint16_t flags = is16Bit(a) ? kPicksHalf : 0;
  table.add("v_cmp_" + name, {compare<Fn, A, B>,
                              InstructionClass::Valu,
                              flags,
                              {ValueType::Mask, a, b}});
  table.add("v_cmpx_" + name, {compareExec<Fn, A, B>,
                               InstructionClass::Valu,
                               static_cast<uint16_t>(flags | kComparesToExec),
                               {ValueType::Mask, a, b}});
}

template <typename T>
static void addIntegers(OpcodeTable &table, const std::string &type) {
  add<[](T a, T b) -> uint32_t { return a < b; }, T>(table, "lt_" + type);
  add<[](T a, T b) -> uint32_t { return a == b; }, T>(table, "eq_" + type);
  add<[](T a, T b) -> uint32_t { return a <= b; }, T>(table, "le_" + type);
  add<[](T a, T b) -> uint32_t { return a > b; }, T>(table, "gt_" + type);
  add<[](T a, T b) -> uint32_t { return a != b; }, T>(table, "ne_" + type);
  add<[](T a, T b) -> uint32_t { return a >= b; }, T>(table, "ge_" + type);
  add<[](T, T) -> uint32_t { return 0; }, T>(table, "f_" + type);
  add<[](T, T) -> uint32_t { return 1; }, T>(table, "t_" + type);
}

static float plain(F16 half) { return half.value; }
static float plain(float value) { return value; }
static double plain(double value) { return value; }

template <typename T>
static void addFloats(OpcodeTable &table, const std::string &type) {
#define TESSERA_COMPARE(name, condition)                                       \
  add<[](T left, T right) -> uint32_t {                                        \
    auto a = plain(left), b = plain(right);                                    \
    return condition;                                                          \
  },                                                                           \
      T>(table, name + type)
  add<[](T, T) -> uint32_t { return 0; }, T>(table, "f_" + type);
  for (const char *name : {"t_", "tru_"})
    add<[](T, T) -> uint32_t { return 1; }, T>(table, name + type);
  TESSERA_COMPARE("lt_", a < b);
  TESSERA_COMPARE("eq_", a == b);
  TESSERA_COMPARE("le_", a <= b);
  TESSERA_COMPARE("gt_", a > b);
  TESSERA_COMPARE("lg_", (a < b) | (a > b));
  TESSERA_COMPARE("ge_", a >= b);
  TESSERA_COMPARE("o_", (a == a) & (b == b));
  TESSERA_COMPARE("u_", (a != a) | (b != b));
  TESSERA_COMPARE("nge_", !(a >= b));
  TESSERA_COMPARE("nlg_", !((a < b) | (a > b)));
  TESSERA_COMPARE("ngt_", !(a > b));
  TESSERA_COMPARE("nle_", !(a <= b));
  TESSERA_COMPARE("neq_", !(a == b));
  TESSERA_COMPARE("nlt_", !(a < b));
#undef TESSERA_COMPARE
}

void tessera::emulator::addCompares(OpcodeTable &table) {
  addIntegers<uint16_t>(table, "u16");
  addIntegers<int16_t>(table, "i16");
  addIntegers<uint32_t>(table, "u32");
  addIntegers<int32_t>(table, "i32");
  addIntegers<uint64_t>(table, "u64");
  addIntegers<int64_t>(table, "i64");
  addFloats<F16>(table, "f16");
  addFloats<float>(table, "f32");
  addFloats<double>(table, "f64");
  add<[](HalfBits a, uint16_t b) -> uint32_t {
    return (classifyHalf(a) & b) != 0;
  },
      HalfBits, uint16_t>(table, "class_f16");
  add<[](float a, uint32_t b) -> uint32_t { return (classify(a) & b) != 0; },
      float, uint32_t>(table, "class_f32");
  add<[](double a, uint32_t b) -> uint32_t { return (classify(a) & b) != 0; },
      double, uint32_t>(table, "class_f64");
}

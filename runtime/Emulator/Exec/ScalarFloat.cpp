//===- ScalarFloat.cpp - Float arithmetic of the scalar unit --------------===//
//
// These are instructions of gfx11.5 and gfx12. The rules are those of the
// vector unit: MODE says how to round and which denormals count as 0. Only
// comparisons change SCC. An f16 result has a zero upper half. v_s_* are here
// too: they are functions of the vector unit on scalar registers and ignore
// EXEC.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/FloatMath.h"
#include "runtime/Emulator/Exec/LaneTypes.h"
#include "runtime/Emulator/Exec/OpcodeTable.h"

#include <string>
#include <utility>

using namespace tessera::emulator;

using U = uint32_t;
using F = float;
using H = F16;

/// Replaces a denormal by +0 or -0 when MODE says so.
static F flush(const Wave &wave, F value, bool isHalf) {
  F smallest = isHalf ? 0x1p-14f : 0x1p-126f;
  bool flushes = isHalf ? wave.flushF64 : wave.flushF32;
  return flushes && std::fabs(value) < smallest ? std::copysign(0.0f, value)
                                                : value;
}

namespace {
/// How an operand of each type is read and written.
template <typename T>
struct ScalarLane {
  static T read(const Wave &wave, const Operand &operand) {
    return std::bit_cast<T>(wave.scalar32(operand));
  }
  static U encode(const Wave &, T value) { return std::bit_cast<U>(value); }
};
template <>
struct ScalarLane<F> {
  static F read(const Wave &wave, const Operand &operand) {
    return flush(wave, std::bit_cast<F>(wave.scalar32(operand)), false);
  }
  static U encode(const Wave &wave, F value) {
    return std::bit_cast<U>(flush(wave, value, false));
  }
};
template <>
struct ScalarLane<H> {
  static H read(const Wave &wave, const Operand &operand) {
    return {flush(wave, halfToFloat(wave.scalar32(operand)), true)};
  }
  static U encode(const Wave &wave, H half) {
    return floatToHalf(flush(wave, halfToFloat(floatToHalf(half.value)), true));
  }
};

/// The arithmetic must stay between the two changes of the rounding mode: its
/// inputs and result are volatile, so that the compiler cannot move it.
template <auto Fn, typename Result, typename... Args>
struct ScalarFloatOp {
  template <size_t... I>
  static void run(Wave &wave, const Instruction &in,
                  std::index_sequence<I...>) {
    volatile U result;
    {
      RoundingScope rounding(wave, Lane<Result>::type);
      auto source = [&](const Operand &operand) {
        volatile U bits = wave.scalar32(operand);
        Operand copy;
        copy.kind = OperandKind::Constant;
        copy.value[0] = bits;
        return copy;
      };
      result = ScalarLane<Result>::encode(
          wave, Fn(ScalarLane<Args>::read(wave, source(in.op[1 + I]))...));
    }
    wave.writeScalar(in.op[0].reg, result);
  }
  static void execute(Wave &wave, const Instruction &in) {
    run(wave, in, std::index_sequence_for<Args...>());
  }
  static std::vector<ValueType> getTypes() {
    return {Lane<Result>::type, Lane<Args>::type...};
  }
};

template <auto Fn>
struct BindScalarFloatOp {
  template <typename Result, typename... Args>
  using Op = ScalarFloatOp<Fn, Result, Args...>;
  using Type = typename CallSignature<
      decltype(&decltype(Fn)::operator())>::template Apply<Op>;
};
} // namespace

template <auto Fn>
static void add(OpcodeTable &table, std::initializer_list<const char *> names,
                uint16_t flags = 0) {
  using Op = typename BindScalarFloatOp<Fn>::Type;
  for (const char *name : names)
    table.add(name,
              {&Op::execute, InstructionClass::Salu, flags, Op::getTypes()});
}

static F fma32(F a, F b, F c) { return __builtin_fmaf(a, b, c); }
static H fma16(H a, H b, H c) {
  return {roundToOdd(double(a.value) * b.value + double(c.value))};
}

static void addSingles(OpcodeTable &table) {
  add<[](F a, F b) { return a + b; }>(table, {"s_add_f32"});
  add<[](F a, F b) { return a - b; }>(table, {"s_sub_f32"});
  add<[](F a, F b) { return a * b; }>(table, {"s_mul_f32"});
  add<[](F a, F b) { return minimum(a, b); }>(table,
                                              {"s_min_f32", "s_min_num_f32"});
  add<[](F a, F b) { return maximum(a, b); }>(table,
                                              {"s_max_f32", "s_max_num_f32"});
  add<[](F a, F b) { return minimumOrNan(a, b); }>(table, {"s_minimum_f32"});
  add<[](F a, F b) { return maximumOrNan(a, b); }>(table, {"s_maximum_f32"});
  add<[](F a, F b, F c) { return fma32(a, b, c); }>(table, {"s_fmac_f32"},
                                                    kReadsDst);
  // The operands are printed in the orders src0, K, src1 and src0, src1, K.
  add<[](F a, F k, F b) { return fma32(a, k, b); }>(table, {"s_fmamk_f32"});
  add<[](F a, F b, F k) { return fma32(a, b, k); }>(table, {"s_fmaak_f32"});
  add<[](F a) { return __builtin_ceilf(a); }>(table, {"s_ceil_f32"});
  add<[](F a) { return __builtin_floorf(a); }>(table, {"s_floor_f32"});
  add<[](F a) { return __builtin_truncf(a); }>(table, {"s_trunc_f32"});
  add<[](F a) { return __builtin_roundevenf(a); }>(table, {"s_rndne_f32"});
}

static void addHalves(OpcodeTable &table) {
  add<[](H a, H b) { return H{a.value + b.value}; }>(table, {"s_add_f16"});
  add<[](H a, H b) { return H{a.value - b.value}; }>(table, {"s_sub_f16"});
  add<[](H a, H b) { return H{a.value * b.value}; }>(table, {"s_mul_f16"});
  add<[](H a, H b) { return H{minimum(a.value, b.value)}; }>(
      table, {"s_min_f16", "s_min_num_f16"});
  add<[](H a, H b) { return H{maximum(a.value, b.value)}; }>(
      table, {"s_max_f16", "s_max_num_f16"});
  add<[](H a, H b) { return H{minimumOrNan(a.value, b.value)}; }>(
      table, {"s_minimum_f16"});
  add<[](H a, H b) { return H{maximumOrNan(a.value, b.value)}; }>(
      table, {"s_maximum_f16"});
  add<[](H a, H b, H c) { return fma16(a, b, c); }>(table, {"s_fmac_f16"},
                                                    kReadsDst);
  add<[](H a) { return H{__builtin_ceilf(a.value)}; }>(table, {"s_ceil_f16"});
  add<[](H a) { return H{__builtin_floorf(a.value)}; }>(table, {"s_floor_f16"});
  add<[](H a) { return H{__builtin_truncf(a.value)}; }>(table, {"s_trunc_f16"});
  add<[](H a) { return H{__builtin_roundevenf(a.value)}; }>(table,
                                                            {"s_rndne_f16"});
}

static void addScalarConversions(OpcodeTable &table) {
  add<[](int32_t a) { return static_cast<F>(a); }>(table, {"s_cvt_f32_i32"});
  add<[](U a) { return static_cast<F>(int64_t(a)); }>(table, {"s_cvt_f32_u32"});
  add<[](F a) { return saturate<int32_t>(a); }>(table, {"s_cvt_i32_f32"});
  add<[](F a) { return saturate<U>(a); }>(table, {"s_cvt_u32_f32"});
  add<[](F a) { return H{a}; }>(table, {"s_cvt_f16_f32"});
  add<[](H a) { return a.value; }>(table, {"s_cvt_f32_f16"});
  add<[](U a) { return halfToFloat(a >> 16); }>(table, {"s_cvt_hi_f32_f16"});
  add<[](F a, F b) { return truncateToHalf(a) | truncateToHalf(b) << 16; }>(
      table, {"s_cvt_pk_rtz_f16_f32"});
}

template <auto Fn, typename T>
static void compare(Wave &wave, const Instruction &in) {
  T a = ScalarLane<T>::read(wave, in.op[0]);
  T b = ScalarLane<T>::read(wave, in.op[1]);
  if constexpr (std::is_same_v<T, H>)
    wave.scc = Fn(a.value, b.value);
  else
    wave.scc = Fn(a, b);
}

template <auto Fn>
static void addCompare(OpcodeTable &table, const std::string &relation) {
  auto addRow = [&](const char *type, Handler handler, ValueType value) {
    table.add("s_cmp_" + relation + type,
              {handler, InstructionClass::Salu, 0, {value, value}});
  };
  addRow("_f32", compare<Fn, F>, ValueType::F32);
  addRow("_f16", compare<Fn, H>, ValueType::F16);
}

static void addRelations(OpcodeTable &table) {
  addCompare<[](F a, F b) { return a < b; }>(table, "lt");
  addCompare<[](F a, F b) { return a == b; }>(table, "eq");
  addCompare<[](F a, F b) { return a <= b; }>(table, "le");
  addCompare<[](F a, F b) { return a > b; }>(table, "gt");
  addCompare<[](F a, F b) { return a < b || a > b; }>(table, "lg");
  addCompare<[](F a, F b) { return a >= b; }>(table, "ge");
  addCompare<[](F a, F b) { return a == a && b == b; }>(table, "o");
  addCompare<[](F a, F b) { return a != a || b != b; }>(table, "u");
  addCompare<[](F a, F b) { return !(a >= b); }>(table, "nge");
  addCompare<[](F a, F b) { return !(a < b || a > b); }>(table, "nlg");
  addCompare<[](F a, F b) { return !(a > b); }>(table, "ngt");
  addCompare<[](F a, F b) { return !(a <= b); }>(table, "nle");
  addCompare<[](F a, F b) { return !(a == b); }>(table, "neq");
  addCompare<[](F a, F b) { return !(a < b); }>(table, "nlt");
}

/// v_s_*: VOP3 modifiers apply, and the destination is scalar.
template <auto Fn, typename T>
static void vectorFunction(Wave &wave, const Instruction &in) {
  U bits = wave.source(in, 1, 0).lo[0];
  U result;
  if constexpr (std::is_same_v<T, H>)
    result = floatToHalf(Fn(halfToFloat(bits)));
  else
    result = std::bit_cast<U>(Fn(std::bit_cast<F>(bits)));
  wave.writeScalar(in.op[0].reg, wave.modifyResult(in, Lane<T>::type, result));
}

template <auto Fn>
static void addVectorFunction(OpcodeTable &table, const std::string &name) {
  auto addRow = [&](const char *type, Handler handler, ValueType value) {
    table.add("v_s_" + name + type,
              {handler, InstructionClass::Valu, kClampOk, {value, value}});
  };
  addRow("_f32", vectorFunction<Fn, F>, ValueType::F32);
  addRow("_f16", vectorFunction<Fn, H>, ValueType::F16);
}

void tessera::emulator::addScalarFloat(OpcodeTable &table) {
  addSingles(table);
  addHalves(table);
  addScalarConversions(table);
  addRelations(table);
  addVectorFunction<[](F a) { return 1 / a; }>(table, "rcp");
  addVectorFunction<[](F a) {
    return static_cast<F>(1 / std::sqrt(double(a)));
  }>(table, "rsq");
  addVectorFunction<[](F a) { return __builtin_sqrtf(a); }>(table, "sqrt");
  addVectorFunction<[](F a) { return std::exp2(a); }>(table, "exp");
  addVectorFunction<[](F a) { return std::log2(a); }>(table, "log");
}

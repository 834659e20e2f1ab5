//===- VectorDouble.cpp - f64 vector instructions -------------------------===//

#include "runtime/Emulator/Exec/DivisionMath.h"
#include "runtime/Emulator/Exec/FloatMath.h"
#include "runtime/Emulator/Exec/VectorOps.h"

using namespace tessera::emulator;

using D = double;

static D divFixup(D quotient, D denominator, D numerator) {
  D exact = numerator / denominator;
  bool special =
      !std::isfinite(exact) || exact == 0 || !std::isfinite(quotient);
  return special ? exact : quotient;
}

/// The same as divScale for f32 (VectorFloat.cpp), with the limits of f64.
static void divScale(Wave &wave, const Instruction &in) {
  LaneRows value = wave.source(in, 2, 0), den = wave.source(in, 3, 1);
  LaneRows num = wave.source(in, 4, 2);
  RowTarget target = wave.beginWrite(in);
  uint64_t scaled = 0;
  auto isDenormal = [](D x) { return std::fpclassify(x) == FP_SUBNORMAL; };
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    D s0 = Lane<D>::get(value, lane), s1 = Lane<D>::get(den, lane);
    D s2 = Lane<D>::get(num, lane);
    bool isDenominator = s0 == s1, isNumerator = s0 == s2;
    D result = s0;
    if (s1 == 0 || s2 == 0) {
      result = std::numeric_limits<D>::quiet_NaN();
    } else if (frexpExponent(s2) - frexpExponent(s1) >= 768) {
      scaled |= uint64_t(1) << lane;
      if (isDenominator)
        result = std::ldexp(s0, 128);
    } else if (isDenormal(s1)) {
      result = std::ldexp(s0, 128);
    } else if (isDenormal(1 / s1) && isDenormal(s2 / s1)) {
      scaled |= uint64_t(1) << lane;
      if (isDenominator)
        result = std::ldexp(s0, -128);
    } else if (isDenormal(1 / s1)) {
      result = std::ldexp(s0, -128);
    } else if (isDenormal(s2 / s1)) {
      scaled |= uint64_t(1) << lane;
      if (isNumerator)
        result = std::ldexp(s0, 128);
    } else if (frexpExponent(s2) + 1022 <= 53) {
      result = std::ldexp(s0, 128);
    }
    Lane<D>::put(target, lane, result);
  }
  if (!target.direct)
    wave.finishWrite(in, ValueType::F64);
  wave.writeMask(in.op[1].reg, scaled & wave.exec);
}

static void divFmas(Wave &wave, const Instruction &in) {
  LaneRows a = wave.source(in, 1, 0), b = wave.source(in, 2, 1);
  LaneRows c = wave.source(in, 3, 2);
  uint64_t scale = wave.readMask(kVccLo);
  RowTarget target = wave.beginWrite(in);
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    D x = Lane<D>::get(a, lane), y = Lane<D>::get(b, lane);
    D z = Lane<D>::get(c, lane);
    Lane<D>::put(target, lane,
                 scale >> lane & 1 ? fmaScaledBack(x, y, z)
                                   : std::fma(x, y, z));
  }
  if (!target.direct)
    wave.finishWrite(in, ValueType::F64);
}

void tessera::emulator::addVectorDouble(OpcodeTable &table) {
  addVector<[](D a, D b) { return a + b; }>(table, "v_add_f64");
  addVector<[](D a, D b) { return a * b; }>(table, "v_mul_f64");
  addVector<[](D a, D b, D c) { return __builtin_fma(a, b, c); }>(table,
                                                                  "v_fma_f64");
  addVector<[](D a, D b, D c) { return __builtin_fma(a, b, c); }>(
      table, {"v_fmac_f64"}, kReadsDst);
  addVector<[](D a, D b) { return minimum(a, b); }>(
      table, {"v_min_f64", "v_min_num_f64"});
  addVector<[](D a, D b) { return maximum(a, b); }>(
      table, {"v_max_f64", "v_max_num_f64"});
  addVector<[](D a, D b) { return minimumOrNan(a, b); }>(table,
                                                         "v_minimum_f64");
  addVector<[](D a, D b) { return maximumOrNan(a, b); }>(table,
                                                         "v_maximum_f64");
  addVector<[](D a) { return __builtin_ceil(a); }>(table, "v_ceil_f64");
  addVector<[](D a) { return __builtin_floor(a); }>(table, "v_floor_f64");
  addVector<[](D a) { return __builtin_trunc(a); }>(table, "v_trunc_f64");
  addVector<[](D a) { return __builtin_roundeven(a); }>(table, "v_rndne_f64");
  addVector<[](D a) { return fraction(a); }>(table, "v_fract_f64");
  addVector<[](D a) { return 1 / a; }>(table, "v_rcp_f64");
  addVector<[](D a) { return 1 / std::sqrt(a); }>(table, "v_rsq_f64");
  addVector<[](D a) { return std::sqrt(a); }>(table, "v_sqrt_f64");
  addVector<[](D a, int32_t b) { return std::ldexp(a, b); }>(table,
                                                             "v_ldexp_f64");
  addVector<[](D a) { return frexpMantissa(a); }>(table, "v_frexp_mant_f64");
  addVector<[](D a) { return frexpExponent(a); }>(table, "v_frexp_exp_i32_f64");
  addVector<[](D q, D d, D n) { return divFixup(q, d, n); }>(table,
                                                             "v_div_fixup_f64");
  using enum ValueType;
  table.add("v_div_scale_f64",
            {divScale, InstructionClass::Valu, 0, {F64, Mask, F64, F64, F64}});
  table.add("v_div_fmas_f64",
            {divFmas, InstructionClass::Valu, kClampOk, {F64, F64, F64, F64}});
}

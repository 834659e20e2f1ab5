//===- VectorFloat.cpp - f32 vector instructions --------------------------===//
//
// Arithmetic is the host's, rounded to nearest even. Transcendentals are
// correctly rounded, or nearly so, where the hardware is about 1 ulp off.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/DivisionMath.h"
#include "runtime/Emulator/Exec/FloatMath.h"
#include "runtime/Emulator/Exec/VectorOps.h"

using namespace tessera::emulator;

using F = float;

static F fma32(F a, F b, F c) { return __builtin_fmaf(a, b, c); }
/// A product in which 0 * anything is 0.
static F legacyProduct(F a, F b) { return a == 0 || b == 0 ? 0 : a * b; }

static void addArithmetic(OpcodeTable &table) {
  addVector<[](F a, F b) { return a + b; }>(table, "v_add_f32");
  addVector<[](F a, F b) { return a - b; }>(table, "v_sub_f32");
  addVector<[](F a, F b) { return b - a; }>(table, "v_subrev_f32");
  addVector<[](F a, F b) { return a * b; }>(table, "v_mul_f32");
  addVector<[](F a, F b) { return legacyProduct(a, b); }>(
      table, {"v_mul_legacy_f32", "v_mul_dx9_zero_f32"});
  addVector<[](F a, F b, F c) { return fma32(a, b, c); }>(table, "v_fma_f32");
  addVector<[](F a, F b, F c) { return fma32(a, b, c); }>(table, {"v_fmac_f32"},
                                                          kReadsDst);
  // The operands are printed in the orders src0, K, src1 and src0, src1, K.
  addVector<[](F a, F k, F b) { return fma32(a, k, b); }>(table, "v_fmamk_f32");
  addVector<[](F a, F b, F k) { return fma32(a, b, k); }>(table, "v_fmaak_f32");
  addVector<[](F a, F b, F c) { return a * b + c; }>(table, "v_mad_f32");
  addVector<[](F a, F b, F c) { return a * b + c; }>(table, {"v_mac_f32"},
                                                     kReadsDst);
  addVector<[](F a, F k, F b) { return a * k + b; }>(table, "v_madmk_f32");
  addVector<[](F a, F b, F k) { return a * b + k; }>(table, "v_madak_f32");
  addVector<[](F a, F b, F c) {
    return a == 0 || b == 0 ? c : fma32(a, b, c);
  }>(table, {"v_fma_legacy_f32", "v_fma_dx9_zero_f32"});
  addVector<[](F a, F b, F c) {
    return a == 0 || b == 0 ? c : fma32(a, b, c);
  }>(table, {"v_fmac_legacy_f32", "v_fmac_dx9_zero_f32"}, kReadsDst);
}

static void addOrder(OpcodeTable &table) {
  addVector<[](F a, F b) { return minimum(a, b); }>(
      table, {"v_min_f32", "v_min_num_f32"});
  addVector<[](F a, F b) { return maximum(a, b); }>(
      table, {"v_max_f32", "v_max_num_f32"});
  addVector<[](F a, F b, F c) { return minimum(minimum(a, b), c); }>(
      table, {"v_min3_f32", "v_min3_num_f32"});
  addVector<[](F a, F b, F c) { return maximum(maximum(a, b), c); }>(
      table, {"v_max3_f32", "v_max3_num_f32"});
  addVector<[](F a, F b, F c) { return median(a, b, c); }>(
      table, {"v_med3_f32", "v_med3_num_f32"});
  addVector<[](F a, F b, F c) { return maximum(minimum(a, b), c); }>(
      table, {"v_minmax_f32", "v_minmax_num_f32"});
  addVector<[](F a, F b, F c) { return minimum(maximum(a, b), c); }>(
      table, {"v_maxmin_f32", "v_maxmin_num_f32"});
}

/// Adds minimum and maximum that return NaN if a source is NaN. They came with
/// gfx12, a few of them with gfx950.
static void addOrderWithNan(OpcodeTable &table) {
  addVector<[](F a, F b) { return minimumOrNan(a, b); }>(table,
                                                         "v_minimum_f32");
  addVector<[](F a, F b) { return maximumOrNan(a, b); }>(table,
                                                         "v_maximum_f32");
  addVector<[](F a, F b, F c) { return minimumOrNan(minimumOrNan(a, b), c); }>(
      table, "v_minimum3_f32");
  addVector<[](F a, F b, F c) { return maximumOrNan(maximumOrNan(a, b), c); }>(
      table, "v_maximum3_f32");
  addVector<[](F a, F b, F c) { return maximumOrNan(minimumOrNan(a, b), c); }>(
      table, "v_minimummaximum_f32");
  addVector<[](F a, F b, F c) { return minimumOrNan(maximumOrNan(a, b), c); }>(
      table, "v_maximumminimum_f32");
}

/// The face of a cube that (x, y, z) points at, and the coordinates on it.
static unsigned getMajorAxis(F x, F y, F z) {
  F ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  return az >= ax && az >= ay ? 2 : ay >= ax ? 1 : 0;
}
static F pickAxis(F x, F y, F z) {
  unsigned axis = getMajorAxis(x, y, z);
  return axis == 2 ? z : axis == 1 ? y : x;
}

static void addCube(OpcodeTable &table) {
  addVector<[](F x, F y, F z) {
    return static_cast<F>(2 * getMajorAxis(x, y, z) + (pickAxis(x, y, z) < 0));
  }>(table, "v_cubeid_f32");
  addVector<[](F x, F y, F z) { return 2 * pickAxis(x, y, z); }>(
      table, "v_cubema_f32");
  addVector<[](F x, F y, F z) {
    unsigned axis = getMajorAxis(x, y, z);
    bool negative = pickAxis(x, y, z) < 0;
    return axis == 2 ? (negative ? -x : x) : axis == 1 ? x : negative ? z : -z;
  }>(table, "v_cubesc_f32");
  addVector<[](F x, F y, F z) {
    bool isY = getMajorAxis(x, y, z) == 1;
    return isY ? (y < 0 ? -z : z) : -y;
  }>(table, "v_cubetc_f32");
  addVector<[](F a, F b, F c) {
    constexpr F kLargest = std::numeric_limits<F>::max();
    return b > -kLargest && c > 0 ? a * b : -kLargest;
  }>(table, "v_mullit_f32");
}

static void addRounding(OpcodeTable &table) {
  addVector<[](F a) { return __builtin_ceilf(a); }>(table, "v_ceil_f32");
  addVector<[](F a) { return __builtin_floorf(a); }>(table, "v_floor_f32");
  addVector<[](F a) { return __builtin_truncf(a); }>(table, "v_trunc_f32");
  addVector<[](F a) { return __builtin_roundevenf(a); }>(table, "v_rndne_f32");
  addVector<[](F a) { return fraction(a); }>(table, "v_fract_f32");
  addVector<[](F a, int32_t b) { return std::ldexp(a, b); }>(table,
                                                             "v_ldexp_f32");
  addVector<[](F a) { return frexpMantissa(a); }>(table, "v_frexp_mant_f32");
  addVector<[](F a) { return frexpExponent(a); }>(table, "v_frexp_exp_i32_f32");
}

static void addTranscendental(OpcodeTable &table) {
  addVector<[](F a) { return 1 / a; }>(table, {"v_rcp_f32", "v_rcp_iflag_f32"});
  addVector<[](F a) { return static_cast<F>(1 / std::sqrt(double(a))); }>(
      table, "v_rsq_f32");
  addVector<[](F a) { return __builtin_sqrtf(a); }>(table, "v_sqrt_f32");
  addVector<[](F a) { return std::exp2(a); }>(table, "v_exp_f32");
  addVector<[](F a) { return std::log2(a); }>(table, "v_log_f32");
  addVector<[](F a) { return sinTurns(a); }>(table, "v_sin_f32");
  addVector<[](F a) { return cosTurns(a); }>(table, "v_cos_f32");
}

/// v_div_fixup: corrects the quotient of the fma chain for special operands.
static F divFixup(F quotient, F denominator, F numerator) {
  bool negative = std::signbit(denominator) != std::signbit(numerator);
  F nan = std::numeric_limits<F>::quiet_NaN();
  F infinity = std::numeric_limits<F>::infinity();
  auto sign = [&](F value) { return negative ? -value : value; };
  if (numerator != numerator || denominator != denominator)
    return nan;
  if ((numerator == 0 && denominator == 0) ||
      (std::isinf(numerator) && std::isinf(denominator)))
    return nan;
  if (denominator == 0 || std::isinf(numerator))
    return sign(infinity);
  if (std::isinf(denominator) || numerator == 0)
    return sign(0);
  int exponent = frexpExponent(numerator) - frexpExponent(denominator);
  if (exponent < -150 || exponent > 129)
    return sign(exponent < 0 ? 0 : infinity);
  return std::copysign(quotient, negative ? -1.0f : 1.0f);
}

/// v_div_scale (amd-isa section "VALU details"): scales an operand so that the
/// fma chain stays in range, and says in VCC whether v_div_fmas scales back.
static void divScale(Wave &wave, const Instruction &in) {
  LaneRows value = wave.source(in, 2, 0), den = wave.source(in, 3, 1);
  LaneRows num = wave.source(in, 4, 2);
  RowTarget target = wave.beginWrite(in);
  uint64_t scaled = 0;
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    F s0 = std::bit_cast<F>(value.lo[lane]);
    F s1 = std::bit_cast<F>(den.lo[lane]), s2 = std::bit_cast<F>(num.lo[lane]);
    bool isDenominator = value.lo[lane] == den.lo[lane];
    bool isNumerator = value.lo[lane] == num.lo[lane];
    F result = s0;
    auto isDenormal = [](F x) { return std::fpclassify(x) == FP_SUBNORMAL; };
    if (s1 == 0 || s2 == 0) {
      result = std::numeric_limits<F>::quiet_NaN();
    } else if (frexpExponent(s2) - frexpExponent(s1) >= 96) {
      scaled |= uint64_t(1) << lane;
      if (isDenominator)
        result = std::ldexp(s0, 64);
    } else if (isDenormal(s1)) {
      result = std::ldexp(s0, 64);
    } else if (isDenormal(1 / s1) && isDenormal(s2 / s1)) {
      // Do not scale upwards as the pseudocode does, because that overflows.
      scaled |= uint64_t(1) << lane;
      if (isDenominator)
        result = std::ldexp(s0, -64);
    } else if (isDenormal(1 / s1)) {
      result = std::ldexp(s0, -64);
    } else if (isDenormal(s2 / s1)) {
      scaled |= uint64_t(1) << lane;
      if (isNumerator)
        result = std::ldexp(s0, 64);
    } else if (frexpExponent(s2) + 126 <= 23) {
      result = std::ldexp(s0, 64);
    }
    target.lo[lane] = std::bit_cast<uint32_t>(result);
  }
  if (!target.direct)
    wave.finishWrite(in, ValueType::F32);
  wave.writeMask(in.op[1].reg, scaled & wave.exec);
}

static void divFmas(Wave &wave, const Instruction &in) {
  LaneRows a = wave.source(in, 1, 0), b = wave.source(in, 2, 1);
  LaneRows c = wave.source(in, 3, 2);
  uint64_t scale = wave.readMask(kVccLo);
  RowTarget target = wave.beginWrite(in);
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    F x = std::bit_cast<F>(a.lo[lane]), y = std::bit_cast<F>(b.lo[lane]);
    F z = std::bit_cast<F>(c.lo[lane]);
    F result = scale >> lane & 1 ? fmaScaledBack(x, y, z) : fma32(x, y, z);
    target.lo[lane] = std::bit_cast<uint32_t>(result);
  }
  if (!target.direct)
    wave.finishWrite(in, ValueType::F32);
}

void tessera::emulator::addVectorFloat(OpcodeTable &table) {
  addArithmetic(table);
  addOrder(table);
  addOrderWithNan(table);
  addCube(table);
  addRounding(table);
  addTranscendental(table);
  addVector<[](F q, F d, F n) { return divFixup(q, d, n); }>(table,
                                                             "v_div_fixup_f32");
  using enum ValueType;
  table.add("v_div_scale_f32",
            {divScale, InstructionClass::Valu, 0, {F32, Mask, F32, F32, F32}});
  table.add("v_div_fmas_f32",
            {divFmas, InstructionClass::Valu, kClampOk, {F32, F32, F32, F32}});
}

//===- VectorHalf.cpp - f16 vector instructions ---------------------------===//
//
// Computed in f32 and rounded once. That is exact for everything but fma, which
// is computed in f64 and rounded to odd first.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/FloatMath.h"
#include "runtime/Emulator/Exec/VectorOps.h"

using namespace tessera::emulator;

using H = F16;

static H fmaHalf(H a, H b, H c) {
  return {roundToOdd(double(a.value) * b.value + double(c.value))};
}

static H lesser(H a, H b) { return {minimum(a.value, b.value)}; }
static H greater(H a, H b) { return {maximum(a.value, b.value)}; }
/// NaN if either is NaN.
static H lesserOrNan(H a, H b) { return {minimumOrNan(a.value, b.value)}; }
static H greaterOrNan(H a, H b) { return {maximumOrNan(a.value, b.value)}; }

static void addOrder(OpcodeTable &table) {
  addVector<[](H a, H b) { return lesser(a, b); }>(
      table, {"v_min_f16", "v_min_num_f16"});
  addVector<[](H a, H b) { return greater(a, b); }>(
      table, {"v_max_f16", "v_max_num_f16"});
  addVector<[](H a, H b, H c) { return lesser(lesser(a, b), c); }>(
      table, {"v_min3_f16", "v_min3_num_f16"});
  addVector<[](H a, H b, H c) { return greater(greater(a, b), c); }>(
      table, {"v_max3_f16", "v_max3_num_f16"});
  addVector<[](H a, H b, H c) { return H{median(a.value, b.value, c.value)}; }>(
      table, {"v_med3_f16", "v_med3_num_f16"});
  addVector<[](H a, H b, H c) { return greater(lesser(a, b), c); }>(
      table, {"v_minmax_f16", "v_minmax_num_f16"});
  addVector<[](H a, H b, H c) { return lesser(greater(a, b), c); }>(
      table, {"v_maxmin_f16", "v_maxmin_num_f16"});
  addVector<[](H a, H b) { return lesserOrNan(a, b); }>(table, "v_minimum_f16");
  addVector<[](H a, H b) { return greaterOrNan(a, b); }>(table,
                                                         "v_maximum_f16");
  addVector<[](H a, H b, H c) { return lesserOrNan(lesserOrNan(a, b), c); }>(
      table, "v_minimum3_f16");
  addVector<[](H a, H b, H c) { return greaterOrNan(greaterOrNan(a, b), c); }>(
      table, "v_maximum3_f16");
  addVector<[](H a, H b, H c) { return greaterOrNan(lesserOrNan(a, b), c); }>(
      table, "v_minimummaximum_f16");
  addVector<[](H a, H b, H c) { return lesserOrNan(greaterOrNan(a, b), c); }>(
      table, "v_maximumminimum_f16");
}

/// Computes x - floor(x), kept below 1.
static H fractionHalf(H a) {
  float fraction = a.value - __builtin_floorf(a.value);
  return {fraction != fraction ? fraction : minimum(fraction, 0x1.ffcp-1f)};
}

void tessera::emulator::addVectorHalf(OpcodeTable &table) {
  addOrder(table);
  addVector<[](H a, H b) { return H{a.value + b.value}; }>(table, "v_add_f16");
  addVector<[](H a, H b) { return H{a.value - b.value}; }>(table, "v_sub_f16");
  addVector<[](H a, H b) { return H{b.value - a.value}; }>(table,
                                                           "v_subrev_f16");
  addVector<[](H a, H b) { return H{a.value * b.value}; }>(table, "v_mul_f16");
  addVector<[](H a, H b, H c) { return fmaHalf(a, b, c); }>(
      table, {"v_fma_f16", "v_mad_f16", "v_fma_legacy_f16"});
  addVector<[](H a, H b, H c) { return fmaHalf(a, b, c); }>(
      table, {"v_fmac_f16"}, kReadsDst);
  addVector<[](H a, H k, H b) { return fmaHalf(a, k, b); }>(table,
                                                            "v_fmamk_f16");
  addVector<[](H a, H b, H k) { return fmaHalf(a, b, k); }>(table,
                                                            "v_fmaak_f16");
  addVector<[](H a) { return fractionHalf(a); }>(table, "v_fract_f16");
  addVector<[](H a) { return H{frexpMantissa(a.value)}; }>(table,
                                                           "v_frexp_mant_f16");
  addVector<[](H a) { return static_cast<int16_t>(frexpExponent(a.value)); }>(
      table, "v_frexp_exp_i16_f16");
  addVector<[](H a) { return H{1 / a.value}; }>(table, "v_rcp_f16");
  addVector<[](H a) { return H{__builtin_sqrtf(a.value)}; }>(table,
                                                             "v_sqrt_f16");
  addVector<[](H a) { return H{roundToOdd(1 / std::sqrt(double(a.value)))}; }>(
      table, "v_rsq_f16");
  addVector<[](H a) { return H{std::exp2(a.value)}; }>(table, "v_exp_f16");
  addVector<[](H a) { return H{std::log2(a.value)}; }>(table, "v_log_f16");
  addVector<[](H a) { return H{sinTurns(a.value)}; }>(table, "v_sin_f16");
  addVector<[](H a) { return H{cosTurns(a.value)}; }>(table, "v_cos_f16");
  addVector<[](H a) { return H{__builtin_ceilf(a.value)}; }>(table,
                                                             "v_ceil_f16");
  addVector<[](H a) { return H{__builtin_floorf(a.value)}; }>(table,
                                                              "v_floor_f16");
  addVector<[](H a) { return H{__builtin_truncf(a.value)}; }>(table,
                                                              "v_trunc_f16");
  addVector<[](H a) { return H{__builtin_roundevenf(a.value)}; }>(
      table, "v_rndne_f16");
  addVector<[](H a, int16_t b) { return H{std::ldexp(a.value, b)}; }>(
      table, "v_ldexp_f16");
  // The chain of an f16 division ends here; its quotient is already correct.
  addVector<[](H quotient, H denominator, H numerator) {
    float exact = numerator.value / denominator.value;
    bool special = !std::isfinite(exact) || exact == 0;
    return special ? H{exact} : quotient;
  }>(table, "v_div_fixup_f16");
}

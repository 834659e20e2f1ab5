//===- VectorHalf.cpp - f16 vector instructions -----------------------===//
//
// Computed in f32 and rounded once; that is exact for everything but fma,
// which is computed in f64 and rounded to odd on the way.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/FloatMath.h"
#include "runtime/Emulator/Exec/VectorOps.h"

using namespace tessera::emulator;

using H = F16;

static H fmaHalf(H a, H b, H c) {
  return {roundToOdd(double(a.value) * b.value + double(c.value))};
}

void tessera::emulator::addVectorHalf(OpcodeTable &table) {
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
  addVector<[](H a, H b) { return H{minimum(a.value, b.value)}; }>(
      table, {"v_min_f16", "v_min_num_f16"});
  addVector<[](H a, H b) { return H{maximum(a.value, b.value)}; }>(
      table, {"v_max_f16", "v_max_num_f16"});
  addVector<[](H a, H b, H c) {
    return H{minimum(minimum(a.value, b.value), c.value)};
  }>(table, "v_min3_f16");
  addVector<[](H a, H b, H c) {
    return H{maximum(maximum(a.value, b.value), c.value)};
  }>(table, "v_max3_f16");
  addVector<[](H a, H b, H c) { return H{median(a.value, b.value, c.value)}; }>(
      table, "v_med3_f16");
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
  addVector<[](H a) { return H{__builtin_rintf(a.value)}; }>(table,
                                                             "v_rndne_f16");
  addVector<[](H a, int16_t b) { return H{std::ldexp(a.value, b)}; }>(
      table, "v_ldexp_f16");
  // The chain of an f16 division ends here; its quotient is already right.
  addVector<[](H quotient, H denominator, H numerator) {
    float exact = numerator.value / denominator.value;
    bool special = !std::isfinite(exact) || exact == 0;
    return special ? H{exact} : quotient;
  }>(table, "v_div_fixup_f16");
}

//===- Convert.cpp - Conversions between types ------------------------===//

#include "runtime/Emulator/Exec/VectorOps.h"

#include <limits>

using namespace tessera::emulator;

using U = uint32_t;
using I = int32_t;
using F = float;
using D = double;
using H = F16;

/// Truncates; out of range saturates, NaN gives 0.
template <typename To, typename From>
static To saturate(From value) {
  constexpr From kLow = static_cast<From>(std::numeric_limits<To>::min());
  constexpr From kHigh =
      static_cast<From>(uint64_t(1) << std::numeric_limits<To>::digits);
  if (value != value)
    return 0;
  if (value < kLow)
    return std::numeric_limits<To>::min();
  if (value >= kHigh)
    return std::numeric_limits<To>::max();
  return static_cast<To>(value);
}

/// f32 to f16, truncating; the sign and NaN stay.
static U truncateToHalf(F value) {
  if (value != value)
    return floatToHalf(value);
  U half = floatToHalf(value);
  bool tooLarge = std::fabs(halfToFloat(half)) > std::fabs(value);
  // Also brings infinity back to the largest number when value is finite.
  return tooLarge ? half - 1 : half;
}

static U roundAndScale(F value, F scale) {
  if (value != value)
    return 0;
  F clamped = value < -1 ? -1 : value > 1 ? 1 : value;
  return static_cast<U>(static_cast<I>(std::rint(clamped * scale))) & 0xffff;
}

template <unsigned Byte>
static void addByte(OpcodeTable &table, const char *name) {
  addVector<[](U a) { return static_cast<F>(a >> (8 * Byte) & 0xff); }>(table,
                                                                        name);
}

static void addPackedConversions(OpcodeTable &table) {
  addVector<[](F a, F b) {
    return truncateToHalf(a) | truncateToHalf(b) << 16;
  }>(table, {"v_cvt_pkrtz_f16_f32", "v_cvt_pk_rtz_f16_f32"});
  addVector<[](F a, F b) { return floatToHalf(a) | floatToHalf(b) << 16; }>(
      table, "v_cvt_pk_f16_f32");
  addVector<[](F a, F b) { return floatToBf16(a) | floatToBf16(b) << 16; }>(
      table, "v_cvt_pk_bf16_f32");
  addVector<[](F a, F b) {
    return roundAndScale(a, 32767) | roundAndScale(b, 32767) << 16;
  }>(table, {"v_cvt_pknorm_i16_f32", "v_cvt_pk_norm_i16_f32"});
  addVector<[](F a, F b) {
    return roundAndScale(a > 0 ? a : 0, 65535) |
           roundAndScale(b > 0 ? b : 0, 65535) << 16;
  }>(table, {"v_cvt_pknorm_u16_f32", "v_cvt_pk_norm_u16_f32"});
  addVector<[](U a, U b) {
    return (a > 0xffff ? 0xffffu : a) | (b > 0xffff ? 0xffffu : b) << 16;
  }>(table, "v_cvt_pk_u16_u32");
  addVector<[](I a, I b) {
    auto clamp = [](I v) {
      return static_cast<U>(v < -32768  ? -32768
                            : v > 32767 ? 32767
                                        : v) &
             0xffff;
    };
    return clamp(a) | clamp(b) << 16;
  }>(table, "v_cvt_pk_i16_i32");
  addVector<[](F a, U b, U c) {
    unsigned shift = 8 * (b & 3);
    U byte = saturate<uint8_t>(static_cast<F>(std::rint(a)));
    return (c & ~(0xffu << shift)) | byte << shift;
  }>(table, "v_cvt_pk_u8_f32");
  addVector<[](H a, H b) {
    return floatToHalf(a.value) | floatToHalf(b.value) << 16;
  }>(table, "v_pack_b32_f16");
}

void tessera::emulator::addConversions(OpcodeTable &table) {
  addVector<[](F a) { return H{a}; }>(table, "v_cvt_f16_f32");
  addVector<[](H a) { return a.value; }>(table, "v_cvt_f32_f16");
  addVector<[](I a) { return static_cast<F>(a); }>(table, "v_cvt_f32_i32");
  addVector<[](U a) { return static_cast<F>(a); }>(table, "v_cvt_f32_u32");
  addVector<[](F a) { return saturate<I>(a); }>(table, "v_cvt_i32_f32");
  addVector<[](F a) { return saturate<U>(a); }>(table, "v_cvt_u32_f32");
  addVector<[](D a) { return static_cast<F>(a); }>(table, "v_cvt_f32_f64");
  addVector<[](F a) { return static_cast<D>(a); }>(table, "v_cvt_f64_f32");
  addVector<[](I a) { return static_cast<D>(a); }>(table, "v_cvt_f64_i32");
  addVector<[](U a) { return static_cast<D>(a); }>(table, "v_cvt_f64_u32");
  addVector<[](D a) { return saturate<I>(a); }>(table, "v_cvt_i32_f64");
  addVector<[](D a) { return saturate<U>(a); }>(table, "v_cvt_u32_f64");
  addVector<[](int16_t a) { return H{static_cast<F>(a)}; }>(table,
                                                            "v_cvt_f16_i16");
  addVector<[](uint16_t a) { return H{static_cast<F>(a)}; }>(table,
                                                             "v_cvt_f16_u16");
  addVector<[](H a) { return saturate<int16_t>(a.value); }>(table,
                                                            "v_cvt_i16_f16");
  addVector<[](H a) { return saturate<uint16_t>(a.value); }>(table,
                                                             "v_cvt_u16_f16");
  addVector<[](F a) { return saturate<I>(std::floor(a + 0.5f)); }>(
      table, {"v_cvt_rpi_i32_f32", "v_cvt_nearest_i32_f32"});
  addVector<[](F a) { return saturate<I>(std::floor(a)); }>(
      table, {"v_cvt_flr_i32_f32", "v_cvt_floor_i32_f32"});
  addByte<0>(table, "v_cvt_f32_ubyte0");
  addByte<1>(table, "v_cvt_f32_ubyte1");
  addByte<2>(table, "v_cvt_f32_ubyte2");
  addByte<3>(table, "v_cvt_f32_ubyte3");
  addPackedConversions(table);
}

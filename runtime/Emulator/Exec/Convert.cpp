//===- Convert.cpp - Conversions between types ----------------------------===//

#include "runtime/Emulator/Exec/FloatMath.h"
#include "runtime/Emulator/Exec/VectorOps.h"

using namespace tessera::emulator;

using U = uint32_t;
using I = int32_t;
using F = float;
using D = double;
using H = F16;

static U roundAndScale(F value, F scale) {
  if (value != value)
    return 0;
  F clamped = value < -1 ? -1 : value > 1 ? 1 : value;
  return static_cast<U>(static_cast<I>(std::rint(clamped * scale))) & 0xffff;
}

/// Converts from an unsigned integer. The host's vector code may compute 0 by a
/// subtraction, which gives -0 when rounding down.
template <auto Fn, typename Result, typename Arg>
static void fromUnsigned(Wave &wave, const Instruction &in) {
  const LaneRows source = wave.source(in, 1, 0);
  const RowTarget target = wave.beginWrite(in);
  forEachLane(wave, [=](size_t lane) {
    Lane<Result>::put(target, lane, Fn(Lane<Arg>::get(source, lane)));
  });
  if (target.direct)
    return;
  constexpr U kMagnitude =
      Lane<Result>::type == ValueType::F16 ? 0x7fff : ~0u >> 1;
  U *const upper = Lane<Result>::dwords == 2 ? target.hi : target.lo;
  forEachLane(wave, [=](size_t lane) { upper[lane] &= kMagnitude; });
  wave.finishWrite(in, Lane<Result>::type);
}

template <auto Fn, typename Result, typename Arg>
static void addFromUnsigned(OpcodeTable &table, const char *name) {
  constexpr ValueType kTo = Lane<Result>::type, kFrom = Lane<Arg>::type;
  uint16_t flags = kClampOk | (is16Bit(kFrom) ? kPicksHalf : 0);
  table.add(name, {fromUnsigned<Fn, Result, Arg>,
                   InstructionClass::Valu,
                   flags,
                   {kTo, kFrom}});
}

template <unsigned Byte>
static void addByte(OpcodeTable &table, const char *name) {
  addFromUnsigned<[](U a) { return static_cast<F>(a >> (8 * Byte) & 0xff); }, F,
                  U>(table, name);
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
  addVector<[](F a, F b) {
    return U(uint16_t(saturate<int16_t>(a))) | U(uint16_t(saturate<int16_t>(b)))
                                                   << 16;
  }>(table, "v_cvt_pk_i16_f32");
  addVector<[](F a, F b) {
    return saturate<uint16_t>(a) | U(saturate<uint16_t>(b)) << 16;
  }>(table, "v_cvt_pk_u16_f32");
  addVector<[](H a, H b) {
    return floatToHalf(a.value) | floatToHalf(b.value) << 16;
  }>(table, "v_pack_b32_f16");
}

static U roundHalf(H value) { return roundAndScale(value.value, 32767); }
static U roundHalfUnsigned(H value) {
  return roundAndScale(value.value > 0 ? value.value : 0, 65535);
}
static U saturateByte(int16_t value) {
  return static_cast<U>(value < 0 ? 0 : value > 255 ? 255 : value);
}

/// Adds conversions that read or write 16 bits.
static void addShortConversions(OpcodeTable &table) {
  addVector<[](H a) { return static_cast<uint16_t>(roundHalf(a)); }>(
      table, "v_cvt_norm_i16_f16");
  addVector<[](H a) { return static_cast<uint16_t>(roundHalfUnsigned(a)); }>(
      table, "v_cvt_norm_u16_f16");
  addVector<[](H a, H b) { return roundHalf(a) | roundHalf(b) << 16; }>(
      table, {"v_cvt_pknorm_i16_f16", "v_cvt_pk_norm_i16_f16"});
  addVector<[](H a, H b) {
    return roundHalfUnsigned(a) | roundHalfUnsigned(b) << 16;
  }>(table, {"v_cvt_pknorm_u16_f16", "v_cvt_pk_norm_u16_f16"});
  addVector<[](int16_t a) { return static_cast<I>(a); }>(table,
                                                         "v_cvt_i32_i16");
  addVector<[](uint16_t a) { return static_cast<U>(a); }>(table,
                                                          "v_cvt_u32_u16");
  addVector<[](U a) {
    return static_cast<uint16_t>(saturateByte(static_cast<int16_t>(a)) |
                                 saturateByte(static_cast<int16_t>(a >> 16))
                                     << 8);
  }>(table, "v_sat_pk_u8_i16");
}

void tessera::emulator::addConversions(OpcodeTable &table) {
  addVector<[](F a) { return H{a}; }>(table, "v_cvt_f16_f32");
  addVector<[](H a) { return a.value; }>(table, "v_cvt_f32_f16");
  addVector<[](I a) { return static_cast<F>(a); }>(table, "v_cvt_f32_i32");
  addFromUnsigned<[](U a) { return static_cast<F>(a); }, F, U>(table,
                                                               "v_cvt_f32_u32");
  addVector<[](F a) { return saturate<I>(a); }>(table, "v_cvt_i32_f32");
  addVector<[](F a) { return saturate<U>(a); }>(table, "v_cvt_u32_f32");
  addVector<[](D a) { return static_cast<F>(a); }>(table, "v_cvt_f32_f64");
  addVector<[](F a) { return static_cast<D>(a); }>(table, "v_cvt_f64_f32");
  addVector<[](I a) { return static_cast<D>(a); }>(table, "v_cvt_f64_i32");
  addFromUnsigned<[](U a) { return static_cast<D>(a); }, D, U>(table,
                                                               "v_cvt_f64_u32");
  addVector<[](D a) { return saturate<I>(a); }>(table, "v_cvt_i32_f64");
  addVector<[](D a) { return saturate<U>(a); }>(table, "v_cvt_u32_f64");
  addVector<[](int16_t a) { return H{static_cast<F>(a)}; }>(table,
                                                            "v_cvt_f16_i16");
  addFromUnsigned<[](uint16_t a) { return H{static_cast<F>(a)}; }, H, uint16_t>(
      table, "v_cvt_f16_u16");
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
  // A signed nibble counts sixteenths.
  addVector<[](I a) { return static_cast<F>(a << 28 >> 28) * 0x1p-4f; }>(
      table, "v_cvt_off_f32_i4");
  addPackedConversions(table);
  addShortConversions(table);
}

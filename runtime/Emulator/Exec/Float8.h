//===- Float8.h - 8-bit floats on the host ---------------------*- C++ -*--===//
//
// gfx942 has the FNUZ formats (no infinity, no -0, one NaN), gfx950 and gfx12
// the OCP ones. Conversions and matrix instructions of a chip share them, so
// they are defined once, here.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_EXEC_FLOAT8_H
#define TESSERA_RUNTIME_EMULATOR_EXEC_FLOAT8_H

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tessera::emulator {

/// A format with one sign bit and `exponentBits`; the other bits are the
/// mantissa.
struct Float8Format {
  uint8_t exponentBits;
  uint8_t bias;
  uint8_t largest; ///< The code of the largest finite number.
  bool isFnuz;
  bool hasInfinity;

  constexpr int getMantissaBits() const { return 7 - exponentBits; }
  bool operator==(const Float8Format &) const = default;
};

/// E4M3, "fp8". The largest number is 448 (OCP) or 240 (FNUZ).
inline constexpr Float8Format kFp8Ocp{4, 7, 0x7e, false, false};
inline constexpr Float8Format kFp8Fnuz{4, 8, 0x7f, true, false};
/// E5M2, "bf8". The largest number is 57344 in both.
inline constexpr Float8Format kBf8Ocp{5, 15, 0x7b, false, true};
inline constexpr Float8Format kBf8Fnuz{5, 16, 0x7f, true, false};

/// The conversion is exact, because every 8-bit float is a float.
inline float decodeFloat8(uint32_t byte, const Float8Format &format) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  uint32_t code = byte & 0x7f;
  bool isNegative = byte & 0x80;
  if (format.isFnuz && (byte & 0xff) == 0x80)
    return nan;
  if (code > format.largest) {
    bool isInfinity = format.hasInfinity && code == format.largest + 1u;
    return isInfinity ? (isNegative ? -infinity : infinity) : nan;
  }
  int mantissaBits = format.getMantissaBits();
  int exponent = static_cast<int>(code >> mantissaBits);
  auto mantissa = static_cast<int>(code & ((1u << mantissaBits) - 1));
  if (exponent == 0)
    exponent = 1;
  else
    mantissa |= 1 << mantissaBits;
  float value = std::ldexp(static_cast<float>(mantissa),
                           exponent - format.bias - mantissaBits);
  return isNegative ? -value : value;
}

/// A table of all 256 numbers of a format.
template <Float8Format Format>
const float *getFloat8Table() {
  static const auto table = [] {
    std::array<float, 256> values;
    for (uint32_t byte = 0; byte < 256; ++byte)
      values[byte] = decodeFloat8(byte, Format);
    return values;
  }();
  return table.data();
}

enum class Float8Rounding { NearestEven, TowardZero };

/// A value that is too large becomes infinity, or NaN in a format without it.
/// If `saturates` (MODE.FP16_OVFL) it becomes the largest number, but an
/// infinite `value` is never made finite.
inline uint32_t
encodeFloat8(float value, const Float8Format &format, bool saturates = false,
             Float8Rounding rounding = Float8Rounding::NearestEven) {
  uint32_t sign = std::bit_cast<uint32_t>(value) >> 24 & 0x80;
  const uint32_t nan = format.isFnuz ? 0x80 : 0x7f | sign;
  if (std::isnan(value))
    return nan;
  const uint32_t tooLarge =
      format.hasInfinity ? (format.largest + 1u) | sign : nan;
  if (std::isinf(value))
    return tooLarge;
  // Count in units of the last place of the value's binade; subnormals share
  // one.
  int mantissaBits = format.getMantissaBits();
  double magnitude = std::fabs(static_cast<double>(value));
  int exponent = magnitude == 0 ? 1 : std::ilogb(magnitude) + format.bias;
  exponent = exponent < 1 ? 1 : exponent;
  double units = std::ldexp(magnitude, mantissaBits + format.bias - exponent);
  units = rounding == Float8Rounding::NearestEven ? std::nearbyint(units)
                                                  : std::trunc(units);
  // The implicit bit of a normal number and a carry out of the mantissa both
  // add one to the exponent field.
  uint32_t code = (static_cast<uint32_t>(exponent - 1) << mantissaBits) +
                  static_cast<uint32_t>(units);
  if (code > format.largest)
    return saturates ? format.largest | sign : tooLarge;
  return code == 0 && format.isFnuz ? 0 : code | sign;
}

/// Rounds stochastically: the upper bits of `noise` (S1[31:12] for fp8,
/// S1[31:11] for bf8) are added to the mantissa bits that do not fit, which are
/// then cut off; a carry reaches the exponent. AMD's published pseudocode adds
/// the same bits, but wraps the mantissa and then rounds to nearest even: its
/// result is half a unit too large on average, and a binade too small after a
/// carry. This function returns the result whose mean is the value.
inline uint32_t encodeFloat8Stochastic(float value, uint32_t noise,
                                       const Float8Format &format,
                                       bool saturates = false) {
  if (std::isfinite(value)) {
    int shift = 9 + format.getMantissaBits();
    value =
        std::bit_cast<float>(std::bit_cast<uint32_t>(value) + (noise >> shift));
  }
  return encodeFloat8(value, format, saturates, Float8Rounding::TowardZero);
}

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_EXEC_FLOAT8_H

//===- SmallFloat.h - Exact conversions of small floats --------*- C++ -*--===//
//
// Tests compare bits, so the conversions must not depend on what the host's
// compiler or processor offers for half precision. The same code converts both
// formats; tests cover all of their values.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_REFERENCE_SMALLFLOAT_H
#define TESSERA_DIALECT_REFERENCE_SMALLFLOAT_H

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tessera::reference {

/// An IEEE-like binary format of 16 bits: sign, exponent, fraction.
struct SmallFloatFormat {
  int fractionBits;
  int minExponent; ///< that of the smallest normal number
};
inline constexpr SmallFloatFormat kF16Format{10, -14};
inline constexpr SmallFloatFormat kBF16Format{7, -126};

/// Returns the nearest number of the format, ties to even. Values that are too
/// large give infinity, NaN gives a quiet NaN.
inline uint16_t encodeSmallFloat(double value, SmallFloatFormat format) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 63) << 15);
  const uint32_t infinity =
      0x7fffu & ~((1u << format.fractionBits) - 1); // all exponent bits
  if (std::isnan(value))
    return sign | infinity | (1u << (format.fractionBits - 1));

  // Count in units of the last place of value's binade. Scaling by a power of
  // two is exact, and adding 2^52 to a number below it removes exactly the
  // fraction, rounded to even.
  const double magnitude = std::fabs(value);
  const int exponent = std::max(static_cast<int>((bits >> 52) & 0x7ff) - 1023,
                                format.minExponent);
  const int unit = exponent - format.fractionBits;
  if (exponent > 1 - format.minExponent) // beyond the largest, or infinity
    return sign | infinity;
  const double scale = std::bit_cast<double>(uint64_t(1023 - unit) << 52);
  constexpr double k2To52 = 0x1p52;
  const double units = (magnitude * scale + k2To52) - k2To52;

  // A normal number has 2^fractionBits units or more, and that bit adds one to
  // the exponent field. Rounding up to the next binade, or from the largest
  // number to infinity, carries into it in the same way.
  return sign | static_cast<uint16_t>((uint32_t(exponent - format.minExponent)
                                       << format.fractionBits) +
                                      static_cast<uint32_t>(units));
}

inline uint16_t encodeF16(double value) {
  return encodeSmallFloat(value, kF16Format);
}
inline uint16_t encodeBF16(double value) {
  return encodeSmallFloat(value, kBF16Format);
}

/// Every f16 is a float: shift the fields to their positions, and correct the
/// exponent's bias by a multiplication, which also normalises subnormal
/// numbers.
inline float decodeF16(uint16_t bits) {
  const uint32_t sign = uint32_t(bits & 0x8000u) << 16;
  float magnitude =
      std::bit_cast<float>(uint32_t(bits & 0x7fffu) << 13) * 0x1p112f;
  if ((bits & 0x7c00u) == 0x7c00u) // infinity or NaN
    magnitude =
        std::bit_cast<float>(0x7f800000u | uint32_t(bits & 0x3ffu) << 13);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
}

/// A bf16 is the upper half of a float.
inline float decodeBF16(uint16_t bits) {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}

/// A format of 8 bits: sign, exponent, fraction.
struct Float8Format {
  int fractionBits;
  int bias;
  uint8_t largest; ///< The code of the largest number.
  /// Whether there is neither infinity nor -0, and NaN has the code of -0.
  bool isFnuz;
  /// Whether the code behind the largest number is infinity.
  bool hasInfinity;
};
inline constexpr Float8Format kE4M3FnuzFormat{3, 8, 0x7f, true, false};
inline constexpr Float8Format kE5M2FnuzFormat{2, 16, 0x7f, true, false};
inline constexpr Float8Format kE4M3FnFormat{3, 7, 0x7e, false, false};
inline constexpr Float8Format kE5M2Format{2, 15, 0x7b, false, true};

/// The numbers of a format of 8 bits, each of which is a float.
class Float8Numbers {
public:
  explicit Float8Numbers(Float8Format format) : format(format) {
    for (int bits = 0; bits < 256; ++bits)
      numbers[bits] = define(bits);
  }

  float decode(uint8_t bits) const { return numbers[bits]; }

  /// Returns the nearest number, ties to the even code. What is too large,
  /// infinity included, gives the largest number (OCP's saturating mode), NaN
  /// gives NaN. Codes have the order of their numbers: the nearest one is found
  /// by halving.
  uint8_t encode(double value) const {
    if (std::isnan(value))
      return format.isFnuz ? 0x80 : 0x7f;
    const double magnitude = std::fabs(value);
    int below = 0, above = format.largest;
    if (magnitude >= numbers[above])
      below = above;
    while (above - below > 1) {
      const int middle = (below + above) / 2;
      (numbers[middle] <= magnitude ? below : above) = middle;
    }
    const double under = magnitude - numbers[below];
    const double over = numbers[above] - magnitude;
    const bool isUp =
        below != above && (under > over || (under == over && above % 2 == 0));
    const int code = isUp ? above : below;
    const bool isNegative =
        std::signbit(value) && !(format.isFnuz && code == 0);
    return static_cast<uint8_t>(isNegative ? code | 0x80 : code);
  }

private:
  float define(int bits) const {
    const int code = bits & 0x7f;
    const float sign = (bits & 0x80) != 0 ? -1.0f : 1.0f;
    if (format.isFnuz ? bits == 0x80 : code > format.largest)
      return format.hasInfinity && code == format.largest + 1
                 ? sign * std::numeric_limits<float>::infinity()
                 : std::numeric_limits<float>::quiet_NaN();
    const int exponent = code >> format.fractionBits;
    const int scale = 1 << format.fractionBits;
    const int fraction = code % scale + (exponent > 0 ? scale : 0);
    return sign * std::ldexp(static_cast<float>(fraction),
                             std::max(exponent, 1) - format.bias -
                                 format.fractionBits);
  }

  Float8Format format;
  std::array<float, 256> numbers{};
};

} // namespace tessera::reference

#endif // TESSERA_DIALECT_REFERENCE_SMALLFLOAT_H

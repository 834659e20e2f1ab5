//===- SmallFloat.h - Floats of four and six bits --------------*- C++ -*--===//
//
// The OCP microscaling formats of less than 8 bits (CDNA4 ISA guide 7.3). They
// have no infinity and no NaN; a value that is too large becomes the largest
// number.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_EXEC_SMALLFLOAT_H
#define TESSERA_RUNTIME_EMULATOR_EXEC_SMALLFLOAT_H

#include <bit>
#include <cmath>
#include <cstdint>

namespace tessera::emulator {

struct SmallFloatFormat {
  uint8_t exponentBits, mantissaBits, bias;
  constexpr unsigned getBits() const { return 1 + exponentBits + mantissaBits; }
  constexpr uint32_t getLargest() const { return (1u << (getBits() - 1)) - 1; }
};

inline constexpr SmallFloatFormat kFp4{2, 1, 1};
inline constexpr SmallFloatFormat kFp6{2, 3, 1};
inline constexpr SmallFloatFormat kBf6{3, 2, 3};

/// The conversion is exact.
inline float decodeSmallFloat(uint32_t code, const SmallFloatFormat &format) {
  uint32_t magnitude = code & format.getLargest();
  int exponent = static_cast<int>(magnitude >> format.mantissaBits);
  auto mantissa =
      static_cast<int>(magnitude & ((1u << format.mantissaBits) - 1));
  if (exponent)
    mantissa |= 1 << format.mantissaBits;
  float value =
      std::ldexp(static_cast<float>(mantissa),
                 (exponent ? exponent : 1) - format.bias - format.mantissaBits);
  return code >> (format.getBits() - 1) & 1 ? -value : value;
}

/// `round` maps a number of units in the last place to a whole one. NaN becomes
/// the largest number, because the formats have no NaN (unpublished).
template <typename Round>
uint32_t encodeSmallFloat(double value, const SmallFloatFormat &format,
                          Round round) {
  uint32_t sign = std::signbit(value) ? format.getLargest() + 1 : 0;
  double magnitude = std::fabs(value);
  if (!(magnitude < 65536.0))
    return format.getLargest() | sign;
  int exponent = magnitude == 0 ? 1 : std::ilogb(magnitude) + format.bias;
  exponent = exponent < 1 ? 1 : exponent;
  double units =
      std::ldexp(magnitude, format.mantissaBits + format.bias - exponent);
  // The implicit bit and a carry out of the mantissa each add one to the
  // exponent.
  uint32_t code = (static_cast<uint32_t>(exponent - 1) << format.mantissaBits) +
                  static_cast<uint32_t>(round(units));
  return (code > format.getLargest() ? format.getLargest() : code) | sign;
}

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_EXEC_SMALLFLOAT_H

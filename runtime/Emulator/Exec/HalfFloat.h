//===- HalfFloat.h - 16-bit floats on the host -----------------*- C++ -*--===//
//
// Written so that the host compiler turns a loop over lanes into F16C
// instructions.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_EXEC_HALFFLOAT_H
#define TESSERA_RUNTIME_EMULATOR_EXEC_HALFFLOAT_H

#include <bit>
#include <cmath>
#include <cstdint>

namespace tessera::emulator {

/// Converts the low 16 bits of `bits`, an IEEE binary16.
inline float halfToFloat(uint32_t bits) {
  return static_cast<float>(
      std::bit_cast<_Float16>(static_cast<uint16_t>(bits)));
}

/// Rounds to nearest even.
inline uint32_t floatToHalf(float value) {
  return std::bit_cast<uint16_t>(static_cast<_Float16>(value));
}

/// Rounds towards zero; the sign and NaN stay. The host must round to nearest.
inline uint32_t truncateToHalf(float value) {
  uint32_t half = floatToHalf(value);
  bool tooLarge = std::fabs(halfToFloat(half)) > std::fabs(value);
  // This also turns infinity into the largest number when value is finite.
  return tooLarge ? half - 1 : half;
}

/// Converts the low 16 bits of `bits`, a bfloat16.
inline float bf16ToFloat(uint32_t bits) {
  return std::bit_cast<float>(bits << 16);
}

/// Rounds to nearest even. A NaN stays a quiet NaN.
inline uint32_t floatToBf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return (bits & 0x7fffffff) > 0x7f800000 ? (bits >> 16 | 0x40) : rounded;
}

/// Converts double to float so that rounding the result to a shorter format
/// gives what a single rounding would: truncates, and records lost bits in the
/// last bit.
inline float roundToOdd(double value) {
  float nearest = static_cast<float>(value);
  double error = value - static_cast<double>(nearest);
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  bool tooFar = (error > 0) != (value > 0);
  uint32_t truncated = bits - (tooFar ? 1 : 0);
  bool isExact = error == 0 || !(std::fabs(nearest) <= 3.402823466e38f);
  return std::bit_cast<float>(isExact ? bits : truncated | 1);
}

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_EXEC_HALFFLOAT_H

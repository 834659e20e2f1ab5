//===- DivisionMath.h - The last step of a division ------------*- C++ -*--===//
//
// LLVM divides by v_div_scale (twice), a chain of fma, v_div_fmas and
// v_div_fixup, and relies on the result being the correctly rounded quotient.
// AMD's published pseudocode of v_div_fmas scales by a fixed power of two,
// which cannot produce large or denormal quotients. The rule here makes the
// pair exact: the scaling of v_div_scale by 2^64 (f64: 2^128) is undone,
// upwards or downwards depending on the quotient's exponent, with one rounding.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_EXEC_DIVISIONMATH_H
#define TESSERA_RUNTIME_EMULATOR_EXEC_DIVISIONMATH_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace tessera::emulator {

template <typename T>
struct DivisionTraits;
template <>
struct DivisionTraits<float> {
  using Wide = double; ///< Exact for every product of two.
  using Bits = uint64_t;
  static constexpr Wide kScale = 0x1p64;
};
template <>
struct DivisionTraits<double> {
  using Wide = __float128;
  using Bits = unsigned __int128;
  static constexpr Wide kScale = 0x1p128;
};

/// Returns x + y. If the sum does not fit, its last bit is made odd, so that
/// rounding it again, to fewer bits, gives the rounded exact sum.
template <typename Wide, typename Bits>
inline Wide addToOdd(Wide x, Wide y) {
  Wide sum = x + y, yPart = sum - x;
  Wide error = (x - (sum - yPart)) + (y - yPart);
  Bits bits;
  static_assert(sizeof bits == sizeof sum);
  std::memcpy(&bits, &sum, sizeof bits);
  if (error != 0 && !(bits & 1)) {
    // Move towards the exact sum: away from zero if the error has the sum's
    // sign.
    bits += (error > 0) == (sum > 0) ? Bits(1) : ~Bits(0);
    std::memcpy(&sum, &bits, sizeof bits);
  }
  return sum;
}

/// Computes v_div_fmas where VCC says that the operands were scaled.
template <typename T>
inline T fmaScaledBack(T a, T b, T c) {
  using Traits = DivisionTraits<T>;
  using Wide = typename Traits::Wide;
  if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c))
    return std::fma(a, b, c);
  bool isLarge = std::fabs(c) >= 2;
  Wide sum = addToOdd<Wide, typename Traits::Bits>(Wide(c), Wide(a) * Wide(b));
  return static_cast<T>(isLarge ? sum * Traits::kScale : sum / Traits::kScale);
}

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_EXEC_DIVISIONMATH_H

//===- FloatMath.h - Scalar float rules of the vector unit -----*- C++ -*--===//

#ifndef TESSERA_RUNTIME_EMULATOR_EXEC_FLOATMATH_H
#define TESSERA_RUNTIME_EMULATOR_EXEC_FLOATMATH_H

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tessera::emulator {

/// Minimum and maximum that prefer a number to a NaN; -0 < +0.
template <typename F>
inline F minimum(F a, F b) {
  F smaller = a < b || (a == b && std::signbit(a)) ? a : b;
  return a != a ? b : b != b ? a : smaller;
}
template <typename F>
inline F maximum(F a, F b) {
  F larger = a > b || (a == b && !std::signbit(a)) ? a : b;
  return a != a ? b : b != b ? a : larger;
}
template <typename F>
inline F median(F a, F b, F c) {
  if (a != a || b != b || c != c)
    return minimum(minimum(a, b), c);
  return maximum(minimum(a, b), minimum(maximum(a, b), c));
}

/// Minimum and maximum that return NaN if either is NaN (gfx950 and gfx12:
/// v_minimum, v_maximum).
template <typename F>
inline F minimumOrNan(F a, F b) {
  return a != a || b != b ? a + b : minimum(a, b);
}
template <typename F>
inline F maximumOrNan(F a, F b) {
  return a != a || b != b ? a + b : maximum(a, b);
}

/// Truncates. Values out of range saturate, and NaN gives 0.
template <typename To, typename From>
inline To saturate(From value) {
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

/// Computes x - floor(x), kept below 1.
template <typename F>
inline F fraction(F x) {
  F below =
      std::is_same_v<F, float> ? F(0x1.fffffep-1) : F(0x1.fffffffffffffp-1);
  return std::isfinite(x) ? minimum(x - std::floor(x), below)
                          : std::numeric_limits<F>::quiet_NaN();
}

template <typename F>
inline F frexpMantissa(F x) {
  int exponent;
  return std::isfinite(x) ? std::frexp(x, &exponent) : x;
}
template <typename F>
inline int32_t frexpExponent(F x) {
  int exponent = 0;
  if (std::isfinite(x))
    (void)std::frexp(x, &exponent);
  return exponent;
}

/// v_sin and v_cos take their argument in turns, that is units of 2 pi.
inline float sinTurns(float x) {
  return std::isfinite(x)
             ? static_cast<float>(std::sin(6.283185307179586 *
                                           (double(x) - std::floor(double(x)))))
             : std::numeric_limits<float>::quiet_NaN();
}
inline float cosTurns(float x) {
  return std::isfinite(x)
             ? static_cast<float>(std::cos(6.283185307179586 *
                                           (double(x) - std::floor(double(x)))))
             : std::numeric_limits<float>::quiet_NaN();
}

/// Returns the bit of v_cmp_class for the kind of number that x is.
template <typename F>
inline uint32_t classify(F x) {
  using Bits = std::conditional_t<sizeof(F) == 4, uint32_t, uint64_t>;
  constexpr unsigned kMantissa = sizeof(F) == 4 ? 23 : 52;
  Bits bits = std::bit_cast<Bits>(x);
  bool negative = std::signbit(x);
  if (x != x)
    return bits >> (kMantissa - 1) & 1 ? 2 : 1;
  if (std::isinf(x))
    return negative ? 4 : 0x200;
  if (x == 0)
    return negative ? 0x20 : 0x40;
  if (std::fpclassify(x) == FP_SUBNORMAL)
    return negative ? 0x10 : 0x80;
  return negative ? 8 : 0x100;
}

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_EXEC_FLOATMATH_H

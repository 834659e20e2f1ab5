//===- Approx.h - A number and how far off a kernel may be -----*- C++ -*--===//
//
// A primitive's formula, written once in these numbers, gives what a kernel
// should compute and how large its error may be: every operation adds the
// rounding that it costs a kernel to the errors that come in with its operands.
// So no family has a tolerance of its own that could be tuned until its tests
// pass.
//
// Errors count in unit roundoffs of the kernel's arithmetic (2^-24 for f32) and
// are of first order. Sums follow the rule of Compare.h. Functions may be off
// by some units, and those that are made of exp2 and log2 by more, the larger
// the exponent is.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_REFERENCE_APPROX_H
#define TESSERA_DIALECT_REFERENCE_APPROX_H

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tessera::reference {

struct Approx {
  double value = 0;
  double error = 0; ///< in unit roundoffs

  Approx() = default;
  Approx(double value, double error = 0) : value(value), error(error) {}

  double getMagnitude() const { return std::fabs(value); }
};

/// `value`, computed with `units` roundings of its size, from operands whose
/// errors let it be off by `error`.
inline Approx makeRounded(double value, double error, double units = 1) {
  return {value, error + units * std::fabs(value)};
}

inline Approx operator+(Approx a, Approx b) {
  return makeRounded(a.value + b.value, a.error + b.error);
}
inline Approx operator-(Approx a, Approx b) {
  return makeRounded(a.value - b.value, a.error + b.error);
}
inline Approx operator-(Approx a) { return {-a.value, a.error}; }
inline Approx operator*(Approx a, Approx b) {
  return makeRounded(a.value * b.value,
                     a.getMagnitude() * b.error + b.getMagnitude() * a.error);
}
inline Approx operator/(Approx a, Approx b) {
  const double quotient = a.value / b.value;
  constexpr double kUnits = 4; // A product with a reciprocal.
  return makeRounded(
      quotient, (a.error + std::fabs(quotient) * b.error) / b.getMagnitude(),
      kUnits);
}

inline Approx abs(Approx a) { return {std::fabs(a.value), a.error}; }
/// A NaN is kept.
inline Approx max(Approx a, Approx b) {
  if (std::isnan(a.value) || std::isnan(b.value))
    return std::isnan(a.value) ? a : b;
  return {std::max(a.value, b.value), std::max(a.error, b.error)};
}
inline Approx min(Approx a, Approx b) { return -max(-a, -b); }

inline Approx exp(Approx a) {
  const double value = std::exp(a.value);
  return makeRounded(value, value * a.error, 8 + 2 * a.getMagnitude());
}
inline Approx log(Approx a) {
  const double value = std::log(a.value);
  // The result may be near 0, so the units count relative to 1 as well.
  constexpr double kUnits = 8;
  return makeRounded(value, a.error / a.getMagnitude() + kUnits, kUnits);
}
/// The power of a base that is not negative.
inline Approx pow(Approx a, double exponent) {
  const double value = std::pow(a.value, exponent);
  if (a.value == 0)
    return {value, 0};
  return makeRounded(value, std::fabs(value * exponent / a.value) * a.error,
                     8 + 2 * std::fabs(exponent) *
                             (1 + std::fabs(std::log2(a.value))));
}
inline Approx sqrt(Approx a) { return pow(a, 0.5); }
inline Approx rsqrt(Approx a) { return pow(a, -0.5); }

/// Returns `yes` where `a` > 0, otherwise `no`. Either is allowed where a
/// kernel may see `a` on the other side.
inline Approx selectPositive(Approx a, Approx yes, Approx no) {
  // That of f32, which is ample for f64.
  constexpr double kUnitRoundoff = 0x1p-24;
  Approx result = a.value > 0 ? yes : no;
  if (a.error > 0 && a.getMagnitude() <= a.error * kUnitRoundoff)
    result.error = std::max(yes.error, no.error) +
                   std::fabs(yes.value - no.value) / (0.5 * kUnitRoundoff);
  return result;
}

/// Adds numbers in any order.
class ApproxSum {
public:
  void add(Approx term) {
    sum += term.value;
    magnitude += term.getMagnitude();
    error += term.error;
    ++count;
  }
  Approx get() const {
    constexpr double kDeviations = 4; // See Compare.h.
    return {sum, error + kDeviations * std::sqrt(static_cast<double>(count)) *
                             magnitude};
  }

private:
  double sum = 0;
  double magnitude = 0;
  double error = 0;
  int64_t count = 0;
};

/// The mean of some numbers, and the sum of their squared differences from it.
struct ApproxMoments {
  Approx mean;
  Approx squares;

  /// Computes the moments of element(0) to element(count - 1).
  template <typename Element>
  static ApproxMoments of(int64_t count, const Element &element) {
    ApproxSum sum;
    for (int64_t i = 0; i < count; ++i)
      sum.add(element(i));
    const Approx mean = sum.get() / static_cast<double>(count);
    ApproxSum squares;
    for (int64_t i = 0; i < count; ++i) {
      const Approx x = element(i);
      const double difference = x.value - mean.value;
      // Each step rounds a difference of numbers that are as large as x and the
      // mean, which moves the square.
      constexpr double kSteps = 4;
      squares.add(
          {difference * difference,
           2 * std::fabs(difference) *
               (x.error + kSteps * (x.getMagnitude() + mean.getMagnitude()))});
    }
    return {mean, squares.get()};
  }
};

} // namespace tessera::reference

#endif // TESSERA_DIALECT_REFERENCE_APPROX_H

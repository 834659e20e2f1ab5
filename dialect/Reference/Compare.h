//===- Compare.h - Is a computed tensor right? -----------------*- C++ -*--===//
//
// There is one rule for every test. It is derived from how kernels compute and
// not tuned until tests pass. A kernel adds L products in f32, in an order of
// its own, and rounds the sum once to the element type. Each addition is wrong
// by at most u = 2^-24 of the partial sum, which never exceeds
// M = sum |x| |w|. The worst case, L u M, would hide a missing product in a
// long sum; but rounding errors are as often up as down, and the sum of L such
// errors grows with sqrt(L) (Higham and Mary, "A new approach to probabilistic
// rounding error analysis", 2019, give lambda sqrt(L) u M with a probability of
// failure that falls as exp(-lambda^2 / 2)). So
//
//   t = 4 sqrt(L) 2^-24 M,   and a result r passes exactly when
//   round(v - t) <= r <= round(v + t),
//
// where v is the exact value and round() goes to the element type. The 4 also
// covers matrix units that truncate instead of rounding. Overflow to infinity
// and subnormal results need no rule of their own, a NaN satisfies no
// comparison, and where data are such that no sum rounds (t = 0) the result
// must be the correctly rounded value.
//
// Where operands of f32 may be rounded to tf32, each is wrong by at most 2^-11
// of itself, and so each product by 2^-10. That is at most 2^-10 M in all, and
// since L errors are as often up as down, their sum grows with sqrt(L) only.
// Products differ in size: for normal data the root of the sum of their squares
// is 1.6 M / sqrt(L), and it is larger for a window that is half in the
// padding. So t is greater by
//
//   min(1, 8 / sqrt(L)) 2^-10 M.
//
// For f64 sums the 2^-24 is replaced by 2^-53, and by twice that here, because
// the reference itself adds in double. Sums of i8 products are exact: t = 0.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_REFERENCE_COMPARE_H
#define TESSERA_DIALECT_REFERENCE_COMPARE_H

#include "dialect/Reference/Tensor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::reference {

/// The largest relative error of one addition of a kernel whose operands have
/// type `inputs`.
double getUnitRoundoff(ElementType inputs);

/// The largest relative error of rounding to tf32.
inline constexpr double kTf32Roundoff = 0x1p-11;

/// What a tensor, or a sample of its elements, should hold.
struct Expected {
  Sizes sizes{}; ///< of the whole tensor
  /// The compared elements as flat indices (see Sizes); empty means all.
  std::vector<int64_t> indices{};
  /// Exact values and sums of magnitudes (M above), in the order of `indices`.
  std::vector<double> values{};
  std::vector<double> magnitudes{};
  /// L above.
  int64_t reductionLength = 1;
  /// u above.
  double unitRoundoff = getUnitRoundoff(ElementType::F32);
  /// The relative error of an operand when it is multiplied: 0, or that of
  /// tf32.
  double operandRoundoff = 0;
  /// Whether values may be infinite or NaN; the result must then be the same
  /// infinity or a NaN, too.
  bool mayBeNonFinite = false;

  /// t above for a magnitude of 1.
  double getRelativeTolerance() const;
};

/// Returns about `count` elements of a tensor to check instead of all: its
/// corners, where addressing goes wrong first, and others drawn with `seed`.
/// Sorted and without duplicates.
std::vector<int64_t> sampleElements(const Sizes &sizes, int64_t count,
                                    uint64_t seed);

/// How large the error of a sum may be.
enum class Rule {
  Rounding, ///< t as above
  /// No error: the data are small integers (DataKind::Integer), whose sums are
  /// exact in f32.
  Exact,
};

/// The outcome, with the element that has the largest error.
struct Report {
  int64_t compared = 0;
  int64_t failed = 0;
  /// The worst element, failed or not: its coordinates, what it should be, and
  /// what it is.
  Coord worst;
  double expected = 0;
  double actual = 0;
  /// The interval that was allowed there.
  double least = 0;
  double most = 0;
  /// The norm of all errors over that of the expected values, and the largest
  /// error over the largest value; of finite values.
  double relativeNorm = 0;
  double relativeMaximum = 0;
  /// Whether the text contains the worst element's depth.
  bool hasDepth = false;

  /// Comparing nothing proves nothing.
  bool passed() const { return compared > 0 && failed == 0; }
  /// "3 of 4096 elements are wrong; worst at n=0 k=5 h=1 w=2: ..."
  std::string toText() const;
};

/// Compares with `actual`, a tensor of `expected.sizes`. Unless mayBeNonFinite
/// is set, an expected value that is not finite fails as well, because such a
/// test would show nothing.
Report compare(const Expected &expected, const TensorView &actual,
               Rule rule = Rule::Rounding);

} // namespace tessera::reference

#endif // TESSERA_DIALECT_REFERENCE_COMPARE_H

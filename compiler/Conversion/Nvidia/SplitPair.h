//===- SplitPair.h - f32 in terms of bf16 ----------------------*- C++ -*--===//
//
// An f32 is the sum of three bf16, so six products of bf16 are one of f32 to
// 2^-24 (docs/design/0027-splits-in-registers.md).
//
// An f32 that is infinite or no number has but one term, and only in the
// product of the first terms: times a term of zero it would be no number.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_NVIDIA_SPLITPAIR_H
#define TESSERA_COMPILER_CONVERSION_NVIDIA_SPLITPAIR_H

#include "compiler/Conversion/Common/Emitter.h"

#include <array>

namespace tessera {

/// The terms of two neighbours, each a pair of bf16 (i32): the first term; the
/// same, but zero where it is not finite; the second and the third.
struct SplitPair {
  enum Term { First, FirstFinite, Second, Third };
  static constexpr unsigned kTerms = 4;
  std::array<mlir::Value, kTerms> terms;
};

/// What the five small products of terms multiply, of A and of B. The sixth is
/// that of the first terms.
struct TermProduct {
  SplitPair::Term a, b;
};
inline constexpr TermProduct kSmallProducts[] = {
    {SplitPair::Second, SplitPair::Second},
    {SplitPair::FirstFinite, SplitPair::Third},
    {SplitPair::Third, SplitPair::FirstFinite},
    {SplitPair::FirstFinite, SplitPair::Second},
    {SplitPair::Second, SplitPair::FirstFinite}};

/// Splits two f32.
SplitPair splitPair(Emitter &e, mlir::Value low, mlir::Value high);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_NVIDIA_SPLITPAIR_H

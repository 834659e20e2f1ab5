//===- ElementSplit.h - f32 as three terms of bf16 -------------*- C++ -*--===//
//
// bf16 has the exponents of f32 and 8 of its 24 bits, so a number is the sum of
// three terms, a0 + a1 + a2. A product a * b is, up to 2^-25 of it,
//   a0 b0 + a0 b1 + a1 b0 + a1 b1 + a0 b2 + a2 b0,
// each of which a matrix instruction of bf16 computes exactly
// (docs/design/0024-f32-by-splits.md).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_CONVERTED_ELEMENTSPLIT_H
#define TESSERA_COMPILER_ALGORITHMS_CONVERTED_ELEMENTSPLIT_H

#include "compiler/Algorithms/Common/PointBuilder.h"

#include <array>

namespace tessera {

/// The products of terms, and so the copies of a tensor, each of one term.
inline constexpr int64_t kTermProducts = 6;

/// Where the copies of a tensor's elements go, and which terms they are.
struct ElementSplit {
  /// The groups of channels, or of filters, each of which has all copies.
  int64_t groups = 1;
  /// Whether the copies of a group are whole tensors, one behind the other;
  /// else each pixel has those of its channels.
  bool isOuter = false;
  /// Whether it is b, the second operand.
  bool isSecond = false;
};

/// The copies of a block of f32. An infinity or NaN is in the product of the
/// first terms alone: elsewhere it is zero, because infinity times the zero
/// that a small term may be is no number.
std::array<mlir::Value, kTermProducts>
splitElements(PointBuilder &p, mlir::Value block, bool isSecond);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_CONVERTED_ELEMENTSPLIT_H

//===- LinearForm.h - What an index is made of -----------------*- C++ -*--===//
//
// A coordinate of a point program is nearly always a sum of products of the
// point's coordinates, loop counters and constants. Seen as such, a check that
// cannot fail is known, and the sum can be made anew in the order in which its
// parts change: LLVM moves out of a loop only what comes first in it.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COMMON_LINEARFORM_H
#define TESSERA_COMPILER_CONVERSION_COMMON_LINEARFORM_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace tessera {

/// What is known of a value without looking at its maker.
struct IndexRange {
  int64_t low;
  int64_t high;
  bool isUniform; ///< The same in all lanes of a wave.
};

/// Ranges of values that nothing but their maker knows: a point's coordinates.
using KnownRanges = llvm::DenseMap<mlir::Value, IndexRange>;

/// constant + sum of value * factor.
class LinearForm {
public:
  struct Term {
    mlir::Value value;
    int64_t factor;
  };

  /// Adds factor * `value`, taken apart through arith ops on indices.
  void add(mlir::Value value, int64_t factor);
  void addConstant(int64_t value) { constant += value; }

  int64_t getConstant() const { return constant; }

  /// The terms, those that change in fewer loops first.
  llvm::SmallVector<Term> getTermsOutermostFirst() const;

  /// The values that the form can take, if each term's are known.
  std::optional<IndexRange> getRange(const KnownRanges &known) const;

  /// Whether all lanes of a wave are known to agree on it.
  bool isUniform(const KnownRanges &known) const;

  /// Whether no term is ever negative.
  bool hasPositiveTerms(const KnownRanges &known) const;

private:
  int64_t constant = 0;
  llvm::SmallVector<Term> terms;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COMMON_LINEARFORM_H

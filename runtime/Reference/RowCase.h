//===- RowCase.h - A row-wise operation with data and a check ---*- C++ -*-===//
//
// Does for row-wise operations what PoolCase.h does for poolings: inputs to
// copy to a device, poisoned outputs, and a comparison with the reference. Gaps
// between elements are poison in inputs, too, so that a kernel that reads one
// is noticed.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_REFERENCE_ROWCASE_H
#define TESSERA_RUNTIME_REFERENCE_ROWCASE_H

#include "dialect/Reference/RowReference.h"
#include "runtime/Base/RowProblem.h"

#include <string>
#include <vector>

namespace tessera {

/// Owns the host's copies of one problem's tensors, and its scalars.
class RowCase {
public:
  /// `problem` must be valid and match one of the recipes.
  RowCase(const RowProblem &problem, uint64_t seed);

  /// Returns what is wrong with the result, or an empty string. Checks about
  /// `sample` elements in whole rows, or all of them if it is 0.
  std::string check(int64_t sample, uint64_t seed) const;

  /// The tensors in the problem's order, each as large as its span.
  std::vector<std::vector<char>> tensors;
  std::vector<double> scalars;

private:
  void fill(int tensor, double least, double most, uint64_t seed);
  reference::RowShape getShape() const;
  std::string checkGaps(int tensor) const;

  RowProblem problem;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_REFERENCE_ROWCASE_H

//===- RowWiseCase.h - A row-wise problem and its data ----------*- C++ -*-===//
//
// Does for row-wise operations what PoolCase.h does for poolings: inputs to
// copy to a device, poisoned outputs, and a comparison with the reference. Gaps
// between elements are poison in inputs, too, so that a kernel that reads one
// is noticed.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_REFERENCE_ROWWISECASE_H
#define TESSERA_RUNTIME_REFERENCE_ROWWISECASE_H

#include "dialect/Reference/RowWiseReference.h"
#include "runtime/Base/RowWiseProblem.h"

#include <string>
#include <vector>

namespace tessera {

/// Owns the host's copies of one problem's tensors, and its scalars.
class RowWiseCase {
public:
  /// `problem` must be valid and match one of the recipes.
  RowWiseCase(const RowWiseProblem &problem, uint64_t seed);

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

  RowWiseProblem problem;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_REFERENCE_ROWWISECASE_H

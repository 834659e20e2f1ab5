//===- RowCase.h - An operation on rows with data and a judge --*- C++ -*-===//
//
// As PoolCase.h for poolings: inputs to copy to a device, poisoned outputs, and
// a verdict on what came back. Gaps between elements are poison in inputs too,
// so that who reads one shows it.
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
  /// `problem` must be valid and follow one of the recipes.
  RowCase(const RowProblem &problem, uint64_t seed);

  /// What is wrong with the result, or nothing. Judges about `sample` elements
  /// in whole rows, or all of them if it is 0.
  std::string check(int64_t sample, uint64_t seed) const;

  /// In the problem's order, each of its span.
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

//===- ResultCheck.h - One expectation, many results -----------*- C++ -*-===//
//
// A tuner judges dozens of results of one problem, each of up to some ten
// million elements. The rule of dialect/Reference/Compare.h gives every element
// an interval of the element type; here they are worked out once, in the order
// of memory and as integers that are ordered as the numbers are, so that a
// result costs one pass of integer comparisons. Gaps between the elements are
// intervals of one value: what they held before.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_TUNING_RESULTCHECK_H
#define TESSERA_RUNTIME_TUNING_RESULTCHECK_H

#include "dialect/Reference/Compare.h"

#include <string>
#include <variant>
#include <vector>

namespace tessera {

class ResultCheck {
public:
  /// What tensors like `before`, the memory before a kernel ran, may hold
  /// afterwards. `slack`: each interval is widened by so many neighbours of
  /// the element type.
  ResultCheck(const reference::Expected &expected,
              const reference::TensorView &before, size_t bytes, int slack = 0);

  /// Empty if `result`, of as many bytes, is right; else what is wrong. A NaN
  /// never is.
  std::string check(const std::vector<char> &result) const;

private:
  template <typename Key>
  struct Intervals {
    std::vector<Key> least;
    std::vector<Key> most;
  };
  template <typename Key>
  void fill(Intervals<Key> &intervals, const reference::Expected &expected,
            const reference::TensorView &before, size_t bytes, int slack);
  template <typename Key>
  std::string check(const Intervals<Key> &intervals,
                    const std::vector<char> &result) const;

  reference::ElementType type;
  std::variant<Intervals<int8_t>, Intervals<int16_t>, Intervals<int32_t>,
               Intervals<int64_t>>
      intervals;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TUNING_RESULTCHECK_H

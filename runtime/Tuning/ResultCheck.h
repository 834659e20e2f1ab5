//===- ResultCheck.h - One expectation, many results -----------*- C++ -*--===//
//
// A tuner judges dozens of results of one problem, each of up to some ten
// million elements. The rule of dialect/Reference/Compare.h gives every element
// an interval of the element type. The intervals are computed here once, in the
// order of memory and as integers with the order of the numbers, so that a
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
  /// Computes what tensors like `before`, the memory before a kernel runs, may
  /// hold afterwards. Each interval is widened by `slack` neighbours of the
  /// element type.
  ResultCheck(const reference::Expected &expected,
              const reference::TensorView &before, size_t bytes, int slack = 0);

  /// Returns an empty text if `result`, of as many bytes, is right; else what
  /// is wrong. A NaN is never right.
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

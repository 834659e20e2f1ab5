//===- PoolReference.h - What a pooling should give ------------*- C++ -*--===//
//
// docs/spec/pooling.md in code, with sums in double. Windows are walked
// position by position, padding included, so that the oracle shares no clipping
// arithmetic with the kernels that it checks.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_REFERENCE_POOLREFERENCE_H
#define TESSERA_DIALECT_REFERENCE_POOLREFERENCE_H

#include "dialect/Reference/Compare.h"
#include "dialect/Reference/ConvReference.h"
#include "dialect/Reference/Tensor.h"

#include <cstdint>
#include <vector>

namespace tessera::reference {

enum class PoolMode { Max, Average, AverageInclusive, MaxNan };

/// Whether a mode chooses an element, which has an index.
constexpr bool isMaximum(PoolMode mode) {
  return mode == PoolMode::Max || mode == PoolMode::MaxNan;
}
enum class IndexMode { Mask, Image };

/// A pooling in logical terms; the letters are those of the spec. Without its
/// depth it is two-dimensional.
struct PoolShape {
  PoolMode mode = PoolMode::Max;
  IndexMode indexMode = IndexMode::Mask;
  int64_t n = 1;
  int64_t c = 1;
  int64_t h = 1;
  int64_t w = 1;
  int64_t d = 1;
  Steps window{};
  Pads pad{};      ///< Before the first element.
  Pads extraPad{}; ///< See ConvShape.
  Steps stride{};

  int64_t getOutputHeight() const;
  int64_t getOutputWidth() const;
  int64_t getOutputDepth() const;
  int64_t getWindowSize() const { return window.d * window.h * window.w; }
  /// The sizes of the two tensors, or of their gradients.
  Sizes getInputSizes() const { return {n, c, h, w, d}; }
  Sizes getOutputSizes() const {
    return {n, c, getOutputHeight(), getOutputWidth(), getOutputDepth()};
  }
  /// The largest number of terms in the sum of one element of dx.
  int64_t getBackwardLength() const;
};

/// A view of indices that it does not own: unsigned integers of 1, 2, 4 or 8
/// bytes.
struct IndexView {
  int64_t byteSize = 1;
  const void *data = nullptr;
  Strides strides;

  uint64_t load(const Coord &at) const;
};

/// Writes `value` as element `index` of an array of such integers.
void storeIndex(int64_t byteSize, void *data, int64_t index, uint64_t value);

/// The results of a forward pooling.
struct PoolOutputs {
  Expected y;
  /// The indices of the maxima, in the order of `y.values`; empty for averages.
  std::vector<uint64_t> indices;
};

/// Computes the elements of y with these flat indices (see Sizes), or all of
/// them.
PoolOutputs poolForward(const PoolShape &shape, const TensorView &x,
                        std::vector<int64_t> elements = {});

/// Computes the same of dx. `indices` is read in mode Max only.
Expected poolBackward(const PoolShape &shape, const TensorView &dy,
                      const IndexView &indices,
                      std::vector<int64_t> elements = {});

/// The lowest finite number of a type, with which the search for a maximum
/// starts.
double getLowest(ElementType type);

} // namespace tessera::reference

#endif // TESSERA_DIALECT_REFERENCE_POOLREFERENCE_H

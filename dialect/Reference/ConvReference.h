//===- ConvReference.h - What a convolution should give --------*- C++ -*-===//
//
// The oracle of every test: docs/spec/convolution.md in code, with sums in
// double. It is slow compared with a GPU (some billion operations a second)
// and fast enough to check whole layers of real networks; for the largest, and
// for quick tests, a sample of the outputs can be computed instead.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_REFERENCE_CONVREFERENCE_H
#define TESSERA_DIALECT_REFERENCE_CONVREFERENCE_H

#include "dialect/Reference/Compare.h"
#include "dialect/Reference/Tensor.h"

#include <cstdint>
#include <vector>

namespace tessera::reference {

/// One number for height and one for width.
struct Pair {
  int64_t h;
  int64_t w;
};

/// A convolution in logical terms; the letters are those of the spec.
struct ConvShape {
  int64_t n = 1;
  int64_t c = 1; ///< Of all groups together.
  int64_t h = 1;
  int64_t w = 1;
  int64_t k = 1; ///< Of all groups together.
  int64_t y = 1;
  int64_t x = 1;
  Pair pad{0, 0};
  Pair stride{1, 1};
  Pair dilation{1, 1};
  int64_t groups = 1;

  int64_t getOutputHeight() const;
  int64_t getOutputWidth() const;
  /// Sizes of the three tensors.
  Coord getInputSizes() const { return {n, c, h, w}; }
  Coord getFilterSizes() const { return {k, c / groups, y, x}; }
  Coord getOutputSizes() const {
    return {n, k, getOutputHeight(), getOutputWidth()};
  }
  /// Products in the sum of one output, padding included.
  int64_t getReductionLength() const { return c / groups * y * x; }
};

/// Every output. Uses all processors. The shape must satisfy the constraints
/// of the spec.
Expected convForward(const ConvShape &shape, const TensorView &x,
                     const TensorView &w);

/// The outputs with these flat indices (see Expected::indices).
Expected convForwardAt(const ConvShape &shape, const TensorView &x,
                       const TensorView &w, std::vector<int64_t> indices);

/// About `count` output indices to check instead of all: the corners of the
/// tensor, where addressing goes wrong first, and others drawn with `seed`.
/// Sorted, each once.
std::vector<int64_t> sampleOutputs(const ConvShape &shape, int64_t count,
                                   uint64_t seed);

} // namespace tessera::reference

#endif // TESSERA_DIALECT_REFERENCE_CONVREFERENCE_H

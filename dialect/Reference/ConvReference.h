//===- ConvReference.h - What a convolution should give --------*- C++ -*--===//
//
// The oracle of every test: docs/spec/convolution.md in code, with sums in
// double. It is slow compared with a GPU (some billion products a second) and
// fast enough to check whole layers of real networks. For the largest layers,
// and for quick tests, a sample of the elements can be computed instead.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_REFERENCE_CONVREFERENCE_H
#define TESSERA_DIALECT_REFERENCE_CONVREFERENCE_H

#include "dialect/Reference/Compare.h"
#include "dialect/Reference/Tensor.h"

#include <cstdint>
#include <vector>

namespace tessera::reference {

/// Padding. Depth is last for the reason given at Coord.
struct Pads {
  int64_t h = 0;
  int64_t w = 0;
  int64_t d = 0;
};

/// Strides or dilations.
struct Steps {
  int64_t h = 1;
  int64_t w = 1;
  int64_t d = 1;
};

/// A convolution in logical terms; the letters are those of the spec. Without
/// its depth it is two-dimensional.
struct ConvShape {
  int64_t n = 1;
  int64_t c = 1; ///< of all groups together
  int64_t d = 1;
  int64_t h = 1;
  int64_t w = 1;
  int64_t k = 1; ///< of all groups together
  int64_t z = 1;
  int64_t y = 1;
  int64_t x = 1;
  Pads pad{}; ///< Before the first element.
  /// How much longer the padding after the last element is; may be negative.
  Pads extraPad{};
  Steps stride{};
  Steps dilation{};
  int64_t groups = 1;
  /// Whether kernels may round operands to tf32; the reference does not.
  bool allowsTf32 = false;

  int64_t getOutputDepth() const;
  int64_t getOutputHeight() const;
  int64_t getOutputWidth() const;
  /// The sizes of the three tensors, or of their gradients.
  Sizes getInputSizes() const { return {n, c, h, w, d}; }
  Sizes getFilterSizes() const { return {k, c / groups, y, x, z}; }
  Sizes getOutputSizes() const {
    return {n, k, getOutputHeight(), getOutputWidth(), getOutputDepth()};
  }
  /// The largest number of products in the sum of one element of y, dx and dw.
  int64_t getForwardLength() const { return c / groups * z * y * x; }
  int64_t getBackwardDataLength() const;
  int64_t getBackwardWeightsLength() const;
};

/// Compute every element of y, of dx (the gradient of x for that of y) and of
/// dw (the gradient of w). They use all processors. The shape must satisfy the
/// constraints of the spec, and both inputs must have the same type.
Expected convForward(const ConvShape &shape, const TensorView &x,
                     const TensorView &w);
Expected convBackwardData(const ConvShape &shape, const TensorView &w,
                          const TensorView &dy);
Expected convBackwardWeights(const ConvShape &shape, const TensorView &x,
                             const TensorView &dy);

/// Compute the elements with these flat indices (see Sizes).
Expected convForwardAt(const ConvShape &shape, const TensorView &x,
                       const TensorView &w, std::vector<int64_t> indices);
Expected convBackwardDataAt(const ConvShape &shape, const TensorView &w,
                            const TensorView &dy, std::vector<int64_t> indices);
Expected convBackwardWeightsAt(const ConvShape &shape, const TensorView &x,
                               const TensorView &dy,
                               std::vector<int64_t> indices);

} // namespace tessera::reference

#endif // TESSERA_DIALECT_REFERENCE_CONVREFERENCE_H

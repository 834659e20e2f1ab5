//===- PoolGeometry.h - The shape of a pooling and its tensors -*- C++ -*--===//
//
// Sizes, window and strides, whether they come from a problem (to choose a
// tile) or from the op (to build the program). One class serves both because
// they must agree about vectors and clipping.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_POOLING_POOLGEOMETRY_H
#define TESSERA_COMPILER_ALGORITHMS_POOLING_POOLGEOMETRY_H

#include "dialect/IR/Dnn.h"
#include "runtime/Base/Problem.h"

#include <array>

namespace tessera {

/// The dimensions of an activation, in an order that no layout changes.
enum PoolDim { kBatch, kChannel, kDepth, kRow, kColumn };

/// Sizes and strides of one tensor, in the order of PoolDim.
struct PoolTensorShape {
  std::array<int64_t, 5> sizes;
  std::array<int64_t, 5> strides;
  int64_t elementBytes;

  /// The most neighbours along `dim` that one access moves: a power of two of
  /// at most 16 bytes, or 1 if the dimension is not contiguous.
  int64_t getVectorLength(PoolDim dim) const;

  /// Whether `length` neighbours along `dim`, the first of which has an index
  /// that is a multiple of `length`, are contiguous and aligned to their size.
  bool areNeighbours(PoolDim dim, int64_t length) const;

  /// Whether channels have a smaller stride than columns.
  bool hasChannelsLast() const;

  int64_t getElements() const;
};

/// A pooling. Plain data. Spatial arrays are in the order depth, row, column.
struct PoolGeometry {
  bool isForward;
  dnn::PoolMode mode;
  dnn::PoolDims dims;
  PoolTensorShape x;
  PoolTensorShape y;
  PoolTensorShape indices; ///< Its elementBytes are 0 if there are no indices.
  dnn::IndexMode indexMode = dnn::IndexMode::Mask;

  explicit PoolGeometry(const PoolProblem &problem);
  explicit PoolGeometry(dnn::PoolOp op);

  bool isMax() const { return mode == dnn::PoolMode::Max || choosesNan(); }
  /// Whether a NaN is beyond every number.
  bool choosesNan() const { return mode == dnn::PoolMode::MaxNan; }
  bool hasIndices() const { return indices.elementBytes != 0; }

  /// The number of positions in a window; inexact beyond 2^53.
  double getWindowSize() const;

  /// Whether some window extends beyond x, along any or along one of the
  /// spatial dimensions (0 to 2).
  bool isClipped() const;
  bool isClipped(int dim) const;

  /// Whether windows differ in the number of elements that an average is
  /// divided by.
  bool countsElements() const;
};

/// Returns (at[0] * sizes[1] + at[1]) * sizes[2] + at[2].
int64_t getLinearIndex(const std::array<int64_t, 3> &at,
                       const std::array<int64_t, 3> &sizes);

/// Whether each coordinate of `at` is at least 0 and less than its size.
bool isInBounds(const std::array<int64_t, 3> &at,
                const std::array<int64_t, 3> &sizes);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_POOLING_POOLGEOMETRY_H

//===- PoolGeometry.h - What decides how a pooling is computed -*- C++ -*-===//
//
// Sizes, window and the place of every element, whether they come from a
// problem (to choose a tile) or from the op (to build the program): both must
// come to the same conclusions about vectors and clipping.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_POOLGEOMETRY_H
#define TESSERA_COMPILER_ALGORITHMS_POOLGEOMETRY_H

#include "dialect/IR/Dnn.h"
#include "runtime/Base/Problem.h"

#include <array>

namespace tessera {

/// The dimensions of an activation by meaning.
enum PoolDim { kBatch, kChannel, kDepth, kRow, kColumn };

/// Sizes and distances of one tensor, in the order of PoolDim.
struct PoolTensorShape {
  std::array<int64_t, 5> sizes;
  std::array<int64_t, 5> strides;
  int64_t elementBytes;

  /// The most neighbours along `dim` that one access moves: a power of two, of
  /// at most 16 bytes; 1 if they are no neighbours in memory.
  int64_t getVectorLength(PoolDim dim) const;

  /// Whether `length` neighbours along `dim`, the first of which is a multiple
  /// of `length`, lie together in memory and as aligned as one element.
  bool areNeighbours(PoolDim dim, int64_t length) const;

  /// Whether channels are closer together than columns.
  bool hasChannelsLast() const;

  int64_t getElements() const;
};

/// A pooling. Plain data. Spatial numbers are those of depth, row and column.
struct PoolGeometry {
  bool isForward;
  dnn::PoolMode mode;
  dnn::PoolDims dims;
  PoolTensorShape x;
  PoolTensorShape y;
  PoolTensorShape indices; ///< Of no bytes where there are none.
  dnn::IndexMode indexMode = dnn::IndexMode::Mask;

  explicit PoolGeometry(const PoolProblem &problem);
  explicit PoolGeometry(dnn::PoolOp op);

  bool isMax() const { return mode == dnn::PoolMode::Max; }
  bool hasIndices() const { return indices.elementBytes != 0; }

  /// Positions of a window; inexact beyond 2^53.
  double getWindowSize() const;

  /// Whether some window reaches out of x, anywhere or along one of the spatial
  /// dimensions (0 to 2).
  bool isClipped() const;
  bool isClipped(int dim) const;

  /// Whether sums are divided by a number that differs between windows.
  bool countsElements() const;
};

/// (at[0] * sizes[1] + at[1]) * sizes[2] + at[2].
int64_t getNumber(const std::array<int64_t, 3> &at,
                  const std::array<int64_t, 3> &sizes);

/// Whether each of `at` is from 0 to below its size.
bool isInBox(const std::array<int64_t, 3> &at,
             const std::array<int64_t, 3> &sizes);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_POOLGEOMETRY_H

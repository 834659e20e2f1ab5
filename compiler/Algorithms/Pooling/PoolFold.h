//===- PoolFold.h - How pixels are reduced to an output --------*- C++ -*--===//
//
// The arithmetic of forward pooling, which does not depend on the order in
// which a program visits the pixels of a window.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_POOLING_POOLFOLD_H
#define TESSERA_COMPILER_ALGORITHMS_POOLING_POOLFOLD_H

#include "compiler/Algorithms/Pooling/PoolProgram.h"

#include <optional>

namespace tessera {

/// Reduces pixels to outputs of `channels` channels, and stores these. Keeps a
/// reference to the geometry.
class PoolFold {
public:
  /// With `inF32`, maxima are kept in f32 as well, so that one workspace type
  /// holds the partial results of every pooling.
  PoolFold(dnn::PoolOp op, const PoolGeometry &geometry, int64_t channels,
           bool inF32 = false);

  const PoolMath &getMath() const { return math; }

  /// The reduction of no pixels.
  PoolReduction start(PoolBuilder &p) const;
  /// Adds a pixel that is later in the window than all pixels before: of equal
  /// maxima the first one wins, and of NaNs that do the last.
  PoolReduction fold(PoolBuilder &p, PoolReduction partial, mlir::Value pixel,
                     mlir::Value index) const;
  /// Combines partial results of one window, in any order: of equal maxima the
  /// one with the smaller index wins.
  PoolReduction merge(PoolBuilder &p, PoolReduction one,
                      PoolReduction other) const;

  /// The index to save for the pixel `at`, which is at `position` of its
  /// window; null if there are no indices.
  mlir::Value getIndex(PoolBuilder &p, const PoolCoordinates &at,
                       const std::array<mlir::Value, 3> &position) const;
  /// The same for the pixel at `offset` from the one whose linear index in the
  /// image is `origin`.
  mlir::Value getIndex(PoolBuilder &p, mlir::Value origin,
                       const std::array<int64_t, 3> &offset,
                       const std::array<int64_t, 3> &position) const;

  /// Stores neighbouring outputs of a row.
  void store(PoolBuilder &p, llvm::ArrayRef<PoolReduction> row,
             const PoolCoordinates &at) const;

private:
  /// The larger of two values, of which no index is kept.
  mlir::Value getMaximum(PoolBuilder &p, mlir::Value lhs,
                         mlir::Value rhs) const;
  mlir::Value finish(PoolBuilder &p, PoolReduction result,
                     const std::array<mlir::Value, 3> &output) const;

  const PoolGeometry &g;
  PoolTensor y;
  std::optional<PoolTensor> indices;
  PoolMath math;
};

/// Folds the pixel at `position`, which is inside x, of the window that begins
/// at `first`.
PoolReduction foldInside(PoolBuilder &p, const PoolFold &fold,
                         const PoolTensor &x, const PoolCoordinates &first,
                         const std::array<mlir::Value, 3> &position,
                         PoolReduction partial);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_POOLING_POOLFOLD_H

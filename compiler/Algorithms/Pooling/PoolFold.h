//===- PoolFold.h - How an output is made of its pixels --------*- C++ -*-===//
//
// The arithmetic of forward pooling, whatever order a program walks the pixels
// in.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_POOLFOLD_H
#define TESSERA_COMPILER_ALGORITHMS_POOLFOLD_H

#include "compiler/Algorithms/Pooling/PoolProgram.h"

#include <optional>

namespace tessera {

/// Folds pixels into outputs of `channels` channels, and stores these. Refers
/// to the geometry.
class PoolFold {
public:
  /// `inF32`: keep maxima in f32, too.
  PoolFold(dnn::PoolOp op, const PoolGeometry &geometry, int64_t channels,
           bool inF32 = false);

  const PoolMath &getMath() const { return math; }

  /// Nothing so far.
  PoolReduction start(PoolBuilder &p) const;
  /// One more pixel, later in the window than all others.
  PoolReduction fold(PoolBuilder &p, PoolReduction so, mlir::Value pixel,
                     mlir::Value index) const;
  /// Two parts of one window, in any order.
  PoolReduction merge(PoolBuilder &p, PoolReduction one,
                      PoolReduction other) const;

  /// The index of the pixel `at`, at `position` of its window; null if there
  /// are no indices.
  mlir::Value getIndex(PoolBuilder &p, const PoolPlace &at,
                       const std::array<mlir::Value, 3> &position) const;
  /// The same for a pixel at `place`, counted from the one whose number in the
  /// image is `origin`.
  mlir::Value getIndex(PoolBuilder &p, mlir::Value origin,
                       const std::array<int64_t, 3> &place,
                       const std::array<int64_t, 3> &position) const;

  /// Stores neighbouring outputs of a row.
  void store(PoolBuilder &p, llvm::ArrayRef<PoolReduction> row,
             const PoolPlace &at) const;

private:
  mlir::Value finish(PoolBuilder &p, PoolReduction result,
                     const std::array<mlir::Value, 3> &output) const;

  const PoolGeometry &g;
  PoolTensor y;
  std::optional<PoolTensor> indices;
  PoolMath math;
};

/// Folds the pixel at `position`, which is inside x, of the window whose
/// position 0 is at `first`.
PoolReduction foldInside(PoolBuilder &p, const PoolFold &fold,
                         const PoolTensor &x, const PoolPlace &first,
                         const std::array<mlir::Value, 3> &position,
                         PoolReduction so);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_POOLFOLD_H

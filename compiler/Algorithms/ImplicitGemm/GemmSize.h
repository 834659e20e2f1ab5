//===- GemmSize.h - The GEMM that a convolution is, in numbers -*- C++ -*-===//
//
// What the model of igemm wants to know of a problem, before any view of it is
// made: how large the product is, and how its factors lie in memory.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_GEMMSIZE_H
#define TESSERA_COMPILER_ALGORITHMS_GEMMSIZE_H

#include "runtime/Base/ConvProblem.h"

namespace tessera {

/// How the rows of a factor lie in memory.
struct FactorLayout {
  /// Elements of one load, at most those of 16 bytes.
  int64_t loadElements;
  /// Whether they are neighbours along the rows, not along the reduction, and
  /// so transposed in registers (BlockCopy.h).
  bool isTransposed;
};

/// How the main loop walks a reduction (TileCopy.h).
enum class GemmWalk { Nested, Stepped, Flat };

/// The GEMM that a direction of a convolution is; for strided backward data,
/// those of all classes of input pixels (BackwardDataViews.cpp) together.
struct GemmSize {
  double groups;
  int64_t rows;
  int64_t columns;
  double reduction; ///< The mean of the classes.
  /// How many elements the inner loop of a nested walk goes through.
  int64_t inner;
  FactorLayout rowFactor;
  FactorLayout columnFactor;
  /// The outermost dimension of a reduction that may be split, else 1; and
  /// whether `inner` is split with it.
  int64_t splittable = 1;
  bool splitsInner = false;

  /// The walk of a part, for steps of `step` elements and `buffers` of them a
  /// turn of the main loop.
  GemmWalk getWalk(int64_t step, int64_t buffers, int parts) const {
    int64_t size = inner / (splitsInner ? parts : 1);
    if (size % (step * buffers) == 0)
      return GemmWalk::Nested;
    bool isLong =
        reduction / parts >= 2.0 * static_cast<double>(step * buffers);
    return size % step == 0 && isLong ? GemmWalk::Stepped : GemmWalk::Flat;
  }
};

/// `step`: of the main loop.
GemmSize getGemmSize(const ConvProblem &problem, int step);

/// Product of the lengths.
int64_t getVolume(const Spatial &sizes);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_GEMMSIZE_H

//===- GemmSize.h - The GEMM that a convolution is, in numbers -*- C++ -*--===//
//
// What the model of igemm needs to know of a problem before any view of it is
// built: the size of the product, and how its operands lie in memory.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_GEMMSIZE_H
#define TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_GEMMSIZE_H

#include "runtime/Base/ConvProblem.h"
#include "runtime/Base/GpuTarget.h"

#include <vector>

namespace tessera {

/// How the rows of an operand lie in memory.
struct OperandLayout {
  /// The elements of one load, at most 16 bytes of them.
  int64_t loadElements;
  /// Whether they are contiguous along the rows instead of the reduction, and
  /// so transposed in registers (BlockCopy.h).
  bool isTransposed;
  /// The distance in memory, in elements, of what neighbouring lanes load: rows
  /// or chunks of a row, whichever are closer (ChunkCopy.cpp).
  int64_t laneDistance;
  /// Of chunks along the reduction: the elements that lie together, and the
  /// alignment of those of a step, as far as lines of L1 matter; 0 if lanes
  /// load less than a chunk.
  int64_t run = 0;
  int64_t alignment = 0;
  /// Of a walk by planes: the instructions that locate a chunk and leave pixels
  /// out.
  int64_t moves = 0;
};

/// How the main loop walks a reduction (TileCopy.h).
enum class GemmWalk { Nested, Stepped, Flat };

/// The GEMM that a direction of a convolution is; for strided backward data,
/// the GEMMs of all classes of input pixels (BackwardDataViews.cpp) together.
struct GemmSize {
  double groups;
  int64_t rows;
  int64_t columns;
  double reduction; ///< Mean over the classes.
  /// The elements that the inner loop of a nested walk goes through.
  int64_t inner;
  OperandLayout rowOperand;
  OperandLayout columnOperand;
  /// The outermost dimension of a reduction that may be split, else 1; and
  /// whether `inner` is split with it.
  int64_t splittable = 1;
  bool splitsInner = false;
  /// A dimension that may be split in its place.
  int64_t alsoSplittable = 1;
  bool hasPlanes = false; ///< Whether planes are walked (PlaneCopy.h).
  int64_t tableBytes = 0; ///< Of LDS, for that.
  /// The reduction of each class, the longest first; none if all are alike.
  std::vector<double> classes = {};

  /// The walk of a split, for steps of `step` elements and `buffers` steps an
  /// iteration of the main loop.
  GemmWalk getWalk(int64_t step, int64_t buffers, int splits) const {
    int64_t size = inner / (splitsInner ? splits : 1);
    if (size % (step * buffers) == 0)
      return GemmWalk::Nested;
    bool isLong =
        reduction / splits >= 2.0 * static_cast<double>(step * buffers);
    return size % step == 0 && isLong ? GemmWalk::Stepped : GemmWalk::Flat;
  }
};

/// `step` is the number of reduction elements in a step of the main loop, and
/// `columns` that of a tile.
GemmSize getGemmSize(const ConvProblem &problem, int step,
                     const GpuTarget &target, int columns = 1);

/// The product of the lengths.
int64_t getVolume(const Spatial &sizes);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_GEMMSIZE_H

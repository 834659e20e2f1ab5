//===- ToeplitzBoxes.h - Planes of channels from boxes ---------*- C++ -*--===//
//
// TMA copies tiles to LDS in the layout of memory, channels innermost. Warps
// transpose them to a plane of pixels for each channel, and back, four matrices
// of 8 by 8 at a time, whose rows are 8 channels of a pixel.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_TOEPLITZ_TOEPLITZBOXES_H
#define TESSERA_COMPILER_ALGORITHMS_TOEPLITZ_TOEPLITZBOXES_H

#include "compiler/Algorithms/Toeplitz/Toeplitz.h"

namespace tessera {

/// How warps walk a plane: by units of four matrices, each of which is a group
/// of four neighbouring words of 8 channels.
class BoxWalk {
public:
  static constexpr int64_t kGroupWords = 4, kMatrices = 4, kMatrixRows = 8;

  BoxWalk(PointBuilder &p, const ToeplitzTile &tile, const ToeplitzFrame &frame,
          const ToeplitzPlane &plane)
      : p(p), frame(frame), plane(plane), octets(tile.countOctets()),
        warps(frame.countWarps()) {}

  int64_t countIterations() const;
  /// The indices, in a box of contiguous pixels whose pairs are the words, of
  /// the matrix row that the lane addresses.
  PointBuilder::Values getRow(int64_t iteration, mlir::Value slot) const;
  /// The same where a word is a pixel of two images. A box has the second image
  /// after the first one, both with rows of as many pixels as the plane has
  /// words, and every second row of a matrix belongs to the second image.
  PointBuilder::Values getImagesRow(int64_t iteration, mlir::Value slot) const;
  /// The indices, in the planes, of the word that the lane has of matrix `i`.
  PointBuilder::Values getPair(int64_t iteration, int64_t i) const;

private:
  int64_t countRowGroups() const { return plane.columns / kGroupWords; }
  int64_t countGroups() const { return plane.rows * countRowGroups(); }
  /// Groups of a unit. Each group has one matrix per octet.
  int64_t countUnitGroups() const { return kMatrices / octets; }
  int64_t countUnits() const;
  /// Whether all groups of the iteration's units exist.
  bool isInside(int64_t iteration) const {
    return (iteration + 1) * warps * countUnitGroups() <= countGroups();
  }
  mlir::Value getGroup(int64_t iteration, mlir::Value inUnit) const;
  mlir::Value getWord(int64_t iteration, mlir::Value inUnit) const;
  /// The group in the unit of the matrix row that the lane addresses, and the
  /// first channel of that matrix.
  mlir::Value getOwnGroup() const;
  mlir::Value getOwnChannel() const;

  PointBuilder &p;
  const ToeplitzFrame &frame;
  const ToeplitzPlane &plane;
  const int64_t octets, warps;
};

/// Makes the copies of the first iterations, one for each of `stages`, but no
/// more than there are.
void copyFirst(PointBuilder &p, int64_t stages, const Size &iterations,
               llvm::function_ref<void(mlir::Value)> copyIn);

/// The lengths of a box of `tensor`: so many images, rows and columns of the
/// tile's channels.
llvm::SmallVector<int64_t> getBox(const ConvTensor &tensor,
                                  const ToeplitzTile &tile, int64_t images,
                                  int64_t rows, int64_t columns);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_TOEPLITZ_TOEPLITZBOXES_H

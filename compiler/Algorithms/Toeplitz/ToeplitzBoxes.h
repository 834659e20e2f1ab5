//===- ToeplitzBoxes.h - Planes of channels from boxes ---------*- C++ -*-===//
//
// A copy engine brings tiles to LDS as they lie in memory, channels side by
// side. Warps turn that into a plane of pixels for each channel, and back: four
// matrices of 8 by 8 at a time, whose rows are 8 channels of a pixel.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_TOEPLITZBOXES_H
#define TESSERA_COMPILER_ALGORITHMS_TOEPLITZBOXES_H

#include "compiler/Algorithms/Toeplitz/Toeplitz.h"

namespace tessera {

/// A warp's way through a plane by units of four matrices, each of which is a
/// group of four neighbouring words of 8 channels.
class BoxWalk {
public:
  static constexpr int64_t kGroupWords = 4, kMatrices = 4, kMatrixRows = 8;

  BoxWalk(PointBuilder &p, const ToeplitzTile &tile, const ToeplitzFrame &frame,
          const ToeplitzPlane &plane)
      : p(p), frame(frame), plane(plane), octets(tile.countOctets()),
        warps(frame.countWarps()) {}

  int64_t countTurns() const;
  /// The place, in a box of pixels without gaps whose pairs are the words, of
  /// the matrix row that the lane points to.
  PointBuilder::Values getRow(int64_t turn, mlir::Value slot) const;
  /// The same where a word is a pixel of two images, of which a box has one
  /// behind the other, both with rows of as many pixels as the plane has words:
  /// every second row of a matrix is of the second image.
  PointBuilder::Values getImagesRow(int64_t turn, mlir::Value slot) const;
  /// The place in the planes of the word that the lane has of matrix `i`.
  PointBuilder::Values getPair(int64_t turn, int64_t i) const;

private:
  int64_t countRowGroups() const { return plane.columns / kGroupWords; }
  int64_t countGroups() const { return plane.rows * countRowGroups(); }
  int64_t countOfUnit() const { return kMatrices / octets; }
  int64_t countUnits() const;
  /// The first so many groups of every warp's units of the turn are groups.
  bool isInside(int64_t turn) const {
    return (turn + 1) * warps * countOfUnit() <= countGroups();
  }
  mlir::Value getGroup(int64_t turn, mlir::Value ofUnit) const;
  mlir::Value getWord(int64_t turn, mlir::Value ofUnit) const;
  /// Of the matrix that the lane points to: its group of the unit, and its
  /// first channel.
  mlir::Value getOwnGroup() const;
  mlir::Value getOwnChannel() const;

  PointBuilder &p;
  const ToeplitzFrame &frame;
  const ToeplitzPlane &plane;
  const int64_t octets, warps;
};

/// Of a tensor: so many images, rows and columns of the tile's channels.
llvm::SmallVector<int64_t> getBox(const ConvTensor &tensor,
                                  const ToeplitzTile &tile, int64_t images,
                                  int64_t rows, int64_t columns);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_TOEPLITZBOXES_H

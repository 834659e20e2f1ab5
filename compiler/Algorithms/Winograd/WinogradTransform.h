//===- WinogradTransform.h - Small matrices around a tile ------*- C++ -*--===//
//
// F(m x m, 3 x 3) computes tiles of m by m pixels of a 3x3 convolution from
// t by t pixels, t = m + 2, by
//
//   Y = A^T [ (G g G^T) * (B^T d B) ] A,
//
// where * multiplies t by t elements one by one (Lavin and Gray, "Fast
// algorithms for convolutional neural networks", 2016; the matrices follow from
// the points 0, 1, -1 and, for m = 4, 2 and -2, and infinity). Y is linear in
// g, so its gradient is that of the transposed matrices, summed over the tiles:
//
//   dg = G^T [ (A dY A^T) * (B^T d B) ] G.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_WINOGRAD_WINOGRADTRANSFORM_H
#define TESSERA_COMPILER_ALGORITHMS_WINOGRAD_WINOGRADTRANSFORM_H

#include "compiler/Algorithms/Common/PointBuilder.h"

namespace tessera {

/// A constant matrix, or its transpose.
struct TransformMatrix {
  int64_t rows, columns;
  llvm::ArrayRef<double> elements; ///< By rows; by columns if transposed.
  bool isTransposed = false;

  TransformMatrix transpose() const {
    return {columns, rows, elements, !isTransposed};
  }
  llvm::SmallVector<double> getRow(int64_t row) const;
};

/// B^T, G and A^T for tiles of `outputs` (2 or 4) pixels in each dimension.
TransformMatrix getInputTransform(int64_t outputs);
TransformMatrix getFilterTransform(int64_t outputs);
TransformMatrix getOutputTransform(int64_t outputs);

/// The elements of `matrix` D `matrix`^T, by rows, for the square matrix D
/// with the elements `values`, blocks of floats of one size.
PointBuilder::Values transformTile(PointBuilder &p,
                                   const TransformMatrix &matrix,
                                   llvm::ArrayRef<mlir::Value> values);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_WINOGRAD_WINOGRADTRANSFORM_H

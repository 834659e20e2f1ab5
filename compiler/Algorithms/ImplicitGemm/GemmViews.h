//===- GemmViews.h - The tensors of a convolution as matrices --*- C++ -*-===//
//
// Each direction of a convolution is a GEMM whose coordinates are embedded into
// the three tensors by linear maps (docs/design/0003-problem-space.md). Which
// maps, is all that tells the directions apart.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_GEMMVIEWS_H
#define TESSERA_COMPILER_ALGORITHMS_GEMMVIEWS_H

#include "compiler/Algorithms/Common/ConvGeometry.h"

#include "mlir/IR/Builders.h"

namespace tessera {

/// Collects the iteration dimensions of one view, in the order group, row,
/// column, and makes it.
class ViewBuilder {
public:
  explicit ViewBuilder(mlir::OpBuilder &b) : b(b) {}

  using Exprs = llvm::SmallVector<mlir::AffineExpr, 4>;
  /// Appends dimensions to coordinate `index` (0 group, 1 row, 2 column).
  Exprs add(unsigned index, llvm::ArrayRef<int64_t> newSizes);

  /// The view of a tensor of `layout` at these coordinates by meaning.
  dnn::ViewOp create(mlir::Location loc, mlir::Value source, dnn::Layout layout,
                     mlir::AffineExpr outer, mlir::AffineExpr channel,
                     llvm::ArrayRef<mlir::AffineExpr> spatial) const;
  /// The view of a tensor at the coordinates of its dimensions.
  dnn::ViewOp create(mlir::Location loc, mlir::Value source,
                     llvm::ArrayRef<mlir::AffineExpr> coordinates) const;

private:
  mlir::OpBuilder &b;
  llvm::SmallVector<int64_t> sizes;
  int64_t ranks[3] = {0, 0, 0};
};

/// The coordinates of a tensor of `layout` in the order of its dimensions.
ViewBuilder::Exprs orderCoordinates(dnn::Layout layout, mlir::AffineExpr outer,
                                    mlir::AffineExpr channel,
                                    llvm::ArrayRef<mlir::AffineExpr> spatial);

/// Where an element of the result goes: also where the epilogue finds the
/// elements of its tensors.
struct ResultPlace {
  ViewBuilder view;
  mlir::AffineExpr outer;
  mlir::AffineExpr channel;
  ViewBuilder::Exprs spatial;
  mlir::AffineExpr part = {}; ///< Of the reduction; null if it is not split.
};

/// result[g, m, n] = sum over k of a[g, m, k] * b[g, n, k].
struct GemmViews {
  dnn::ViewOp a;
  dnn::ViewOp b;
  ResultPlace result;
  llvm::SmallVector<int64_t> reduce;
  /// The side of the result whose neighbours lie together in memory.
  dnn::TileDim lanes;
};

/// How backward weights goes through its reduction.
struct WeightsReduction {
  int64_t step; ///< Of the main loop.
  /// Must divide getSplitSize(), the outermost of the dimensions, of which they
  /// are taken; those of TMA are made of steps by the pipeline instead.
  int64_t parts;
  bool isTma;
  bool hasHalo = false; ///< Walks the positions of HaloPositions.h.
};

/// Each makes its views where `b` stands; `step` is that of the main loop. With
/// `hasHalo` their rows are the positions of HaloPositions.h.
GemmViews viewForward(mlir::OpBuilder &b, dnn::ConvOp conv,
                      const ConvGeometry &geometry, int64_t step, bool hasHalo);
/// `transposed` is a filter whose output channels lie together
/// (FilterTranspose.h); null to read that of `conv`.
GemmViews viewBackwardData(mlir::OpBuilder &b, dnn::ConvOp conv,
                           const ConvGeometry &geometry, bool hasHalo,
                           mlir::Value transposed = {});
GemmViews viewBackwardWeights(mlir::OpBuilder &b, dnn::ConvOp conv,
                              const ConvGeometry &geometry,
                              const WeightsReduction &reduction);

/// The dimension of the reduction of backward weights that is split.
int64_t getSplitSize(const ConvGeometry &geometry,
                     const WeightsReduction &reduction);

/// Whether neighbouring channels of a tensor lie together in memory.
bool isChannelsLast(dnn::Layout layout);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_GEMMVIEWS_H

//===- GemmViews.h - The tensors of a convolution as matrices --*- C++ -*--===//
//
// Each direction of a convolution is a GEMM whose coordinates are embedded into
// the three tensors by linear maps (docs/design/0003-problem-space.md). The
// directions differ in nothing but these maps.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_GEMMVIEWS_H
#define TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_GEMMVIEWS_H

#include "compiler/Algorithms/Common/ConvGeometry.h"
#include "compiler/Algorithms/Common/PointBuilder.h"

#include "mlir/IR/Builders.h"

namespace tessera {

/// Collects the iteration dimensions of one view, in the order group, row,
/// column, and creates it.
class ViewBuilder {
public:
  explicit ViewBuilder(mlir::OpBuilder &b) : b(b) {}

  using Exprs = llvm::SmallVector<mlir::AffineExpr, 4>;
  /// Appends dimensions to coordinate `index` (0 group, 1 row, 2 column).
  Exprs add(unsigned index, llvm::ArrayRef<int64_t> newSizes);
  /// The same of sizes that may be unknown.
  Exprs addOpen(unsigned index, llvm::ArrayRef<Size> newSizes);

  /// Creates the view of a tensor of `layout` at these coordinates by meaning.
  dnn::ViewOp create(mlir::Location loc, mlir::Value source, dnn::Layout layout,
                     mlir::AffineExpr outer, mlir::AffineExpr channel,
                     llvm::ArrayRef<mlir::AffineExpr> spatial) const;
  /// Creates the view of a tensor at the coordinates of its dimensions.
  dnn::ViewOp create(mlir::Location loc, mlir::Value source,
                     llvm::ArrayRef<mlir::AffineExpr> coordinates) const;

private:
  mlir::OpBuilder &b;
  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<mlir::Value> openSizes;
  int64_t ranks[3] = {0, 0, 0};
};

/// The coordinates of a tensor of `layout` in the order of its dimensions.
ViewBuilder::Exprs orderCoordinates(dnn::Layout layout, mlir::AffineExpr outer,
                                    mlir::AffineExpr channel,
                                    llvm::ArrayRef<mlir::AffineExpr> spatial);

/// The coordinates of an element of the result, and of the elements of other
/// tensors that its epilogue reads.
struct ResultCoordinates {
  ViewBuilder view;
  mlir::AffineExpr outer;
  mlir::AffineExpr channel;
  ViewBuilder::Exprs spatial;
  mlir::AffineExpr split = {}; ///< Null if the reduction is not split.
};

/// How a reduction is split (split-K).
struct ReductionSplits {
  int64_t count = 1;
  /// Whether a split is a run of the pipeline's steps. Else the views reduce
  /// over an equal share of one of their dimensions.
  bool areSteps = false;

  /// The length of the dimension whose shares the splits are.
  int64_t getShare(int64_t size) const {
    return areSteps ? size : size / count;
  }
};

/// The dimensions of the group coordinate, without that of the splits.
struct GroupExprs {
  ViewBuilder::Exprs groups;
  mlir::AffineExpr split; ///< Null if the reduction is not split.

  /// The position of `element` of a split in the dimension that is split.
  mlir::AffineExpr locate(mlir::AffineExpr element, int64_t size,
                          const ReductionSplits &splits) const {
    const int64_t share = splits.getShare(size);
    return share < size ? split * share + element : element;
  }
};

/// Adds the group coordinate. Splits that are runs of steps are outermost, as
/// the pipeline requires; so tiles that run at the same time read the same.
GroupExprs addGroups(ViewBuilder &view, llvm::ArrayRef<int64_t> sizes,
                     const ReductionSplits &splits);

/// The images and the spatial sizes of an image tensor of `layout`.
llvm::SmallVector<Size> getImageSizes(mlir::OpBuilder &b, mlir::Value tensor,
                                      dnn::Layout layout);
/// Their numbers.
llvm::SmallVector<int64_t> getNumbers(llvm::ArrayRef<Size> sizes);
/// `pixels`, images and rows of another tensor, for a view of `tensor`: unknown
/// sizes that are equal, images or (`areAll`) all, are named by the tensor that
/// they are used for, so that what lies together in memory is seen to.
llvm::SmallVector<Size> alignSizes(mlir::OpBuilder &b, mlir::Value tensor,
                                   dnn::Layout layout, bool areAll,
                                   llvm::SmallVector<Size> pixels);

/// The pixels of `tensor`, x or y, of unknown number, with the positions of
/// HaloPositions.h along dimensions that have them.
llvm::SmallVector<Size> getPositions(mlir::OpBuilder &b, dnn::ConvOp conv,
                                     const ConvGeometry &geometry,
                                     mlir::Value tensor);

/// result[g, m, n] = sum over k of a[g, m, k] * b[g, n, k].
struct GemmViews {
  dnn::ViewOp a;
  dnn::ViewOp b;
  ResultCoordinates result;
  llvm::SmallVector<int64_t> reduce;
  /// The side of the result whose neighbours are contiguous in memory.
  dnn::TileDim lanes;
  /// Whether splits are shares of the channels, so that the pipeline does not
  /// know of them.
  bool splitsChannels = false;
  /// Whether partial results have the result's first dimension last.
  bool firstIsLast = false;
};

/// How backward weights walks its reduction.
struct WeightsReduction {
  int64_t step; ///< Reduction elements of a step of the main loop.
  /// Must divide getSplitSize(), of one dimension, unless `isTma`: then
  /// the pipeline splits the reduction into runs of steps.
  int64_t splits;
  bool isTma;
  /// If not 0, it walks the positions of HaloPositions.h, and a tile is all
  /// taps that share pixels, of so many channels.
  int64_t haloChannels = 0;
  /// Whether it walks the planes of x and y in NCHW, of which a tile's columns
  /// are channels under one tap.
  bool hasPlanes = false;
};

/// Whether backward weights can walk x and y in NCHW plane by plane
/// (PlaneCopy.h) in steps of `step` pixels: the pixels that a tap sees follow
/// each other as those of y do, a step is in two planes at most, and the table
/// for a plane is not too large for LDS.
bool walksPlanes(llvm::ArrayRef<ConvDim> dims, int64_t step);
/// Whether its splits may be shares of the outermost spatial dimension.
bool splitsPlanes(llvm::ArrayRef<ConvDim> dims);

/// How forward and backward data walk their reductions.
struct DataReduction {
  int64_t step; ///< Reduction elements of a step of the main loop.
  /// Of the channels, unless `areSteps`; their number must divide them.
  ReductionSplits splits = {};
  bool hasHalo = false; ///< The rows are the positions of HaloPositions.h.
};

/// Each creates its views at the insertion point of `b`.
GemmViews viewForward(mlir::OpBuilder &b, dnn::ConvOp conv,
                      const ConvGeometry &geometry,
                      const DataReduction &reduction);
/// `transposed` is a filter whose output channels are innermost
/// (FilterTranspose.h), or null to read that of `conv`.
GemmViews viewBackwardData(mlir::OpBuilder &b, dnn::ConvOp conv,
                           const ConvGeometry &geometry,
                           const DataReduction &reduction,
                           mlir::Value transposed = {});
GemmViews viewBackwardWeights(mlir::OpBuilder &b, dnn::ConvOp conv,
                              const ConvGeometry &geometry,
                              const WeightsReduction &reduction);

/// The size of the dimension that backward weights splits its reduction along.
int64_t getSplitSize(const ConvGeometry &geometry,
                     const WeightsReduction &reduction);

/// Whether neighbouring channels of a tensor are contiguous in memory.
bool isChannelsLast(dnn::Layout layout);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_GEMMVIEWS_H

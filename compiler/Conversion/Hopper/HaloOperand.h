//===- HaloOperand.h - Pixels that all taps of a filter share --*- C++ -*--===//
//
// Of stride 1, the pixels that a tap sees are those of its neighbour, moved. A
// tile's own and those around it are copied once for the channels of a step,
// and each tap reads them from another row of shared memory on. Taps of the
// depth are too far apart for that: each has a copy of its own.
//
// That needs the pixels in one sequence in which a tap moves all rows alike:
// rows of positions with the padding in front, which is the padding behind the
// row before, too; so with images. Results past the end of a row or an image
// see the wrong pixels, and must be none.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_HALOOPERAND_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_HALOOPERAND_H

#include "compiler/Conversion/Hopper/TmaOperand.h"

namespace tessera {

/// One dimension of a sequence of positions: `count` of them from `first` on,
/// of pixels 0 to `size` - 1. The last `past` positions have no results; taps
/// of the others reach `reach` positions further.
struct PaddedRow {
  int64_t first;
  OpenNumber count, size;
  int64_t past, reach;

  /// Fails after an error at `load` unless taps see the padding, and no pixel
  /// of the next row, past the last pixel.
  mlir::LogicalResult check(const TileSource &load) const;
};

/// How many positions of iteration dimension `dim` are behind those in the
/// tensor of `view`; 0 if that is not known.
int64_t countPast(dnn::ViewOp view, unsigned dim);

class HaloOperand : public TmaOperand {
public:
  /// The operand behind `load`, of whose rows the view `stored` says which are
  /// results. Fails after an error at the op that taps cannot share.
  static llvm::FailureOr<HaloOperand>
  match(const TileSource &load, dnn::ViewOp stored, KernelArg tensor);

  /// Rows that copy() brings: the tile's, and those around it.
  int64_t getRows() const { return boxes * boxRows; }
  int64_t getBytes() const override { return getRows() * getRowBytes(); }
  /// Taps that share pixels, and how often they do in a tile's reduction: for
  /// each step of channels, and for each tap of the depth, which runs fastest.
  int64_t countTaps() const { return getProduct(getSharedTaps()); }
  int64_t countBlocks() const { return getSteps() / countTaps(); }
  int64_t countDepthTaps() const { return getProduct(getDepthTaps()); }
  /// The step of a tap of a block in the reduction's own order.
  mlir::Value getStep(Emitter &e, mlir::Value block, mlir::Value tap) const;
  /// Bytes of a row that are channels in the last step of a tap.
  int64_t getLastBytes() const;

  /// The tile itself: blocks have nothing else in common.
  llvm::SmallVector<mlir::Value> locate(Emitter &e, mlir::Value group,
                                        mlir::Value row0,
                                        mlir::Value rank) const override {
    return {group, row0};
  }
  /// Copies the rows of block `block`.
  void copy(Emitter &e, mlir::Value mapPointer, mlir::Value destination,
            mlir::Value barrier, llvm::ArrayRef<mlir::Value> tile,
            mlir::Value block, mlir::Value rank) const override;
  /// How many rows behind the first a tap's begin.
  mlir::Value locateTap(Emitter &e, mlir::Value tap) const;

private:
  explicit HaloOperand(TmaOperand operand) : TmaOperand(std::move(operand)) {}

  static int64_t getProduct(llvm::ArrayRef<int64_t> sizes);
  /// The taps along height and width, and those before them.
  llvm::ArrayRef<int64_t> getSharedTaps() const;
  llvm::ArrayRef<int64_t> getDepthTaps() const;
  bool isDepth(const Dimension &dim) const;
  int64_t getRowBytes() const {
    return stepElements * getByteSize(map.dataType);
  }

  /// Rows from one position of a dimension to the next.
  int64_t getPitch(const Dimension &dim) const;
  int64_t getReach(const Dimension &dim) const;
  mlir::LogicalResult checkDimension(const TileSource &load, dnn::ViewOp stored,
                                     const Dimension &dim) const;
  void chooseBoxes();

  int64_t boxes = 0, boxRows = 0;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_HALOOPERAND_H

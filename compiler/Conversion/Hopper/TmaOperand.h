//===- TmaOperand.h - A factor that the TMA unit copies --------*- C++ -*-===//
//
// #dnn.coords is linear, and so is what a tensor map can say; where the two
// agree, one thread copies a whole tile, padding and tails included:
//
// - a filter is a box of its own dimensions;
// - an image is read in im2col mode: the tile's first pixel is a position of
//   the window's corner, a filter tap an offset from it, and the walk over
//   pixels, through rows and images, is the unit's.
//
// The reduction goes in steps of 64 channels at one tap. The last step of a tap
// may reach past the channels, where both factors read as zero. In shared
// memory 128 bytes of what lies together are a row: channels of the reduction,
// or, of a filter whose rows lie together, 64 of them (transposed).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_TMAOPERAND_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_TMAOPERAND_H

#include "compiler/Conversion/Emitter.h"
#include "dialect/IR/Dnn.h"
#include "runtime/Base/TensorMap.h"

namespace tessera {

class TmaOperand {
public:
  /// The operand behind `load`, a tile of the kernel argument `tensor`. Fails
  /// after an error at the op that says what a tensor map cannot.
  static llvm::FailureOr<TmaOperand> match(dnn::TileLoadOp load,
                                           KernelArg tensor);

  const TensorMap &getMap() const { return map; }
  /// Whether rows lie together in shared memory, in blocks of 64, and not the
  /// reduction.
  bool isTransposed() const { return transposed; }
  /// Steps of the whole reduction; the same for both factors.
  int64_t getSteps() const;

  /// What the unit's coordinates are for the tile at `row0` of `group`, at the
  /// first step; computed once a tile.
  llvm::SmallVector<mlir::Value> locate(Emitter &e, mlir::Value group,
                                        mlir::Value row0) const;

  /// Copies the tile of step `step` to shared memory; `barrier` counts its
  /// bytes. To be run by one thread.
  void copy(Emitter &e, mlir::Value mapPointer, mlir::Value destination,
            mlir::Value barrier, llvm::ArrayRef<mlir::Value> place,
            mlir::Value step) const;

private:
  /// One iteration dimension's part in a coordinate.
  struct Term {
    unsigned dim;
    int64_t factor;
  };
  /// A dimension of the tensor, as the view reaches it.
  struct Dimension {
    int64_t size;
    int64_t stride; ///< Elements.
    int64_t constant = 0;
    unsigned index; ///< In the tensor, counted from its last.
    llvm::SmallVector<Term> groups, rows, columns;
  };

  void readView(dnn::ViewOp view);
  mlir::LogicalResult findSteps(dnn::TileLoadOp load);
  mlir::LogicalResult checkStrides(dnn::TileLoadOp load);
  bool isImages() const;
  mlir::LogicalResult makeTiled(dnn::TileLoadOp load);
  mlir::LogicalResult makeIm2col(dnn::TileLoadOp load);
  mlir::LogicalResult checkIm2colLimits(dnn::TileLoadOp load);
  /// Where step `step` is in each dimension of the reduction: the taps, then
  /// the first of its channels.
  llvm::SmallVector<mlir::Value> locateStep(Emitter &e, mlir::Value step) const;

  dnn::CoordsAttr coords;
  int64_t tileRows = 0;
  int64_t stepElements = 0;
  bool transposed = false;
  unsigned stepDim = 0;              ///< The dimension that steps walk.
  llvm::SmallVector<Dimension> dims; ///< The innermost first.
  TensorMap map;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_TMAOPERAND_H

//===- TmaOperand.h - An operand that the TMA unit copies ------*- C++ -*--===//
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
// ends with the last channel, and so begins among those of the one before it;
// or it reaches past the channels, where both operands read as zero. In shared
// memory 128 bytes of what lies together are a row: channels of the reduction,
// or, of a filter whose rows lie together, 64 of them (transposed).
//
// Where neither operand has its reduction together in memory, as in backward
// weights, it goes in steps of 64 pixels. Both operands are then images, and
// their rows channels, which may be those of several taps: 64 rows are one copy
// of one tap. (Where taps share pixels, it may be 32 rows: SlidingHalo.h.) The
// last step may reach past the last image, where both read as zero.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_TMAOPERAND_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_TMAOPERAND_H

#include "compiler/Conversion/Common/Emitter.h"
#include "compiler/Conversion/Common/OpenNumber.h"
#include "dialect/IR/Dnn.h"
#include "runtime/Base/TensorMap.h"

namespace tessera {

/// What a step of the reduction takes, of both operands alike.
enum class TmaWalk { Channels, Pixels };

/// A tile of a view that an op asks for.
struct TileSource {
  mlir::Operation *op;
  dnn::ViewOp view;
  int64_t rows, columns;

  TileSource(dnn::TileLoadOp load)
      : op(load), view(load.getView().getDefiningOp<dnn::ViewOp>()),
        rows(load.getType().getShape()[0]),
        columns(load.getType().getShape()[1]) {}
  TileSource(mlir::Operation *op, dnn::ViewOp view, int64_t rows,
             int64_t columns)
      : op(op), view(view), rows(rows), columns(columns) {}

  mlir::InFlightDiagnostic emitOpError(const llvm::Twine &message = {}) const {
    return op->emitOpError(message);
  }
};

class TmaOperand {
public:
  virtual ~TmaOperand() = default;

  /// The walk that suits the memory of both operands of a product.
  static TmaWalk chooseWalk(const TileSource &a, const TileSource &b);

  /// The operand behind `load`, a tile of the kernel argument `tensor`. Fails
  /// after an error at the op that says what a tensor map cannot.
  static llvm::FailureOr<TmaOperand> match(const TileSource &load,
                                           KernelArg tensor, TmaWalk walk);

  const TensorMap &getMap() const { return map; }
  TmaWalk getWalk() const { return walk; }
  bool isStreamed() const { return streamed; }
  /// Whether copies of f32 are rounded to tf32.
  void setRounded(bool isRounded) {
    map.roundsToTf32 = isRounded && map.dataType == DataType::F32;
  }
  /// From now on, copies what leaves L2 first (StreamedReads.h).
  void setStreamed(bool isStreamed) { streamed = isStreamed; }
  /// From now on, copies half of the lines of each box, of 128 bytes or a row
  /// of a step, to both workgroups of a cluster. Fails after an error at `load`
  /// if halves are no whole blocks of the swizzle.
  llvm::LogicalResult share(const TileSource &load);
  /// The last step of each tap, if channels end within it: it reaches beyond
  /// them, or ends with the last one. These may come behind all others.
  enum class LastSteps { WithZeros, InPlace, Behind };
  /// From now on; other than with zeros, there are channels for a step.
  void setLastSteps(LastSteps steps) { lastSteps = steps; }
  LastSteps getLastSteps() const { return lastSteps; }
  /// The steps of whole channels.
  int64_t countWholeSteps() const;
  /// Whether rows lie together in shared memory, in blocks of 64, and not the
  /// reduction.
  bool isTransposed() const { return transposed; }
  /// Of such a block, the bytes that lie together: 128, or 64 of 32 rows.
  int64_t getBlockRowBytes() const {
    return blockRows * getByteSize(map.dataType);
  }
  /// Bytes that copy() brings, in both workgroups if they share. Fewer than the
  /// tile's where the view has one row, which is a box of its own; what the
  /// other rows hold is never stored.
  virtual int64_t getBytes() const;
  /// Steps of the whole reduction; the same for both operands.
  OpenNumber getSteps() const;

  /// What does not change from step to step of the tile at `row0` of `group`:
  /// the unit's coordinates at the first step, or, of a walk over pixels, the
  /// channel of each 64 rows and the offsets of its tap. Computed once a tile.
  /// `rank` is the workgroup's if two share the operand.
  virtual llvm::SmallVector<mlir::Value> locate(Emitter &e, mlir::Value group,
                                                mlir::Value row0,
                                                mlir::Value rank = {}) const;

  /// Copies the tile of step `step` to shared memory; `barrier` counts its
  /// bytes. To be run by one thread.
  virtual void copy(Emitter &e, mlir::Value mapPointer, mlir::Value destination,
                    mlir::Value barrier, llvm::ArrayRef<mlir::Value> place,
                    mlir::Value step, mlir::Value rank = {}) const;

  /// Asks for the same tile to be brought to L2, of channels that are not
  /// shared. Memory that is still written may be asked for.
  void prefetch(Emitter &e, mlir::Value mapPointer,
                llvm::ArrayRef<mlir::Value> place, mlir::Value step) const;

protected: // For HaloOperand.
  TmaOperand() = default;

  struct CopyTarget {
    mlir::Value mapPointer, destination, barrier;
    mlir::Value rank = {}; ///< If two workgroups share the operand.
  };
  /// The iteration dimension of a coordinate that all of them make together.
  static constexpr unsigned kWhole = 1 << 16;
  /// One iteration dimension's part in a coordinate.
  struct Term {
    unsigned dim;
    int64_t factor;
  };
  /// A dimension of the tensor, as the view reaches it.
  struct Dimension {
    OpenNumber size;
    OpenNumber stride; ///< Elements.
    int64_t constant = 0;
    unsigned index; ///< In the tensor, counted from its last.
    llvm::SmallVector<Term> groups, rows, columns;
  };
  using Terms = llvm::SmallVector<Term>;

  void copyBox(Emitter &e, const CopyTarget &target, int64_t block,
               mlir::ValueRange coordinates, mlir::ValueRange offsets) const;

  /// The first channel of a step, of which `part` are in front of it in a tap.
  mlir::Value locateChannels(Emitter &e, mlir::Value part) const;
  mlir::Value getOffset(Emitter &e, const Terms &taps,
                        llvm::function_ref<mlir::Value(unsigned)> digit) const;

  TmaWalk walk = TmaWalk::Channels;
  dnn::CoordsAttr coords;
  llvm::SmallVector<OpenNumber> sizes; ///< Of the iteration dimensions.
  int64_t tileRows = 0;
  int64_t stepElements = 0;
  /// Of a block of a transposed tile: 128 bytes of them lie together, or 64.
  int64_t blockRows = 0;
  bool transposed = false;
  bool streamed = false;
  bool isShared = false;
  LastSteps lastSteps = LastSteps::WithZeros;
  unsigned stepDim = 0;              ///< The dimension that steps walk.
  llvm::SmallVector<Dimension> dims; ///< The innermost first.
  TensorMap map;

private:
  /// The sizes of coordinate `index`, and their product.
  llvm::ArrayRef<OpenNumber> getSpace(unsigned index) const {
    return llvm::ArrayRef(sizes).slice(coords.getFirstDim(index),
                                       coords.getRanks()[index]);
  }
  OpenNumber getExtent(unsigned index) const;
  /// Boxes of a tile.
  int64_t countBoxes() const;
  /// Lines of a box.
  int64_t countLines() const { return transposed ? stepElements : tileRows; }
  /// Where the half of the workgroup of `rank` begins, of `size` of anything;
  /// at 0 if the operand is not shared.
  mlir::Value getHalf(Emitter &e, mlir::Value rank, int64_t size) const;
  /// What makes the window's corner walk along a dimension of images, and what
  /// a tap adds to it.
  const Terms &getCorner(const Dimension &dim) const {
    return walk == TmaWalk::Pixels ? dim.columns : dim.rows;
  }
  const Terms &getTaps(const Dimension &dim) const {
    return walk == TmaWalk::Pixels ? dim.rows : dim.columns;
  }

  void readView(dnn::ViewOp view);
  void joinPixels();
  mlir::LogicalResult findSteps(const TileSource &load);
  mlir::LogicalResult checkPixels(const TileSource &load);
  mlir::LogicalResult checkStrides(const TileSource &load);
  bool isImages() const;
  mlir::LogicalResult makeTiled(const TileSource &load);
  mlir::LogicalResult makeIm2col(const TileSource &load);
  mlir::LogicalResult checkIm2colLimits(const TileSource &load);
  /// Where step `step` is in each dimension of the reduction: the taps, then
  /// the first of its channels.
  llvm::SmallVector<mlir::Value> locateStep(Emitter &e, mlir::Value step) const;
  mlir::Value locateInGroup(Emitter &e, const Dimension &dim,
                            mlir::Value group) const;
  llvm::SmallVector<mlir::Value> locateBlocks(Emitter &e, mlir::Value group,
                                              mlir::Value row0) const;
  void copyChannels(Emitter &e, const CopyTarget &target,
                    llvm::ArrayRef<mlir::Value> place, mlir::Value step) const;
  void copyPixels(Emitter &e, const CopyTarget &target,
                  llvm::ArrayRef<mlir::Value> place, mlir::Value step) const;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_TMAOPERAND_H

//===- SlidingHalo.h - Pixels of backward weights, each once ---*- C++ -*--===//
//
// The reduction of backward weights walks positions, and what a tap adds to
// them is a distance, as in a halo (HaloOperand.h). So the input comes in
// chunks of 64 positions, each once, and a step reads it from another row on
// for each tap, in chunks that came before. The gradient is zero at positions
// that are no results. Taps of the depth share no pixels: they move the
// gradient, of which they are rows.
//
// Either the filter's rows are consumers side by side, whose wgmmas have all
// taps of a row as columns; or taps are lines of a window, whose own taps lie
// together in memory (docs/design/0012-packed.md), and each is the rows of a
// wgmma.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_SLIDINGHALO_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_SLIDINGHALO_H

#include "compiler/Conversion/Hopper/TmaOperand.h"

namespace tessera {

class SlidingHalo : public TmaOperand {
public:
  /// The input behind `load`, whose positions those of the gradient `other`
  /// must be, with a filter row for each consumer. Fails after an error at the
  /// op that taps cannot share.
  static llvm::FailureOr<SlidingHalo> matchRows(const TileSource &load,
                                                const TileSource &other,
                                                KernelArg tensor,
                                                int64_t consumers);
  /// The same with lines of windows, some for each consumer.
  static llvm::FailureOr<SlidingHalo>
  matchLines(const TileSource &load, const TileSource &other, KernelArg tensor);

  /// Positions from a tap to the next of its filter row, and from a filter row
  /// (or line) to the next.
  int64_t getTapRows() const { return tapRows; }
  int64_t getFilterRows() const { return filterRows; }
  /// Chunks behind its own that a step reads.
  int64_t countAhead() const;

  /// Of a chunk; copy() brings that of a step.
  int64_t getBytes() const override {
    return stepElements * getBlockRowBytes();
  }
  /// Where the channels of the tile at `row0` of `group` are.
  llvm::SmallVector<mlir::Value> locate(Emitter &e, mlir::Value group,
                                        mlir::Value row0,
                                        mlir::Value rank = {}) const override;

private:
  explicit SlidingHalo(TmaOperand operand) : TmaOperand(std::move(operand)) {}

  /// Positions from one of a dimension to the next.
  int64_t getPitch(const Dimension &dim) const;
  /// Whether no unknown size is in that.
  bool hasKnownPitch(const Dimension &dim) const;
  static llvm::FailureOr<SlidingHalo> match(const TileSource &load,
                                            KernelArg tensor);
  /// Whether the tile is all taps of one block of channels.
  bool hasAllTaps() const;
  mlir::LogicalResult checkPositions(const TileSource &load,
                                     const TileSource &other) const;

  /// Positions from a tap to the next of each dimension of taps, and all taps.
  llvm::SmallVector<int64_t> distances;
  int64_t taps = 1;
  int64_t tapRows = 0, filterRows = 0;
  int64_t reach = 0; ///< Positions from the first tap to the last.
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_SLIDINGHALO_H

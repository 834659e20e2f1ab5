//===- CellFilter.h - The filter of 64 channels in registers ---*- C++ -*--===//
//
// All of it goes to shared memory as it lies, and from there each lane takes
// its elements for good: one register for each piece of a cell.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_AMPERE_CELLFILTER_H
#define TESSERA_COMPILER_CONVERSION_AMPERE_CELLFILTER_H

#include "compiler/Conversion/Ampere/CellTile.h"

namespace tessera {

/// Whether the last coordinate, the channel of a filter's group, is outside of
/// it where the group of a row (dimensions `row` and the next: groups,
/// channels) is not that of a column.
bool isDiagonal(dnn::CoordsAttr coords, unsigned row, unsigned column,
                int64_t channels);

class CellFilter {
public:
  /// Rows of `view` are 64 channels of the result, columns two dimensions of
  /// taps, then channels. Fails after an error at `op` unless the filter of a
  /// group of the view lies together.
  static mlir::FailureOr<CellFilter>
  match(mlir::Operation *op, dnn::ViewOp view, const CellTile &cells);

  int64_t getBytes() const { return blockBytes; }

  /// Begins to copy the filter of `group`.
  void copy(Emitter &e, const ImageCopy &to, mlir::Value group) const;
  /// B of mma.sync for [cell][piece and register], of the warp with channels
  /// from 16 * `warp` on.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>>
  read(Emitter &e, const LanePlace &place, mlir::Value warp,
       mlir::Value shared) const;

private:
  CellFilter(ViewAccess access, const CellTile &cells, int64_t blockBytes)
      : access(std::move(access)), cells(cells), blockBytes(blockBytes) {}

  /// What a position contributes to the forms of the view.
  using Forms = llvm::SmallVector<mlir::Value>;
  /// An element of a piece but for its tap: where it lies, null if always
  /// there.
  struct Place {
    mlir::Value bytes, valid;
  };
  Place locate(Emitter &e, const Forms &row, mlir::Value channel) const;
  mlir::Value readElement(Emitter &e, const Place &place, int64_t tapBytes,
                          unsigned bits, mlir::Value shared) const;
  mlir::Value readPair(Emitter &e, llvm::ArrayRef<Place> pair, int64_t tapBytes,
                       mlir::Value shared) const;
  int64_t getTapBytes(int64_t tap) const;
  /// Whether neighbouring channels of a piece are neighbours in memory.
  bool hasPairs() const;

  ViewAccess access;
  CellTile cells;
  int64_t blockBytes; ///< Of a block of channels.
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_AMPERE_CELLFILTER_H

//===- CellOperands.h - What narrow groups are multiplied of ---*- C++ -*--===//

#ifndef TESSERA_COMPILER_CONVERSION_AMPERE_CELLOPERANDS_H
#define TESSERA_COMPILER_CONVERSION_AMPERE_CELLOPERANDS_H

#include "compiler/Conversion/Ampere/CellFilter.h"
#include "compiler/Conversion/Cooperative/TileProgram.h"

namespace tessera {

/// Fails after an error unless `target` multiplies cells, and the program is
/// one of them: by its instruction, and what it stores.
llvm::LogicalResult checkCells(TileProgram &program, const GpuTarget &target);

/// Channels of a group that a view of taps and channels tells of: those of the
/// other tensor that one channel of the result meets. Null after an error at
/// `op` if no warp takes them.
mlir::FailureOr<CellTile> matchCells(TileProgram &program, mlir::Operation *op,
                                     int64_t channels, int64_t taps);

/// Operand A of instructions: `pieces` pieces from `piece` on of `cell`, or of
/// both where they meet the same. Of 16 bits both cells may share an ldmatrix,
/// with a piece of each.
struct CellRead {
  int64_t piece, pieces;
  std::optional<int64_t> cell;
  bool isShared = false;
};
/// Those of `pieces` pieces. An odd one that is left of a cell's own goes with
/// the other cell's if `isShared`, else into an instruction of half the length.
llvm::SmallVector<CellRead> listReads(const CellTile &cells, int64_t pieces,
                                      bool isShared);

/// The factors of forward and backward data.
struct CellOperands {
  ImageTile image; ///< With its taps.
  CellTile cells;
  CellFilter filter;

  /// Channels of the reduction are the last dimension of it. Null after an
  /// error.
  static mlir::FailureOr<CellOperands> match(TileProgram &program);
  /// Whether the tiles are a block of the image's pixels by one of channels,
  /// reduced in one step by warps of which at most kMostPixelWarps share the
  /// pixels.
  bool fitTiles(TileProgram &program) const;

  static constexpr int64_t kMostPixelWarps = 8;
};

/// A of mma.sync, of 16 pixels; `shared` points to the chunk of the lane's
/// pixel where pieces begin. Of a read that is shared the first half is of the
/// first cell.
llvm::SmallVector<mlir::Value>
readFragment(Emitter &e, const CellTile &cells, const ImageTile &image,
             const LanePlace &place, mlir::Value shared, const CellRead &read);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_AMPERE_CELLOPERANDS_H

//===- CellOperands.h - What narrow groups are multiplied of ---*- C++ -*--===//

#ifndef TESSERA_COMPILER_CONVERSION_AMPERE_CELLOPERANDS_H
#define TESSERA_COMPILER_CONVERSION_AMPERE_CELLOPERANDS_H

#include "compiler/Conversion/Ampere/CellFilter.h"
#include "compiler/Conversion/Cooperative/TileProgram.h"

namespace tessera {

/// Channels of a group that a view of taps and channels tells of: those of the
/// other tensor that one channel of the result meets. Null after an error at
/// `op` if no warp takes them.
mlir::FailureOr<CellTile> matchCells(TileProgram &program, mlir::Operation *op,
                                     int64_t channels, int64_t taps);

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

/// A of mma.sync, of 16 pixels: `pieces` pieces from `piece` on; `shared`
/// points to the chunk of the lane's pixel where they begin. Of 16 bits an
/// ldmatrix reads two pieces, or one and what is `other` bytes behind it.
llvm::SmallVector<mlir::Value> readFragment(Emitter &e, const CellTile &cells,
                                            const ImageTile &image,
                                            const LanePlace &place,
                                            mlir::Value shared, int64_t piece,
                                            int64_t pieces, int64_t other);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_AMPERE_CELLOPERANDS_H

//===- CellTile.h - What a warp multiplies of narrow groups ----*- C++ -*--===//
//
// A warp has 16 neighbouring channels of the result, two *cells* of 8: as many
// as one mma.sync has columns. The channels of the other tensor that they meet
// are *pieces* of 8 channels of one tap: half a reduction of mma.sync of 16-bit
// elements, a whole one of tf32. So nothing is multiplied that belongs to
// another group, unless a group has less than 8 channels.
//
// f32 that may not be rounded is split into terms of bf16 in registers
// (SplitPair.h). It is loaded as tf32 is, of which a lane has elements k and
// k + 4: these are a pair of bf16 if both operands agree.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_AMPERE_CELLTILE_H
#define TESSERA_COMPILER_CONVERSION_AMPERE_CELLTILE_H

#include "compiler/Conversion/Ampere/ImageTile.h"
#include "compiler/Conversion/Nvidia/SplitPair.h"

namespace tessera {

inline constexpr int64_t kCells = 2;
inline constexpr int64_t kCellChannels = ImageTile::kPieceChannels;
inline constexpr int64_t kWarpChannels = kCells * kCellChannels;
inline constexpr int64_t kWarpSize = 32;
/// Warps that share the channels of a block.
inline constexpr int64_t kBlockWarps = kBlockChannels / kWarpChannels;

/// The instruction of f32 that is split.
inline constexpr llvm::StringLiteral kSplitCells = "mma8_bf16x6";

/// Eight channels of one tap.
struct Piece {
  int64_t tap;
  int64_t chunk; ///< From the first of the group's, or of the cell's.
};

/// Plain data.
struct CellTile {
  int64_t taps = 1;
  int64_t groupChannels = 8;
  bool isF32 = false;
  bool isSplit = false; ///< f32 into terms; otherwise it is rounded to tf32.

  /// Of one instruction.
  int64_t getReduction() const { return isF32 && !isSplit ? 8 : 16; }
  /// Pieces that an instruction multiplies.
  int64_t countAtOnce() const { return isF32 && !isSplit ? 1 : 2; }
  /// Registers of a lane for a piece of the filter: pairs, elements of tf32, or
  /// a pair of each term.
  int64_t countFilterRegisters() const {
    return isSplit ? SplitPair::kTerms : isF32 ? 2 : 1;
  }
  /// Whether the cells of a warp have a group each, or more.
  bool hasOwnPieces() const { return groupChannels <= kCellChannels; }
  int64_t countChunks() const {
    return hasOwnPieces() ? 1 : groupChannels / kCellChannels;
  }
  int64_t countPieces() const { return taps * countChunks(); }
  Piece getPiece(int64_t i) const {
    return {i / countChunks(), i % countChunks()};
  }
  /// Bytes from a pixel to piece `i` of it, without emitFirstChunk().
  int64_t getPieceBytes(int64_t i, const ImageTile &image) const {
    return image.getTapBytes(getPiece(i).tap) +
           getPiece(i).chunk * image.getPieceBytes();
  }
  /// An operand of an instruction from what was loaded of it, `perPiece`
  /// registers for each 8 of the reduction. Of f32 that is rounded or split:
  /// [term] of all pieces.
  llvm::SmallVector<mlir::Value> prepare(Emitter &e,
                                         llvm::ArrayRef<mlir::Value> loaded,
                                         int64_t perPiece) const;
  /// B of the pieces from `first` on, of what CellFilter::read() gives a cell.
  llvm::SmallVector<mlir::Value> joinFilter(llvm::ArrayRef<mlir::Value> filter,
                                            int64_t first,
                                            int64_t pieces) const;
  /// c + a times b, operands as prepare() gives them.
  llvm::SmallVector<mlir::Value> multiply(Emitter &e, mlir::Type element,
                                          mlir::ValueRange a,
                                          mlir::ValueRange b,
                                          mlir::ValueRange c) const;
  /// The chunk of 64 channels at which the pieces of cell `cell` begin, of the
  /// warp with channels from 16 * `warp` on.
  mlir::Value emitFirstChunk(Emitter &e, mlir::Value warp, int64_t cell) const {
    if (hasOwnPieces())
      return e.add(e.mul(warp, kCells), cell);
    const int64_t warps = groupChannels / kWarpChannels;
    return e.mul(e.divu(warp, warps), countChunks());
  }
};

/// Lane l's place in fragments: row l / 4, and two neighbours from 2 (l % 4).
struct LanePlace {
  mlir::Value lane, row, pair;

  static LanePlace make(Emitter &e, mlir::Value lane) {
    return {lane, e.divu(lane, 4), e.mul(e.remu(lane, 4), 2)};
  }
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_AMPERE_CELLTILE_H

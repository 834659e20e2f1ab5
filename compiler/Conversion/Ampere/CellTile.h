//===- CellTile.h - What a warp multiplies of narrow groups ----*- C++ -*--===//
//
// A warp has 16 neighbouring channels of the result, two *cells* of 8: as many
// as one mma.sync has columns. The channels of the other tensor that they meet
// are *pieces* of 8 channels of one tap: half a reduction of mma.sync of 16-bit
// elements, a whole one of tf32. So nothing is multiplied that belongs to
// another group, unless a group has less than 8 channels.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_AMPERE_CELLTILE_H
#define TESSERA_COMPILER_CONVERSION_AMPERE_CELLTILE_H

#include "compiler/Conversion/Ampere/ImageTile.h"

namespace tessera {

inline constexpr int64_t kCells = 2;
inline constexpr int64_t kCellChannels = ImageTile::kPieceChannels;
inline constexpr int64_t kWarpChannels = kCells * kCellChannels;
inline constexpr int64_t kWarpSize = 32;
/// Warps that share the channels of a block.
inline constexpr int64_t kBlockWarps = kBlockChannels / kWarpChannels;

/// Eight channels of one tap.
struct Piece {
  int64_t tap;
  int64_t chunk; ///< From the first of the group's, or of the cell's.
};

/// Plain data.
struct CellTile {
  int64_t taps = 1;
  int64_t groupChannels = 8;
  bool isTf32 = false;

  /// Of one instruction.
  int64_t getReduction() const { return isTf32 ? 8 : 16; }
  /// Pieces that an instruction multiplies, and that an ldmatrix brings.
  int64_t countAtOnce() const { return isTf32 ? 1 : 2; }
  /// Registers of a lane for a piece of the filter: pairs, or elements of tf32.
  int64_t countFilterRegisters() const { return isTf32 ? 2 : 1; }
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

//===- LdsTile.h - Where a tile's elements lie in LDS ----------*- C++ -*-===//
//
// A tile of `rows` rows of `step` elements, each row cut into 16-byte chunks.
// Chunk c of row r lies in place c ^ swizzle(r) of LDS row line(r), so that the
// writes and the reads (the same chunk of neighbouring rows) touch every bank
// once: no padding, and no conflict under either known order of the lanes of a
// 128-bit access, which tools/dev/check_lds_layout.py proves from the functions
// below. There are two ways to write, and so two layouts:
//
// - by chunks: 16 bytes of a row by a lane; neighbouring lanes take the row's
//   chunks, or neighbouring rows;
// - by blocks (BlockCopy.h): half a chunk of each of two or four neighbouring
//   rows by a lane; neighbouring lanes take the next rows. One write of eight
//   lanes meets rows that lie two or four apart, which the layout spreads.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_LDSTILE_H
#define TESSERA_COMPILER_CONVERSION_LDSTILE_H

#include "compiler/Conversion/Emitter.h"

namespace tessera {

/// Bytes of a chunk: the widest access of a lane.
inline constexpr int64_t kChunkBytes = 16;

struct LdsTile {
  int64_t rows;
  int64_t step; ///< Elements of a row.
  int64_t elementBytes;
  /// Rows of a block that a lane writes; 1 if it writes chunks.
  int64_t blockRows = 1;

  bool isBlocked() const { return blockRows > 1; }
  int64_t getChunkElements() const { return kChunkBytes / elementBytes; }
  int64_t getChunks() const { return step / getChunkElements(); }

  /// swizzle(r) = (r >> shift) & mask. With 128 bytes in all banks, 8 chunks
  /// must differ over 8 neighbouring rows: rows of 64 bytes come in pairs,
  /// rows of 32 bytes in fours. In a blocked tile the two bits above the three
  /// are added to the two below, and rows of 64 bytes are paired by bit 2:
  /// swizzle(r) = (r ^ ((r >> 3) & 3)) & mask.
  int64_t getSwizzleMask() const {
    return std::min<int64_t>(getChunks(), 8) - 1;
  }
  int64_t getSwizzleShift() const {
    return getChunks() >= 8   ? 0
           : getChunks() == 4 ? 1
           : getChunks() == 2 ? 2
                              : 0;
  }
  static constexpr int64_t kBlockShift = 3;
  static constexpr int64_t kBlockMask = 3;
  /// Rows after which the layout repeats; of tiles written by chunks, kPeriod.
  static constexpr int64_t kPeriod = 8;
  int64_t getPeriod() const { return isBlocked() ? 32 : kPeriod; }
  /// Whether line(r) exchanges the bits 0 and 2 of r.
  bool exchangesRows() const { return isBlocked() && getChunks() == 4; }

  /// Element offset of chunk `chunk` of row `row`.
  int64_t getOffset(int64_t row, int64_t chunk) const {
    int64_t term = isBlocked() ? row ^ ((row >> kBlockShift) & kBlockMask)
                               : row >> getSwizzleShift();
    int64_t line =
        exchangesRows() ? (row & ~5) | (row & 1) << 2 | ((row >> 2) & 1) : row;
    return line * step +
           (chunk ^ (term & getSwizzleMask())) * getChunkElements();
  }

  /// The same for values.
  mlir::Value emitOffset(Emitter &e, mlir::Value row, mlir::Value chunk) const {
    mlir::Value term =
        isBlocked() ? e.xori(row, e.andi(e.shru(row, kBlockShift), kBlockMask))
                    : e.shru(row, getSwizzleShift());
    mlir::Value line = row;
    if (exchangesRows())
      line = e.add(e.andi(row, ~5),
                   e.add(e.mul(e.andi(row, 1), 4), e.andi(e.shru(row, 2), 1)));
    mlir::Value place = e.xori(chunk, e.andi(term, getSwizzleMask()));
    return e.add(e.mul(line, step), e.mul(place, getChunkElements()));
  }
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_LDSTILE_H

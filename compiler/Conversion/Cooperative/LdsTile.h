//===- LdsTile.h - Where a tile's elements lie in LDS ----------*- C++ -*--===//
//
// A tile of `rows` rows of `step` elements, each row cut into 16-byte chunks.
// Chunk c of row r lies in place c ^ swizzle(r) of LDS row line(r), so that the
// writes and the reads (the same chunk of neighbouring rows) touch every bank
// once: no padding, and no conflict under either known order of the lanes of a
// 128-bit access, which dnn-check-banks counts in any kernel (check-banks.test).
// With 64 banks writes by blocks meet in two. There are two ways to write, and
// so two layouts:
//
// - by chunks: 16 bytes of a row by a lane; neighbouring lanes take the row's
//   chunks, or neighbouring rows;
// - by blocks (BlockCopy.h): half a chunk of each of two or four neighbouring
//   rows by a lane; neighbouring lanes take the next rows. One write of eight
//   lanes meets rows that lie two or four apart, which the layout spreads.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COOPERATIVE_LDSTILE_H
#define TESSERA_COMPILER_CONVERSION_COOPERATIVE_LDSTILE_H

#include "compiler/Conversion/Common/Emitter.h"

namespace tessera {

/// Bytes of a chunk: the widest access of a lane.
inline constexpr int64_t kChunkBytes = 16;

/// swizzle(r) = ((r >> shift) & mask) + ((r >> 3 ^ r >> 4) & 1) * fold, for
/// rows of `chunks` chunks in an LDS of `banks` banks of four bytes.
struct Swizzle {
  int banks, chunks, shift, mask, fold;

  int64_t getTerm(int64_t row) const {
    return ((row >> shift) & mask) + (((row >> 3) ^ (row >> 4)) & 1) * fold;
  }
};

/// With 128 bytes in all banks, 8 chunks must differ over 8 neighbouring rows:
/// rows of 64 bytes come in pairs, rows of 32 bytes in fours. With 256 bytes,
/// 16 chunks must differ over rows 0 to 15, and, in the other known order of
/// the lanes, over rows 0 to 7 with 16 to 23, or over two chunks of rows 0 to
/// 7: the fold of bits 3 and 4 tells the lowest bit, the row the others.
/// Longer rows take the last entry of their banks.
inline constexpr Swizzle kSwizzles[] = {
    // banks, chunks, shift, mask, fold
    {32, 1, 0, 0, 0}, {32, 2, 2, 1, 0}, {32, 4, 1, 3, 0}, {32, 8, 0, 7, 0},
    {64, 1, 0, 0, 0}, {64, 2, 0, 0, 1}, {64, 4, 1, 2, 1}, {64, 8, 0, 6, 1},
};

struct LdsTile {
  int64_t rows;
  int64_t step; ///< Elements of a row.
  int64_t elementBytes;
  int64_t banks; ///< Of the chip's LDS.
  /// Rows of a block that a lane writes; 1 if it writes chunks.
  int64_t blockRows = 1;
  /// Whether the rows of a block are valid apart (ViewAccess::hasRowPairs()).
  bool hasPairs = false;
  /// Whether eight rows that lie four apart are read at once, or eight
  /// neighbours (MatrixInstruction::getMatrixRowOfP()).
  bool readsMatrices = false;

  bool isBlocked() const { return blockRows > 1; }
  /// Whether the layout is that of blocks, which fits matrices as well.
  bool isMixed() const { return isBlocked() || readsMatrices; }
  int64_t getChunkElements() const { return kChunkBytes / elementBytes; }
  int64_t getChunks() const { return step / getChunkElements(); }

  const Swizzle &getSwizzle() const {
    const Swizzle *best = kSwizzles;
    for (const Swizzle &swizzle : kSwizzles)
      if (swizzle.banks == banks && swizzle.chunks <= getChunks())
        best = &swizzle;
    return *best;
  }

  /// In a mixed tile the two bits above the three are added to the two below,
  /// and the three tell chunks apart: of rows of 64 bytes the lowest one, which
  /// half of the banks a row has, the others the chunk. 64 banks are treated as
  /// 32.
  static constexpr int64_t kBlockShift = 3;
  static constexpr int64_t kBlockMask = 3;
  int64_t getBlockTerm(int64_t row) const {
    int64_t mixed = row ^ ((row >> kBlockShift) & kBlockMask);
    return (mixed >> (mixesRows() ? 1 : 0)) & getLowMask();
  }
  int64_t getLowMask() const { return std::min<int64_t>(getChunks(), 8) - 1; }
  /// Whether line(r) is r with the bit above the three added to the lowest.
  bool mixesRows() const { return isMixed() && getChunks() == 4; }
  /// Rows after which the layout repeats.
  int64_t getPeriod() const { return isMixed() || banks == 64 ? 32 : 8; }

  /// Element offset of chunk `chunk` of row `row`.
  int64_t getOffset(int64_t row, int64_t chunk) const {
    int64_t term = isMixed() ? getBlockTerm(row) : getSwizzle().getTerm(row);
    int64_t line = mixesRows() ? row ^ ((row >> kBlockShift) & 1) : row;
    return line * step + (chunk ^ term) * getChunkElements();
  }

  /// The place of chunk `chunk` in row `row`, and the chunk in that place.
  mlir::Value emitPlace(Emitter &e, mlir::Value row, mlir::Value chunk) const {
    if (isMixed()) {
      mlir::Value upper = e.andi(e.shru(row, kBlockShift), kBlockMask);
      mlir::Value mixed = e.shru(e.xori(row, upper), mixesRows() ? 1 : 0);
      return e.xori(chunk, e.andi(mixed, getLowMask()));
    }
    const Swizzle &swizzle = getSwizzle();
    mlir::Value term = e.andi(e.shru(row, swizzle.shift), swizzle.mask);
    if (swizzle.fold) {
      mlir::Value bit = e.andi(e.xori(e.shru(row, 3), e.shru(row, 4)), 1);
      term = e.add(term, e.mul(bit, swizzle.fold));
    }
    return e.xori(chunk, term);
  }

  /// getOffset() of values.
  mlir::Value emitOffset(Emitter &e, mlir::Value row, mlir::Value chunk) const {
    mlir::Value line = row;
    if (mixesRows())
      line = e.xori(row, e.andi(e.shru(row, kBlockShift), 1));
    return e.add(e.mul(line, step),
                 e.mul(emitPlace(e, row, chunk), getChunkElements()));
  }
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_LDSTILE_H

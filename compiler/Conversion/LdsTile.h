//===- LdsTile.h - Where a tile's elements lie in LDS ----------*- C++ -*-===//
//
// A tile of `rows` rows of `step` elements, each row cut into 16-byte chunks.
// Chunk c of row r lies in place c ^ swizzle(r), so that the writes (a row's
// chunks by neighbouring lanes, or neighbouring rows) and the reads (the same
// chunk of neighbouring rows) both touch every bank once: no padding, and no
// conflict under either known order of the lanes of a 128-bit access, which
// tools/dev/check_lds_layout.py proves from the two functions below.
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

  int64_t getChunkElements() const { return kChunkBytes / elementBytes; }
  int64_t getChunks() const { return step / getChunkElements(); }

  /// swizzle(r) = (r >> shift) & mask. With 128 bytes in all banks, 8 chunks
  /// must differ over 8 neighbouring rows: rows of 64 bytes come in pairs,
  /// rows of 32 bytes in fours.
  int64_t getSwizzleMask() const {
    return std::min<int64_t>(getChunks(), 8) - 1;
  }
  int64_t getSwizzleShift() const {
    return getChunks() >= 8   ? 0
           : getChunks() == 4 ? 1
           : getChunks() == 2 ? 2
                              : 0;
  }
  /// Rows after which the swizzle repeats.
  static constexpr int64_t kSwizzlePeriod = 8;

  int64_t getOffset(int64_t row, int64_t chunk) const {
    int64_t place = chunk ^ ((row >> getSwizzleShift()) & getSwizzleMask());
    return row * step + place * getChunkElements();
  }

  /// Element offset of chunk `chunk` of row `row`.
  mlir::Value emitOffset(Emitter &e, mlir::Value row, mlir::Value chunk) const {
    mlir::Value term = e.andi(e.shru(row, getSwizzleShift()), getSwizzleMask());
    return e.add(e.mul(row, step),
                 e.mul(e.xori(chunk, term), getChunkElements()));
  }
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_LDSTILE_H

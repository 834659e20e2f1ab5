//===- RowCopy.h - All lanes between memory and registers ------*- C++ -*--===//
//
// Most memory instructions of a hot loop have every lane active and in bounds.
// Once that is known for the whole row, the rest is a transposition: each
// lane's consecutive dwords go to consecutive rows.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_EXEC_ROWCOPY_H
#define TESSERA_RUNTIME_EMULATOR_EXEC_ROWCOPY_H

#include "runtime/Emulator/Wave.h"

#include <algorithm>
#include <cstring>

namespace tessera::emulator {

using Quad [[gnu::vector_size(16)]] = uint32_t;

/// Transposes: row i of the result is column i of the arguments.
inline void transpose(Quad (&q)[4]) {
  Quad ab0 = __builtin_shufflevector(q[0], q[1], 0, 4, 1, 5);
  Quad ab1 = __builtin_shufflevector(q[0], q[1], 2, 6, 3, 7);
  Quad cd0 = __builtin_shufflevector(q[2], q[3], 0, 4, 1, 5);
  Quad cd1 = __builtin_shufflevector(q[2], q[3], 2, 6, 3, 7);
  q[0] = __builtin_shufflevector(ab0, cd0, 0, 1, 4, 5);
  q[1] = __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7);
  q[2] = __builtin_shufflevector(ab1, cd1, 0, 1, 4, 5);
  q[3] = __builtin_shufflevector(ab1, cd1, 2, 3, 6, 7);
}

/// Loads `Dwords` from where `locate(lane)` points into the rows from `row` on.
/// Lanes are read in ascending order, four before any of the four is written.
template <unsigned Dwords, typename Locate>
[[gnu::always_inline]] inline void loadRows(Wave &wave, unsigned row,
                                            Locate locate) {
  const unsigned lanes = wave.lanes;
  for (unsigned lane = 0; lane < lanes; lane += 4) {
    const uint8_t *from[] = {locate(lane), locate(lane + 1), locate(lane + 2),
                             locate(lane + 3)};
    if constexpr (Dwords == 4) {
      Quad q[4];
      for (unsigned i = 0; i < 4; ++i)
        std::memcpy(&q[i], from[i], sizeof(Quad));
      transpose(q);
      for (unsigned i = 0; i < 4; ++i)
        std::memcpy(&wave.vector[row + i][lane], &q[i], sizeof(Quad));
    } else {
      uint32_t words[4][Dwords];
      for (unsigned i = 0; i < 4; ++i)
        std::memcpy(words[i], from[i], sizeof words[i]);
      for (unsigned i = 0; i < 4; ++i)
        for (unsigned d = 0; d < Dwords; ++d)
          wave.vector[row + d][lane + i] = words[i][d];
    }
  }
}

/// Stores what loadRows() loads. Lanes are written in ascending order.
template <unsigned Dwords, typename Locate>
[[gnu::always_inline]] inline void storeRows(const Wave &wave, unsigned row,
                                             Locate locate) {
  const unsigned lanes = wave.lanes;
  for (unsigned lane = 0; lane < lanes; lane += 4) {
    uint8_t *to[] = {locate(lane), locate(lane + 1), locate(lane + 2),
                     locate(lane + 3)};
    if constexpr (Dwords == 4) {
      Quad q[4];
      for (unsigned i = 0; i < 4; ++i)
        std::memcpy(&q[i], &wave.vector[row + i][lane], sizeof(Quad));
      transpose(q);
      for (unsigned i = 0; i < 4; ++i)
        std::memcpy(to[i], &q[i], sizeof(Quad));
    } else {
      for (unsigned i = 0; i < 4; ++i)
        for (unsigned d = 0; d < Dwords; ++d)
          std::memcpy(to[i] + 4 * d, &wave.vector[row + d][lane + i], 4);
    }
  }
}

/// True if, for all lanes, `base` + `offset` is a multiple of `alignment` and
/// the `bytes` from there on lie below `limit`.
[[gnu::always_inline]] inline bool
isRowInBounds(const Wave &wave, const uint32_t *base, uint32_t offset,
              uint32_t bytes, uint32_t limit, uint32_t alignment) {
  uint32_t highest = 0, bits = 0;
  const unsigned lanes = wave.lanes;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    highest = std::max(highest, base[lane]);
    bits |= base[lane] + offset;
  }
  return uint64_t(highest) + offset + bytes <= limit &&
         (bits & (alignment - 1)) == 0;
}

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_EXEC_ROWCOPY_H

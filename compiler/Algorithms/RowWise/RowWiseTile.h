//===- RowWiseTile.h - The tiles of row-wise operations --------*- C++ -*--===//

#ifndef TESSERA_COMPILER_ALGORITHMS_ROWWISE_ROWWISETILE_H
#define TESSERA_COMPILER_ALGORITHMS_ROWWISE_ROWWISETILE_H

#include "compiler/Algorithms/RowWise/RowWiseGeometry.h"
#include "runtime/Base/TileConfig.h"

#include <array>

namespace tessera {

/// How rows are distributed over threads: "map-v8", "rowwise-v8t64r4",
/// "rowwise-v8t32r4n8m2", "rowsplit-v8t64r4p32". Plain data; all numbers are
/// powers of two.
struct RowWiseTile {
  int vector = 1;  ///< v: elements of a block.
  int threads = 1; ///< t: threads of a row group, which share a row or a block
                   ///< of rows.
  int groups = 1;  ///< r: row groups of a workgroup.
  int splits = 1;  ///< p: splits of a row, each in another workgroup.
  /// n, m: rows of a row group that share what they load, along each of
  /// RowWiseGeometry::sharedDims.
  std::array<int, 2> shared = {1, 1};

  /// The rows of a row group that share loads; 1 if none do.
  int getSharedRows() const { return shared[0] * shared[1]; }
  /// Blocks of a row, or of rows that share loads, that a thread loads at once,
  /// unless it keeps the whole row in registers.
  int getBlocksAtOnce() const;

  friend bool operator==(const RowWiseTile &, const RowWiseTile &) = default;

  TileConfig toConfig(std::string_view algorithm) const;
};

/// Reads what RowWiseTile::toConfig() writes.
ErrorOr<RowWiseTile> parseRowWiseTile(const TileConfig &config);

/// The rows of a row group that do not share the loads of `tensor`.
int64_t countDistinctRows(const RowWiseGeometry &g, const RowWiseTensor &tensor,
                          const RowWiseTile &tile);

/// Shared memory for the words of a row that `threads` threads leave, in words:
/// rows begin in different banks, and at 16 bytes where accesses have them.
inline constexpr int64_t kSharedAccessWords = 4;
inline constexpr int64_t getSharedPitch(int64_t threads) {
  return threads + kSharedAccessWords;
}

/// Whether the operation has rows that share loads as `tile` says, a thread has
/// the registers for their sums and loads, and a workgroup the shared memory to
/// exchange sums. Each row is finished by another thread.
bool canShareRows(const RowWiseGeometry &g, const RowWiseTile &tile);

/// Parses the tile of `primitive`. Emits an error unless this is a row-wise op
/// which the tile fits.
mlir::FailureOr<RowWiseTile> readRowWiseTile(mlir::Operation *primitive,
                                             const TileConfig &config);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_ROWWISE_ROWWISETILE_H

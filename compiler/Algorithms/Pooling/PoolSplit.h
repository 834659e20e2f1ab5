//===- PoolSplit.h - A pooling of few and large windows --------*- C++ -*--===//

#ifndef TESSERA_COMPILER_ALGORITHMS_POOLING_POOLSPLIT_H
#define TESSERA_COMPILER_ALGORITHMS_POOLING_POOLSPLIT_H

#include "compiler/Algorithms/Pooling/PoolGeometry.h"
#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/TileConfig.h"

namespace tessera {

/// The tile of a split pooling, "poolsplit-c4h8w32": the channels of a thread
/// and the splits of each window. Plain data.
struct PoolSplitTile {
  int channels = 1; ///< A power of two.
  int rows = 1;     ///< Splits along rows; each has neighbouring rows.
  /// Splits along columns, which are interleaved: each split has every
  /// `columns`-th column.
  int columns = 1;

  friend bool operator==(const PoolSplitTile &,
                         const PoolSplitTile &) = default;

  int64_t getSplits() const { return int64_t(rows) * columns; }
  TileConfig toConfig() const;
};

/// Reads what PoolSplitTile::toConfig() writes.
ErrorOr<PoolSplitTile> parsePoolSplitTile(const TileConfig &config);

/// The bytes of the partial results of all splits.
int64_t getWorkspaceBytes(const PoolGeometry &geometry,
                          const PoolSplitTile &tile);

/// Replaces a forward `pool` by the program of the splits, and adds a function
/// after its own that merges their partial results.
void buildPoolSplit(dnn::PoolOp pool, const PoolSplitTile &tile);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_POOLING_POOLSPLIT_H

//===- PoolSplit.h - A pooling of few and wide windows ---------*- C++ -*-===//

#ifndef TESSERA_COMPILER_ALGORITHMS_POOLSPLIT_H
#define TESSERA_COMPILER_ALGORITHMS_POOLSPLIT_H

#include "compiler/Algorithms/Pooling/PoolGeometry.h"
#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/TileConfig.h"

namespace tessera {

/// The tile of a split pooling, "poolsplit-c4h8w32": the channels of a thread,
/// and into how many parts each window is divided. Plain data.
struct PoolSplitTile {
  int channels = 1; ///< A power of two.
  int rows = 1;     ///< Parts of neighbouring rows.
  int columns = 1;  ///< Parts of columns that are as far apart as there are
                    ///< parts.

  friend bool operator==(const PoolSplitTile &,
                         const PoolSplitTile &) = default;

  int64_t getParts() const { return int64_t(rows) * columns; }
  TileConfig toConfig() const;
};

/// Reads what PoolSplitTile::toConfig() writes.
ErrorOr<PoolSplitTile> parsePoolSplitTile(const TileConfig &config);

/// Bytes of the parts' results.
int64_t getWorkspaceBytes(const PoolGeometry &geometry,
                          const PoolSplitTile &tile);

/// Replaces a forward `pool` by the program of the parts, and adds a function
/// behind its own that merges them.
void buildPoolSplit(dnn::PoolOp pool, const PoolSplitTile &tile);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_POOLSPLIT_H

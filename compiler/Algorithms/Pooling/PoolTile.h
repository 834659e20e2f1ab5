//===- PoolTile.h - The parameters of a pooling ----------------*- C++ -*--===//

#ifndef TESSERA_COMPILER_ALGORITHMS_POOLING_POOLTILE_H
#define TESSERA_COMPILER_ALGORITHMS_POOLING_POOLTILE_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/TileConfig.h"

namespace tessera {

/// The tile of a pooling, "pool-c8h2w1": the block of the written tensor that
/// one thread owns. Plain data.
struct PoolTile {
  int channels = 1; ///< A power of two.
  /// Forward: the number of outputs. Backward: the number of strides, each of
  /// as many pixels as the stride is long.
  int rows = 1;
  int columns = 1;

  friend bool operator==(const PoolTile &, const PoolTile &) = default;

  TileConfig toConfig() const;
};

/// Reads what PoolTile::toConfig() writes.
ErrorOr<PoolTile> parsePoolTile(const TileConfig &config);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_POOLING_POOLTILE_H

//===- RowWiseTile.h - The tiles of row-wise operations --------*- C++ -*--===//

#ifndef TESSERA_COMPILER_ALGORITHMS_ROWWISE_ROWWISETILE_H
#define TESSERA_COMPILER_ALGORITHMS_ROWWISE_ROWWISETILE_H

#include "compiler/Algorithms/RowWise/RowWiseGeometry.h"
#include "runtime/Base/TileConfig.h"

namespace tessera {

/// How rows are distributed over threads: "map-v8", "rowwise-v8t64r4",
/// "rowsplit-v8t64r4p32". Plain data; all numbers are powers of two.
struct RowWiseTile {
  int vector = 1;  ///< v: elements of a block.
  int threads = 1; ///< t: threads of a row group, which share a row or a block
                   ///< of rows.
  int groups = 1;  ///< r: row groups of a workgroup.
  int splits = 1;  ///< p: splits of a row, each in another workgroup.

  friend bool operator==(const RowWiseTile &, const RowWiseTile &) = default;

  TileConfig toConfig(std::string_view algorithm) const;
};

/// Reads what RowWiseTile::toConfig() writes.
ErrorOr<RowWiseTile> parseRowWiseTile(const TileConfig &config);

/// Parses the tile of `primitive`. Emits an error unless this is a row-wise op
/// which the tile fits.
mlir::FailureOr<RowWiseTile> readRowWiseTile(mlir::Operation *primitive,
                                             const TileConfig &config);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_ROWWISE_ROWWISETILE_H

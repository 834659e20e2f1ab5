//===- RowsTile.h - The tiles of row-wise operations -----------*- C++ -*-===//

#ifndef TESSERA_COMPILER_ALGORITHMS_ROWSTILE_H
#define TESSERA_COMPILER_ALGORITHMS_ROWSTILE_H

#include "compiler/Algorithms/RowWise/RowsGeometry.h"
#include "runtime/Base/TileConfig.h"

namespace tessera {

/// How rows are distributed over threads: "map-v8", "rows-v8t64r4",
/// "rowsplit-v8t64r4p32". Plain data; all numbers are powers of two.
struct RowsTile {
  int vector = 1;  ///< v: elements of a block.
  int threads = 1; ///< t: threads of a row group, which share a row or a block
                   ///< of rows.
  int groups = 1;  ///< r: row groups of a workgroup.
  int splits = 1;  ///< p: splits of a row, each in another workgroup.

  friend bool operator==(const RowsTile &, const RowsTile &) = default;

  TileConfig toConfig(std::string_view algorithm) const;
};

/// Reads what RowsTile::toConfig() writes.
ErrorOr<RowsTile> parseRowsTile(const TileConfig &config);

/// Parses the tile of `primitive`. Emits an error unless this is a row-wise op
/// which the tile fits.
mlir::FailureOr<RowsTile> readRowsTile(mlir::Operation *primitive,
                                       const TileConfig &config);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_ROWSTILE_H

//===- RowsTile.h - The parameters of the algorithms for rows --*- C++ -*-===//

#ifndef TESSERA_COMPILER_ALGORITHMS_ROWSTILE_H
#define TESSERA_COMPILER_ALGORITHMS_ROWSTILE_H

#include "compiler/Algorithms/RowWise/RowsGeometry.h"
#include "runtime/Base/TileConfig.h"

namespace tessera {

/// How rows are shared out: "map-v8", "rows-v8t64r4", "rowsplit-v8t64r4p32".
/// Plain data; all numbers are powers of two.
struct RowsTile {
  int vector = 1;  ///< v: elements of a block.
  int threads = 1; ///< t: of a team, which shares a row or a block of rows.
  int columns = 1; ///< r: teams of a workgroup.
  int parts = 1;   ///< p: of a row, each of a workgroup of its own.

  friend bool operator==(const RowsTile &, const RowsTile &) = default;

  TileConfig toConfig(std::string_view algorithm) const;
};

/// Reads what RowsTile::toConfig() writes.
ErrorOr<RowsTile> parseRowsTile(const TileConfig &config);

/// The op if it is one, with a tile for it; else emits an error.
mlir::FailureOr<RowsTile> readRowsTile(mlir::Operation *primitive,
                                       const TileConfig &config);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_ROWSTILE_H

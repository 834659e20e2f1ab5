//===- WayOut.h - How a staged result leaves -------------------*- C++ -*--===//
//
// A warp stages up to 128 bytes of each of its 16 rows in shared memory. From
// there whole rows leave: through the TMA unit where the result is a matrix to
// a tensor map (TmaStore), else each at its own address (RowStore).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_WAYOUT_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_WAYOUT_H

#include "compiler/Conversion/Hopper/HopperShape.h"
#include "compiler/Conversion/Nvidia/SharedMemory.h"

namespace tessera {

/// What a warpgroup stores of a tile.
struct ResultTile {
  mlir::Value group, row, column;
};

/// For all lanes of a warp, which emit these calls together.
class WayOut {
public:
  virtual ~WayOut() = default;

  /// Before anything of `tile` is stored.
  virtual void begin(const ResultTile &tile) = 0;
  /// Before a staging buffer is written, if `buffers` take turns: what it held
  /// has left.
  virtual void awaitBuffer(int64_t buffers) = 0;
  /// The buffer holds 16 rows of the result for each warp, from `row` of the
  /// tile on, from `column` on; or, if that is column-major, 16 columns, from
  /// `row` on.
  virtual void copyOut(mlir::Value buffer, int64_t row, int64_t column) = 0;
  /// Behind the last tile.
  virtual void finish() = 0;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_WAYOUT_H

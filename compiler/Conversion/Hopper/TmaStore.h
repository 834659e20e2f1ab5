//===- TmaStore.h - A staged result that leaves by TMA ---------*- C++ -*--===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_TMASTORE_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_TMASTORE_H

#include "compiler/Conversion/Hopper/WayOut.h"
#include "runtime/Base/TensorMap.h"

namespace tessera {

struct ResultMap {
  /// Columns that are taps of some channels: the first two dimensions of the
  /// map, which may have fewer channels.
  struct Columns {
    int64_t tap = 0;   ///< Channels together; 0 if columns are no taps.
    int64_t block = 0; ///< Columns of all taps, behind which further channels
                       ///< follow; 0 if none do.
  };
  TensorMap map;
  Columns columns = {};
};

/// The map of the result `tensor`, whose rows must be one dimension; none where
/// that, or the distance of its rows, is nothing that a map can say. Of each
/// row `storeRowBytes` are staged.
std::optional<ResultMap> makeResultMap(dnn::TileStoreOp store, KernelArg tensor,
                                       int64_t storeRowBytes);

/// One lane has the unit copy a buffer. The unit clips what lies past the
/// result.
class TmaStore final : public WayOut {
public:
  /// `warp` is the warp's number in its warpgroup.
  TmaStore(Emitter &e, mlir::Value mapPointer, bool hasGroups,
           ResultMap::Columns columns, mlir::Value warp, mlir::Value lane);

  void begin(const ResultTile &tile) override { place = tile; }
  void awaitBuffer(int64_t buffers) override;
  void copyOut(mlir::Value buffer, int64_t row, int64_t column) override;
  void finish() override;

private:
  llvm::SmallVector<mlir::Value> splitColumn(mlir::Value column);

  Emitter &e;
  mlir::Value mapPointer;
  bool hasGroups;
  ResultMap::Columns columns;
  mlir::Value warp, isFirstLane;
  ResultTile place;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_TMASTORE_H

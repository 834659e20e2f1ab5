//===- TmaStore.h - A staged result that leaves by TMA ---------*- C++ -*-===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_TMASTORE_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_TMASTORE_H

#include "compiler/Conversion/Hopper/WayOut.h"
#include "runtime/Base/TensorMap.h"

namespace tessera {

struct ResultMap {
  TensorMap map;
  /// If not 0, columns are taps of so many channels, of which the result may
  /// have fewer: the first two dimensions of the map.
  int64_t tapColumns = 0;
};

/// The map of the result `tensor`, whose rows must be one dimension; none where
/// that, or the distance of its rows, is nothing that a map can say.
std::optional<ResultMap> makeResultMap(dnn::TileStoreOp store,
                                       KernelArg tensor);

/// One lane has the unit copy a buffer. The unit clips what lies past the
/// result.
class TmaStore final : public WayOut {
public:
  /// `warp` is the warp's number in its warpgroup.
  TmaStore(Emitter &e, mlir::Value mapPointer, bool hasGroups,
           int64_t tapColumns, mlir::Value warp, mlir::Value lane);

  void begin(const ResultTile &tile) override { place = tile; }
  void awaitBuffer(int64_t buffers) override;
  void copyOut(mlir::Value buffer, int64_t row, int64_t column) override;
  void finish() override;

private:
  Emitter &e;
  mlir::Value mapPointer;
  bool hasGroups;
  int64_t tapColumns; ///< See ResultMap.
  mlir::Value warp, isFirstLane;
  ResultTile place;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_TMASTORE_H

//===- TmaStore.h - A staged result that leaves by TMA ---------*- C++ -*--===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_TMASTORE_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_TMASTORE_H

#include "compiler/Conversion/Common/ViewAccess.h"
#include "compiler/Conversion/Hopper/WayOut.h"
#include "runtime/Base/TensorMap.h"

namespace tessera {

struct ResultMap {
  /// Columns that are taps of some channels: the first two dimensions of the
  /// map, which may have fewer channels. Rows may be taps, too.
  struct Taps {
    int64_t tap = 0;   ///< Channels together; 0 if columns are no taps.
    int64_t block = 0; ///< Columns of all taps, behind which further channels
                       ///< follow; 0 if none do.
    int64_t rows = 0;  ///< Of a tap; 0 if rows are no taps.
  };
  /// Of a column-major result (ColumnStore.h): rows that lie together.
  struct Runs {
    int64_t length = 0;               ///< 0 if it is row-major.
    llvm::SmallVector<int64_t> outer; ///< Rows are so many times a run.
  };
  TensorMap map;
  Taps taps = {};
  Runs runs = {};
};

/// A map of the result of `access` with its first dimension, of `size` elements
/// of which a box has `boxBytes`; none if the result begins where no map can.
std::optional<TensorMap> beginResultMap(const ViewAccess &access,
                                        KernelArg tensor, int64_t size,
                                        int64_t boxBytes);
/// Adds a dimension whose neighbours are `stride` bytes apart; whether there is
/// such a dimension in maps.
bool addDimension(TensorMap &map, int64_t stride, const OpenNumber &size,
                  uint32_t box);

/// The map of the result `tensor` behind `view`, whose rows must be one
/// dimension, or taps of some; none where that, or the distance of its rows, is
/// nothing that a map can say. Of each row `storeRowBytes` are staged.
std::optional<ResultMap> makeResultMap(dnn::ViewOp view, KernelArg tensor,
                                       int64_t storeRowBytes);

/// One lane has the unit copy a buffer. The unit clips what lies past the
/// result.
class TmaStore : public WayOut {
public:
  /// `warp` is the warp's number in its warpgroup.
  TmaStore(Emitter &e, mlir::Value mapPointer, bool hasGroups,
           ResultMap::Taps taps, mlir::Value warp, mlir::Value lane);

  void begin(const ResultTile &tile) override { place = tile; }
  void awaitBuffer(int64_t buffers) override;
  void copyOut(mlir::Value buffer, int64_t row, int64_t column) final;
  void finish() override;

protected:
  /// For the one lane: the copy of a buffer.
  virtual void emitCopy(mlir::Value buffer, int64_t row, int64_t column);
  void copyBox(mlir::Value buffer, mlir::ValueRange coordinates);

  Emitter &e;
  bool hasGroups;
  mlir::Value warp;
  ResultTile place;

private:
  llvm::SmallVector<mlir::Value> splitColumn(mlir::Value column);

  mlir::Value mapPointer;
  ResultMap::Taps taps;
  mlir::Value isFirstLane;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_TMASTORE_H

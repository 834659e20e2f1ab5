//===- TmaStore.h - From sums to the result, by TMA ------------*- C++ -*-===//
//
// Each warp rounds its sums, stages 128 bytes of each row at a time in shared
// memory of its own, and has the TMA unit write them, which clips what is
// outside. No warp waits for another. A result of f32 (the parts of a split
// reduction) is staged as it is.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_TMASTORE_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_TMASTORE_H

#include "compiler/Conversion/Emitter.h"
#include "compiler/Conversion/Hopper/HopperShape.h"
#include "runtime/Base/TensorMap.h"

#include "mlir/IR/IRMapping.h"

namespace tessera {

/// The tensor map of a result whose rows and columns each are one dimension in
/// memory; fails after an error at `store` otherwise.
llvm::FailureOr<TensorMap> makeResultMap(dnn::TileStoreOp store,
                                         KernelArg tensor);

/// Where a consumer's tile lies in the result.
struct ResultTile {
  mlir::Value group, row, column;
};

class TmaStore {
public:
  /// `staging` points to the staging buffers of this warp, in shared memory;
  /// `warp` is its number in its warpgroup. `scalars` maps what the epilogue
  /// takes from outside.
  TmaStore(Emitter &e, const HopperShape &shape, dnn::TileStoreOp store,
           mlir::Value mapPointer, bool hasGroups, mlir::Value staging,
           mlir::Value warp, mlir::Value lane, mlir::IRMapping scalars);

  /// Stores the sums of each block of 64 rows.
  void emit(llvm::ArrayRef<mlir::Value> sums, const ResultTile &tile);
  /// Waits until everything is stored.
  void finish();

private:
  void locateMatrices(mlir::Value lane);
  void locateSums(mlir::Value lane);
  void stageMatrices(mlir::Value sums, int64_t column, mlir::Value buffer);
  void stageSums(mlir::Value sums, int64_t column, mlir::Value buffer);
  void copyOut(mlir::Value buffer, const ResultTile &tile, int64_t row,
               int64_t column);
  mlir::Value pack(mlir::Value low, mlir::Value high);

  Emitter &e;
  const HopperShape &shape;
  dnn::TileStoreOp store;
  mlir::Type element; ///< Of the result.
  mlir::Value mapPointer;
  bool hasGroups;
  mlir::Value staging, warp;
  mlir::Value isFirstLane;
  mlir::IRMapping scalars;
  /// Where the lane puts each 16 columns in a buffer, each 8 of f32: bytes.
  llvm::SmallVector<mlir::Value> offsets;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_TMASTORE_H

//===- CellStore.h - From a warp's sums to the result ----------*- C++ -*--===//
//
// A warp has the sums of 16 pixels by 16 channels, of which a lane has two
// neighbours of each cell. Two lanes exchange them, so that each stores four.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_AMPERE_CELLSTORE_H
#define TESSERA_COMPILER_CONVERSION_AMPERE_CELLSTORE_H

#include "compiler/Conversion/Ampere/CellKernel.h"

#include "mlir/IR/IRMapping.h"

namespace tessera {

inline constexpr int64_t kFragment = 16; ///< Pixels of one mma.sync.

/// What one mma.sync leaves a lane of each cell: two channels of its pixel, and
/// of the pixel 8 behind.
using CellSums = llvm::SmallVector<llvm::SmallVector<mlir::Value>>;
CellSums makeZeroSums(Emitter &e);

class CellStore {
public:
  /// The scalars that epilogue `region` takes; once a kernel.
  static mlir::IRMapping mapScalars(CellKernel &kernel, mlir::Region &region);

  /// For the channels from 16 * `warp` on; `row` is the lane's first of the
  /// tile.
  CellStore(CellKernel &kernel, mlir::Value warp, mlir::Value row);

  /// Applies the epilogue, which takes `scalars`, and stores pixels from
  /// `offset` rows behind the first on; of each half of them where `valid`
  /// holds or is null.
  void store(const CellSums &sums, int64_t offset,
             llvm::ArrayRef<mlir::Value> valid, mlir::Region &epilogue,
             const mlir::IRMapping &scalars) const;

private:
  llvm::SmallVector<mlir::Value> joinCells(const CellSums &sums,
                                           int64_t half) const;

  CellKernel &k;
  Emitter &e;
  StoreView result;
  std::vector<StoreView> extras;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_AMPERE_CELLSTORE_H

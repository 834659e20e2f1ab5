//===- StoreExtra.h - Further tensors of an epilogue -----------*- C++ -*--===//
//
// The epilogue is applied to sums in registers, where wgmma leaves them, so
// that nothing is rounded but the result. There its tensors must come, too:
//
// - one value a channel (bias): each lane loads the two neighbours that it has
//   of every 8 columns; L1 has them for all rows but the first. With swapped
//   operands a lane has two channels alone;
// - one value an element (residual, the old result): loaded so, 4 lanes would
//   share 16 bytes of a row. It comes as the result goes instead: whole rows to
//   the staging buffer, and from there by ldmatrix, which undoes stmatrix, or,
//   of f32, by the loads that undo the sums' stores.
//
// The other way round, staged f32 sums to which rows of the tensors are added,
// would need twice the shared memory, and twice its traffic.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_STOREEXTRA_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_STOREEXTRA_H

#include "compiler/Conversion/Hopper/WayOut.h"

#include <memory>

namespace tessera {

/// For all lanes of a warp, which emit these calls together.
class StoreExtra {
public:
  virtual ~StoreExtra() = default;
  using Values = llvm::SmallVector<mlir::Value>;

  /// Before anything of `tile` is loaded.
  virtual void begin(const ResultTile &tile) = 0;
  /// What memory holds of the staged columns from `column` on, for the warp's
  /// rows of the wgmma at `row`. Loaded ahead of its use.
  virtual Values fetch(int64_t row, int64_t column) = 0;
  /// What was fetched of the same place, as f32s in the order of a lane's sums.
  /// May use `buffer`, a staging buffer that is free, and is when this is done.
  virtual Values unpack(const Values &fetched, int64_t row, int64_t column,
                        mlir::Value buffer) = 0;
};

/// Whether a tensor has a value for each element of the result, and not for
/// each column.
bool isOfElements(dnn::ViewOp view);

/// For the extra tensor behind `view`, whose elements are as the result's.
std::unique_ptr<StoreExtra> makeStoreExtra(Emitter &e, const HopperShape &shape,
                                           dnn::ViewOp view,
                                           mlir::Value pointer,
                                           mlir::Value warp, mlir::Value lane);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_STOREEXTRA_H

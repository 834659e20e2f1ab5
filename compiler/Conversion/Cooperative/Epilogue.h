//===- Epilogue.h - From accumulators to the output tensor -----*- C++ -*--===//
//
// Each lane owns neighbouring elements of the output, so it applies the
// epilogue region, rounds once and stores, without a trip through LDS. Extra
// tensors (bias, residual, the old result) are loaded at the same places.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COOPERATIVE_EPILOGUE_H
#define TESSERA_COMPILER_CONVERSION_COOPERATIVE_EPILOGUE_H

#include "compiler/Conversion/Common/GlobalBuffer.h"
#include "compiler/Conversion/Common/StoreView.h"
#include "compiler/Conversion/Cooperative/TileMma.h"

#include "mlir/IR/IRMapping.h"

namespace tessera {

/// What a store writes, and reads for its epilogue.
struct StoredViews {
  dnn::ViewOp result;
  llvm::ArrayRef<dnn::ViewOp> extras;
  mlir::Region &epilogue; ///< May be empty.
  int64_t rows, columns;  ///< Of the workgroup's tile.
  bool isAtomic;
};

/// What the lowering of a store has at hand.
struct EpilogueInputs {
  /// The accumulators of `mma`, that of fragments (i of m, j of n) at index j *
  /// fragments of m + i.
  llvm::ArrayRef<mlir::Value> accumulators;
  mlir::Value row0;    ///< Of the workgroup's tile,
  mlir::Value column0; ///< in the views.
  /// The buffer of a view, for the workgroup's tile.
  llvm::function_ref<GlobalBuffer(const ViewAccess &)> getBuffer;
  /// What the kernel has for an argument of the source function.
  llvm::function_ref<mlir::Value(mlir::Value)> getArgument;
  /// Takes what would be stored at getPosition() `p` and place `q` along Q of
  /// the product, all neighbours of a lane there in one; memory if it is null.
  llvm::function_ref<void(mlir::Value words, int64_t p, int64_t q)> put = {};
};

void emitEpilogue(Emitter &e, const StoredViews &stored, const TileMma &mma,
                  const EpilogueInputs &inputs);

/// The epilogue's region for one sum, or a vector of them, and what the extra
/// tensors hold for it. `scalars` maps what the region takes from outside.
mlir::Value applyEpilogue(Emitter &e, mlir::Region &region,
                          mlir::ValueRange values,
                          const mlir::IRMapping &scalars);

/// The scalars that the region takes from outside, arguments of the source
/// function or such that are truncated, one for each element of `accumulator`,
/// a type; `getArgument` as in EpilogueInputs.
mlir::IRMapping
mapEpilogueScalars(Emitter &e, mlir::Region &region, mlir::Type accumulator,
                   llvm::function_ref<mlir::Value(mlir::Value)> getArgument);

/// `count` neighbours along P of a view, as a vector of f32: from the lane's
/// first on, `offset` places behind it along Q.
mlir::Value loadNeighbours(Emitter &e, const StoreView &view, int64_t offset,
                           int64_t count);

/// Rounds a vector of f32 and stores it at such a place, where `valid`, which
/// may be null, is true.
void storeNeighbours(Emitter &e, const StoreView &view, mlir::Value value,
                     int64_t offset, mlir::Value valid);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_EPILOGUE_H

//===- SharedMemory.h - Addresses in shared memory -------------*- C++ -*--===//

#ifndef TESSERA_COMPILER_CONVERSION_NVIDIA_SHAREDMEMORY_H
#define TESSERA_COMPILER_CONVERSION_NVIDIA_SHAREDMEMORY_H

#include "compiler/Conversion/Common/Emitter.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace tessera {

/// What swizzled tiles need. A launch asks for as many bytes more, which the
/// rounding may cost.
inline constexpr int64_t kSharedAlignment = 1024;
/// Bytes of a row of a stage, and of a row of a staged result: what the
/// swizzle spans. Narrow tiles of Hopper have 64 or 32.
inline constexpr int64_t kRowBytes = 128;
/// Rows of the result that a warp stores at once.
inline constexpr int64_t kStoreRows = 16;

/// The begin of the shared memory that the launch sizes, rounded up to
/// kSharedAlignment.
struct SharedBase {
  mlir::Value address; ///< i32.
  mlir::Value pointer; ///< !llvm.ptr<3>.
};

SharedBase emitSharedBase(Emitter &e, mlir::gpu::GPUModuleOp module);

/// `pointer` + `bytes` (i32).
mlir::Value addBytes(Emitter &e, mlir::Value pointer, mlir::Value bytes);

/// `pointer` as one of the whole cluster's shared memory, which destinations of
/// copies are named in.
mlir::Value castToCluster(Emitter &e, mlir::Value pointer);

/// Waits for the lanes of a warp, and orders their accesses.
void emitWarpSync(Emitter &e);

/// Bytes from the begin of a staging buffer to its element of `elementBytes` at
/// `row`, `column`: rows of `rowBytes`, whose 16-byte chunks are swizzled by
/// which of eight 128 bytes they are in, as TMA does it.
mlir::Value getStagedOffset(Emitter &e, mlir::Value row, mlir::Value column,
                            int64_t elementBytes, int64_t rowBytes = kRowBytes);

/// For each 8 columns of a staging buffer of f32, or of elements of 8 bits,
/// where the lane's pair of sums is. The row 8 below, of which it has a pair,
/// too, is swizzled alike.
llvm::SmallVector<mlir::Value> getPairOffsets(Emitter &e, mlir::Value lane,
                                              int64_t rowBytes,
                                              int64_t elementBytes);

/// For each 16 columns of a staging buffer of 16-bit elements, where the lane's
/// row of them is for stmatrix and ldmatrix: each takes rows 0 to 15 of 8
/// columns from its lanes, then those of the next 8.
llvm::SmallVector<mlir::Value> getFragmentOffsets(Emitter &e, mlir::Value lane,
                                                  int64_t rowBytes = kRowBytes);

/// What `body` emits runs where `condition` holds.
void emitIf(Emitter &e, mlir::Value condition, llvm::function_ref<void()> body);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_NVIDIA_SHAREDMEMORY_H

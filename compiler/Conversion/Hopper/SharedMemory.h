//===- SharedMemory.h - Addresses in shared memory -------------*- C++ -*-===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_SHAREDMEMORY_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_SHAREDMEMORY_H

#include "compiler/Conversion/Emitter.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace tessera {

/// The begin of the shared memory that the launch sizes, rounded up to what
/// swizzled tiles need.
struct SharedBase {
  mlir::Value address; ///< i32.
  mlir::Value pointer; ///< !llvm.ptr<3>.
};

SharedBase emitSharedBase(Emitter &e, mlir::gpu::GPUModuleOp module);

/// `pointer` + `bytes` (i32).
mlir::Value addBytes(Emitter &e, mlir::Value pointer, mlir::Value bytes);

/// What `body` emits runs where `condition` holds.
void emitIf(Emitter &e, mlir::Value condition, llvm::function_ref<void()> body);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_SHAREDMEMORY_H

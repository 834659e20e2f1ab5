//===- TmaKernel.h - What begins every kernel that copies by TMA -*- C++ -*-==//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_TMAKERNEL_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_TMAKERNEL_H

#include "compiler/Conversion/Hopper/HopperShape.h"
#include "runtime/Base/TensorMap.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/IRMapping.h"

namespace tessera {

/// The frame of a kernel.
struct TmaKernel {
  mlir::gpu::GPUFuncOp function;
  mlir::IRMapping arguments; ///< Of the source, but for what maps describe.
};

/// The frame: tensor maps first, then pointers to what has none, `pointers`,
/// and the scalars, in the order of the source.
TmaKernel createTmaKernel(mlir::func::FuncOp source,
                          llvm::ArrayRef<TensorMap> maps,
                          const llvm::SmallDenseSet<mlir::Value> &pointers,
                          const HopperShape &shape, int64_t workgroups);

/// Who a thread is.
struct TmaThreads {
  mlir::Value thread;
  mlir::Value workgroup; ///< In a cluster, the cluster's number.
  mlir::Value rank;      ///< In the cluster.
  mlir::Value warp;      ///< Of the workgroup; uniform.
  mlir::Value group;     ///< Number of the warpgroup.
  mlir::Value consumer;  ///< Of the consumer; counts for consumers only.
};

TmaThreads emitTmaThreads(Emitter &e, const HopperShape &shape);

/// One thread makes the barriers and fetches the `maps` maps; nobody goes on
/// before. Where that thread makes all copies itself, others wait behind these.
void emitTmaBegin(Emitter &e, const HopperShape &shape,
                  mlir::gpu::GPUFuncOp kernel, size_t maps, mlir::Value thread,
                  llvm::function_ref<void()> initialize);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_TMAKERNEL_H

//===- PointBoxes.h - Boxes and matrices of point programs -----*- C++ -*--===//
//
// dnn.box_load and dnn.box_store are copies of the tensor memory accelerator,
// which a launch describes the tensors to; one thread starts them. Each slot of
// a buffer has a barrier in shared memory, which counts the bytes that come.
//
// The accelerator swizzles a buffer: of an address it changes the bits of the
// 16-byte piece by those of the 128 bytes that it is in (PTX ISA 8.6,
// "Swizzling modes"), as many as a row has pieces for.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_POINTBOXES_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_POINTBOXES_H

#include "compiler/Conversion/Common/Emitter.h"
#include "dialect/IR/Dnn.h"
#include "runtime/Base/TensorMap.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"

namespace tessera {

/// What a point program copies. Lives while its kernel is lowered.
class PointBoxes {
public:
  using Buffers = llvm::SetVector<mlir::Value>;

  /// The copies of `points`, whose buffers get their barriers. Fails after an
  /// error at an op that the chip does not have, that no tensor map can
  /// describe, or that accesses a buffer as if it were other shared memory.
  static mlir::FailureOr<PointBoxes> match(mlir::func::FuncOp function,
                                           dnn::ForEachPointOp points,
                                           const GpuTarget &target);

  bool isEmpty() const { return maps.empty(); }
  llvm::ArrayRef<TensorMap> getMaps() const { return maps; }
  /// Whether boxes come to `shared`, or leave it: it must begin at a multiple
  /// of kSharedAlignment.
  bool isBuffer(mlir::Value shared) const { return buffers.contains(shared); }
  /// Puts `place` where the program says `shared`.
  void replace(mlir::Value shared, mlir::Value place);

  /// Emits what comes before the program: barriers are made, and all threads
  /// wait for that; and, where boxes leave, what comes behind it. All shared
  /// memory must have its place.
  void emitFrame(Emitter &e, mlir::gpu::GPUFuncOp kernel);
  /// Replaces a copy, a wait or an access to matrices; leaves other ops.
  void lower(Emitter &e, mlir::Operation *op);

private:
  /// A tensor's dimensions as a map has them, the innermost first.
  using Order = llvm::SmallVector<unsigned>;
  template <typename OpT>
  mlir::LogicalResult addMap(mlir::func::FuncOp function, OpT op);
  void addBarriers(mlir::Value buffer);
  template <typename OpT>
  llvm::SmallVector<mlir::Value> getCoordinates(Emitter &e, OpT op) const;
  void lowerLoad(Emitter &e, dnn::BoxLoadOp op);
  void lowerStore(Emitter &e, dnn::BoxStoreOp op);
  mlir::Value getBarrier(Emitter &e, mlir::Value buffer, mlir::Value slot);

  llvm::SmallVector<TensorMap> maps;
  /// Of each copy, the number of its map; of loaded buffers, the barriers.
  llvm::DenseMap<mlir::Operation *, unsigned> mapOf;
  llvm::DenseMap<mlir::Operation *, Order> orderOf;
  Buffers buffers;
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> barriers;
  bool hasStores = false;
  mlir::gpu::GPUFuncOp kernel;
  mlir::Value isFirst; ///< Whether this is the thread that copies.
};

/// Whether all threads of a workgroup wait for each other in `op`.
bool isBarrier(mlir::Operation *op);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_POINTBOXES_H

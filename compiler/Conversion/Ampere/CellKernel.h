//===- CellKernel.h - What the kernels of cells have in common -*- C++ -*--===//

#ifndef TESSERA_COMPILER_CONVERSION_AMPERE_CELLKERNEL_H
#define TESSERA_COMPILER_CONVERSION_AMPERE_CELLKERNEL_H

#include "compiler/Conversion/Ampere/CellTile.h"
#include "compiler/Conversion/Common/SizeArguments.h"
#include "compiler/Conversion/Common/StoreView.h"
#include "compiler/Conversion/Cooperative/TileProgram.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tessera {

/// The frame of a kernel that is being written: the workgroup's tile, and who
/// the thread is.
struct CellKernel {
  SizeArguments sizes;
  Emitter e;
  TileProgram &program;
  mlir::gpu::GPUFuncOp function;
  mlir::Value shared; ///< The begin of shared memory.
  mlir::Value thread, warp;
  LanePlace place;
  mlir::Value group, row0; ///< Of the tile, of one column of tiles.
  int64_t threads;

  CellKernel(mlir::OpBuilder &b, TileProgram &program,
             mlir::gpu::GPUFuncOp function, int64_t threads,
             const DeviceOps &device);

  mlir::Value getArgument(mlir::Value source) {
    return function.getArgument(
        mlir::cast<mlir::BlockArgument>(source).getArgNumber());
  }
  /// Of the tensor behind `view`, which may begin at an offset.
  mlir::Value getFirstElement(dnn::ViewOp view);
  mlir::Value getShared(mlir::Value bytes) {
    return mlir::LLVM::GEPOp::create(e.b, e.loc, shared.getType(),
                                     e.b.getI8Type(), shared, bytes);
  }
  /// Copies of the tensor behind `view` to so many bytes of shared memory.
  ImageCopy copyTo(dnn::ViewOp view, mlir::Value bytes) {
    return {thread, threads, getFirstElement(view), getShared(bytes)};
  }
  /// The stored view or one of its extras, along columns from `column` and rows
  /// from `row` of the tile on.
  StoreView viewStored(dnn::ViewOp view, mlir::Value column, mlir::Value row);
};

/// What a kernel takes of the device. Of unknown sizes the number of workgroups
/// is an expression.
struct CellLaunch {
  int64_t workgroups, threads, sharedBytes;
  std::optional<SizeExpr> openWorkgroups;
};

/// Writes the kernel of `program`; `emitBody` fills the frame. Fails after an
/// error at the program unless a workgroup has so much shared memory, or where
/// `emitBody` does.
mlir::LogicalResult
emitCellKernel(TileProgram &program, const DeviceOps &device,
               const CellLaunch &launch,
               llvm::function_ref<mlir::LogicalResult(CellKernel &)> emitBody);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_AMPERE_CELLKERNEL_H

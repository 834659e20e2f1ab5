//===- KernelFunction.h - The frame of a GPU kernel ------------*- C++ -*--===//
//
// What lowering a tile program and lowering a point program have in common: a
// module may hold both, and its kernels are launched in their order.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COMMON_KERNELFUNCTION_H
#define TESSERA_COMPILER_CONVERSION_COMMON_KERNELFUNCTION_H

#include "runtime/Base/GpuTarget.h"
#include "runtime/Base/TensorMap.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace tessera {

/// The chip that `dnn.target` names; null after an error if it names none.
const GpuTarget *getModuleTarget(mlir::ModuleOp module);

/// The gpu.module `kernels`, made on first use. The `dnn.kernel` functions are
/// moved into it first, so that each can be replaced where it stands.
mlir::gpu::GPUModuleOp getKernelModule(mlir::ModuleOp module);

/// An empty kernel before `function` with its name, which takes `inputs`.
mlir::gpu::GPUFuncOp createKernelFrame(mlir::func::FuncOp function,
                                       mlir::ArrayRef<mlir::Type> inputs,
                                       mlir::ArrayRef<mlir::Type> lds,
                                       int64_t threads, int64_t workgroups);

/// The same, which takes what `function` takes: memrefs become pointers
/// that do not alias, scalars stay, and `dnn.arg` is kept; `lds` are its
/// workgroup attributions. In front of these it takes `maps`.
mlir::gpu::GPUFuncOp createKernel(mlir::func::FuncOp function,
                                  mlir::ArrayRef<mlir::Type> lds,
                                  int64_t threads, int64_t workgroups,
                                  mlir::ArrayRef<TensorMap> maps = {});

/// Says that the first arguments of `kernel`, pointers, are `maps`.
void setTensorMaps(mlir::gpu::GPUFuncOp kernel, mlir::ArrayRef<TensorMap> maps);

/// The bytes from the address of a launch to a tensor of unknown place, which
/// is an argument of a function; nothing if its place is known.
std::optional<SizeExpr> getOpenOffset(mlir::Value tensor);
/// Makes it the offset of the tensor's map.
void setOpenOffset(TensorMap &map, mlir::Value tensor);

/// What `function`'s argument `argument` is to the launch, which describes it
/// by a tensor map. Fails after an error where nothing says so.
mlir::FailureOr<KernelArg> getMappedTensor(mlir::func::FuncOp function,
                                           mlir::BlockArgument argument);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COMMON_KERNELFUNCTION_H

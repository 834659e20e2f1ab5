//===- SizeArguments.h - Sizes that are arguments of a kernel --*- C++ -*--===//
//
// A program for unknown sizes reads them by memref.dim. What it computes of
// them and of constants alone is the same for all threads, so that the runtime
// does it: the kernel takes the result, and for a divisor what replaces the
// division by a multiplication (docs/design/0038-sizes-as-arguments.md).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COMMON_SIZEARGUMENTS_H
#define TESSERA_COMPILER_CONVERSION_COMMON_SIZEARGUMENTS_H

#include "compiler/Conversion/Common/Emitter.h"
#include "compiler/Conversion/Common/LinearForm.h"
#include "runtime/Base/SizeExpr.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include "llvm/ADT/StringMap.h"

namespace tessera {

/// The sizes of one kernel. Lives while it is lowered.
class SizeArguments {
public:
  explicit SizeArguments(mlir::func::FuncOp function) : function(function) {}
  virtual ~SizeArguments() = default;

  /// The kernel that gets arguments for what is asked for from now on. They
  /// follow its others.
  void setKernel(mlir::gpu::GPUFuncOp gpuFunction) { kernel = gpuFunction; }

  /// Whether a tensor of the function has an unknown size.
  bool areUnknown() const;

  /// `value`, an index, as an expression; nothing if it is made of anything but
  /// constants and sizes of the function's arguments.
  std::optional<SizeExpr> getExpr(mlir::Value value) const;
  /// Whether attributes that say what sizes are made of are expressions, one
  /// for each dimension of their argument.
  llvm::LogicalResult check() const;
  /// The size of each dimension of an argument of the function, and its
  /// strides.
  llvm::SmallVector<SizeExpr> getSizes(mlir::BlockArgument argument) const;
  llvm::SmallVector<SizeExpr> getStrides(mlir::BlockArgument argument) const;

  /// The value as an i32 or an i64.
  virtual mlir::Value emit(Emitter &e, const SizeExpr &size);
  mlir::Value emitWide(Emitter &e, const SizeExpr &size);
  /// Of an i32 below 2^31.
  virtual mlir::Value emitQuotient(Emitter &e, mlir::Value value,
                                   const SizeExpr &by);
  virtual mlir::Value emitRemainder(Emitter &e, mlir::Value value,
                                    const SizeExpr &by);

  /// Replaces what the kernel computes of sizes by arguments, and divisions by
  /// them by multiplications. Adds what is known of the arguments to `known`.
  void replaceSizes(Emitter &e, KnownRanges &known);

private:
  mlir::Value getArgument(KernelArg kind, const SizeExpr &size);
  mlir::Value getShared(Emitter &e, const std::string &name,
                        llvm::function_ref<mlir::Value()> make);

  mlir::func::FuncOp function;
  mlir::gpu::GPUFuncOp kernel;
  llvm::StringMap<mlir::Value> arguments;
  llvm::StringMap<mlir::Value> shared; ///< Made at the kernel's begin.
  mlir::Operation *lastShared = nullptr;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COMMON_SIZEARGUMENTS_H

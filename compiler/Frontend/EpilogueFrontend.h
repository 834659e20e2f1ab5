//===- EpilogueFrontend.h - A problem's epilogue as a region ---*- C++ -*--===//

#ifndef TESSERA_COMPILER_FRONTEND_EPILOGUEFRONTEND_H
#define TESSERA_COMPILER_FRONTEND_EPILOGUEFRONTEND_H

#include "runtime/Base/ConvProblem.h"
#include "runtime/Base/Kernel.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tessera {

/// The arguments that a kernel has for `epilogue`, in their order: tensors,
/// then scalars.
llvm::SmallVector<KernelArg> getEpilogueArgs(const Epilogue &epilogue);

/// Builds the epilogue of docs/spec/convolution.md. `accumulator` and the
/// values that `find` returns for tensors have one type, f32 or f64. For the
/// tensor Y `find` returns the old result, and for a scalar its value in f64.
mlir::Value buildEpilogue(mlir::OpBuilder &builder, mlir::Location loc,
                          const Epilogue &epilogue, mlir::Value accumulator,
                          llvm::function_ref<mlir::Value(KernelArg)> find);

} // namespace tessera

#endif // TESSERA_COMPILER_FRONTEND_EPILOGUEFRONTEND_H

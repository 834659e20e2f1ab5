//===- EpilogueFrontend.h - A problem's epilogue as a region ---*- C++ -*-===//

#ifndef TESSERA_COMPILER_FRONTEND_EPILOGUEFRONTEND_H
#define TESSERA_COMPILER_FRONTEND_EPILOGUEFRONTEND_H

#include "runtime/Base/ConvProblem.h"
#include "runtime/Base/Kernel.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tessera {

/// The arguments that a kernel has for `epilogue`, in order: tensors, then
/// scalars.
llvm::SmallVector<KernelArg> getEpilogueArgs(const Epilogue &epilogue);

/// The epilogue of docs/spec/convolution.md. `sum` and what `find` gives for a
/// tensor are of one type, f32 or f64; for the tensor Y, `find` gives the old
/// result, and for a scalar its f64.
mlir::Value buildEpilogue(mlir::OpBuilder &builder, mlir::Location loc,
                          const Epilogue &epilogue, mlir::Value sum,
                          llvm::function_ref<mlir::Value(KernelArg)> find);

} // namespace tessera

#endif // TESSERA_COMPILER_FRONTEND_EPILOGUEFRONTEND_H

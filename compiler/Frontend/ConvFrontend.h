//===- ConvFrontend.h - A convolution problem as a module ------*- C++ -*--===//
//
// The first stage of the compiler, which turns a problem into IR.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_FRONTEND_CONVFRONTEND_H
#define TESSERA_COMPILER_FRONTEND_CONVFRONTEND_H

#include "runtime/Base/Problem.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlir {
class MLIRContext;
class ModuleOp;
} // namespace mlir

namespace tessera {

/// Builds a module with one kernel function at stage `dnn`, named `symbol`.
/// Loads the dialects that it needs into `context`. The result is not verified:
/// a problem that ConvProblem::verify() rejects, or a data type that dnn.conv
/// does not support, gives a module that mlir::verify() rejects.
mlir::OwningOpRef<mlir::ModuleOp> buildConvModule(mlir::MLIRContext &context,
                                                  const ConvProblem &problem,
                                                  llvm::StringRef symbol);

} // namespace tessera

#endif // TESSERA_COMPILER_FRONTEND_CONVFRONTEND_H

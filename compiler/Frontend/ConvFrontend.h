//===- ConvFrontend.h - A convolution problem as a module ------*- C++ -*-===//
//
// The first stage of the compiler: from here on, everything is IR.
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

/// A module with one kernel function at stage `dnn`, named `symbol`. Loads the
/// dialects that it needs into `context`. The result is not verified: a
/// problem that Status ConvProblem::verify() refuses, or a data type that
/// dnn.conv lacks, gives a module that mlir::verify() refuses.
mlir::OwningOpRef<mlir::ModuleOp> buildConvModule(mlir::MLIRContext &context,
                                                  const ConvProblem &problem,
                                                  llvm::StringRef symbol);

} // namespace tessera

#endif // TESSERA_COMPILER_FRONTEND_CONVFRONTEND_H

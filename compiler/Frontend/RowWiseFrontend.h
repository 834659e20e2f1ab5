//===- RowWiseFrontend.h - A row-wise problem as a module ------*- C++ -*--===//

#ifndef TESSERA_COMPILER_FRONTEND_ROWWISEFRONTEND_H
#define TESSERA_COMPILER_FRONTEND_ROWWISEFRONTEND_H

#include "dialect/IR/Dnn.h"
#include "runtime/Base/Problem.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tessera {

/// The function attribute in which buildRowWiseModule() saves the network
/// config, which the regions do not tell.
inline constexpr llvm::StringLiteral kProblemAttrName = "dnn.problem";

/// Does for a row-wise operation what buildConvModule() does for a convolution.
/// Fails with InvalidArgument if the tensors are not those of the operation,
/// and with NotSupported if the operation has no formula for their types.
ErrorOr<mlir::OwningOpRef<mlir::ModuleOp>>
buildRowWiseModule(mlir::MLIRContext &context, const RowWiseProblem &problem,
                   llvm::StringRef symbol);

/// The kinds of each reduction of an operation, in their order; empty if
/// buildRowWiseModule() would fail.
llvm::SmallVector<llvm::SmallVector<dnn::ReduceKind>>
getReductions(const RowWiseProblem &problem);

} // namespace tessera

#endif // TESSERA_COMPILER_FRONTEND_ROWWISEFRONTEND_H

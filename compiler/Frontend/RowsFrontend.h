//===- RowsFrontend.h - A row-wise problem as a module ---------*- C++ -*-===//

#ifndef TESSERA_COMPILER_FRONTEND_ROWSFRONTEND_H
#define TESSERA_COMPILER_FRONTEND_ROWSFRONTEND_H

#include "dialect/IR/Dnn.h"
#include "runtime/Base/Problem.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tessera {

/// The function attribute in which buildRowsModule() saves the network config,
/// which the regions do not tell.
inline constexpr llvm::StringLiteral kProblemAttrName = "dnn.problem";

/// Does for a row-wise operation what buildConvModule() does for a convolution.
/// Fails with InvalidArgument if the tensors are not those of the operation,
/// and with NotSupported if the operation has no formula for their types.
ErrorOr<mlir::OwningOpRef<mlir::ModuleOp>>
buildRowsModule(mlir::MLIRContext &context, const RowProblem &problem,
                llvm::StringRef symbol);

/// The kinds of each reduction of an operation, in their order; empty if
/// buildRowsModule() would fail.
llvm::SmallVector<llvm::SmallVector<dnn::ReduceKind>>
getReductions(const RowProblem &problem);

} // namespace tessera

#endif // TESSERA_COMPILER_FRONTEND_ROWSFRONTEND_H

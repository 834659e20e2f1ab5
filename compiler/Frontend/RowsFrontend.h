//===- RowsFrontend.h - A row problem as a module --------------*- C++ -*-===//

#ifndef TESSERA_COMPILER_FRONTEND_ROWSFRONTEND_H
#define TESSERA_COMPILER_FRONTEND_ROWSFRONTEND_H

#include "dialect/IR/Dnn.h"
#include "runtime/Base/Problem.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tessera {

/// The attribute of a function in which buildRowsModule() notes the network
/// config: from regions nobody could tell.
inline constexpr llvm::StringLiteral kProblemAttrName = "dnn.problem";

/// As buildConvModule(); formulas are in Rows/. InvalidArgument if the tensors
/// are not those of the operation, NotSupported if the operation has no formula
/// for their types.
ErrorOr<mlir::OwningOpRef<mlir::ModuleOp>>
buildRowsModule(mlir::MLIRContext &context, const RowProblem &problem,
                llvm::StringRef symbol);

/// The reductions that a row goes through one after the other, with the kinds
/// of each; none where buildRowsModule() would fail.
llvm::SmallVector<llvm::SmallVector<dnn::ReduceKind>>
getReductions(const RowProblem &problem);

} // namespace tessera

#endif // TESSERA_COMPILER_FRONTEND_ROWSFRONTEND_H

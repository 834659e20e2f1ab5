//===- PoolFrontend.h - A pooling problem as a module ----------*- C++ -*-===//

#ifndef TESSERA_COMPILER_FRONTEND_POOLFRONTEND_H
#define TESSERA_COMPILER_FRONTEND_POOLFRONTEND_H

#include "dialect/IR/Dnn.h"
#include "runtime/Base/Problem.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tessera {

/// The stride that a strided memref is given along a dimension of one element,
/// where a problem's means nothing: every length of a vector divides it.
inline constexpr int64_t kNoStride = 16;

dnn::PoolMode getPoolMode(PoolMode mode);
dnn::IndexMode getIndexMode(IndexMode mode);

/// As buildConvModule(). The arguments are x, y and, where there are any, the
/// indices.
mlir::OwningOpRef<mlir::ModuleOp> buildPoolModule(mlir::MLIRContext &context,
                                                  const PoolProblem &problem,
                                                  llvm::StringRef symbol);

} // namespace tessera

#endif // TESSERA_COMPILER_FRONTEND_POOLFRONTEND_H

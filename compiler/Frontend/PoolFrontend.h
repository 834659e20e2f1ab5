//===- PoolFrontend.h - A pooling problem as a module ----------*- C++ -*--===//

#ifndef TESSERA_COMPILER_FRONTEND_POOLFRONTEND_H
#define TESSERA_COMPILER_FRONTEND_POOLFRONTEND_H

#include "dialect/IR/Dnn.h"
#include "runtime/Base/Problem.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tessera {

/// The stride that a strided memref has along a dimension of one element, where
/// the problem's stride has no meaning. It is a multiple of every vector
/// length, so that it never prevents vector accesses.
inline constexpr int64_t kNoStride = 16;

dnn::PoolMode getPoolMode(PoolMode mode);
dnn::IndexMode getIndexMode(IndexMode mode);

/// Does for a pooling what buildConvModule() does for a convolution. The
/// arguments are x, y and, if there are any, the indices.
mlir::OwningOpRef<mlir::ModuleOp> buildPoolModule(mlir::MLIRContext &context,
                                                  const PoolProblem &problem,
                                                  llvm::StringRef symbol);

} // namespace tessera

#endif // TESSERA_COMPILER_FRONTEND_POOLFRONTEND_H

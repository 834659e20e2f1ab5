//===- TransposeKernel.h - Launches that convert tensors -------*- C++ -*--===//

#ifndef TESSERA_COMPILER_ALGORITHMS_CONVERTED_TRANSPOSEKERNEL_H
#define TESSERA_COMPILER_ALGORITHMS_CONVERTED_TRANSPOSEKERNEL_H

#include "compiler/Algorithms/Converted/ElementSplit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace tessera {

/// A batch of matrices in memory, each packed by rows.
struct Matrices {
  llvm::SmallVector<int64_t, 2> batch;
  int64_t rows, columns;
};

/// Writes the body of `kernel`: `target`, [batch, columns, rows], becomes the
/// transposed matrices of `source`, [batch, rows, columns]. Both are memref
/// arguments of `kernel` of any shape with as many elements, packed; their
/// types become the matrices'. With `split`, `target` gets all copies of the
/// elements; `matrices` have one dimension of batch.
void emitTranspose(mlir::func::FuncOp kernel, mlir::BlockArgument source,
                   mlir::BlockArgument target, const Matrices &matrices,
                   const std::optional<ElementSplit> &split = std::nullopt);

/// Writes the body of `kernel`: `target`, whose last dimension is the channels
/// unless the split is outer, gets all copies of the elements of `source`,
/// which have the same order. Both are packed memref arguments.
void emitSplit(mlir::func::FuncOp kernel, mlir::BlockArgument source,
               mlir::BlockArgument target, const ElementSplit &split);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_CONVERTED_TRANSPOSEKERNEL_H

//===- TransposeKernel.h - A launch that transposes matrices ---*- C++ -*--===//

#ifndef TESSERA_COMPILER_ALGORITHMS_CONVERTED_TRANSPOSEKERNEL_H
#define TESSERA_COMPILER_ALGORITHMS_CONVERTED_TRANSPOSEKERNEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera {

/// A batch of matrices in memory, each packed by rows.
struct Matrices {
  int64_t batch, rows, columns;
};

/// Writes the body of `kernel`: `target`, [batch, columns, rows], becomes the
/// transposed matrices of `source`, [batch, rows, columns]. Both are memref
/// arguments of `kernel` of any shape with as many elements, packed; their
/// types become the matrices'.
void emitTranspose(mlir::func::FuncOp kernel, mlir::BlockArgument source,
                   mlir::BlockArgument target, const Matrices &matrices);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_CONVERTED_TRANSPOSEKERNEL_H

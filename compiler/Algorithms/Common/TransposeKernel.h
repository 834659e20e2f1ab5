//===- TransposeKernel.h - A launch that transposes matrices ---*- C++ -*--===//

#ifndef TESSERA_COMPILER_ALGORITHMS_COMMON_TRANSPOSEKERNEL_H
#define TESSERA_COMPILER_ALGORITHMS_COMMON_TRANSPOSEKERNEL_H

#include "runtime/Base/SizeExpr.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera {

/// A batch of matrices in memory, each packed by rows; numbers, or expressions
/// of sizes that are unknown. A known number of them may be `interleaved` row
/// by row, as those of a filter's taps are.
struct Matrices {
  SizeExpr batch, rows, columns;
  int64_t interleaved = 1;

  /// Whether the transposed ones are the same memory.
  bool isSameTransposed() const {
    return interleaved == 1 && (rows == SizeExpr(1) || columns == SizeExpr(1));
  }
};

/// `target`, [batch, columns, rows], becomes the transposed matrices of
/// `source`, [batch, rows, columns], converted to its own type of elements.
/// Both are memref arguments of one kernel, of any shape with as many elements,
/// packed; their types become the matrices', or flat where both are the same in
/// memory. Interleaved ones are [batch, rows, interleaved, columns], and so is
/// what they become.
struct Transposition {
  mlir::BlockArgument source, target;
  Matrices matrices;
};

/// Writes the body of `kernel`.
void emitTranspose(mlir::func::FuncOp kernel, const Transposition &job);

/// Writes the body of `kernel` for two tensors whose sources have one type. The
/// workgroups of `first` begin first: it is to be the shorter one.
void emitTransposes(mlir::func::FuncOp kernel, const Transposition &first,
                    const Transposition &second);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_COMMON_TRANSPOSEKERNEL_H

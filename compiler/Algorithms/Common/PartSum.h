//===- PartSum.h - The sum of the parts of a split reduction ---*- C++ -*-===//
//
// A reduction that is too long for the few elements it ends in is split: the
// first launch writes each part to a workspace, and the second, in the same
// code object, adds them in a fixed order. So every run gives the same bits,
// which atomics do not: they add to one result, which a launch before them
// sets to zero.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_PARTSUM_H
#define TESSERA_COMPILER_ALGORITHMS_PARTSUM_H

#include "compiler/Algorithms/Common/ConvProgram.h"

namespace tessera {

/// Gives the function of `conv` a workspace for `parts` results, the last of
/// its arguments: memref<parts x shape of the result>, packed, of the type of
/// the sums. Of another shape for who sums the parts itself.
mlir::Value addPartsWorkspace(dnn::ConvOp conv, int64_t parts);
mlir::Value addPartsWorkspace(dnn::ConvOp conv, llvm::ArrayRef<int64_t> shape);

/// An empty kernel that is launched after (before) that of `conv`, with the same
/// arguments.
mlir::func::FuncOp appendKernel(dnn::ConvOp conv, llvm::StringRef suffix);
mlir::func::FuncOp prependKernel(dnn::ConvOp conv, llvm::StringRef suffix);

/// Appends the kernel that sums the parts: it applies the convolution's
/// epilogue and stores the result. To be called before `conv` is erased.
void buildPartSum(dnn::ConvOp conv, mlir::Value workspace);

/// How often a thread of that kernel waits for memory, of a packed result of
/// `elements`; for models.
int64_t countSumTurns(int64_t elements, int64_t parts);

/// Puts a kernel before that of `conv` that sets `tensor`, an argument of its
/// function, to zero.
void buildZeros(dnn::ConvOp conv, mlir::Value tensor);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_PARTSUM_H

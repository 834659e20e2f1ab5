//===- SplitReduction.h - The launch that adds partial results -*- C++ -*--===//
//
// Split-K: a reduction that is too long for the few elements it ends in is
// split. The first launch writes the partial result of each split to a
// workspace, and the second one, in the same code object, adds them in a fixed
// order, so every run gives the same bits. Atomics do not: they add to one
// result, which an earlier launch sets to zero.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_COMMON_SPLITREDUCTION_H
#define TESSERA_COMPILER_ALGORITHMS_COMMON_SPLITREDUCTION_H

#include "compiler/Algorithms/Common/ConvProgram.h"

namespace tessera {

/// Appends a workspace for `splits` partial results to the arguments of the
/// function of `conv`: a packed memref<splits x shape of the result> of the
/// type of the accumulators; the result may have an unknown size. The
/// dimensions of the result may be in another order, that of `layout`, and
/// callers that add partial results themselves may give another `shape`.
mlir::Value addSplitsWorkspace(dnn::ConvOp conv, int64_t splits);
mlir::Value addSplitsWorkspace(dnn::ConvOp conv, int64_t splits,
                               dnn::Layout layout);
mlir::Value addSplitsWorkspace(dnn::ConvOp conv, llvm::ArrayRef<int64_t> shape);
/// The same for a tensor of `element`.
mlir::Value addTensorWorkspace(dnn::ConvOp conv, llvm::ArrayRef<int64_t> shape,
                               mlir::Type element);

/// Creates an empty kernel that is launched after (before) that of `conv` and
/// has the same arguments.
mlir::func::FuncOp appendKernel(dnn::ConvOp conv, llvm::StringRef suffix);
mlir::func::FuncOp prependKernel(dnn::ConvOp conv, llvm::StringRef suffix);

/// Appends the kernel that adds the partial results, applies the epilogue of
/// `conv` and stores the result. Must be called before `conv` is erased.
/// `layout` is that of the partial results, if it is not that of the result.
void buildSplitReduction(dnn::ConvOp conv, mlir::Value workspace);
void buildSplitReduction(dnn::ConvOp conv, mlir::Value workspace,
                         dnn::Layout layout);

/// How often a thread of that kernel waits for memory if it adds a packed
/// result of `elements`; for cost models.
int64_t countSumPasses(int64_t elements, int64_t splits);

/// Prepends a kernel that sets `tensor`, an argument of the function of `conv`,
/// to zero.
void buildZeros(dnn::ConvOp conv, mlir::Value tensor);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_COMMON_SPLITREDUCTION_H

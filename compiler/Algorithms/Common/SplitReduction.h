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

/// The order of the dimensions of a partial result.
enum class PartialOrder {
  Result,       ///< That of the result.
  ChannelsLast, ///< Of a result with channels first: its channels last.
  FirstLast,    ///< The result's first dimension last.
};

/// The dimension of the result that such an order has last, if it moves one.
std::optional<int64_t> getMovedDim(dnn::ConvOp conv, PartialOrder order);

/// Appends a workspace for `splits` partial results to the arguments of the
/// function of `conv`: a packed memref<splits x shape of the result> of the
/// type of the accumulators; the result may have an unknown size. Callers that
/// add partial results themselves may give another `shape`.
mlir::Value addSplitsWorkspace(dnn::ConvOp conv, int64_t splits,
                               PartialOrder order = PartialOrder::Result);
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
/// `order`: as the workspace was made. `used`: the number of partial results
/// that there are, where sizes decide it; else all that the workspace has.
void buildSplitReduction(dnn::ConvOp conv, mlir::Value workspace,
                         PartialOrder order = PartialOrder::Result,
                         const SizeExpr &used = {});

/// The neighbours of a result that a thread of that kernel stores at once where
/// the result's first dimension is the workspace's last.
int64_t countStoredSums(mlir::MemRefType result);

/// How often a thread of that kernel waits for memory if it adds a packed
/// result of `elements`; for cost models.
int64_t countSumPasses(int64_t elements, int64_t splits);

/// Prepends a kernel that sets `tensor`, an argument of the function of `conv`,
/// to zero.
void buildZeros(dnn::ConvOp conv, mlir::Value tensor);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_COMMON_SPLITREDUCTION_H

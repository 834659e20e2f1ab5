//===- ConvertedTensor.h - A tensor's copy in the workspace ----*- C++ -*--===//

#ifndef TESSERA_COMPILER_ALGORITHMS_CONVERTED_CONVERTEDTENSOR_H
#define TESSERA_COMPILER_ALGORITHMS_CONVERTED_CONVERTEDTENSOR_H

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Common/TransposeKernel.h"
#include "dialect/IR/Dnn.h"

#include <optional>

namespace tessera {

/// A tensor of a convolution that is computed with channels last, and with
/// elements of `element`. If that is other memory than what is given, a copy in
/// the workspace replaces it. `hasOutputsLast` is for a filter with channels
/// first: the copy has output channels last, those of all groups, behind its
/// input channels and taps.
class ConvertedTensor {
public:
  ConvertedTensor(dnn::ConvOp conv, mlir::OpOperand &operand,
                  dnn::Layout layout, mlir::Type element,
                  mlir::StringRef suffix, bool hasOutputsLast = false);

  /// Moves the copy behind `bytes` of the workspace, and `bytes` behind it. The
  /// second is for `bytes` that are unknown, or become so.
  void allocate(int64_t &bytes);
  void allocateOpen(SizeExpr &bytes);
  /// The bytes of the whole workspace, if they are unknown.
  void setWorkspace(const SizeExpr &bytes);

  /// Whether the copy has an unknown size.
  bool isOpen() const { return !packed.hasStaticShape(); }
  /// Sizes that are unknown are taken to be large.
  bool isShorter(const ConvertedTensor &other) const {
    return !isOpen() && (other.isOpen() || packed.getNumElements() <
                                               other.packed.getNumElements());
  }
  bool hasCopy() const { return workspace.has_value(); }
  bool isResult() const { return isTheResult; }
  llvm::StringRef getSuffix() const { return suffix; }
  /// What makes the copy or, of the result, the tensor of the copy, in
  /// `kernel`, whose arguments are those of the function of the convolution.
  Transposition getTransposition(mlir::func::FuncOp kernel) const;

private:
  void setMemory(mlir::Value argument) const;

  mlir::func::FuncOp function;
  bool isTheResult;
  mlir::StringRef suffix;
  unsigned original;                 ///< Its argument.
  std::optional<unsigned> workspace; ///< The argument of the copy.
  Matrices matrices;                 ///< As it is given.
  mlir::MemRefType packed;           ///< The copy, in the order of NHWC.
  llvm::SmallVector<SizeExpr> sizes; ///< Its sizes.
};

/// Fails with an error if a tensor of `conv` is not packed, or if a result that
/// has to be transposed, unless `keepsResult`, adds a tensor of its own shape.
/// `name` is that of the algorithm.
mlir::LogicalResult checkConverted(dnn::ConvOp conv, mlir::StringRef name,
                                   bool keepsResult = false);

/// Puts `tensors` behind the workspace of `inner`, builds its program on their
/// copies, and the launches around it.
mlir::LogicalResult buildAround(dnn::ConvOp conv,
                                mlir::MutableArrayRef<ConvertedTensor> tensors,
                                const Algorithm &inner, const TileConfig &tile,
                                const GpuTarget &target);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_CONVERTED_CONVERTEDTENSOR_H

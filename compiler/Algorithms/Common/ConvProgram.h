//===- ConvProgram.h - A convolution as a point program reads it -*- C++ -*-=//
//
// Names the dimensions of tensors by meaning instead of by layout, so that a
// program is written once for every order of the dimensions. Also emits what
// follows the reduction: the epilogue and the store.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_COMMON_CONVPROGRAM_H
#define TESSERA_COMPILER_ALGORITHMS_COMMON_CONVPROGRAM_H

#include "compiler/Algorithms/Common/PointBuilder.h"
#include "runtime/Base/SizeExpr.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera {

/// A tensor of a convolution.
struct ConvTensor {
  mlir::Value memory;
  dnn::Layout layout;

  mlir::MemRefType getType() const {
    return mlir::cast<mlir::MemRefType>(memory.getType());
  }
  mlir::Type getElementType() const { return getType().getElementType(); }
  int64_t getNumSpatial() const { return getType().getRank() - 2; }

  // Dimensions of the memref.
  int64_t getOuterDim() const { return 0; }
  int64_t getChannelDim() const {
    return layout == dnn::Layout::NCHW ? 1 : getType().getRank() - 1;
  }
  int64_t getSpatialDim(int64_t i) const {
    return layout == dnn::Layout::NCHW ? 2 + i : 1 + i;
  }
  int64_t getSpatialSize(int64_t i) const {
    return getType().getDimSize(getSpatialDim(i));
  }

  /// Whether channels are closer together in memory than columns.
  bool hasChannelsInnermost() const;

  /// The coordinates in the order of the memref.
  PointBuilder::Values order(mlir::Value outer, mlir::Value channel,
                             mlir::ValueRange spatial) const;
};

/// What a program needs to know of a dnn.conv. Plain data over the op.
class ConvProgram {
public:
  explicit ConvProgram(dnn::ConvOp conv);

  dnn::ConvOp getConv() const { return conv; }
  bool hasDirection(dnn::ConvDirection direction) const {
    return getConv().getDirection() == direction;
  }
  /// The arguments of the function that the op is in.
  mlir::ValueRange getArguments() const {
    return getConv()->getBlock()->getArguments();
  }

  dnn::ConvDims dims;
  ConvTensor x, w, y;
  // One entry for each spatial dimension, the outermost first.
  llvm::SmallVector<int64_t> filter, pads, strides, dilations;

  const ConvTensor &getResult() const;
  int64_t getInputsPerGroup() const { return dims.c / dims.groups; }
  int64_t getOutputsPerGroup() const { return dims.k / dims.groups; }

  /// The type of accumulators: i32 for i8, f64 for f64, else f32.
  mlir::Type getAccType() const;

private:
  dnn::ConvOp conv;
};

/// Whether the elements of a tensor lie together in the order of its
/// dimensions, at any offset.
bool hasPackedStrides(mlir::MemRefType type);

/// Gives an argument of a kernel function another type, and returns it. Callers
/// do not notice, because a kernel receives only the address.
mlir::Value setArgumentType(mlir::Value argument, mlir::MemRefType type);

/// Gives an argument of a kernel function another shape, packed, behind the
/// same offset.
mlir::Value reshapeArgument(mlir::Value argument,
                            llvm::ArrayRef<int64_t> shape);

/// The same where sizes may be unknown: expressions of those of the problem's
/// tensors. The offset must be 0 then.
mlir::Value reshapeOpen(mlir::Value argument, llvm::ArrayRef<SizeExpr> shape);

/// The sizes of the type of an argument of a kernel function.
llvm::SmallVector<SizeExpr> getArgumentSizes(mlir::Value argument);

/// Gives a packed argument of a kernel function a one-dimensional type.
mlir::Value flattenArgument(mlir::Value argument);

/// Stores what the epilogue makes of `accumulators`: a block of the result that
/// begins at `coordinates`, which are in the order of its memref, and extends
/// along `dim`. The code may be emitted into the kernel function of `conv` or
/// into another one with the same arguments; `arguments` are those of the
/// function that is being written.
void emitResult(PointBuilder &p, const ConvProgram &program,
                mlir::Value accumulators, int64_t dim,
                mlir::ValueRange coordinates, mlir::ValueRange arguments);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_COMMON_CONVPROGRAM_H

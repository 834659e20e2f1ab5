//===- Dnn.h - The dnn dialect, its attributes and ops ---------*- C++ -*--===//
//
// The header that users of the dialect include.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_DNN_H
#define TESSERA_DIALECT_IR_DNN_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <array>

#include "dialect/IR/DnnDialect.h.inc"
#include "dialect/IR/DnnEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/IR/DnnAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/IR/DnnTypes.h.inc"

namespace tessera::dnn {

/// The unit attribute of a function that becomes one kernel.
inline constexpr llvm::StringLiteral kKernelAttrName = "dnn.kernel";

/// The string attribute of a module with the name of its chip, such as
/// "gfx942", from stage `tiled` on.
inline constexpr llvm::StringLiteral kTargetAttrName = "dnn.target";

/// The string attribute of a kernel function's argument with its kind: one of
/// the names in runtime/Base/KernelArg.h, such as "x", "workspace" or "alpha";
/// of a gpu.func's argument also "size=EXPRESSION" or "divisor=EXPRESSION".
inline constexpr llvm::StringLiteral kArgAttrName = "dnn.arg";

/// The i64 attribute of a workspace argument with its size in bytes; or the
/// same as an expression of sizes (runtime/Base/SizeExpr.h), a string.
inline constexpr llvm::StringLiteral kBytesAttrName = "dnn.bytes";

/// The string attribute of an argument whose tensor begins some bytes behind
/// the address that the launch is given: their number as an expression.
inline constexpr llvm::StringLiteral kOffsetAttrName = "dnn.offset";

/// The attribute of an argument whose unknown sizes are not those of the tensor
/// that its kind names: the expressions of all of its sizes.
inline constexpr llvm::StringLiteral kSizesAttrName = "dnn.sizes";

/// The string attribute of a gpu.func with the number of its workgroups as an
/// expression of sizes (runtime/Base/SizeExpr.h), in place of known_grid_size.
inline constexpr llvm::StringLiteral kWorkgroupsAttrName = "dnn.workgroups";

/// The attribute of a gpu.func with the texts of its tensor maps
/// (runtime/Base/TensorMap.h). These are its first arguments, before those with
/// kArgAttrName.
inline constexpr llvm::StringLiteral kTensorMapsAttrName = "dnn.tensor_maps";

/// The i64 attribute of a gpu.func with the bytes of dynamic shared memory that
/// its launch must request.
inline constexpr llvm::StringLiteral kSharedBytesAttrName = "dnn.shared_bytes";

/// The unit attribute of a gpu.func that waits by itself for the preceding
/// launch (programmatic dependent launch).
inline constexpr llvm::StringLiteral kDependentAttrName = "dnn.dependent";

/// On a point program: it is short, so that as the first launch of a call, too,
/// it gains by beginning while the launch in front ends, although its loads are
/// then not those of constants.
inline constexpr llvm::StringLiteral kBeginsEarlyAttrName = "dnn.begins_early";

/// The trait of the ops of stage `dnn`; see Dnn_Primitive in Dnn.td.
template <typename ConcreteOp>
class Primitive : public mlir::OpTrait::TraitBase<ConcreteOp, Primitive> {};

/// The sizes of a convolution, which do not depend on layouts. Plain data. In
/// 2-D d, z and dOut are 1, and depth has padding 0, stride 1 and dilation 1.
struct ConvDims {
  int64_t n;    ///< Images of the batch.
  int64_t c;    ///< Input channels of all groups together.
  int64_t d;    ///< Input depth.
  int64_t h;    ///< Input height.
  int64_t w;    ///< Input width.
  int64_t k;    ///< Output channels of all groups together.
  int64_t z;    ///< Filter depth.
  int64_t y;    ///< Filter height.
  int64_t x;    ///< Filter width.
  int64_t dOut; ///< Output depth.
  int64_t ho;   ///< Output height.
  int64_t wo;   ///< Output width.
  int64_t groups;
  int64_t padD; ///< Before the first element, as padH and padW.
  int64_t padH;
  int64_t padW;
  int64_t padAfterD; ///< After the last element.
  int64_t padAfterH;
  int64_t padAfterW;
  int64_t strideD;
  int64_t strideH;
  int64_t strideW;
  int64_t dilationD;
  int64_t dilationH;
  int64_t dilationW;
};

/// The sizes of a pooling, which do not depend on layouts. Plain data. Spatial
/// arrays are in the order depth, height, width. In 2-D depth has size 1,
/// window 1, padding 0 and stride 1.
struct PoolDims {
  int64_t n; ///< Images of the batch.
  int64_t c; ///< Channels.
  std::array<int64_t, 3> in;
  std::array<int64_t, 3> out;
  std::array<int64_t, 3> window;
  std::array<int64_t, 3> pads; ///< Before the first element.
  std::array<int64_t, 3> padsAfter;
  std::array<int64_t, 3> strides;
};

/// Returns the dimension along which vectors of neighbouring elements of `type`
/// are: the last one of stride 1 with more than one element, or else the first
/// one of stride 1. Returns -1 if no dimension has stride 1.
int64_t getVectorDim(mlir::MemRefType type);

} // namespace tessera::dnn

#define GET_OP_CLASSES
#include "dialect/IR/DnnConvOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/IR/DnnPoolOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/IR/DnnRowWiseOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/IR/DnnPointOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/IR/DnnBoxOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/IR/DnnTileOps.h.inc"

#endif // TESSERA_DIALECT_IR_DNN_H

//===- Dnn.h - The dnn dialect, its attributes and ops ---------*- C++ -*-===//
//
// The one header that users of the dialect include.
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

/// Name of the unit attribute of a function that becomes one kernel.
inline constexpr llvm::StringLiteral kKernelAttrName = "dnn.kernel";

/// Name of the string attribute of the module that names the chip, from stage
/// `tiled` on: "gfx942".
inline constexpr llvm::StringLiteral kTargetAttrName = "dnn.target";

/// Name of the string attribute of a kernel function's argument that says what
/// it is: the names of runtime/Base/Kernel.h, "x", "workspace", "alpha".
inline constexpr llvm::StringLiteral kArgAttrName = "dnn.arg";

/// Name of the i64 attribute beside it that gives the bytes of a workspace.
inline constexpr llvm::StringLiteral kBytesAttrName = "dnn.bytes";

/// Name of the attribute of a gpu.func that lists the texts of its tensor maps
/// (runtime/Base/TensorMap.h): its first arguments, before those of
/// kArgAttrName.
inline constexpr llvm::StringLiteral kTensorMapsAttrName = "dnn.tensor_maps";

/// Name of the i64 attribute of a gpu.func with the bytes of shared memory that
/// its launch must ask for.
inline constexpr llvm::StringLiteral kSharedBytesAttrName = "dnn.shared_bytes";

/// Name of the unit attribute of a gpu.func that waits by itself for the launch
/// in front of its own.
inline constexpr llvm::StringLiteral kDependentAttrName = "dnn.dependent";

/// See Dnn_Primitive.
template <typename ConcreteOp>
class Primitive : public mlir::OpTrait::TraitBase<ConcreteOp, Primitive> {};

/// A convolution in logical terms, whatever the layouts. Plain data. Without
/// depth, d, z and dOut are 1 and depth has a neutral window.
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
  int64_t padD;
  int64_t padH;
  int64_t padW;
  int64_t strideD;
  int64_t strideH;
  int64_t strideW;
  int64_t dilationD;
  int64_t dilationH;
  int64_t dilationW;
};

/// A pooling in logical terms, whatever the layouts. Plain data. Spatial
/// numbers are those of depth, height and width; depth is neutral in 2-D.
struct PoolDims {
  int64_t n; ///< Images of the batch.
  int64_t c; ///< Channels.
  std::array<int64_t, 3> in;
  std::array<int64_t, 3> out;
  std::array<int64_t, 3> window;
  std::array<int64_t, 3> pads;
  std::array<int64_t, 3> strides;
};

/// The dimension along which a vector of neighbouring elements of `type` lies:
/// the last of stride 1, of more than one element if there is one. -1: none.
int64_t getVectorDim(mlir::MemRefType type);

} // namespace tessera::dnn

#define GET_OP_CLASSES
#include "dialect/IR/DnnConvOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/IR/DnnPoolOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/IR/DnnRowsOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/IR/DnnPointOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/IR/DnnTileOps.h.inc"

#endif // TESSERA_DIALECT_IR_DNN_H

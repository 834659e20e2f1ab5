//===- OpenMemory.h - Memory of unknown size that windows share -*- C++ -*-===//
//
// A memref of windows along a line has strides that are smaller than its sizes:
// neighbours overlap. Where the tensor behind it has unknown sizes, its strides
// are those of that tensor, which an attribute names.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_OPENMEMORY_H
#define TESSERA_DIALECT_IR_OPENMEMORY_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"

namespace tessera::dnn {

/// The attribute of an argument whose memref has unknown strides, but not those
/// of its own sizes: the sizes of the packed tensor whose strides they are, as
/// expressions (runtime/Base/SizeExpr.h), one for each dimension.
inline constexpr llvm::StringLiteral kMemoryAttrName = "dnn.memory";

/// That of `tensor`, an argument of a function; null if it has none.
mlir::ArrayAttr getOpenMemory(mlir::Value tensor);

/// The expressions of the sizes of `tensor`, `dnn.sizes`; null if these are its
/// own.
mlir::ArrayAttr getOpenSizes(mlir::Value tensor);

/// Whether `memory` has a text for each of `rank` dimensions.
bool isOpenMemory(mlir::ArrayAttr memory, int64_t rank);

} // namespace tessera::dnn

#endif // TESSERA_DIALECT_IR_OPENMEMORY_H

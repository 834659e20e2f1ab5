//===- TensorMemory.h - Properties of a memref's strides -------*- C++ -*--===//
//
// The verifiers of several ops share these checks.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_TENSORMEMORY_H
#define TESSERA_DIALECT_IR_TENSORMEMORY_H

#include "mlir/IR/BuiltinTypes.h"

namespace tessera::dnn {

/// Whether all strides are static and at least 1, and there is no offset.
bool hasStaticPositiveStrides(mlir::MemRefType type);

/// The strides of a memref. One that is a product of sizes, not all of which
/// are known, is given as the product of those that are: it is a multiple of
/// that.
llvm::SmallVector<int64_t> getKnownStrides(mlir::MemRefType type);

/// Whether no two elements share memory, that is, each stride is larger than
/// all offsets within the dimensions of smaller strides. Strides must be static
/// and not negative; an unknown size counts as a large one, and a packed tensor
/// of unknown sizes has distinct elements.
bool hasDistinctElements(mlir::MemRefType type);

} // namespace tessera::dnn

#endif // TESSERA_DIALECT_IR_TENSORMEMORY_H

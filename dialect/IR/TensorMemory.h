//===- TensorMemory.h - Where the elements of a tensor lie -----*- C++ -*-===//
//
// Rules that the verifiers of several ops share.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_TENSORMEMORY_H
#define TESSERA_DIALECT_IR_TENSORMEMORY_H

#include "mlir/IR/BuiltinTypes.h"

namespace tessera::dnn {

/// Whether all strides are numbers of at least 1, and there is no offset.
bool hasStaticPositiveStrides(mlir::MemRefType type);

/// Whether no two elements share memory: each stride must pass over all that
/// the smaller ones reach. Strides are numbers and not negative.
bool hasDistinctElements(mlir::MemRefType type);

} // namespace tessera::dnn

#endif // TESSERA_DIALECT_IR_TENSORMEMORY_H

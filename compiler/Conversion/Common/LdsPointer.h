//===- LdsPointer.h - A place in an LDS buffer as a pointer ----*- C++ -*--===//
//
// Instructions that no dialect with memrefs has want pointers.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COMMON_LDSPOINTER_H
#define TESSERA_COMPILER_CONVERSION_COMMON_LDSPOINTER_H

#include "compiler/Conversion/Common/Emitter.h"

namespace tessera {

/// `bytes` (an i32) behind the first byte of the memref `buffer`.
mlir::Value emitLdsPointer(Emitter &e, mlir::Value buffer, mlir::Value bytes);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COMMON_LDSPOINTER_H

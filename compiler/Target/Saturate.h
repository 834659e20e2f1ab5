//===- Saturate.h - Numbers as bytes ---------------------------*- C++ -*--===//

#ifndef TESSERA_COMPILER_TARGET_SATURATE_H
#define TESSERA_COMPILER_TARGET_SATURATE_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tessera {

/// `value`, an i32 or an f32, or a vector of either, as i8: rounded to the
/// nearest, ties to even, and what is beyond -128 and 127 becomes these. NaN
/// becomes -128.
mlir::Value saturateToInt8(mlir::OpBuilder &b, mlir::Location loc,
                           mlir::Value value);

} // namespace tessera

#endif // TESSERA_COMPILER_TARGET_SATURATE_H

//===- ConvertFloat8.h - Floats of 8 bits from and to others ---*- C++ -*--===//

#ifndef TESSERA_COMPILER_CONVERSION_CONVERTFLOAT8_H
#define TESSERA_COMPILER_CONVERSION_CONVERTFLOAT8_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tessera {

/// Replaces `op` by integer arithmetic if it is an arith.extf from, or an
/// arith.truncf to, floats of 8 bits. Extending is exact. Truncating rounds to
/// the nearest, ties to even; what is too large, infinity included, becomes the
/// largest number, and NaN stays NaN.
bool convertFloat8(mlir::Operation *op);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_CONVERTFLOAT8_H

//===- DoubleMath.h - Exponential and logarithm in f64 ---------*- C++ -*--===//
//
// Chips have instructions for exp2 and log2 in f32 only, and no device library
// is linked, so that these functions of f64 are made of products and sums.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_FRONTEND_DOUBLEMATH_H
#define TESSERA_COMPILER_FRONTEND_DOUBLEMATH_H

#include "mlir/IR/Builders.h"

namespace tessera {

class FloatBuilder;

/// Builds 2^v for a v of f64, right to about one unit in the last place; the
/// builder's type is f64.
mlir::Value buildDoubleExp2(FloatBuilder &f, mlir::Value v);

/// Builds the logarithm of v to base 2: -infinity for 0 and a NaN below it.
mlir::Value buildDoubleLog2(FloatBuilder &f, mlir::Value v);

} // namespace tessera

#endif // TESSERA_COMPILER_FRONTEND_DOUBLEMATH_H

//===- ActivationFormulas.h - Activations and their gradients --*- C++ -*--===//
//
// The formulas of docs/spec/convolution.md, for the epilogues of convolutions
// and for primitives that have an activation.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_FRONTEND_ACTIVATIONFORMULAS_H
#define TESSERA_COMPILER_FRONTEND_ACTIVATIONFORMULAS_H

#include "compiler/Frontend/FloatBuilder.h"
#include "runtime/Base/ConvProblem.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tessera {

/// The number of the parameters a, b, c that the activation reads.
int countParameters(Activation activation);

/// Returns a, b, c (0, 1, 2) in any floating-point type.
using ActivationParameter = llvm::function_ref<mlir::Value(int)>;

mlir::Value buildActivation(FloatBuilder &f, Activation activation,
                            mlir::Value v, ActivationParameter parameter);

/// Builds dx from dy, where y = activation(x).
mlir::Value buildActivationGradient(FloatBuilder &f, Activation activation,
                                    mlir::Value x, mlir::Value y,
                                    mlir::Value dy,
                                    ActivationParameter parameter);

} // namespace tessera

#endif // TESSERA_COMPILER_FRONTEND_ACTIVATIONFORMULAS_H

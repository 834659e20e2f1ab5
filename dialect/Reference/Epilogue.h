//===- Epilogue.h - What follows the sum in the same kernel ----*- C++ -*--===//
//
// The epilogues of docs/spec/convolution.md, in double. They also change the
// error that a kernel may make: the slope of the activation scales it, and the
// epilogue's own arithmetic adds to it.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_REFERENCE_EPILOGUE_H
#define TESSERA_DIALECT_REFERENCE_EPILOGUE_H

#include "dialect/Reference/Compare.h"

#include <array>
#include <optional>

namespace tessera::reference {

/// MIOpen's activations, in the order of its enum; a, b and c are its alpha,
/// beta and gamma.
enum class Activation {
  None,
  Logistic,    ///< 1 / (1 + e^-v)
  Tanh,        ///< b tanh(a v)
  Relu,        ///< max(0, v)
  SoftRelu,    ///< log(1 + e^v)
  Abs,         ///< |v|
  Power,       ///< (a + b v)^c, and 0 where a + b v <= kLeastPowerBase
  ClippedRelu, ///< min(a, max(0, v))
  LeakyRelu,   ///< v where v > 0, else a v
  Elu,         ///< v where v > 0, else a (e^v - 1)
  Clamp,       ///< min(b, max(a, v))
};

/// The value that f32 has for it.
inline constexpr double kLeastPowerBase = 1e-6f;

/// activation(alpha sum + beta old + bias + residual).
struct Epilogue {
  double alpha = 1;
  double beta = 0;
  std::optional<TensorView> old{}; ///< The result tensor before the kernel.
  /// One value a channel; only that coordinate is used.
  std::optional<TensorView> bias{};
  std::optional<TensorView> residual{}; ///< Has the sizes of the result.
  Activation activation = Activation::None;
  std::array<double, 3> parameters{}; ///< a, b, c

  /// Whether the epilogue leaves the sum as it is.
  bool isIdentity() const;
};

double activate(Activation activation, const std::array<double, 3> &parameters,
                double value);

/// Returns how large the numbers are that the arithmetic of an activation
/// passes through on the way from `value` to `result`, each of which is
/// rounded: 1 + e^-v is at least 1 even where its logarithm is small.
double getActivationScale(Activation activation,
                          const std::array<double, 3> &parameters, double value,
                          double result);

/// Replaces the sums in `expected` by the results of the epilogue. `compute` is
/// the type of its arithmetic: F32, or F64 for sums of f64.
void applyEpilogue(const Epilogue &epilogue, ElementType compute,
                   Expected &expected);

} // namespace tessera::reference

#endif // TESSERA_DIALECT_REFERENCE_EPILOGUE_H

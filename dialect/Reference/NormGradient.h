//===- NormGradient.h - The sums of a norm's gradient ----------*- C++ -*--===//

#ifndef TESSERA_DIALECT_REFERENCE_NORMGRADIENT_H
#define TESSERA_DIALECT_REFERENCE_NORMGRADIENT_H

#include "dialect/Reference/Compare.h"

#include <optional>

namespace tessera::reference {

/// The normalisation whose result's gradient is g. Tensors of one value for
/// each channel are f32.
struct NormGradient {
  TensorView input; ///< z, as large as g.
  TensorView mean, inverse;
  std::optional<TensorView> scale{}, bias{}; ///< Of a ReLU's argument.
  std::optional<TensorView> mask{};          ///< As large as g.

  /// Whether g is zero there: the mask, or the ReLU's argument in f32, as
  /// kernels compute it, is not positive.
  bool isCleared(const Coord &at) const;
};

/// What a gradient should be that was `expected` before zeros were stored.
void clear(const NormGradient &norm, Expected &expected);

/// Of each channel: tensors of f32 with one element for each.
struct NormSums {
  Expected sum; ///< Of g.
  Expected dot; ///< Of g (z - mean) inverse.
};

/// The sums of what `gradient` holds, in double. Kernels add in f32, in an
/// order of their own; Compare.h says what that may be wrong by.
NormSums getNormSums(const NormGradient &norm, const Sizes &sizes,
                     const TensorView &gradient);

} // namespace tessera::reference

#endif // TESSERA_DIALECT_REFERENCE_NORMGRADIENT_H

//===- NormGradient.h - Launches for a norm's gradient ---------*- C++ -*--===//
//
// Any algorithm of backward data computes the gradient g of a normalisation's
// result; dnn.norm_gradient behind it asks for two numbers of each channel
// (ChannelPartials.h). A partial has the sum of g and that of g (z - mean).
// What also stores zeros for an activation does so where it reads g: the launch
// of its own in place, the kernel that computes g before it stores.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_COMMON_NORMGRADIENT_H
#define TESSERA_COMPILER_ALGORITHMS_COMMON_NORMGRADIENT_H

#include "compiler/Algorithms/Common/ChannelPartials.h"

namespace tessera {

/// What a dnn.norm_gradient asked for. Plain data.
struct NormGradientRequest {
  ChannelResult result;
  bool hasRelu, hasMask;
};

/// Takes the dnn.norm_gradient behind `primitive`, if there is one, out of its
/// function, and what it names from its arguments.
std::optional<NormGradientRequest> takeNormGradient(mlir::Operation *primitive);

/// As buildStatistics().
void buildNormGradient(mlir::ModuleOp module,
                       const NormGradientRequest &request);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_COMMON_NORMGRADIENT_H

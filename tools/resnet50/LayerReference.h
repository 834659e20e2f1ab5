//===- LayerReference.h - What a layer should give -------------*- C++ -*--===//
//
// Convolutions and poolings are those of dialect/Reference; the other layers
// take a few lines each. All compute in double, on the values that the layer
// really read, so that each layer is judged by itself: a network amplifies the
// rounding of its first layers, and a difference at its end would not show
// which layer is wrong.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_RESNET50_LAYERREFERENCE_H
#define TESSERA_TOOLS_RESNET50_LAYERREFERENCE_H

#include "tools/resnet50/Network.h"

#include <functional>
#include <map>

namespace tessera::resnet {

/// The values of a tensor, in the order of its Dims.
using Values = std::vector<double>;
/// Returns the values of a tensor, by its index, before the layer runs. The
/// reference is valid as long as the reader.
using Reader = std::function<const Values &(int tensor)>;

/// The tensors that the layer computes, by their indices.
std::map<int, Values> evaluateForward(const Network &network,
                                      const Layer &layer, const Reader &value);

/// The layer's contribution to the gradients of its inputs and parameters.
std::map<int, Values> evaluateBackward(const Network &network,
                                       const Layer &layer, const Reader &value,
                                       const Reader &gradient);

} // namespace tessera::resnet

#endif // TESSERA_TOOLS_RESNET50_LAYERREFERENCE_H

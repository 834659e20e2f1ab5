//===- LayerReference.h - What a layer should give -------------*- C++ -*-===//
//
// Convolutions and poolings are those of dialect/Reference; the rest is a few
// lines each. All in double, on whatever numbers the layer really read, so that
// each layer is judged by itself: a network amplifies the rounding of its first
// layers, and a difference at its end would say nothing of which layer is
// wrong.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_RESNET50_LAYERREFERENCE_H
#define TESSERA_TOOLS_RESNET50_LAYERREFERENCE_H

#include "tools/resnet50/Network.h"

#include <functional>
#include <map>

namespace tessera::resnet {

/// The numbers of a tensor, in the order of its Dims.
using Values = std::vector<double>;
/// The numbers of a tensor, by its index, before the layer runs. What it refers
/// to lives as long as the reader.
using Reader = std::function<const Values &(int tensor)>;

/// The tensors that the layer computes, by their indices.
std::map<int, Values> evaluateForward(const Network &network,
                                      const Layer &layer, const Reader &value);

/// What the layer contributes to the gradients of its inputs and parameters.
std::map<int, Values> evaluateBackward(const Network &network,
                                       const Layer &layer, const Reader &value,
                                       const Reader &gradient);

} // namespace tessera::resnet

#endif // TESSERA_TOOLS_RESNET50_LAYERREFERENCE_H

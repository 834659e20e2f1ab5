//===- Translation.h - ONNX nodes as a graph of hipDNN's -------*- C++ -*--===//
//
// hipDNN's plugin has a planner that makes launches of a graph, and fuses
// (capi/hipdnn/Planner.h). ONNX's nodes become a graph of that kind, with the
// lengths of one execution, so that there is one planner for both.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_ONNXRUNTIME_TRANSLATION_H
#define TESSERA_CAPI_ONNXRUNTIME_TRANSLATION_H

#include "capi/hipdnn/Plan.h"
#include "capi/onnxruntime/Model.h"

#include <span>
#include <vector>

namespace tessera::onnx {

struct Translation {
  hipdnn::Plan plan;
  /// The value behind each tensor of the graph, by its uid; -1 for numbers and
  /// what only passes from kernel to kernel. Several tensors may show one
  /// value.
  std::vector<int> values;
};

/// Makes the launches of some nodes. `lengths` has the lengths of every value
/// that the nodes read from outside and receives those of what they compute.
/// NotSupported, with the node and the reason, for what we have no kernel for.
ErrorOr<Translation> translate(const Model &model, std::span<const int> nodes,
                               std::vector<Shape> &lengths);

/// Whether kernels of a node are worth the copies to the device and back: it
/// does more than map its elements one by one.
bool isWorthCopies(const Node &node);

} // namespace tessera::onnx

#endif // TESSERA_CAPI_ONNXRUNTIME_TRANSLATION_H

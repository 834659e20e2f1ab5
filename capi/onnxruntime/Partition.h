//===- Partition.h - Which nodes become one --------------------*- C++ -*--===//

#ifndef TESSERA_CAPI_ONNXRUNTIME_PARTITION_H
#define TESSERA_CAPI_ONNXRUNTIME_PARTITION_H

#include "capi/onnxruntime/Model.h"

#include <span>
#include <vector>

namespace tessera::onnx {

/// Connected groups of supported nodes, each of which may become one node: no
/// path leaves a group and comes back, neither through other nodes nor through
/// other groups. The numbers in a group ascend.
std::vector<std::vector<int>> partition(const Model &model,
                                        const std::vector<bool> &isSupported);

/// An order of some nodes in which the only reader of a result comes next, if
/// everything else that it reads is there: only neighbours are fused.
std::vector<int> orderForFusion(const Model &model, std::span<const int> nodes);

} // namespace tessera::onnx

#endif // TESSERA_CAPI_ONNXRUNTIME_PARTITION_H

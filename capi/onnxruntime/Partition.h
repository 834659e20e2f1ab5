//===- Partition.h - Which nodes become one --------------------*- C++ -*--===//

#ifndef TESSERA_CAPI_ONNXRUNTIME_PARTITION_H
#define TESSERA_CAPI_ONNXRUNTIME_PARTITION_H

#include "capi/onnxruntime/Model.h"

#include <vector>

namespace tessera::onnx {

/// Connected groups of supported nodes, each of which may become one node: no
/// path leaves a group and comes back, neither through other nodes nor through
/// other groups. The numbers in a group ascend.
std::vector<std::vector<int>> partition(const Model &model,
                                        const std::vector<bool> &isSupported);

} // namespace tessera::onnx

#endif // TESSERA_CAPI_ONNXRUNTIME_PARTITION_H

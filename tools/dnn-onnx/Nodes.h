//===- Nodes.h - Nodes of a model as problems ------------------*- C++ -*--===//

#ifndef TESSERA_TOOLS_DNN_ONNX_NODES_H
#define TESSERA_TOOLS_DNN_ONNX_NODES_H

#include "tools/dnn-onnx/Scope.h"
#include "tools/problems/ProblemFile.h"

namespace tessera::model {

/// The problems that running (and, depending on options.directions, training)
/// `node` needs; none if it is neither convolution nor pooling. They need not
/// be valid. A failure says what of the node is not supported.
ErrorOr<std::vector<Problem>> toProblems(const onnx::NodeProto &node,
                                         const Scope &scope,
                                         const ProblemFileOptions &options);

} // namespace tessera::model

#endif // TESSERA_TOOLS_DNN_ONNX_NODES_H

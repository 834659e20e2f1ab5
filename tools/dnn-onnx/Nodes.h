//===- Nodes.h - Nodes of a model as problems ------------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_DNN_ONNX_NODES_H
#define TESSERA_TOOLS_DNN_ONNX_NODES_H

#include "tools/dnn-onnx/Scope.h"
#include "tools/problems/ProblemFile.h"

namespace tessera::model {

/// The problems that running (and, by options.directions, training) `node`
/// asks for; none if it has nothing to do with convolution or pooling. They
/// need not be valid. A failure says what of the node we do not have.
ErrorOr<std::vector<Problem>> toProblems(const onnx::NodeProto &node,
                                         const Scope &scope,
                                         const ProblemFileOptions &options);

} // namespace tessera::model

#endif // TESSERA_TOOLS_DNN_ONNX_NODES_H

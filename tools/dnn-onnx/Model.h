//===- Model.h - An ONNX model with all its shapes -------------*- C++ -*--===//

#ifndef TESSERA_TOOLS_DNN_ONNX_MODEL_H
#define TESSERA_TOOLS_DNN_ONNX_MODEL_H

#include "tools/problems/ProblemFile.h"

#include "onnx/onnx_pb.h"

namespace tessera::model {

/// Reads the file, sets the dimensions that it leaves open to the numbers in
/// `options`, and lets the ONNX library infer every other shape.
/// InvalidArgument if the file is no model, if the library finds a
/// contradiction, or if `options` names a dimension that the model does not
/// leave open.
ErrorOr<onnx::ModelProto> loadModel(const std::string &path,
                                    const ProblemFileOptions &options);

} // namespace tessera::model

#endif // TESSERA_TOOLS_DNN_ONNX_MODEL_H

//===- Model.cpp - An ONNX model with all its shapes ----------------------===//

#include "tools/dnn-onnx/Model.h"

#include "google/protobuf/stubs/logging.h"
#include "onnx/shape_inference/implementation.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>

using namespace tessera;
using namespace tessera::model;

static ErrorOr<onnx::ModelProto> parseModel(const std::string &path) {
  // Errors that protobuf would print about a bad file are returned instead.
  google::protobuf::SetLogHandler(nullptr);
  std::ifstream stream(path, std::ios::binary);
  // A directory can be opened, but not read.
  if (!stream || (stream.peek(), stream.bad()))
    return notFound("cannot read '" + path + "': " + std::strerror(errno));
  onnx::ModelProto model;
  if (!model.ParseFromIstream(&stream) || !model.has_graph() ||
      model.graph().node().empty())
    return invalidArgument("'" + path +
                           "' is no ONNX model, or only a part of one");
  return model;
}

//===----------------------------------------------------------------------===//
// Open dimensions
//===----------------------------------------------------------------------===//

namespace {
/// Sets the open dimensions and records which of them exist.
class Dimensions {
public:
  explicit Dimensions(const ProblemFileOptions &options) : options(options) {}

  /// For an input of the model: its first dimension is the batch.
  void setInput(onnx::ValueInfoProto &value) {
    onnx::TensorShapeProto *shape = getShape(value);
    if (!shape || shape->dim_size() == 0)
      return;
    onnx::TensorShapeProto::Dimension &first = *shape->mutable_dim(0);
    if (first.has_dim_value() || !options.batch)
      return;
    if (first.has_dim_param() &&
        !options.dimensions.contains(first.dim_param()))
      batchName = first.dim_param();
    usedBatch = true;
    first.set_dim_value(*options.batch);
  }

  /// For any value: a dimension's name has one number everywhere.
  void set(onnx::ValueInfoProto &value) {
    onnx::TensorShapeProto *shape = getShape(value);
    if (!shape)
      return;
    for (onnx::TensorShapeProto::Dimension &dim : *shape->mutable_dim()) {
      if (!dim.has_dim_param())
        continue;
      const std::string name = dim.dim_param();
      names.insert(name);
      if (auto found = options.dimensions.find(name);
          found != options.dimensions.end())
        dim.set_dim_value(found->second);
      else if (!batchName.empty() && name == batchName)
        dim.set_dim_value(*options.batch);
    }
  }

  /// Fails if an option had no effect.
  Status check() const {
    if (options.batch && !usedBatch)
      return invalidArgument("--batch has no effect: the model has a number "
                             "for the first dimension of each input");
    for (const auto &[name, length] : options.dimensions)
      if (!names.contains(name))
        return invalidArgument("the model has no dimension '" + name +
                               "'; those with a name are: " + listNames());
    return Status::ok();
  }

private:
  static onnx::TensorShapeProto *getShape(onnx::ValueInfoProto &value) {
    if (!value.type().has_tensor_type() ||
        !value.type().tensor_type().has_shape())
      return nullptr;
    return value.mutable_type()->mutable_tensor_type()->mutable_shape();
  }

  std::string listNames() const {
    std::string list;
    for (const std::string &name : names)
      list += (list.empty() ? "" : ", ") + name;
    return list.empty() ? "none" : list;
  }

  const ProblemFileOptions &options;
  std::set<std::string> names;
  std::string batchName;
  bool usedBatch = false;
};
} // namespace

static Status setDimensions(const ProblemFileOptions &options,
                            onnx::GraphProto &graph) {
  Dimensions dimensions(options);
  // Old models list their weights among the inputs.
  std::set<std::string> weights;
  for (const onnx::TensorProto &weight : graph.initializer())
    weights.insert(weight.name());
  for (onnx::ValueInfoProto &value : *graph.mutable_input()) {
    dimensions.set(value);
    if (!weights.contains(value.name()))
      dimensions.setInput(value);
  }
  for (auto *values : {graph.mutable_input(), graph.mutable_output(),
                       graph.mutable_value_info()})
    for (onnx::ValueInfoProto &value : *values)
      dimensions.set(value);
  return dimensions.check();
}

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

ErrorOr<onnx::ModelProto>
tessera::model::loadModel(const std::string &path,
                          const ProblemFileOptions &options) {
  ErrorOr<onnx::ModelProto> model = parseModel(path);
  if (!model)
    return model;
  if (Status status = setDimensions(options, *model->mutable_graph());
      !status.isOk())
    return status.withContext("'" + path + "'");
  // Shapes that the model computes, for a Reshape for example, are inferred
  // too; a node without a shape does not affect others.
  const onnx::ShapeInferenceOptions inference(
      /*check_type_val=*/false, /*strict_mode_val=*/0, /*data_prop_val=*/true);
  try {
    onnx::shape_inference::InferShapes(
        *model, onnx::OpSchemaRegistry::Instance(), inference);
  } catch (const std::exception &error) {
    return invalidArgument("the shapes of '" + path +
                           "' cannot be inferred: " + error.what());
  }
  return model;
}

//===- Scope.cpp - What is known of a graph's values ----------------------===//

#include "tools/dnn-onnx/Scope.h"

#include <cstring>

using namespace tessera;
using namespace tessera::model;

Scope::Scope(const onnx::GraphProto &graph, const Scope *outer) : outer(outer) {
  for (const auto *values :
       {&graph.input(), &graph.output(), &graph.value_info()})
    for (const onnx::ValueInfoProto &value : *values)
      if (value.type().has_tensor_type())
        types[value.name()] = &value.type().tensor_type();
  for (const onnx::TensorProto &constant : graph.initializer())
    constants[constant.name()] = &constant;
  for (const onnx::NodeProto &node : graph.node())
    if (node.op_type() == "Constant" && node.output_size() == 1)
      for (const onnx::AttributeProto &attribute : node.attribute())
        if (attribute.name() == "value" && attribute.has_t())
          constants[node.output(0)] = &attribute.t();
  countUses(graph, /*isInner=*/false);
}

/// A value that an inner graph or the graph's result reads has no single
/// reader.
void Scope::countUses(const onnx::GraphProto &graph, bool isInner) {
  for (const onnx::NodeProto &node : graph.node()) {
    for (const std::string &input : node.input()) {
      Use &use = uses[input];
      ++use.count;
      use.reader = isInner ? nullptr : &node;
    }
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.has_g())
        countUses(attribute.g(), /*isInner=*/true);
  }
  for (const onnx::ValueInfoProto &output : graph.output())
    uses[output.name()].count += 2;
}

const onnx::TypeProto_Tensor *Scope::findType(const std::string &name) const {
  for (const Scope *scope = this; scope; scope = scope->outer)
    if (auto found = scope->types.find(name); found != scope->types.end())
      return found->second;
  return nullptr;
}

const onnx::TensorProto *Scope::findConstant(const std::string &name) const {
  for (const Scope *scope = this; scope; scope = scope->outer)
    if (auto found = scope->constants.find(name);
        found != scope->constants.end())
      return found->second;
  return nullptr;
}

static Status openDimension(const onnx::TensorShapeProto::Dimension &dim,
                            const std::string &role) {
  // The library gives unknown dimensions such names.
  if (!dim.has_dim_param() || dim.dim_param().starts_with("unk__"))
    return invalidArgument("a length of " + role +
                           " is not known (a first dimension without a "
                           "number is given with --batch)");
  return invalidArgument("the length '" + dim.dim_param() + "' of " + role +
                         " is open; give it with --dim, or with --batch if it "
                         "is the batch");
}

static Status checkLength(int64_t length, const std::string &role) {
  if (length >= 1 && length <= INT32_MAX)
    return Status::ok();
  return invalidArgument("a length of " + role + " is " +
                         std::to_string(length) +
                         ", but must be between 1 and 2147483647");
}

ErrorOr<std::vector<int64_t>> Scope::getShape(const std::string &name,
                                              const std::string &role) const {
  std::vector<int64_t> shape;
  if (const onnx::TensorProto *constant = findConstant(name)) {
    shape.assign(constant->dims().begin(), constant->dims().end());
  } else {
    const onnx::TypeProto_Tensor *type = findType(name);
    if (!type || !type->has_shape())
      return invalidArgument("the shape of " + role + " is not known");
    for (const onnx::TensorShapeProto::Dimension &dim : type->shape().dim()) {
      if (!dim.has_dim_value())
        return openDimension(dim, role);
      shape.push_back(dim.dim_value());
    }
  }
  for (int64_t length : shape)
    if (Status status = checkLength(length, role); !status.isOk())
      return status;
  return shape;
}

int Scope::getElementType(const std::string &name) const {
  if (const onnx::TensorProto *constant = findConstant(name))
    return constant->data_type();
  const onnx::TypeProto_Tensor *type = findType(name);
  return type ? type->elem_type() : onnx::TensorProto::UNDEFINED;
}

std::optional<float> Scope::getScalar(const std::string &name) const {
  const onnx::TensorProto *constant = findConstant(name);
  if (!constant || constant->data_type() != onnx::TensorProto::FLOAT)
    return std::nullopt;
  if (constant->float_data_size() == 1)
    return constant->float_data(0);
  float value;
  if (constant->raw_data().size() != sizeof(value))
    return std::nullopt;
  std::memcpy(&value, constant->raw_data().data(), sizeof(value));
  return value;
}

const onnx::NodeProto *Scope::getOnlyReader(const std::string &name) const {
  auto found = uses.find(name);
  return found != uses.end() && found->second.count == 1 ? found->second.reader
                                                         : nullptr;
}

//===- Model.cpp - Nodes and values of an ONNX graph ----------------------===//

#include "capi/onnxruntime/Model.h"

#include <cstring>

using namespace tessera;
using namespace tessera::onnx;

size_t tessera::onnx::getElementSize(int32_t type) {
  switch (type) {
  case kF16:
  case kBF16:
    return 2;
  case kF32:
    return 4;
  case kF64:
    return 8;
  default:
    return 0;
  }
}

Status tessera::onnx::toStatus(const ort::Api &api, ort::Error *error) {
  if (!error)
    return Status::ok();
  Status status = internalError(api.getErrorMessage(error));
  api.releaseStatus(error);
  return status;
}

namespace {
/// Reads a graph through the table. The first failure is kept; what is read
/// after it is empty.
class Reader {
public:
  explicit Reader(const ort::Api &api) : api(api) {}

  ErrorOr<Model> read(const ort::Graph *graph);

  /// The answer of a function that has one.
  template <typename T, typename Function, typename... Arguments>
  T ask(Function function, Arguments... arguments) {
    T answer{};
    if (status.isOk())
      status = toStatus(api, function(arguments..., &answer));
    return answer;
  }

  /// The list of an object, whose length another function says.
  template <typename T, typename Object, typename Count, typename List>
  std::vector<T> list(const Object *object, Count getCount, List getList) {
    std::vector<T> all(ask<size_t>(getCount, object));
    if (status.isOk() && !all.empty())
      status = toStatus(api, getList(object, all.data(), all.size()));
    return all;
  }

  Shape getLengths(const ort::TensorInfo *info) {
    return list<int64_t>(info, api.getRank, api.getLengths);
  }

  std::string getName(const ort::ValueInfo *value) {
    return value ? getText(api.getValueName, value) : "";
  }

  Status takeStatus() { return std::move(status); }

private:
  template <typename Function, typename Object>
  std::string getText(Function function, const Object *object) {
    const char *text = ask<const char *>(function, object);
    return text ? text : "";
  }
  std::vector<int> addValues(const std::vector<const ort::ValueInfo *> &infos);
  int addValue(const ort::ValueInfo *info);
  void readConstant(const ort::ValueInfo *info, Value &value);
  void readAttribute(const ort::Attribute *attribute, Node &node);
  void readNode(const ort::Node *handle);

  const ort::Api &api;
  Model model;
  Status status;
};
} // namespace

void Reader::readConstant(const ort::ValueInfo *info, Value &value) {
  value.isConstant = ask<bool>(api.isConstant, info);
  if (!value.isConstant)
    return;
  const auto *tensor = ask<const ort::Tensor *>(api.getInitializer, info);
  if (tensor)
    value.data = ask<const void *>(api.getTensorData, tensor);
  for (int64_t length : value.lengths)
    if (length != 1)
      return;
  if (value.data && value.type == kF32) {
    float number;
    std::memcpy(&number, value.data, sizeof number);
    value.number = number;
  } else if (value.data && value.type == kF64) {
    value.number.emplace();
    std::memcpy(&*value.number, value.data, sizeof(double));
  }
}

int Reader::addValue(const ort::ValueInfo *info) {
  const std::string name = getName(info);
  if (name.empty())
    return -1;
  const auto [known, isNew] =
      model.numbers.emplace(name, static_cast<int>(model.values.size()));
  if (!isNew)
    return known->second;
  Value value;
  value.name = name;
  const auto *type = ask<const ort::TypeInfo *>(api.getValueType, info);
  const ort::TensorInfo *tensor = nullptr;
  if (type)
    tensor = ask<const ort::TensorInfo *>(api.castToTensorInfo, type);
  if (tensor) {
    value.type = ask<int32_t>(api.getElementType, tensor);
    value.lengths = getLengths(tensor);
    value.isOutput = ask<bool>(api.isGraphOutput, info);
    readConstant(info, value);
  }
  model.values.push_back(std::move(value));
  return known->second;
}

std::vector<int>
Reader::addValues(const std::vector<const ort::ValueInfo *> &infos) {
  std::vector<int> numbers;
  for (const ort::ValueInfo *info : infos)
    numbers.push_back(addValue(info));
  return numbers;
}

/// Attributes of other kinds than a number, a text or a list of integers belong
/// to operators that we do not have.
void Reader::readAttribute(const ort::Attribute *attribute, Node &node) {
  const std::string name = getText(api.getAttributeName, attribute);
  const auto type = ask<int32_t>(api.getAttributeType, attribute);
  size_t bytes = 0;
  const auto read = [&](void *data, size_t size) {
    if (status.isOk())
      status =
          toStatus(api, api.readAttribute(attribute, type, data, size, &bytes));
  };
  const auto measure = [&] { // An error where it is not empty, with its size.
    if (ort::Error *error =
            api.readAttribute(attribute, type, nullptr, 0, &bytes))
      api.releaseStatus(error);
    return bytes;
  };
  if (type == ort::kInt) {
    read(&node.integers[name], sizeof(int64_t));
  } else if (type == ort::kFloat) {
    float number = 0;
    read(&number, sizeof number);
    node.numbers[name] = number;
  } else if (type == ort::kInts) {
    std::vector<int64_t> &numbers = node.lists[name];
    numbers.resize(measure() / sizeof(int64_t));
    if (!numbers.empty())
      read(numbers.data(), numbers.size() * sizeof(int64_t));
  } else if (type == ort::kString) {
    std::string &text = node.texts[name];
    text.resize(measure());
    if (!text.empty())
      read(text.data(), text.size());
  }
}

void Reader::readNode(const ort::Node *handle) {
  Node node;
  node.name = getText(api.getNodeName, handle);
  node.op = getText(api.getOperator, handle);
  node.domain = getText(api.getDomain, handle);
  node.version = ask<int>(api.getSinceVersion, handle);
  using Info = const ort::ValueInfo *;
  node.inputs = addValues(list<Info>(handle, api.getInputCount, api.getInputs));
  node.outputs =
      addValues(list<Info>(handle, api.getOutputCount, api.getOutputs));
  node.implicitInputs = addValues(
      list<Info>(handle, api.getImplicitInputCount, api.getImplicitInputs));
  for (const ort::Attribute *attribute : list<const ort::Attribute *>(
           handle, api.getAttributeCount, api.getAttributes))
    if (attribute)
      readAttribute(attribute, node);
  model.nodes.push_back(std::move(node));
}

ErrorOr<Model> Reader::read(const ort::Graph *graph) {
  model.handles =
      list<const ort::Node *>(graph, api.getNodeCount, api.getNodes);
  for (const ort::Node *handle : model.handles)
    readNode(handle);
  if (!status.isOk())
    return status;
  return std::move(model);
}

ErrorOr<Model> tessera::onnx::readModel(const ort::Api &api,
                                        const ort::Graph *graph) {
  return Reader(api).read(graph);
}

ErrorOr<std::vector<std::string>>
tessera::onnx::readNames(const ort::Api &api, const ort::Node *node,
                         bool areOutputs) {
  using Info = const ort::ValueInfo *;
  Reader reader(api);
  const std::vector<Info> infos =
      areOutputs ? reader.list<Info>(node, api.getOutputCount, api.getOutputs)
                 : reader.list<Info>(node, api.getInputCount, api.getInputs);
  std::vector<std::string> names;
  for (Info info : infos)
    names.push_back(reader.getName(info));
  if (Status status = reader.takeStatus(); !status.isOk())
    return status;
  return names;
}

ErrorOr<Shape> tessera::onnx::readLengths(const ort::Api &api,
                                          const ort::Tensor *tensor) {
  ort::TensorInfo *info = nullptr;
  if (Status status = toStatus(api, api.getTensorInfo(tensor, &info));
      !status.isOk())
    return status;
  Reader reader(api);
  const Shape lengths = reader.getLengths(info);
  api.releaseTensorInfo(info);
  if (Status status = reader.takeStatus(); !status.isOk())
    return status;
  return lengths;
}

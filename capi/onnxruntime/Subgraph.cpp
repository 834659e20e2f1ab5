//===- Subgraph.cpp - A fused node on the device --------------------------===//

#include "capi/onnxruntime/Subgraph.h"

#include <algorithm>
#include <numeric>

using namespace tessera;
using namespace tessera::onnx;

/// As memory from hipMalloc, so that kernels find the vectors they want.
static constexpr size_t kAlignment = 256;

/// Lengths whose plans are kept. A client with more of them goes through
/// sizes, and comes to few of them again.
static constexpr size_t kMostPrepared = 64;

static int64_t count(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<>());
}

ErrorOr<std::unique_ptr<Subgraph>> Subgraph::make(const ort::Api &api,
                                                  Device &device,
                                                  const ort::Graph *graph,
                                                  const ort::Node *fusedNode) {
  std::unique_ptr<Subgraph> made(new Subgraph(api, device));
  ErrorOr<Model> model = readModel(api, graph);
  if (!model)
    return model.getStatus();
  made->model = std::move(*model);
  Status status = made->setOperands(fusedNode);
  if (status.isOk())
    status = made->addConstants();
  if (status.isOk())
    status = made->prepareIfKnown();
  if (!status.isOk())
    return status;
  return made;
}

/// Inputs and outputs in the order of calls.
Status Subgraph::setOperands(const ort::Node *fusedNode) {
  for (bool areOutputs : {false, true}) {
    const ErrorOr<std::vector<std::string>> names =
        readNames(api, fusedNode, areOutputs);
    if (!names)
      return names.getStatus();
    for (const std::string &name : *names) {
      const auto found = model.numbers.find(name);
      const int value = found == model.numbers.end() ? -1 : found->second;
      if (areOutputs && value < 0)
        return internalError("no node of the graph computes its output '" +
                             name + "'");
      (areOutputs ? outputs : inputs).push_back(value);
    }
  }
  for (Value &value : model.values)
    value.isOutput = false;
  for (int value : outputs)
    model.values[value].isOutput = true;
  return Status::ok();
}

/// Uploads the constants, which ONNX Runtime may release after this.
Status Subgraph::addConstants() {
  for (size_t number = 0; number < model.values.size(); ++number) {
    Value &value = model.values[number];
    const size_t bytes = count(value.lengths) * getElementSize(value.type);
    if (!value.isConstant || bytes == 0)
      continue;
    if (!value.data)
      return internalError("constant '" + value.name + "' has no data");
    ErrorOr<tessera::DeviceBuffer> buffer =
        tessera::DeviceBuffer::allocate(*device.gpu, bytes);
    if (!buffer)
      return buffer.getStatus();
    if (Status status = buffer->copyFromHost(value.data, bytes); !status.isOk())
      return status;
    value.data = nullptr;
    constants.emplace(static_cast<int>(number), std::move(*buffer));
  }
  return Status::ok();
}

Status Subgraph::prepareIfKnown() {
  std::vector<Shape> shapes;
  for (int value : inputs) {
    if (value < 0)
      return Status::ok();
    const Shape &lengths = model.values[value].lengths;
    if (lengths.empty() ||
        std::ranges::any_of(lengths, [](int64_t length) { return length < 0; }))
      return Status::ok();
    shapes.push_back(lengths);
  }
  const std::lock_guard lock(device.mutex);
  return prepare(shapes).getStatus();
}

size_t Subgraph::getBytes(const Prepared &prepared, int value) const {
  return value < 0 ? 0
                   : count(prepared.lengths[value]) *
                         getElementSize(model.values[value].type);
}

ErrorOr<Subgraph::Prepared *>
Subgraph::prepare(const std::vector<Shape> &shapes) {
  if (const auto known = prepared.find(shapes); known != prepared.end())
    return &known->second;
  Prepared made;
  for (const Value &value : model.values)
    made.lengths.push_back(value.lengths);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i] >= 0)
      made.lengths[inputs[i]] = shapes[i];
  std::vector<int> nodes(model.nodes.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  ErrorOr<Translation> translation = translate(model, nodes, made.lengths);
  if (!translation)
    return translation.getStatus();
  ErrorOr<std::unique_ptr<hipdnn::Context>> context =
      hipdnn::prepare(device.handle, std::move(translation->plan));
  if (!context)
    return context.getStatus();
  made.context = std::move(*context);
  made.values = std::move(translation->values);
  const auto reserve = [&](size_t bytes) {
    made.offsets.push_back(made.bytes);
    made.bytes += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  };
  for (const std::vector<int> *list : {&inputs, &outputs})
    for (int value : *list)
      reserve(getBytes(made, value));
  reserve(made.context->workspaceBytes);
  if (prepared.size() >= kMostPrepared)
    prepared.clear();
  return &prepared.emplace(shapes, std::move(made)).first->second;
}

Status Subgraph::copyInputs(const Prepared &prepared,
                            const std::vector<const void *> &sources) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const size_t bytes = getBytes(prepared, inputs[i]);
    if (bytes == 0)
      continue;
    if (Status status = device.gpu->check(
            device.gpu->hipMemcpy(getMemory(prepared, i), sources[i], bytes,
                                  hipMemcpyHostToDevice),
            "hipMemcpy");
        !status.isOk())
      return status;
  }
  return Status::ok();
}

Status Subgraph::launch(const Prepared &prepared) {
  std::map<int, void *> memories;
  for (const auto &[value, buffer] : constants)
    memories[value] = buffer.get();
  for (size_t i = 0; i < inputs.size(); ++i)
    memories[inputs[i]] = getMemory(prepared, i);
  for (size_t i = 0; i < outputs.size(); ++i)
    memories[outputs[i]] = getMemory(prepared, inputs.size() + i);
  std::vector<hipdnn::DeviceBuffer> buffers;
  for (size_t uid = 0; uid < prepared.values.size(); ++uid)
    if (const auto found = memories.find(prepared.values[uid]);
        prepared.values[uid] >= 0 && found != memories.end())
      buffers.push_back({static_cast<int64_t>(uid), found->second});
  const size_t workspace = inputs.size() + outputs.size();
  return prepared.context->run(device.handle, getMemory(prepared, workspace),
                               buffers);
}

/// Waits for the kernels.
Status Subgraph::copyOutputs(const Prepared &prepared,
                             ort::KernelContext *context) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Shape &lengths = prepared.lengths[outputs[i]];
    ort::Tensor *tensor = nullptr;
    void *data = nullptr;
    Status status = toStatus(api, api.getOutput(context, i, lengths.data(),
                                                lengths.size(), &tensor));
    if (status.isOk() && tensor)
      status = toStatus(api, api.getTensorMutableData(tensor, &data));
    if (status.isOk() && data)
      status = device.gpu->check(
          device.gpu->hipMemcpy(data, getMemory(prepared, inputs.size() + i),
                                getBytes(prepared, outputs[i]),
                                hipMemcpyDeviceToHost),
          "hipMemcpy");
    if (!status.isOk())
      return status;
  }
  return Status::ok();
}

Status Subgraph::run(ort::KernelContext *context) {
  const std::lock_guard lock(device.mutex);
  std::vector<Shape> shapes;
  std::vector<const void *> sources(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ort::Tensor *tensor = nullptr;
    Status status = toStatus(api, api.getInput(context, i, &tensor));
    if (status.isOk() && !tensor)
      status = invalidArgument("input " + std::to_string(i) + " is missing");
    if (status.isOk())
      status = toStatus(api, api.getTensorData(tensor, &sources[i]));
    if (!status.isOk())
      return status;
    ErrorOr<Shape> lengths = readLengths(api, tensor);
    if (!lengths)
      return lengths.getStatus();
    shapes.push_back(std::move(*lengths));
  }
  const ErrorOr<Prepared *> kernels = prepare(shapes);
  if (!kernels)
    return kernels.getStatus();
  if (!memory || memory->getByteSize() < (*kernels)->bytes) {
    memory.reset(); // Before the new one, which may need its space.
    ErrorOr<tessera::DeviceBuffer> buffer =
        tessera::DeviceBuffer::allocate(*device.gpu, (*kernels)->bytes);
    if (!buffer)
      return buffer.getStatus();
    memory = std::make_unique<tessera::DeviceBuffer>(std::move(*buffer));
  }
  Status status = copyInputs(**kernels, sources);
  if (status.isOk())
    status = launch(**kernels);
  if (status.isOk())
    status = copyOutputs(**kernels, context);
  return status;
}

//===- GraphContext.cpp - A graph that can be executed --------------------===//

#include "capi/hipdnn/GraphContext.h"

#include <algorithm>
#include <cstring>

using namespace tessera;
using namespace tessera::hipdnn;

ErrorOr<Plan> tessera::hipdnn::planGraph(Graph &graph) {
  // What follows from no change of lengths is what the graph says, or an error.
  if (graph.hasRuntimeShapes())
    if (Status status = setShapes(graph, {}); !status.isOk())
      return status;
  return makePlan(graph);
}

ErrorOr<std::unique_ptr<GraphContext>>
GraphContext::make(Handle &handle, std::span<const uint8_t> graph,
                   std::optional<size_t> workspaceBytes) {
  ErrorOr<Graph> read = Graph::read(graph);
  if (!read)
    return read.getStatus();
  ErrorOr<Plan> plan = planGraph(*read);
  if (!plan)
    return plan.getStatus();
  auto prepared = prepare(handle, std::move(*plan), workspaceBytes);
  if (!prepared)
    return prepared.getStatus();
  auto context = std::make_unique<GraphContext>();
  context->bytes.assign(graph.begin(), graph.end());
  context->hasRuntimeShapes = read->hasRuntimeShapes();
  const std::vector<Tensor> &tensors = read->getTensors();
  for (size_t number = 0; number < tensors.size(); ++number)
    if (tensors[number].isRuntimeValue)
      context->runtimeValues.push_back({static_cast<int>(number),
                                        tensors[number].uid,
                                        tensors[number].typeCode});
  context->declared = std::move(*prepared);
  return context;
}

//===----------------------------------------------------------------------===//
// Executions
//===----------------------------------------------------------------------===//

/// Reads an element of a type of which Graph::read() takes numbers.
static double readElement(uint8_t typeCode, const void *memory) {
  const auto read = [&](auto number) -> double {
    std::memcpy(&number, memory, sizeof number);
    return static_cast<double>(number);
  };
  switch (typeCode) {
  case kHalfCode:
    return read(_Float16());
  case kBFloatCode: {
    uint16_t upper;
    std::memcpy(&upper, memory, sizeof upper);
    const uint32_t bits = uint32_t(upper) << 16;
    float number;
    std::memcpy(&number, &bits, sizeof number);
    return number;
  }
  case kDoubleCode:
    return read(double());
  case kInt32Code:
    return read(int32_t());
  default:
    return read(float());
  }
}

ErrorOr<std::vector<double>>
GraphContext::readValues(std::span<const DeviceBuffer> buffers) const {
  std::vector<double> values;
  for (const RuntimeValue &value : runtimeValues) {
    const auto buffer =
        std::ranges::find(buffers, value.uid, &DeviceBuffer::uid);
    if (buffer == buffers.end() || !buffer->memory)
      return invalidArgument("the execution does not bring the number that is "
                             "tensor " +
                             std::to_string(value.uid));
    values.push_back(readElement(value.typeCode, buffer->memory));
  }
  return values;
}

ErrorOr<std::shared_ptr<const Context>>
GraphContext::adapt(Handle &handle, std::vector<double> values,
                    std::span<const Shape> shapes) {
  {
    const std::lock_guard lock(mutex);
    if (last.context && last.values == values &&
        std::ranges::equal(last.shapes, shapes))
      return last.context;
  }
  ErrorOr<Graph> graph = Graph::read(bytes);
  if (!graph)
    return graph.getStatus();
  for (size_t i = 0; i < runtimeValues.size(); ++i)
    graph->setValue(runtimeValues[i].tensor, values[i]);
  if (Status status = setShapes(*graph, shapes); !status.isOk())
    return status;
  ErrorOr<Plan> plan = makePlan(*graph);
  if (!plan)
    return plan.getStatus();
  auto prepared = prepare(handle, std::move(*plan), getWorkspaceBytes());
  if (!prepared)
    return prepared.getStatus();
  const std::lock_guard lock(mutex);
  last = {
      std::move(values), {shapes.begin(), shapes.end()}, std::move(*prepared)};
  return last.context;
}

Status GraphContext::run(Handle &handle, void *workspace,
                         std::span<const DeviceBuffer> buffers,
                         std::span<const Shape> shapes) {
  if (!shapes.empty() && !hasRuntimeShapes)
    return invalidArgument("the graph does not say that an execution may give "
                           "its tensors other lengths");
  if (shapes.empty() && runtimeValues.empty())
    return declared->run(handle, workspace, buffers);
  ErrorOr<std::vector<double>> values = readValues(buffers);
  if (!values)
    return values.getStatus();
  const auto context = adapt(handle, std::move(*values), shapes);
  if (!context)
    return context.getStatus();
  return (*context)->run(handle, workspace, buffers);
}

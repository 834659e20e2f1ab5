//===- Graph.cpp - What hipDNN asks to compute ----------------------------===//

#include "capi/hipdnn/Graph.h"

#include <array>
#include <cstddef>

using namespace tessera;
using namespace tessera::hipdnn;

//===----------------------------------------------------------------------===//
// Fields of the tables
//===----------------------------------------------------------------------===//

// A union has two fields: the kind, and the table.
namespace graph_field {
enum {
  ComputeType = 1,
  Tensors = 4,
  Nodes = 5,
  HasRuntimeShapes = 7,
  Version = 8
};
}
namespace node_field {
enum { Name, ComputeType, Kind, Attributes };
}
namespace tensor_field {
enum {
  Uid,
  Name,
  Type,
  Strides,
  Lengths,
  IsVirtual,
  ValueKind,
  Value,
  IsRuntimeValue,
  RaggedOffset
};
}
namespace engine_field {
enum { Id };
}

std::string tessera::hipdnn::getName(NodeKind kind) {
  static constexpr const char *kNames[] = {
      "a node without operation",
      "batch normalisation inference",
      "pointwise operation",
      "batch normalisation backward",
      "batch normalisation training",
      "convolution forward",
      "convolution backward data",
      "convolution backward weights",
      "batch normalisation inference with variance",
      "matrix multiplication",
      "RMS normalisation",
      "layer normalisation",
      "scaled dot product attention",
      "block scale dequantisation",
      "block scale quantisation",
      "scaled dot product attention backward",
      "custom operation",
      "RMS normalisation backward",
      "reduction",
      "resample forward",
      "layer normalisation backward",
      "resample backward",
      "grouped matrix multiplication",
      "grouped matrix multiplication backward"};
  if (kind == NodeKind::Softmax)
    return "softmax";
  const auto number = static_cast<size_t>(kind);
  if (number < std::size(kNames))
    return kNames[number];
  return "operation " + std::to_string(number);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// The schema's numbers of data types, and ours.
static std::optional<DataType> convertType(uint8_t code) {
  switch (code) {
  case 1:
    return DataType::F32;
  case 2:
    return DataType::F16;
  case 3:
    return DataType::BF16;
  case 4:
    return DataType::F64;
  case 6:
    return DataType::I32;
  case 7:
    return DataType::I8;
  default:
    return std::nullopt;
  }
}

ErrorOr<DataType> Tensor::getType() const {
  if (const std::optional<DataType> type = convertType(typeCode))
    return *type;
  return notSupported(describe() + " has data type " +
                      std::to_string(typeCode) + ", which no kernel has");
}

int64_t Tensor::getSpan() const {
  int64_t span = 1;
  for (size_t dim = 0; dim < lengths.size(); ++dim)
    span += (lengths[dim] - 1) * strides[dim];
  return span;
}

std::string Tensor::describe() const {
  return "tensor " + std::to_string(uid) +
         (name.empty() ? "" : " (" + name + ")");
}

std::string Node::describe() const {
  return hipdnn::getName(kind) + (name.empty() ? "" : " (" + name + ")");
}

/// A number that a tensor is passed by, from the struct of its kind.
static std::optional<double> readValue(const FlatTable &table) {
  switch (table.get<uint8_t>(tensor_field::ValueKind)) {
  case 1: // f32, and shorter ones widened to it.
  case 2:
  case 3:
    return table.getTarget<float>(tensor_field::Value);
  case 5:
    return table.getTarget<int32_t>(tensor_field::Value);
  case 6:
    return table.getTarget<double>(tensor_field::Value);
  default:
    return std::nullopt;
  }
}

/// Whether numbers of a type may come with an execution.
static bool isNumberCode(uint8_t code) {
  return code == kFloatCode || code == kHalfCode || code == kBFloatCode ||
         code == kDoubleCode || code == kInt32Code;
}

static Tensor readTensor(const FlatTable &table) {
  Tensor tensor;
  tensor.uid = table.get<int64_t>(tensor_field::Uid);
  tensor.name = table.getString(tensor_field::Name);
  tensor.typeCode = table.get<uint8_t>(tensor_field::Type);
  tensor.lengths = table.getNumbers(tensor_field::Lengths);
  tensor.strides = table.getNumbers(tensor_field::Strides);
  tensor.isVirtual = table.get<uint8_t>(tensor_field::IsVirtual);
  tensor.value = readValue(table);
  // One that has a value nevertheless is never given another.
  tensor.isRuntimeValue =
      !tensor.value && table.get<uint8_t>(tensor_field::IsRuntimeValue);
  if (tensor.isRuntimeValue && isNumberCode(tensor.typeCode))
    tensor.value = 1;
  tensor.isRagged = table.has(tensor_field::RaggedOffset);
  return tensor;
}

/// Lengths and strides whose span in bytes fits 64 bits, so that arithmetic
/// with them needs no more checks.
static Status checkTensor(const Tensor &tensor) {
  if (tensor.lengths.size() != tensor.strides.size())
    return invalidArgument(
        tensor.describe() + " has " + std::to_string(tensor.lengths.size()) +
        " lengths and " + std::to_string(tensor.strides.size()) + " strides");
  int64_t bytes = sizeof(double);
  for (size_t dim = 0; dim < tensor.lengths.size(); ++dim) {
    int64_t reach;
    if (tensor.lengths[dim] < 1 || tensor.strides[dim] < 0)
      return invalidArgument(tensor.describe() +
                             " has a length below 1 or a negative stride");
    if (__builtin_mul_overflow(tensor.lengths[dim] - 1, tensor.strides[dim],
                               &reach) ||
        __builtin_mul_overflow(reach, int64_t(sizeof(double)), &reach) ||
        __builtin_add_overflow(bytes, reach, &bytes))
      return invalidArgument(tensor.describe() +
                             " has more bytes than 64 bits can count");
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

/// The nodes of early releases have no compute type, which then is the graph's,
/// and what follows it a field earlier.
static Node readNode(const FlatTable &table, const FlatTable &graph) {
  const bool isEarly =
      !table.has(node_field::Attributes) && table.has(node_field::Kind);
  Node node;
  node.isEarly = isEarly;
  node.name = table.getString(node_field::Name);
  node.computeTypeCode = isEarly ? graph.get<uint8_t>(graph_field::ComputeType)
                                 : table.get<uint8_t>(node_field::ComputeType);
  node.kind = NodeKind{table.get<uint8_t>(node_field::Kind - isEarly)};
  node.attributes = table.getTable(node_field::Attributes - isEarly);
  return node;
}

ErrorOr<Graph> Graph::read(std::span<const uint8_t> bytes) {
  Graph graph;
  graph.buffer = std::make_unique<FlatBuffer>(bytes);
  const FlatTable root = graph.buffer->getRoot();
  for (const FlatTable &table : root.getTables(graph_field::Tensors))
    graph.tensors.push_back(readTensor(table));
  for (const FlatTable &table : root.getTables(graph_field::Nodes))
    graph.nodes.push_back(readNode(table, root));
  graph.version = root.has(graph_field::Version);
  graph.runtimeShapes = root.get<uint8_t>(graph_field::HasRuntimeShapes);
  if (graph.isDamaged())
    return invalidArgument("the graph is damaged: a table of it does not end "
                           "in its " +
                           std::to_string(bytes.size()) + " bytes");
  if (Status status = graph.finish(); !status.isOk())
    return status;
  return graph;
}

ErrorOr<Graph> Graph::make(std::vector<Tensor> tensors,
                           std::vector<Node> nodes) {
  Graph graph;
  graph.buffer = std::make_unique<FlatBuffer>(std::span<const uint8_t>());
  graph.tensors = std::move(tensors);
  graph.nodes = std::move(nodes);
  if (Status status = graph.finish(); !status.isOk())
    return status;
  return graph;
}

/// Checks what has been read, and numbers the tensors.
Status Graph::finish() {
  if (nodes.empty())
    return invalidArgument("the graph has no nodes");
  for (const Tensor &tensor : tensors) {
    if (Status status = checkTensor(tensor); !status.isOk())
      return status;
    const auto number = static_cast<int>(numbers.size());
    if (!numbers.emplace(tensor.uid, number).second)
      return invalidArgument("two tensors of the graph have uid " +
                             std::to_string(tensor.uid));
  }
  return Status::ok();
}

Status Graph::setShape(int tensor, std::vector<int64_t> lengths,
                       std::vector<int64_t> strides) {
  Tensor changed = tensors[tensor];
  changed.lengths = std::move(lengths);
  changed.strides = std::move(strides);
  const std::vector<int64_t> &most = tensors[tensor].lengths;
  if (changed.lengths.size() != most.size())
    return invalidArgument(
        changed.describe() + " gets " + std::to_string(changed.lengths.size()) +
        " lengths instead of " + std::to_string(most.size()));
  for (size_t dim = 0; dim < most.size(); ++dim)
    if (changed.lengths[dim] > most[dim])
      return invalidArgument(changed.describe() + " gets length " +
                             std::to_string(changed.lengths[dim]) +
                             ", and the graph says at most " +
                             std::to_string(most[dim]));
  if (Status status = checkTensor(changed); !status.isOk())
    return status;
  tensors[tensor] = std::move(changed);
  return Status::ok();
}

int Graph::find(int64_t uid) const {
  const auto known = numbers.find(uid);
  return known == numbers.end() ? -1 : known->second;
}

//===----------------------------------------------------------------------===//
// Engines
//===----------------------------------------------------------------------===//

ErrorOr<int64_t> tessera::hipdnn::readEngine(std::span<const uint8_t> config) {
  FlatBuffer buffer(config);
  const auto engine = buffer.getRoot().get<int64_t>(engine_field::Id);
  if (buffer.isDamaged())
    return invalidArgument("the configuration of the engine is damaged");
  return engine;
}

std::vector<uint8_t> tessera::hipdnn::describeEngine(int64_t engine) {
  // A table whose first field is the engine and whose third is a list of notes
  // about it. Its list of offsets comes first, then the distance to that list,
  // and the number at a multiple of its size.
  constexpr int32_t kCompilesAtRuntime = 0, kSerialisesPlans = 4;
  struct Bytes {
    uint32_t root = offsetof(Bytes, listDistance);
    uint16_t listSize = 5 * sizeof(uint16_t);
    uint16_t tableSize = offsetof(Bytes, noteCount) - root;
    uint16_t engineOffset = offsetof(Bytes, engine) - root;
    uint16_t knobsOffset = 0; // There are none.
    uint16_t notesOffset = offsetof(Bytes, notesDistance) - root;
    uint16_t gap = 0;
    int32_t listDistance =
        offsetof(Bytes, listDistance) - offsetof(Bytes, listSize);
    uint32_t notesDistance =
        offsetof(Bytes, noteCount) - offsetof(Bytes, notesDistance);
    int64_t engine;
    uint32_t noteCount = 2;
    int32_t notes[2] = {kCompilesAtRuntime, kSerialisesPlans};
    uint32_t end = 0;
  } bytes{.engine = engine};
  static_assert(sizeof bytes == 48, "no padding");
  const auto *first = reinterpret_cast<const uint8_t *>(&bytes);
  return {first, first + sizeof bytes};
}

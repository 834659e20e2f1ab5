//===- TestGraph.cpp - Graphs of hipDNN as FlatBuffers --------------------===//

#include "test/unit/capi/hipdnn/TestGraph.h"

#include <array>
#include <numeric>

using namespace tessera::test;

Lengths tessera::test::getPackedStrides(const Lengths &lengths) {
  Lengths strides(lengths.size(), 1);
  for (size_t dim = lengths.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * lengths[dim];
  return strides;
}

Lengths tessera::test::getChannelsLastStrides(const Lengths &lengths) {
  Lengths strides(lengths.size(), 1);
  int64_t step = lengths[1];
  for (size_t dim = lengths.size(); dim-- > 2;) {
    strides[dim] = step;
    step *= lengths[dim];
  }
  strides[0] = step;
  return strides;
}

int64_t GraphTensor::getElements() const {
  return std::accumulate(lengths.begin(), lengths.end(), int64_t(1),
                         std::multiplies());
}

int64_t GraphTensor::getSpan() const {
  return getOffset(getElements() - 1) + 1;
}

size_t GraphTensor::getElementBytes() const {
  switch (type) {
  case GraphType::F16:
  case GraphType::BF16:
    return 2;
  case GraphType::F64:
    return 8;
  case GraphType::I8:
    return 1;
  default:
    return 4;
  }
}

int64_t GraphTensor::getOffset(int64_t element) const {
  int64_t offset = 0;
  for (size_t dim = lengths.size(); dim-- > 0;) {
    offset += element % lengths[dim] * strides[dim];
    element /= lengths[dim];
  }
  return offset;
}

int64_t TestGraph::tensor(GraphType type, const Lengths &lengths,
                          const Lengths &strides) {
  const auto uid = static_cast<int64_t>(tensors.size());
  tensors[uid] = {type, lengths,
                  strides.empty() ? getPackedStrides(lengths) : strides};
  return uid;
}

int64_t TestGraph::internal(GraphType type, const Lengths &lengths,
                            const Lengths &strides) {
  const int64_t uid = tensor(type, lengths, strides);
  tensors[uid].isVirtual = true;
  return uid;
}

int64_t TestGraph::number(double value) {
  const int64_t uid = tensor(GraphType::F32, {1});
  tensors[uid].value = value;
  return uid;
}

int64_t TestGraph::runtimeNumber(GraphType type, double value) {
  const int64_t uid = tensor(type, {1});
  tensors[uid].value = value;
  tensors[uid].isRuntimeValue = true;
  return uid;
}

void TestGraph::node(GraphNode kind, FlatFields fields, uint8_t computeType) {
  nodes.push_back({kind, std::move(fields), computeType});
}

std::vector<uint8_t> TestGraph::write() const {
  std::vector<FlatFields> tensorTables, nodeTables;
  for (const auto &[uid, tensor] : tensors) {
    FlatFields &table = tensorTables.emplace_back();
    // hipDNN's library leaves numbers out that are the default, so uid 0, too.
    if (uid)
      table.number(0, uid);
    table.set(1, "t" + std::to_string(uid))
        .number(2, static_cast<uint8_t>(tensor.type))
        .set(3, tensor.strides)
        .set(4, tensor.lengths);
    if (tensor.isVirtual)
      table.number(5, uint8_t(1));
    if (tensor.isRuntimeValue || tensor.hasDefault)
      table.number(8, uint8_t(1));
    if (tensor.value && !tensor.isRuntimeValue)
      table.number(6, uint8_t(1))
          .set(7,
               FlatStruct{FlatNumber::of(static_cast<float>(*tensor.value))});
  }
  for (const Node &node : nodes) {
    FlatFields &table = nodeTables.emplace_back();
    if (!isEarly)
      table.number(1, node.computeType);
    table.set(0, "node")
        .number(2 - isEarly, static_cast<uint8_t>(node.kind))
        .table(3 - isEarly, node.fields);
  }
  FlatFields graph;
  if (isEarly && !nodes.empty())
    graph.number(1, nodes.front().computeType);
  if (hasVersion)
    graph.number(8, std::array<uint32_t, 3>{1, 0, 0});
  if (hasRuntimeShapes)
    graph.number(7, uint8_t(1));
  return writeFlatBuffer(
      graph.set(0, "graph").set(4, tensorTables).set(5, nodeTables));
}

FlatFields tessera::test::makeTable(const std::vector<int64_t> &uids) {
  FlatFields table;
  // As above: a uid of 0 is not written, and no optional tensor has it here.
  for (size_t field = 0; field < uids.size(); ++field)
    if (uids[field] > 0)
      table.number(static_cast<int>(field), uids[field]);
  return table;
}

FlatFields tessera::test::makeConvolution(int64_t first, int64_t second,
                                          int64_t result,
                                          const Window &window) {
  return makeTable({first, second, result})
      .set(3, window.before)
      .set(4, window.after)
      .set(5, window.stride)
      .set(6, window.dilation)
      .number(7, uint8_t(2));
}

FlatFields tessera::test::makePointwise(uint8_t operation, int64_t first,
                                        int64_t second, int64_t result) {
  FlatFields table = makeTable({-1, -1, -1, -1, -1, first, second, -1, result});
  return table.number(0, operation);
}

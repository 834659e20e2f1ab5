//===- TestGraph.h - Graphs of hipDNN and what they give -------*- C++ -*--===//
//
// A test builds a graph as a client would and gets its FlatBuffer, and what
// hipDNN's definitions of the nodes give for it, computed in double, one node
// after another. It shares no code with the plugin.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_CAPI_HIPDNN_TESTGRAPH_H
#define TESSERA_TEST_UNIT_CAPI_HIPDNN_TESTGRAPH_H

#include "test/unit/capi/hipdnn/FlatWriter.h"

#include <optional>
#include <set>

namespace tessera::test {

/// hipDNN's numbers of data types.
enum class GraphType : uint8_t {
  F32 = 1,
  F16 = 2,
  BF16 = 3,
  F64 = 4,
  I32 = 6,
  I8 = 7
};

/// hipDNN's numbers of nodes.
enum class GraphNode : uint8_t {
  BatchNormInference = 1,
  Pointwise = 2,
  BatchNormBackward = 3,
  BatchNorm = 4,
  ConvolutionForward = 5,
  ConvolutionBackward = 6,
  ConvolutionWeights = 7,
  BatchNormInferenceVariance = 8,
  Matmul = 9,
  RmsNorm = 10,
  LayerNorm = 11,
  Sdpa = 12,
  BlockScaleDequantize = 13,
  RmsNormBackward = 17,
  Reduction = 18,
  ResampleForward = 19,
  LayerNormBackward = 20,
  ResampleBackward = 21,
};

using Lengths = std::vector<int64_t>;

Lengths getPackedStrides(const Lengths &lengths);
/// Channels, the second dimension, lie together.
Lengths getChannelsLastStrides(const Lengths &lengths);

struct GraphTensor {
  GraphType type;
  Lengths lengths, strides;
  bool isVirtual = false;
  std::optional<double> value = std::nullopt;
  double least = -1;           ///< Random inputs are between it and 1.
  bool isRuntimeValue = false; ///< The value comes with each execution.
  bool hasDefault = false;     ///< It may, and the graph says it, too.

  int64_t getElements() const;
  /// Elements from the first to the last one in memory.
  int64_t getSpan() const;
  size_t getElementBytes() const;
  /// Where an element, counted with the last dimension fastest, is in memory.
  int64_t getOffset(int64_t element) const;
};

/// The elements of a tensor, the last dimension fastest.
using Values = std::vector<double>;

class TestGraph {
public:
  /// Adds a tensor and returns its uid. Without strides it is packed.
  int64_t tensor(GraphType type, const Lengths &lengths,
                 const Lengths &strides = {});
  int64_t internal(GraphType type, const Lengths &lengths,
                   const Lengths &strides = {});
  int64_t number(double value);
  /// One that the graph does not say, but each execution.
  int64_t runtimeNumber(GraphType type, double value);
  /// Marks a number of the graph as one that may come with executions.
  void alsoComesWithExecutions(int64_t uid) { get(uid).hasDefault = true; }

  /// Adds a node with the fields of its table.
  void node(GraphNode kind, FlatFields fields, uint8_t computeType = 1);

  /// As hipDNN's releases of 2025 write graphs: a node has no compute type, but
  /// the graph has one, and what follows it in a node is a field earlier.
  void writeAsEarlyRelease() { isEarly = true; }
  /// As later releases do.
  void writeVersion() { hasVersion = true; }
  /// Says that an execution may give other lengths.
  void allowRuntimeShapes() { hasRuntimeShapes = true; }
  std::vector<uint8_t> write() const;

  /// Computes all nodes. `values` has the inputs and receives the rest.
  void compute(std::map<int64_t, Values> &values) const;

  const std::map<int64_t, GraphTensor> &getTensors() const { return tensors; }
  GraphTensor &get(int64_t uid) { return tensors.at(uid); }
  /// The tensors that nodes write.
  std::set<int64_t> getResults() const;

private:
  struct Node {
    GraphNode kind;
    FlatFields fields;
    uint8_t computeType;
  };
  class Evaluation;

  std::map<int64_t, GraphTensor> tensors;
  std::vector<Node> nodes;
  bool isEarly = false;
  bool hasRuntimeShapes = false;
  bool hasVersion = false;
};

/// A number of a table's field.
template <typename T>
T getNumber(const FlatFields &table, int field, T otherwise = {}) {
  const auto found = table.fields.find(field);
  if (found == table.fields.end())
    return otherwise;
  T value;
  std::memcpy(&value, std::get<FlatNumber>(found->second).bytes.data(),
              sizeof value);
  return value;
}

/// The table of a convolution of any direction: its tensors in the order of the
/// schema, and numbers for each spatial dimension.
struct Window {
  Lengths before, after, stride, dilation;
};
FlatFields makeConvolution(int64_t first, int64_t second, int64_t result,
                           const Window &window);
/// The table of a pointwise operation; `second` may be -1.
FlatFields makePointwise(uint8_t operation, int64_t first, int64_t second,
                         int64_t result);
/// A table whose fields 0, 1, ... are tensors; -1 leaves one out.
FlatFields makeTable(const std::vector<int64_t> &uids);

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_CAPI_HIPDNN_TESTGRAPH_H

//===- Graph.h - What hipDNN asks to compute -------------------*- C++ -*--===//
//
// A graph has tensors, known by a number of hipDNN's (their uid), and nodes in
// an order in which they can be computed. This file has the shape of its
// FlatBuffer: which field of which table is what, as the schemas number them.
// Readers of other formats make graphs of the same tensors and nodes
// (capi/onnxruntime).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_HIPDNN_GRAPH_H
#define TESSERA_CAPI_HIPDNN_GRAPH_H

#include "capi/hipdnn/FlatBuffer.h"
#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/ProblemTypes.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tessera::hipdnn {

/// The operation of a node: the number of its table in the schema's union.
enum class NodeKind : uint16_t {
  BatchNormInference = 1,
  Pointwise = 2,
  BatchNormBackward = 3,
  BatchNorm = 4,
  ConvolutionForward = 5,
  ConvolutionBackward = 6,
  ConvolutionWeights = 7,
  BatchNormInferenceVariance = 8,
  RmsNorm = 10,
  LayerNorm = 11,
  RmsNormBackward = 17,
  Reduction = 18,
  ResampleForward = 19,
  LayerNormBackward = 20,
  ResampleBackward = 21,
  Softmax = 256, ///< Not of the schema, whose numbers are bytes.
};

/// The schema's numbers of data types that have a meaning beyond a tensor's
/// elements.
enum : uint8_t {
  kFloatCode = 1,
  kHalfCode = 2,
  kBFloatCode = 3,
  kDoubleCode = 4,
  kInt32Code = 6
};

/// The word of any kind, also of those without an enumerator, for messages.
std::string getName(NodeKind kind);

/// A tensor, or a number that is passed by its value. Plain data.
struct Tensor {
  int64_t uid = 0;
  std::string name;
  uint8_t typeCode = 0; ///< The schema's number.
  std::vector<int64_t> lengths;
  std::vector<int64_t> strides;
  bool isVirtual = false;      ///< Its memory is ours: nobody else sees it.
  std::optional<double> value; ///< If runtime value, one to plan with.
  bool isRuntimeValue = false; ///< The value comes with each execution.
  bool isRagged = false;       ///< The images of a batch differ in length.

  int getRank() const { return static_cast<int>(lengths.size()); }
  /// NotSupported, with the tensor's name, for types that no kernel has.
  ErrorOr<DataType> getType() const;
  /// From the first element to the last one, both included.
  int64_t getSpan() const;
  /// How messages call it.
  std::string describe() const;
};

/// The fields of a node by their numbers: those of its table, or what the
/// reader of another format has set.
class NodeFields {
public:
  NodeFields() = default;
  NodeFields(FlatTable table) : table(table) {}

  void set(int field, double number) { numbers[field] = number; }
  void set(int field, std::vector<int64_t> list) {
    lists[field] = std::move(list);
  }

  bool has(int field) const {
    return numbers.contains(field) || lists.contains(field) || table.has(field);
  }
  /// A number, or `otherwise` where the node does not have it.
  template <typename T>
  T get(int field, T otherwise = {}) const {
    const auto own = numbers.find(field);
    return own == numbers.end() ? table.get<T>(field, otherwise)
                                : static_cast<T>(own->second);
  }
  std::vector<int64_t> getNumbers(int field) const {
    const auto own = lists.find(field);
    return own == lists.end() ? table.getNumbers(field) : own->second;
  }

private:
  FlatTable table;
  std::unordered_map<int, double> numbers;
  std::unordered_map<int, std::vector<int64_t>> lists;
};

/// A node; its fields are read by who serves its kind.
struct Node {
  std::string name;
  NodeKind kind{};
  uint8_t computeTypeCode = 0;
  NodeFields attributes;
  /// Of a release whose activations' gradients take x before dy.
  bool isEarly = false;

  std::string describe() const;
};

/// A graph that has been read. Its nodes refer to the bytes that it was read
/// from, which are borrowed.
class Graph {
public:
  /// InvalidArgument unless the bytes are a graph.
  static ErrorOr<Graph> read(std::span<const uint8_t> bytes);
  /// InvalidArgument unless tensors have lengths, strides and uids of their
  /// own.
  static ErrorOr<Graph> make(std::vector<Tensor> tensors,
                             std::vector<Node> nodes);

  const std::vector<Tensor> &getTensors() const { return tensors; }
  const std::vector<Node> &getNodes() const { return nodes; }
  /// The number of a tensor in getTensors(), or -1.
  int find(int64_t uid) const;
  /// Whether an execution may give tensors other lengths, up to those here.
  bool hasRuntimeShapes() const { return runtimeShapes; }

  /// Whether it says which version of the interface it needs, as hipDNN's
  /// graphs do since July 2026.
  bool hasVersion() const { return version; }

  /// Sets the value of a tensor that comes with an execution.
  void setValue(int tensor, double value) { tensors[tensor].value = value; }
  /// Gives a tensor other lengths and strides. InvalidArgument if their number
  /// is another one, or a length is above that of the graph or below 1.
  Status setShape(int tensor, std::vector<int64_t> lengths,
                  std::vector<int64_t> strides);

  /// Whether a table that was read since then left the buffer.
  bool isDamaged() const { return buffer->isDamaged(); }

private:
  Status finish();

  std::unique_ptr<FlatBuffer> buffer;
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;
  std::unordered_map<int64_t, int> numbers;
  bool runtimeShapes = false;
  bool version = false;
};

/// The engine that a FlatBuffer of an engine's configuration names.
ErrorOr<int64_t> readEngine(std::span<const uint8_t> config);

/// The FlatBuffer that describes an engine without settings, which compiles
/// when it is asked and whose plans can be serialised.
std::vector<uint8_t> describeEngine(int64_t engine);

} // namespace tessera::hipdnn

#endif // TESSERA_CAPI_HIPDNN_GRAPH_H

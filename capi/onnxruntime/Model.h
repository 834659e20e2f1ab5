//===- Model.h - Nodes and values of an ONNX graph -------------*- C++ -*--===//
//
// ONNX Runtime shows a graph while it asks, and takes it away afterwards. This
// is a copy of what we need of it: plain data, without the weights.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_ONNXRUNTIME_MODEL_H
#define TESSERA_CAPI_ONNXRUNTIME_MODEL_H

#include "capi/onnxruntime/OrtApi.h"
#include "runtime/Base/ErrorOr.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tessera::onnx {

using Shape = std::vector<int64_t>;

/// The numbers of ONNX's element types that we have.
enum : int32_t { kF32 = 1, kF16 = 10, kF64 = 11, kBF16 = 16 };

/// Bytes of an element of such a type; 0 for all others.
size_t getElementSize(int32_t type);

struct Value {
  std::string name;
  int32_t type = 0;
  Shape lengths; ///< -1 where the model leaves one open.
  bool isOutput = false;
  /// A constant, whose bytes ONNX Runtime keeps for as long as it shows the
  /// graph; its number, if it is one of f32 or f64.
  bool isConstant = false;
  const void *data = nullptr;
  std::optional<double> number;
};

struct Node {
  std::string name, op, domain;
  int version = 0; ///< Of the operator set that introduced this meaning.
  /// Numbers of values; -1 is an operand that is left out.
  std::vector<int> inputs, outputs;
  std::vector<int> implicitInputs; ///< Read by graphs inside the node.
  std::unordered_map<std::string, int64_t> integers;
  std::unordered_map<std::string, std::vector<int64_t>> lists;
  std::unordered_map<std::string, double> numbers;
  std::unordered_map<std::string, std::string> texts;

  int getInput(size_t number) const {
    return number < inputs.size() ? inputs[number] : -1;
  }
  int64_t getInteger(const std::string &key, int64_t otherwise) const {
    const auto found = integers.find(key);
    return found == integers.end() ? otherwise : found->second;
  }
  double getNumber(const std::string &key, double otherwise) const {
    const auto found = numbers.find(key);
    return found == numbers.end() ? otherwise : found->second;
  }
  std::string describe() const { return op + " '" + name + "'"; }
};

struct Model {
  std::vector<Value> values;
  std::vector<Node> nodes; ///< Each behind those whose results it reads.
  std::unordered_map<std::string, int> numbers; ///< Of values, by their names.
  /// ONNX Runtime's nodes, valid while it shows the graph.
  std::vector<const ort::Node *> handles;
};

/// The failure that an error is, which is released.
Status toStatus(const ort::Api &api, ort::Error *error);

/// Reads a graph.
ErrorOr<Model> readModel(const ort::Api &api, const ort::Graph *graph);

/// The names of a node's inputs, or of its outputs.
ErrorOr<std::vector<std::string>>
readNames(const ort::Api &api, const ort::Node *node, bool areOutputs);

/// The lengths of a tensor that exists.
ErrorOr<Shape> readLengths(const ort::Api &api, const ort::Tensor *tensor);

} // namespace tessera::onnx

#endif // TESSERA_CAPI_ONNXRUNTIME_MODEL_H

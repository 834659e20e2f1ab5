//===- OrtHost.h - ONNX Runtime's side of the provider ---------*- C++ -*--===//
//
// A host of our own behind the table of functions that the provider calls: it
// shows graphs, takes groups of nodes, has them compiled and calls what was
// made of them. Any of its functions can be made to fail.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_CAPI_ONNXRUNTIME_ORTHOST_H
#define TESSERA_TEST_UNIT_CAPI_ONNXRUNTIME_ORTHOST_H

#include "capi/onnxruntime/OrtApi.h"

#include <deque>
#include <map>
#include <string>
#include <variant>
#include <vector>

// The objects that the provider sees as opaque.
namespace tessera::ort {

struct Error {
  int32_t code;
  std::string message;
};

struct TensorInfo {
  int32_t type = 1;
  std::vector<int64_t> lengths;
};
struct Tensor {
  TensorInfo info;
  std::vector<float> data;
};
struct TypeInfo {
  const TensorInfo *info;
};
struct ValueInfo {
  std::string name;
  Tensor tensor; ///< Its type; its data if it is constant.
  bool isConstant = false, isOutput = false;
  TypeInfo type = {nullptr};
};
struct Attribute {
  std::string name;
  std::variant<int64_t, float, std::vector<int64_t>, std::string> value;
};
struct Node {
  std::string op;
  std::vector<const ValueInfo *> inputs, outputs;
  std::vector<Attribute> attributes;
};
struct Graph {
  std::vector<const Node *> nodes;
};
struct KernelContext {
  std::vector<const Tensor *> inputs;
  std::deque<Tensor> outputs;
};
struct SupportInfo {
  std::vector<std::vector<const Node *>> groups;
};
struct HardwareDevice {
  int32_t type;
};
struct Device {};

} // namespace tessera::ort

namespace tessera::test {

/// A graph with the memory of what is in it.
class HostGraph {
public:
  using Value = ort::ValueInfo *;
  Value value(std::string name, std::vector<int64_t> lengths);
  /// With random numbers.
  Value constant(std::string name, std::vector<int64_t> lengths);
  Value add(std::string op, std::vector<const ort::ValueInfo *> inputs,
            std::vector<ort::Attribute> attributes = {});

  ort::Graph graph;

private:
  std::deque<ort::ValueInfo> values;
  std::deque<ort::Node> nodes;
};

/// A session: a provider of the library that the tests load.
class OrtHost {
public:
  OrtHost();
  ~OrtHost();

  /// What went wrong, "" on success. The error is released.
  std::string claim(const ort::Graph &graph);
  std::string compile(std::vector<const ort::Node *> group,
                      std::vector<const ort::ValueInfo *> inputs,
                      std::vector<const ort::ValueInfo *> outputs);
  std::string run(std::vector<const ort::Tensor *> inputs);

  /// What the library says to a host whose API has this newest version.
  static std::string createFactory(uint32_t version, size_t capacity,
                                   ort::Factory *&factory);

  /// From now on, the call with this number of those that can fail does; none
  /// if it is negative. Returns how many there were since the last time.
  static int failAt(int number);
  /// Errors and types that the library was given and has not released.
  static int countObjects();

  ort::SupportInfo support;
  ort::KernelContext context;

private:
  static std::string take(ort::Error *error);

  ort::Factory *factory = nullptr;
  ort::Provider *provider = nullptr;
  ort::Computation *computation = nullptr;
};

/// Random numbers.
std::vector<float> makeData(const std::vector<int64_t> &lengths);

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_CAPI_ONNXRUNTIME_ORTHOST_H

//===- Scope.h - What is known of a graph's values -------------*- C++ -*--===//
//
// A node names its operands; a scope looks up what the model says of them, also
// in the graphs around that of the node.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_DNN_ONNX_SCOPE_H
#define TESSERA_TOOLS_DNN_ONNX_SCOPE_H

#include "runtime/Base/ErrorOr.h"

#include "onnx/onnx_pb.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tessera::model {

/// Borrows the graph and the scope around it.
class Scope {
public:
  Scope(const onnx::GraphProto &graph, const Scope *outer);

  /// The lengths of a value, each at least 1 and of 32 bits; a failure
  /// describes the value by `role`: "its filter".
  ErrorOr<std::vector<int64_t>> getShape(const std::string &name,
                                         const std::string &role) const;

  /// The onnx::TensorProto::DataType, or UNDEFINED.
  int getElementType(const std::string &name) const;

  /// The number that a constant scalar holds.
  std::optional<float> getScalar(const std::string &name) const;

  /// The only node that reads the value, if there is exactly one and no other
  /// graph reads the value.
  const onnx::NodeProto *getOnlyReader(const std::string &name) const;

private:
  struct Use {
    int count = 0;
    const onnx::NodeProto *reader = nullptr;
  };

  const onnx::TypeProto_Tensor *findType(const std::string &name) const;
  const onnx::TensorProto *findConstant(const std::string &name) const;
  void countUses(const onnx::GraphProto &graph, bool isInner);

  const Scope *outer;
  std::unordered_map<std::string, const onnx::TypeProto_Tensor *> types;
  std::unordered_map<std::string, const onnx::TensorProto *> constants;
  std::unordered_map<std::string, Use> uses;
};

} // namespace tessera::model

#endif // TESSERA_TOOLS_DNN_ONNX_SCOPE_H

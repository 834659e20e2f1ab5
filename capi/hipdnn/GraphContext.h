//===- GraphContext.h - A graph that can be executed -----------*- C++ -*--===//

#ifndef TESSERA_CAPI_HIPDNN_GRAPHCONTEXT_H
#define TESSERA_CAPI_HIPDNN_GRAPHCONTEXT_H

#include "capi/hipdnn/Execution.h"
#include "capi/hipdnn/Shapes.h"

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::hipdnn {

/// The plan of a graph as it is declared: with the largest lengths, and numbers
/// that come with an execution as 1.
ErrorOr<Plan> planGraph(Graph &graph);

/// What hipDNN holds for a plan. Owns the graph's bytes and what they were made
/// into. Where an execution brings lengths or numbers, the plan is made anew
/// with them, in the workspace of the declared one, and kept for the next.
/// Several threads may run it at the same time, with handles of their own.
class GraphContext {
public:
  /// Compiles the kernels of the graph. The workspace has `workspaceBytes` if
  /// that is given, else what the kernels need.
  static ErrorOr<std::unique_ptr<GraphContext>>
  make(Handle &handle, std::span<const uint8_t> graph,
       std::optional<size_t> workspaceBytes = std::nullopt);

  size_t getWorkspaceBytes() const { return declared->workspaceBytes; }

  Status run(Handle &handle, void *workspace,
             std::span<const DeviceBuffer> buffers,
             std::span<const Shape> shapes = {});

  /// All that another process needs to run the graph without compiling: the
  /// graph, and its problems with their machine code.
  ErrorOr<std::string> serialise(Handle &handle) const;
  /// InvalidArgument if the bytes are damaged or were never serialised;
  /// NotSupported if they are of another release or for another chip.
  static ErrorOr<std::unique_ptr<GraphContext>>
  deserialise(Handle &handle, std::span<const uint8_t> bytes);

private:
  /// A number that comes with an execution, in the client's memory.
  struct RuntimeValue {
    int tensor;
    int64_t uid;
    uint8_t typeCode;
  };
  /// The plan with the values and lengths of an execution.
  struct Adapted {
    std::vector<double> values;
    std::vector<Shape> shapes;
    std::shared_ptr<const Context> context;
  };

  ErrorOr<std::vector<double>>
  readValues(std::span<const DeviceBuffer> buffers) const;
  ErrorOr<std::shared_ptr<const Context>> adapt(Handle &handle,
                                                std::vector<double> values,
                                                std::span<const Shape> shapes);

  std::vector<uint8_t> bytes;
  bool hasRuntimeShapes = false;
  std::vector<RuntimeValue> runtimeValues;
  std::unique_ptr<const Context> declared;
  std::mutex mutex; ///< Guards `last`.
  Adapted last;
};

} // namespace tessera::hipdnn

#endif // TESSERA_CAPI_HIPDNN_GRAPHCONTEXT_H

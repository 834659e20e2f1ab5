//===- Subgraph.h - A fused node on the device -----------------*- C++ -*--===//

#ifndef TESSERA_CAPI_ONNXRUNTIME_SUBGRAPH_H
#define TESSERA_CAPI_ONNXRUNTIME_SUBGRAPH_H

#include "capi/hipdnn/Execution.h"
#include "capi/onnxruntime/Translation.h"
#include "runtime/Gpu/DeviceBuffer.h"

#include <map>
#include <memory>
#include <mutex>

namespace tessera::onnx {

/// The device as a session of ONNX Runtime has it. Its subgraphs run one at a
/// time, whatever threads call them.
struct Device {
  const GpuApi *gpu = nullptr;
  hipdnn::Handle handle;
  std::mutex mutex;
};

/// Nodes that run as one, with their constants on the device. Tensors come from
/// the host and go there; what passes between the nodes stays.
class Subgraph {
public:
  /// Copies what is needed of a graph, and compiles its kernels if the model
  /// says all lengths. `fusedNode` has the inputs and outputs of each call.
  static ErrorOr<std::unique_ptr<Subgraph>> make(const ort::Api &api,
                                                 Device &device,
                                                 const ort::Graph *graph,
                                                 const ort::Node *fusedNode);

  /// Computes the outputs. Compiles on the first call with some lengths.
  Status run(ort::KernelContext *context);

private:
  /// Kernels for some lengths of the inputs.
  struct Prepared {
    std::unique_ptr<hipdnn::Context> context;
    std::vector<int> values;     ///< Of the plan's tensors.
    std::vector<Shape> lengths;  ///< Of all values.
    std::vector<size_t> offsets; ///< Of inputs, outputs and the workspace.
    size_t bytes = 0;
  };

  Subgraph(const ort::Api &api, Device &device) : api(api), device(device) {}
  Status setOperands(const ort::Node *fusedNode);
  Status addConstants();
  Status prepareIfKnown();
  ErrorOr<Prepared *> prepare(const std::vector<Shape> &shapes);
  Status copyInputs(const Prepared &prepared,
                    const std::vector<const void *> &sources);
  Status copyOutputs(const Prepared &prepared, ort::KernelContext *context);
  Status launch(const Prepared &prepared);
  size_t getBytes(const Prepared &prepared, int value) const;
  char *getMemory(const Prepared &prepared, size_t operand) const {
    return static_cast<char *>(memory->get()) + prepared.offsets[operand];
  }

  const ort::Api &api;
  Device &device;
  Model model;
  std::vector<int> inputs, outputs; ///< Values.
  std::map<int, tessera::DeviceBuffer> constants;
  std::map<std::vector<Shape>, Prepared> prepared;
  std::unique_ptr<tessera::DeviceBuffer> memory; ///< Of all else; it grows.
};

} // namespace tessera::onnx

#endif // TESSERA_CAPI_ONNXRUNTIME_SUBGRAPH_H

//===- DeviceNetwork.h - A network through MIOpen's API --------*- C++ -*--===//
//
// Each layer is one or two calls of the C API, as frameworks make them:
// convolutions use immediate mode, and a gradient to which several layers
// contribute is summed by miopenOpTensor().
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_RESNET50_DEVICENETWORK_H
#define TESSERA_TOOLS_RESNET50_DEVICENETWORK_H

#include "runtime/Gpu/DeviceBuffer.h"
#include "tools/resnet50/LayerReference.h"

#include <miopen/miopen.h>

#include <functional>
#include <memory>

namespace tessera::resnet {

/// Owns an object of the API.
template <typename T, miopenStatus_t (*destroy)(T)>
class Owned {
public:
  Owned() = default;
  ~Owned() {
    if (object)
      destroy(object);
  }
  Owned(const Owned &) = delete;
  Owned &operator=(const Owned &) = delete;

  operator T() const { return object; }
  T *getAddress() { return &object; }

private:
  T object = nullptr;
};

/// Values and gradients of a network's tensors on the device. Used by one
/// thread.
class DeviceNetwork {
public:
  /// `network` must outlive it.
  static ErrorOr<std::unique_ptr<DeviceNetwork>> create(const GpuApi &gpu,
                                                        const Network &network);

  /// Runs the layer forward. Asynchronous.
  Status forward(const Layer &layer);
  /// Adds to the gradients of the layer's inputs and parameters.
  Status backward(const Layer &layer);
  /// Must be called before the first backward() of a pass.
  void forgetGradients();
  Status synchronize() const;

  bool hasGradient(int tensor) const { return stored[tensor].hasGradient; }
  ErrorOr<Values> readValue(int tensor) const;
  ErrorOr<Values> readGradient(int tensor) const;
  Status writeValue(int tensor, const Values &values);
  Status writeGradient(int tensor, const Values &values);

private:
  /// A tensor of the network.
  struct Stored {
    Owned<miopenTensorDescriptor_t, miopenDestroyTensorDescriptor> desc;
    std::unique_ptr<DeviceBuffer> value, gradient;
    bool hasGradient = false;
  };
  /// The state of a layer between calls.
  struct LayerState {
    Owned<miopenConvolutionDescriptor_t, miopenDestroyConvolutionDescriptor>
        window;
    Owned<miopenPoolingDescriptor_t, miopenDestroyPoolingDescriptor> pooling;
    std::unique_ptr<DeviceBuffer> indices;
  };
  using Write = std::function<miopenStatus_t(void *to)>;

  DeviceNetwork(const GpuApi &gpu, const Network &network)
      : gpu(gpu), network(network), stored(network.tensors.size()) {}
  Status prepare();
  Status prepareLayer(const Layer &layer, LayerState &state);
  ErrorOr<std::unique_ptr<DeviceBuffer>> allocate(size_t bytes) const;

  miopenStatus_t runForward(const Layer &layer);
  miopenStatus_t runBackward(const Layer &layer);
  miopenStatus_t convForward(const Layer &layer);
  miopenStatus_t convBackward(const Layer &layer);
  miopenStatus_t normalize(const Layer &layer);
  miopenStatus_t normalizeBackward(const Layer &layer);
  miopenStatus_t poolForward(const Layer &layer);
  miopenStatus_t poolBackward(const Layer &layer);
  /// c = a + factor b
  miopenStatus_t add(int a, const void *aData, int b, const void *bData, int c,
                     void *cData, float factor = 1);
  /// Calls `write` with the tensor's gradient, or, if there is one already,
  /// with other memory that is then added to it.
  miopenStatus_t contribute(int tensor, const Write &write);
  /// Null if memory runs out.
  void *getWorkspace(size_t bytes);

  LayerState &getState(const Layer &layer) {
    return *states[&layer - network.layers.data()];
  }
  miopenTensorDescriptor_t desc(int tensor) const {
    return stored[tensor].desc;
  }
  void *value(int tensor) const { return stored[tensor].value->get(); }
  void *gradient(int tensor) const { return stored[tensor].gradient->get(); }

  const GpuApi &gpu;
  const Network &network;
  Owned<miopenHandle_t, miopenDestroy> handle;
  Owned<miopenActivationDescriptor_t, miopenDestroyActivationDescriptor> relu;
  std::vector<Stored> stored;
  std::vector<std::unique_ptr<LayerState>> states;
  std::unique_ptr<DeviceBuffer> workspace, scratch;
};

} // namespace tessera::resnet

#endif // TESSERA_TOOLS_RESNET50_DEVICENETWORK_H

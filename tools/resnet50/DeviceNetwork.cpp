//===- DeviceNetwork.cpp - A network through MIOpen's API -----------------===//

#include "tools/resnet50/DeviceNetwork.h"

#include <algorithm>
#include <tessera/tessera.h>

using namespace tessera;
using namespace tessera::resnet;

static const float kOne = 1, kZero = 0;

static Status toStatus(miopenStatus_t status, const std::string &what) {
  if (status == miopenStatusSuccess)
    return Status::ok();
  std::string text = what + ": " + miopenGetErrorString(status) + ": " +
                     tesseraGetLastErrorMessage();
  return status == miopenStatusNotImplemented ? notSupported(text)
                                              : internalError(text);
}

ErrorOr<std::unique_ptr<DeviceBuffer>>
DeviceNetwork::allocate(size_t bytes) const {
  ErrorOr<DeviceBuffer> buffer = DeviceBuffer::allocate(gpu, bytes);
  if (!buffer)
    return buffer.getStatus();
  return std::make_unique<DeviceBuffer>(std::move(*buffer));
}

Status DeviceNetwork::prepareLayer(const Layer &layer, LayerState &state) {
  const int window = layer.window, stride = layer.stride, pad = layer.pad;
  miopenStatus_t status = miopenStatusSuccess;
  if (layer.kind == LayerKind::Conv) {
    status = miopenCreateConvolutionDescriptor(state.window.getAddress());
    if (!status)
      status = miopenInitConvolutionDescriptor(state.window, miopenConvolution,
                                               pad, pad, stride, stride, 1, 1);
  }
  if (layer.kind == LayerKind::MaxPool ||
      layer.kind == LayerKind::AveragePool) {
    status = miopenCreatePoolingDescriptor(state.pooling.getAddress());
    if (!status)
      status = miopenSet2dPoolingDescriptor(
          state.pooling,
          layer.kind == LayerKind::MaxPool ? miopenPoolingMax
                                           : miopenPoolingAverage,
          window, window, pad, pad, stride, stride);
    size_t bytes = 0;
    if (!status)
      status =
          miopenPoolingGetWorkSpaceSizeV2(state.pooling, desc(layer.y), &bytes);
    auto indices = allocate(bytes);
    if (!indices)
      return indices.getStatus();
    state.indices = std::move(*indices);
  }
  return toStatus(status, layer.name);
}

Status DeviceNetwork::prepare() {
  miopenStatus_t status = miopenCreate(handle.getAddress());
  if (!status)
    status = miopenCreateActivationDescriptor(relu.getAddress());
  if (!status)
    status = miopenSetActivationDescriptor(relu, miopenActivationRELU, 0, 0, 0);
  size_t most = 0;
  for (size_t i = 0; i < stored.size() && !status; ++i) {
    const Dims &dims = network.tensors[i].dims;
    status = miopenCreateTensorDescriptor(stored[i].desc.getAddress());
    if (!status)
      status = miopenSet4dTensorDescriptor(stored[i].desc, miopenFloat, dims.n,
                                           dims.c, dims.h, dims.w);
    size_t bytes = dims.getCount() * sizeof(float);
    most = std::max(most, bytes);
    auto value = allocate(bytes), gradient = allocate(bytes);
    if (!value || !gradient)
      return value ? gradient.getStatus() : value.getStatus();
    stored[i].value = std::move(*value);
    stored[i].gradient = std::move(*gradient);
  }
  if (status)
    return toStatus(status, "descriptors");
  auto memory = allocate(most);
  if (!memory)
    return memory.getStatus();
  scratch = std::move(*memory);
  for (const Layer &layer : network.layers) {
    states.push_back(std::make_unique<LayerState>());
    if (Status made = prepareLayer(layer, *states.back()); !made.isOk())
      return made;
  }
  return Status::ok();
}

ErrorOr<std::unique_ptr<DeviceNetwork>>
DeviceNetwork::create(const GpuApi &gpu, const Network &network) {
  std::unique_ptr<DeviceNetwork> made(new DeviceNetwork(gpu, network));
  if (Status status = made->prepare(); !status.isOk())
    return status;
  return made;
}

void *DeviceNetwork::getWorkspace(size_t bytes) {
  if (workspace && workspace->getByteSize() >= bytes)
    return workspace->get();
  if (gpu.hipDeviceSynchronize() != hipSuccess)
    return nullptr;
  auto memory = allocate(bytes);
  if (!memory)
    return nullptr;
  workspace = std::move(*memory);
  return workspace->get();
}

miopenStatus_t DeviceNetwork::add(int a, const void *aData, int b,
                                  const void *bData, int c, void *cData,
                                  float factor) {
  return miopenOpTensor(handle, miopenTensorOpAdd, &kOne, desc(a), aData,
                        &factor, desc(b), bData, &kZero, desc(c), cData);
}

miopenStatus_t DeviceNetwork::contribute(int tensor, const Write &write) {
  Stored &target = stored[tensor];
  if (!target.hasGradient) {
    miopenStatus_t status = write(target.gradient->get());
    target.hasGradient = status == miopenStatusSuccess;
    return status;
  }
  if (miopenStatus_t status = write(scratch->get()))
    return status;
  return add(tensor, gradient(tensor), tensor, scratch->get(), tensor,
             gradient(tensor));
}

miopenStatus_t DeviceNetwork::convForward(const Layer &layer) {
  miopenConvolutionDescriptor_t window = getState(layer).window;
  const int x = layer.x, w = layer.weights, y = layer.y;
  size_t count = 0;
  miopenConvSolution_t solution;
  if (miopenStatus_t status = miopenConvolutionForwardGetSolution(
          handle, desc(w), desc(x), window, desc(y), 1, &count, &solution))
    return status;
  return miopenConvolutionForwardImmediate(
      handle, desc(w), value(w), desc(x), value(x), window, desc(y), value(y),
      getWorkspace(solution.workspace_size), solution.workspace_size,
      solution.solution_id);
}

miopenStatus_t DeviceNetwork::convBackward(const Layer &layer) {
  miopenConvolutionDescriptor_t window = getState(layer).window;
  const int x = layer.x, w = layer.weights, y = layer.y;
  size_t count = 0;
  miopenConvSolution_t solution;
  if (miopenStatus_t status = miopenConvolutionBackwardWeightsGetSolution(
          handle, desc(y), desc(x), window, desc(w), 1, &count, &solution))
    return status;
  miopenStatus_t status = contribute(w, [&](void *to) {
    return miopenConvolutionBackwardWeightsImmediate(
        handle, desc(y), gradient(y), desc(x), value(x), window, desc(w), to,
        getWorkspace(solution.workspace_size), solution.workspace_size,
        solution.solution_id);
  });
  if (status || x == network.input)
    return status;
  status = miopenConvolutionBackwardDataGetSolution(
      handle, desc(y), desc(w), window, desc(x), 1, &count, &solution);
  if (status)
    return status;
  return contribute(x, [&](void *to) {
    return miopenConvolutionBackwardDataImmediate(
        handle, desc(y), gradient(y), desc(w), value(w), window, desc(x), to,
        getWorkspace(solution.workspace_size), solution.workspace_size,
        solution.solution_id);
  });
}

miopenStatus_t DeviceNetwork::normalize(const Layer &layer) {
  // Not const, because the API takes non-const pointers.
  float one = 1, zero = 0;
  return miopenBatchNormalizationForwardTraining(
      handle, miopenBNSpatial, &one, &zero, desc(layer.x), value(layer.x),
      desc(layer.y), value(layer.y), desc(layer.weights), value(layer.weights),
      value(layer.bias), kMomentum, value(layer.runningMean),
      value(layer.runningVariance), kEpsilon, value(layer.mean),
      value(layer.inverseDeviation));
}

miopenStatus_t DeviceNetwork::normalizeBackward(const Layer &layer) {
  stored[layer.weights].hasGradient = stored[layer.bias].hasGradient = true;
  return contribute(layer.x, [&](void *to) {
    return miopenBatchNormalizationBackward(
        handle, miopenBNSpatial, &kOne, &kZero, &kOne, &kZero, desc(layer.x),
        value(layer.x), desc(layer.y), gradient(layer.y), desc(layer.x), to,
        desc(layer.weights), value(layer.weights), gradient(layer.weights),
        gradient(layer.bias), kEpsilon, value(layer.mean),
        value(layer.inverseDeviation));
  });
}

miopenStatus_t DeviceNetwork::poolForward(const Layer &layer) {
  LayerState &state = getState(layer);
  return miopenPoolingForward(handle, state.pooling, &kOne, desc(layer.x),
                              value(layer.x), &kZero, desc(layer.y),
                              value(layer.y), true, state.indices->get(),
                              state.indices->getByteSize());
}

miopenStatus_t DeviceNetwork::poolBackward(const Layer &layer) {
  LayerState &state = getState(layer);
  return contribute(layer.x, [&](void *to) {
    return miopenPoolingBackward(
        handle, state.pooling, &kOne, desc(layer.y), value(layer.y),
        desc(layer.y), gradient(layer.y), desc(layer.x), value(layer.x), &kZero,
        desc(layer.x), to, state.indices->get());
  });
}

miopenStatus_t DeviceNetwork::runForward(const Layer &layer) {
  const int x = layer.x, y = layer.y;
  switch (layer.kind) {
  case LayerKind::Conv:
    return convForward(layer);
  case LayerKind::BatchNorm:
    return normalize(layer);
  case LayerKind::Relu:
    return miopenActivationForward(handle, relu, &kOne, desc(x), value(x),
                                   &kZero, desc(y), value(y));
  case LayerKind::MaxPool:
  case LayerKind::AveragePool:
    return poolForward(layer);
  case LayerKind::Add:
    return add(x, value(x), layer.other, value(layer.other), y, value(y));
  case LayerKind::Bias:
    return add(x, value(x), layer.bias, value(layer.bias), y, value(y));
  case LayerKind::LogSoftmax:
    return miopenSoftmaxForward_V2(handle, &kOne, desc(x), value(x), &kZero,
                                   desc(y), value(y), MIOPEN_SOFTMAX_LOG,
                                   MIOPEN_SOFTMAX_MODE_CHANNEL);
  }
  return miopenStatusBadParm;
}

miopenStatus_t DeviceNetwork::runBackward(const Layer &layer) {
  const int x = layer.x, y = layer.y;
  /// The gradient of a summand is that of the sum.
  auto copy = [&](void *to) {
    return add(y, gradient(y), y, gradient(y), y, to, 0);
  };
  switch (layer.kind) {
  case LayerKind::Conv:
    return convBackward(layer);
  case LayerKind::BatchNorm:
    return normalizeBackward(layer);
  case LayerKind::Relu:
    return contribute(x, [&](void *to) {
      return miopenActivationBackward(handle, relu, &kOne, desc(y), value(y),
                                      desc(y), gradient(y), desc(x), value(x),
                                      &kZero, desc(x), to);
    });
  case LayerKind::MaxPool:
  case LayerKind::AveragePool:
    return poolBackward(layer);
  case LayerKind::Add:
    if (miopenStatus_t status = contribute(x, copy))
      return status;
    return contribute(layer.other, copy);
  case LayerKind::Bias:
    if (miopenStatus_t status = contribute(layer.bias, [&](void *to) {
          return miopenConvolutionBackwardBias(handle, &kOne, desc(y),
                                               gradient(y), &kZero,
                                               desc(layer.bias), to);
        }))
      return status;
    return contribute(x, copy);
  case LayerKind::LogSoftmax:
    return contribute(x, [&](void *to) {
      return miopenSoftmaxBackward_V2(
          handle, &kOne, desc(y), value(y), desc(y), gradient(y), &kZero,
          desc(x), to, MIOPEN_SOFTMAX_LOG, MIOPEN_SOFTMAX_MODE_CHANNEL);
    });
  }
  return miopenStatusBadParm;
}

Status DeviceNetwork::forward(const Layer &layer) {
  return toStatus(runForward(layer), layer.name);
}

Status DeviceNetwork::backward(const Layer &layer) {
  return toStatus(runBackward(layer), layer.name + " backward");
}

void DeviceNetwork::forgetGradients() {
  for (Stored &tensor : stored)
    tensor.hasGradient = false;
}

Status DeviceNetwork::synchronize() const {
  return gpu.check(gpu.hipDeviceSynchronize(), "hipDeviceSynchronize");
}

static ErrorOr<Values> read(const DeviceBuffer &buffer) {
  std::vector<float> values(buffer.getByteSize() / sizeof(float));
  if (Status status = buffer.copyToHost(values.data(), buffer.getByteSize());
      !status.isOk())
    return status;
  return Values(values.begin(), values.end());
}

static Status write(const DeviceBuffer &buffer, const Values &values) {
  std::vector<float> floats(values.begin(), values.end());
  return buffer.copyFromHost(floats.data(), floats.size() * sizeof(float));
}

ErrorOr<Values> DeviceNetwork::readValue(int tensor) const {
  return read(*stored[tensor].value);
}
ErrorOr<Values> DeviceNetwork::readGradient(int tensor) const {
  return read(*stored[tensor].gradient);
}
Status DeviceNetwork::writeValue(int tensor, const Values &values) {
  return write(*stored[tensor].value, values);
}
Status DeviceNetwork::writeGradient(int tensor, const Values &values) {
  stored[tensor].hasGradient = true;
  return write(*stored[tensor].gradient, values);
}

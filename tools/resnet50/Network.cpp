//===- Network.cpp - ResNet-50 as a list of layers ------------------------===//

#include "tools/resnet50/Network.h"

using namespace tessera::resnet;

std::string_view tessera::resnet::getName(LayerKind kind) {
  switch (kind) {
  case LayerKind::Conv:
    return "conv";
  case LayerKind::BatchNorm:
    return "batch-norm";
  case LayerKind::Relu:
    return "relu";
  case LayerKind::MaxPool:
    return "max-pool";
  case LayerKind::AveragePool:
    return "average-pool";
  case LayerKind::Add:
    return "add";
  case LayerKind::Bias:
    return "bias";
  case LayerKind::LogSoftmax:
    return "log-softmax";
  }
  return "unknown";
}

namespace {
/// Appends layers; each function returns the tensor that its layer computes.
class Builder {
public:
  Network network;

  int addTensor(std::string name, Dims dims, Role role) {
    network.tensors.push_back({std::move(name), dims, role});
    return static_cast<int>(network.tensors.size()) - 1;
  }
  int conv(const std::string &name, int x, int channels, int window, int stride,
           int pad);
  int batchNorm(const std::string &name, int x);
  int relu(const std::string &name, int x);
  int pool(LayerKind kind, const std::string &name, int x, int window,
           int stride, int pad);
  int add(const std::string &name, int x, int other);
  int bias(const std::string &name, int x);
  int logSoftmax(const std::string &name, int x);
  /// Appends three convolutions and their shortcut, with `width` channels
  /// inside.
  int block(const std::string &name, int x, int width, int stride);

  Dims getDims(int tensor) const { return network.tensors[tensor].dims; }

private:
  /// Appends `layer` with a result of these dimensions.
  int append(Layer layer, Dims dims) {
    layer.y = addTensor(layer.name, dims, Role::Activation);
    network.layers.push_back(layer);
    return layer.y;
  }
  Layer make(LayerKind kind, const std::string &name, int x) const {
    Layer layer;
    layer.kind = kind;
    layer.name = name;
    layer.x = x;
    return layer;
  }
};
} // namespace

static int getOutput(int in, const Layer &layer) {
  return (in + 2 * layer.pad - layer.window) / layer.stride + 1;
}

int Builder::conv(const std::string &name, int x, int channels, int window,
                  int stride, int pad) {
  Dims in = getDims(x);
  Layer layer = make(LayerKind::Conv, name, x);
  layer.window = window;
  layer.stride = stride;
  layer.pad = pad;
  layer.weights = addTensor(name + ".weight", {channels, in.c, window, window},
                            Role::Parameter);
  return append(
      layer, {in.n, channels, getOutput(in.h, layer), getOutput(in.w, layer)});
}

int Builder::batchNorm(const std::string &name, int x) {
  Dims in = getDims(x), channels{1, in.c, 1, 1};
  Layer layer = make(LayerKind::BatchNorm, name, x);
  layer.weights = addTensor(name + ".weight", channels, Role::Parameter);
  layer.bias = addTensor(name + ".bias", channels, Role::Parameter);
  layer.mean = addTensor(name + ".mean", channels, Role::Statistic);
  layer.inverseDeviation =
      addTensor(name + ".inverse_deviation", channels, Role::Statistic);
  layer.runningMean =
      addTensor(name + ".running_mean", channels, Role::Statistic);
  layer.runningVariance =
      addTensor(name + ".running_variance", channels, Role::Statistic);
  return append(layer, in);
}

int Builder::relu(const std::string &name, int x) {
  return append(make(LayerKind::Relu, name, x), getDims(x));
}

int Builder::pool(LayerKind kind, const std::string &name, int x, int window,
                  int stride, int pad) {
  Dims in = getDims(x);
  Layer layer = make(kind, name, x);
  layer.window = window;
  layer.stride = stride;
  layer.pad = pad;
  return append(layer,
                {in.n, in.c, getOutput(in.h, layer), getOutput(in.w, layer)});
}

int Builder::add(const std::string &name, int x, int other) {
  Layer layer = make(LayerKind::Add, name, x);
  layer.other = other;
  return append(layer, getDims(x));
}

int Builder::bias(const std::string &name, int x) {
  Layer layer = make(LayerKind::Bias, name, x);
  layer.bias =
      addTensor(name + ".bias", {1, getDims(x).c, 1, 1}, Role::Parameter);
  return append(layer, getDims(x));
}

int Builder::logSoftmax(const std::string &name, int x) {
  return append(make(LayerKind::LogSoftmax, name, x), getDims(x));
}

int Builder::block(const std::string &name, int x, int width, int stride) {
  constexpr int kExpansion = 4;
  int y = conv(name + ".conv1", x, width, 1, 1, 0);
  y = relu(name + ".relu1", batchNorm(name + ".bn1", y));
  y = conv(name + ".conv2", y, width, 3, stride, 1);
  y = relu(name + ".relu2", batchNorm(name + ".bn2", y));
  y = conv(name + ".conv3", y, width * kExpansion, 1, 1, 0);
  y = batchNorm(name + ".bn3", y);
  int shortcut = x;
  if (stride != 1 || getDims(x).c != width * kExpansion) {
    shortcut = conv(name + ".conv4", x, width * kExpansion, 1, stride, 0);
    shortcut = batchNorm(name + ".bn4", shortcut);
  }
  return relu(name + ".relu3", add(name + ".add", y, shortcut));
}

Network tessera::resnet::makeResNet(const Options &options) {
  Builder builder;
  int x =
      builder.addTensor("input", {options.batch, 3, options.size, options.size},
                        Role::Activation);
  builder.network.input = x;
  x = builder.conv("stem.conv", x, 64, 7, 2, 3);
  x = builder.relu("stem.relu", builder.batchNorm("stem.bn", x));
  x = builder.pool(LayerKind::MaxPool, "stem.pool", x, 3, 2, 1);
  for (int stage = 0; stage < 4; ++stage)
    for (int i = 0; i < options.blocks[stage]; ++i)
      x = builder.block("stage" + std::to_string(stage + 1) + "." +
                            std::to_string(i + 1),
                        x, 64 << stage, stage && !i ? 2 : 1);
  x = builder.pool(LayerKind::AveragePool, "pool", x, builder.getDims(x).h, 1,
                   0);
  // A product with a matrix is a convolution with a window of one pixel.
  x = builder.bias("classes.bias",
                   builder.conv("classes", x, options.classes, 1, 1, 0));
  builder.network.output = builder.logSoftmax("loss", x);
  return std::move(builder.network);
}

std::string tessera::resnet::toJson(const Network &network) {
  auto number = [](const char *key, int value) {
    return ", \"" + std::string(key) + "\": " + std::to_string(value);
  };
  std::string text = "{\"tensors\": [\n";
  for (const Tensor &tensor : network.tensors)
    text += (&tensor == network.tensors.data() ? " " : ",\n ") +
            std::string("{\"name\": \"") + tensor.name + "\"" +
            number("role", static_cast<int>(tensor.role)) + ", \"dims\": [" +
            std::to_string(tensor.dims.n) + ", " +
            std::to_string(tensor.dims.c) + ", " +
            std::to_string(tensor.dims.h) + ", " +
            std::to_string(tensor.dims.w) + "]}";
  text += "],\n\"layers\": [\n";
  for (const Layer &layer : network.layers)
    text += (&layer == network.layers.data() ? " " : ",\n ") +
            std::string("{\"kind\": \"") + std::string(getName(layer.kind)) +
            "\"" + number("x", layer.x) + number("other", layer.other) +
            number("y", layer.y) + number("weights", layer.weights) +
            number("bias", layer.bias) +
            number("running_mean", layer.runningMean) +
            number("running_variance", layer.runningVariance) +
            number("window", layer.window) + number("stride", layer.stride) +
            number("pad", layer.pad) + "}";
  return text + "],\n\"input\": " + std::to_string(network.input) +
         number("output", network.output) + "}\n";
}

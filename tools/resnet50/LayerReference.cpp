//===- LayerReference.cpp - What a layer should give ----------------------===//

#include "tools/resnet50/LayerReference.h"

#include "dialect/Reference/ConvReference.h"
#include "dialect/Reference/PoolReference.h"

#include <algorithm>
#include <cmath>

using namespace tessera;
using namespace tessera::resnet;

static reference::Sizes toSizes(const Dims &dims) {
  return {dims.n, dims.c, dims.h, dims.w};
}

static reference::TensorView view(const Values &values, const Dims &dims) {
  return {reference::ElementType::F64, values.data(),
          reference::getNchwStrides(toSizes(dims))};
}

/// The values in the order of `dims`.
static Values pack(const reference::Expected &expected, const Dims &dims) {
  reference::Sizes sizes = toSizes(dims);
  reference::Strides strides = reference::getNchwStrides(sizes);
  Values values(expected.values.size());
  reference::Coord at;
  for (double value : expected.values) {
    values[strides.getOffset(at)] = value;
    sizes.advance(at);
  }
  return values;
}

static reference::ConvShape getConvShape(const Network &network,
                                         const Layer &layer) {
  const Dims &x = network.tensors[layer.x].dims;
  reference::ConvShape shape;
  shape.n = x.n;
  shape.c = x.c;
  shape.h = x.h;
  shape.w = x.w;
  shape.k = network.tensors[layer.weights].dims.n;
  shape.y = shape.x = layer.window;
  shape.pad = {layer.pad, layer.pad};
  shape.stride = {layer.stride, layer.stride};
  return shape;
}

static reference::PoolShape getPoolShape(const Network &network,
                                         const Layer &layer) {
  const Dims &x = network.tensors[layer.x].dims;
  reference::PoolShape shape;
  shape.mode = layer.kind == LayerKind::MaxPool ? reference::PoolMode::Max
                                                : reference::PoolMode::Average;
  shape.n = x.n;
  shape.c = x.c;
  shape.h = x.h;
  shape.w = x.w;
  shape.window = {layer.window, layer.window};
  shape.stride = {layer.stride, layer.stride};
  shape.pad = {layer.pad, layer.pad};
  return shape;
}

/// Calls `visit(element, channel)` for each element of a tensor.
template <typename Visit>
static void forEachElement(const Dims &dims, Visit visit) {
  int64_t element = 0;
  for (int n = 0; n < dims.n; ++n)
    for (int c = 0; c < dims.c; ++c)
      for (int64_t i = 0; i < int64_t(dims.h) * dims.w; ++i)
        visit(element++, c);
}

namespace {
/// Mean and variance of each channel.
struct Statistics {
  Values mean, variance;
  double count; ///< Elements of a channel.

  Statistics(const Dims &dims, const Values &x)
      : mean(dims.c), variance(dims.c),
        count(double(dims.n) * dims.h * dims.w) {
    forEachElement(dims, [&](int64_t i, int c) { mean[c] += x[i] / count; });
    forEachElement(dims, [&](int64_t i, int c) {
      variance[c] += (x[i] - mean[c]) * (x[i] - mean[c]) / count;
    });
  }
  double getInverseDeviation(int channel) const {
    return 1 / std::sqrt(variance[channel] + kEpsilon);
  }
};
} // namespace

static std::map<int, Values>
normalize(const Network &network, const Layer &layer, const Reader &value) {
  const Dims &dims = network.tensors[layer.x].dims;
  const Values &x = value(layer.x);
  Statistics of(dims, x);
  Values y(x.size()), deviation(dims.c);
  Values runningMean = value(layer.runningMean);
  Values runningVariance = value(layer.runningVariance);
  forEachElement(dims, [&](int64_t i, int c) {
    y[i] = (x[i] - of.mean[c]) * of.getInverseDeviation(c) *
               value(layer.weights)[c] +
           value(layer.bias)[c];
  });
  for (int c = 0; c < dims.c; ++c) {
    deviation[c] = of.getInverseDeviation(c);
    runningMean[c] += kMomentum * (of.mean[c] - runningMean[c]);
    double unbiased = of.variance[c] * of.count / (of.count - 1);
    runningVariance[c] += kMomentum * (unbiased - runningVariance[c]);
  }
  return {{layer.y, y},
          {layer.mean, of.mean},
          {layer.inverseDeviation, deviation},
          {layer.runningMean, runningMean},
          {layer.runningVariance, runningVariance}};
}

static std::map<int, Values> normalizeBackward(const Network &network,
                                               const Layer &layer,
                                               const Reader &value,
                                               const Reader &gradient) {
  const Dims &dims = network.tensors[layer.x].dims;
  const Values &x = value(layer.x), &dy = gradient(layer.y);
  Statistics of(dims, x);
  Values dx(x.size()), scale(dims.c), bias(dims.c);
  auto normal = [&](int64_t i, int c) {
    return (x[i] - of.mean[c]) * of.getInverseDeviation(c);
  };
  forEachElement(dims, [&](int64_t i, int c) {
    scale[c] += dy[i] * normal(i, c);
    bias[c] += dy[i];
  });
  forEachElement(dims, [&](int64_t i, int c) {
    dx[i] = value(layer.weights)[c] * of.getInverseDeviation(c) *
            (dy[i] - (bias[c] + normal(i, c) * scale[c]) / of.count);
  });
  return {{layer.x, dx}, {layer.weights, scale}, {layer.bias, bias}};
}

static Values logSoftmax(const Dims &dims, const Values &x) {
  Values y(x.size());
  for (int n = 0; n < dims.n; ++n) {
    const double *row = x.data() + int64_t(n) * dims.c;
    double most = *std::max_element(row, row + dims.c), sum = 0;
    for (int c = 0; c < dims.c; ++c)
      sum += std::exp(row[c] - most);
    for (int c = 0; c < dims.c; ++c)
      y[int64_t(n) * dims.c + c] = row[c] - most - std::log(sum);
  }
  return y;
}

static Values logSoftmaxBackward(const Dims &dims, const Values &y,
                                 const Values &dy) {
  Values dx(y.size());
  for (int n = 0; n < dims.n; ++n) {
    int64_t first = int64_t(n) * dims.c;
    double sum = 0;
    for (int c = 0; c < dims.c; ++c)
      sum += dy[first + c];
    for (int c = 0; c < dims.c; ++c)
      dx[first + c] = dy[first + c] - std::exp(y[first + c]) * sum;
  }
  return dx;
}

/// The index of the largest pixel of each window, for poolBackward().
static std::vector<uint64_t> getMaxima(const reference::PoolShape &shape,
                                       const reference::TensorView &x) {
  reference::Sizes sizes = shape.getOutputSizes();
  reference::Strides strides = reference::getNchwStrides(sizes);
  std::vector<uint64_t> found = poolForward(shape, x).indices;
  std::vector<uint64_t> indices(found.size());
  reference::Coord at;
  for (uint64_t index : found) {
    indices[strides.getOffset(at)] = index;
    sizes.advance(at);
  }
  return indices;
}

static Values poolBackward(const Network &network, const Layer &layer,
                           const Reader &value, const Reader &gradient) {
  const Dims &in = network.tensors[layer.x].dims;
  const Dims &out = network.tensors[layer.y].dims;
  reference::PoolShape shape = getPoolShape(network, layer);
  std::vector<uint64_t> maxima;
  if (layer.kind == LayerKind::MaxPool)
    maxima = getMaxima(shape, view(value(layer.x), in));
  reference::IndexView indices{sizeof(uint64_t), maxima.data(),
                               reference::getNchwStrides(toSizes(out))};
  return pack(
      reference::poolBackward(shape, view(gradient(layer.y), out), indices),
      in);
}

std::map<int, Values> resnet::evaluateForward(const Network &network,
                                              const Layer &layer,
                                              const Reader &value) {
  const Dims &in = network.tensors[layer.x].dims;
  const Dims &out = network.tensors[layer.y].dims;
  const Values &x = value(layer.x);
  Values y = x;
  switch (layer.kind) {
  case LayerKind::Conv:
    y = pack(convForward(getConvShape(network, layer), view(x, in),
                         view(value(layer.weights),
                              network.tensors[layer.weights].dims)),
             out);
    break;
  case LayerKind::BatchNorm:
    return normalize(network, layer, value);
  case LayerKind::Relu:
    for (double &element : y)
      element = std::max(element, 0.0);
    break;
  case LayerKind::MaxPool:
  case LayerKind::AveragePool:
    y = pack(poolForward(getPoolShape(network, layer), view(x, in)).y, out);
    break;
  case LayerKind::Add:
    for (size_t i = 0; i < y.size(); ++i)
      y[i] += value(layer.other)[i];
    break;
  case LayerKind::Bias:
    forEachElement(in, [&](int64_t i, int c) { y[i] += value(layer.bias)[c]; });
    break;
  case LayerKind::LogSoftmax:
    y = logSoftmax(in, x);
    break;
  }
  return {{layer.y, y}};
}

std::map<int, Values> resnet::evaluateBackward(const Network &network,
                                               const Layer &layer,
                                               const Reader &value,
                                               const Reader &gradient) {
  const Dims &in = network.tensors[layer.x].dims;
  const Dims &out = network.tensors[layer.y].dims;
  const Values &dy = gradient(layer.y);
  Values dx = dy;
  std::map<int, Values> result;
  switch (layer.kind) {
  case LayerKind::Conv: {
    const Dims &filter = network.tensors[layer.weights].dims;
    reference::ConvShape shape = getConvShape(network, layer);
    result[layer.weights] = pack(
        convBackwardWeights(shape, view(value(layer.x), in), view(dy, out)),
        filter);
    if (layer.x == network.input)
      return result;
    dx = pack(convBackwardData(shape, view(value(layer.weights), filter),
                               view(dy, out)),
              in);
    break;
  }
  case LayerKind::BatchNorm:
    return normalizeBackward(network, layer, value, gradient);
  case LayerKind::Relu:
    for (size_t i = 0; i < dx.size(); ++i)
      dx[i] = value(layer.y)[i] > 0 ? dy[i] : 0;
    break;
  case LayerKind::MaxPool:
  case LayerKind::AveragePool:
    dx = poolBackward(network, layer, value, gradient);
    break;
  case LayerKind::Add:
    result[layer.other] = dy;
    break;
  case LayerKind::Bias: {
    Values &bias = result[layer.bias] = Values(in.c);
    forEachElement(in, [&](int64_t i, int c) { bias[c] += dy[i]; });
    break;
  }
  case LayerKind::LogSoftmax:
    dx = logSoftmaxBackward(in, value(layer.y), dy);
    break;
  }
  result[layer.x] = std::move(dx);
  return result;
}

//===- Network.h - ResNet-50 as a list of layers ---------------*- C++ -*--===//
//
// The network as data, so that three evaluators can use one list: the library's
// C API, the reference, and PyTorch, which reads the list from a file.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_RESNET50_NETWORK_H
#define TESSERA_TOOLS_RESNET50_NETWORK_H

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::resnet {

/// Lengths in the order of the letters; every tensor is packed in that order.
struct Dims {
  int n = 1, c = 1, h = 1, w = 1;
  int64_t getCount() const { return int64_t(n) * c * h * w; }
};

enum class LayerKind {
  Conv,
  BatchNorm, ///< With statistics of the batch, for each channel.
  Relu,
  MaxPool,
  AveragePool,
  Add,
  Bias, ///< Adds a value for each channel.
  LogSoftmax,
};

std::string_view getName(LayerKind kind);

/// A layer. Tensors are indices of Network::tensors; -1 is none.
struct Layer {
  LayerKind kind;
  std::string name;
  int x = -1;
  int other = -1; ///< The second summand.
  int y = -1;
  int weights = -1; ///< A filter, or the scales of a normalisation.
  int bias = -1;
  /// For a normalisation: the statistics for backward, and the running
  /// averages.
  int mean = -1, inverseDeviation = -1;
  int runningMean = -1, runningVariance = -1;
  int window = 1, stride = 1, pad = 0;
};

enum class Role { Activation, Parameter, Statistic };

struct Tensor {
  std::string name;
  Dims dims;
  Role role;
};

struct Network {
  std::vector<Tensor> tensors;
  std::vector<Layer> layers;
  int input = -1;
  int output = -1; ///< Logarithms of probabilities.
};

/// Sizes in which a run may be smaller than the real network.
struct Options {
  int batch = 1;
  int size = 224; ///< Height and width of an image; a multiple of 32.
  int classes = 1000;
  /// The number of blocks of each stage.
  std::array<int, 4> blocks{3, 4, 6, 3};
};

/// Makes the usual variant, in which the stride of a stage is in its 3x3
/// filter.
Network makeResNet(const Options &options);

/// Prints the list as JSON, for other programs.
std::string toJson(const Network &network);

/// Added to a variance before its root is taken.
inline constexpr double kEpsilon = 1e-5;
/// The weight of a batch's statistics in the running averages.
inline constexpr double kMomentum = 0.1;

} // namespace tessera::resnet

#endif // TESSERA_TOOLS_RESNET50_NETWORK_H

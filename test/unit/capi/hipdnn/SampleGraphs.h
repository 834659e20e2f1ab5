//===- SampleGraphs.h - Graphs as hipDNN's clients build them --*- C++ -*--===//
//
// The shapes of the graphs that hipDNN's samples and its providers' integration
// tests build: which nodes follow each other, which tensors are virtual and of
// which type. Lengths, types and layouts are arguments.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_CAPI_HIPDNN_SAMPLEGRAPHS_H
#define TESSERA_TEST_UNIT_CAPI_HIPDNN_SAMPLEGRAPHS_H

#include "test/unit/capi/hipdnn/TestGraph.h"

#include <optional>
#include <utility>

namespace tessera::test {

/// The type of images and the order of their dimensions.
struct Form {
  GraphType type = GraphType::F32;
  bool isChannelsLast = false;

  Lengths getStrides(const Lengths &lengths) const {
    return isChannelsLast ? getChannelsLastStrides(lengths)
                          : getPackedStrides(lengths);
  }
};

/// All forms in which the samples run their graphs.
inline constexpr Form kSampleForms[] = {
    {GraphType::F32, false}, {GraphType::F16, false}, {GraphType::BF16, false},
    {GraphType::F32, true},  {GraphType::F16, true},  {GraphType::BF16, true}};

/// A rectifier by its clips and slope: numbers of a pointwise node.
using Clips = std::vector<std::pair<int, float>>;

TestGraph makeBatchNormInference(Form form, const Lengths &lengths,
                                 bool hasVariance,
                                 const std::optional<Clips> &activation = {});
TestGraph makeBatchNormTraining(Form form, const Lengths &lengths,
                                bool hasRunning,
                                const std::optional<Clips> &activation = {});
/// With `activation`, inference and the rectifier's gradient come before it,
/// which in early releases takes its input first.
TestGraph makeBatchNormBackward(Form form, const Lengths &lengths,
                                const std::optional<Clips> &activation = {},
                                bool isInputFirst = false);

/// A convolution of a direction, of x and w.
struct ConvCase {
  Lengths x, w;
  Window window;

  Lengths getResult() const;
};
TestGraph makeConvolutionGraph(GraphNode kind, Form form, const ConvCase &c);

/// What is added and applied to a convolution's result.
struct Tail {
  bool hasBias = false;
  bool isBiasFirst = false; ///< The bias is the first operand of the sum.
  std::optional<Clips> activation = std::nullopt;
};
TestGraph makeConvolutionWithTail(Form form, const ConvCase &c,
                                  const Tail &tail);

/// Types of a normalisation of rows.
struct NormTypes {
  GraphType x, y, scale, statistics;
};
TestGraph makeLayerNorm(const NormTypes &types, bool isChannelsLast,
                        const Lengths &lengths, size_t begin, bool isTraining);
TestGraph makeLayerNormBackward(const NormTypes &types, bool isChannelsLast,
                                const Lengths &lengths, size_t begin,
                                bool hasStatistics);
TestGraph makeRmsNorm(Form form, const Lengths &lengths, const Lengths &scale,
                      bool hasBias, bool isTraining);
/// With `activation`, the gradient of a rectifier comes before it.
TestGraph makeRmsNormBackward(const NormTypes &types, bool isChannelsLast,
                              const Lengths &lengths, const Lengths &scale,
                              const std::optional<Clips> &activation = {});

TestGraph makeUnaryGraph(Form form, const Lengths &lengths, uint8_t operation,
                         const Clips &clips = {});
TestGraph makeReduction(Form form, const Lengths &from, const Lengths &to,
                        uint8_t mode);

/// A pooling; a maximum has indices.
struct PoolCase {
  Lengths x, before, after, stride, window;
  uint8_t mode;    ///< 1: maximum; 2, 3: averages without and with pads.
  uint8_t padding; ///< 1: the least number; 2: zeros.
};
/// Forward, and with `isBackward` the gradient behind it, which reads the
/// indices that forward has written.
TestGraph makePool(Form form, const PoolCase &c, bool isBackward);

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_CAPI_HIPDNN_SAMPLEGRAPHS_H

//===- ExecutionTest.cpp - Graphs of hipDNN on the device -----------------===//

#include "test/unit/capi/hipdnn/PluginHost.h"
#include "test/unit/capi/hipdnn/SampleGraphs.h"

#include <gtest/gtest.h>

using namespace tessera::test;
using tessera::hipdnn::PluginStatus;

namespace {
/// Operations of pointwise nodes, as hipDNN numbers them.
enum : uint8_t {
  kAbs = 1,
  kAdd = 2,
  kEluBackward = 13,
  kElu = 14,
  kIdentity = 23,
  kMax = 28,
  kMin = 29,
  kMul = 30,
  kNeg = 31,
  kReluBackward = 33,
  kRelu = 34,
  kSigmoidBackward = 36,
  kSigmoid = 37,
  kSoftplusBackward = 39,
  kSoftplus = 40,
  kSub = 42,
  kSwish = 44,
  kTanhBackward = 46,
  kTanh = 47
};

/// x and w of 2 groups in 2-D with unequal pads and odd lengths.
constexpr int64_t kImages = 2, kIn = 6, kOut = 10;
const Lengths kX = {kImages, kIn, 9, 7}, kW = {kOut, kIn / 2, 3, 2},
              kY = {kImages, kOut, 5, 8};
const Window kWindow = {{1, 2}, {2, 1}, {2, 1}, {1, 2}};
} // namespace

// Forward, with each tensor in another layout, one of them with gaps.
TEST(HipdnnExecution, Forward) {
  for (GraphType type :
       {GraphType::F16, GraphType::BF16, GraphType::F32, GraphType::F64}) {
    TestGraph g;
    const int64_t x = g.tensor(type, kX, getChannelsLastStrides(kX));
    const int64_t w = g.tensor(type, kW);
    const int64_t y = g.tensor(type, kY, {600, 60, 11, 1});
    g.node(GraphNode::ConvolutionForward, makeConvolution(x, w, y, kWindow));
    EXPECT_GE(checkGraph(g), 1u);
  }
}

// Nodes of early releases have their kind and attributes a field earlier, and
// their compute type in the graph: here one that makes a result of i32.
TEST(HipdnnExecution, EarlyReleases) {
  TestGraph g;
  const int64_t x = g.tensor(GraphType::F32, kX),
                w = g.tensor(GraphType::F32, kW);
  const int64_t sum = g.internal(GraphType::F32, kY);
  const int64_t y = g.tensor(GraphType::F32, kY);
  g.node(GraphNode::ConvolutionForward, makeConvolution(x, w, sum, kWindow));
  g.node(GraphNode::Pointwise, makePointwise(kRelu, sum, -1, y));
  g.writeAsEarlyRelease();
  EXPECT_EQ(checkGraph(g), 1u);

  TestGraph bytes;
  const int64_t a = bytes.tensor(GraphType::I8, {1, 16, 5, 5});
  const int64_t b = bytes.tensor(GraphType::I8, {8, 16, 1, 1});
  const int64_t c = bytes.tensor(GraphType::I32, {1, 8, 5, 5});
  bytes.node(GraphNode::ConvolutionForward,
             makeConvolution(a, b, c, {{0, 0}, {0, 0}, {1, 1}, {1, 1}}), 6);
  bytes.writeAsEarlyRelease();
  checkGraph(bytes);
}

// Early releases have the input of an activation before the gradient that it
// passes on, also in the chain that is one kernel.
TEST(HipdnnExecution, EarlyGradients) {
  const auto makeRelu = [](bool isEarly) {
    TestGraph g;
    // A uid of 0 would look like none as the second operand.
    g.tensor(GraphType::F32, {1});
    const int64_t dy = g.tensor(GraphType::F32, {4, 8});
    const int64_t x = g.tensor(GraphType::F32, {4, 8});
    const int64_t dx = g.tensor(GraphType::F32, {4, 8});
    g.node(GraphNode::Pointwise, makePointwise(kReluBackward, isEarly ? x : dy,
                                               isEarly ? dy : x, dx));
    return g;
  };
  TestGraph early = makeRelu(true);
  early.writeAsEarlyRelease();
  TestPlan plan(early);
  EXPECT_EQ(plan.run(makeRelu(false)), PluginStatus::Success)
      << getPluginError();

  // The months between wrote nodes as later releases do.
  for (bool isEarliest : {true, false}) {
    TestGraph chain = makeBatchNormBackward({}, {2, 4, 5, 5}, Clips{}, true);
    if (isEarliest)
      chain.writeAsEarlyRelease();
    TestPlan chainPlan(chain);
    const uint64_t before = readCounts().launched;
    EXPECT_EQ(chainPlan.run(makeBatchNormBackward({}, {2, 4, 5, 5}, Clips{})),
              PluginStatus::Success)
        << getPluginError();
    EXPECT_EQ(readCounts().launched - before, 1u);
  }
  // One that says its version means what it says.
  TestGraph odd = makeBatchNormBackward({}, {2, 4, 5, 5}, Clips{}, true);
  odd.writeVersion();
  EXPECT_GT(checkGraph(odd), 1u);
}

// Bytes give integers.
TEST(HipdnnExecution, ForwardOfBytes) {
  TestGraph g;
  const int64_t x = g.tensor(GraphType::I8, {1, 16, 5, 5});
  const int64_t w = g.tensor(GraphType::I8, {8, 16, 3, 3});
  const int64_t y = g.tensor(GraphType::I32, {1, 8, 5, 5});
  g.node(GraphNode::ConvolutionForward,
         makeConvolution(x, w, y, {{1, 1}, {1, 1}, {1, 1}, {1, 1}}), 6);
  checkGraph(g);
}

// Bytes give bytes, rounded and saturated; a bias of f32 ends in the kernel,
// one of bytes does not.
TEST(HipdnnExecution, ForwardFromBytesToBytes) {
  for (GraphType type : {GraphType::F32, GraphType::I8}) {
    TestGraph g;
    const Lengths lengths = {2, 16, 5, 7};
    const int64_t x = g.tensor(GraphType::I8, {2, 1, 5, 7});
    const int64_t w = g.tensor(GraphType::I8, {16, 1, 1, 1});
    const int64_t sum = g.internal(GraphType::F32, lengths);
    const int64_t bias = g.tensor(type, {1, 16, 1, 1});
    const int64_t y = g.tensor(GraphType::I8, lengths);
    g.node(GraphNode::ConvolutionForward,
           makeConvolution(x, w, sum, {{0, 0}, {0, 0}, {1, 1}, {1, 1}}));
    g.node(GraphNode::Pointwise, makePointwise(kAdd, sum, bias, y));
    EXPECT_EQ(checkGraph(g), type == GraphType::F32 ? 1u : 2u);
  }
}

// Lines and volumes.
TEST(HipdnnExecution, ForwardOfOtherRanks) {
  TestGraph line;
  line.node(GraphNode::ConvolutionForward,
            makeConvolution(line.tensor(GraphType::F32, {3, 4, 17}),
                            line.tensor(GraphType::F32, {5, 4, 3}),
                            line.tensor(GraphType::F32, {3, 5, 8}),
                            {{0}, {0}, {2}, {1}}));
  checkGraph(line);
  TestGraph volume;
  const Lengths x = {1, 4, 5, 4, 6}, y = {1, 3, 5, 4, 6};
  volume.node(GraphNode::ConvolutionForward,
              makeConvolution(
                  volume.tensor(GraphType::F16, x, getChannelsLastStrides(x)),
                  volume.tensor(GraphType::F16, {3, 4, 3, 1, 3}),
                  volume.tensor(GraphType::F16, y, getChannelsLastStrides(y)),
                  {{1, 0, 1}, {1, 0, 1}, {1, 1, 1}, {1, 1, 1}}));
  checkGraph(volume);
}

TEST(HipdnnExecution, BackwardData) {
  TestGraph g;
  const int64_t dy = g.tensor(GraphType::F16, kY, getChannelsLastStrides(kY));
  const int64_t w = g.tensor(GraphType::F16, kW, getChannelsLastStrides(kW));
  const int64_t dx = g.tensor(GraphType::F16, kX, getChannelsLastStrides(kX));
  g.node(GraphNode::ConvolutionBackward, makeConvolution(dy, w, dx, kWindow));
  checkGraph(g);
}

TEST(HipdnnExecution, BackwardWeights) {
  TestGraph g;
  const int64_t x = g.tensor(GraphType::F32, kX);
  const int64_t dy = g.tensor(GraphType::F32, kY);
  const int64_t dw = g.tensor(GraphType::F32, kW);
  g.node(GraphNode::ConvolutionWeights, makeConvolution(x, dy, dw, kWindow));
  checkGraph(g);
}

// Bias, residual and activation end in the convolution's kernel, whichever type
// the tensors between have.
TEST(HipdnnExecution, FusesWhatFollowsAConvolution) {
  for (GraphType between : {GraphType::F32, GraphType::F16}) {
    TestGraph g;
    const Lengths strides = getChannelsLastStrides(kY);
    const int64_t x = g.tensor(GraphType::F16, kX, getChannelsLastStrides(kX));
    const int64_t w = g.tensor(GraphType::F16, kW, getChannelsLastStrides(kW));
    const int64_t sum = g.internal(between, kY, strides);
    const int64_t bias = g.tensor(GraphType::F16, {1, kOut, 1, 1});
    const int64_t biased = g.internal(between, kY, strides);
    const int64_t residual = g.tensor(GraphType::F16, kY, strides);
    const int64_t added = g.internal(between, kY, strides);
    const int64_t y = g.tensor(GraphType::F16, kY, strides);
    g.node(GraphNode::ConvolutionForward, makeConvolution(x, w, sum, kWindow));
    g.node(GraphNode::Pointwise, makePointwise(kAdd, sum, bias, biased));
    g.node(GraphNode::Pointwise, makePointwise(kAdd, residual, biased, added));
    g.node(GraphNode::Pointwise,
           makePointwise(kRelu, added, -1, y).number(1, -0.5f).number(2, 1.5f));
    EXPECT_EQ(checkGraph(g), 1u);
  }
}

// What a client sees must be there, and what two nodes read, too: then nothing
// is fused, and the graph runs all the same.
TEST(HipdnnExecution, RunsNodesOneByOne) {
  TestGraph g;
  const int64_t x = g.tensor(GraphType::F32, kX);
  const int64_t w = g.tensor(GraphType::F32, kW);
  const int64_t sum = g.tensor(GraphType::F32, kY);
  const int64_t active = g.internal(GraphType::F32, kY);
  const int64_t y = g.tensor(GraphType::F32, kY);
  g.node(GraphNode::ConvolutionForward, makeConvolution(x, w, sum, kWindow));
  g.node(GraphNode::Pointwise, makePointwise(kTanh, sum, -1, active));
  g.node(GraphNode::Pointwise, makePointwise(kMul, active, active, y));
  EXPECT_GE(checkGraph(g), 3u);
}

/// A graph of one pointwise node with one operand.
static TestGraph makeUnary(uint8_t operation) {
  TestGraph g;
  const Lengths lengths = {3, 5, 7};
  const int64_t x = g.tensor(GraphType::F16, lengths);
  const int64_t y = g.tensor(GraphType::F32, lengths, {35, 1, 5});
  g.node(GraphNode::Pointwise, makePointwise(operation, x, -1, y));
  return g;
}

TEST(HipdnnExecution, Unary) {
  for (uint8_t operation : {kAbs, kElu, kIdentity, kNeg, kRelu, kSigmoid,
                            kSoftplus, kSwish, kTanh}) {
    SCOPED_TRACE(int(operation));
    checkGraph(makeUnary(operation));
  }
}

// Clips and slopes choose the rectifier's kernel.
TEST(HipdnnExecution, Rectifiers) {
  const auto check = [](std::vector<std::pair<int, float>> numbers) {
    for (uint8_t operation : {kRelu, kReluBackward}) {
      TestGraph g;
      const Lengths lengths = {2, 3, 4, 5};
      const int64_t first = g.tensor(GraphType::F32, lengths);
      const int64_t second =
          operation == kReluBackward ? g.tensor(GraphType::F32, lengths) : -1;
      const int64_t y = g.tensor(GraphType::F32, lengths);
      FlatFields table = makePointwise(operation, first, second, y);
      for (const auto &[field, number] : numbers)
        table.number(field, number);
      g.node(GraphNode::Pointwise, table);
      checkGraph(g);
    }
  };
  check({{3, 0.25f}});
  check({{2, 0.5f}});
  check({{1, -0.25f}, {2, 0.5f}});
  check({{1, 0.125f}});
}

TEST(HipdnnExecution, Binary) {
  for (uint8_t operation : {kAdd, kSub, kMul, kMax, kMin}) {
    SCOPED_TRACE(int(operation));
    TestGraph g;
    const int64_t a = g.tensor(GraphType::F16, {2, 3, 4, 5});
    const int64_t b = g.tensor(GraphType::F16, {1, 3, 1, 5});
    const int64_t y = g.tensor(GraphType::F16, {2, 3, 4, 5});
    g.node(GraphNode::Pointwise, makePointwise(operation, a, b, y));
    checkGraph(g);
  }
}

// A number of the graph is an operand like any other.
TEST(HipdnnExecution, MultipliesByANumber) {
  TestGraph g;
  const int64_t a = g.tensor(GraphType::F32, {6, 35});
  const int64_t b = g.number(0.375);
  const int64_t y = g.tensor(GraphType::F32, {6, 35});
  g.node(GraphNode::Pointwise, makePointwise(kMul, a, b, y));
  checkGraph(g);
}

TEST(HipdnnExecution, ActivationGradients) {
  for (uint8_t operation :
       {kEluBackward, kSigmoidBackward, kSoftplusBackward, kTanhBackward}) {
    SCOPED_TRACE(int(operation));
    TestGraph g;
    const int64_t dy = g.tensor(GraphType::F32, {2, 3, 33});
    const int64_t x = g.tensor(GraphType::F32, {2, 3, 33});
    const int64_t dx = g.tensor(GraphType::F32, {2, 3, 33});
    g.node(GraphNode::Pointwise, makePointwise(operation, dy, x, dx));
    checkGraph(g);
  }
}

TEST(HipdnnExecution, Reductions) {
  for (uint8_t mode = 1; mode <= 8; ++mode) {
    SCOPED_TRACE(int(mode));
    TestGraph g;
    const int64_t a = g.tensor(GraphType::F32, {3, 4, 5, 6});
    const int64_t c = g.tensor(GraphType::F32, {3, 1, 5, 1});
    g.node(GraphNode::Reduction, makeTable({-1, a, c}).number(0, mode));
    checkGraph(g);
  }
}

namespace {
/// The channels' tensors of a batch normalisation, and x.
struct BatchNorm {
  explicit BatchNorm(TestGraph &g, GraphType type)
      : lengths{3, 5, 7, 2},
        x(g.tensor(type, lengths, getChannelsLastStrides(lengths))) {}
  int64_t channels(TestGraph &g) const {
    return g.tensor(GraphType::F32, {1, lengths[1], 1, 1});
  }
  int64_t like(TestGraph &g, GraphType type) const {
    return g.tensor(type, lengths, getChannelsLastStrides(lengths));
  }
  int64_t between(TestGraph &g) const {
    return g.internal(GraphType::F32, lengths, getChannelsLastStrides(lengths));
  }

  Lengths lengths;
  int64_t x;
};
} // namespace

// Inference, alone and with the activation behind it in its kernel.
TEST(HipdnnExecution, BatchNormInference) {
  for (bool hasActivation : {false, true}) {
    TestGraph g;
    const BatchNorm norm(g, GraphType::F16);
    const int64_t mean = norm.channels(g), inverse = norm.channels(g);
    const int64_t scale = norm.channels(g), bias = norm.channels(g);
    const int64_t y = norm.like(g, GraphType::F16);
    const int64_t between = hasActivation ? norm.between(g) : y;
    g.node(GraphNode::BatchNormInference,
           makeTable({norm.x, mean, inverse, scale, bias, between}));
    if (hasActivation)
      g.node(GraphNode::Pointwise, makePointwise(kRelu, between, -1, y));
    EXPECT_EQ(checkGraph(g), 1u);
  }
}

// Of a variance: squares of the random numbers would be needed for one that is
// not negative, so epsilon is larger than any.
TEST(HipdnnExecution, BatchNormInferenceWithVariance) {
  TestGraph g;
  const BatchNorm norm(g, GraphType::F32);
  const int64_t mean = norm.channels(g), variance = norm.channels(g);
  const int64_t scale = norm.channels(g), bias = norm.channels(g);
  const int64_t y = norm.like(g, GraphType::F32), epsilon = g.number(1.5);
  g.node(GraphNode::BatchNormInferenceVariance,
         makeTable({norm.x, mean, variance, scale, bias, y, epsilon}));
  EXPECT_EQ(checkGraph(g), 1u);
}

TEST(HipdnnExecution, BatchNormTraining) {
  for (bool hasRunning : {false, true}) {
    TestGraph g;
    const BatchNorm norm(g, GraphType::F16);
    const int64_t scale = norm.channels(g), bias = norm.channels(g);
    const int64_t epsilon = g.number(1e-3), momentum = g.number(0.125);
    const int64_t oldMean = norm.channels(g), oldVariance = norm.channels(g);
    const int64_t between = norm.between(g);
    const int64_t y = norm.like(g, GraphType::F16);
    const int64_t mean = norm.channels(g), inverse = norm.channels(g);
    const int64_t newMean = norm.channels(g), newVariance = norm.channels(g);
    std::vector<int64_t> uids = {norm.x, scale, bias,    epsilon, -1,     -1,
                                 -1,     -1,    between, mean,    inverse};
    if (hasRunning) {
      uids[5] = oldMean;
      uids[6] = oldVariance;
      uids[7] = momentum;
      uids.insert(uids.end(), {newMean, newVariance});
    }
    g.node(GraphNode::BatchNorm, makeTable(uids));
    g.node(GraphNode::Pointwise, makePointwise(kRelu, between, -1, y));
    EXPECT_EQ(checkGraph(g), 1u);
  }
}

TEST(HipdnnExecution, BatchNormBackward) {
  TestGraph g;
  const BatchNorm norm(g, GraphType::F32);
  const int64_t dy = norm.like(g, GraphType::F32), mean = norm.channels(g);
  const int64_t inverse = norm.channels(g), scale = norm.channels(g);
  const int64_t dx = norm.like(g, GraphType::F32);
  const int64_t dscale = norm.channels(g), dbias = norm.channels(g);
  g.node(GraphNode::BatchNormBackward,
         makeTable({dy, norm.x, mean, inverse, scale, -1, dx, dscale, dbias}));
  EXPECT_EQ(checkGraph(g), 1u);
}

// Inference that only decides which gradients a rectifier passes is no launch
// of its own; with an activation whose gradient is not in the kernel's reach it
// would be.
TEST(HipdnnExecution, FusesARectifierIntoTheGradient) {
  TestGraph g;
  const BatchNorm norm(g, GraphType::F32);
  const int64_t mean = norm.channels(g), inverse = norm.channels(g);
  const int64_t scale = norm.channels(g), bias = norm.channels(g);
  const int64_t between = norm.between(g), passed = norm.between(g);
  const int64_t dy = norm.like(g, GraphType::F32);
  const int64_t dx = norm.like(g, GraphType::F32);
  const int64_t dscale = norm.channels(g), dbias = norm.channels(g);
  g.node(GraphNode::BatchNormInference,
         makeTable({norm.x, mean, inverse, scale, bias, between}));
  g.node(GraphNode::Pointwise,
         makePointwise(kReluBackward, dy, between, passed));
  g.node(
      GraphNode::BatchNormBackward,
      makeTable({passed, norm.x, mean, inverse, scale, -1, dx, dscale, dbias}));
  EXPECT_EQ(checkGraph(g), 1u);
}

TEST(HipdnnExecution, LayerNorm) {
  for (bool isTraining : {false, true}) {
    TestGraph g;
    const int64_t x = g.tensor(GraphType::F16, {3, 5, 4, 7});
    const int64_t scale = g.tensor(GraphType::F16, {1, 1, 4, 7});
    const int64_t bias = g.tensor(GraphType::F16, {1, 1, 4, 7});
    const int64_t epsilon = g.number(1e-3);
    const int64_t y = g.tensor(GraphType::F16, {3, 5, 4, 7});
    FlatFields table = makeTable({x, scale, bias, epsilon, y});
    table.number(5, int64_t(2));
    if (isTraining)
      table.number(6, g.tensor(GraphType::F32, {3, 5, 1, 1}))
          .number(7, g.tensor(GraphType::F32, {3, 5, 1, 1}));
    g.node(GraphNode::LayerNorm, table);
    EXPECT_EQ(checkGraph(g), 1u);
  }
}

TEST(HipdnnExecution, RmsNorm) {
  TestGraph g;
  const int64_t x = g.tensor(GraphType::F16, {3, 2, 37});
  const int64_t scale = g.tensor(GraphType::F16, {1, 1, 37});
  const int64_t epsilon = g.number(1e-3);
  const int64_t y = g.tensor(GraphType::F16, {3, 2, 37});
  const int64_t bias = g.tensor(GraphType::F16, {1, 1, 37});
  const int64_t inverse = g.tensor(GraphType::F32, {3, 2, 1});
  g.node(GraphNode::RmsNorm, makeTable({x, scale, epsilon, y, bias, inverse}));
  EXPECT_EQ(checkGraph(g), 1u);
}

TEST(HipdnnExecution, RmsNormBackward) {
  TestGraph g;
  const int64_t dy = g.tensor(GraphType::F32, {4, 3, 11});
  const int64_t x = g.tensor(GraphType::F32, {4, 3, 11});
  const int64_t scale = g.tensor(GraphType::F32, {1, 3, 11});
  const int64_t inverse = g.tensor(GraphType::F32, {4, 1, 1});
  const int64_t dx = g.tensor(GraphType::F32, {4, 3, 11});
  const int64_t dscale = g.tensor(GraphType::F32, {1, 3, 11});
  const int64_t dbias = g.tensor(GraphType::F32, {1, 3, 11});
  g.node(GraphNode::RmsNormBackward,
         makeTable({dy, x, scale, inverse, dx, dscale, dbias}));
  checkGraph(g);
}

/// The table of a pooling: its two tensors, its mode, and unequal pads.
static FlatFields makePooling(int64_t first, int64_t second, uint8_t mode,
                              uint8_t padding) {
  return makeTable({first, second})
      .set(3, Lengths{1, 0})
      .set(4, Lengths{0, 1})
      .set(5, Lengths{2, 1})
      .set(6, Lengths{3, 2})
      .number(7, mode)
      .number(8, padding);
}

TEST(HipdnnExecution, Pooling) {
  for (uint8_t mode : {1, 2, 3}) {
    SCOPED_TRACE(int(mode));
    TestGraph g;
    const Lengths in = {2, 3, 8, 5}, out = {2, 3, 4, 5};
    const int64_t x = g.tensor(GraphType::F16, in, getChannelsLastStrides(in));
    const int64_t y = g.tensor(GraphType::F16, out);
    g.node(GraphNode::ResampleForward,
           makePooling(x, y, mode, mode == 1 ? 1 : 2));
    EXPECT_EQ(checkGraph(g), 1u);
  }
}

TEST(HipdnnExecution, PoolingBackward) {
  for (uint8_t mode : {2, 3}) {
    TestGraph g;
    const int64_t dy = g.tensor(GraphType::F32, {2, 3, 4, 5});
    const int64_t dx = g.tensor(GraphType::F32, {2, 3, 8, 5});
    g.node(GraphNode::ResampleBackward, makePooling(dy, dx, mode, 2));
    EXPECT_EQ(checkGraph(g), 1u);
  }
}

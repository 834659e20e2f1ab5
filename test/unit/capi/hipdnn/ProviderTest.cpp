//===- ProviderTest.cpp - The graphs of hipDNN's provider tests -----------===//
//
// One test for each family of graphs that the integration tests of
// ROCm/rocm-libraries, dnn-providers, run on every engine, with the lengths of
// their smaller cases; volumes of 16 are of 6 here. docs/guides/hipdnn.md has
// the table.
//
//===----------------------------------------------------------------------===//

#include "test/unit/capi/hipdnn/PluginHost.h"
#include "test/unit/capi/hipdnn/SampleGraphs.h"

#include <gtest/gtest.h>

using namespace tessera::test;

namespace {
/// A form of each type and of each order.
constexpr Form kForms[] = {
    {GraphType::F32, false}, {GraphType::F16, true}, {GraphType::BF16, false}};

const Clips kRelu = {}, kZeroClip = {{1, 0.f}}, kUpper = {{2, 0.5f}},
            kClamp = {{1, 0.1f}, {2, 0.5f}}, kLeaky = {{3, 0.01f}};

constexpr GraphType F32 = GraphType::F32, F16 = GraphType::F16,
                    BF16 = GraphType::BF16;
/// Types that agree, that are wide beside short images, and results that are
/// wider than what they are made of.
constexpr NormTypes kNormTypes[] = {{F32, F32, F32, F32},
                                    {F16, F16, F32, F32},
                                    {BF16, F32, F32, F32},
                                    {F16, F16, F16, F16}};

testing::Message describe(Form form, const Lengths &lengths) {
  return testing::Message() << int(form.type) << " " << form.isChannelsLast
                            << " " << testing::PrintToString(lengths);
}
} // namespace

TEST(HipdnnProvider, BatchnormInference) {
  for (Form form : kForms)
    for (const Lengths &lengths :
         {Lengths{4, 3, 1}, Lengths{2, 16, 512}, Lengths{1, 3, 14, 14},
          Lengths{1, 256, 1, 1}, Lengths{32, 1, 14, 14}, Lengths{32, 3, 14, 1},
          Lengths{2, 3, 3, 1, 1}})
      for (bool hasVariance : {false, true}) {
        SCOPED_TRACE(describe(form, lengths));
        EXPECT_EQ(
            checkGraph(makeBatchNormInference(form, lengths, hasVariance)), 1u);
      }
}

TEST(HipdnnProvider, BatchnormInferenceActivation) {
  for (Form form : kForms)
    for (const Clips &clips : {kZeroClip, kUpper, kClamp, kLeaky})
      for (bool hasVariance : {false, true})
        EXPECT_EQ(checkGraph(makeBatchNormInference(form, {2, 3, 14, 14},
                                                    hasVariance, clips)),
                  1u);
}

TEST(HipdnnProvider, Batchnorm) {
  for (Form form : kForms)
    for (const Lengths &lengths :
         {Lengths{2, 3, 1}, Lengths{1, 16, 14}, Lengths{2, 3, 1, 1},
          Lengths{32, 3, 1, 14}, Lengths{2, 3, 3, 1, 1},
          Lengths{2, 3, 2, 4, 4}})
      for (bool hasRunning : {false, true}) {
        SCOPED_TRACE(describe(form, lengths));
        EXPECT_EQ(checkGraph(makeBatchNormTraining(form, lengths, hasRunning)),
                  1u);
        EXPECT_EQ(checkGraph(makeBatchNormTraining(
                      form, lengths, hasRunning, hasRunning ? kLeaky : kClamp)),
                  1u);
      }
}

TEST(HipdnnProvider, BatchnormBackward) {
  for (Form form : kForms)
    for (const Lengths &lengths :
         {Lengths{1, 3, 224}, Lengths{1, 3, 14, 14}, Lengths{2, 3, 1, 1},
          Lengths{32, 3, 1, 14}, Lengths{2, 3, 3, 1, 1}}) {
      SCOPED_TRACE(describe(form, lengths));
      EXPECT_EQ(checkGraph(makeBatchNormBackward(form, lengths)), 1u);
    }
}

TEST(HipdnnProvider, BatchnormBackwardActivation) {
  for (Form form : kForms)
    for (const Clips &clips : {kRelu, kZeroClip, kUpper, kClamp})
      EXPECT_EQ(checkGraph(makeBatchNormBackward(form, {1, 3, 14, 14}, clips)),
                1u);
}

/// The convolutions of planes, and of volumes.
static std::vector<ConvCase> getConvolutions() {
  const Lengths x = {1, 16, 16, 16}, filter = {1, 16, 3, 3};
  const Window plain = {{0, 0}, {0, 0}, {1, 1}, {1, 1}};
  const Window same = {{1, 1}, {1, 1}, {1, 1}, {1, 1}};
  const Window volume = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
  return {{x, {1, 16, 1, 1}, plain},
          {x, filter, plain},
          {x, filter, same},
          {x, filter, {{1, 1}, {1, 1}, {2, 2}, {1, 1}}},
          {x, filter, {{2, 2}, {2, 2}, {1, 1}, {2, 2}}},
          {{8, 16, 16, 16}, {1, 16, 1, 1}, plain},
          {{1, 16, 16, 8}, filter, same},
          {x, {2, 8, 3, 3}, same},
          {{2, 32, 16, 16}, {4, 8, 3, 3}, {{1, 1}, {1, 1}, {2, 2}, {2, 2}}},
          {{1, 16, 6, 6, 6}, {1, 16, 3, 3, 3}, volume},
          {{1, 16, 6, 4, 3}, {2, 8, 3, 3, 3}, volume},
          {{2, 32, 6, 6, 6},
           {4, 8, 3, 3, 3},
           {{1, 1, 1}, {1, 1, 1}, {2, 2, 2}, {2, 2, 2}}}};
}

TEST(HipdnnProvider, Convolutions) {
  for (Form form : kForms)
    for (const ConvCase &c : getConvolutions())
      for (GraphNode kind :
           {GraphNode::ConvolutionForward, GraphNode::ConvolutionBackward,
            GraphNode::ConvolutionWeights}) {
        SCOPED_TRACE(describe(form, c.x) << " " << int(kind));
        EXPECT_GE(checkGraph(makeConvolutionGraph(kind, form, c)), 1u);
      }
}

// Bias, or bias and activation; of lines, planes and volumes; the bias may be
// the first operand.
TEST(HipdnnProvider, ConvolutionFwdPointwise) {
  const ConvCase line = {{2, 8, 17}, {4, 8, 3}, {{1}, {1}, {2}, {2}}};
  const ConvCase plane = {
      {2, 8, 9, 9}, {4, 8, 3, 3}, {{1, 1}, {1, 1}, {2, 2}, {2, 2}}};
  const ConvCase volume = {{1, 8, 5, 5, 5},
                           {4, 8, 3, 3, 3},
                           {{1, 1, 1}, {1, 1, 1}, {2, 2, 2}, {1, 1, 1}}};
  for (Form form : kForms)
    for (const ConvCase &c : {line, plane, volume}) {
      SCOPED_TRACE(describe(form, c.x));
      for (bool isFirst : {false, true})
        EXPECT_EQ(checkGraph(makeConvolutionWithTail(
                      form, c, {.hasBias = true, .isBiasFirst = isFirst})),
                  1u);
      for (const Clips &clips : {kZeroClip, kUpper, kClamp, kLeaky})
        EXPECT_EQ(checkGraph(makeConvolutionWithTail(
                      form, c, {.hasBias = true, .activation = clips})),
                  1u);
    }
}

TEST(HipdnnProvider, Layernorm) {
  for (const NormTypes &types : kNormTypes)
    for (bool isLast : {false, true})
      for (bool isTraining : {false, true}) {
        const auto check = [&](const Lengths &lengths, size_t begin) {
          SCOPED_TRACE(describe({types.x, isLast}, lengths) << " " << begin);
          EXPECT_EQ(checkGraph(makeLayerNorm(types, isLast, lengths, begin,
                                             isTraining)),
                    1u);
        };
        for (size_t begin = 1; begin < 4; ++begin)
          check({2, 2, 3, 2}, begin);
        for (size_t begin = 1; begin < 5; ++begin)
          check({2, 2, 3, 2, 2}, begin);
        check({2, 5, 2, 2}, 1);
        check({4, 4, 4, 256}, 1);
      }
}

TEST(HipdnnProvider, LayernormBackward) {
  for (const NormTypes &types : kNormTypes)
    for (bool isLast : {false, true})
      for (bool hasStatistics : {false, true}) {
        const auto check = [&](const Lengths &lengths, size_t begin) {
          SCOPED_TRACE(describe({types.x, isLast}, lengths)
                       << " " << begin << " " << hasStatistics);
          EXPECT_EQ(checkGraph(makeLayerNormBackward(types, isLast, lengths,
                                                     begin, hasStatistics)),
                    hasStatistics ? 2u : 3u);
        };
        check({2, 2, 3, 2}, 3);
        check({2, 2, 3, 2}, 1);
        check({2, 2, 3, 2, 2}, 2);
        check({4, 4, 4, 64}, 1);
      }
}

TEST(HipdnnProvider, RMSNorm) {
  for (Form form : kForms)
    for (const auto &[lengths, scale] :
         {std::pair<Lengths, Lengths>{{2, 1, 1, 1}, {1, 1, 1, 1}},
          {{2, 3, 4, 4}, {1, 3, 4, 4}},
          {{2, 3, 4, 4}, {1, 1, 4, 4}},
          {{2, 3, 4, 4}, {1, 1, 1, 4}},
          {{32, 3, 14, 1}, {1, 3, 14, 1}},
          {{2, 3, 4, 2, 2}, {1, 1, 4, 2, 2}}})
      for (bool isTraining : {false, true}) {
        SCOPED_TRACE(describe(form, scale));
        EXPECT_EQ(checkGraph(makeRmsNorm(form, lengths, scale, isTraining,
                                         isTraining)),
                  1u);
      }
}

TEST(HipdnnProvider, RMSNormBackward) {
  for (const NormTypes &types :
       {kNormTypes[0], kNormTypes[1], NormTypes{F32, BF16, F32, F32}})
    for (bool isLast : {false, true})
      for (const std::optional<Clips> &activation :
           {std::optional<Clips>(), std::optional<Clips>(kRelu),
            std::optional<Clips>(kClamp)})
        EXPECT_GE(checkGraph(makeRmsNormBackward(types, isLast, {2, 3, 4, 4},
                                                 {1, 3, 4, 4}, activation)),
                  3u);
}

TEST(HipdnnProvider, Pointwise) {
  for (Form form : kForms) {
    TestGraph sum;
    const Lengths lengths = {2, 3, 14, 14};
    const auto add = [&] {
      return sum.tensor(form.type, lengths, form.getStrides(lengths));
    };
    const int64_t a = add(), b = add(), y = add();
    sum.node(GraphNode::Pointwise, makePointwise(2, a, b, y));
    EXPECT_EQ(checkGraph(sum), 1u);
    for (const Clips &clips : {kRelu, kUpper, kClamp, kLeaky})
      EXPECT_EQ(checkGraph(makeUnaryGraph(form, lengths, 34, clips)), 1u);
    // Absolute value, ELU, identity, sigmoid, softplus, tanh.
    for (uint8_t operation : {1, 14, 23, 37, 40, 47})
      EXPECT_EQ(checkGraph(makeUnaryGraph(form, lengths, operation)), 1u);
  }
}

TEST(HipdnnProvider, Reduction) {
  for (Form form : kForms) {
    for (uint8_t mode = 1; mode <= 8; ++mode) {
      SCOPED_TRACE(int(mode));
      EXPECT_EQ(
          checkGraph(makeReduction(form, {1, 16, 8, 8}, {1, 16, 1, 1}, mode)),
          1u);
    }
    for (const auto &[from, to] :
         {std::pair<Lengths, Lengths>{{4, 8, 4, 4}, {4, 8, 1, 1}},
          {{2, 3, 16, 8}, {2, 3, 1, 1}},
          {{4, 8, 4, 4}, {1, 8, 4, 4}},
          {{2, 3, 4, 4}, {1, 1, 1, 1}},
          {{1, 1, 32, 32}, {1, 1, 1, 1}}})
      EXPECT_GE(checkGraph(makeReduction(form, from, to, 1)), 1u);
  }
}

// The product of what is not zero.
TEST(HipdnnProvider, DeclinesOneReduction) {
  EXPECT_NE(getRefusal(makeReduction({}, {1, 16, 8, 8}, {1, 16, 1, 1}, 9))
                .find("no kernel has its mode 9"),
            std::string::npos);
}

static std::vector<PoolCase> getPools() {
  std::vector<PoolCase> pools;
  for (const Lengths &x : {Lengths{2, 3, 7, 5}, Lengths{1, 2, 8, 6}})
    for (const PoolCase &c :
         {PoolCase{x, {0, 0}, {0, 0}, {2, 2}, {2, 2}, 1, 1},
          PoolCase{x, {0, 0}, {0, 0}, {2, 2}, {2, 2}, 1, 2},
          PoolCase{x, {1, 1}, {1, 1}, {2, 2}, {3, 3}, 1, 1},
          PoolCase{x, {1, 0}, {0, 1}, {2, 1}, {3, 2}, 2, 2},
          PoolCase{x, {0, 1}, {1, 0}, {1, 2}, {2, 3}, 3, 2}})
      pools.push_back(c);
  const Lengths x = {1, 2, 4, 5, 3}, zero = {0, 0, 0}, window = {2, 2, 2};
  const Lengths stride = {1, 2, 1};
  pools.push_back({x, zero, zero, stride, window, 1, 1});
  pools.push_back({x, zero, zero, stride, window, 1, 2});
  pools.push_back({x, {0, 1, 0}, {1, 0, 1}, stride, window, 2, 2});
  pools.push_back({x, {1, 0, 1}, {0, 1, 0}, stride, window, 3, 2});
  return pools;
}

// The gradients of averages, and of maxima by the indices of a forward pass.
TEST(HipdnnProvider, Resample) {
  for (GraphType type : {F32, F16, BF16})
    for (bool isLast : {false, true})
      for (const PoolCase &c : getPools())
        for (bool isBackward : {false, true}) {
          SCOPED_TRACE(describe({type, isLast}, c.x)
                       << " " << int(c.mode) << " " << isBackward);
          EXPECT_EQ(checkGraph(makePool({type, isLast}, c, isBackward)),
                    isBackward ? 2u : 1u);
        }
}

TEST(HipdnnProvider, DeclinesMaximaOfZeros) {
  const PoolCase c = {{2, 3, 7, 5}, {1, 1}, {1, 1}, {2, 2}, {3, 3}, 1, 2};
  for (bool isBackward : {false, true})
    EXPECT_NE(getRefusal(makePool({}, c, isBackward))
                  .find("zeros take part in its maximum"),
              std::string::npos);
}

TEST(HipdnnProvider, DeclinesOtherFamilies) {
  for (const auto &[node, name] :
       {std::pair(GraphNode::Matmul, "matrix multiplication"),
        std::pair(GraphNode::Sdpa, "scaled dot product attention"),
        std::pair(GraphNode::BlockScaleDequantize,
                  "block scale dequantisation")}) {
    TestGraph graph;
    graph.node(node, makeTable({}));
    EXPECT_NE(getRefusal(graph).find(name), std::string::npos);
  }
}

//===- RuntimeTest.cpp - Lengths and numbers of an execution --------------===//

#include "test/unit/capi/hipdnn/PluginHost.h"
#include "test/unit/capi/hipdnn/SampleGraphs.h"

#include <gtest/gtest.h>

#include <functional>

using namespace tessera::test;
using tessera::hipdnn::PluginStatus;

namespace {
enum : uint8_t { kAdd = 2, kMul = 30, kRelu = 34 };

/// The graph of a kind of test, of so many images.
using Maker = std::function<TestGraph(int64_t images, int64_t size)>;
} // namespace

/// Runs a plan for 5 images on what it was made for, on less, and on the whole
/// again: each execution is compared, whatever the one before had.
static void checkShapes(const Maker &make) {
  TestGraph most = make(5, 9);
  most.allowRuntimeShapes();
  TestPlan plan(most);
  ASSERT_EQ(plan.getStatus(), PluginStatus::Success);
  EXPECT_EQ(plan.run(most), PluginStatus::Success) << getPluginError();
  for (const auto &[images, size] :
       {std::pair(2, 9), {3, 7}, {3, 7}, {1, 5}, {5, 9}})
    EXPECT_EQ(plan.run(make(images, size), most), PluginStatus::Success)
        << images << " images of " << size << ": " << getPluginError();
}

static const Window kSame = {{1, 1}, {1, 1}, {1, 1}, {1, 1}};

// A convolution, also in groups, with strides and unequal pads.
TEST(HipdnnRuntimeShapes, Convolution) {
  for (const Window &window : {kSame, Window{{2, 0}, {0, 1}, {2, 1}, {1, 2}}})
    for (const Form &form :
         {Form{GraphType::F16, true}, Form{GraphType::F32, false}})
      checkShapes([&](int64_t images, int64_t size) {
        return makeConvolutionGraph(
            GraphNode::ConvolutionForward, form,
            {{images, 8, size, 9}, {16, 4, 3, 3}, window});
      });
}

// Gradients, whose results the client describes.
TEST(HipdnnRuntimeShapes, ConvolutionGradients) {
  for (GraphNode kind :
       {GraphNode::ConvolutionBackward, GraphNode::ConvolutionWeights})
    checkShapes([&](int64_t images, int64_t size) {
      return makeConvolutionGraph(kind, {},
                                  {{images, 8, size, 9}, {16, 8, 3, 3}, kSame});
    });
}

// Virtual tensors between a convolution and what it takes along, and between
// launches: a bias and a rectifier, then a product of which somebody else reads
// an operand, and a pooling.
TEST(HipdnnRuntimeShapes, VirtualTensors) {
  checkShapes([](int64_t images, int64_t size) {
    Tail tail;
    tail.hasBias = true;
    tail.activation = Clips{};
    return makeConvolutionWithTail(
        {}, {{images, 8, size, 9}, {8, 8, 3, 3}, kSame}, tail);
  });
  checkShapes([](int64_t images, int64_t size) {
    TestGraph g;
    const auto type = GraphType::F32;
    const Lengths in = {images, 4, size, 9}, out = {images, 6, size, 9};
    const Lengths half = {images, 6, (size - 3) / 2 + 1, 4};
    const int64_t x = g.tensor(type, in, getChannelsLastStrides(in));
    const int64_t w = g.tensor(type, {6, 4, 3, 3});
    const int64_t sum = g.internal(type, out, getChannelsLastStrides(out));
    const int64_t scale = g.tensor(type, {1, 6, 1, 1});
    const int64_t scaled = g.internal(type, out, getChannelsLastStrides(out));
    const int64_t both = g.internal(type, out, getChannelsLastStrides(out));
    const int64_t pooled = g.internal(type, half);
    const int64_t rows = g.tensor(type, {images, 6, 1, 1});
    g.node(GraphNode::ConvolutionForward, makeConvolution(x, w, sum, kSame));
    g.node(GraphNode::Pointwise, makePointwise(kMul, sum, scale, scaled));
    g.node(GraphNode::Pointwise, makePointwise(kAdd, scaled, sum, both));
    g.node(GraphNode::ResampleForward, makeTable({both, pooled})
                                           .set(3, Lengths{0, 0})
                                           .set(4, Lengths{0, 0})
                                           .set(5, Lengths{2, 2})
                                           .set(6, Lengths{3, 3})
                                           .number(7, uint8_t(2)));
    g.node(GraphNode::Reduction,
           makeTable({-1, pooled, rows}).number(0, uint8_t(1)));
    return g;
  });
}

// Normalisations of a batch and of rows, and their gradients, with what is
// fused into them.
TEST(HipdnnRuntimeShapes, Normalisations) {
  const Form form = {GraphType::F32, true};
  checkShapes([&](int64_t images, int64_t size) {
    return makeBatchNormTraining(form, {images, 6, size, 9}, true, Clips{});
  });
  checkShapes([&](int64_t images, int64_t size) {
    return makeBatchNormInference(form, {images, 6, size, 9}, true, Clips{});
  });
  checkShapes([&](int64_t images, int64_t size) {
    return makeBatchNormBackward(form, {images, 6, size, 9}, Clips{});
  });
  const NormTypes types = {GraphType::F32, GraphType::F32, GraphType::F32,
                           GraphType::F32};
  checkShapes([&](int64_t images, int64_t size) {
    return makeLayerNorm(types, false, {images, size, 6, 9}, 2, true);
  });
  checkShapes([&](int64_t images, int64_t size) {
    return makeLayerNormBackward(types, false, {images, size, 6, 9}, 2, false);
  });
  checkShapes([&](int64_t images, int64_t size) {
    return makeRmsNormBackward(types, false, {images, size, 6, 9}, {1, 1, 6, 9},
                               Clips{});
  });
}

// Lengths that nobody may give.
TEST(HipdnnRuntimeShapes, RefusesWhatTheGraphDoesNotAllow) {
  const auto make = [](int64_t images) {
    return makeUnaryGraph({}, {images, 3, 4, 4}, kRelu);
  };
  TestGraph most = make(4);
  const TestGraph fixed = make(4);
  most.allowRuntimeShapes();
  TestPlan plan(most), fixedPlan(fixed);
  const auto expect = [&](TestPlan &of, const TestGraph &graph,
                          const TestGraph &declared, const std::string &why) {
    EXPECT_EQ(of.run(graph, declared), PluginStatus::InvalidValue);
    EXPECT_NE(getPluginError().find(why), std::string::npos)
        << getPluginError();
  };
  expect(fixedPlan, make(2), fixed,
         "the graph does not say that an execution may give");
  expect(plan, make(5), most, "gets length 5, and the graph says at most 4");
  TestGraph one = make(2);
  one.get(1) = most.get(1); // The result is not what the input is now.
  expect(plan, one, most, "do not fit");
  TestGraph flat = make(2);
  flat.get(0).lengths = {2, 3, 16};
  flat.get(0).strides = {48, 16, 1};
  expect(plan, flat, most, "gets 3 lengths instead of 4");
}

// Graphs whose virtual tensors would have no lengths are left to others.
TEST(HipdnnRuntimeShapes, DeclinesWhatDoesNotFollow) {
  TestGraph g;
  const Lengths lengths = {2, 4, 6, 6};
  const int64_t dy = g.tensor(GraphType::F32, {2, 4, 3, 3});
  const int64_t w = g.tensor(GraphType::F32, {4, 4, 1, 1});
  const int64_t dx = g.internal(GraphType::F32, lengths);
  const int64_t y = g.tensor(GraphType::F32, lengths);
  g.node(GraphNode::ConvolutionBackward,
         makeConvolution(dy, w, dx, {{0, 0}, {0, 0}, {2, 2}, {1, 1}}));
  g.node(GraphNode::Pointwise, makePointwise(kRelu, dx, -1, y));
  EXPECT_EQ(askPlugin(g.write()).count, 1u);
  g.allowRuntimeShapes();
  EXPECT_NE(getRefusal(g).find("do not follow from those of its operands"),
            std::string::npos);
}

// A workspace that is enough for the whole is enough for less, also where the
// kernel of less wants more: it splits its sums, which here has no space.
TEST(HipdnnRuntimeShapes, KeepsTheWorkspace) {
  const auto make = [](int64_t images, int64_t size) {
    return makeConvolutionGraph(
        GraphNode::ConvolutionForward, {GraphType::F16, true},
        {{images, 512, size, size}, {16, 512, 3, 3}, kSame});
  };
  TestGraph most = make(16, 28);
  most.allowRuntimeShapes();
  TestPlan plan(most);
  const TestGraph less = make(1, 7);
  EXPECT_LT(plan.getWorkspaceBytes(), TestPlan(less).getWorkspaceBytes());
  EXPECT_EQ(plan.run(less, most), PluginStatus::Success) << getPluginError();
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// The epsilon of a normalisation and a factor behind it.
static TestGraph makeNumbers(GraphType type, double epsilon, double factor) {
  TestGraph g;
  const Lengths lengths = {3, 4, 5, 6}, channels = {1, 4, 1, 1};
  const auto channel = [&] { return g.tensor(GraphType::F32, channels); };
  const int64_t x = g.tensor(GraphType::F32, lengths), scale = channel();
  const int64_t bias = channel(), e = g.runtimeNumber(type, epsilon);
  const int64_t y = g.internal(GraphType::F32, lengths), mean = channel();
  const int64_t inverse = channel(), f = g.runtimeNumber(type, factor);
  const int64_t product = g.tensor(GraphType::F32, lengths);
  g.node(GraphNode::BatchNorm,
         makeTable({x, scale, bias, e, -1, -1, -1, -1, y, mean, inverse}));
  g.node(GraphNode::Pointwise, makePointwise(kMul, y, f, product));
  return g;
}

// The same plan computes with other numbers, of each type that they can have.
TEST(HipdnnRuntimeNumbers, ComeWithEachExecution) {
  for (GraphType type : {GraphType::F32, GraphType::F16, GraphType::BF16,
                         GraphType::F64, GraphType::I32}) {
    const TestGraph first = makeNumbers(type, 1, 2);
    TestPlan plan(first);
    const uint64_t compiled = readCounts().compiled;
    for (const auto &[epsilon, factor] :
         {std::pair(1, 2), {3, 2}, {3, -5}, {3, -5}, {1, 2}})
      EXPECT_EQ(plan.run(makeNumbers(type, epsilon, factor)),
                PluginStatus::Success)
          << getPluginError();
    EXPECT_EQ(readCounts().compiled, compiled);
  }
}

// Numbers and lengths at once.
TEST(HipdnnRuntimeNumbers, WithShapes) {
  checkShapes([](int64_t images, int64_t size) {
    TestGraph g;
    const Lengths lengths = {images, size};
    const int64_t x = g.tensor(GraphType::F32, lengths);
    const int64_t factor =
        g.runtimeNumber(GraphType::F32, static_cast<double>(images + size) / 4);
    const int64_t product = g.internal(GraphType::F32, lengths);
    const int64_t y = g.tensor(GraphType::F32, lengths);
    g.node(GraphNode::Pointwise, makePointwise(kMul, x, factor, product));
    g.node(GraphNode::Pointwise, makePointwise(kAdd, x, product, y));
    return g;
  });
}

// One that the graph says, too, is what it says.
TEST(HipdnnRuntimeNumbers, DefaultsOfTheGraphStay) {
  TestGraph g;
  const int64_t x = g.tensor(GraphType::F32, {4, 4}), f = g.number(3);
  const int64_t y = g.tensor(GraphType::F32, {4, 4});
  g.node(GraphNode::Pointwise, makePointwise(kMul, x, f, y));
  g.alsoComesWithExecutions(f);
  checkGraph(g);
}

// An execution without the number, and a number of a type that has none.
TEST(HipdnnRuntimeNumbers, RefusesWhatIsMissing) {
  const TestGraph graph = makeNumbers(GraphType::F32, 1, 2);
  TestPlan plan(graph);
  TestGraph less = makeNumbers(GraphType::F32, 1, 2);
  less.get(3).isRuntimeValue = false; // Its value does not come.
  EXPECT_EQ(plan.run(less, graph), PluginStatus::InvalidValue);
  EXPECT_EQ(getPluginError(),
            "the execution does not bring the number that is tensor 3");
  EXPECT_NE(getRefusal(makeNumbers(GraphType::I8, 1, 2))
                .find("is no number that the graph says"),
            std::string::npos);
}

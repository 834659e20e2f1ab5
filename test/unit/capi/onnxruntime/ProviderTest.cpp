//===- ProviderTest.cpp - The provider in a host of our own ---------------===//

#include "test/unit/capi/onnxruntime/OrtHost.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tessera;
using namespace tessera::test;

namespace {
/// x of 3 channels, a convolution with a bias, padding that differs between the
/// ends and a rectifier, a pooling; beside it, a node that nobody here knows.
struct Network : HostGraph {
  Value x = value("x", {-1, 3, 7, 6});
  Value w = constant("w", {4, 3, 3, 2});
  Value b = constant("b", {4});
  Value sum = add("Conv", {x, w, b},
                  {{"pads", std::vector<int64_t>{1, 0, 2, 1}},
                   {"auto_pad", std::string("NOTSET")},
                   {"group", int64_t(1)}});
  Value rectified = add("LeakyRelu", {sum}, {{"alpha", 0.25f}});
  Value y = add("MaxPool", {rectified},
                {{"kernel_shape", std::vector<int64_t>{2, 2}}});
  Value unknown = add("Unknown", {y});

  Network() { y->isOutput = unknown->isOutput = true; }

  std::vector<const ort::Node *> getServed() const {
    return {graph.nodes.begin(), graph.nodes.end() - 1};
  }
  double at(const ort::Tensor &x, int n, int k, int h, int w) const;
  void check(const ort::Tensor &x, const ort::Tensor &y) const;
};
} // namespace

/// An element behind the rectifier, in double.
double Network::at(const ort::Tensor &x, int n, int k, int h, int w) const {
  double sum = b->tensor.data[k];
  for (int c = 0; c < 3; ++c)
    for (int r = 0; r < 3; ++r)
      for (int s = 0; s < 2; ++s) {
        const int row = h + r - 1, column = w + s;
        if (row >= 0 && row < 7 && column < 6)
          sum += double(x.data[((n * 3 + c) * 7 + row) * 6 + column]) *
                 this->w->tensor.data[((k * 3 + c) * 3 + r) * 2 + s];
      }
  return sum > 0 ? sum : 0.25 * sum;
}

/// 8 rows and 6 columns behind the convolution, one less behind the pooling.
void Network::check(const ort::Tensor &x, const ort::Tensor &y) const {
  const auto batch = static_cast<int>(x.info.lengths[0]);
  ASSERT_EQ(y.info.lengths, (std::vector<int64_t>{batch, 4, 7, 5}));
  size_t next = 0;
  for (int n = 0; n < batch; ++n)
    for (int k = 0; k < 4; ++k)
      for (int h = 0; h < 7; ++h)
        for (int w = 0; w < 5; ++w) {
          const double right = std::max(
              std::max(at(x, n, k, h, w), at(x, n, k, h, w + 1)),
              std::max(at(x, n, k, h + 1, w), at(x, n, k, h + 1, w + 1)));
          ASSERT_NEAR(y.data[next++], right, 1e-5) << n << k << h << w;
        }
}

static ort::Tensor makeInput(int64_t batch) {
  return {{1, {batch, 3, 7, 6}}, makeData({batch, 3, 7, 6})};
}

// The provider takes the nodes that it knows as one, and computes them for
// batches that change.
TEST(OnnxRuntimeProvider, ComputesAGroup) {
  OrtHost host;
  const Network network;
  ASSERT_EQ(host.claim(network.graph), "");
  ASSERT_EQ(host.support.groups.size(), 1u);
  EXPECT_EQ(host.support.groups[0], network.getServed());
  ASSERT_EQ(host.compile(network.getServed(), {network.x}, {network.y}), "");
  for (int64_t batch : {2, 5, 1, 2}) {
    const ort::Tensor x = makeInput(batch);
    ASSERT_EQ(host.run({&x}), "");
    network.check(x, host.context.outputs[0]);
  }
  EXPECT_EQ(OrtHost::countObjects(), 0);
}

// An ONNX Runtime that is too old, or wants no factory, gets a sentence.
TEST(OnnxRuntimeProvider, RefusesHosts) {
  ort::Factory *factory = nullptr;
  EXPECT_EQ(OrtHost::createFactory(22, 4, factory),
            "Tessera's provider needs ONNX Runtime 1.23 or later");
  EXPECT_NE(OrtHost::createFactory(23, 0, factory), "");
  EXPECT_EQ(factory, nullptr);
}

// Input of no or the wrong size is a sentence, and the next call works.
TEST(OnnxRuntimeProvider, RefusesLengths) {
  OrtHost host;
  const Network network;
  ASSERT_EQ(host.compile(network.getServed(), {network.x}, {network.y}), "");
  const ort::Tensor none = makeInput(0);
  EXPECT_NE(host.run({&none}).find("length below 1"), std::string::npos);
  ort::Tensor wrong = makeInput(1);
  wrong.info.lengths = {1, 7, 3, 6};
  EXPECT_EQ(host.run({&wrong}),
            "Conv 'Conv': its filter does not fit its input");
  wrong.info.lengths = {126};
  EXPECT_EQ(host.run({&wrong}),
            "Conv 'Conv': its input has 1 dimensions, and not 3 to 5");
  const ort::Tensor x = makeInput(1);
  EXPECT_EQ(host.run({&x}), "");
  network.check(x, host.context.outputs[0]);
}

/// Lets each call of the host fail that `run` makes: it must say so, and
/// release all that it was given.
static void failEveryCall(const std::function<std::string()> &run) {
  OrtHost::failAt(-1);
  ASSERT_EQ(run(), "");
  const int count = OrtHost::failAt(-1);
  ASSERT_GT(count, 3);
  for (int call = 0; call < count; ++call) {
    OrtHost::failAt(call);
    EXPECT_EQ(run(), "the host does not answer") << call;
    EXPECT_EQ(OrtHost::countObjects(), 0) << call;
  }
  OrtHost::failAt(-1);
  ASSERT_EQ(run(), "");
}

TEST(OnnxRuntimeProvider, PassesFailuresOn) {
  OrtHost host;
  const Network network;
  failEveryCall([&] { return host.claim(network.graph); });
  failEveryCall([&] {
    return host.compile(network.getServed(), {network.x}, {network.y});
  });
  const ort::Tensor x = makeInput(2);
  failEveryCall([&] { return host.run({&x}); });
  network.check(x, host.context.outputs[0]);
}

// An output that the graph does not compute is a mistake of the host's.
TEST(OnnxRuntimeProvider, RefusesAnUnknownOutput) {
  OrtHost host;
  Network network;
  EXPECT_NE(host.compile(network.getServed(), {network.x}, {network.unknown})
                .find("no node of the graph computes"),
            std::string::npos);
}

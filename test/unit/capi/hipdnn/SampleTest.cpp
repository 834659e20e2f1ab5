//===- SampleTest.cpp - The graphs of hipDNN's samples --------------------===//
//
// One test for each sample of ROCm/rocm-libraries, projects/hipdnn/samples, by
// its name: the graph that it builds, with its lengths, in all of its forms.
// docs/guides/hipdnn.md has the table. Graphs are asked for with all images of
// the sample and run with fewer, which the emulated device computes sooner.
//
//===----------------------------------------------------------------------===//

#include "test/unit/capi/hipdnn/PluginHost.h"
#include "test/unit/capi/hipdnn/SampleGraphs.h"

#include <gtest/gtest.h>

#include <functional>

using namespace tessera::test;

namespace {
/// Images, channels, height and width of most samples.
const Lengths kWhole = {16, 16, 16, 16}, kFewer = {2, 16, 16, 16};
const Window kSame = {{1, 1}, {1, 1}, {1, 1}, {1, 1}};
const ConvCase kWholeConv = {kWhole, {16, 16, 3, 3}, kSame};
const ConvCase kFewerConv = {{1, 16, 16, 16}, {16, 16, 3, 3}, kSame};
} // namespace

/// Whether the plugin takes the graph of a sample as it is.
static void expectServed(const TestGraph &graph) {
  EXPECT_EQ(askPlugin(graph.write()).count, 1u) << getPluginError();
}

/// Asks and runs in every form. Samples that execute without a workspace get
/// none.
static void
checkSample(const std::function<TestGraph(Form, const Lengths &)> &make,
            uint64_t launches = 1, const Lengths &whole = kWhole,
            const Lengths &fewer = kFewer) {
  for (Form form : kSampleForms) {
    SCOPED_TRACE(testing::Message()
                 << int(form.type) << " " << form.isChannelsLast);
    expectServed(make(form, whole));
    EXPECT_EQ(checkGraph(make(form, fewer), nullptr, /*givesWorkspace=*/false),
              launches);
  }
}

static void
checkConvolution(const std::function<TestGraph(Form, const ConvCase &)> &make) {
  for (Form form : kSampleForms) {
    SCOPED_TRACE(testing::Message()
                 << int(form.type) << " " << form.isChannelsLast);
    expectServed(make(form, kWholeConv));
    EXPECT_GE(checkGraph(make(form, kFewerConv)), 1u);
  }
}

//===----------------------------------------------------------------------===//
// batchnorm
//===----------------------------------------------------------------------===//

TEST(HipdnnSample, BnInference) {
  checkSample([](Form form, const Lengths &lengths) {
    return makeBatchNormInference(form, lengths, false);
  });
}

TEST(HipdnnSample, BnInferenceWithVariance) {
  checkSample([](Form form, const Lengths &lengths) {
    return makeBatchNormInference(form, lengths, true);
  });
}

// The sample's other mode, with running statistics, is refused by the sample.
TEST(HipdnnSample, BnTraining) {
  for (bool hasRunning : {false, true})
    checkSample([&](Form form, const Lengths &lengths) {
      return makeBatchNormTraining(form, lengths, hasRunning);
    });
}

TEST(HipdnnSample, FusedBnTrainingActiv) {
  for (bool hasRunning : {false, true})
    checkSample([&](Form form, const Lengths &lengths) {
      return makeBatchNormTraining(form, lengths, hasRunning, Clips());
    });
}

TEST(HipdnnSample, BnBackward) {
  checkSample([](Form form, const Lengths &lengths) {
    return makeBatchNormBackward(form, lengths);
  });
}

// All images of the sample are enough for a kernel with a workspace, which an
// execution may give or not.
TEST(HipdnnSample, BnBackwardWithWorkspace) {
  const TestGraph graph = makeBatchNormBackward(kSampleForms[3], kWhole);
  size_t workspace = 0;
  EXPECT_EQ(checkGraph(graph, &workspace), 1u);
  EXPECT_GT(workspace, 0u);
  EXPECT_EQ(checkGraph(graph, nullptr, /*givesWorkspace=*/false), 1u);
}

// The rectifier, and the clips that releases of the sample have as options.
TEST(HipdnnSample, FusedBnInferenceActiv) {
  for (const Clips &clips :
       {Clips(), Clips{{2, 6.f}}, Clips{{1, 0.1f}, {2, 0.5f}}})
    checkSample([&](Form form, const Lengths &lengths) {
      return makeBatchNormInference(form, lengths, false, clips);
    });
}

TEST(HipdnnSample, FusedBnInferenceVarianceActiv) {
  checkSample([](Form form, const Lengths &lengths) {
    return makeBatchNormInference(form, lengths, true, Clips());
  });
}

TEST(HipdnnSample, FusedBnInfDReluBnBwd) {
  const Lengths lengths = {1, 16, 14, 14};
  checkSample(
      [](Form form, const Lengths &lengths) {
        return makeBatchNormBackward(form, lengths, Clips());
      },
      1, lengths, lengths);
}

//===----------------------------------------------------------------------===//
// convolution
//===----------------------------------------------------------------------===//

// ConvFpropDeterministic is the same graph, for an engine that it names.
TEST(HipdnnSample, ConvFprop) {
  checkConvolution([](Form form, const ConvCase &c) {
    return makeConvolutionGraph(GraphNode::ConvolutionForward, form, c);
  });
}

TEST(HipdnnSample, ConvDgrad) {
  checkConvolution([](Form form, const ConvCase &c) {
    return makeConvolutionGraph(GraphNode::ConvolutionBackward, form, c);
  });
}

TEST(HipdnnSample, ConvWgrad) {
  checkConvolution([](Form form, const ConvCase &c) {
    return makeConvolutionGraph(GraphNode::ConvolutionWeights, form, c);
  });
}

TEST(HipdnnSample, FusedConvFpropActiv) {
  checkConvolution([](Form form, const ConvCase &c) {
    return makeConvolutionWithTail(form, c, {.activation = Clips()});
  });
}

TEST(HipdnnSample, FusedConvFpropBiasActiv) {
  checkConvolution([](Form form, const ConvCase &c) {
    return makeConvolutionWithTail(form, c,
                                   {.hasBias = true, .activation = Clips()});
  });
}

//===----------------------------------------------------------------------===//
// autotune, dynamic, knobs, serialization
//===----------------------------------------------------------------------===//

TEST(HipdnnSample, AutotuneSample) {
  for (int64_t size : {4, 32}) {
    const ConvCase c = {
        {size == 4 ? 1 : 64, size, size, size}, {size, size, 3, 3}, kSame};
    const TestGraph graph =
        makeConvolutionGraph(GraphNode::ConvolutionForward, {}, c);
    expectServed(graph);
    if (size == 4)
      EXPECT_EQ(checkGraph(graph), 1u);
  }
}

TEST(HipdnnSample, DynamicBackendLoading) {
  const ConvCase c = {
      {2, 4, 8, 8}, {3, 4, 1, 1}, {{0, 0}, {0, 0}, {1, 1}, {1, 1}}};
  EXPECT_EQ(
      checkGraph(makeConvolutionGraph(GraphNode::ConvolutionForward, {}, c)),
      1u);
}

// It asks for knobs, of which the engine has none, and goes on without.
TEST(HipdnnSample, KnobsUsage) {
  expectServed(makeBatchNormInference({}, kWhole, false));
}

// What is written and read again is the graph, by hipDNN.
TEST(HipdnnSample, SerializationRoundTrip) {
  const ConvCase c = {{4, 8, 8, 8}, {8, 8, 3, 3}, kSame};
  for (Form form : kSampleForms)
    EXPECT_GE(checkGraph(
                  makeConvolutionGraph(GraphNode::ConvolutionForward, form, c)),
              1u);
}

// Its graphs; it names the engines of its own plugin.
TEST(HipdnnSample, ExampleProviderSample) {
  size_t workspace = 0;
  EXPECT_EQ(checkGraph(makeUnaryGraph({}, {1, 1, 1, 6}, 34), &workspace), 1u);
  EXPECT_EQ(workspace, 0u);
}

//===----------------------------------------------------------------------===//
// sdpa
//===----------------------------------------------------------------------===//

TEST(HipdnnSample, SdpaFprop) {
  TestGraph graph;
  graph.node(GraphNode::Sdpa, makeTable({}));
  EXPECT_NE(getRefusal(graph).find("scaled dot product attention (node): no "
                                   "kernel of ours computes it"),
            std::string::npos);
}

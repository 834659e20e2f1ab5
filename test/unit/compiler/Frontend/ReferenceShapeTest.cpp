//===- ReferenceShapeTest.cpp - A problem for the reference ---------------===//

#include "runtime/Reference/ReferenceShape.h"
#include "runtime/Reference/ConvCase.h"
#include "test/unit/Support/RandomProblem.h"

#include <gtest/gtest.h>

using namespace tessera;

// Problem and reference agree in every length and stride.
TEST(ReferenceShape, RandomProblems) {
  test::RandomProblem random;
  SCOPED_TRACE("TESSERA_TEST_SEED=" + std::to_string(random.getSeed()));
  for (int i = 0; i < 100; ++i) {
    const ConvProblem p = random.nextOfAll();
    SCOPED_TRACE(p.toNetworkConfig());
    const reference::ConvShape shape = getReferenceShape(p);
    EXPECT_EQ(shape.getInputSizes(), getReferenceSizes(p.getInputLengths()));
    EXPECT_EQ(shape.getFilterSizes(), getReferenceSizes(p.getFilterLengths()));
    EXPECT_EQ(shape.getOutputSizes(), getReferenceSizes(p.getOutputLengths()));
    if (p.wLayout == Layout::NHWC) {
      EXPECT_EQ(getReferenceStrides(p.getFilterStrides()),
                getNhwcStrides(shape.getFilterSizes()));
    }
    if (p.yLayout == Layout::NCHW) {
      EXPECT_EQ(getReferenceStrides(p.getOutputStrides()),
                getNchwStrides(shape.getOutputSizes()));
    }
  }
}

/// Returns a 1x1 convolution of one channel. With a filter of 1 its result is x
/// itself.
static ConvProblem makeIdentity() {
  ConvProblem problem;
  problem.dataType = DataType::F16;
  problem.batch = 2;
  problem.in = {30, 40};
  return problem;
}

// A case fails before its output is written, passes with the right numbers, and
// fails if one is wrong, for both kinds of data and both kinds of check.
TEST(ConvCase, JudgesTheOutput) {
  for (reference::DataKind kind :
       {reference::DataKind::Uniform, reference::DataKind::Integer}) {
    ConvCase conv(makeIdentity(), kind, /*seed=*/1);
    storeElement(reference::ElementType::F16, conv.w.data(), 0, 1);
    EXPECT_EQ(conv.check().failed, 2400);
    EXPECT_FALSE(conv.checkSample(100, 1).passed());

    conv.y = conv.x;
    EXPECT_TRUE(conv.check().passed()) << conv.check().toText();
    EXPECT_TRUE(conv.checkSample(100, 1).passed());

    storeElement(reference::ElementType::F16, conv.y.data(), 2399, 7);
    EXPECT_EQ(conv.check().failed, 1);
    EXPECT_EQ(conv.checkSample(100, 1).failed, 1) << "samples have the corners";
  }
}

// Backward data writes x and backward weights write w: only that tensor is
// checked and poisoned.
TEST(ConvCase, JudgesTheTensorOfTheDirection) {
  ConvProblem problem = makeIdentity();
  problem.direction = Direction::BackwardData;
  ConvCase data(problem, reference::DataKind::Integer, 1);
  storeElement(reference::ElementType::F16, data.w.data(), 0, 1);
  EXPECT_EQ(&data.getResult(), &data.x);
  EXPECT_EQ(data.check().failed, 2400);
  data.x = data.y;
  EXPECT_TRUE(data.check().passed()) << data.check().toText();

  problem.direction = Direction::BackwardWeights;
  problem.in = {1, 1};
  problem.batch = 1;
  ConvCase weights(problem, reference::DataKind::Integer, 1);
  storeElement(reference::ElementType::F16, weights.x.data(), 0, 1);
  EXPECT_EQ(&weights.getResult(), &weights.w);
  EXPECT_FALSE(weights.check().passed());
  weights.w = weights.y;
  EXPECT_TRUE(weights.check().passed()) << weights.check().toText();
}

// The check includes the epilogue: here |0.5 x - 2 old| with small integers,
// which is exact.
TEST(ConvCase, JudgesTheEpilogue) {
  ConvProblem problem = makeIdentity();
  problem.dataType = DataType::F32;
  problem.epilogue = {
      .alpha = true, .beta = true, .activation = Activation::Abs};
  ConvCase conv(problem, reference::DataKind::Integer, 1);
  using reference::loadElement;
  constexpr auto kType = reference::ElementType::F32;
  storeElement(kType, conv.w.data(), 0, 1);
  EXPECT_FALSE(conv.check().passed());
  for (int64_t i = 0; i < 2400; ++i) {
    const double old = loadElement(kType, conv.y.data(), i);
    const double x = loadElement(kType, conv.x.data(), i);
    storeElement(kType, conv.y.data(), i, std::fabs(0.5 * x - 2 * old));
  }
  EXPECT_TRUE(conv.check().passed()) << conv.check().toText();
}

// A case fails if the gaps between the elements of a result have changed.
TEST(ConvCase, WatchesGaps) {
  ConvProblem problem = makeIdentity();
  problem.yLayout = Layout::Strided;
  problem.yStrides = {.n = 3000, .c = 1, .d = 1, .h = 50, .w = 1};
  ConvCase conv(problem, reference::DataKind::Integer, 1);
  EXPECT_EQ(conv.y.size(), (3000 + 29 * 50 + 40) * 2u);
  EXPECT_EQ(conv.checkGaps(), "");
  storeElement(reference::ElementType::F16, conv.y.data(), 39, 7);
  EXPECT_EQ(conv.checkGaps(), "") << "an element";
  storeElement(reference::ElementType::F16, conv.y.data(), 40, 7);
  EXPECT_EQ(conv.checkGaps(),
            "the gap at element 40 of the result's memory was overwritten");
}

// x and w have different random numbers, and the same seed gives the same ones.
TEST(ConvCase, SeedsAreRepeatable) {
  ConvProblem problem = makeIdentity();
  problem.inChannels = 2;
  problem.outChannels = 1200;
  ConvCase first(problem, reference::DataKind::Uniform, 5);
  ConvCase second(problem, reference::DataKind::Uniform, 5);
  EXPECT_EQ(first.x, second.x);
  EXPECT_EQ(first.w, second.w);
  EXPECT_NE(first.w, std::vector<char>(first.x.begin(),
                                       first.x.begin() + first.w.size()));
}

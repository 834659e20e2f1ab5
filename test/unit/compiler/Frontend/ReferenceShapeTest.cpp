//===- ReferenceShapeTest.cpp - A problem for the reference ---------------===//

#include "compiler/Frontend/ReferenceShape.h"
#include "test/unit/Support/ConvCase.h"

#include <gtest/gtest.h>

using namespace tessera;
using test::ConvCase;

// The reference gets the strides of the problem's layouts.
TEST(ReferenceShape, StridesFollowTheLayout) {
  const reference::Sizes sizes{2, 3, 5, 7};
  EXPECT_EQ(getReferenceStrides(Layout::NCHW, sizes).channel, 35);
  EXPECT_EQ(getReferenceStrides(Layout::NHWC, sizes).channel, 1);
}

// Types without a reference are an answer, not a crash.
TEST(ReferenceShape, TypesWithoutReference) {
  ASSERT_TRUE(getReferenceType(DataType::BF16));
  EXPECT_EQ(*getReferenceType(DataType::BF16), reference::ElementType::BF16);
  EXPECT_EQ(getReferenceType(DataType::I8).getStatus().getCode(),
            StatusCode::NotSupported);
}

/// 1x1 with one channel, and a filter of 1: the right result is x itself.
static ConvProblem makeIdentity() {
  ConvProblem problem;
  problem.dataType = DataType::F16;
  problem.batch = 2;
  problem.in = {30, 40};
  return problem;
}

// A case fails until its output is filled, passes with the right numbers, and
// fails again with one wrong: for both kinds of data and both kinds of check.
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

// x, w and y have different random numbers, and a seed repeats them.
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

//===- StatisticsTest.cpp - Means and variances of results ----------------===//
//
// Every algorithm serves a problem with statistics. Biases of 64 and -64 move
// the channels' means away from zero by many deviations.
//
//===----------------------------------------------------------------------===//

#include "test/unit/execute/EveryAlgorithm.h"

using namespace tessera;
using namespace tessera::test;

static ConvProblem makeProblem(DataType type, Layout layout) {
  ConvProblem problem;
  problem.dataType = type;
  problem.xLayout = problem.wLayout = problem.yLayout = layout;
  problem.batch = 3;
  problem.inChannels = 24;
  problem.outChannels = 40;
  problem.in = {13, 11};
  problem.filter = {3, 3};
  problem.pad = {1, 1};
  problem.epilogue.bias = problem.epilogue.statistics = true;
  return problem;
}

// Types and layouts, with all algorithms that there are for them.
TEST(Statistics, EveryAlgorithm) {
  int64_t number = 0;
  for (DataType type : {DataType::F16, DataType::BF16, DataType::F32})
    for (Layout layout : {Layout::NHWC, Layout::NCHW})
      if (runsHere(number++ / 2 + (layout == Layout::NHWC)))
        EXPECT_GE(checkAll(makeProblem(type, layout)), 2u);
}

// Channels and pixels that no vector, workgroup or part divides; one pixel.
TEST(Statistics, OddShapes) {
  ConvProblem problem = makeProblem(DataType::BF16, Layout::NHWC);
  problem.outChannels = 17;
  checkAll(problem);
  problem.outChannels = 1;
  problem.in = {67, 71};
  checkAll(problem);
  problem.batch = 1;
  problem.outChannels = 9;
  problem.in = {1, 1};
  checkAll(problem);
}

// Volumes, groups, a result with gaps, and one that is activated first.
TEST(Statistics, OtherProblems) {
  ConvProblem problem = makeProblem(DataType::F16, Layout::NHWC);
  problem.in.d = 5;
  problem.filter.d = 2;
  checkAll(problem);
  problem = makeProblem(DataType::F32, Layout::NCHW);
  problem.groups = 4;
  problem.epilogue.activation = Activation::Relu;
  checkAll(problem);
  problem = makeProblem(DataType::BF16, Layout::NHWC);
  problem.epilogue.bias = false;
  problem.yLayout = Layout::Strided;
  problem.yStrides = {7800, 1, 7800, 600, 48};
  checkAll(problem);
}

// Two runs give the same bits, which a third kernel of other parts may not.
TEST(Statistics, SameBits) {
  checkSameBits(makeProblem(DataType::BF16, Layout::NHWC));
}

//===- NormGradientTest.cpp - The sums of a norm's gradient ---------------===//
//
// Every algorithm of backward data serves a problem with the sums of a
// normalisation's gradient. Of even channels z is far from zero.
//
//===----------------------------------------------------------------------===//

#include "test/unit/execute/EveryAlgorithm.h"

using namespace tessera;
using namespace tessera::test;

static constexpr NormGradient kKinds[] = {
    NormGradient::Plain, NormGradient::Relu, NormGradient::Mask};

static ConvProblem makeProblem(DataType type, Layout layout,
                               NormGradient kind) {
  ConvProblem problem;
  problem.direction = Direction::BackwardData;
  problem.dataType = type;
  problem.xLayout = problem.wLayout = problem.yLayout = layout;
  problem.batch = 3;
  problem.inChannels = 40;
  problem.outChannels = 24;
  problem.in = {13, 11};
  problem.filter = {3, 3};
  problem.pad = {1, 1};
  problem.epilogue.normGradient = kind;
  return problem;
}

// Types, layouts and kinds, with all algorithms that there are for them.
TEST(NormGradient, EveryAlgorithm) {
  int64_t number = 0;
  for (DataType type : {DataType::F16, DataType::BF16, DataType::F32})
    for (Layout layout : {Layout::NHWC, Layout::NCHW})
      for (NormGradient kind : kKinds)
        if (runsHere(number++))
          EXPECT_GE(checkAll(makeProblem(type, layout, kind)), 2u);
}

// The gradients of two branches: one is added before zeros are stored.
TEST(NormGradient, JoinedGradients) {
  int64_t number = 0;
  for (NormGradient kind : kKinds) {
    ConvProblem added = makeProblem(DataType::BF16, Layout::NHWC, kind);
    ConvProblem scaled = added;
    added.epilogue.residual = true;
    scaled.epilogue = {.alpha = true, .beta = true, .normGradient = kind};
    checkAll(runsHere(number++) ? added : scaled);
  }
}

// Channels and pixels that no vector, workgroup or part divides; one pixel.
TEST(NormGradient, OddShapes) {
  int64_t number = 0;
  for (NormGradient kind : kKinds) {
    const ConvProblem like = makeProblem(DataType::BF16, Layout::NHWC, kind);
    ConvProblem odd = like, single = like, pixel = like;
    odd.inChannels = 17;
    single.inChannels = 1;
    single.in = {67, 71};
    pixel.batch = 1;
    pixel.inChannels = 9;
    pixel.in = {1, 1};
    for (const ConvProblem &problem : {odd, single, pixel})
      if (runsHere(number++))
        checkAll(problem);
  }
}

// Strides that leave pixels without products, volumes, groups, and gaps.
TEST(NormGradient, OtherProblems) {
  for (NormGradient kind : kKinds) {
    ConvProblem strided = makeProblem(DataType::BF16, Layout::NHWC, kind);
    strided.stride = {3, 2};
    strided.filter = {2, 1};
    ConvProblem deep = makeProblem(DataType::F16, Layout::NHWC, kind);
    deep.in.d = 5;
    deep.filter.d = 2;
    ConvProblem grouped = makeProblem(DataType::F32, Layout::NCHW, kind);
    grouped.groups = 4;
    ConvProblem gaps = makeProblem(DataType::BF16, Layout::NHWC, kind);
    gaps.xLayout = Layout::Strided;
    gaps.xStrides = {7800, 1, 7800, 600, 48};
    int64_t number = static_cast<int64_t>(kind);
    for (const ConvProblem &problem : {strided, deep, grouped, gaps})
      if (runsHere(number++))
        checkAll(problem);
  }
}

// Two runs give the same bits.
TEST(NormGradient, SameBits) {
  checkSameBits(makeProblem(DataType::BF16, Layout::NHWC, NormGradient::Relu));
}

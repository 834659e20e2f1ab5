//===- PointConvTest.cpp - Convolutions as point programs -----------------===//
//
// Tests the algorithms without a matrix product, each with tiles that the model
// would not choose for problems as small as these.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Depthwise/Depthwise.h"
#include "compiler/Algorithms/General/GeneralConv.h"
#include "compiler/Algorithms/Registry.h"
#include "test/unit/execute/ConvFixture.h"
#include "test/unit/execute/DrawProblem.h"

#include <algorithm>

using namespace tessera;
using namespace tessera::test;

static void checkTile(const ConvProblem &problem, const TileConfig &tile,
                      reference::DataKind kind = reference::DataKind::Uniform) {
  auto engine = makeEngine(std::make_shared<FixedTileCompiler>(tile));
  ASSERT_NE(engine, nullptr);
  checkConv(*engine, problem, kind);
}

/// Returns the largest power of two that divides `value`, but at most `limit`.
static int64_t getBlock(int64_t value, int64_t limit) {
  return std::min(limit, value & -value);
}

class GeneralConvolution : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Random, GeneralConvolution, testing::Range(0, 108));

// Tests random problems of every direction, type, layout and dimension, with
// gaps, epilogues, blocks of several sizes and split reductions.
TEST_P(GeneralConvolution, MatchesTheReference) {
  int index = GetParam();
  ProblemSpace space;
  space.maxFlops = 3e6;
  ConvProblem p = drawProblem(getSeed() + 11, index, space);
  int64_t inputs = p.inChannels / p.groups, outputs = p.outChannels / p.groups;
  GeneralTile tile;
  tile.threads = index % 2 ? 64 : 256;
  tile.block = getBlock(p.direction == Direction::Forward ? outputs : inputs,
                        int64_t(1) << index % 4);
  if (p.direction == Direction::BackwardWeights) {
    tile.rows = getBlock(outputs, int64_t(1) << index % 3);
    tile.splits = 1 + index % 5;
  }
  checkTile(p, tile.toConfig());
}

// The data are small integers, so that one wrong tap or channel, or a split
// that is summed twice, cannot hide in rounding.
TEST(GeneralConvolution, IsExactOnIntegers) {
  for (Direction direction : {Direction::Forward, Direction::BackwardData,
                              Direction::BackwardWeights})
    for (Layout layout : {Layout::NHWC, Layout::NCHW}) {
      ConvProblem p;
      p.direction = direction;
      p.xLayout = p.wLayout = p.yLayout = layout;
      p.batch = 3;
      p.inChannels = 24;
      p.outChannels = 16;
      p.in = {11, 9};
      p.filter = {3, 2};
      p.pad = {1, 1};
      p.stride = {2, 3};
      GeneralTile tile{8, 1, 64, 1};
      if (direction == Direction::BackwardWeights)
        tile = {8, 4, 64, 7};
      checkTile(p, tile.toConfig(), reference::DataKind::Integer);
    }
}

class DepthwiseConvolution : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Random, DepthwiseConvolution, testing::Range(0, 60));

// Tests groups of few channels in every direction, float type and layout, with
// windows and strides of all kinds, tails in rows and columns, and workgroups
// that share filters or sums in LDS.
TEST_P(DepthwiseConvolution, MatchesTheReference) {
  int index = GetParam();
  ProblemSpace space;
  space.types = {DataType::F16, DataType::BF16, DataType::F32, DataType::F64};
  space.depth = false;
  space.strided = false;
  space.maxFlops = 3e6;
  ConvProblem p = drawProblem(getSeed() + 12, index, space);
  constexpr int64_t kChannels[][3] = {{16, 1, 1}, {6, 1, 2}, {8, 2, 2},
                                      {5, 1, 1},  {4, 3, 1}, {8, 1, 1}};
  auto [groups, inputs, outputs] = kChannels[index % std::size(kChannels)];
  p.groups = groups;
  p.inChannels = groups * inputs;
  p.outChannels = groups * outputs;
  int64_t perGroup = inputs * outputs * p.filter.h * p.filter.w;

  bool isWeights = p.direction == Direction::BackwardWeights;
  bool isBackward = p.direction == Direction::BackwardData;
  DepthwiseTile tile;
  tile.groups = getBlock(groups, 8);
  while (tile.groups > 1 && tile.groups * perGroup > 128)
    tile.groups /= 2;
  tile.rows = isWeights ? 1 + index % 2 : 1 + index % 3;
  tile.columns = 1 + index % 5;
  tile.threads = 64;
  tile.splits = isWeights ? 1 + index % 4 : 1;
  bool isLast = p.xLayout == Layout::NHWC && p.yLayout == Layout::NHWC;
  // The model, too, offers several passes only in these cases.
  tile.iterations = isWeights || isLast ? 1 + index % 3 : 1;
  // A workgroup that shares filters or sums splits covers all groups.
  int64_t groupBlocks = groups / tile.groups;
  if (!isWeights && isLast && index % 2 == 1 &&
      tile.groups * perGroup * getByteSize(p.dataType) % 4 == 0) {
    tile.sharesFilters = true;
    tile.threads = groupBlocks;
  }
  if (isWeights && index % 4 >= 2) {
    tile.summed = 2;
    tile.splits += 1;
    tile.threads = 2 * groupBlocks;
  }
  tile.loadsAhead = isWeights && index % 5 >= 2;
  tile.isStreamed = isWeights && index % 3 == 0;
  tile.resident = index % 4;
  if (isWeights && inputs * outputs == 1 && p.filter.h >= 2 && index % 2 == 0 &&
      (p.filter.h + 1) / 2 * p.dilation.h % p.stride.h == 0)
    tile.tapSplits = 2;
  if (isBackward) {
    tile.rows *= p.stride.h;
    tile.columns *= p.stride.w;
  }
  if (tile.groups * perGroup > 128 ||
      tile.rows * tile.columns * p.filter.h * p.filter.w > 512)
    GTEST_SKIP() << "a window that the algorithm leaves to another";
  checkTile(p.canonicalize(), tile.toConfig());
}

// Tests the tiles that the model chooses for a layer that is large enough for
// whole vectors and full blocks. None may spill.
TEST(DepthwiseConvolution, IsRightWithTheTilesOfTheModel) {
  for (Direction direction : {Direction::Forward, Direction::BackwardData,
                              Direction::BackwardWeights})
    for (Layout layout : {Layout::NHWC, Layout::NCHW})
      for (int64_t stride : {1, 2}) {
        ConvProblem p;
        p.direction = direction;
        p.dataType = DataType::F16;
        p.xLayout = p.wLayout = p.yLayout = layout;
        p.batch = 1;
        p.inChannels = p.outChannels = p.groups = 32;
        p.in = {56, 56};
        p.filter = {3, 3};
        p.pad = {1, 1};
        p.stride = {stride, stride};
        auto candidates = getDepthwise().getCandidates(p, getTarget());
        ASSERT_FALSE(candidates.empty());
        auto engine = makeEngine(
            std::make_shared<FixedTileCompiler>(candidates.front().tile));
        ASSERT_NE(engine, nullptr);
        auto kernel = engine->prepare(p);
        ASSERT_TRUE(kernel) << kernel.getStatus().getMessage();
        EXPECT_EQ((*kernel)->getKernel().resources.vgprSpills, 0u);
        checkConv(*engine, p, reference::DataKind::Uniform);
      }
}

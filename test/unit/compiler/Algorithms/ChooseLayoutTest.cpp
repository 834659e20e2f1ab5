//===- ChooseLayoutTest.cpp - What the model says of lines and planes -----===//

#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Algorithms/ImplicitGemm/GemmSize.h"
#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"
#include "test/unit/compiler/Algorithms/Layer.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace tessera;
using namespace tessera::test;

// Loads of two bytes hold the address unit as long as loads of sixteen: on
// CDNA3 a filter in NCHW costs more than its launch. Pixels side by side
// coalesce, and stay where they are. Backward weights of stride 2 have no such
// pixels: all tensors are transposed. A filter of one tap is the same in both
// layouts.
TEST(ChooseTile, TransposesWhatDoesNotCoalesce) {
  const GpuTarget &target = *findTarget("gfx942");
  auto choose = [&](const ConvProblem &p) {
    return chooseTile(p, target)->toText();
  };
  for (Direction direction : {Direction::Forward, Direction::BackwardData}) {
    const std::string tile = choose(makeChannelsFirst(direction));
    EXPECT_TRUE(tile.starts_with("nhwc-w-igemm-")) << tile;
  }
  ConvProblem p = makeChannelsFirst(Direction::BackwardWeights);
  p.stride = {2, 2};
  EXPECT_TRUE(choose(p).starts_with("nhwc-igemm-")) << choose(p);
  p = makeChannelsFirst(Direction::Forward);
  p.filter = {1, 1};
  p.pad = {};
  EXPECT_TRUE(choose(p).starts_with("igemm-")) << choose(p);
  // Without a workspace nothing can be transposed.
  p = makeChannelsFirst(Direction::Forward);
  auto ranked = rankTiles(Problem(p).asWithoutWorkspace(), target);
  ASSERT_TRUE(ranked);
  EXPECT_EQ(ranked->front().tile.algorithm, "igemm");
  // Nor can statistics be combined.
  p.epilogue.statistics = true;
  EXPECT_TRUE(rankTiles(p, target));
  EXPECT_EQ(
      rankTiles(Problem(p).asWithoutWorkspace(), target).getStatus().getCode(),
      StatusCode::NotSupported);
}

// Forward, each lane's element of an NCHW filter is in a line of its own, and
// whole lines pass through L1. Backward data reads neighbouring filters, and
// what holds CDNA3 up, the addresses, CDNA2's matrix unit of half the speed can
// wait for. A filter with channels last makes up for most of either. TMA has no
// use for a filter alone.
TEST(ChooseTile, WeighsAddressesAndLines) {
  auto cost = [](const char *chip, const ConvProblem &p,
                 std::string_view begin) {
    auto ranked = rankTiles(p, *findTarget(chip));
    EXPECT_TRUE(ranked);
    for (const Candidate &candidate : *ranked)
      if (candidate.tile.toText().starts_with(begin))
        return candidate.cost;
    return 0.0;
  };
  // The cost of tiles in NCHW over that of igemm in NHWC.
  auto compare = [&](const char *chip, Direction direction,
                     std::string_view begin) {
    const ConvProblem first = makeChannelsFirst(direction);
    ConvProblem last = first;
    last.xLayout = last.wLayout = last.yLayout = Layout::NHWC;
    return cost(chip, first, begin) / cost(chip, last, "igemm");
  };
  EXPECT_GT(compare("gfx942", Direction::Forward, "igemm"), 3.5);
  EXPECT_GT(compare("gfx1100", Direction::Forward, "igemm"), 2);
  EXPECT_GT(compare("gfx942", Direction::BackwardData, "igemm"), 1.3);
  EXPECT_LT(compare("gfx90a", Direction::BackwardData, "igemm"), 1.25);
  EXPECT_LT(compare("gfx942", Direction::Forward, "nhwc-w-"), 1.27);
  EXPECT_EQ(compare("sm_90", Direction::Forward, "nhwc-w-"), 0);
  EXPECT_GT(compare("sm_90", Direction::Forward, "nhwc-igemm"), 0);
}

// What neighbouring lanes load, where they load single elements: pixels by the
// distance of their windows, chunks of eight channels of a filter by its taps,
// and of backward weights channels of y.
TEST(ChooseTile, KnowsHowFarLanesAreApart) {
  ConvProblem p = makeChannelsFirst(Direction::Forward);
  const GpuTarget &target = *findTarget("sm_80");
  auto getDistance = [&](const ConvProblem &problem) {
    return getGemmSize(problem, 32, target).rowOperand.laneDistance;
  };
  EXPECT_EQ(getDistance(p), 1);
  EXPECT_EQ(getGemmSize(p, 32, target).columnOperand.laneDistance, 8 * 9);
  p.stride = {2, 1};
  EXPECT_EQ(getDistance(p), 1);
  p.stride = {1, 2};
  EXPECT_EQ(getDistance(p), 2);
  p.direction = Direction::BackwardData;
  EXPECT_EQ(getDistance(p), 1);
  EXPECT_EQ(getGemmSize(p, 32, target).columnOperand.laneDistance, 9);
  p = makeChannelsFirst(Direction::BackwardWeights);
  EXPECT_EQ(getDistance(p), 14 * 14);
  p.yLayout = Layout::NHWC;
  EXPECT_EQ(getDistance(p), 8);
}

// On AMD's chips pixels of NCHW come in pairs where rows of the product are
// neighbours in memory, an even number of them, and the walk has taps.
TEST(ChooseTile, KnowsWherePixelsComeInPairs) {
  const GpuTarget &target = *findTarget("gfx942");
  auto getElements = [&](const ConvProblem &problem) {
    return getGemmSize(problem, 32, target).rowOperand.loadElements;
  };
  ConvProblem p = makeChannelsFirst(Direction::Forward);
  EXPECT_EQ(getElements(p), 2);
  p.stride = {1, 2};
  EXPECT_EQ(getElements(p), 1);
  p.direction = Direction::BackwardData;
  EXPECT_EQ(getElements(p), 1); // Rows of seven.
  p.stride = {1, 1};
  EXPECT_EQ(getElements(p), 2);
  p.outChannels = 48;
  EXPECT_EQ(getElements(p), 1);
}

// On RDNA taps of stride 1 share planes, of channels that are whole iterations
// of the loop, and are at most a tenth slower than in NHWC. On CDNA results are
// staged where they share none, and the AMD clock expects that to be faster:
// 0.063 ms for 0.066.
TEST(ChooseTile, SharesPlanesAmongTaps) {
  auto isShared = [](const ConvProblem &p, const char *chip) {
    return chooseTile(p, *findTarget(chip))->toText().ends_with("-h2");
  };
  auto getCost = [](ConvProblem p, Layout layout, const char *chip) {
    p.xLayout = p.wLayout = p.yLayout = layout;
    return rankTiles(p, *findTarget(chip))->front().cost;
  };
  EXPECT_FALSE(isShared(makeChannelsFirst(Direction::Forward), "gfx942"));
  for (const char *chip : {"gfx1100", "gfx1201"})
    for (Direction direction : {Direction::Forward, Direction::BackwardData}) {
      ConvProblem p = makeChannelsFirst(direction);
      EXPECT_TRUE(isShared(p, chip)) << chip;
      EXPECT_LT(getCost(p, Layout::NCHW, chip),
                getCost(p, Layout::NHWC, chip) / 0.9)
          << chip;
      EXPECT_FALSE(isShared(makeLayer(), chip)) << chip;
      p.in = {7, 7};
      EXPECT_TRUE(isShared(p, chip)) << chip;
      p = makeChannelsFirst(direction);
      p.inChannels = p.outChannels = 96;
      EXPECT_FALSE(isShared(p, chip)) << chip;
      p = makeChannelsFirst(direction);
      p.stride = {2, 2};
      EXPECT_FALSE(isShared(p, chip)) << chip;
      p = makeChannelsFirst(direction);
      p.dataType = DataType::F32;
      EXPECT_FALSE(isShared(p, chip)) << chip;
    }
}

// In NCHW backward weights walks planes on AMD's chips, filled up to whole
// chunks of eight pixels, and needs no launch that transposes, which is the
// first choice on RDNA. Splits are shares of the images, or of lines that are
// long enough.
TEST(ChooseTile, WalksPlanes) {
  ConvProblem p = makeChannelsFirst(Direction::BackwardWeights);
  const GpuTarget &target = *findTarget("gfx942");
  GemmSize size = getGemmSize(p, 32, target);
  EXPECT_TRUE(size.hasPlanes);
  EXPECT_EQ(size.reduction, static_cast<double>(p.batch * 25 * 8));
  EXPECT_EQ(size.splittable, p.batch);
  EXPECT_EQ(size.alsoSplittable, 1);
  EXPECT_EQ(size.tableBytes, 26 * 16);
  for (int64_t length : {14, 56}) {
    p.in = {length, length};
    for (const char *chip : {"gfx1100", "gfx1201"})
      EXPECT_EQ(chooseTile(p, *findTarget(chip))->algorithm, "igemm") << chip;
  }
  EXPECT_EQ(getGemmSize(p, 32, target).alsoSplittable, 56);
  EXPECT_FALSE(getGemmSize(p, 32, *findTarget("sm_80")).hasPlanes);
  EXPECT_FALSE(getGemmSize(p, 32, target, /*columns=*/96).hasPlanes);
  p.pad = {1, 0};
  EXPECT_FALSE(getGemmSize(p, 32, target).hasPlanes);
}

// Without taps, planes are walked that are no whole steps, and not split by
// lines.
TEST(ChooseTile, WalksPlanesWithoutTaps) {
  ConvProblem p = makeChannelsFirst(Direction::BackwardWeights);
  const GpuTarget &target = *findTarget("gfx942");
  p.filter = {1, 1};
  p.pad = {0, 0};
  const GemmSize size = getGemmSize(p, 32, target);
  EXPECT_TRUE(size.hasPlanes);
  EXPECT_EQ(size.tableBytes, 0);
  p.in = {36, 36};
  EXPECT_TRUE(getGemmSize(p, 32, target).hasPlanes);
  EXPECT_EQ(getGemmSize(p, 32, target).alsoSplittable, 1);
  p.in = {56, 56};
  EXPECT_FALSE(getGemmSize(p, 32, target).hasPlanes);
}

// On gfx942, where a line of L1 is a step of 128 bytes, planes may have steps
// of lines, and nothing else may, nor planes shorter than a step, which are not
// walked in such.
TEST(ChooseTile, HasStepsOfLinesForPlanes) {
  ConvProblem p = makeChannelsFirst(Direction::BackwardWeights);
  auto hasSteps = [&](int k, const char *chip) {
    const std::vector<Candidate> ranked = *rankTiles(p, *findTarget(chip));
    return std::ranges::any_of(ranked, [&](const Candidate &candidate) {
      return candidate.tile.algorithm == "igemm" &&
             parseGemmTile(candidate.tile)->k == k;
    });
  };
  EXPECT_TRUE(hasSteps(64, "gfx942"));
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  EXPECT_FALSE(hasSteps(64, "gfx942"));
  p = makeChannelsFirst(Direction::BackwardWeights);
  p.inChannels = p.outChannels = 512;
  p.in = {7, 7};
  EXPECT_FALSE(hasSteps(64, "gfx90a"));
  EXPECT_TRUE(hasSteps(32, "gfx90a"));
}

// Planes whose lines are fetched at once are no slower than two launches that
// transpose them, but of the shortest planes: the AMD clock expects 0.177 ms
// instead of 0.203 of 128 channels, and 0.145 instead of 0.181 of 512.
TEST(ChooseTile, WalksPlanesByLines) {
  ConvProblem p = makeChannelsFirst(Direction::BackwardWeights);
  const GpuTarget &target = *findTarget("gfx942");
  p.batch = 256;
  auto choose = [&](int64_t channels, int64_t length) {
    p.inChannels = p.outChannels = channels;
    p.in = {length, length};
    return chooseTile(p, target)->toText();
  };
  EXPECT_TRUE(choose(128, 28).starts_with("igemm-m128n128k32"));
  EXPECT_TRUE(choose(256, 14).starts_with("igemm-m256n128k32"));
  EXPECT_TRUE(choose(512, 7).starts_with("nhwc-igemm-m256n256k32"));
}

//===- DepthwiseTilesTest.cpp - The tile of a few channels a group --------===//

#include "compiler/Algorithms/ChooseTile.h"
#include "test/unit/compiler/Algorithms/Layer.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

// A layer with one channel a group has an algorithm of its own.
TEST(DepthwiseTiles, AreChosenOnEveryChip) {
  ConvProblem p = makeLayer();
  p.groups = 256;
  for (const GpuTarget &target : getAllTargets()) {
    auto tile = chooseTile(p, target);
    ASSERT_TRUE(tile) << target.name;
    EXPECT_EQ(tile->algorithm, "depthwise") << target.name;
  }
}

// On an H100 threads have few groups, early loads where products are few, as
// many blocks with one large filter as leave the chip enough threads, and
// filters through LDS. The gradient of a filter has as many splits as resident
// workgroups add, loads past L1 where the tensors are not large, or TMA copies
// where the tensors allow them. Windows that share little are read by short
// threads.
TEST(DepthwiseTiles, FollowMeasuredRulesOnNvidia) {
  ConvProblem p;
  p.dataType = DataType::BF16;
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  p.batch = 64;
  auto choose = [&](Direction direction, std::string_view chip = "sm_90") {
    p.direction = direction;
    auto tile = chooseTile(p, *findTarget(chip));
    EXPECT_TRUE(tile);
    return tile ? tile->toText() : "";
  };
  p.inChannels = p.outChannels = p.groups = 192;
  p.in = {28, 28};
  p.filter = {7, 7};
  p.pad = {3, 3};
  p.dataType = DataType::F32;
  // Tall blocks of one group, where they fit the image.
  for (Direction direction : {Direction::Forward, Direction::BackwardData})
    EXPECT_EQ(choose(direction), "depthwise-g1p7q7t64s1l");
  p.in = {56, 56};
  for (Direction direction : {Direction::Forward, Direction::BackwardData})
    EXPECT_EQ(choose(direction), "depthwise-g1p8q4t64s1l");
  p.in = {26, 26};
  for (Direction direction : {Direction::Forward, Direction::BackwardData})
    EXPECT_EQ(choose(direction), "depthwise-g2p2q7t64s1l");
  // A large window has one group, and as many lanes as have a row of 4 bytes.
  EXPECT_EQ(choose(Direction::BackwardWeights, "sm_80"),
            "depthwise-g1p1q7t192s128n26r2u2ao");
  EXPECT_EQ(choose(Direction::BackwardWeights),
            "depthwise-g1p4q3t288s198r9b2u1o");
  p.in = {56, 56};
  EXPECT_EQ(choose(Direction::BackwardWeights, "sm_80"),
            "depthwise-g1p1q7t192s171n56r2u2a");
  EXPECT_EQ(choose(Direction::BackwardWeights),
            "depthwise-g1p4q4t224s154r7b2u1");
  p.in = {28, 28};
  p.dataType = DataType::BF16;
  for (Direction direction : {Direction::Forward, Direction::BackwardData})
    EXPECT_EQ(choose(direction), "toeplitz-c32b4r4q4t512n6s2");
  EXPECT_EQ(choose(Direction::BackwardWeights), "toeplitz-c32b1r4q4t512n12s2");
  p.inChannels = p.outChannels = p.groups = 384;
  p.in = {14, 14};
  p.filter = {3, 3};
  p.pad = {1, 1};
  for (Direction direction : {Direction::Forward, Direction::BackwardData})
    EXPECT_EQ(choose(direction), "depthwise-g2p4q7t128s1u4l");
  EXPECT_EQ(choose(Direction::BackwardWeights, "sm_80"),
            "depthwise-g4p1q4t240s512n7r5u2ao");
  EXPECT_EQ(choose(Direction::BackwardWeights),
            "depthwise-g2p2q7t192s128r2b2u1o");
  p.in = {56, 56};
  EXPECT_EQ(choose(Direction::Forward), "depthwise-g4p4q4t128s1l");
  p.stride = {2, 2};
  EXPECT_EQ(choose(Direction::Forward), "depthwise-g4p2q2t128s1u4l");
  EXPECT_EQ(choose(Direction::BackwardData), "depthwise-g4p2q8t128s1l");
  p.filter = {5, 5};
  p.pad = {2, 2};
  EXPECT_EQ(choose(Direction::Forward), "depthwise-g2p4q4t128s1u4l");
  EXPECT_EQ(choose(Direction::BackwardData), "depthwise-g2p2q14t128s1u4l");
  // How many registers f64 gets for this is up to the assembler.
  p.dataType = DataType::F64;
  EXPECT_EQ(choose(Direction::Forward), "depthwise-g2p4q4t128s1");
  p.dataType = DataType::BF16;
  // Toeplitz products win where there are many, but not with 16 bytes a pixel.
  p.stride = {1, 1};
  p.in = {28, 28};
  p.inChannels = p.outChannels = p.groups = 240;
  EXPECT_EQ(choose(Direction::Forward), "toeplitz-c16b4r7q4t512n8s2");
  p.inChannels = p.outChannels = p.groups = 40;
  EXPECT_EQ(choose(Direction::Forward), "depthwise-g2p4q4t128s1l");
  p.in = {56, 56};
  p.stride = {2, 2};
  p.filter = {3, 3};
  p.pad = {1, 1};
  // 101 groups have no common divisor with the lanes of a warp.
  p.inChannels = p.outChannels = p.groups = 101;
  EXPECT_EQ(choose(Direction::BackwardWeights), "depthwise-g1p1q7t64s512n14ao");
  // Two f32 filters and what they need fit the registers, but early loads do
  // not.
  p.inChannels = p.outChannels = p.groups = 144;
  p.dataType = DataType::F32;
  EXPECT_EQ(choose(Direction::BackwardWeights, "sm_80"),
            "depthwise-g2p1q7t288s768n10r4ao");
  EXPECT_EQ(choose(Direction::BackwardWeights),
            "depthwise-g2p4q1t144s262r2b2u1o");
  // TMA copies need strides of whole 16 bytes, and pay where there is something
  // to read.
  p.xLayout = Layout::Strided;
  p.xStrides = {56 * 56 * 146, 1, 0, 56 * 146, 146};
  EXPECT_EQ(choose(Direction::BackwardWeights),
            "depthwise-g2p1q7t288s1024n7r4ao");
  p.xLayout = Layout::NHWC;
  // Misaligned tensors have no TMA copies, but have splits in the workspace
  // that these would have had.
  EXPECT_EQ(
      chooseTile(Problem(p).asUnaligned(), *findTarget("sm_90"))->toText(),
      "depthwise-g2p1q7t288s524n7r4ao");
  p.batch = 2;
  EXPECT_EQ(choose(Direction::BackwardWeights), "depthwise-g2p1q7t288s224r4o");
}

// With channels first vectors hold columns, as wide as rows are aligned: to 4,
// 8 and 16 bytes, or to one element. Windows beyond 5x5 keep their blocks.
TEST(DepthwiseTiles, HoldColumnsWithChannelsFirst) {
  ConvProblem p = makeLayer();
  p.xLayout = p.wLayout = p.yLayout = Layout::NCHW;
  p.batch = 64;
  p.groups = p.inChannels;
  const auto choose = [&](Direction direction) {
    p.direction = direction;
    auto tile = chooseTile(p, *findTarget("sm_90"));
    return tile ? tile->toText() : tile.getStatus().getMessage();
  };
  const std::pair<int64_t, const char *> sizes[] = {
      {14, "depthwise-g1p2q4t256s1"},
      {28, "depthwise-g1p2q4t256s1"},
      {56, "depthwise-g1p1q8t256s1"},
      {17, "depthwise-g1p8q2t256s1"},
      {7, "depthwise-g1p7q2t256s1"}};
  for (const auto &[size, expected] : sizes)
    for (Direction direction : {Direction::Forward, Direction::BackwardData}) {
      p.in = {size, size};
      EXPECT_EQ(choose(direction), expected) << size;
    }
  p.in = {56, 56};
  p.stride = {2, 2};
  EXPECT_EQ(choose(Direction::Forward), "depthwise-g1p1q4t256s1");
  EXPECT_EQ(choose(Direction::BackwardData), "depthwise-g1p2q8t256s1");
  p.stride = {1, 1};
  p.dataType = DataType::F32;
  p.filter = {7, 7};
  p.pad = {3, 3};
  EXPECT_EQ(choose(Direction::Forward), "depthwise-g1p1q8t256s1");
}

//===- NarrowGroupsTest.cpp - Groups of few channels, side by side --------===//

#include "compiler/Algorithms/NarrowGroups/NarrowGroups.h"
#include "compiler/Algorithms/ChooseTile.h"

#include <gtest/gtest.h>

using namespace tessera;

/// ResNeXt-50's third stage, 8 channels a group.
static ConvProblem makeLayer(Direction direction) {
  ConvProblem p;
  p.direction = direction;
  p.dataType = DataType::BF16;
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  p.batch = 64;
  p.inChannels = p.outChannels = 256;
  p.groups = 32;
  p.in = {28, 28};
  p.filter = {3, 3};
  p.pad = {1, 1};
  return p;
}

/// The algorithm that is chosen for `p` on an H100.
static std::string choose(const ConvProblem &p) {
  auto tile = chooseTile(p, *findTarget("sm_90"));
  return tile ? tile->algorithm : tile.getStatus().getMessage();
}

// The text is part of a database key: one tile, one text.
TEST(NarrowTile, HasAStableText) {
  NarrowTile tile{7, 28, 2};
  EXPECT_EQ(tile.toConfig().toText(), "groups-h7w28-w2");
  tile.persistent = 4;
  EXPECT_EQ(tile.toConfig().toText(), "groups-h7w28-w2-p4");
  EXPECT_EQ(parseNarrowTile(tile.toConfig())->toConfig(), tile.toConfig());
  tile.persistent = 0;
  tile.run = 4;
  EXPECT_EQ(tile.toConfig().toText(), "groups-h7w28-w2-r4");
  tile.buffers = 3;
  EXPECT_EQ(tile.toConfig().toText(), "groups-h7w28-w2-r4b3");
  EXPECT_EQ(parseNarrowTile(tile.toConfig())->toConfig(), tile.toConfig());
  tile.run = 1;
  tile.splits = 99;
  EXPECT_EQ(tile.toConfig().toText(), "groups-h7w28-w2-s99");
  ErrorOr<NarrowTile> read = parseNarrowTile(tile.toConfig());
  ASSERT_TRUE(read) << read.getStatus().getMessage();
  EXPECT_EQ(read->toConfig(), tile.toConfig());
}

// Only the canonical text is a tile.
TEST(NarrowTile, RefusesOtherTexts) {
  for (const char *parameters :
       {"", "h7w28", "h7-w1", "h7w28-w1-s1", "h7w28-w0", "h7w28-w1-x",
        "h7w28-w1-p0", "h7w2800-w1", "h7w28-w1-r1", "h7w28-w1-r4b2",
        "h7w28-w1-p2-r4"})
    EXPECT_FALSE(parseNarrowTile({"groups", parameters})) << parameters;
  EXPECT_FALSE(parseNarrowTile({"igemm", "h7w28-w1"}));
}

// On an H100 every direction of ResNeXt's middle layers was faster with this
// algorithm than with any tile of igemm.
TEST(NarrowGroups, AreChosenForResNeXt) {
  for (Direction direction : {Direction::Forward, Direction::BackwardData,
                              Direction::BackwardWeights})
    EXPECT_EQ(choose(makeLayer(direction)), "groups");
}

// Workgroups go down an image by runs that keep the lines which two blocks
// read, with three buffers; where the filter is most of what is read, they are
// persistent and keep it. Measured on an H100.
TEST(NarrowGroups, GoDownTheImage) {
  auto choose = [](const ConvProblem &p) {
    auto tile = chooseTile(p, *findTarget("sm_90"));
    EXPECT_TRUE(tile);
    return tile ? tile->toText() : "";
  };
  for (Direction direction : {Direction::Forward, Direction::BackwardData}) {
    ConvProblem p = makeLayer(direction);
    EXPECT_EQ(choose(p), "groups-h2w28-w2-r14b3");
    p.inChannels = p.outChannels = 512;
    p.in = {14, 14};
    EXPECT_EQ(choose(p), "groups-h2w14-w1-r7b3");
    p.inChannels = p.outChannels = 1024;
    p.in = {7, 7};
    EXPECT_EQ(choose(p), "groups-h4w7-w1-p4");
  }
}

// For backward weights, two warps share the pixels of a block: as many run at a
// time, and half as many splits are added. Measured on an H100.
TEST(NarrowGroups, ShareThePixelsOfWeights) {
  auto tile =
      chooseTile(makeLayer(Direction::BackwardWeights), *findTarget("sm_90"));
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->toText(), "groups-h4w28-w2-s32");
}

// Exact f32 is split into terms of bf16, whose filter fits registers up to 16
// channels a group; with channels first, transposing 8 takes longer than FMA.
TEST(NarrowGroups, SplitExactF32) {
  for (Direction direction : {Direction::Forward, Direction::BackwardData,
                              Direction::BackwardWeights}) {
    ConvProblem p = makeLayer(direction);
    p.dataType = DataType::F32;
    EXPECT_EQ(choose(p), "groups");
    p.xLayout = p.wLayout = p.yLayout = Layout::NCHW;
    EXPECT_EQ(choose(p), "general");
    p = makeLayer(direction);
    p.dataType = DataType::F32;
    p.groups = 8;
    if (direction != Direction::BackwardWeights)
      EXPECT_TRUE(getNarrowCandidates(p, *findTarget("sm_90")).empty());
  }
}

// Other algorithms cover what the lowering does not support.
TEST(NarrowGroups, LeaveTheRestToOthers) {
  ConvProblem p = makeLayer(Direction::BackwardData);
  p.stride = {2, 2};
  EXPECT_NE(choose(p), "groups");
  p = makeLayer(Direction::Forward);
  p.groups = 4;
  EXPECT_NE(choose(p), "groups");
  p = makeLayer(Direction::Forward);
  p.outChannels = 512;
  EXPECT_NE(choose(p), "groups");
  p = makeLayer(Direction::Forward);
  p.yLayout = Layout::NCHW;
  EXPECT_NE(choose(p), "groups");
}

// One tile serves all images of a class: by the model it takes no more than 1.6
// times as long as a layer's own.
TEST(NarrowGroups, HaveATileForImagesOfAnySize) {
  const GpuTarget &target = *findTarget("sm_90");
  for (Direction direction : {Direction::Forward, Direction::BackwardData})
    for (int64_t stage = 0; stage < 4; ++stage) {
      ConvProblem p = makeLayer(direction);
      p.inChannels = p.outChannels = int64_t(128) << stage;
      p.in.h = p.in.w = int64_t(56) >> stage;
      const auto family = Problem(p).findFamily();
      ASSERT_TRUE(family);
      auto tile = chooseTile(family->problem, target);
      ASSERT_TRUE(tile);
      ASSERT_EQ(tile->algorithm, "groups");
      double own = 1e30, shared = 1e30;
      for (const Candidate &candidate : getNarrowCandidates(p, target))
        own = std::min(own, candidate.cost);
      for (const Candidate &candidate : getOpenNarrowCandidates(p, target))
        if (candidate.tile == *tile)
          shared = candidate.cost;
      RecordProperty("layer " + std::to_string(stage),
                     tile->toText() + " " + std::to_string(own / shared));
      EXPECT_LT(shared, 1.6 * own) << tile->toText() << " of " << p.in.h;
    }
}

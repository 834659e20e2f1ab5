//===- TmaWeightTilesTest.cpp - Backward weights by TMA: what and how -----===//

#include "compiler/Algorithms/TmaWeightTiles.h"
#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Algorithms/GemmTile.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tessera;

static ConvProblem makeLayer() {
  ConvProblem p;
  p.direction = Direction::BackwardWeights;
  p.dataType = DataType::BF16;
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  p.batch = 64;
  p.inChannels = p.outChannels = 256;
  p.in = {14, 14};
  p.filter = {3, 3};
  p.pad = {1, 1};
  return p;
}

static bool hasTiles(const ConvProblem &p, const char *target = "sm_90") {
  return !getTmaWeightCandidates(p, *findTarget(target)).empty();
}

// 8 divides the input channels of a group, and all output channels; im2col mode
// reaches the window.
TEST(TmaWeightTiles, TakesWhatMapsCanDescribe) {
  ConvProblem p = makeLayer();
  EXPECT_TRUE(hasTiles(p));
  EXPECT_FALSE(hasTiles(p, "gfx942"));
  EXPECT_FALSE(hasTiles(p, "sm_80"));
  p.stride = {2, 2};
  p.dilation = {3, 1};
  EXPECT_TRUE(hasTiles(p));
  p.outChannels = 40;
  EXPECT_TRUE(hasTiles(p));
  p.outChannels = 44;
  EXPECT_FALSE(hasTiles(p));

  p = makeLayer();
  p.inChannels = 160;
  EXPECT_TRUE(hasTiles(p));
  p.inChannels = 164;
  EXPECT_FALSE(hasTiles(p));

  p = makeLayer();
  p.groups = 32;
  EXPECT_TRUE(hasTiles(p));
  p.groups = 64;
  EXPECT_FALSE(hasTiles(p));

  p = makeLayer();
  p.stride = {9, 1};
  EXPECT_FALSE(hasTiles(p));
  p = makeLayer();
  p.yLayout = Layout::NCHW;
  EXPECT_FALSE(hasTiles(p));
  p = makeLayer();
  p.dataType = DataType::F32;
  EXPECT_FALSE(hasTiles(p));
}

// tf32 has strides of whole 16 bytes with channels of 4, consumers that share
// rows, and registers for fragments beside its sums.
TEST(TmaWeightTiles, GoesByPixelsOfTf32) {
  ConvProblem p = makeLayer();
  p.dataType = DataType::F32;
  p.mathType = MathType::Tf32;
  p.outChannels = 44;
  auto candidates = getTmaWeightCandidates(p, *findTarget("sm_90"));
  EXPECT_FALSE(candidates.empty());
  for (const Candidate &candidate : candidates) {
    ErrorOr<GemmTile> tile = parseGemmTile(candidate.tile);
    ASSERT_TRUE(tile);
    EXPECT_EQ(tile->mma, "wgmma_tf32");
    EXPECT_EQ(tile->k, 32);
    EXPECT_FALSE(tile->isPingPong);
    EXPECT_LE(tile->m * tile->n, 128 * 128 * tile->wavesM);
  }
  p.outChannels = 46;
  EXPECT_FALSE(hasTiles(p));
}

// A filter of 256 x 2304 has few tiles, so the chosen one is split until nearly
// every multiprocessor has a part; and no part is without pixels.
TEST(TmaWeightTiles, SplitsUntilTheChipIsBusy) {
  const GpuTarget &target = *findTarget("sm_90");
  Problem problem = makeLayer();
  auto config = chooseTile(problem, target);
  ASSERT_TRUE(config);
  ErrorOr<GemmTile> tile = parseGemmTile(*config);
  ASSERT_TRUE(tile);
  EXPECT_TRUE(tile->isTma);
  EXPECT_GT(tile->parts, 1);
  const double units = target.computeUnits;
  const int groups = (256 + tile->m - 1) / tile->m *
                     ((2304 + tile->n - 1) / tile->n) * tile->parts;
  EXPECT_GT(groups / units / std::ceil(groups / units), 0.9);

  for (const Candidate &candidate :
       getTmaWeightCandidates(makeLayer(), target)) {
    const GemmTile other = *parseGemmTile(candidate.tile);
    // Of 64 pixels, or of positions with the padding between them.
    const int steps = other.halo > 0 ? 15 * 15 : 14 * 14;
    const int share = (steps + other.parts - 1) / other.parts;
    EXPECT_LT(share * (other.parts - 1), steps) << candidate.tile.toText();
  }
}

// A store by TMA reads no further tensor: where one is added, the launch that
// adds the parts has to.
TEST(TmaWeightTiles, LeavesFurtherTensorsToTheSum) {
  ConvProblem p = makeLayer();
  p.epilogue.beta = true;
  auto candidates = getTmaWeightCandidates(p, *findTarget("sm_90"));
  EXPECT_FALSE(candidates.empty());
  for (const Candidate &candidate : candidates)
    EXPECT_GT(parseGemmTile(candidate.tile)->parts, 1)
        << candidate.tile.toText();
}

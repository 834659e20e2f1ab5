//===- TmaWeightTilesTest.cpp - Backward weights by TMA -------------------===//

#include "compiler/Algorithms/Tma/TmaWeightTiles.h"
#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"

#include <gtest/gtest.h>

#include <algorithm>
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

// TMA needs multiples of 8 input channels a group and of 8 output channels, and
// a window that im2col mode reaches.
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
  EXPECT_TRUE(hasTiles(p));
  p.dataType = DataType::F64;
  EXPECT_FALSE(hasTiles(p));
}

// f32 that is split has 64 rows for each consumer, columns in blocks of 64, and
// accumulators that begin anew with every step.
TEST(TmaWeightTiles, SplitsF32) {
  ConvProblem p = makeLayer();
  p.dataType = DataType::F32;
  for (const Candidate &candidate :
       getTmaWeightCandidates(p, *findTarget("sm_90"))) {
    const GemmTile tile = *parseGemmTile(candidate.tile);
    EXPECT_EQ(tile.mma, "wgmma_bf16x6") << candidate.tile.toText();
    EXPECT_EQ(tile.promote, 1) << candidate.tile.toText();
    EXPECT_EQ(tile.m, 64 * tile.wavesM) << candidate.tile.toText();
    EXPECT_EQ(tile.n % 64, 0) << candidate.tile.toText();
  }
}

// tf32 has strides of whole 16 bytes with multiples of 4 channels, consumers
// that share rows, and registers for fragments beside its accumulators.
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

// A filter of 256 x 2304 has few tiles, so the chosen one is split until most
// multiprocessors have a workgroup (of 128 by 128, 3 splits, 108 workgroups,
// take 28.7 us, and 7 splits, 252, take 29.5). No split is without pixels.
TEST(TmaWeightTiles, SplitsUntilTheChipIsBusy) {
  const GpuTarget &target = *findTarget("sm_90");
  Problem problem = makeLayer();
  auto config = chooseTile(problem, target);
  ASSERT_TRUE(config);
  ErrorOr<GemmTile> tile = parseGemmTile(*config);
  ASSERT_TRUE(tile);
  EXPECT_TRUE(tile->isTma);
  EXPECT_GT(tile->splits, 1);
  const double units = target.computeUnits;
  const int groups = (256 + tile->m - 1) / tile->m *
                     ((2304 + tile->n - 1) / tile->n) * tile->splits;
  EXPECT_GT(groups / units / std::ceil(groups / units), 0.8);

  for (const Candidate &candidate :
       getTmaWeightCandidates(makeLayer(), target)) {
    const GemmTile other = *parseGemmTile(candidate.tile);
    // A step is 64 pixels, or 64 positions with the padding between them.
    const int steps = other.halo > 0 ? 15 * 15 : 14 * 14;
    const int share = (steps + other.splits - 1) / other.splits;
    EXPECT_LT(share * (other.splits - 1), steps) << candidate.tile.toText();
  }
}

// With 16 splits, 8 workgroups each share what they read: 6 stages have 9.4 MB
// of it in flight and take 44 us where 5 take 40, because the last workgroup
// reads from memory again. With 2 splits, 1.3 MB, the most stages are best.
TEST(TmaWeightTiles, HasNoMoreInFlightThanL2Keeps) {
  const GpuTarget &target = *findTarget("sm_90");
  auto getCost = [&](const ConvProblem &p, const std::string &tile) {
    for (const Candidate &candidate : getTmaWeightCandidates(p, target))
      if (candidate.tile.toText() == "igemm-m128n128k64-w2x1-" + tile)
        return candidate.cost;
    ADD_FAILURE() << tile;
    return 0.0;
  };
  ConvProblem p = makeLayer();
  p.filter = {1, 1};
  p.pad = {0, 0};
  p.inChannels = 512;
  p.in = {28, 28};
  EXPECT_GT(getCost(p, "t6-wgmma-s16"), getCost(p, "t5-wgmma-s16"));
  p.batch = 256;
  p.inChannels = 2048;
  p.outChannels = 512;
  p.in = {7, 7};
  EXPECT_LT(getCost(p, "t6-wgmma-s2"), getCost(p, "t5-wgmma-s2"));
}

// A store by TMA reads no further tensor, so the launch that adds the splits
// has to read it.
TEST(TmaWeightTiles, LeavesFurtherTensorsToTheSum) {
  ConvProblem p = makeLayer();
  p.epilogue.beta = true;
  auto candidates = getTmaWeightCandidates(p, *findTarget("sm_90"));
  EXPECT_FALSE(candidates.empty());
  for (const Candidate &candidate : candidates)
    EXPECT_GT(parseGemmTile(candidate.tile)->splits, 1)
        << candidate.tile.toText();
}

static std::string chooseOfVolume(int64_t inputs, int64_t outputs,
                                  Spatial size) {
  ConvProblem p = makeLayer();
  p.batch = 2;
  p.inChannels = inputs;
  p.outChannels = outputs;
  p.in = size;
  p.filter = {3, 3, 3};
  p.pad = {1, 1, 1};
  return chooseTile(Problem(p), *findTarget("sm_90"))->toText();
}

// Of unknown sizes only taps of a filter row share pixels: of few output
// channels, without strides, in images.
TEST(TmaWeightTiles, SharesPixelsOfRowsOfUnknownSizes) {
  const auto hasHalo = [](const ConvProblem &p) {
    const std::vector<Candidate> all =
        getOpenTmaWeightCandidates(p, *findTarget("sm_90"));
    EXPECT_FALSE(all.empty());
    return std::ranges::any_of(all, [](const Candidate &candidate) {
      return parseGemmTile(candidate.tile)->halo > 0;
    });
  };
  ConvProblem p = makeLayer();
  EXPECT_FALSE(hasHalo(p));
  p.outChannels = 64;
  EXPECT_TRUE(hasHalo(p));
  for (const Candidate &candidate :
       getTmaWeightCandidates(p, *findTarget("sm_90"), std::set<int>{7}))
    EXPECT_EQ(parseGemmTile(candidate.tile)->splits, 7);
  p.outChannels = 40; // Rows of a tap are no whole blocks of 32.
  EXPECT_FALSE(hasHalo(p));
  p.outChannels = 64;
  p.stride = {1, 2};
  EXPECT_FALSE(hasHalo(p));
  p.stride = {1, 1};
  p.filter = {3, 1};
  p.pad = {1, 0};
  EXPECT_FALSE(hasHalo(p));
}

// Volumes of few channels share pixels of height and width. Tiles have 32 input
// channels where that pads fewer, and rows that are taps of the depth: of 3 by
// 32 channels one tile. Of wide images only these fit shared memory. Many
// channels gain nothing.
TEST(TmaWeightTiles, SharesPixelsOfVolumes) {
  // 432 us; 128 rows, s132 take 408, tiles that copy each tap 2681.
  EXPECT_EQ(chooseOfVolume(32, 32, {128, 128, 128}),
            "igemm-m64n288k64-w1x3-t8-wgmma-s66-h14");
  EXPECT_EQ(chooseOfVolume(64, 64, {64, 64, 64}),
            "igemm-m64n576k64-w1x3-t4-wgmma-s44-h8");
  for (int64_t channels : {64, 96})
    EXPECT_TRUE(chooseOfVolume(channels, channels, {240, 416, 4})
                    .starts_with("igemm-m64n288k64-w1x3-t8-wgmma-s"));
  EXPECT_EQ(chooseOfVolume(384, 384, {60, 104, 4}).find("-h"),
            std::string::npos);
}

// Taps of the depth are rows of whole blocks of output channels, and move the
// gradient by slices, which the corners of a volume's windows reach.
TEST(TmaWeightTiles, RefusesWhatNoSliceReaches) {
  auto slides = [](const ConvProblem &p) {
    auto candidates = getTmaWeightCandidates(p, *findTarget("sm_90"));
    EXPECT_FALSE(candidates.empty());
    return std::ranges::any_of(candidates, [](const Candidate &candidate) {
      return parseGemmTile(candidate.tile)->halo > 0;
    });
  };
  ConvProblem volume = makeLayer();
  volume.inChannels = volume.outChannels = 32;
  volume.in.d = 40;
  volume.filter.d = 3;
  volume.pad.d = 1;
  EXPECT_TRUE(slides(volume));
  ConvProblem p = volume;
  p.outChannels = 40;
  EXPECT_FALSE(slides(p));
  p = volume;
  p.stride.d = 2;
  EXPECT_FALSE(slides(p));
  p = volume;
  p.pad.d = 3;
  EXPECT_FALSE(slides(p));
  p = volume;
  p.dilation.d = 8;
  EXPECT_FALSE(slides(p));
}

/// A convolution of 5x5 taps and 75 channels after its tensors are packed.
static ConvProblem makeLines() {
  ConvProblem p = makeLayer();
  p.batch = 16;
  p.inChannels = 400;
  p.outChannels = 96;
  p.in = {67, 57};
  p.filter = {5, 1};
  p.pad = {0, 0};
  return p;
}

// A tile has all lines of a window, which share their positions: chunks as far
// as the lines reach, that of the step, and some in flight.
TEST(TmaWeightTiles, SharesPositionsOfLines) {
  const GpuTarget &target = *findTarget("sm_90");
  auto candidates = getLineCandidates(makeLines(), target);
  EXPECT_FALSE(candidates.empty());
  for (const Candidate &candidate : candidates) {
    ErrorOr<GemmTile> tile = parseGemmTile(candidate.tile);
    ASSERT_TRUE(tile) << candidate.tile.toText();
    EXPECT_EQ(tile->m, 5 * 64);
    EXPECT_EQ(tile->n, 96);
    EXPECT_EQ(tile->wavesM, 5);
    EXPECT_GT(tile->halo, (4 * 57 + 63) / 64 + 1);
  }
  EXPECT_TRUE(getLineCandidates(makeLines(), *findTarget("sm_80")).empty());
}

// Other tiles are for lines that consumers cannot share out evenly, for taps
// side by side, for accumulators that do not fit the registers of a consumer,
// and for lines so long that shared memory does not hold what five of them
// reach.
TEST(TmaWeightTiles, LeavesOtherLines) {
  const GpuTarget &target = *findTarget("sm_90");
  ConvProblem p = makeLines();
  p.filter = {7, 1};
  EXPECT_TRUE(getLineCandidates(p, target).empty());
  p.filter = {1, 1};
  EXPECT_TRUE(getLineCandidates(p, target).empty());
  p.filter = {5, 3};
  EXPECT_TRUE(getLineCandidates(p, target).empty());
  p = makeLines();
  p.outChannels = 112;
  EXPECT_TRUE(getLineCandidates(p, target).empty());
  p = makeLines();
  p.in.w = 400;
  EXPECT_TRUE(getLineCandidates(p, target).empty());
  p.filter = {2, 1};
  EXPECT_FALSE(getLineCandidates(p, target).empty());
}

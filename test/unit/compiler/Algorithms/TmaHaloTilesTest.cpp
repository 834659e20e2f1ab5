//===- TmaHaloTilesTest.cpp - Tiles whose taps share pixels ---------------===//

#include "compiler/Algorithms/Tma/TmaHaloTiles.h"
#include "compiler/Algorithms/ChooseTile.h"

#include <gtest/gtest.h>

using namespace tessera;

static ConvProblem makeLayer() {
  ConvProblem p;
  p.direction = Direction::Forward;
  p.dataType = DataType::BF16;
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  p.batch = 64;
  p.inChannels = p.outChannels = 64;
  p.in = {56, 56};
  p.filter = {3, 3};
  p.pad = {1, 1};
  return p;
}

static bool hasShapes(const ConvProblem &p) {
  return !getTmaHaloShapes(p, *findTarget("sm_90")).empty();
}

// Rows of positions begin with the padding, and a tile reads two more rows and
// two more positions. For backward data the padding is the rest of the reach.
TEST(TmaHaloTiles, MeasuresPositions) {
  ConvProblem p = makeLayer();
  TmaHalo halo = measureHalo(p);
  EXPECT_EQ(halo.positions, 64 * 57 * 57);
  EXPECT_EQ(halo.around, 2 * 57 + 2);
  EXPECT_EQ(halo.countSteps({256, 64, 1, true, 4, 2}), 9);
  // 256 and 116 rows are two copies of 192.
  EXPECT_EQ(halo.countRows({256, 64, 1, true, 4, 2}), 384);

  p.direction = Direction::BackwardData;
  p.outChannels = 128;
  p.pad = {0, 2};
  halo = measureHalo(p);
  EXPECT_EQ(halo.positions, 64 * (54 + 2) * 58);
  EXPECT_EQ(halo.around, 2 * 58 + 2);
  EXPECT_EQ(halo.countSteps({256, 64, 1, true, 4, 2}), 18);
}

// Of unknown sizes the taps of a filter row share pixels, those of other rows
// are copied again; tiles of 64 columns have space for more such rows.
TEST(TmaHaloTiles, MeasuresOneRow) {
  const ConvProblem p = makeLayer();
  const TmaHalo halo = measureHalo(p, /*hasOneRow=*/true);
  EXPECT_EQ(halo.positions, 64 * 56 * 57);
  EXPECT_EQ(halo.around, 2);
  EXPECT_EQ(halo.taps, 3);
  EXPECT_EQ(halo.depthTaps, 3);
  EXPECT_EQ(halo.countRows({256, 64, 1, true, 4, 4}), 272);
  const std::vector<TmaShape> shapes =
      getTmaHaloShapes(p, *findTarget("sm_90"), /*hasOneRow=*/true);
  EXPECT_FALSE(shapes.empty());
  for (const TmaShape &shape : shapes) {
    EXPECT_TRUE(shape.hasOneRow);
    EXPECT_EQ(shape.halo, 4);
    EXPECT_LE(shape.n, 64);
  }
}

// The next row's padding in front has to contain that behind this row: a row is
// its pixels and the longer of both. For backward data it is what the reach
// leaves of the padding at either end.
TEST(TmaHaloTiles, MeasuresTheLongerPadding) {
  ConvProblem p = makeLayer();
  p.pad = {0, 2};
  p.setPadAfter({2, 0});
  for (Direction direction : {Direction::Forward, Direction::BackwardData}) {
    p.direction = direction;
    EXPECT_EQ(measureHalo(p).positions, 64 * 58 * 58);
    EXPECT_TRUE(hasShapes(p));
  }
}

// A filter stays if it is all that tiles need and fits shared memory.
TEST(TmaHaloTiles, KeepsFilters) {
  ConvProblem p = makeLayer();
  auto keeps = [&] {
    for (const TmaShape &shape : getTmaHaloShapes(p, *findTarget("sm_90")))
      if (measureHalo(p).filterStays(shape))
        return true;
    return false;
  };
  EXPECT_TRUE(keeps());
  p.outChannels = 192;
  EXPECT_FALSE(keeps());
  p = makeLayer();
  p.in = {224, 224};
  EXPECT_FALSE(keeps());
}

// Taps share pixels with stride 1, several taps, and no more padding than they
// reach.
TEST(TmaHaloTiles, TakesWhatTapsCanShare) {
  ConvProblem p = makeLayer();
  EXPECT_TRUE(hasShapes(p));
  p.dilation = {2, 1};
  p.pad = {4, 0};
  EXPECT_TRUE(hasShapes(p));
  p.pad = {5, 0};
  EXPECT_FALSE(hasShapes(p));
  p = makeLayer();
  p.stride = {1, 2};
  EXPECT_FALSE(hasShapes(p));
  p = makeLayer();
  p.filter = {1, 1};
  p.pad = {0, 0};
  EXPECT_FALSE(hasShapes(p));
  p = makeLayer();
  p.in = {800, 800}; // Two rows of positions fill shared memory.
  EXPECT_FALSE(hasShapes(p));
}

// 64 channels are limited by what each tap loads, 256 are not. The 64 are
// wgmma's rows, unless an epilogue reads tensors.
TEST(TmaHaloTiles, AreChosenForFewChannels) {
  ConvProblem p = makeLayer();
  auto choose = [&] { return chooseTile(p, *findTarget("sm_90"))->toText(); };
  EXPECT_TRUE(choose().ends_with("-wgmma-h2-x")) << choose();
  p.epilogue.bias = true;
  EXPECT_TRUE(choose().ends_with("-wgmma-h2")) << choose();
  p.epilogue.bias = false;
  p.direction = Direction::BackwardData;
  EXPECT_TRUE(choose().ends_with("-wgmma-h2-x")) << choose();
  p.inChannels = p.outChannels = 256;
  p.in = {14, 14};
  EXPECT_EQ(choose().find("-h2"), std::string::npos) << choose();
}

// Taps of a volume share pixels along height and width; each of the depth has a
// halo of its own, and no positions between slices. 32 channels of a step have
// rows of 64 bytes, so that all 27 taps of the filter fit beside two halos.
TEST(TmaHaloTiles, SharesPixelsOfSlices) {
  ConvProblem p = makeLayer();
  p.batch = 2;
  p.inChannels = p.outChannels = 32;
  p.in = {.h = 128, .w = 128, .d = 128};
  p.filter.d = 3;
  p.pad.d = 1;
  const TmaHalo halo = measureHalo(p);
  EXPECT_EQ(halo.positions, 2 * 128 * 129 * 129);
  EXPECT_EQ(halo.around, 2 * 129 + 2);
  EXPECT_EQ(halo.taps, 9);
  TmaShape shape{256, 32, 1, true, 27, 2};
  shape.stepBytes = 64;
  EXPECT_EQ(halo.countSteps(shape), 27);
  EXPECT_TRUE(halo.filterStays(shape));
  for (Direction direction : {Direction::Forward, Direction::BackwardData}) {
    p.direction = direction;
    const std::string tile = chooseTile(p, *findTarget("sm_90"))->toText();
    EXPECT_NE(tile.find("n32k32-w1x1-p27-wgmma-h2"), std::string::npos) << tile;
  }
  p.filter = {1, 1};
  p.filter.d = 3;
  p.pad = {0, 0};
  p.pad.d = 1;
  EXPECT_FALSE(hasShapes(p)); // Nothing is shared.
}

// Small volumes have as many positions a tile as fill the chip: 7200 by 256
// columns are 33 by 4 tiles.
TEST(TmaHaloTiles, FillsTheChipWithSmallVolumes) {
  ConvProblem p = makeLayer();
  p.direction = Direction::BackwardData;
  p.batch = 8;
  p.inChannels = 256;
  p.outChannels = 512;
  p.in = {.h = 14, .w = 14, .d = 4};
  p.filter.d = 3;
  p.pad.d = 1;
  EXPECT_EQ(chooseTile(p, *findTarget("sm_90"))->toText(),
            "igemm-m224n64k64-w1x1-p6-wgmma-h2-x");
  p.epilogue.bias = true;
  EXPECT_FALSE(chooseTile(p, *findTarget("sm_90"))->toText().ends_with("-x"));
}

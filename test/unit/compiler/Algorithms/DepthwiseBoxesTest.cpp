//===- DepthwiseBoxesTest.cpp - Boxes of depthwise backward weights -------===//

#include "compiler/Algorithms/Depthwise/DepthwiseWeightBoxes.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

using namespace tessera;

// The text is part of a database key: one tile, one text.
TEST(DepthwiseBoxes, HaveAStableText) {
  DepthwiseTile tile;
  tile.groups = 4;
  tile.rows = 3;
  tile.columns = 2;
  tile.threads = 252;
  tile.splits = 924;
  tile.summed = 7;
  tile.stages = 2;
  tile.resident = 1;
  tile.isStreamed = true;
  EXPECT_EQ(tile.toConfig().toText(), "depthwise-g4p3q2t252s924r7b2u1o");
  ErrorOr<DepthwiseTile> read = parseDepthwiseTile(tile.toConfig());
  ASSERT_TRUE(read) << read.getStatus().getMessage();
  EXPECT_EQ(read->toConfig(), tile.toConfig());
  for (const char *parameters :
       {"g4p3q2t252s924r7b0u1o", "g4p3q2t252s924r7u1b2o", "g4p3q2t252s924b"})
    EXPECT_FALSE(parseDepthwiseTile({"depthwise", parameters})) << parameters;
}

// The boxes of a strip have the rows and columns that its products meet, and no
// others.
TEST(DepthwiseBoxes, HaveWhatAStripMeets) {
  for (int64_t stride : {1, 2, 3})
    for (int64_t taps : {1, 3, 4, 7})
      for (int64_t pad = 0; pad < taps; ++pad)
        for (int64_t dilation : {1, 2}) {
          SCOPED_TRACE("stride " + std::to_string(stride) + ", taps " +
                       std::to_string(taps) + ", pad " + std::to_string(pad) +
                       ", dilation " + std::to_string(dilation));
          DepthwiseTile tile;
          tile.rows = 2;
          tile.columns = 3;
          tile.summed = 5;
          tile.threads = 40;
          tile.stages = 2;
          WindowBlock rows{taps,
                           stride,
                           pad,
                           dilation,
                           tile.rows * stride,
                           /*isForward=*/false};
          WindowBlock columns{taps,
                              stride,
                              pad,
                              dilation,
                              tile.columns,
                              /*isForward=*/true};
          DepthwiseBoxes boxes(rows, columns, tile);
          std::set<int64_t> gradientRows, pixelColumns;
          for (int64_t row = 0; row < tile.rows * stride; ++row)
            for (int64_t tap = 0; tap < taps; ++tap)
              if (int64_t reach = row + pad - tap * dilation;
                  reach % stride == 0)
                gradientRows.insert(reach / stride);
          for (int64_t q = 0; q < tile.columns * tile.summed; ++q)
            for (int64_t tap = 0; tap < taps; ++tap)
              pixelColumns.insert(q * stride + tap * dilation - pad);
          EXPECT_EQ(boxes.x.firstRow, 0);
          EXPECT_EQ(boxes.x.rows, tile.rows * stride);
          EXPECT_EQ(boxes.x.firstColumn, *pixelColumns.begin());
          EXPECT_EQ(boxes.x.firstColumn + boxes.x.columns - 1,
                    *pixelColumns.rbegin());
          EXPECT_EQ(boxes.y.firstColumn, 0);
          EXPECT_EQ(boxes.y.columns, tile.columns * tile.summed);
          EXPECT_EQ(boxes.y.firstRow, *gradientRows.begin());
          EXPECT_EQ(boxes.y.firstRow + boxes.y.rows - 1,
                    *gradientRows.rbegin());
        }
}

// Every slot is aligned, whatever the bytes of a pixel.
TEST(DepthwiseBoxes, HaveAlignedSlots) {
  const DepthwiseBox box({0, 2}, {-1, 3}, 4);
  for (int64_t bytes = 16; bytes <= 1024; bytes += 16) {
    const int64_t pixels = box.countSlotPixels(bytes);
    EXPECT_GE(pixels, box.rows * box.columns);
    EXPECT_EQ(pixels * bytes % 128, 0) << bytes;
  }
}

/// A problem that has boxes more often than not.
static ConvProblem drawProblem(std::mt19937 &random) {
  auto draw = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  ConvProblem p;
  p.direction = Direction::BackwardWeights;
  p.dataType = draw(0, 1) == 0 ? DataType::BF16 : DataType::F32;
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  p.inChannels = p.outChannels = p.groups = 8 * draw(1, 150);
  p.in = {draw(7, 120), draw(7, 120)};
  p.filter = {draw(1, 7), draw(1, 7)};
  p.pad = {draw(0, 3), draw(0, 3)};
  p.stride = {draw(1, 4), draw(1, 4)};
  p.batch = 8'000'000 / (p.groups * p.in.h * p.in.w) + draw(1, 9);
  return p;
}

// The boxes of a chosen tile fit the chip, and its workgroups share out the
// groups and are at most as many as the multiprocessors.
TEST(DepthwiseBoxes, AreChosenToFit) {
  const GpuTarget &target = *findTarget("sm_90");
  std::mt19937 random(18);
  int chosen = 0;
  for (int i = 0; i < 300; ++i) {
    ConvProblem p = drawProblem(random);
    std::optional<DepthwiseTile> tile = chooseDepthwiseBoxTile(p, target);
    if (!tile)
      continue;
    ++chosen;
    SCOPED_TRACE(p.toNetworkConfig() + " " + tile->toConfig().toText());
    const WindowBlock rows{p.filter.h,
                           p.stride.h,
                           p.pad.h,
                           p.dilation.h,
                           tile->rows * p.stride.h,
                           /*isForward=*/false};
    const WindowBlock columns{p.filter.w,   p.stride.w,    p.pad.w,
                              p.dilation.w, tile->columns, /*isForward=*/true};
    const DepthwiseBoxes boxes(rows, columns, *tile);
    EXPECT_TRUE(boxes.fit(getByteSize(p.dataType), target));
    EXPECT_EQ(tile->threads % tile->summed, 0);
    EXPECT_EQ(p.groups % boxes.channels, 0);
    EXPECT_TRUE(tile->canSum());
    EXPECT_LE(
        tile->getSplitBlocks() * (p.groups / boxes.channels),
        std::max<int64_t>(target.computeUnits, p.groups / boxes.channels));
    EXPECT_TRUE(parseDepthwiseTile(tile->toConfig()));
  }
  EXPECT_GT(chosen, 150);
}

// TMA has no f64.
TEST(DepthwiseBoxes, AreNotOfDoubles) {
  std::mt19937 random(20);
  for (int i = 0; i < 20; ++i) {
    ConvProblem p = drawProblem(random);
    p.dataType = DataType::F64;
    EXPECT_FALSE(chooseDepthwiseBoxTile(p, *findTarget("sm_90")));
  }
}

// Older chips have no TMA.
TEST(DepthwiseBoxes, AreNotForOlderChips) {
  std::mt19937 random(19);
  for (int i = 0; i < 20; ++i)
    EXPECT_FALSE(
        chooseDepthwiseBoxTile(drawProblem(random), *findTarget("sm_80")));
}

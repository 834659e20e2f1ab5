//===- ToeplitzTest.cpp - Depthwise convolutions by matrix products -------===//

#include "compiler/Algorithms/Toeplitz/Toeplitz.h"
#include "compiler/Algorithms/ChooseTile.h"

#include <gtest/gtest.h>

#include <set>

using namespace tessera;

/// ConvNeXt's second stage.
static ConvProblem makeLayer(Direction direction) {
  ConvProblem p;
  p.direction = direction;
  p.dataType = DataType::BF16;
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  p.batch = 64;
  p.inChannels = p.outChannels = p.groups = 192;
  p.in = {28, 28};
  p.filter = {7, 7};
  p.pad = {3, 3};
  return p;
}

/// The algorithm that is chosen for `p`.
static std::string choose(const ConvProblem &p,
                          std::string_view chip = "sm_90") {
  auto tile = chooseTile(p, *findTarget(chip));
  return tile ? tile->algorithm : tile.getStatus().getMessage();
}

// The text is part of a database key: one tile, one text.
TEST(ToeplitzTile, HasAStableText) {
  ToeplitzTile tile{16, 4, 7, 4, 256};
  EXPECT_EQ(tile.toConfig().toText(), "toeplitz-c16b4r7q4t256");
  EXPECT_EQ(parseToeplitzTile(tile.toConfig())->toConfig(), tile.toConfig());
  tile.iterations = 3;
  EXPECT_EQ(tile.toConfig().toText(), "toeplitz-c16b4r7q4t256n3");
  tile.stages = 2;
  EXPECT_EQ(tile.toConfig().toText(), "toeplitz-c16b4r7q4t256n3s2");
  ErrorOr<ToeplitzTile> read = parseToeplitzTile(tile.toConfig());
  ASSERT_TRUE(read) << read.getStatus().getMessage();
  EXPECT_EQ(read->toConfig(), tile.toConfig());
  // Workgroups that share tiles of any number have no number of iterations.
  tile.iterations = 1;
  tile.workgroups = 22;
  EXPECT_EQ(tile.toConfig().toText(), "toeplitz-c16b4r7q4t256s2w22");
  read = parseToeplitzTile(tile.toConfig());
  ASSERT_TRUE(read) << read.getStatus().getMessage();
  EXPECT_EQ(read->toConfig(), tile.toConfig());
}

// Only the canonical text is a tile, with numbers that a program exists for.
TEST(ToeplitzTile, RefusesOtherTexts) {
  for (const char *parameters : {"",
                                 "c16b4r7q4",
                                 "c16b4r7q4t256n1",
                                 "c12b4r7q4t128",
                                 "c24b4r7q4t128",
                                 "c16b0r7q4t128",
                                 "c16b4r7q4t100",
                                 "c16b4r7q4t1024",
                                 "c8b4r7q4t512",
                                 "c16b4r7q4t128n0",
                                 "c16b4r7q4t128x",
                                 "c16b17r7q1t128",
                                 "c16b4r7q4t128s0",
                                 "c16b4r7q4t128s5",
                                 "c16b4r7q4t128n1s2",
                                 "c64b4r7q4t128s1",
                                 "c16b4r7q4t128s1n2",
                                 "c16b4r7q4t128w0",
                                 "c16b4r7q4t128n3w2",
                                 "c16b4r7q4t128w2s1"})
    EXPECT_FALSE(parseToeplitzTile({"toeplitz", parameters})) << parameters;
  EXPECT_FALSE(parseToeplitzTile({"depthwise", "c16b4r7q4t128"}));
}

// Lanes that store the octets of 16 pixels, or four octets of 8, store to all
// banks; and the planes have space for the results of windows that do not
// exist.
TEST(ToeplitzPlanes, LieInDifferentBanks) {
  EXPECT_EQ(ToeplitzDataPlanes({16, 4, 7, 4, 256}, 7).source.words, 720);
  EXPECT_EQ(ToeplitzDataPlanes({32, 4, 7, 4, 256}, 7).source.words, 712);
  ToeplitzTile few{8, 1, 14, 9, 64};
  ToeplitzDataPlanes planes(few, 1);
  EXPECT_GE(planes.source.words, planes.result.rows * planes.result.rowWords +
                                     (few.rows - 1) * planes.result.rowWords +
                                     4);
}

// Lanes that read or store four words of each of eight windows do so in
// different banks, however rows and blocks make up the bands.
TEST(ToeplitzPlanes, HaveTheWindowsOfBandsInDifferentBanks) {
  for (ToeplitzTile tile :
       {ToeplitzTile{16, 4, 7, 4, 512}, ToeplitzTile{16, 2, 7, 7, 512},
        ToeplitzTile{8, 5, 3, 3, 256}}) {
    ToeplitzDataPlanes planes(tile, 7);
    for (const ToeplitzPlane &plane : {planes.source, planes.result}) {
      std::set<int64_t> banks;
      for (int64_t window = 0; window < 8; ++window)
        banks.insert((window / tile.blocks * plane.getBandWords() +
                      window % tile.blocks * 4) %
                     32);
      EXPECT_EQ(banks.size(), 8u) << tile.toConfig().toText();
    }
  }
}

// With TMA copies, lanes that store four words of each of eight channels do so
// in different banks, a window begins at 16 bytes, and LDS also has the boxes.
TEST(ToeplitzPlanes, LieInDifferentBanksBehindBoxes) {
  for (ToeplitzTile tile : {ToeplitzTile{32, 2, 7, 7, 512, 12, 1},
                            ToeplitzTile{8, 3, 3, 5, 128, 1, 2}}) {
    ToeplitzDataPlanes planes(tile, 7);
    EXPECT_EQ(planes.source.words % 32, 4);
    EXPECT_EQ(planes.source.getBandWords() % 4, 0);
    EXPECT_EQ(planes.result.getBandWords(), tile.rows * tile.blocks * 4);
    const int64_t boxes =
        tile.stages * planes.source.rows * planes.source.columns +
        planes.result.rows * planes.result.columns;
    EXPECT_EQ(planes.countBytes(tile),
              tile.channels * 4 * (planes.source.words + boxes));
  }
}

// Backward weights with TMA copies: lanes use different banks if they store
// four words of each of eight channels, read seven of each of two rows of x, or
// read four of each of eight rows of gradients; so do lanes that read four
// pixels of either image of a box. The circular buffer has whole strips.
TEST(ToeplitzPlanes, LieInDifferentBanksOfStrips) {
  for (ToeplitzTile tile : {ToeplitzTile{32, 1, 2, 7, 512, 44, 2},
                            ToeplitzTile{8, 1, 6, 3, 256, 1, 1}}) {
    ToeplitzStripPlanes planes(tile, 7);
    for (const ToeplitzPlane &plane : {planes.x, planes.y}) {
      EXPECT_EQ(plane.words % 32, 4);
      ToeplitzPlane box = ToeplitzStripPlanes::getBox(plane);
      EXPECT_GE(box.rowWords, plane.columns);
      EXPECT_EQ(box.words, box.rows * box.rowWords);
      EXPECT_EQ(box.words % 8, 4);
    }
    EXPECT_GE(planes.x.rowWords % 32, 7);
    EXPECT_LE(planes.x.rowWords % 32, 25);
    EXPECT_EQ(planes.y.rowWords % 8, 4);
    EXPECT_EQ(planes.bufferRows % tile.rows, 0);
    EXPECT_GE(planes.bufferRows, tile.rows + 6);
    EXPECT_GE(planes.y.words, planes.bufferRows * planes.y.rowWords);
  }
}

// The rows that a filter reaches above a strip of two, or of four, come first;
// of an image only those that are not padding.
TEST(ToeplitzStrips, LoadGradientsFirst) {
  ToeplitzTile tile{32, 1, 2, 7, 512, 44, 2};
  EXPECT_EQ(ToeplitzStrips(tile, 7, 3).above, 2);
  EXPECT_EQ(ToeplitzStrips(tile, 7, 3).lead, 3);
  EXPECT_EQ(ToeplitzStrips(tile, 7, 9).above, 3);
  tile.rows = 4;
  EXPECT_EQ(ToeplitzStrips(tile, 7, 3).above, 1);
  EXPECT_EQ(ToeplitzStrips(tile, 7, 3).lead, 2);
  EXPECT_EQ(ToeplitzStrips(tile, 1, 0).above, 0);
  EXPECT_EQ(ToeplitzStrips(tile, 1, 0).lead, 0);
}

// TMA copies need a pitch of whole 16 bytes from pixel to pixel, and a chip
// that has TMA.
TEST(Toeplitz, CopiesByTmaWhereItCan) {
  auto hasBoxes = [](const ConvProblem &p, std::string_view chip) {
    auto tile = chooseTile(p, *findTarget(chip));
    return tile && tile->algorithm == "toeplitz" &&
           tile->parameters.find('s') != std::string::npos;
  };
  ConvProblem p = makeLayer(Direction::Forward);
  EXPECT_TRUE(hasBoxes(p, "sm_90"));
  EXPECT_FALSE(hasBoxes(p, "sm_80"));
  p.direction = Direction::BackwardData;
  EXPECT_TRUE(hasBoxes(p, "sm_90"));
  p.direction = Direction::BackwardWeights;
  EXPECT_TRUE(hasBoxes(p, "sm_90"));
  EXPECT_FALSE(hasBoxes(p, "sm_80"));
  // Wide images are strips side by side; where an image is one tile, TMA copies
  // were no faster on an H100.
  p.inChannels = p.outChannels = p.groups = 384;
  p.in = {112, 112};
  EXPECT_EQ(chooseTile(p, *findTarget("sm_90"))->parameters.substr(0, 9),
            "c32b1r2q7");
  // Two strips of four rows of five blocks would have too much in flight.
  p.in = {80, 80};
  EXPECT_EQ(chooseTile(p, *findTarget("sm_90"))->parameters.substr(0, 9),
            "c32b1r2q5");
  p.in = {14, 14};
  EXPECT_FALSE(hasBoxes(p, "sm_90"));
  // A batch of one image, and channels of 8 and 16.
  p = makeLayer(Direction::Forward);
  for (int channels : {8, 16, 40}) {
    p.inChannels = p.outChannels = p.groups = channels;
    p.batch = 1;
    EXPECT_TRUE(hasBoxes(p, "sm_90")) << channels;
  }
  // These pixels do not begin at 16 bytes.
  p.xLayout = p.yLayout = Layout::Strided;
  p.xStrides = p.yStrides = {28 * 28 * 44, 1, 0, 28 * 44, 44};
  EXPECT_FALSE(hasBoxes(p, "sm_90"));
}

// Large filters of 16-bit floats were faster with this algorithm on an H100, in
// every direction.
TEST(Toeplitz, IsChosenForLargeFilters) {
  for (Direction direction : {Direction::Forward, Direction::BackwardData,
                              Direction::BackwardWeights}) {
    EXPECT_EQ(choose(makeLayer(direction)), "toeplitz");
    EXPECT_EQ(choose(makeLayer(direction), "gfx942"), "depthwise");
  }
}

// Other algorithms cover what the products cannot do.
TEST(Toeplitz, LeavesTheRestToOthers) {
  ConvProblem p = makeLayer(Direction::Forward);
  p.dataType = DataType::F32;
  EXPECT_EQ(choose(p), "depthwise");
  p = makeLayer(Direction::Forward);
  p.stride = {2, 2};
  EXPECT_EQ(choose(p), "depthwise");
  p = makeLayer(Direction::BackwardData);
  p.dilation = {2, 2};
  EXPECT_EQ(choose(p), "depthwise");
  p = makeLayer(Direction::Forward);
  p.epilogue.alpha = true;
  EXPECT_EQ(choose(p), "depthwise");
  p = makeLayer(Direction::Forward);
  p.outChannels = 384;
  EXPECT_EQ(choose(p), "depthwise");
  p = makeLayer(Direction::BackwardWeights);
  p.stride = {2, 2};
  EXPECT_EQ(choose(p), "depthwise");
  p = makeLayer(Direction::BackwardWeights);
  p.xLayout = Layout::NCHW;
  EXPECT_NE(choose(p), "toeplitz");
}

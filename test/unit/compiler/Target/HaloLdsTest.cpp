//===- HaloLdsTest.cpp - Tests the LDS layout of pixels that taps share ---===//

#include "compiler/Target/HaloLds.h"

#include <array>
#include <gtest/gtest.h>
#include <set>

using namespace tessera;

// Images have 4 x 7 pixels, of which 3 x 5 are rows of the product. Tiles of
// eight rows begin and end anywhere in them.
TEST(HaloLds, CountsFromTheFirstRowToTheLast) {
  std::array<int64_t, 3> sizes = {2, 3, 5}, steps = {28, 7, 1};
  auto getPixel = [](int64_t row) {
    return row / 15 * 28 + row / 5 % 3 * 7 + row % 5;
  };
  int64_t most = 0;
  for (int64_t row : {0, 8, 16, 24})
    most = std::max(most, getPixel(row + 7) - getPixel(row));
  EXPECT_EQ(getMaxSpan(sizes, steps, 8), most);
}

// If every pixel is a row, the span of a tile is that of its rows.
TEST(HaloLds, CountsOneForEachPixel) {
  std::array<int64_t, 3> sizes = {3, 6, 9}, steps = {54, 9, 1};
  EXPECT_EQ(getMaxSpan(sizes, steps, 32), 31);
}

// The lines of a buffer are copied by whole passes of all threads, and a line
// of zeros follows the two buffers.
TEST(HaloLds, HoldsWholePasses) {
  HaloLds halo = HaloLds::make(/*pixels=*/242, /*lineBytes=*/64,
                               /*threads=*/256);
  EXPECT_EQ(halo.lines, 256);
  EXPECT_EQ(halo.getZeroOffset(), 2 * 256 * 80);
  EXPECT_EQ(halo.getBytes(), 2 * 256 * 80 + 64);
}

// Checks the chips for which the spills of ptxas were measured.
TEST(HaloLds, KnowsWhichChipsSpill) {
  for (const char *chip : {"sm_80", "sm_86", "sm_89", "sm_90"})
    EXPECT_TRUE(holdsWideProducts(*findTarget(chip))) << chip;
  for (const char *chip : {"sm_100", "sm_103", "sm_110", "sm_120"})
    EXPECT_FALSE(holdsWideProducts(*findTarget(chip))) << chip;
}

// A chunk of each of eight neighbouring lines is read at once, so that they
// must begin in different banks.
TEST(HaloLds, SpreadsNeighboursOverTheBanks) {
  constexpr int64_t kBankBytes = 128;
  for (int64_t lineBytes : {32, 64, 128, 256}) {
    HaloLds halo = HaloLds::make(64, lineBytes, 256);
    std::set<int64_t> offsets;
    for (int64_t line = 0; line < 8; ++line)
      offsets.insert(line * halo.getPitch() % kBankBytes);
    EXPECT_EQ(offsets.size(), 8u) << lineBytes;
  }
}

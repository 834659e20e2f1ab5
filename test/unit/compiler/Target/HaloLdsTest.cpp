//===- HaloLdsTest.cpp - Lines of LDS for pixels that taps share ----------===//

#include "compiler/Target/HaloLds.h"

#include <array>
#include <gtest/gtest.h>
#include <set>

using namespace tessera;

// Rows of 5 of 7 pixels, three of them an image of four rows: tiles of eight
// rows begin and end anywhere.
TEST(HaloLds, CountsFromTheFirstRowToTheLast) {
  std::array<int64_t, 3> sizes = {2, 3, 5}, steps = {28, 7, 1};
  auto getPlace = [](int64_t row) {
    return row / 15 * 28 + row / 5 % 3 * 7 + row % 5;
  };
  int64_t most = 0;
  for (int64_t row : {0, 8, 16, 24})
    most = std::max(most, getPlace(row + 7) - getPlace(row));
  EXPECT_EQ(getMaxSpan(sizes, steps, 8), most);
}

// Where rows are pixels, tiles see their own.
TEST(HaloLds, CountsOneForEachPixel) {
  std::array<int64_t, 3> sizes = {3, 6, 9}, steps = {54, 9, 1};
  EXPECT_EQ(getMaxSpan(sizes, steps, 32), 31);
}

// Whole passes of all threads, and a line of zeros behind two buffers.
TEST(HaloLds, HoldsWholePasses) {
  HaloLds halo = HaloLds::make(/*pixels=*/242, /*lineBytes=*/64,
                               /*threads=*/256);
  EXPECT_EQ(halo.lines, 256);
  EXPECT_EQ(halo.getZeroPlace(), 2 * 256 * 80);
  EXPECT_EQ(halo.getBytes(), 2 * 256 * 80 + 64);
}

// The chips that were looked at, of the tables of targets.
TEST(HaloLds, KnowsWhichChipsSpill) {
  for (const char *chip : {"sm_80", "sm_86", "sm_89", "sm_90"})
    EXPECT_TRUE(holdsWideProducts(*findTarget(chip))) << chip;
  for (const char *chip : {"sm_100", "sm_103", "sm_110", "sm_120"})
    EXPECT_FALSE(holdsWideProducts(*findTarget(chip))) << chip;
}

// Eight neighbours are read at once, a chunk of each.
TEST(HaloLds, SpreadsNeighboursOverTheBanks) {
  constexpr int64_t kBankBytes = 128;
  for (int64_t lineBytes : {32, 64, 128, 256}) {
    HaloLds halo = HaloLds::make(64, lineBytes, 256);
    std::set<int64_t> places;
    for (int64_t line = 0; line < 8; ++line)
      places.insert(line * halo.getPitch() % kBankBytes);
    EXPECT_EQ(places.size(), 8u) << lineBytes;
  }
}

//===- StemTileTest.cpp - The tile and the run of a stem ------------------===//

#include "compiler/Algorithms/Stem/Stem.h"

#include <gtest/gtest.h>

using namespace tessera;

// The text is part of a database key: one tile, one text.
TEST(StemTile, HasAStableText) {
  StemTile tile{8, 32, 64, 4, 1, "mfma32"};
  EXPECT_EQ(tile.toConfig().toText(), "stem-h8w32n64-w4x1-mfma32");
  ErrorOr<StemTile> read = parseStemTile(tile.toConfig());
  ASSERT_TRUE(read) << read.getStatus().getMessage();
  EXPECT_EQ(read->toConfig(), tile.toConfig());
  EXPECT_EQ(read->getPixels(), 256);
  tile.perUnit = 3;
  EXPECT_EQ(tile.toConfig().toText(), "stem-h8w32n64-w4x1-mfma32-p3");
  read = parseStemTile(tile.toConfig());
  ASSERT_TRUE(read) << read.getStatus().getMessage();
  EXPECT_EQ(read->perUnit, 3);
}

// Only the canonical text is a tile.
TEST(StemTile, RefusesOtherTexts) {
  for (const char *parameters :
       {"", "h8w32n64", "h8w32n64-w4x1", "h8w32n64-w4x1-mfma32-s2",
        "h0w32n64-w4x1-mfma32", "h8w32n64-w4x1-mfma32-p0",
        "h8w3200n64-w4x1-mfma32"})
    EXPECT_FALSE(parseStemTile({"stem", parameters})) << parameters;
  EXPECT_FALSE(parseStemTile({"igemm", "h8w32n64-w4x1-mfma32"}));
}

// A run is padded to whole chunks. If lines are whole loads, part of what it is
// padded by precedes it (the lead), so that padding and lead are whole loads,
// too.
TEST(StemRun, LeadsWhereThereIsSpace) {
  // 7 taps of 3 channels, 9 elements of padding, lines of 672.
  StemRun run = StemRun::make(21, 9, 672, 8);
  EXPECT_EQ(run.length, 24);
  EXPECT_EQ(run.lead, 3);
  EXPECT_EQ(StemRun::make(21, 9, 675, 8).lead, 0);
  EXPECT_EQ(StemRun::make(24, 9, 672, 8).lead, 0);
  EXPECT_EQ(StemRun::make(7, 3, 224, 8).lead, 1);
}

//===- GemmTileTest.cpp - The text of a GEMM tile -------------------------===//

#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"

#include <gtest/gtest.h>

using namespace tessera;

static const GemmTile kTile{256, 128, 32, 2, 4, 3, "mfma32"};

// The text is part of a database key: it must not change by accident.
TEST(GemmTile, HasAStableText) {
  EXPECT_EQ(kTile.toConfig().toText(), "igemm-m256n128k32-w2x4-b3-mfma32");
  GemmTile split = kTile;
  split.splits = 8;
  EXPECT_EQ(split.toConfig().toText(), "igemm-m256n128k32-w2x4-b3-mfma32-s8");
  split.isAtomic = true;
  EXPECT_EQ(split.toConfig().toText(), "igemm-m256n128k32-w2x4-b3-mfma32-a8");
}

// A text that is written can be read, and is the same tile.
TEST(GemmTile, RoundTrips) {
  ErrorOr<GemmTile> read = parseGemmTile(kTile.toConfig());
  ASSERT_TRUE(read) << read.getStatus().getMessage();
  EXPECT_EQ(*read, kTile);
  GemmTile split = kTile;
  split.splits = 8;
  read = parseGemmTile(split.toConfig());
  ASSERT_TRUE(read) << read.getStatus().getMessage();
  EXPECT_EQ(*read, split);
  split.isAtomic = true;
  read = parseGemmTile(split.toConfig());
  ASSERT_TRUE(read) << read.getStatus().getMessage();
  EXPECT_EQ(*read, split);
}

// Only tiles that TMA or cp.async copies have buffers for pixels that taps
// share, and only those of TMA have swapped operands.
TEST(GemmTile, RoundTripsWithHalo) {
  GemmTile tile = kTile;
  tile.isTma = tile.isPingPong = true;
  tile.mma = "wgmma";
  tile.splits = 4;
  tile.halo = 2;
  EXPECT_EQ(tile.toConfig().toText(), "igemm-m256n128k32-w2x4-p3-wgmma-s4-h2");
  ErrorOr<GemmTile> read = parseGemmTile(tile.toConfig());
  ASSERT_TRUE(read) << read.getStatus().getMessage();
  EXPECT_EQ(*read, tile);
  tile.isSwapped = true;
  EXPECT_EQ(tile.toConfig().toText(),
            "igemm-m256n128k32-w2x4-p3-wgmma-s4-h2-x");
  read = parseGemmTile(tile.toConfig());
  ASSERT_TRUE(read) << read.getStatus().getMessage();
  EXPECT_EQ(*read, tile);
  tile = kTile;
  tile.isDirect = true;
  tile.mma = "mma16";
  tile.halo = 2;
  EXPECT_EQ(tile.toConfig().toText(), "igemm-m256n128k32-w2x4-d3-mma16-h2");
  read = parseGemmTile(tile.toConfig());
  ASSERT_TRUE(read) << read.getStatus().getMessage();
  EXPECT_EQ(*read, tile);
  tile.isDirect = false;
  EXPECT_EQ(tile.toConfig().toText(), "igemm-m256n128k32-w2x4-b3-mma16-h2");
  read = parseGemmTile(tile.toConfig());
  ASSERT_TRUE(read) << read.getStatus().getMessage();
  EXPECT_EQ(*read, tile);
}

// Only tiles of TMA are shared by a cluster, and splits are not.
TEST(GemmTile, RoundTripsWithCluster) {
  GemmTile tile = kTile;
  tile.isTma = true;
  tile.mma = "wgmma_bf16x6";
  tile.cluster = 4;
  tile.promote = 1;
  EXPECT_EQ(tile.toConfig().toText(),
            "igemm-m256n128k32-w2x4-t3-wgmma_bf16x6-c4-promote1");
  ErrorOr<GemmTile> read = parseGemmTile(tile.toConfig());
  ASSERT_TRUE(read) << read.getStatus().getMessage();
  EXPECT_EQ(*read, tile);
}

// Workgroups that share an operand may have splits.
TEST(GemmTile, RoundTripsWithMulticast) {
  GemmTile tile = kTile;
  tile.isTma = tile.isPingPong = true;
  tile.mma = "wgmma";
  tile.splits = 2;
  for (const char side : {'m', 'n'}) {
    tile.multicast = side;
    EXPECT_EQ(tile.toConfig().toText(),
              std::string("igemm-m256n128k32-w2x4-p3-wgmma-s2-c") + side);
    ErrorOr<GemmTile> read = parseGemmTile(tile.toConfig());
    ASSERT_TRUE(read) << read.getStatus().getMessage();
    EXPECT_EQ(*read, tile);
  }
}

// Only the canonical text is a tile.
TEST(GemmTile, RefusesOtherTexts) {
  for (const char *text : {"igemm",
                           "igemm-m256n128k32-w2x4-b3",
                           "igemm-m256n128k32-w2x4-b3-x-",
                           "direct-m256n128k32-w2x4-b3-mfma32",
                           "igemm-m256n128k32-w2x4-b3-mfma32 ",
                           "igemm-m256n128k32-w2x4-b3-mfma32-x",
                           "igemm-m256n128k32-w2x4-b3-mfma32-s1",
                           "igemm-m256n128k32-w2x4-b3-mfma32-h0",
                           "igemm-m256n128k32-w2x4-t3-wgmma-h0",
                           "igemm-m256n128k32-w2x4-d3-mma16-h0",
                           "igemm-m256n128k32-w2x4-d3-mma16-h2-x",
                           "igemm-m256n128k32-w2x4-t3-wgmma-x-h2",
                           "igemm-m256n128k32-w2x4-b3-mfma32-c2",
                           "igemm-m256n128k32-w2x4-t3-wgmma-c1",
                           "igemm-m256n128k32-w2x4-t3-wgmma-s2-c2",
                           "igemm-m256n128k32-w2x4-t3-wgmma-c2-s2",
                           "igemm-m256n128k32-w2x4-b3-mfma32-cn",
                           "igemm-m256n128k32-w2x4-t3-wgmma-ck",
                           "igemm-m256n128k32-w2x4-t3-wgmma-cm-cn",
                           "igemm-m256n128k32-w2x4-t3-wgmma-cn-c2",
                           "igemm-m256n128k32-w2x4-t3-wgmma-cn-h2",
                           "igemm-m256n128k32-w2x4-b3-mfma32-a1",
                           "igemm-m256n128k32-w2x4-b3-mfma32-s4-a4",
                           "igemm-m0256n128k32-w2x4-b3-mfma32",
                           "igemm-m256k32n128-w2x4-b3-mfma32",
                           "igemm-m256n128k32-w2-b3-mfma32",
                           "igemm-m-1n128k32-w2x4-b3-mfma32",
                           "igemm-m0n128k32-w2x4-b3-mfma32",
                           "igemm-m256n128k32-w2x4-b0-mfma32",
                           "igemm-m99999999999n128k32-w2x4-b3-mfma32"}) {
    ErrorOr<TileConfig> config = parseTileConfig(text);
    ASSERT_TRUE(config) << text;
    ErrorOr<GemmTile> read = parseGemmTile(*config);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.getStatus().getCode(), StatusCode::InvalidArgument);
  }
}

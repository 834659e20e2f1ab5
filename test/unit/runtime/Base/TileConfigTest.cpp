//===- TileConfigTest.cpp - The text of a tile ----------------------------===//

#include "runtime/Base/TileConfig.h"

#include <gtest/gtest.h>

using namespace tessera;

static const TileConfig kTile{256, 128, 32, 2, 4, 3, "mfma32"};

// The text is part of a database key: it may not change by accident.
TEST(TileConfig, HasAStableText) {
  EXPECT_EQ(kTile.toText(), "igemm-m256n128k32-w2x4-b3-mfma32");
}

// What is written can be read, and is the same tile.
TEST(TileConfig, RoundTrips) {
  ErrorOr<TileConfig> read = parseTileConfig(kTile.toText());
  ASSERT_TRUE(read) << read.getStatus().getMessage();
  EXPECT_EQ(*read, kTile);
}

// Only the canonical text is a tile.
TEST(TileConfig, RefusesOtherTexts) {
  for (const char *text :
       {"", "igemm", "igemm-m256n128k32-w2x4-b3", "igemm-m256n128k32-w2x4-b3-",
        "direct-m256n128k32-w2x4-b3-mfma32",
        "igemm-m256n128k32-w2x4-b3-mfma32 ",
        "igemm-m256n128k32-w2x4-b3-mfma32-x",
        " igemm-m256n128k32-w2x4-b3-mfma32",
        "igemm-m0256n128k32-w2x4-b3-mfma32", "igemm-m256k32n128-w2x4-b3-mfma32",
        "igemm-m256n128k32-w2-b3-mfma32", "igemm-m-1n128k32-w2x4-b3-mfma32",
        "igemm-m0n128k32-w2x4-b3-mfma32", "igemm-m256n128k32-w2x4-b0-mfma32",
        "igemm-m99999999999n128k32-w2x4-b3-mfma32"}) {
    ErrorOr<TileConfig> read = parseTileConfig(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.getStatus().getCode(), StatusCode::InvalidArgument);
  }
}

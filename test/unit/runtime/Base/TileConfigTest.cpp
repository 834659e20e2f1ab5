//===- TileConfigTest.cpp - The text of a tile ----------------------------===//

#include "runtime/Base/TileConfig.h"

#include <gtest/gtest.h>

using namespace tessera;

// A tile's text can be parsed again, and is the same tile.
TEST(TileConfig, RoundTrips) {
  for (const char *text :
       {"igemm-m256n128k32-w2x4-b3-mfma32", "general", "pool-v8"}) {
    ErrorOr<TileConfig> read = parseTileConfig(text);
    ASSERT_TRUE(read) << read.getStatus().getMessage();
    EXPECT_EQ(read->toText(), text);
  }
  EXPECT_EQ(parseTileConfig("pool-v8-t2")->algorithm, "pool");
  EXPECT_EQ(parseTileConfig("pool-v8-t2")->parameters, "v8-t2");
}

// A text that names no algorithm is no tile.
TEST(TileConfig, RefusesOtherTexts) {
  for (const char *text :
       {"", "-", "-m256", " igemm-m256", "i gemm", "igemm-"}) {
    ErrorOr<TileConfig> read = parseTileConfig(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.getStatus().getCode(), StatusCode::InvalidArgument);
  }
}

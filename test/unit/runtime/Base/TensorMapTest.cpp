//===- TensorMapTest.cpp - The text of a tensor map -----------------------===//

#include "runtime/Base/TensorMap.h"
#include "test/unit/Support/SampleKernel.h"

#include <gtest/gtest.h>

using namespace tessera;

// A map has one text, which holds everything that its mode uses.
TEST(TensorMap, TextThereAndBack) {
  const TensorMap images = test::makeSampleMap();
  EXPECT_EQ(images.toText(), "w:bf16:im2col:256,15,14,64:512,7680,107520:"
                             "64,192:1,2,3,1:-3,-2:-1,4");
  TensorMap matrix;
  matrix.rank = 2;
  matrix.sizes = {2304, 256, 1, 1, 1};
  matrix.strides = {0, 4608, 0, 0, 0};
  matrix.box = {64, 128, 1, 1, 1};
  EXPECT_EQ(matrix.toText(), "x:f16:tiled:2304,256:4608:64,128:1,1");
  TensorMap line = matrix;
  line.rank = 1;
  line.sizes = {72, 1, 1, 1, 1};
  line.strides = {};
  line.box = {64, 1, 1, 1, 1};
  EXPECT_EQ(line.toText(), "x:f16:tiled:72::64:1");
  TensorMap part = line;
  part.tensor = KernelArg::Workspace;
  part.offset = 4096;
  EXPECT_EQ(part.toText(), "workspace+4096:f16:tiled:72::64:1");
  TensorMap rounded = line;
  rounded.dataType = DataType::F32;
  rounded.roundsToTf32 = true;
  EXPECT_EQ(rounded.toText(), "x:tf32:tiled:72::64:1");
  TensorMap plain = line;
  plain.mode = TensorMap::Mode::Plain;
  EXPECT_EQ(plain.toText(), "x:f16:plain:72::64:1");
  for (const TensorMap &map : {images, matrix, line, part, rounded, plain}) {
    auto read = parseTensorMap(map.toText());
    ASSERT_TRUE(read) << read.getStatus().getMessage();
    EXPECT_EQ(*read, map);
  }
}

// A map whose numbers depend on sizes says so in its text, and becomes an
// ordinary one when they are known; those beyond its limits are refused.
TEST(TensorMap, BindsSizes) {
  const char *text = "x:f16:im2col:64,xd2,xd1,xd0:128,128.xd2.*,128.xd1.*.xd2.*"
                     ":64,256:1,2,2,1:-1,-1:2.yd2.*~2.xd2.+,2.yd1.*~2.xd1.+";
  const auto map = parseTensorMap(text);
  ASSERT_TRUE(map) << map.getStatus().getMessage();
  EXPECT_EQ(map->toText(), text);
  int64_t width = 20;
  const auto lookup = [&](KernelArg tensor, int64_t dim) {
    const bool isX = tensor == KernelArg::X;
    return std::optional<int64_t>(dim == 0   ? 3
                                  : dim == 1 ? (isX ? 9 : 5)
                                             : (isX ? width : 10));
  };
  const auto bound = map->bind(lookup);
  ASSERT_TRUE(bound) << bound.getStatus().getMessage();
  EXPECT_EQ(bound->toText(), "x:f16:im2col:64,20,9,3:128,2560,23040:64,256:"
                             "1,2,2,1:-1,-1:-2,-1");
  width = 300;
  EXPECT_EQ(map->bind(lookup).getStatus().getMessage(),
            "a tensor map does not take the number -282");
  width = 0;
  EXPECT_FALSE(map->bind(lookup));
}

// Where a map's tensor begins may depend on sizes, too.
TEST(TensorMap, BindsOffset) {
  const char *text = "workspace+xd0.512.*.64.+:f16:tiled:64,xd0:128:64,8:1,1";
  const auto map = parseTensorMap(text);
  ASSERT_TRUE(map) << map.getStatus().getMessage();
  EXPECT_EQ(map->toText(), text);
  const auto bound =
      map->bind([](KernelArg, int64_t) { return std::optional<int64_t>(3); });
  ASSERT_TRUE(bound) << bound.getStatus().getMessage();
  EXPECT_EQ(bound->toText(), "workspace+1600:f16:tiled:64,3:128:64,8:1,1");
}

// A text that toText() does not write is refused and quoted.
TEST(TensorMap, RefusesOtherTexts) {
  for (const char *text :
       {"", "x", "z:f16:tiled:72::64:1", "x:f8:tiled:72::64:1",
        "x:f16:boxed:72::64:1", "x:f16:tiled:72::64", "x:f16:tiled:72::64:1:",
        "x:f16:tiled:72:4:64:1", "x:f16:tiled:2304,256:4608:64:1,1",
        "x:f16:tiled:1,1,1,1,1,1:1,1,1,1,1:1,1,1,1,1,1:1,1,1,1,1,1",
        "x:f16:im2col:72,4:8:64,1:1,1::", "x:f16:tiled:072::64:1",
        "x+0:f16:tiled:72::64:1", "x+:f16:tiled:72::64:1",
        "x:f16:tiled:xd::64:1", "x:f16:tiled:xd1~::64:1",
        "x:f16:tiled:xd1.*::64:1", "x:f16:tiled:3~2::64:1"})
    EXPECT_EQ(parseTensorMap(text).getStatus().getMessage(),
              "'" + std::string(text) + "' is no tensor map");
}

//===- ChooseTileTest.cpp - What the model chooses and refuses ------------===//

#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Algorithms/GemmTile.h"

#include <gtest/gtest.h>

using namespace tessera;

static ConvProblem makeLayer() {
  ConvProblem p;
  p.dataType = DataType::F16;
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  p.batch = 256;
  p.inChannels = p.outChannels = 256;
  p.in = {28, 28};
  p.filter = {3, 3};
  p.pad = {1, 1};
  return p;
}

// Large layers fill the chip with the tile of the best inner loop.
TEST(ChooseTile, TakesTheLargestTileForLargeLayers) {
  ConvProblem p = makeLayer();
  p.in = {56, 56};
  p.outChannels = 512;
  auto tile = chooseTile(p, *findTarget("gfx942"));
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->toText(), "igemm-m256n256k32-w2x4-b2-mfma32");
}

// Few output channels do not fill a wide tile, and few tiles not a chip.
TEST(ChooseTile, WeighsWhatIsWasted) {
  ConvProblem p = makeLayer();
  p.outChannels = 32;
  auto narrow = chooseTile(p, *findTarget("gfx942"));
  ASSERT_TRUE(narrow);
  EXPECT_EQ(parseGemmTile(*narrow)->n, 32);
  p = makeLayer();
  p.batch = 1;
  auto small = chooseTile(p, *findTarget("gfx942"));
  ASSERT_TRUE(small);
  ErrorOr<GemmTile> tile = parseGemmTile(*small);
  ASSERT_TRUE(tile);
  EXPECT_LE(tile->m * tile->n, 64 * 64);
}

// A chip without a matrix unit that we drive takes the general path.
TEST(ChooseTile, FallsBackToFma) {
  for (const GpuTarget &target : getAllTargets()) {
    auto tile = chooseTile(makeLayer(), target);
    ASSERT_TRUE(tile) << target.name;
    bool hasMfma = target.matrixUnit == MatrixUnit::MfmaCdna2 ||
                   target.matrixUnit == MatrixUnit::MfmaCdna3;
    EXPECT_EQ(parseGemmTile(*tile)->mma, hasMfma ? "mfma32" : "fma")
        << target.name;
  }
}

// What no kernel covers is an answer with a reason, not a wrong kernel.
TEST(ChooseTile, RefusesWithAReason) {
  const GpuTarget &target = *findTarget("gfx942");
  ConvProblem p = makeLayer();
  p.direction = Direction::BackwardData;
  EXPECT_EQ(chooseTile(p, target).getStatus().getCode(),
            StatusCode::NotSupported);
  p = makeLayer();
  p.dataType = DataType::I8;
  EXPECT_EQ(chooseTile(p, target).getStatus().getCode(),
            StatusCode::NotSupported);
  p = makeLayer();
  p.groups = 3;
  EXPECT_EQ(chooseTile(p, target).getStatus().getCode(),
            StatusCode::InvalidArgument);
  p = makeLayer();
  p.batch = 4;
  p.in = {1 << 15, 1 << 15};
  EXPECT_EQ(chooseTile(p, target).getStatus().getCode(),
            StatusCode::NotSupported);
  p = makeLayer();
  p.filter = {5, 1};
  p.dilation = {1 << 30, 1};
  EXPECT_EQ(chooseTile(p, target).getStatus().getCode(),
            StatusCode::NotSupported);
  p = makeLayer();
  p.batch = 336;
  p.inChannels = p.outChannels = p.groups = 512;
  p.in = {224, 224};
  EXPECT_EQ(chooseTile(p, target).getStatus().getCode(),
            StatusCode::NotSupported);
}

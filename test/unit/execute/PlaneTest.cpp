//===- PlaneTest.cpp - Backward weights over planes of pixels -------------===//
//
// Walks planes of NCHW whose ends are anywhere in a chunk, under taps in front
// and behind, with padding up to the filter's reach, and compares with the
// oracle. The emulated device finds what is loaded outside of a tensor.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"
#include "test/unit/execute/ConvFixture.h"
#include "test/unit/execute/Draw.h"

using namespace tessera;
using namespace tessera::test;

/// A tile of a line of L1 a step where the chip has one, or of half of it.
static GemmTile getTile(Draw &draw) {
  const GpuTarget &target = getTarget();
  const bool hasWmma = target.matrixUnit == MatrixUnit::WmmaGfx11 ||
                       target.matrixUnit == MatrixUnit::WmmaGfx12;
  GemmTile tile = {64, 64, 32, 2, 2, 2, "fma"};
  if (target.matrixUnit == MatrixUnit::None)
    tile.n = target.waveSize == 32 ? 32 : 64;
  else
    tile.mma = hasWmma ? "wmma16" : "mfma32";
  if (target.matrixUnit != MatrixUnit::None && !hasWmma && draw.chance(50))
    tile.k = 64;
  return tile;
}

/// Lengths of y are those of x but for the first, which may be shorter.
static ConvProblem drawPlanes(Draw &draw, int64_t columns) {
  ConvProblem p;
  p.direction = Direction::BackwardWeights;
  p.dataType = draw.chance(50) ? DataType::F16 : DataType::BF16;
  p.xLayout = p.yLayout = Layout::NCHW;
  p.wLayout = draw.chance(25) ? Layout::NHWC : Layout::NCHW;
  p.groups = draw.oneOf({1, 1, 2});
  p.inChannels = p.groups * columns * draw.between(1, 2);
  p.outChannels = p.groups * draw.between(1, 70);
  p.batch = draw.between(1, 6);
  p.filter = {draw.oneOf({1, 2, 3, 5}), draw.oneOf({1, 3, 3, 5})};
  p.dilation = {draw.between(1, 2), draw.oneOf({1, 1, 2})};
  const int64_t reach = (p.filter.h - 1) * p.dilation.h;
  p.pad = {draw.between(0, reach / 2), (p.filter.w - 1) * p.dilation.w / 2};
  p.in = {reach + draw.between(4, 12), draw.between(8, 19)};
  return p;
}

class Planes : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Random, Planes, testing::Range(0, 48));

// Random planes are right, split by images or not.
TEST_P(Planes, MatchTheReference) {
  Draw draw(getSeed() + GetParam());
  GemmTile tile = getTile(draw);
  ConvProblem p = drawPlanes(draw, tile.n);
  tile.splits = p.batch % 2 == 0 ? 2 : 1;
  auto engine =
      makeEngine(std::make_shared<FixedTileCompiler>(tile.toConfig()));
  ASSERT_NE(engine, nullptr);
  checkConv(*engine, p, reference::DataKind::Uniform);
}

// Images that splits do not divide are split by lines. Integers show a missing
// or repeated product.
TEST(Planes, AreSplitByLinesExactly) {
  Draw draw(getSeed());
  for (int64_t width : {33, 40}) {
    GemmTile tile = getTile(draw);
    ConvProblem p = drawPlanes(draw, tile.n);
    p.filter = {3, 3};
    p.dilation = {1, 1};
    p.pad = {1, 1};
    p.batch = 1;
    p.in = {6, width};
    tile.splits = 3;
    auto engine =
        makeEngine(std::make_shared<FixedTileCompiler>(tile.toConfig()));
    ASSERT_NE(engine, nullptr);
    checkConv(*engine, p, reference::DataKind::Integer);
  }
}

//===- PlaneTest.cpp - Convolutions over planes of pixels -----------------===//
//
// Backward weights walks planes of NCHW whose ends are anywhere in a chunk,
// under taps in front and behind, with padding up to the filter's reach;
// forward and backward data have taps that share planes. They are compared with
// the oracle. The emulated device finds what is loaded outside of a tensor.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/ImplicitGemm/GemmHalo.h"
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

//===----------------------------------------------------------------------===//
// Taps that share pixels
//===----------------------------------------------------------------------===//

static GemmTile getHaloTile(Draw &draw) {
  const bool hasMfma = getTarget().waveSize == 64;
  GemmTile tile = {64, 64, 32, 2, 2, 2, hasMfma ? "mfma32" : "wmma16"};
  tile.m = draw.oneOf({64, 128});
  if (tile.m == 64 && hasMfma)
    tile.wavesM = draw.between(1, 2);
  tile.halo = 2;
  return tile;
}

/// Whether LDS holds the pixels that a tile sees.
static bool fitsHalo(const ConvProblem &p, const GemmTile &tile) {
  constexpr int kStepBytes = 64, kBuffers = 2;
  const GemmShape shape = {tile.m,     tile.n,   tile.wavesM, tile.wavesN,
                           kStepBytes, kBuffers, false,       1,
                           false,      true,     kBuffers};
  auto halo = measureGemmHalo(p, getTarget(), shape);
  return halo && halo->getBytes() + tile.n * kStepBytes * kBuffers <=
                     getTarget().ldsBytes;
}

/// Planes of the reduced tensor are whole loads; the other one's are not
/// larger.
static ConvProblem drawHalo(Draw &draw) {
  ConvProblem p;
  const bool isForward = draw.chance(50);
  p.direction = isForward ? Direction::Forward : Direction::BackwardData;
  p.dataType = draw.chance(50) ? DataType::F16 : DataType::BF16;
  p.xLayout = isForward || draw.chance(75) ? Layout::NCHW : Layout::NHWC;
  p.yLayout = !isForward || draw.chance(75) ? Layout::NCHW : Layout::NHWC;
  p.wLayout = draw.chance(50) ? Layout::NHWC : Layout::NCHW;
  p.groups = draw.oneOf({1, 1, 2});
  const int64_t reduced = p.groups * 64 * draw.between(1, 2);
  const int64_t others = p.groups * draw.between(1, 70);
  p.inChannels = isForward ? reduced : others;
  p.outChannels = isForward ? others : reduced;
  p.batch = draw.between(1, 6);
  p.filter = {draw.oneOf({1, 2, 3, 5}), draw.oneOf({2, 3, 3, 5})};
  p.dilation = {draw.between(1, 2), draw.oneOf({1, 1, 2})};
  const Spatial reach = {(p.filter.h - 1) * p.dilation.h,
                         (p.filter.w - 1) * p.dilation.w};
  auto drawPad = [&](int64_t most) {
    return isForward ? draw.between(0, most / 2)
                     : draw.between((most + 1) / 2, most);
  };
  p.pad = {drawPad(reach.h), drawPad(reach.w)};
  // Of the reduced tensor; the lengths of y are those of x, the padding, and
  // what the filter reaches.
  const Spatial planes = {reach.h + draw.between(2, 9),
                          reach.w + draw.between(2, 9)};
  p.in = planes;
  if (!isForward)
    p.in = {planes.h + reach.h - 2 * p.pad.h, planes.w + reach.w - 2 * p.pad.w};
  return p;
}

class SharedPlanes : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Random, SharedPlanes, testing::Range(0, 48));

// Taps see the same pixels in LDS, of forward and of backward data.
TEST_P(SharedPlanes, MatchTheReference) {
  if (getTarget().matrixUnit == MatrixUnit::None)
    GTEST_SKIP() << "has no matrix instruction";
  Draw draw(getSeed() + GetParam());
  GemmTile tile = getHaloTile(draw);
  ConvProblem p = drawHalo(draw);
  while (!fitsHalo(p, tile))
    p = drawHalo(draw);
  auto engine =
      makeEngine(std::make_shared<FixedTileCompiler>(tile.toConfig()));
  ASSERT_NE(engine, nullptr);
  checkConv(*engine, p, reference::DataKind::Uniform);
}

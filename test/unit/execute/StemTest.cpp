//===- StemTest.cpp - Convolutions of few input channels ------------------===//
//
// Tests the kernels that hold their whole reduction in LDS, with each tile that
// the model knows for the chip, even where it would choose another one for
// problems this small.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Registry.h"
#include "test/unit/execute/ConvFixture.h"
#include "test/unit/execute/DrawProblem.h"

using namespace tessera;
using namespace tessera::test;

/// Returns tile number `index`, modulo their number, for `problem`, or none if
/// no tile fits.
static std::optional<TileConfig> getTile(const ConvProblem &problem,
                                         int index) {
  if (!getStem().check(problem, getTarget()).isOk())
    return std::nullopt;
  auto candidates = getStem().getCandidates(problem, getTarget());
  if (candidates.empty())
    return std::nullopt;
  return candidates[index % candidates.size()].tile;
}

static void checkTile(const ConvProblem &problem, const TileConfig &tile,
                      reference::DataKind kind) {
  auto engine = makeEngine(std::make_shared<FixedTileCompiler>(tile));
  ASSERT_NE(engine, nullptr);
  auto kernel = engine->prepare(problem);
  ASSERT_TRUE(kernel) << kernel.getStatus().getMessage();
  EXPECT_EQ((*kernel)->getKernel().resources.vgprSpills, 0u) << tile.toText();
  checkConv(*engine, problem, kind);
}

class StemConvolution : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Random, StemConvolution, testing::Range(0, 60));

// Tests one to four channels in either layout, with windows, paddings, strides
// and epilogues of all kinds and blocks of pixels that overhang the image.
TEST_P(StemConvolution, MatchesTheReference) {
  int index = GetParam();
  ProblemSpace space;
  space.directions = {Direction::Forward};
  space.types = {DataType::F16, DataType::BF16, DataType::F32};
  space.depth = false;
  space.strided = false;
  space.maxFlops = 10e6;
  ConvProblem p = drawProblem(getSeed() + 21, index, space);
  p.groups = 1;
  p.inChannels = 1 + index % 4;
  if (index % 2)
    p.stride.w = 2;
  p.outChannels = index % 3 ? 64 : 37;
  p.wLayout = p.xLayout;
  if (p.filter.w > 1)
    p.dilation.w = 1;
  p = p.canonicalize();
  auto tile = getTile(p, index);
  if (!p.verify().isOk() || !tile)
    GTEST_SKIP() << "a window that the algorithm leaves to another";
  checkTile(p, *tile, reference::DataKind::Uniform);
}

// The data are small integers, so that a tap of the neighbouring window, or a
// padding tap that is not zero, cannot hide in rounding. The widths make lines
// that are multiples of 16, 8, 4 and 2 bytes.
TEST(StemConvolution, IsExactOnIntegers) {
  for (Layout layout : {Layout::NHWC, Layout::NCHW})
    for (int64_t width : {32, 28, 26, 25})
      for (int64_t stride : {2, 4}) {
        ConvProblem p;
        p.dataType = DataType::F16;
        p.xLayout = p.wLayout = p.yLayout = layout;
        p.batch = 2;
        p.inChannels = 3;
        p.outChannels = 40;
        p.in = {21, width};
        p.filter = {7, 7};
        p.pad = {3, 3};
        p.stride = {stride, stride};
        auto tile = getTile(p, static_cast<int>(width));
        ASSERT_TRUE(tile) << p.toNetworkConfig();
        checkTile(p, *tile, reference::DataKind::Integer);
      }
}

// There are more tiles than workgroups, so that each workgroup copies the
// filter to LDS once and computes several tiles. While it computes the last
// one, it loads from behind the end.
TEST(StemConvolution, ComputesSeveralTiles) {
  for (DataType type : {DataType::F16, DataType::F32})
    for (int64_t channels : {1, 3}) {
      ConvProblem p;
      p.dataType = type;
      p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
      p.batch = 165;
      p.inChannels = channels;
      p.outChannels = 21;
      p.in = {19, 32};
      p.filter = {3, 3};
      p.pad = {1, 1};
      p.stride = {1, 2};
      auto tile = getTile(p, static_cast<int>(channels));
      ASSERT_TRUE(tile) << p.toNetworkConfig();
      tile->parameters += "-p1";
      checkTile(p, *tile, reference::DataKind::Integer);
    }
}

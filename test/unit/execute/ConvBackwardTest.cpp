//===- ConvBackwardTest.cpp - Compiled gradients against the oracle -------===//
//
// Does what ConvForwardTest.cpp does for backward data and backward weights,
// and covers what all directions share: depth, gaps, epilogues.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"
#include "runtime/DriverCommand/DriverCommand.h"
#include "test/unit/execute/ConvFixture.h"
#include "test/unit/execute/DrawProblem.h"

#include <fstream>

using namespace tessera;
using namespace tessera::test;

static constexpr Direction kBackward[] = {Direction::BackwardData,
                                          Direction::BackwardWeights};

namespace {
class ConvBackward : public testing::TestWithParam<int> {
protected:
  static void SetUpTestSuite() { engine = makeEngine(createJitCompiler()); }
  static void TearDownTestSuite() { engine.reset(); }

  static void check(const ConvProblem &problem, reference::DataKind kind) {
    checkConv(*engine, problem, kind);
    // The model may not choose a tile that spills.
    if (auto kernel = engine->prepare(problem)) {
      EXPECT_EQ((*kernel)->getKernel().resources.vgprSpills, 0u)
          << problem.toNetworkConfig() << " " << (*kernel)->getKernel().tile;
    }
  }

  static std::unique_ptr<Engine> engine;
};
std::unique_ptr<Engine> ConvBackward::engine;
} // namespace

/// Returns an NHWC convolution with 72 input channels, 128 output channels and
/// few pixels.
static ConvProblem makeSmall(Direction direction, DataType type) {
  ConvProblem p;
  p.direction = direction;
  p.dataType = type;
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  p.batch = 2;
  p.inChannels = 72;
  p.outChannels = 128;
  p.in = {9, 7};
  p.filter = {3, 3};
  p.pad = {1, 1};
  return p;
}

// Random valid problems of every direction are right, whatever their shape,
// type, layout, gaps, depth and epilogue.
TEST_P(ConvBackward, MatchesTheReference) {
  ProblemSpace space;
  space.types = {DataType::F16, DataType::BF16, DataType::F32};
  ConvProblem p = drawProblem(getSeed() + 1, GetParam(), space);
  // Exponentials have tests of their own.
  if (p.epilogue.activation != Activation::None)
    p.epilogue.activation = Activation::LeakyRelu;
  check(p, reference::DataKind::Uniform);
}

INSTANTIATE_TEST_SUITE_P(Random, ConvBackward,
                         testing::Range(0, TESSERA_RANDOM_PROBLEMS));

// Strides divide the pixels into groups, here of one pixel: depth 3 with stride
// 3 and height 1 with stride 2. Some coordinates are outside the image only
// because of their group, and the old value of another group's pixel must not
// be read for them.
TEST_F(ConvBackward, ReadsNoPixelOfAnotherGroup) {
  auto p = parseNetworkConfig("conv-bwd-f32-ndhwc,ndhwc,ndhwc-n1c8d3h1w1-"
                              "k1z3y3x1-p0x1x0-s3x2x1-d1x1x1-g1-ebeta");
  ASSERT_TRUE(p) << p.getStatus().getMessage();
  check(*p->getConv(), reference::DataKind::Integer);
}

// The nested loop order of backward data has output channels inside and taps
// outside, some of which no pixel of a workgroup has. The data are integers,
// so that a missing product shows.
TEST_F(ConvBackward, SkipsTapsExactly) {
  for (DataType type : {DataType::F16, DataType::BF16, DataType::F32})
    for (int64_t stride : {1, 2, 3})
      for (int64_t dilation : {1, 2}) {
        ConvProblem p = makeSmall(Direction::BackwardData, type);
        p.stride = {stride, 2};
        p.dilation = {dilation, 2};
        check(p, reference::DataKind::Integer);
      }
}

// The nested loop order of backward weights has images inside and pixels
// outside. The stepped one serves batches that fill a step but no iteration of
// the main loop.
TEST_F(ConvBackward, WalksImagesExactly) {
  int64_t number = 0;
  for (DataType type : {DataType::F16, DataType::BF16, DataType::F32})
    for (int64_t batch : {64, 48, 32})
      for (int64_t stride : {1, 2}) {
        if (!runsHere(number++ / 2 + stride))
          continue;
        ConvProblem p = makeSmall(Direction::BackwardWeights, type);
        p.batch = batch;
        p.in = {5, 4};
        p.stride = {stride, 1};
        p.outChannels = 40;
        check(p, reference::DataKind::Integer);
      }
}

// A pointwise convolution is one matrix product with all pixels in one
// dimension.
TEST_F(ConvBackward, WalksPointwisePixelsExactly) {
  for (Direction direction : kBackward)
    for (Layout layout : {Layout::NHWC, Layout::NCHW}) {
      ConvProblem p = makeSmall(direction, DataType::F16);
      p.xLayout = p.wLayout = p.yLayout = layout;
      p.in = {8, 16};
      p.filter = {1, 1};
      p.pad = {0, 0};
      check(p, reference::DataKind::Integer);
    }
}

// Some windows leave pixels without a tap: those of strides wider than the
// filter, dilations that share a factor with the stride, paddings wider than
// the filter, and filters that do not fit. Groups have them as well.
TEST_F(ConvBackward, CoversEveryWindow) {
  for (const char *line :
       {"conv -n 2 -c 5 -H 11 -W 8 -k 7 -y 1 -x 2 -u 3 -v 3",
        "conv -n 1 -c 3 -H 13 -W 12 -k 4 -y 3 -x 3 -p 2 -q 1 -u 2 -v 4 -l 2 -j "
        "6",
        "convfp16 -n 2 -c 4 -H 9 -W 9 -k 6 -y 3 -x 3 -u 3 -v 3 -l 3 -j 3",
        "conv -n 1 -c 4 -H 5 -W 6 -k 8 -y 2 -x 2 -p 5 -q 4 -u 2 -v 1",
        "convbfp16 -n 1 -c 6 -H 3 -W 2 -k 9 -y 5 -x 4 -p 0 -q 0 -g 3",
        "convfp16 -n 3 -c 16 -H 7 -W 7 -k 24 -y 3 -x 3 -p 3 -q 3 -u 2 -v 2 -g "
        "2",
        "conv -n 2 -c 64 -H 6 -W 6 -k 64 -y 3 -x 3 -u 4 -v 4 -l 2 -j 2 -p 1"}) {
    auto problem = parseDriverCommand(line);
    ASSERT_TRUE(problem) << problem.getStatus().getMessage();
    for (Direction direction : kBackward)
      for (Layout layout : {Layout::NHWC, Layout::NCHW}) {
        ConvProblem p = *problem->getConv();
        p.direction = direction;
        p.xLayout = p.wLayout = p.yLayout = layout;
        check(p, reference::DataKind::Integer);
      }
  }
}

/// Returns tiles whose operands a workgroup copies in blocks of four and of two
/// rows.
static std::vector<GemmTile> getTiles(const GpuTarget &target, DataType type) {
  int step = type == DataType::F32 ? 16 : 32;
  bool hasMatrix = target.matrixUnit == MatrixUnit::MfmaCdna2 ||
                   target.matrixUnit == MatrixUnit::MfmaCdna3;
  if (!hasMatrix && target.waveSize == 64)
    return {{64, 64, step, 2, 2, 2, "fma"}};
  if (!hasMatrix)
    return {{64, 32, step, 2, 2, 2, "fma"}, {32, 32, step, 2, 2, 2, "fma"}};
  return {{256, 256, step, 2, 4, 2, "mfma32"},
          {256, 128, step, 4, 2, 2, "mfma32"},
          {128, 128, 2 * step, 2, 2, 2, "mfma32"},
          {64, 128, step, 2, 2, 2, "mfma32"},
          {64, 64, step, 2, 2, 2, "mfma32"},
          {64, 32, step, 2, 1, 2, "mfma32"},
          {64, 64, step, 2, 2, 2, "fma"}};
}

// Every tile is right with tails in both directions, in the nested, the stepped
// and the flat loop order, in one layout.
TEST_F(ConvBackward, IsRightWithEveryTile) {
  int number = 0;
  for (DataType type : {DataType::F16, DataType::F32})
    for (const GemmTile &tile : getTiles(getTarget(), type)) {
      auto fixed =
          makeEngine(std::make_shared<FixedTileCompiler>(tile.toConfig()));
      ASSERT_NE(fixed, nullptr);
      const Layout layout = number++ % 2 ? Layout::NHWC : Layout::NCHW;
      for (Direction direction : kBackward)
        for (int64_t reduction : {64, 32, 3}) {
          bool isData = direction == Direction::BackwardData;
          if (!runsHere(isData + (layout == Layout::NHWC) + reduction / 32))
            continue;
          ConvProblem p = makeSmall(direction, type);
          p.xLayout = p.wLayout = p.yLayout = layout;
          p.outChannels = isData ? reduction : 40;
          p.batch = isData ? 2 : reduction;
          p.inChannels = 132;
          p.in = {3, 4};
          checkConv(*fixed, p, reference::DataKind::Uniform);
        }
    }
}

// Split-K divides the reduction and a second launch adds the partial results.
// The cases split rows of images, images and pointwise pixels, also with old
// values and an epilogue that must follow the sum.
TEST_F(ConvBackward, SplitsTheReductionExactly) {
  GemmTile tile = getTiles(getTarget(), DataType::F16).back();
  tile.splits = 2;
  auto fixed = makeEngine(std::make_shared<FixedTileCompiler>(tile.toConfig()));
  ASSERT_NE(fixed, nullptr);
  for (int64_t batch : {64, 32, 6})
    for (int64_t filter : {1, 3})
      for (Layout layout : {Layout::NHWC, Layout::NCHW}) {
        ConvProblem p = makeSmall(Direction::BackwardWeights, DataType::F16);
        p.xLayout = p.wLayout = p.yLayout = layout;
        p.batch = batch;
        p.in = {6, 4};
        p.outChannels = 66;
        p.filter = {filter, filter};
        p.pad = {filter / 2, filter / 2};
        p.epilogue.bias = p.epilogue.beta = filter == 3;
        checkConv(*fixed, p, reference::DataKind::Integer);
      }
}

// There are more splits than the sum loads at once, and the result is so small
// that two threads add 33 each of the 66 partial results of one element.
TEST_F(ConvBackward, AddsManySplitsExactly) {
  GemmTile tile = getTiles(getTarget(), DataType::F16).back();
  ConvProblem p = makeSmall(Direction::BackwardWeights, DataType::F16);
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  p.batch = 66;
  p.in = {2, 3};
  p.filter = {1, 1};
  p.pad = {0, 0};
  for (int splits : {22, 66}) {
    tile.splits = splits;
    auto fixed =
        makeEngine(std::make_shared<FixedTileCompiler>(tile.toConfig()));
    ASSERT_NE(fixed, nullptr);
    checkConv(*fixed, p, reference::DataKind::Integer);
  }
}

// Atomics add the partial results: in the result itself if that is f32 without
// an epilogue, else in a workspace. The data are integers, so that the order of
// the additions does not matter. A chip without such an instruction says so.
TEST_F(ConvBackward, AddsSplitsByAtomicsExactly) {
  for (DataType type : {DataType::F16, DataType::F32}) {
    GemmTile tile = getTiles(getTarget(), type).back();
    tile.splits = 2;
    tile.isAtomic = true;
    auto fixed =
        makeEngine(std::make_shared<FixedTileCompiler>(tile.toConfig()));
    ASSERT_NE(fixed, nullptr);
    for (Layout layout : {Layout::NHWC, Layout::NCHW})
      for (bool hasEpilogue : {false, true}) {
        ConvProblem p = makeSmall(Direction::BackwardWeights, type);
        p.xLayout = p.wLayout = p.yLayout = layout;
        p.batch = 32;
        p.in = {6, 4};
        p.outChannels = 66;
        p.epilogue.bias = p.epilogue.beta = hasEpilogue;
        if (getTarget().hasFloatAtomics) {
          checkConv(*fixed, p, reference::DataKind::Integer);
          continue;
        }
        const Status status = fixed->prepare(p).getStatus();
        EXPECT_NE(status.getMessage().find("has no instruction that adds"),
                  std::string::npos)
            << status.getMessage();
      }
  }
}

// LDS is written and read without bank conflicts.
TEST(GradientLayer, HasNoBankConflict) {
  std::string path = getEnvText("TESSERA_EMULATOR_STATS").value_or("");
  if (path.empty())
    GTEST_SKIP() << "needs TESSERA_EMULATOR_STATS";
  std::ofstream(path, std::ios::trunc).close();
  int expected = 0;
  for (GemmTile tile : {GemmTile{256, 256, 32, 2, 4, 2, "mfma32"},
                        GemmTile{128, 128, 32, 2, 2, 2, "mfma32"},
                        GemmTile{128, 64, 32, 2, 2, 2, "mfma32"}}) {
    auto engine =
        makeEngine(std::make_shared<FixedTileCompiler>(tile.toConfig()));
    ASSERT_NE(engine, nullptr);
    for (Direction direction : kBackward) {
      ConvProblem p = makeSmall(direction, DataType::F16);
      p.batch = 64;
      p.inChannels = p.outChannels = 256;
      p.in = {4, 4};
      checkConv(*engine, p, reference::DataKind::Uniform, /*sample=*/20000);
      ++expected;
    }
  }
  std::ifstream stats(path);
  int launches = 0;
  for (std::string line; std::getline(stats, line); ++launches) {
    EXPECT_NE(line.find("\"lds_read_conflict_cycles\":0,"), line.npos) << line;
    EXPECT_NE(line.find("\"lds_write_conflict_cycles\":0,"), line.npos) << line;
    EXPECT_EQ(line.find("\"mfma\":0,"), line.npos) << line;
  }
  EXPECT_EQ(launches, expected);
}

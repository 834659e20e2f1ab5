//===- ConvForwardTest.cpp - Compiled convolutions against the oracle -----===//
//
// Each problem is compiled, loaded with hipModuleLoadData, launched on the
// device that TESSERA_DEVICE names, and every output element is compared with
// the reference. ctest runs this program once for each emulated chip.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"
#include "runtime/DriverCommand/DriverCommand.h"
#include "test/unit/execute/ConvFixture.h"
#include "test/unit/execute/DrawProblem.h"

#include <fstream>
#include <iostream>
#include <thread>

using namespace tessera;
using namespace tessera::test;

namespace {
class ConvForward : public testing::TestWithParam<int> {
protected:
  static void SetUpTestSuite() {
    engine = makeEngine(createJitCompiler());
    std::cout << "seed " << getSeed() << " (TESSERA_TEST_SEED)\n";
  }
  static void TearDownTestSuite() { engine.reset(); }

  static void check(const ConvProblem &problem, reference::DataKind kind) {
    checkConv(*engine, problem, kind);
    // The model may not choose a tile that spills.
    if (auto kernel = engine->prepare(problem)) {
      EXPECT_EQ((*kernel)->getKernel().resources.vgprSpills, 0u)
          << (*kernel)->getKernel().tile;
    }
  }

  static std::unique_ptr<Engine> engine;
};
std::unique_ptr<Engine> ConvForward::engine;
} // namespace

/// Forward convolutions without what ConvBackwardTest.cpp covers for all
/// directions.
static ProblemSpace getForwardSpace() {
  ProblemSpace space;
  space.directions = {Direction::Forward};
  space.types = {DataType::F16, DataType::BF16, DataType::F32};
  space.depth = space.strided = space.epilogues = false;
  return space;
}

// Random valid problems are right, whatever their shape, type and layout.
TEST_P(ConvForward, MatchesTheReference) {
  check(drawProblem(getSeed(), GetParam(), getForwardSpace()),
        reference::DataKind::Uniform);
}

INSTANTIATE_TEST_SUITE_P(Random, ConvForward,
                         testing::Range(0, TESSERA_RANDOM_PROBLEMS));

// Tests the nested loop order (taps, then channels) with padding. The data are
// small integers, so that one wrong tap or channel cannot hide in rounding.
TEST_F(ConvForward, IsExactOnIntegers) {
  for (DataType type : {DataType::F16, DataType::BF16, DataType::F32}) {
    ConvProblem p;
    p.dataType = type;
    p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
    p.batch = 2;
    p.inChannels = 128;
    p.outChannels = 72;
    p.in = {9, 7};
    p.filter = {3, 3};
    p.pad = {1, 1};
    // Sums reach some thousands. They are exact in f32 and rounded once to f16
    // and bf16, and the reference rounds the same exact sum.
    check(p, reference::DataKind::Integer);
  }
}

// The grid covers many tiles in both directions, and every tile is full.
TEST_F(ConvForward, CoversManyFullTiles) {
  ConvProblem p;
  p.dataType = DataType::F16;
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  p.batch = 2;
  p.inChannels = 64;
  p.outChannels = 512;
  p.in = {32, 32};
  check(p, reference::DataKind::Uniform);
}

// These filters are so wide that their rows are a multiple of two steps. The
// padding differs from column to column, which a loop that checks it once for
// each row of the filter would miss.
TEST_F(ConvForward, ChecksPaddingAlongWideFilters) {
  for (const char *line :
       {"conv -n 1 -c 3 -H 4 -W 64 -k 16 -y 1 -x 32 -q 16",
        "convfp16 -n 1 -c 3 -H 4 -W 64 -k 16 -y 1 -x 64 -q 32",
        "conv -n 1 -c 1 -H 33 -W 40 -k 2 -y 32 -x 32 -p 16 -q 16",
        "conv -n 2 -c 3 -H 4 -W 64 -k 16 -y 2 -x 96"}) {
    auto problem = parseDriverCommand(line);
    ASSERT_TRUE(problem) << problem.getStatus().getMessage();
    check(*problem->getConv(), reference::DataKind::Uniform);
  }
}

// One engine serves many threads, which compile, load and launch at the same
// time, some of them the same problem.
TEST_F(ConvForward, ServesManyThreads) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([thread] {
      for (int i = 0; i < 6; ++i)
        check(drawProblem(getSeed() + 1, (i + thread) % 8, getForwardSpace()),
              reference::DataKind::Uniform);
    });
  for (std::thread &thread : threads)
    thread.join();
}

/// Returns tiles of every matrix instruction of `target` for `type`, of every
/// shape that the model may choose and some more.
static std::vector<GemmTile> getTiles(const GpuTarget &target, DataType type) {
  int step = type == DataType::F32 ? 16 : 32;
  std::vector<GemmTile> fma = {{64, 64, step, 2, 2, 2, "fma"}};
  if (target.waveSize == 32)
    fma = {{64, 32, step, 2, 2, 2, "fma"}, {32, 32, step, 2, 2, 2, "fma"}};
  bool hasWmma = target.matrixUnit == MatrixUnit::WmmaGfx11 ||
                 target.matrixUnit == MatrixUnit::WmmaGfx12;
  std::vector<GemmTile> tiles;
  if (hasWmma && type != DataType::F32)
    tiles = {{128, 128, step, 2, 4, 2, "wmma16"},
             {128, 64, step, 2, 2, 2, "wmma16"},
             {64, 128, step, 2, 4, 2, "wmma16"},
             {64, 64, 2 * step, 2, 2, 2, "wmma16"},
             {32, 32, step, 2, 2, 2, "wmma16"}};
  else if (!hasWmma && target.matrixUnit != MatrixUnit::None)
    tiles = {{256, 256, step, 2, 4, 2, "mfma32"},
             {256, 128, step, 4, 2, 2, "mfma32"},
             {128, 128, step, 2, 2, 2, "mfma32"},
             {128, 128, 2 * step, 2, 2, 2, "mfma32"},
             {128, 64, step, 2, 2, 2, "mfma32"},
             {64, 128, step, 2, 2, 2, "mfma32"},
             {64, 64, step, 2, 2, 2, "mfma32"},
             {64, 32, step, 2, 1, 2, "mfma32"},
             {128, 128, step, 2, 2, 2, "mfma16"},
             {64, 64, 2 * step, 2, 2, 2, "mfma16"}};
  tiles.insert(tiles.end(), fma.begin(), fma.end());
  return tiles;
}

class ConvTile : public testing::TestWithParam<DataType> {};

// Random problems are small and so get small tiles. Here every tile runs, with
// tails in both directions, in the nested or in the flat loop order and in one
// layout.
TEST_P(ConvTile, IsRight) {
  int number = 0;
  for (const GemmTile &tile : getTiles(getTarget(), GetParam())) {
    SCOPED_TRACE(tile.toConfig().toText());
    auto fixed =
        makeEngine(std::make_shared<FixedTileCompiler>(tile.toConfig()));
    ASSERT_NE(fixed, nullptr);
    const Layout layout = number++ % 2 ? Layout::NHWC : Layout::NCHW;
    for (int64_t channels : {128, 67}) {
      if (!runsHere((layout == Layout::NHWC) + (channels == 128)))
        continue;
      ConvProblem p;
      p.dataType = GetParam();
      p.xLayout = p.wLayout = p.yLayout = layout;
      p.batch = 3;
      p.inChannels = channels;
      p.outChannels = 300;
      p.in = {10, 9};
      p.filter = {3, 2};
      p.pad = {1, 1};
      checkConv(*fixed, p, reference::DataKind::Uniform);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ConvTile,
                         testing::Values(DataType::F16, DataType::BF16,
                                         DataType::F32),
                         [](const auto &info) {
                           return std::string(getName(info.param));
                         });

// Runs a whole layer of ResNet-50 with both of its tiles. The statistics of
// TESSERA_EMULATOR_STATS show that no LDS access met a bank conflict.
TEST(ResNetLayer, HasNoBankConflict) {
  std::string path = getEnvText("TESSERA_EMULATOR_STATS").value_or("");
  if (path.empty())
    GTEST_SKIP() << "needs TESSERA_EMULATOR_STATS";
  std::ofstream(path, std::ios::trunc).close();
  ConvProblem p;
  p.dataType = DataType::F16;
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  p.batch = 64;
  p.inChannels = p.outChannels = 256;
  p.in = {14, 14};
  p.filter = {3, 3};
  p.pad = {1, 1};
  for (GemmTile tile : {GemmTile{256, 256, 32, 2, 4, 2, "mfma32"},
                        GemmTile{128, 128, 32, 2, 2, 2, "mfma32"}}) {
    auto engine =
        makeEngine(std::make_shared<FixedTileCompiler>(tile.toConfig()));
    ASSERT_NE(engine, nullptr);
    checkConv(*engine, p, reference::DataKind::Uniform, /*sample=*/20000);
  }
  std::ifstream stats(path);
  int launches = 0;
  for (std::string line; std::getline(stats, line); ++launches) {
    EXPECT_NE(line.find("\"lds_read_conflict_cycles\":0,"), line.npos) << line;
    EXPECT_NE(line.find("\"lds_write_conflict_cycles\":0,"), line.npos) << line;
    EXPECT_EQ(line.find("\"mfma\":0,"), line.npos) << line;
  }
  EXPECT_EQ(launches, 2);
}

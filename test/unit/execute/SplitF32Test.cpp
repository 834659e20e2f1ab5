//===- SplitF32Test.cpp - f32 as products of three parts ------------------===//
//
// The launches that split and the product between them, on chips whose model
// does not offer it: the tiles are those that igemm has for the copies.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Registry.h"
#include "test/unit/Support/DeviceTensors.h"
#include "test/unit/execute/ConvFixture.h"
#include "test/unit/execute/DrawProblem.h"

#include <cmath>
#include <limits>

using namespace tessera;
using namespace tessera::test;

/// The first tile of igemm for the copies of `problem`, split or not.
static std::optional<TileConfig> getTile(ConvProblem problem, bool isSplit) {
  if (!getSplitF32().check(problem, getTarget()).isOk())
    return std::nullopt;
  problem.dataType = DataType::BF16;
  problem.xLayout = problem.wLayout = problem.yLayout = Layout::NHWC;
  constexpr int64_t kCopies = 6;
  (problem.direction == Direction::Forward        ? problem.inChannels
   : problem.direction == Direction::BackwardData ? problem.outChannels
                                                  : problem.batch) *= kCopies;
  for (const Candidate &candidate :
       getImplicitGemm().getCandidates(problem, getTarget()))
    if ((candidate.tile.parameters.find("-s") != std::string::npos) == isSplit)
      return TileConfig{"bf16x6", candidate.tile.toText()};
  return std::nullopt;
}

static void checkSplit(const ConvProblem &problem, reference::DataKind kind,
                       bool isSplit = false) {
  auto tile = getTile(problem, isSplit);
  ASSERT_TRUE(tile) << problem.toNetworkConfig();
  auto engine = makeEngine(std::make_shared<FixedTileCompiler>(*tile));
  ASSERT_NE(engine, nullptr);
  checkConv(*engine, problem, kind);
}

class SplitF32 : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Random, SplitF32, testing::Range(0, 36));

// All directions, each tensor channels first or last on its own, groups, odd
// channels, depth. Judged as f32 is: a lost product of parts is an error.
TEST_P(SplitF32, MatchesTheReference) {
  const int index = GetParam();
  ProblemSpace space;
  space.types = {DataType::F32};
  space.strided = false;
  space.maxFlops = 2e6;
  ConvProblem p = drawProblem(getSeed() + 63, index, space);
  const int layouts = index % 8;
  auto pick = [&](int bit) {
    return layouts >> bit & 1 ? Layout::NCHW : Layout::NHWC;
  };
  p.xLayout = pick(0);
  p.wLayout = pick(1);
  p.yLayout = pick(2);
  p.epilogue.residual = p.epilogue.beta = false;
  p = p.canonicalize();
  if (!p.verify().isOk() || !getTile(p, /*isSplit=*/false))
    GTEST_SKIP() << "a problem of another algorithm";
  checkSplit(p, reference::DataKind::Uniform);
}

static ConvProblem makeProblem(Direction direction, Layout layout) {
  ConvProblem p;
  p.direction = direction;
  p.xLayout = p.wLayout = p.yLayout = layout;
  p.batch = 2;
  p.inChannels = 24;
  p.outChannels = 40;
  p.in = {9, 10};
  p.filter = {3, 3};
  p.pad = {1, 1};
  return p;
}

// The workspace has the partial results in front of the copies.
TEST(SplitF32Tiles, LeaveSplitsTheirWorkspace) {
  ConvProblem p = makeProblem(Direction::BackwardWeights, Layout::NCHW);
  p.in = {16, 16};
  checkSplit(p, reference::DataKind::Uniform, /*isSplit=*/true);
}

/// Runs `problem` with the given x and filters of one, and returns y.
static std::vector<float> runForward(const ConvProblem &problem,
                                     const std::vector<float> &x,
                                     float weight) {
  std::vector<float> y(problem.getOutputElements());
  auto tile = getTile(problem, /*isSplit=*/false);
  EXPECT_TRUE(tile);
  auto engine = makeEngine(std::make_shared<FixedTileCompiler>(*tile));
  auto kernel = engine->prepare(problem);
  EXPECT_TRUE(kernel) << kernel.getStatus().getMessage();
  const std::vector<float> w(problem.getFilterElements(), weight);
  const GpuApi &gpu = engine->getGpu();
  DeviceTensors tensors(gpu);
  auto add = [&](const std::vector<float> &values) {
    return tensors.add(reinterpret_cast<const char *>(values.data()),
                       values.size() * sizeof(float));
  };
  LaunchArgs args;
  args.x = add(x);
  args.w = add(w);
  args.y = add(y);
  args.workspace = tensors.add(nullptr, (*kernel)->getKernel().workspaceBytes);
  EXPECT_TRUE(engine->launch(**kernel, nullptr, args).isOk());
  EXPECT_EQ(gpu.hipMemcpy(y.data(), args.y, y.size() * sizeof(float),
                          hipMemcpyDeviceToHost),
            hipSuccess);
  return y;
}

// One tap, one output channel: each output is the sum of a pixel's channels.
TEST(SplitF32Tiles, KeepInfinitiesAndLargeNumbers) {
  ConvProblem p = makeProblem(Direction::Forward, Layout::NHWC);
  p.filter = {1, 1};
  p.pad = {};
  p.batch = 1;
  p.in = {1, 4};
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kMax = std::numeric_limits<float>::max();
  std::vector<float> x(p.getInputElements(), 0.0f);
  const int64_t channels = p.inChannels, outputs = p.outChannels;
  x[0] = kInf;
  x[channels] = -kInf;
  x[2 * channels] = std::numeric_limits<float>::quiet_NaN();
  x[3 * channels] = kMax; // The nearest bf16 is infinity.
  const std::vector<float> y = runForward(p, x, 1.0f);
  EXPECT_EQ(y[0], kInf);
  EXPECT_EQ(y[outputs], -kInf);
  EXPECT_TRUE(std::isnan(y[2 * outputs]));
  EXPECT_EQ(y[3 * outputs], kMax);
}

//===- SplitDataTest.cpp - Forward and backward data in splits ------------===//
//
// Runs split reductions of forward and backward data, whose splits are shares
// of the channels, and compares them with the oracle. Backward weights has its
// splits in ConvBackwardTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"
#include "compiler/Algorithms/Registry.h"
#include "test/unit/execute/ConvFixture.h"
#include "test/unit/execute/DrawProblem.h"

#include <optional>

using namespace tessera;
using namespace tessera::test;

static constexpr Direction kDirections[] = {Direction::Forward,
                                            Direction::BackwardData};

/// A small tile of the chip's matrix unit for `type`, if it has one.
static GemmTile getTile(DataType type, int splits) {
  const GpuTarget &target = getTarget();
  const bool isWide = type == DataType::F32;
  const bool isWave32 = target.waveSize == 32;
  const bool hasWmma = target.matrixUnit == MatrixUnit::WmmaGfx11 ||
                       target.matrixUnit == MatrixUnit::WmmaGfx12;
  const bool hasMatrix =
      target.matrixUnit != MatrixUnit::None && !(hasWmma && isWide);
  GemmTile tile = {64, 64, isWide ? 16 : 32, 2, 2, 2, "fma"};
  if (hasMatrix)
    tile.mma = hasWmma ? "wmma16" : "mfma32";
  if (!hasMatrix && isWave32)
    tile.n = 32;
  tile.splits = splits;
  return tile;
}

static void checkSplits(const ConvProblem &problem, const GemmTile &tile,
                        reference::DataKind kind) {
  auto engine =
      makeEngine(std::make_shared<FixedTileCompiler>(tile.toConfig()));
  ASSERT_NE(engine, nullptr);
  checkConv(*engine, problem, kind);
  auto kernel = engine->prepare(problem);
  ASSERT_TRUE(kernel) << kernel.getStatus().getMessage();
  EXPECT_GT((*kernel)->getKernel().workspaceBytes, 0u);
}

/// The channels of a group that `problem` reduces over, times the groups.
static int64_t &getReduced(ConvProblem &problem) {
  return problem.direction == Direction::Forward ? problem.inChannels
                                                 : problem.outChannels;
}

/// Returns an NHWC convolution of odd lengths, whose reduced channels are
/// `channels`.
static ConvProblem makeOdd(Direction direction, DataType type,
                           int64_t channels) {
  ConvProblem p;
  p.direction = direction;
  p.dataType = type;
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  p.batch = 2;
  p.inChannels = p.outChannels = 37;
  p.in = {9, 7};
  p.filter = {3, 3};
  p.pad = {1, 1};
  getReduced(p) = channels;
  return p;
}

class SplitData : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Random, SplitData, testing::Range(0, 48));

// Random problems are right in two and three splits, whatever their shape,
// groups, type, layout, depth and epilogue.
TEST_P(SplitData, MatchesTheReference) {
  ProblemSpace space;
  space.directions = {kDirections[0], kDirections[1]};
  space.types = {DataType::F16, DataType::BF16, DataType::F32};
  space.strided = false;
  space.maxFlops = 10e6;
  ConvProblem p = drawProblem(getSeed() + 23, GetParam(), space);
  // Exponentials have tests of their own.
  if (p.epilogue.activation != Activation::None)
    p.epilogue.activation = Activation::LeakyRelu;
  p.mathType = MathType::Exact;
  const int splits = 2 + GetParam() / 6 % 2;
  getReduced(p) *= splits;
  checkSplits(p, getTile(p.dataType, splits), reference::DataKind::Uniform);
}

// Channels are walked in whole iterations, in whole steps and element by
// element, taps inside or outside, in each layout, at strides that give pixels
// different taps, and in groups. Integers show a missing or repeated product.
TEST(SplitData, IsExactOnIntegers) {
  int64_t number = 0;
  for (Direction direction : kDirections)
    for (DataType type : {DataType::F16, DataType::F32})
      for (Layout layout : {Layout::NHWC, Layout::NCHW})
        for (int64_t channels : {256, 96, 15})
          for (int64_t stride : {1, 2}) {
            if (!isTurn(number++ / 2 + stride))
              continue;
            ConvProblem p = makeOdd(direction, type, channels);
            p.xLayout = p.wLayout = p.yLayout = layout;
            p.stride = {stride, 1};
            if (channels == 96) {
              p.groups = 2;
              p.inChannels *= 2;
              p.outChannels *= 2;
            }
            const int splits = channels == 256 ? 4 : 3;
            checkSplits(p, getTile(type, splits), reference::DataKind::Integer);
          }
}

// A pointwise convolution, and results with gaps between their pixels.
TEST(SplitData, StoresGapsExactly) {
  for (Direction direction : kDirections) {
    ConvProblem p = makeOdd(direction, DataType::F16, 128);
    p.filter = {1, 1};
    p.pad = {0, 0};
    checkSplits(p, getTile(p.dataType, 2), reference::DataKind::Integer);
    ProblemSpace space;
    space.directions = {direction};
    space.types = {DataType::F16};
    space.epilogues = false;
    space.maxFlops = 10e6;
    int checked = 0;
    for (int i = 0; i < 200 && checked < 6; ++i) {
      ConvProblem drawn = drawProblem(getSeed() + 29, i, space);
      if (drawn.xLayout != Layout::Strided && drawn.yLayout != Layout::Strided)
        continue;
      if (getReduced(drawn) / drawn.groups % 2 != 0)
        continue;
      checkSplits(drawn, getTile(drawn.dataType, 2),
                  reference::DataKind::Uniform);
      ++checked;
    }
    EXPECT_EQ(checked, 6);
  }
}

// The launch that adds the splits applies the epilogue, once: each of its terms
// and all of them, and every activation.
TEST(SplitData, AppliesEveryEpilogue) {
  for (Direction direction : kDirections)
    for (DataType type : {DataType::F16, DataType::BF16, DataType::F32}) {
      const GemmTile tile = getTile(type, 2);
      for (int terms = 1; terms < 16; ++terms) {
        if (!isTurn(terms))
          continue;
        ConvProblem p = makeOdd(direction, type, 64);
        p.batch = 1;
        p.epilogue.alpha = terms & 1;
        p.epilogue.beta = terms & 2;
        p.epilogue.bias = terms & 4;
        p.epilogue.residual = terms & 8;
        checkSplits(p, tile, reference::DataKind::Uniform);
      }
    }
  for (int activation = 1; activation <= static_cast<int>(Activation::Clamp);
       ++activation) {
    ConvProblem p = makeOdd(Direction::Forward, DataType::F16, 64);
    p.batch = 1;
    p.epilogue.bias = true;
    p.epilogue.activation = static_cast<Activation>(activation);
    checkSplits(p, getTile(p.dataType, 2), reference::DataKind::Uniform);
  }
}

// Splits that are added by atomics are right, too; a chip without such an
// instruction says so.
TEST(SplitData, AddsByAtomicsExactly) {
  for (Direction direction : kDirections)
    for (DataType type : {DataType::F16, DataType::F32}) {
      ConvProblem p = makeOdd(direction, type, 64);
      p.stride = {2, 2};
      GemmTile tile = getTile(type, 4);
      tile.isAtomic = true;
      auto engine =
          makeEngine(std::make_shared<FixedTileCompiler>(tile.toConfig()));
      ASSERT_NE(engine, nullptr);
      if (getTarget().hasFloatAtomics) {
        checkConv(*engine, p, reference::DataKind::Integer);
        continue;
      }
      const Status status = engine->prepare(p).getStatus();
      EXPECT_NE(status.getMessage().find("has no instruction that adds"),
                std::string::npos)
          << status.getMessage();
    }
}

// Of every type the cheapest tile with splits that the model offers is right,
// and the reduction of i8 is exact in i32.
TEST(SplitData, RunsWhatTheModelOffers) {
  for (Direction direction : kDirections)
    for (DataType type :
         {DataType::F16, DataType::BF16, DataType::F32, DataType::I8}) {
      ConvProblem p = makeOdd(direction, type, 256);
      p.batch = 1;
      if (type == DataType::I8 && direction != Direction::Forward)
        continue;
      std::optional<Candidate> best;
      for (const Candidate &candidate :
           getImplicitGemm().getCandidates(p, getTarget()))
        if (parseGemmTile(candidate.tile)->splits > 1 &&
            (!best || candidate.cost < best->cost))
          best = candidate;
      ASSERT_TRUE(best) << p.toNetworkConfig();
      checkSplits(p, *parseGemmTile(best->tile), reference::DataKind::Integer);
    }
}

//===- DoubleTest.cpp - Convolutions of f64 by tiles ----------------------===//
//
// Random problems draw f64, too (DrawProblem.h), but small ones are seldom
// given the tiles that large ones are. Here each tile that the model knows for
// a problem of f64 is taken, with epilogues and split reductions, and results
// must be right to the last bits of f64: a product or an epilogue of f32 is off
// by millions of times the tolerance.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"
#include "compiler/Algorithms/Registry.h"
#include "test/unit/execute/ConvFixture.h"
#include "test/unit/execute/DrawProblem.h"

#include <map>

using namespace tessera;
using namespace tessera::test;

/// Of the tiles of igemm for `problem` one for each shape, the split ones
/// alike.
static std::vector<TileConfig> findTiles(const ConvProblem &problem) {
  std::map<std::string, TileConfig> tiles;
  for (const Candidate &candidate :
       getImplicitGemm().getCandidates(problem, getTarget())) {
    GemmTile tile = *parseGemmTile(candidate.tile);
    const bool isSplit = tile.splits > 1;
    tile.splits = 1;
    tiles.try_emplace(tile.toConfig().toText() + (isSplit ? "-s" : ""),
                      candidate.tile);
  }
  std::vector<TileConfig> found;
  for (const auto &[text, tile] : tiles)
    found.push_back(tile);
  return found;
}

static void checkTiles(const ConvProblem &problem, reference::DataKind kind) {
  for (const TileConfig &tile : findTiles(problem)) {
    SCOPED_TRACE(tile.toText());
    auto engine = makeEngine(std::make_shared<FixedTileCompiler>(tile));
    ASSERT_NE(engine, nullptr);
    checkConv(*engine, problem, kind);
  }
}

class Double : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Random, Double, testing::Range(0, 18));

// Whatever the direction, shape, groups, layout, depth, gaps and epilogue.
TEST_P(Double, MatchesTheReference) {
  ProblemSpace space;
  space.types = {DataType::F64};
  space.maxFlops = 3e6;
  checkTiles(drawProblem(getSeed() + 64, GetParam(), space),
             reference::DataKind::Uniform);
}

// Odd lengths in each direction and layout, with channels that are walked in
// whole iterations or element by element, and every term of an epilogue.
// Integers show a missing or repeated product.
TEST(Double, IsExactOnIntegers) {
  for (Direction direction : {Direction::Forward, Direction::BackwardData,
                              Direction::BackwardWeights})
    for (Layout layout : {Layout::NHWC, Layout::NCHW}) {
      ConvProblem p;
      p.direction = direction;
      p.dataType = DataType::F64;
      p.xLayout = p.wLayout = p.yLayout = layout;
      p.batch = 4;
      p.inChannels = layout == Layout::NHWC ? 32 : 19;
      p.outChannels = 37;
      if (direction == Direction::BackwardData)
        std::swap(p.inChannels, p.outChannels);
      p.in = {9, 7};
      p.filter = {3, 3};
      p.pad = {1, 1};
      p.epilogue = {.alpha = true,
                    .beta = true,
                    .bias = true,
                    .residual = true,
                    .activation = Activation::LeakyRelu};
      checkTiles(p, reference::DataKind::Integer);
    }
}

// The model offers tiles of the matrix unit on chips whose unit multiplies f64,
// and splits for backward weights.
TEST(Double, HasTilesOfTheMatrixUnit) {
  const MatrixUnit unit = getTarget().matrixUnit;
  if (unit != MatrixUnit::MfmaCdna2 && unit != MatrixUnit::MfmaCdna3 &&
      unit != MatrixUnit::MfmaCdna4)
    GTEST_SKIP() << "the chip multiplies no f64 by matrix instructions";
  ConvProblem p;
  p.direction = Direction::BackwardWeights;
  p.dataType = DataType::F64;
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  p.batch = 16;
  p.inChannels = p.outChannels = 64;
  p.in = {14, 14};
  int split = 0;
  for (const Candidate &candidate :
       getImplicitGemm().getCandidates(p, getTarget())) {
    GemmTile tile = *parseGemmTile(candidate.tile);
    EXPECT_EQ(tile.mma, "mfma16");
    split += tile.splits > 1;
  }
  EXPECT_GT(split, 0);
}

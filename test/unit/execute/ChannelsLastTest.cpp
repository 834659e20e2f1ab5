//===- ChannelsLastTest.cpp - Tensors transposed around a product ---------===//
//
// The launches that transpose and the product between them, in every direction
// and type, with lengths that tiles of the transposition do not divide.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Algorithms/Registry.h"
#include "test/unit/execute/ConvFixture.h"
#include "test/unit/execute/DrawProblem.h"

#include <functional>

using namespace tessera;
using namespace tessera::test;

/// The first of the candidates for which `isWanted` holds; none where the
/// problem has none.
static std::optional<TileConfig>
findTile(const ConvProblem &problem,
         const std::function<bool(std::string_view)> &isWanted) {
  if (!getChannelsLast().check(problem, getTarget()).isOk())
    return std::nullopt;
  for (const Candidate &candidate :
       getChannelsLast().getCandidates(problem, getTarget()))
    if (isWanted(candidate.tile.parameters))
      return candidate.tile;
  return std::nullopt;
}

static std::optional<TileConfig>
getTile(const ConvProblem &problem, bool isSplit, bool isFilterAlone = false) {
  return findTile(problem, [=](std::string_view inner) {
    return (inner.find("-s") != std::string_view::npos) == isSplit &&
           inner.starts_with("w-") == isFilterAlone;
  });
}

static void checkTile(const ConvProblem &problem, reference::DataKind kind,
                      const std::optional<TileConfig> &tile) {
  ASSERT_TRUE(tile) << problem.toNetworkConfig();
  auto engine = makeEngine(std::make_shared<FixedTileCompiler>(*tile));
  ASSERT_NE(engine, nullptr);
  checkConv(*engine, problem, kind);
}

static void checkTransposed(const ConvProblem &problem,
                            reference::DataKind kind, bool isSplit = false,
                            bool isFilterAlone = false) {
  checkTile(problem, kind, getTile(problem, isSplit, isFilterAlone));
}

class ChannelsLast : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Random, ChannelsLast, testing::Range(0, 48));

// Each tensor is channels first or last on its own; channels and pixels are
// many or one.
TEST_P(ChannelsLast, MatchesTheReference) {
  const int index = GetParam();
  ProblemSpace space;
  space.strided = false;
  space.maxFlops = 4e6;
  ConvProblem p = drawProblem(getSeed() + 31, index, space);
  // Every combination but channels last alone.
  const int layouts = 1 + index % 7;
  auto pick = [&](int bit) {
    return layouts >> bit & 1 ? Layout::NCHW : Layout::NHWC;
  };
  p.xLayout = pick(0);
  p.wLayout = pick(1);
  p.yLayout = pick(2);
  // Every sixth problem has images of one pixel, and may add a second tensor to
  // the result.
  if (index % 6 == 0)
    p.in = p.filter = p.stride = p.dilation = {}, p.pad = p.extraPad = {};
  else
    p.epilogue.residual = p.epilogue.beta = false;
  p = p.canonicalize();
  if (!p.verify().isOk() || !getTile(p, /*isSplit=*/false))
    GTEST_SKIP() << "nothing to transpose, or a problem of another algorithm";
  checkTransposed(p, reference::DataKind::Uniform);
  if (getTile(p, /*isSplit=*/false, /*isFilterAlone=*/true))
    checkTransposed(p, reference::DataKind::Uniform, /*isSplit=*/false,
                    /*isFilterAlone=*/true);
}

/// Several tiles of 64 in each dimension of the matrices, none of them whole
/// unless `channels` and `size` make them so.
static ConvProblem makeProblem(Direction direction, DataType type,
                               int64_t channels, int64_t size) {
  ConvProblem p;
  p.direction = direction;
  p.dataType = type;
  p.batch = 2;
  p.inChannels = channels;
  p.outChannels = channels + 8;
  p.in = {size, size};
  p.filter = {3, 3};
  p.pad = {1, 1};
  return p;
}

static constexpr Direction kDirections[] = {
    Direction::Forward, Direction::BackwardData, Direction::BackwardWeights};

// Products of small integers: an element in the wrong row of a tile cannot hide
// in rounding. 8 by 8 pixels are loaded 16 bytes at a time, 14 by 14 eight, 9
// by 9 one element; 72 channels and 75.
TEST(ChannelsLastTiles, AreExactOnIntegers) {
  int64_t number = 0;
  for (Direction direction : kDirections)
    for (DataType type : {DataType::F16, DataType::F32})
      for (int64_t size : {8, 9, 14})
        for (int64_t channels : {72, 75})
          if (isTurn(number++ / 2 + channels))
            checkTransposed(makeProblem(direction, type, channels, size),
                            reference::DataKind::Integer);
}

// The filter alone is transposed where another tensor could be, too, and is not
// the result.
TEST(ChannelsLastTiles, TransposeTheFilterAlone) {
  for (Direction direction : {Direction::Forward, Direction::BackwardData})
    for (DataType type : {DataType::F16, DataType::F32})
      for (int64_t channels : {64, 75})
        checkTransposed(makeProblem(direction, type, channels, 9),
                        reference::DataKind::Integer, /*isSplit=*/false,
                        /*isFilterAlone=*/true);
  // The result stays as it is, so that an epilogue may add a tensor to it.
  ConvProblem residual = makeProblem(Direction::Forward, DataType::F16, 64, 9);
  residual.epilogue.residual = true;
  EXPECT_FALSE(getTile(residual, /*isSplit=*/false));
  checkTransposed(residual, reference::DataKind::Integer, /*isSplit=*/false,
                  /*isFilterAlone=*/true);
  auto refuses = [](const ConvProblem &problem) {
    return !getTile(problem, /*isSplit=*/false, /*isFilterAlone=*/true);
  };
  ConvProblem p = makeProblem(Direction::BackwardWeights, DataType::F16, 64, 9);
  EXPECT_TRUE(refuses(p));
  p = makeProblem(Direction::Forward, DataType::F16, 64, 9);
  p.xLayout = p.yLayout = Layout::NHWC;
  EXPECT_TRUE(refuses(p));
  p = makeProblem(Direction::Forward, DataType::F16, 64, 9);
  p.filter = {1, 1};
  p.pad = {};
  EXPECT_TRUE(refuses(p));
}

// The filter of backward data has output channels last where those of a group
// are whole chunks, and input channels elsewhere: groups, strides, splits,
// depth and unequal sides show a stride that is another's.
TEST(ChannelsLastTiles, PutOutputsLastForBackwardData) {
  int64_t number = 0;
  for (DataType type : {DataType::F16, DataType::F32, DataType::F64})
    for (int64_t outputs : {48, 36, 38})
      for (int64_t groups : {1, 2})
        for (bool isDeep : {false, true}) {
          if (!isTurn(number++ / 2 + isDeep))
            continue;
          ConvProblem p = makeProblem(Direction::BackwardData, type, 20, 9);
          p.batch = 1;
          p.groups = groups;
          p.inChannels *= groups;
          p.outChannels = outputs * groups;
          p.filter = {3, 2};
          p.stride = {1, isDeep ? 1 : 2};
          p.in = {9, 6};
          if (isDeep) {
            p.in.d = 3;
            p.filter.d = 2;
          }
          checkTransposed(p, reference::DataKind::Integer, /*isSplit=*/false,
                          /*isFilterAlone=*/true);
        }
  checkTransposed(makeProblem(Direction::BackwardData, DataType::F16, 120, 9),
                  reference::DataKind::Integer, /*isSplit=*/true,
                  /*isFilterAlone=*/true);
}

// A stem's filter lies behind its image, and its result behind both.
TEST(ChannelsLastTiles, FindTheFilterOfAStem) {
  for (DataType type : {DataType::F16, DataType::F32}) {
    ConvProblem p = makeProblem(Direction::Forward, type, 3, 20);
    p.outChannels = 32;
    p.stride = {2, 2};
    checkTile(p, reference::DataKind::Integer,
              findTile(p, [](std::string_view inner) {
                return inner.starts_with("stem-");
              }));
  }
}

// Where the caller has no workspace, the choice is a kernel that needs none.
TEST(ChannelsLastTiles, AreNotChosenWithoutAWorkspace) {
  for (Direction direction : kDirections)
    for (DataType type : {DataType::F16, DataType::F32}) {
      const ConvProblem problem = makeProblem(direction, type, 64, 9);
      auto ranked =
          rankTiles(Problem(problem).asWithoutWorkspace(), getTarget());
      ASSERT_TRUE(ranked) << ranked.getStatus().getMessage();
      auto engine =
          makeEngine(std::make_shared<FixedTileCompiler>(ranked->front().tile));
      ASSERT_NE(engine, nullptr);
      auto kernel = engine->prepare(problem);
      ASSERT_TRUE(kernel) << kernel.getStatus().getMessage();
      EXPECT_EQ((*kernel)->getKernel().workspaceBytes, 0u);
      checkConv(*engine, problem, reference::DataKind::Uniform);
    }
}

// The workspace has the partial results in front of the tensors.
TEST(ChannelsLastTiles, LeaveSplitsTheirWorkspace) {
  checkTransposed(
      makeProblem(Direction::BackwardWeights, DataType::F16, 64, 16),
      reference::DataKind::Uniform, /*isSplit=*/true);
}

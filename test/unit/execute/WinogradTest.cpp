//===- WinogradTest.cpp - Transforms around a product ---------------------===//
//
// Tiles of 2 by 2 and of 4 by 4 pixels, in every direction and layout: images
// that tiles do not divide, channels that vectors do not divide, and each
// padding.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Algorithms/Registry.h"
#include "test/unit/execute/ConvFixture.h"
#include "test/unit/execute/DrawProblem.h"

#include <iostream>

using namespace tessera;
using namespace tessera::test;

/// The best tile of `size` ("f2-" or "f4-"); none if there is none.
static std::optional<TileConfig> getTile(const ConvProblem &problem,
                                         std::string_view size) {
  if (!getWinograd().check(problem, getTarget()).isOk())
    return std::nullopt;
  std::optional<Candidate> best;
  for (const Candidate &candidate :
       getWinograd().getCandidates(problem, getTarget()))
    if (candidate.tile.parameters.starts_with(size) &&
        (!best || candidate.cost < best->cost))
      best = candidate;
  return best ? std::optional(best->tile) : std::nullopt;
}

static void checkTile(const ConvProblem &problem, std::string_view size,
                      reference::DataKind kind) {
  auto tile = getTile(problem, size);
  ASSERT_TRUE(tile) << problem.toNetworkConfig();
  auto engine = makeEngine(std::make_shared<FixedTileCompiler>(*tile));
  ASSERT_NE(engine, nullptr);
  checkConv(*engine, problem, kind);
}

static constexpr Direction kDirections[] = {
    Direction::Forward, Direction::BackwardData, Direction::BackwardWeights};

class WinogradRandom : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Random, WinogradRandom, testing::Range(0, 48));

// Layouts, lengths, gaps in memory and epilogues as they come; a window of 3x3
// with 0 to 2 pixels of padding at each end.
TEST_P(WinogradRandom, MatchesTheReference) {
  const int index = GetParam();
  ProblemSpace space;
  space.directions.assign(std::begin(kDirections), std::end(kDirections));
  space.types = {DataType::F32};
  if (getTarget().matrixUnit == MatrixUnit::None)
    space.types = {DataType::F32, DataType::F16, DataType::BF16};
  space.depth = false;
  space.maxFlops = 3e6;
  ConvProblem p = drawProblem(getSeed() + 47, index, space);
  p.groups = 1;
  p.filter = {3, 3};
  p.stride = p.dilation = {};
  p.batch = 1 + index % 3;
  p.in.h = 9 + index % 7;
  p.in.w = 7 + index % 11;
  p.inChannels = p.inChannels % 40 + 1;
  p.outChannels = p.outChannels % 40 + 1;
  p.pad = {index % 3, index / 3 % 3};
  p.setPadAfter({index / 9 % 3, (index + index / 9) % 3});
  const bool isLarge = index % 2 == 1;
  if (isLarge) {
    if (p.direction == Direction::BackwardWeights) {
      p.batch += 4;
    } else {
      p.inChannels += 48;
      p.outChannels += 48;
      p.pad = {1, 1};
      p.extraPad = {};
    }
  }
  // Gaps are those of the lengths that were drawn.
  for (Layout *layout : {&p.xLayout, &p.wLayout, &p.yLayout})
    if (*layout == Layout::Strided)
      *layout = Layout::NHWC;
  p = p.canonicalize();
  ASSERT_TRUE(p.verify().isOk()) << p.verify().getMessage();
  checkTile(p, isLarge ? "f4-" : "f2-", reference::DataKind::Uniform);
}

static ConvProblem makeProblem(Direction direction, Layout layout,
                               int64_t channels, Spatial in, Pads pad) {
  ConvProblem p;
  p.direction = direction;
  p.xLayout = p.wLayout = p.yLayout = layout;
  p.batch = 4;
  p.inChannels = channels;
  p.outChannels = channels + 3;
  p.in = in;
  p.filter = {3, 3};
  p.pad = pad;
  return p;
}

// The matrices of small tiles are dyadic, so that sums of small integers are
// exact: an element in the wrong position cannot hide in rounding.
TEST(Winograd, IsExactOnIntegers) {
  for (Direction direction : kDirections)
    for (Layout layout : {Layout::NHWC, Layout::NCHW})
      for (int64_t channels : {5, 16})
        for (auto [in, pad] : {std::pair{Spatial{8, 6}, Pads{1, 1}},
                               std::pair{Spatial{7, 9}, Pads{0, 2}},
                               std::pair{Spatial{2, 4}, Pads{1, 1}}})
          checkTile(makeProblem(direction, layout, channels, in, pad), "f2-",
                    reference::DataKind::Integer);
}

// Padding that differs between the ends, in both sizes of tiles.
TEST(Winograd, PadsEachEndByItself) {
  for (Direction direction : kDirections)
    for (Layout layout : {Layout::NHWC, Layout::NCHW}) {
      ConvProblem p = makeProblem(direction, layout, 16, {7, 6}, {2, 0});
      p.setPadAfter({0, 1});
      checkTile(p, "f2-", reference::DataKind::Integer);
      ConvProblem wide = makeProblem(direction, layout, 48, {9, 10}, {1, 1});
      wide.setPadAfter(direction == Direction::Forward ? Pads{0, 1}
                                                       : Pads{2, 1});
      checkTile(wide, "f4-", reference::DataKind::Uniform);
    }
}

// Gaps between images, lines and pixels of x and y, whose channels or pixels
// are innermost.
TEST(Winograd, LeavesGapsAlone) {
  for (Direction direction : kDirections)
    for (std::string_view size : {"f2-", "f4-"}) {
      ConvProblem p = makeProblem(direction, Layout::NHWC, 48, {10, 9}, {1, 1});
      p.xLayout = p.yLayout = Layout::Strided;
      p.xStrides = {.n = 4804, .c = 1, .h = 478, .w = 53};
      p.yStrides = {.n = 51 * 101, .c = 101, .h = 10, .w = 1};
      ASSERT_TRUE(p.verify().isOk()) << p.verify().getMessage();
      checkTile(p, size, reference::DataKind::Uniform);
    }
}

// Bias, activation, and tensors of the result's shape: in lines of pixels and
// in blocks of channels.
TEST(Winograd, AppliesEpilogues) {
  for (Direction direction : kDirections)
    for (Layout layout : {Layout::NHWC, Layout::NCHW})
      for (std::string_view size : {"f2-", "f4-"}) {
        ConvProblem p = makeProblem(direction, layout, 48, {8, 8}, {1, 1});
        p.epilogue = {.alpha = true, .beta = true};
        checkTile(p, size, reference::DataKind::Uniform);
        p.epilogue = {
            .bias = true, .residual = true, .activation = Activation::Relu};
        checkTile(p, size, reference::DataKind::Uniform);
      }
}

// The workspace has the partial results of a split product in front.
TEST(Winograd, LeavesSplitsTheirWorkspace) {
  for (Layout layout : {Layout::NHWC, Layout::NCHW}) {
    const ConvProblem p =
        makeProblem(Direction::BackwardWeights, layout, 20, {15, 13}, {1, 1});
    std::optional<TileConfig> split;
    for (const Candidate &candidate :
         getWinograd().getCandidates(p, getTarget()))
      if (candidate.tile.parameters.find("-s") != std::string::npos)
        split = candidate.tile;
    ASSERT_TRUE(split);
    auto engine = makeEngine(std::make_shared<FixedTileCompiler>(*split));
    ASSERT_NE(engine, nullptr);
    checkConv(*engine, p, reference::DataKind::Uniform);
  }
}

// A corner pixel with one tap in the image and two channels has a small sum,
// and the rounding errors of its tile's.
TEST(Winograd, JudgesCornersByTheirTile) {
  ConvProblem p =
      makeProblem(Direction::Forward, Layout::NHWC, 2, {12, 9}, {0, 2});
  p.batch = 1;
  p.outChannels = 33;
  p.setPadAfter({2, 2});
  auto tile = getTile(p, "f2-");
  ASSERT_TRUE(tile);
  auto engine = makeEngine(std::make_shared<FixedTileCompiler>(*tile));
  ASSERT_NE(engine, nullptr);
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const ConvOutcome outcome =
        runConv(*engine, p, reference::DataKind::Uniform, seed);
    EXPECT_TRUE(outcome.passed()) << outcome.toText();
  }
}

/// The errors with the best tile of igemm, or of `size`.
static reference::Report measureError(const ConvProblem &problem,
                                      std::string_view size) {
  auto tile = getTile(problem, size);
  if (size.empty())
    tile = getImplicitGemm().getCandidates(problem, getTarget()).front().tile;
  EXPECT_TRUE(tile);
  auto engine = makeEngine(std::make_shared<FixedTileCompiler>(*tile));
  const ConvOutcome outcome =
      runConv(*engine, problem, reference::DataKind::Uniform, getSeed());
  EXPECT_TRUE(outcome.passed()) << outcome.toText();
  return outcome.report;
}

// The errors that docs/design/0022-winograd.md states, next to those of a sum
// of all products; the test's report has the numbers.
TEST(Winograd, HasTheErrorThatIsStated) {
  for (auto [direction, channels] : {std::pair{Direction::Forward, 48},
                                     {Direction::Forward, 256},
                                     {Direction::BackwardWeights, 32}}) {
    ConvProblem p =
        makeProblem(direction, Layout::NHWC, channels, {14, 14}, {1, 1});
    p.batch = 2;
    const reference::Report sum = measureError(p, "");
    const reference::Report small = measureError(p, "f2-");
    const reference::Report large = measureError(p, "f4-");
    for (auto [name, report] : {std::pair{"sum", sum}, std::pair{"f2", small},
                                std::pair{"f4", large}})
      std::cout << getName(direction) << ", " << channels << " channels, "
                << name << ": norm " << report.relativeNorm << ", maximum "
                << report.relativeMaximum << "\n";
    EXPECT_LT(small.relativeNorm, sum.relativeNorm);
    EXPECT_LT(large.relativeNorm, 6 * sum.relativeNorm);
    EXPECT_GT(large.relativeNorm, sum.relativeNorm);
    EXPECT_LT(small.relativeMaximum, 2 * sum.relativeMaximum);
    EXPECT_LT(large.relativeMaximum, 15 * sum.relativeMaximum);
  }
}

// Where the caller has no workspace, or forbids the transforms, the choice is
// another algorithm.
TEST(Winograd, IsNotChosenWhereItIsForbidden) {
  ConvProblem p = makeProblem(Direction::Forward, Layout::NHWC, 64, {9, 9}, {});
  p.forbidsWinograd = true;
  EXPECT_FALSE(getTile(p, "f2-"));
  p.forbidsWinograd = false;
  ASSERT_TRUE(getTile(p, "f2-"));
  auto ranked = rankTiles(Problem(p).asWithoutWorkspace(), getTarget());
  ASSERT_TRUE(ranked) << ranked.getStatus().getMessage();
  for (const Candidate &candidate : *ranked)
    EXPECT_NE(candidate.tile.algorithm, "winograd");
}

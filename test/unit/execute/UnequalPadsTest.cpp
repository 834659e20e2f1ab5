//===- UnequalPadsTest.cpp - Padding that differs between the ends --------===//
//
// Each algorithm with more padding before the first element than after the last
// one, and with less: in each direction, at strides and dilations, of pixels in
// blocks that the image does not fill.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Registry.h"
#include "test/unit/execute/EveryAlgorithm.h"

#include <set>

using namespace tessera;
using namespace tessera::test;

static constexpr Direction kDirections[] = {
    Direction::Forward, Direction::BackwardData, Direction::BackwardWeights};

/// With and without taps that share pixels.
static std::string getKind(const TileConfig &tile) {
  const bool hasHalo = tile.parameters.find("-h") != std::string::npos;
  return tile.algorithm + (hasHalo ? "-h" : "");
}

static std::set<std::string> getNames(const std::vector<TileConfig> &tiles) {
  std::set<std::string> names;
  for (const TileConfig &tile : tiles)
    names.insert(tile.algorithm);
  return names;
}

/// Runs `problem` with each of its algorithms, which must be those of equal
/// padding, and adds their names to `ran`.
static void checkAll(const ConvProblem &problem, std::set<std::string> &ran) {
  ASSERT_TRUE(problem.verify().isOk()) << problem.verify().getMessage();
  ASSERT_TRUE(problem.canonicalize().hasUnequalPads())
      << problem.toNetworkConfig();
  ConvProblem equal = problem;
  equal.extraPad = {};
  EXPECT_EQ(getNames(getTiles(problem, getKind)),
            getNames(getTiles(equal, getKind)))
      << problem.toNetworkConfig();
  for (const TileConfig &tile : getTiles(problem, getKind)) {
    SCOPED_TRACE(tile.toText());
    auto engine = makeEngine(std::make_shared<FixedTileCompiler>(tile));
    ASSERT_NE(engine, nullptr);
    checkConv(*engine, problem, reference::DataKind::Integer);
    ran.insert(tile.algorithm);
  }
}

namespace {
/// A family of problems that one algorithm is made for.
struct PaddedFamily {
  const char *algorithm;
  DataType type;
  Layout layout;
  int64_t inChannels, outChannels, groups;
  Spatial filter;
  Spatial stride = {};
  Spatial dilation = {};
};
} // namespace

class UnequalPads : public testing::TestWithParam<PaddedFamily> {};

// Both ends of both dimensions, once with the longer padding before and once
// after; no padding at one end; padding beyond the filter's reach. The families
// cover every algorithm, and general and igemm take all of them.
TEST_P(UnequalPads, MatchTheReference) {
  const PaddedFamily &family = GetParam();
  std::set<std::string> ran;
  int64_t number = 0; // One or two pads for each direction.
  for (Direction direction : kDirections)
    for (auto [before, after] :
         {std::pair{Pads{1, 0}, Pads{0, 2}}, std::pair{Pads{0, 3}, Pads{2, 0}},
          std::pair{Pads{0, 0}, Pads{5, 6}}}) {
      if (!runsHere(number++))
        continue;
      ConvProblem p;
      p.direction = direction;
      p.dataType = family.type;
      p.xLayout = p.wLayout = p.yLayout = family.layout;
      p.batch = 2;
      p.inChannels = family.inChannels;
      p.outChannels = family.outChannels;
      p.groups = family.groups;
      p.in = {11, 12};
      p.filter = family.filter;
      p.stride = family.stride;
      p.dilation = family.dilation;
      p.pad = before;
      p.forbidsWinograd = true; // It takes little padding, in WinogradTest.cpp.
      p.setPadAfter(after);
      checkAll(p, ran);
      EXPECT_TRUE(getGeneralConv().check(p, getTarget()).isOk());
      EXPECT_TRUE(getImplicitGemm().check(p, getTarget()).isOk());
    }
  EXPECT_TRUE(ran.contains("general"));
  EXPECT_TRUE(ran.contains("igemm"));
  // NVIDIA's chips alone have the other algorithms.
  const std::set<std::string> everywhere = {"igemm", "stem", "depthwise",
                                            "nhwc"};
  if (getTarget().vendor == Vendor::Nvidia ||
      everywhere.contains(family.algorithm))
    EXPECT_TRUE(ran.contains(family.algorithm));
}

INSTANTIATE_TEST_SUITE_P(
    Families, UnequalPads,
    testing::Values(
        PaddedFamily{"igemm", DataType::F16, Layout::NHWC, 64, 64, 1, {3, 3}},
        PaddedFamily{"igemm", DataType::BF16, Layout::NHWC, 32, 32, 1, {1, 1}},
        PaddedFamily{"igemm", DataType::F32, Layout::NCHW, 8, 24, 1, {1, 1}},
        PaddedFamily{"igemm",
                     DataType::F16,
                     Layout::NHWC,
                     32,
                     40,
                     1,
                     {2, 3},
                     {2, 3},
                     {3, 2}},
        PaddedFamily{
            "stem", DataType::F16, Layout::NHWC, 3, 32, 1, {5, 4}, {2, 2}},
        PaddedFamily{
            "depthwise", DataType::F16, Layout::NHWC, 16, 16, 16, {3, 3}},
        PaddedFamily{
            "depthwise", DataType::F32, Layout::NCHW, 8, 8, 8, {3, 2}, {2, 2}},
        PaddedFamily{"groups", DataType::F16, Layout::NHWC, 64, 64, 8, {3, 3}},
        PaddedFamily{
            "toeplitz", DataType::BF16, Layout::NHWC, 32, 32, 32, {3, 3}},
        PaddedFamily{
            "packed", DataType::F16, Layout::NHWC, 3, 64, 1, {7, 7}, {2, 2}},
        PaddedFamily{"packed", DataType::BF16, Layout::NHWC, 67, 60, 1, {3, 3}},
        PaddedFamily{"nhwc", DataType::F16, Layout::NCHW, 64, 64, 1, {3, 3}}),
    [](const auto &info) {
      return std::string(info.param.algorithm) + std::to_string(info.index);
    });

// A causal convolution of a volume sees no frame that comes later: all padding
// of the time is before the first frame.
TEST(CausalVolume, MatchesTheReference) {
  for (Direction direction : kDirections)
    for (Layout layout : {Layout::NHWC, Layout::NCHW}) {
      ConvProblem p;
      p.direction = direction;
      p.dataType = DataType::F16;
      p.xLayout = p.wLayout = p.yLayout = layout;
      p.inChannels = 16;
      p.outChannels = 24;
      p.in = {6, 7, 5};
      p.filter = {3, 3, 3};
      p.pad = {1, 1, 2};
      p.extraPad.d = -2;
      ASSERT_EQ(p.getOutput(), p.in);
      std::set<std::string> ran;
      checkAll(p, ran);
      EXPECT_TRUE(ran.contains("igemm"));
    }
}

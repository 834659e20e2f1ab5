//===- WinogradTest.cpp - Where fewer products are worth transforms -------===//

#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Algorithms/Registry.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace tessera;

/// A layer of ResNet-50.
static ConvProblem makeLayer(DataType type = DataType::F32) {
  ConvProblem p;
  p.dataType = type;
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  p.batch = 64;
  p.inChannels = p.outChannels = 256;
  p.in = {14, 14};
  p.filter = {3, 3};
  p.pad = {1, 1};
  return p;
}

/// The algorithm that the model chooses, "winograd-f4" and the like with the
/// size of the tiles.
static std::string choose(const Problem &problem, const char *chip) {
  ErrorOr<TileConfig> tile = chooseTile(problem, *findTarget(chip));
  EXPECT_TRUE(tile) << tile.getStatus().getMessage();
  if (!tile)
    return "";
  return tile->algorithm == "winograd"
             ? "winograd-" + tile->parameters.substr(0, 2)
             : tile->algorithm;
}

static Status check(const ConvProblem &problem, const char *chip = "gfx942") {
  return getWinograd().check(problem, *findTarget(chip));
}

// Many channels pay for the transforms, forward and backward.
TEST(Winograd, IsChosenForManyChannels) {
  ConvProblem p = makeLayer();
  for (const char *chip : {"gfx90a", "gfx942", "gfx1100", "sm_80"})
    for (Direction direction : {Direction::Forward, Direction::BackwardData}) {
      p.direction = direction;
      EXPECT_EQ(choose(p, chip), "winograd-f4") << chip;
    }
  p.inChannels = p.outChannels = 16;
  EXPECT_EQ(choose(p, "gfx942"), "igemm");
}

// Types of 16 bits have matrix instructions, or are computed as f32 is.
// Products of pairs of halves have twice the rate, so that it takes more
// channels.
TEST(Winograd, LeavesHalvesToMatrixInstructions) {
  ConvProblem p = makeLayer(DataType::F16);
  for (const char *chip : {"gfx1030", "gfx906"})
    EXPECT_EQ(choose(p, chip), "igemm") << chip;
  p.inChannels = p.outChannels = 512;
  p.in = {28, 28};
  for (const char *chip : {"gfx1030", "gfx906"})
    EXPECT_EQ(choose(p, chip), "winograd-f4") << chip;
  EXPECT_FALSE(check(makeLayer(DataType::F16), "gfx942").isOk());
  EXPECT_FALSE(check(makeLayer(DataType::BF16), "gfx1100").isOk());
}

// Beside products of split f32, larger tiles are exact enough where a gradient
// has so many pixels that a plain sum is not more exact.
TEST(Winograd, HasLargeTilesForManyPixelsOnSm90) {
  ConvProblem p = makeLayer();
  p.direction = Direction::BackwardWeights;
  p.batch = 2;
  p.inChannels = p.outChannels = 640;
  p.in = {64, 64};
  EXPECT_EQ(choose(p, "sm_90"), "winograd-f4");
  p.batch = 1;
  p.in = {62, 62};
  EXPECT_EQ(choose(p, "sm_90"), "winograd-f2");
  p.direction = Direction::Forward;
  p.in = {64, 64};
  EXPECT_EQ(choose(p, "sm_90"), "winograd-f2");
}

// Exact products take three times as long as those of tf32 on sm_90, where that
// is allowed.
TEST(Winograd, LeavesTf32ToWgmma) {
  ConvProblem p = makeLayer();
  p.direction = Direction::BackwardWeights;
  p.batch = 32;
  p.inChannels = p.outChannels = 512;
  EXPECT_EQ(choose(p, "sm_90"), "winograd-f4");
  p.mathType = MathType::Tf32;
  EXPECT_EQ(choose(p, "sm_90"), "igemm");
  EXPECT_FALSE(check(p, "sm_90").isOk());
}

// Who forbids it, or has no workspace, gets another algorithm.
TEST(Winograd, CanBeForbidden) {
  ConvProblem p = makeLayer();
  EXPECT_EQ(choose(Problem(p).asWithoutWorkspace(), "gfx942"), "igemm");
  p.forbidsWinograd = true;
  EXPECT_EQ(choose(p, "gfx942"), "igemm");
  EXPECT_EQ(check(p).getMessage(), "is forbidden");
}

// What has no such form, or would need more than a client can give.
TEST(Winograd, RefusesOtherConvolutions) {
  std::vector<ConvProblem> problems(9, makeLayer());
  problems[0].direction = Direction::BackwardWeights;
  problems[0].batch = 1;
  problems[0].in = {5, 6};
  problems[1].dataType = DataType::F64;
  problems[2].stride = {2, 2};
  problems[3].dilation = {2, 2};
  problems[4].groups = 2;
  problems[5].filter = {3, 1};
  problems[6].pad = {1, 3};
  problems[7].setPadAfter({3, 1});
  problems[8].batch = 1 << 13;
  for (const ConvProblem &problem : problems) {
    ASSERT_TRUE(problem.verify().isOk());
    EXPECT_FALSE(check(problem).isOk()) << problem.toNetworkConfig();
  }
  EXPECT_TRUE(check(makeLayer()).isOk());
}

// Tiles of 4 by 4 round more: few channels, and windows that are mostly
// padding, are left to tiles of 2 by 2.
TEST(Winograd, KeepsTheErrorOfLargeTilesSmall) {
  auto hasLargeTiles = [](const ConvProblem &problem) {
    EXPECT_TRUE(check(problem).isOk());
    return std::ranges::any_of(
        getWinograd().getCandidates(problem, *findTarget("gfx942")),
        [](const Candidate &candidate) {
          return candidate.tile.parameters.starts_with("f4-");
        });
  };
  ConvProblem p = makeLayer();
  EXPECT_TRUE(hasLargeTiles(p));
  p.pad = {2, 2};
  EXPECT_FALSE(hasLargeTiles(p));
  p.direction = Direction::BackwardData;
  EXPECT_TRUE(hasLargeTiles(p));
  p.pad = {0, 0};
  EXPECT_FALSE(hasLargeTiles(p));
  p = makeLayer();
  for (auto [channels, isTaken] :
       {std::pair{47, false}, std::pair{48, true}, std::pair{1024, true},
        std::pair{1025, false}}) {
    p.inChannels = channels;
    EXPECT_EQ(hasLargeTiles(p), isTaken) << channels;
  }
  p.direction = Direction::BackwardWeights;
  p.pad = {2, 2};
  for (auto [batch, isTaken] :
       {std::pair{1, true}, std::pair{128, true}, std::pair{129, false}}) {
    p.batch = batch;
    EXPECT_EQ(hasLargeTiles(p), isTaken) << batch;
  }
  p.batch = 1;
  p.in = {9, 9}; // 121 pixels.
  EXPECT_FALSE(hasLargeTiles(p));
}

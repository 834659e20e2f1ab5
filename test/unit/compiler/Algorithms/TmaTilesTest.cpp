//===- TmaTilesTest.cpp - Which tile of wgmma the model prefers -----------===//
//
// Where an H100 told two tiles apart by more than its noise
// (docs/data/h100-resnet50-tiles.txt).
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/ChooseTile.h"

#include <gtest/gtest.h>

using namespace tessera;

static ConvProblem makeProblem(int64_t batch, int64_t channels, int64_t size,
                               int64_t filter, int64_t stride) {
  ConvProblem p;
  p.direction = Direction::Forward;
  p.dataType = DataType::BF16;
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  p.batch = batch;
  p.inChannels = p.outChannels = channels;
  p.in = {size, size};
  p.filter = {filter, filter};
  p.pad = {filter / 2, filter / 2};
  p.stride = {stride, stride};
  return p;
}

static std::string choose(const ConvProblem &p) {
  auto tile = chooseTile(p, *findTarget("sm_90"));
  return tile ? tile->parameters : tile.getStatus().getMessage();
}

// Over many turns a ring of 6 hides the bursts of a strided window that one of
// 4 does not: 113.1 us for 121.3.
TEST(TmaTiles, PrefersDeepRingsOverManyTurns) {
  EXPECT_EQ(choose(makeProblem(256, 128, 56, 3, 2)),
            "m128n128k64-w1x1-p6-wgmma");
}

// 132 tiles fill an H100 once, whatever their ring: 28.9 us, and 32.7 of 196
// tiles in two turns.
TEST(TmaTiles, PrefersOneTurnToDeepRings) {
  EXPECT_EQ(choose(makeProblem(64, 256, 28, 3, 2)),
            "m192n128k64-w3x1-t4-wgmma");
}

// 16 columns of small tiles ask the second cache for more: 90.1 us, and 72.5 to
// 75.4 of larger ones.
TEST(TmaTiles, PrefersLargeTilesWhereTheSecondCacheIsBusy) {
  ConvProblem p = makeProblem(256, 1024, 14, 1, 2);
  p.outChannels = 2048;
  EXPECT_FALSE(choose(p).starts_with("m128n128k64")) << choose(p);
}

// Matrices are read faster than windows, so that small tiles do not wait for
// the second cache: 10.4 us, and 11.2 of 192x128.
TEST(TmaTiles, ReadsMatricesFasterThanWindows) {
  ConvProblem p = makeProblem(32, 256, 14, 1, 1);
  p.outChannels = 1024;
  EXPECT_EQ(choose(p), "m128n128k64-w1x1-p6-wgmma");
}

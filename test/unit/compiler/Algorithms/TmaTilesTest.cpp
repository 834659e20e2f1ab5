//===- TmaTilesTest.cpp - Which tile of wgmma the model prefers -----------===//
//
// Pairs of tiles whose times on an H100 differ by more than noise
// (resnet50-tiles.txt and stages.txt of tools/bench/results/h100).
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Tma/TmaTiles.h"
#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"
#include "compiler/Algorithms/Tma/TmaModel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <utility>

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

static const GpuTarget &getSm90() { return *findTarget("sm_90"); }

static std::string choose(const ConvProblem &p) {
  auto tile = chooseTile(p, getSm90());
  return tile ? tile->parameters : tile.getStatus().getMessage();
}

// 132 tiles fill an H100 once and take 27.6 us; 196 tiles in two waves take
// 32.7.
TEST(TmaTiles, PrefersOneWave) {
  EXPECT_EQ(choose(makeProblem(64, 256, 28, 3, 2)),
            "m192n128k64-w3x1-t5-wgmma");
}

/// 1x1 of `size` x `size` pixels with channels first.
static ConvProblem makeImages(int64_t batch, int64_t inputs, int64_t outputs,
                              int64_t size) {
  ConvProblem p = makeProblem(batch, inputs, size, /*filter=*/1, /*stride=*/1);
  p.outChannels = outputs;
  p.xLayout = p.wLayout = p.yLayout = Layout::NCHW;
  return p;
}

// A filter of 24 channels is 96 lines, which each tile asks for: those of 128
// by 64 took 59.3 us, of 128 by 128 43.1, and of 64 by 256 34.7.
TEST(TmaTiles, AsksForALineOfTheFilterSeldom) {
  const ConvProblem p = makeImages(32, 24, 256, 64);
  EXPECT_EQ(choose(p).substr(0, 10), "m64n256k32");
  std::map<std::string, double> costs;
  for (const Candidate &candidate : getTmaCandidates(p, getSm90()))
    costs[candidate.tile.parameters] = candidate.cost;
  EXPECT_GT(costs.at("m128n64k32-w1x1-p16-wgmma"),
            1.2 * costs.at("m128n128k32-w1x1-p12-wgmma"));
}

// Tiles of 64 rows are two for an image of 80 channels, of which the second one
// is soon done: 175 us for 126.
TEST(TmaTiles, KeepsTheTilesOfAnImageTogether) {
  EXPECT_EQ(choose(makeImages(64, 80, 80, 128)).substr(0, 5), "m128n");
}

// Multiply-adds would read the filter, of which each line has all taps, nine
// times: 458 us for 117.
TEST(TmaTiles, ReadsLargeFiltersOnce) {
  ConvProblem p = makeProblem(1, 1536, 7, 3, 1);
  p.dataType = DataType::F32;
  p.xLayout = p.wLayout = p.yLayout = Layout::NCHW;
  EXPECT_NE(choose(p).find("wgmma"), std::string::npos) << choose(p);
}

// 3136 pixels of 512 channels are 132 tiles of 96 by 128 with swapped operands,
// which take 24.0 us, but 100 tiles of 128 by 128, which take 27.9.
TEST(TmaTiles, SharesPixelsOutInEights) {
  EXPECT_TRUE(choose(makeProblem(64, 512, 7, 3, 1)).starts_with("m96n128k64"));
}

// A row of 128 bytes is one line of L2 if rows begin with lines, and 1.5
// or 1.75 on average if they begin at multiples of 64 or 32 bytes. A shorter
// one that divides the pitch crosses none.
TEST(TmaTiles, CountsLinesOfRows) {
  EXPECT_EQ(countLines(/*pitch=*/640, /*bytes=*/128), 1);
  EXPECT_EQ(countLines(192, 128), 1.5);
  EXPECT_EQ(countLines(224, 128), 1.75);
  EXPECT_EQ(countLines(32, 32), 1);
  EXPECT_EQ(countLines(160, 64), 1.25);
}

// Pixels of 96 channels begin within lines, and 96 columns of the filter end
// within a block, each tap anew; where taps share pixels, these are copied
// once. On an H100 5x5 takes 48.8 us so, and 73 to 83 with tiles that do not.
TEST(TmaTiles, SharesPixelsThatLinesDivide) {
  ConvProblem p = makeProblem(16, 96, 56, 5, 1);
  p.direction = Direction::BackwardData;
  EXPECT_NE(choose(p).find("-h2"), std::string::npos) << choose(p);
}

// Of 1x1 with a stride of 2 one class in four has products. Its 150 tiles of
// 128 by 128 take two waves of an H100 (25.6 us), 100 of 128 by 192 take one
// (22.0).
TEST(TmaTiles, CountsWavesOfTheLongestClass) {
  ConvProblem p = makeProblem(16, 768, 28, 1, 2);
  p.direction = Direction::BackwardData;
  p.outChannels = 1536;
  const ErrorOr<std::vector<Candidate>> ranked = rankTiles(p, getSm90());
  ASSERT_TRUE(ranked);
  auto getCost = [&](const char *parameters) {
    for (const Candidate &candidate : *ranked)
      if (candidate.tile.parameters == parameters)
        return candidate.cost;
    return std::nan("");
  };
  EXPECT_LT(getCost("m128n192k64-w1x1-p5-wgmma"),
            getCost("m128n128k64-w1x1-p6-wgmma"));
}

// An epilogue that reads a tensor for each element needs lanes that have
// channels.
TEST(TmaTiles, HasNoEightsBehindTensors) {
  ConvProblem p = makeProblem(64, 512, 7, 3, 1);
  p.epilogue.bias = true;
  EXPECT_FALSE(choose(p).ends_with("-x")) << choose(p);
}

// All tiles fit as the lowering counts: none is refused for its stages.
TEST(TmaTiles, NamesTilesThatFitSharedMemory) {
  constexpr int64_t kRowBytes = 128;
  const GpuTarget &target = *findTarget("sm_90");
  for (const Candidate &candidate :
       getTmaCandidates(makeProblem(32, 512, 7, 1, 1), target)) {
    const GemmTile tile = *parseGemmTile(candidate.tile);
    if (tile.halo > 0)
      continue;
    EXPECT_GE(tile.buffers, 3) << candidate.tile.toText();
    EXPECT_LE((tile.m + (tile.n + 63) / 64 * 64) * kRowBytes * tile.buffers,
              int64_t(target.getMaxSharedBytes()))
        << candidate.tile.toText();
  }
}

// 16 columns of small tiles read more from L2: 90.1 us, where larger ones take
// 72.5 to 75.4.
TEST(TmaTiles, PrefersLargeTilesWhereL2IsBusy) {
  ConvProblem p = makeProblem(256, 1024, 14, 1, 2);
  p.outChannels = 2048;
  EXPECT_FALSE(choose(p).starts_with("m128n128k64")) << choose(p);
}

/// What the model expects of a tile, over what it expects of the best.
static double getShare(const ConvProblem &p, std::string_view tile) {
  double cost = 0, best = INFINITY;
  for (const Candidate &candidate : getTmaCandidates(p, getSm90())) {
    best = std::min(best, candidate.cost);
    if (candidate.tile.parameters == tile)
      cost = candidate.cost;
  }
  return cost / best;
}

// Matrices are read faster than windows, so small tiles wait less for L2.
TEST(TmaTiles, ReadsMatricesFasterThanWindows) {
  constexpr std::string_view kSmall = "m64n128k64-w1x1-p8-wgmma";
  const double plain = getShare(makeProblem(256, 512, 14, 1, 1), kSmall);
  const double window = getShare(makeProblem(256, 512, 14, 3, 1), kSmall);
  ASSERT_GT(plain, 1);
  EXPECT_LT(plain, window);
}

/// The tiles of `tile` that `p` has, splits and clusters not counted; of stride
/// 1.
static int64_t countTiles(const ConvProblem &p, const GemmTile &tile) {
  const bool isForward = p.direction == Direction::Forward;
  const Spatial image = isForward ? p.getOutput() : p.in;
  auto count = [](int64_t size, int64_t step) {
    return (size + step - 1) / step;
  };
  return p.groups * count(p.batch * image.h * image.w, tile.m) *
         count((isForward ? p.outChannels : p.inChannels) / p.groups, tile.n);
}

// 512 channels of 7x7 at batch 1 are 8 tiles of 64 by 64 with 72 steps each,
// which takes 14.7 us for a floor of 1.6: splits give half of the chip a tile,
// or parts of one to clusters.
TEST(TmaTiles, SplitsWhereTilesAreFew) {
  for (Direction direction : {Direction::Forward, Direction::BackwardData})
    for (int64_t batch : {1, 4}) {
      ConvProblem p = makeProblem(batch, 512, 7, 3, 1);
      p.direction = direction;
      const GemmTile tile = *parseGemmTile(*chooseTile(p, getSm90()));
      const int64_t parts = tile.splits * tile.cluster;
      EXPECT_GE(parts, 4) << tile.toConfig().toText();
      EXPECT_GE(countTiles(p, tile) * parts, 64) << tile.toConfig().toText();
    }
}

// Clusters are named where they are on the chip at once and each workgroup has
// two steps, and they need no workspace. Classes of pixels have none.
TEST(TmaTiles, SharesTilesInClusters) {
  bool hasClusters = false;
  for (int64_t batch : {1, 4, 64})
    for (int64_t filter : {1, 3}) {
      const ConvProblem p = makeProblem(batch, 512, 7, filter, 1);
      for (const Candidate &candidate : getTmaCandidates(p, getSm90())) {
        const GemmTile tile = *parseGemmTile(candidate.tile);
        if (tile.cluster == 1)
          continue;
        hasClusters = true;
        EXPECT_LE(countTiles(p, tile) * tile.cluster, getSm90().computeUnits);
        EXPECT_GE(8 * filter * filter, 2 * tile.cluster);
        EXPECT_FALSE(tile.splits > 1 || tile.halo > 0 || tile.isSwapped ||
                     tile.isPingPong);
      }
    }
  EXPECT_TRUE(hasClusters);
  auto tile = chooseTile(
      Problem(makeProblem(1, 512, 7, 3, 1)).asWithoutWorkspace(), getSm90());
  ASSERT_TRUE(tile) << tile.getStatus().getMessage();
  EXPECT_GT(parseGemmTile(*tile)->cluster, 1);
  ConvProblem strided = makeProblem(1, 512, 14, 3, 2);
  strided.direction = Direction::BackwardData;
  for (const Candidate &candidate : getTmaCandidates(strided, getSm90()))
    EXPECT_EQ(parseGemmTile(candidate.tile)->cluster, 1);
}

// Strided backward data is split into shares of the channels, which are whole
// steps.
TEST(TmaTiles, SplitsStridedGradients) {
  ConvProblem p = makeProblem(1, 512, 14, 3, 2);
  p.direction = Direction::BackwardData;
  EXPECT_GT(parseGemmTile(*chooseTile(p, getSm90()))->splits, 1);
  p.outChannels = 500;
  for (const Candidate &candidate : getTmaCandidates(p, getSm90()))
    EXPECT_EQ(parseGemmTile(candidate.tile)->splits, 1);
}

// Where tiles fill half of the chip, none is split; nor where no workspace is
// given, taps share pixels, pixels are columns, or the workspace is taken.
TEST(TmaTiles, SplitsNothingElse) {
  for (int64_t batch : {1, 4, 32, 64})
    for (int64_t filter : {1, 3}) {
      const ConvProblem p = makeProblem(batch, 512, 7, filter, 1);
      for (const Candidate &candidate : getTmaCandidates(p, getSm90())) {
        const GemmTile tile = *parseGemmTile(candidate.tile);
        if (tile.splits == 1)
          continue;
        EXPECT_LE(countTiles(p, tile) * 2, getSm90().computeUnits);
        EXPECT_EQ(8 * filter * filter % tile.splits, 0);
        EXPECT_FALSE(tile.halo > 0 || tile.isSwapped || tile.isAtomic);
      }
    }
  for (int64_t batch : {64, 256})
    for (int64_t filter : {1, 3})
      EXPECT_EQ(choose(makeProblem(batch, 512, 7, filter, 1)).find("-s"),
                std::string::npos);
  ConvProblem p = makeProblem(1, 512, 7, 3, 1);
  auto without = chooseTile(Problem(p).asWithoutWorkspace(), getSm90());
  ASSERT_TRUE(without) << without.getStatus().getMessage();
  EXPECT_EQ(parseGemmTile(*without)->splits, 1);
  p.direction = Direction::BackwardData;
  p.dataType = DataType::F32;
  p.mathType = MathType::Tf32;
  for (const Candidate &candidate : getTmaCandidates(p, getSm90()))
    EXPECT_EQ(parseGemmTile(candidate.tile)->splits, 1);
}

// The launch that adds splits reads an epilogue's tensors, so a tile of 192
// columns and 192 accumulators may have them.
TEST(TmaTiles, SplitsHaveTheEpilogueBehindThem) {
  ConvProblem p = makeProblem(1, 512, 7, 3, 1);
  p.epilogue.residual = true;
  bool hasWide = false;
  for (const Candidate &candidate : getTmaCandidates(p, getSm90())) {
    const GemmTile tile = *parseGemmTile(candidate.tile);
    const bool isWide = tile.m * tile.n / (tile.wavesM * 128) > 128;
    EXPECT_TRUE(!isWide || tile.splits > 1) << candidate.tile.toText();
    hasWide |= isWide;
  }
  EXPECT_TRUE(hasWide);
}

/// A volume, as nnU-Net's first layers have it.
static ConvProblem makeVolume(int64_t inputs, int64_t outputs) {
  ConvProblem p = makeProblem(2, inputs, 64, 3, 1);
  p.outChannels = outputs;
  p.in.d = p.in.h;
  p.filter.d = 3;
  p.pad.d = 1;
  return p;
}

// 16, 32 and 96 channels are not multiplied as 64 or 128, in either direction
// of data, nor with a bias. 96 come in steps of 64, of which the last ends with
// the channels: where taps of a volume share pixels steps of 32 take 1.13
// to 1.2 times as long (drawn-1.csv).
TEST(TmaTiles, PadsFewChannelsToNoBlock) {
  struct Case {
    int64_t channels;
    const char *columns;
  };
  for (const Case &c :
       {Case{16, "n16k16"}, Case{32, "n32k32"}, Case{96, "n96k64"}})
    for (Direction direction : {Direction::Forward, Direction::BackwardData})
      for (bool hasBias : {false, true}) {
        ConvProblem p = makeVolume(c.channels, c.channels);
        p.direction = direction;
        p.epilogue.bias = hasBias && direction == Direction::Forward;
        EXPECT_NE(choose(p).find(c.columns), std::string::npos)
            << c.channels << ": " << choose(p);
      }
}

// Inputs and outputs count by themselves.
TEST(TmaTiles, ShortensStepsByChannelsOfTheReduction) {
  EXPECT_NE(choose(makeVolume(32, 64)).find("n64k32"), std::string::npos);
  EXPECT_NE(choose(makeVolume(64, 32)).find("n32k64"), std::string::npos);
}

// More workgroups of clusters than an H100 runs at once take two waves.
TEST(TmaTiles, HasNoMoreClustersThanRunAtOnce) {
  const std::map<int, int64_t> most = {{2, 132}, {4, 120}, {8, 96}};
  std::set<int> seen;
  for (int64_t size : {7, 14, 28})
    for (int64_t batch : {1, 2, 4, 8}) {
      const ConvProblem p = makeProblem(batch, 512, size, 3, 1);
      for (const Candidate &candidate : getTmaCandidates(p, getSm90())) {
        const GemmTile tile = *parseGemmTile(candidate.tile);
        if (tile.cluster == 1)
          continue;
        seen.insert(tile.cluster);
        EXPECT_LE(countTiles(p, tile) * tile.cluster, most.at(tile.cluster))
            << candidate.tile.toText();
      }
    }
  EXPECT_EQ(seen, (std::set<int>{2, 4, 8}));
}

// Two workgroups share the rows of long reductions that many columns of tiles
// read, if most of the chip has a tile.
TEST(TmaTiles, SharesRowsOfLongReductions) {
  auto shares = [](ConvProblem p, Direction direction) {
    p.direction = direction;
    return parseGemmTile(*chooseTile(p, getSm90()))->multicast == 'm';
  };
  for (Direction direction : {Direction::Forward, Direction::BackwardData}) {
    EXPECT_TRUE(shares(makeProblem(8, 1536, 16, 3, 1), direction));
    EXPECT_FALSE(shares(makeProblem(1, 1536, 16, 3, 1), direction));
    EXPECT_FALSE(shares(makeProblem(32, 512, 16, 3, 1), direction));
  }
}

// Tiles of a row come in pairs, and a workgroup's half of their rows is whole
// blocks of the swizzle.
TEST(TmaTiles, SharesRowsOfPairs) {
  int count = 0;
  for (int64_t channels : {768, 1024, 1152, 1280})
    for (int64_t size : {28, 30, 32}) {
      const ConvProblem p = makeProblem(8, channels, size, 5, 1);
      for (const Candidate &candidate : getTmaCandidates(p, getSm90())) {
        const GemmTile tile = *parseGemmTile(candidate.tile);
        if (tile.multicast == 0)
          continue;
        ++count;
        const int64_t inRow = (channels + tile.n - 1) / tile.n;
        EXPECT_EQ(inRow % 2, 0) << candidate.tile.toText();
        EXPECT_GE(inRow, 6);
        EXPECT_EQ(tile.m % 16, 0);
        EXPECT_GE(countTiles(p, tile), 99);
        EXPECT_EQ(tile.halo, 0);
      }
    }
  EXPECT_GT(count, 0);
  for (const Candidate &candidate :
       getTmaCandidates(makeProblem(8, 64, 56, 7, 1), getSm90()))
    EXPECT_EQ(parseGemmTile(candidate.tile)->multicast, 0); // 49 steps.
}

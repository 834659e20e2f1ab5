//===- ChooseTmaTileTest.cpp - What the model chooses for TMA and wgmma ---===//

#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"
#include "test/unit/compiler/Algorithms/Layer.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

// f32 is multiplied as tf32 where a convolution allows it and a chip can.
TEST(ChooseTile, UsesTf32WhereItIsAllowed) {
  auto choose = [](const char *name, MathType type) {
    ConvProblem p = makeLayer();
    p.dataType = DataType::F32;
    p.mathType = type;
    p.forbidsWinograd = true;
    return parseGemmTile(*chooseTile(p, *findTarget(name)))->mma;
  };
  EXPECT_EQ(choose("sm_90", MathType::Tf32), "wgmma_tf32");
  EXPECT_EQ(choose("sm_80", MathType::Tf32), "mma16_tf32");
  EXPECT_EQ(choose("sm_75", MathType::Tf32), "fma");
  EXPECT_EQ(choose("gfx942", MathType::Tf32), "mfma32");
  EXPECT_EQ(choose("sm_80", MathType::Exact), "fma");
}

// Where wgmma multiplies bf16, exact f32 is split into it: each step's
// accumulators are promoted, and leave registers for that. With channels last
// that takes no workspace.
TEST(ChooseTile, SplitsExactF32) {
  ConvProblem p = makeLayer();
  p.dataType = DataType::F32;
  p.forbidsWinograd = true;
  const GpuTarget &target = *findTarget("sm_90");
  auto splits = [&](const Problem &problem) {
    return chooseTile(problem, target)->parameters.find("wgmma_bf16x6") !=
           std::string::npos;
  };
  for (Direction direction : {Direction::Forward, Direction::BackwardData,
                              Direction::BackwardWeights}) {
    p.direction = direction;
    p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
    EXPECT_TRUE(splits(Problem(p).asWithoutWorkspace()));
    const GemmTile tile = *parseGemmTile(*chooseTile(p, target));
    EXPECT_EQ(tile.mma, "wgmma_bf16x6");
    EXPECT_EQ(tile.promote, 1);
    EXPECT_LE(tile.m * tile.n / (tile.wavesM * tile.wavesN), 64 * 128);
    p.xLayout = p.wLayout = p.yLayout = Layout::NCHW;
    EXPECT_TRUE(splits(p));
    EXPECT_FALSE(splits(Problem(p).asWithoutWorkspace()));
  }
}

// A pointwise convolution with channels first is read as it is, unless rows of
// pixels are no whole 16 bytes.
TEST(ChooseTile, ReadsImagesAsMatrices) {
  ConvProblem p = makeLayer();
  p.xLayout = p.wLayout = p.yLayout = Layout::NCHW;
  p.filter = {1, 1};
  p.pad = {};
  p.in = {28, 28};
  const GpuTarget &target = *findTarget("sm_90");
  for (Direction direction : {Direction::Forward, Direction::BackwardData,
                              Direction::BackwardWeights}) {
    p.direction = direction;
    const TileConfig tile = *chooseTile(p, target);
    EXPECT_EQ(tile.algorithm, "igemm");
    EXPECT_TRUE(parseGemmTile(tile)->isTma);
  }
  p.in = {14, 14};
  EXPECT_EQ(chooseTile(p, target)->algorithm, "nhwc");
}

/// Whether the fastest tile of `p` on an H100 copies by TMA.
static bool usesTma(const ConvProblem &p) {
  auto tile = chooseTile(p, *findTarget("sm_90"));
  EXPECT_TRUE(tile) << p.toNetworkConfig();
  return tile && tile->toText().find("-wgmma") != std::string::npos;
}

/// The algorithm of the fastest tile of `p` on an H100.
static std::string getAlgorithm(const ConvProblem &p) {
  auto tile = chooseTile(p, *findTarget("sm_90"));
  EXPECT_TRUE(tile) << p.toNetworkConfig();
  return tile ? tile->algorithm : "";
}

// TMA reads channels of whole 16 bytes. A result may have any, since rows can
// be stored without TMA. Tensors that TMA cannot read are packed first.
TEST(ChooseTile, ReadsWholeUnitsByTma) {
  ConvProblem p = makeLayer();
  p.outChannels = 93;
  EXPECT_TRUE(usesTma(p));
  EXPECT_EQ(getAlgorithm(p), "igemm");
  p.inChannels = 75;
  EXPECT_TRUE(usesTma(p));
  EXPECT_EQ(getAlgorithm(p), "packed");
  p.dilation = {2, 2};
  EXPECT_FALSE(usesTma(p));
  // Backward data reads the filter along the channels of its result.
  p = makeLayer();
  p.direction = Direction::BackwardData;
  p.inChannels = 92;
  EXPECT_EQ(getAlgorithm(p), "packed");
}

// Backward weights of one image of 56x56 has nine tiles of 64 by 64 and 49
// steps of pixels: each split keeps some steps, although the splits do not fill
// the chip.
TEST(ChooseTile, SplitsTheWeightsOfSmallLayers) {
  ConvProblem p = makeLayer();
  p.direction = Direction::BackwardWeights;
  p.batch = 1;
  p.inChannels = p.outChannels = 64;
  p.in = {56, 56};
  p.filter = {3, 3};
  p.pad = {1, 1};
  auto tile = chooseTile(p, *findTarget("sm_90"));
  ASSERT_TRUE(tile) << p.toNetworkConfig();
  EXPECT_TRUE(tile->toText().starts_with("igemm-m64n64k64-w1x1-"))
      << tile->toText();
}

// Backward weights of 93 and 75 channels: 93 are rounded up to 96 columns, not
// to 128 rows.
TEST(ChooseTile, MakesOddGradientsColumns) {
  ConvProblem p = makeLayer();
  p.direction = Direction::BackwardWeights;
  p.batch = 16;
  p.inChannels = 75;
  p.outChannels = 93;
  p.in = {63, 57};
  p.filter = {5, 5};
  p.pad = {2, 2};
  auto tile = chooseTile(p, *findTarget("sm_90"));
  ASSERT_TRUE(tile) << p.toNetworkConfig();
  EXPECT_EQ(tile->algorithm, "packed");
  EXPECT_NE(tile->parameters.find("n96k64"), std::string::npos)
      << tile->toText();
}

// The gradients of a first layer are packed. Its filter stays with persistent
// workgroups: many small ones, but few if each has only a few tiles to load it
// for.
TEST(ChooseTile, PacksTheGradientsOfStems) {
  ConvProblem p = makeStem();
  auto tile = chooseTile(p, *findTarget("sm_90"));
  ASSERT_TRUE(tile) << p.toNetworkConfig();
  EXPECT_EQ(tile->toText(), "stem-h8w8n64-w2x2-mma16-p3");
  p.batch = 256;
  tile = chooseTile(p, *findTarget("sm_90"));
  ASSERT_TRUE(tile) << p.toNetworkConfig();
  EXPECT_EQ(tile->toText(), "stem-h4w8n64-w1x2-mma16-p6");
  for (Direction direction :
       {Direction::BackwardData, Direction::BackwardWeights}) {
    p.direction = direction;
    EXPECT_EQ(getAlgorithm(p), "packed");
  }
}

// Every epilogue can be applied after wgmma.
TEST(ChooseTile, AppliesEpiloguesBehindTma) {
  ConvProblem p = makeLayer();
  p.epilogue = {.alpha = true,
                .beta = true,
                .bias = true,
                .residual = true,
                .activation = Activation::Relu};
  for (Direction direction : {Direction::Forward, Direction::BackwardData}) {
    p.direction = direction;
    EXPECT_TRUE(usesTma(p));
  }
}

// Backward data goes through TMA with any stride, as long as the gradient's
// window and the rows of the result are in reach.
TEST(ChooseTile, SkipsTapsBehindTma) {
  ConvProblem p = makeLayer();
  p.direction = Direction::BackwardData;
  p.stride = {3, 2};
  EXPECT_TRUE(usesTma(p));
  p.filter = {1, 1};
  p.pad = {0, 0};
  EXPECT_TRUE(usesTma(p));
  p.batch = 3000; // 1.2 GB of x.
  EXPECT_TRUE(usesTma(p));
  p.batch = 6000;
  EXPECT_FALSE(usesTma(p));
  p = makeLayer();
  p.direction = Direction::BackwardData;
  p.stride = {2, 2};
  p.filter = {1, 300};
  p.pad = {0, 299};
  EXPECT_FALSE(usesTma(p));
}

// Tiles of TMA store results with channels first, in every type that wgmma
// multiplies, and with a bias or a residual, but not with both. Backward
// weights have the filter as their result, and the pixels that a tile of
// strided backward data has are no neighbours.
TEST(ChooseTile, StoresChannelsFirst) {
  const GpuTarget &target = *findTarget("sm_90");
  auto storesChannelsFirst = [&](const ConvProblem &p) {
    return chooseTile(p, target)->toText().starts_with("nhwc-operands-igemm-");
  };
  for (DataType type : {DataType::F16, DataType::F32})
    for (Direction direction : {Direction::Forward, Direction::BackwardData}) {
      ConvProblem p = makeChannelsFirst(direction);
      p.dataType = type;
      if (type == DataType::F32)
        p.mathType = MathType::Tf32;
      EXPECT_TRUE(storesChannelsFirst(p)) << getName(type);
    }
  ConvProblem p = makeChannelsFirst(Direction::Forward);
  p.epilogue.bias = true;
  EXPECT_TRUE(storesChannelsFirst(p));
  p.epilogue.residual = true;
  EXPECT_TRUE(storesChannelsFirst(p));
  p.outChannels = 1; // One channel is the same memory in both layouts.
  EXPECT_FALSE(storesChannelsFirst(p));
  EXPECT_FALSE(
      storesChannelsFirst(makeChannelsFirst(Direction::BackwardWeights)));
  p = makeChannelsFirst(Direction::BackwardData);
  p.stride = {2, 2};
  EXPECT_FALSE(storesChannelsFirst(p));
}

// Products of a long reduction hide that lanes store the lines of a halo with
// channels first, those of a short one do not: on an H200 32 to 256 channels
// took 54.9 us so, and 41.2 with tiles that TMA stores.
TEST(ChooseTile, WeighsLanesThatStoreChannelsFirst) {
  const GpuTarget &target = *findTarget("sm_90");
  auto sharesPixels = [&](int64_t inputs, int64_t outputs) {
    ConvProblem p = makeChannelsFirst(Direction::Forward);
    p.batch = 32;
    p.inChannels = inputs;
    p.outChannels = outputs;
    p.in = {56, 56};
    return chooseTile(p, target)->toText().find("-h") != std::string::npos;
  };
  EXPECT_FALSE(sharesPixels(32, 256));
  EXPECT_TRUE(sharesPixels(64, 64));
}

// A cluster's workgroups each store some columns of a tile, which channels
// first cannot take (64 channels of 56x56, exact f32, were refused on an H100).
TEST(ChooseTile, StoresNoClustersChannelsFirst) {
  for (DataType type : {DataType::F16, DataType::F32}) {
    ConvProblem p = makeChannelsFirst(Direction::Forward);
    p.dataType = type;
    p.batch = 1;
    p.inChannels = p.outChannels = 64;
    p.in = {56, 56};
    auto ranked = rankTiles(p, *findTarget("sm_90"));
    ASSERT_TRUE(ranked) << ranked.getStatus().getMessage();
    bool hasClusters = false;
    for (const Candidate &candidate : *ranked) {
      const std::string tile = candidate.tile.toText();
      const bool isCluster = tile.find("-c") != std::string::npos;
      hasClusters |= isCluster;
      EXPECT_FALSE(isCluster && tile.find("operands-") != std::string::npos)
          << tile;
    }
    EXPECT_TRUE(hasClusters) << getName(type);
  }
}

//===- ChooseTileTest.cpp - What the model chooses and refuses ------------===//

#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/ImplicitGemm/GemmSize.h"
#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"
#include "compiler/Algorithms/RowWise/RowWiseTile.h"
#include "runtime/Base/TileSetting.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace tessera;

// The runtime, which has no compiler, checks the algorithm of a tile against
// names of its own; they must be those of the registry.
TEST(ChooseTile, EveryAlgorithmHasItsNameInTheRuntime) {
  EXPECT_EQ(getAlgorithms().size(), kAlgorithmNames.size());
  for (const Algorithm *algorithm : getAlgorithms())
    EXPECT_EQ(std::ranges::count(kAlgorithmNames, algorithm->getName()), 1)
        << algorithm->getName();
}

static ConvProblem makeLayer() {
  ConvProblem p;
  p.dataType = DataType::F16;
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  p.batch = 256;
  p.inChannels = p.outChannels = 256;
  p.in = {28, 28};
  p.filter = {3, 3};
  p.pad = {1, 1};
  return p;
}

// Large layers fill the chip, but not with the tile of the best inner loop,
// whose results LDS has no space for: the AMD clock expects 2.72 ms of this
// one, and 3.20 of 256x256.
TEST(ChooseTile, TakesTheLargestStagedTileForLargeLayers) {
  ConvProblem p = makeLayer();
  p.in = {56, 56};
  p.outChannels = 512;
  auto tile = chooseTile(p, *findTarget("gfx942"));
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->toText(), "igemm-m128n128k32-w2x2-b2-mfma32");
}

// Few output channels do not fill a wide tile, and few tiles do not fill a
// chip.
TEST(ChooseTile, WeighsWhatIsWasted) {
  ConvProblem p = makeLayer();
  p.outChannels = 32;
  auto narrow = chooseTile(p, *findTarget("gfx942"));
  ASSERT_TRUE(narrow);
  EXPECT_EQ(parseGemmTile(*narrow)->n, 32);
  p = makeLayer();
  p.batch = 1;
  auto small = chooseTile(p, *findTarget("gfx942"));
  ASSERT_TRUE(small);
  ErrorOr<GemmTile> tile = parseGemmTile(*small);
  ASSERT_TRUE(tile);
  EXPECT_LE(tile->m * tile->n, 64 * 64);
}

// A reduction is split where there are too few tiles for the units, instead of
// choosing tiles so small that the cache limits them.
TEST(ChooseTile, SplitsInsteadOfLoadingAgain) {
  ConvProblem p = makeLayer();
  p.direction = Direction::BackwardWeights;
  p.batch = 64;
  p.in = {14, 14};
  auto tile = chooseTile(p, *findTarget("gfx942"));
  ASSERT_TRUE(tile);
  ErrorOr<GemmTile> chosen = parseGemmTile(*tile);
  ASSERT_TRUE(chosen);
  EXPECT_GT(chosen->splits, 1);
  EXPECT_GE(chosen->m * chosen->n, 64 * 64);
}

// f64 is multiplied by the matrix unit in every direction, split where that is
// needed to fill the chip, and with an epilogue.
TEST(ChooseTile, MultipliesDoublesByMatrixInstructions) {
  for (std::string_view chip : {"gfx90a", "gfx942", "gfx950"})
    for (Direction direction : {Direction::Forward, Direction::BackwardData,
                                Direction::BackwardWeights})
      for (Layout layout : {Layout::NHWC, Layout::NCHW})
        for (bool hasEpilogue : {false, true}) {
          ConvProblem p = makeLayer();
          p.dataType = DataType::F64;
          p.direction = direction;
          p.xLayout = p.wLayout = p.yLayout = layout;
          p.batch = 16;
          p.in = {14, 14};
          p.epilogue.bias = hasEpilogue;
          auto tile = chooseTile(p, *findTarget(chip));
          ASSERT_TRUE(tile);
          EXPECT_NE(tile->toText().find("-mfma16"), std::string::npos)
              << chip << ", " << p.toNetworkConfig() << ": " << tile->toText();
        }
}

// Where a layer has enough tiles, narrow loads and a transposition do not keep
// it from the tile with the best main loop.
TEST(ChooseTile, TakesLargeTilesForGradients) {
  ConvProblem p = makeLayer();
  p.in = {56, 56};
  p.outChannels = 512;
  p.direction = Direction::BackwardData;
  auto tile = chooseTile(p, *findTarget("gfx942"));
  ASSERT_TRUE(tile);
  ErrorOr<GemmTile> chosen = parseGemmTile(*tile);
  ASSERT_TRUE(chosen);
  EXPECT_GE(chosen->m * chosen->n, 256 * 128);
}

// A chip's matrix unit is used for the types that it multiplies, and scalar
// multiply-adds for the others.
TEST(ChooseTile, UsesTheMatrixUnit) {
  auto choose = [](const char *name, DataType type) {
    ConvProblem p = makeLayer();
    p.dataType = type;
    p.forbidsWinograd = true;
    auto tile = chooseTile(p, *findTarget(name));
    EXPECT_TRUE(tile) << name;
    return tile ? parseGemmTile(*tile)->mma : "";
  };
  for (const char *name : {"gfx908", "gfx90a", "gfx942", "gfx950"})
    for (DataType type : {DataType::F16, DataType::BF16, DataType::F32})
      EXPECT_EQ(choose(name, type), "mfma32") << name;
  for (const char *name : {"gfx1100", "gfx1102", "gfx1151", "gfx1200"}) {
    EXPECT_EQ(choose(name, DataType::F16), "wmma16") << name;
    EXPECT_EQ(choose(name, DataType::F32), "fma") << name;
  }
  for (const char *name : {"gfx906", "gfx900", "gfx1010", "gfx1030", "sm_75"})
    EXPECT_EQ(choose(name, DataType::F16), "fma") << name;
  EXPECT_EQ(choose("sm_75", DataType::F64), "fma");
  EXPECT_EQ(choose("sm_90", DataType::F64), "mma16");
  for (const char *name : {"sm_80", "sm_89", "sm_120"}) {
    EXPECT_EQ(choose(name, DataType::F16), "mma16") << name;
    EXPECT_EQ(choose(name, DataType::BF16), "mma16") << name;
    EXPECT_EQ(choose(name, DataType::F64), "mma16") << name;
    EXPECT_EQ(choose(name, DataType::F32), "fma") << name;
  }
}

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

// Direct copies are for operands that lie in memory as they lie in LDS.
TEST(ChooseTile, CopiesDirectlyWhereItCan) {
  const GpuTarget &target = *findTarget("gfx950");
  ConvProblem p = makeLayer();
  EXPECT_TRUE(parseGemmTile(*chooseTile(p, target))->isDirect);
  p.inChannels = 72;
  EXPECT_FALSE(parseGemmTile(*chooseTile(p, target))->isDirect);
  p = makeLayer();
  p.xLayout = p.wLayout = p.yLayout = Layout::NCHW;
  EXPECT_FALSE(parseGemmTile(*chooseTile(p, target))->isDirect);
}

// cp.async copies every NHWC operand whose reduction steps divide. It
// transposes only 16-bit operands. A tile fits the LDS that the chip gives to a
// launch.
TEST(ChooseTile, CopiesByCpAsyncInEveryDirection) {
  auto choose = [](const char *name, const ConvProblem &p) {
    auto tile = chooseTile(p, *findTarget(name));
    EXPECT_TRUE(tile) << name;
    return tile ? *parseGemmTile(*tile) : GemmTile();
  };
  for (const char *name : {"sm_80", "sm_86", "sm_120"})
    for (Direction direction : {Direction::Forward, Direction::BackwardData,
                                Direction::BackwardWeights}) {
      ConvProblem p = makeLayer();
      p.direction = direction;
      GemmTile tile = choose(name, p);
      EXPECT_TRUE(tile.isDirect) << name;
      if (tile.halo == 0)
        EXPECT_LE((tile.m + tile.n) * tile.k * 2 * tile.buffers, 101376)
            << name;
      p.xLayout = p.wLayout = p.yLayout = Layout::NCHW;
      EXPECT_FALSE(choose(name, p).isDirect) << name;
    }
  ConvProblem p = makeLayer();
  p.inChannels = 72;
  EXPECT_FALSE(choose("sm_80", p).isDirect);
  p.dataType = DataType::I8;
  p.inChannels = 256;
  EXPECT_TRUE(choose("sm_80", p).isDirect);
}

// Taps share pixels, which are then loaded once, if a unit has LDS for them and
// enough tiles to be busy: measured on an H100. They do not share pixels with
// strides, with channels that are no whole blocks, or if the taps are no
// multiple of the filter's buffers.
TEST(ChooseTile, SharesPixelsBehindCpAsync) {
  GpuTarget ampere = *findTarget("sm_80");
  ampere.computeUnits = 132;
  auto choose = [&](const ConvProblem &p) {
    return parseGemmTile(*chooseTile(p, ampere))->halo;
  };
  ConvProblem p = makeLayer();
  p.batch = 64;
  p.inChannels = p.outChannels = 64;
  p.in = {56, 56};
  for (Direction direction : {Direction::Forward, Direction::BackwardData}) {
    p.direction = direction;
    EXPECT_EQ(chooseTile(p, ampere)->toText(),
              "igemm-m256n64k32-w4x1-d3-mma16-h2");
    ConvProblem other = p;
    other.batch = 4;
    EXPECT_EQ(choose(other), 0);
    other = p;
    other.in = {40, 400};
    EXPECT_EQ(choose(other), 0);
    other = p;
    other.stride = {2, 2};
    EXPECT_EQ(choose(other), 0);
    other = p;
    other.inChannels = other.outChannels = 96 + 16;
    EXPECT_EQ(choose(other), 0);
    other = p;
    other.filter = {2, 2};
    EXPECT_EQ(choose(other), 0);
  }
}

// The general algorithm covers what the fast ones do not: other directions and
// types, and tensors beyond the reach of a tile.
TEST(ChooseTile, CoversEveryProblem) {
  const GpuTarget &target = *findTarget("gfx942");
  ConvProblem types = makeLayer();
  types.dataType = DataType::I8;
  ConvProblem wide = makeLayer();
  wide.batch = 4;
  wide.in = {1 << 15, 1 << 15};
  ConvProblem many = makeLayer();
  many.batch = 336;
  many.inChannels = many.outChannels = many.groups = 512;
  many.in = {224, 224};
  for (ConvProblem p : {makeLayer(), types, wide, many})
    for (Direction direction : {Direction::Forward, Direction::BackwardData,
                                Direction::BackwardWeights}) {
      if (p.dataType == DataType::I8 && direction != Direction::Forward)
        continue;
      p.direction = direction;
      auto tile = chooseTile(p, target);
      EXPECT_TRUE(tile) << p.toNetworkConfig() << ": "
                        << tile.getStatus().getMessage();
    }
}

// A problem that no kernel covers gets a reason, not a wrong kernel.
TEST(ChooseTile, RefusesWithAReason) {
  const GpuTarget &target = *findTarget("gfx942");
  ConvProblem p = makeLayer();
  p.groups = 3;
  EXPECT_EQ(chooseTile(p, target).getStatus().getCode(),
            StatusCode::InvalidArgument);
  p = makeLayer();
  p.filter = {5, 1};
  p.dilation = {1 << 30, 1};
  EXPECT_EQ(chooseTile(p, target).getStatus().getCode(),
            StatusCode::NotSupported);
}

// The first layer of a network has an algorithm of its own, too: forward, and
// where its pixels are whole dwords apart.
TEST(ChooseTile, KnowsStems) {
  ConvProblem p = makeLayer();
  p.batch = 32;
  p.inChannels = 3;
  p.outChannels = 64;
  p.in = {224, 224};
  p.filter = {7, 7};
  p.pad = {3, 3};
  p.stride = {2, 2};
  for (Layout layout : {Layout::NHWC, Layout::NCHW})
    for (const GpuTarget &target : getAllTargets()) {
      p.xLayout = p.wLayout = p.yLayout = layout;
      auto tile = chooseTile(p, target);
      ASSERT_TRUE(tile) << target.name;
      EXPECT_EQ(tile->algorithm, "stem") << target.name;
    }
  for (auto change :
       {+[](ConvProblem &q) { q.stride.w = 1; },
        +[](ConvProblem &q) { q.dilation.w = 2; },
        +[](ConvProblem &q) { q.inChannels = 8; },
        +[](ConvProblem &q) { q.wLayout = Layout::NHWC; },
        +[](ConvProblem &q) { q.direction = Direction::BackwardWeights; }}) {
    ConvProblem other = p;
    change(other);
    auto tile = chooseTile(other, *findTarget("gfx942"));
    ASSERT_TRUE(tile);
    EXPECT_NE(tile->algorithm, "stem") << other.toNetworkConfig();
  }
}

// A chip with 256 registers takes smaller blocks of an image whose channels are
// loaded one by one; larger ones would spill.
TEST(ChooseTile, KnowsWhereRegistersAreFew) {
  ConvProblem p;
  p.direction = Direction::BackwardWeights;
  p.dataType = DataType::BF16;
  p.inChannels = p.outChannels = p.groups = 32;
  p.in = {56, 56};
  p.filter = {3, 3};
  p.pad = {1, 1};
  auto choose = [&](const char *name) {
    auto tile = chooseTile(p, *findTarget(name));
    EXPECT_TRUE(tile) << name;
    return tile ? tile->toText() : "";
  };
  EXPECT_TRUE(choose("gfx906").starts_with("depthwise-g8p1q2"))
      << choose("gfx906");
  EXPECT_TRUE(choose("gfx942").starts_with("depthwise-g8p1q4"))
      << choose("gfx942");
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  EXPECT_TRUE(choose("gfx906").starts_with("depthwise-g8p1q4"))
      << choose("gfx906");
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
  ConvProblem p = makeLayer();
  p.batch = 32;
  p.inChannels = 3;
  p.outChannels = 64;
  p.in = {224, 224};
  p.filter = {7, 7};
  p.pad = {3, 3};
  p.stride = {2, 2};
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

// Tiles of 320 rows fill 130 of 132 units once where tiles of 128 by 128 take
// two and a half waves. They are for sm_90 alone, whose TMA does not reach such
// dilations: they spill on other chips. ldmatrix does not transpose lines of
// 320.
TEST(ChooseTile, FillsTheChipOnceBehindCpAsync) {
  GpuTarget ampere = *findTarget("sm_80");
  ampere.computeUnits = 132;
  ConvProblem p = makeLayer();
  p.batch = 2;
  p.inChannels = p.outChannels = 640;
  p.in = {64, 64};
  p.pad = {130, 130};
  p.dilation = {130, 130};
  for (Direction direction : {Direction::Forward, Direction::BackwardData}) {
    p.direction = direction;
    EXPECT_EQ(chooseTile(p, *findTarget("sm_90"))->toText(),
              "igemm-m320n128k32-w4x2-d4-mma16");
    EXPECT_EQ(chooseTile(p, ampere)->toText().find("m320"), std::string::npos);
  }
  p.direction = Direction::BackwardWeights;
  EXPECT_EQ(chooseTile(p, *findTarget("sm_90"))->toText().find("m320"),
            std::string::npos);
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

/// A 3x3 layer of ResNet-50 in NCHW.
static ConvProblem makeChannelsFirst(Direction direction) {
  ConvProblem p = makeLayer();
  p.direction = direction;
  p.xLayout = p.wLayout = p.yLayout = Layout::NCHW;
  p.batch = 64;
  p.in = {14, 14};
  return p;
}

// Loads of two bytes hold the address unit as long as loads of sixteen: on
// CDNA3 a filter in NCHW costs more than its launch. Pixels side by side
// coalesce, and stay where they are. Backward weights of stride 2 have no such
// pixels: all tensors are transposed. A filter of one tap is the same in both
// layouts.
TEST(ChooseTile, TransposesWhatDoesNotCoalesce) {
  const GpuTarget &target = *findTarget("gfx942");
  auto choose = [&](const ConvProblem &p) {
    return chooseTile(p, target)->toText();
  };
  for (Direction direction : {Direction::Forward, Direction::BackwardData}) {
    const std::string tile = choose(makeChannelsFirst(direction));
    EXPECT_TRUE(tile.starts_with("nhwc-w-igemm-")) << tile;
  }
  ConvProblem p = makeChannelsFirst(Direction::BackwardWeights);
  p.stride = {2, 2};
  EXPECT_TRUE(choose(p).starts_with("nhwc-igemm-")) << choose(p);
  p = makeChannelsFirst(Direction::Forward);
  p.filter = {1, 1};
  p.pad = {};
  EXPECT_TRUE(choose(p).starts_with("igemm-")) << choose(p);
  // Without a workspace nothing can be transposed.
  p = makeChannelsFirst(Direction::Forward);
  auto ranked = rankTiles(Problem(p).asWithoutWorkspace(), target);
  ASSERT_TRUE(ranked);
  EXPECT_EQ(ranked->front().tile.algorithm, "igemm");
  // Nor can statistics be combined.
  p.epilogue.statistics = true;
  EXPECT_TRUE(rankTiles(p, target));
  EXPECT_EQ(
      rankTiles(Problem(p).asWithoutWorkspace(), target).getStatus().getCode(),
      StatusCode::NotSupported);
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

// Forward, each lane's element of an NCHW filter is in a line of its own, and
// whole lines pass through L1. Backward data reads neighbouring filters, and
// what holds CDNA3 up, the addresses, CDNA2's matrix unit of half the speed can
// wait for. A filter with channels last makes up for most of either. TMA has no
// use for a filter alone.
TEST(ChooseTile, WeighsAddressesAndLines) {
  auto cost = [](const char *chip, const ConvProblem &p,
                 std::string_view begin) {
    auto ranked = rankTiles(p, *findTarget(chip));
    EXPECT_TRUE(ranked);
    for (const Candidate &candidate : *ranked)
      if (candidate.tile.toText().starts_with(begin))
        return candidate.cost;
    return 0.0;
  };
  // The cost of tiles in NCHW over that of igemm in NHWC.
  auto compare = [&](const char *chip, Direction direction,
                     std::string_view begin) {
    const ConvProblem first = makeChannelsFirst(direction);
    ConvProblem last = first;
    last.xLayout = last.wLayout = last.yLayout = Layout::NHWC;
    return cost(chip, first, begin) / cost(chip, last, "igemm");
  };
  EXPECT_GT(compare("gfx942", Direction::Forward, "igemm"), 3.5);
  EXPECT_GT(compare("gfx1100", Direction::Forward, "igemm"), 2);
  EXPECT_GT(compare("gfx942", Direction::BackwardData, "igemm"), 1.3);
  EXPECT_LT(compare("gfx90a", Direction::BackwardData, "igemm"), 1.25);
  EXPECT_LT(compare("gfx942", Direction::Forward, "nhwc-w-"), 1.27);
  EXPECT_EQ(compare("sm_90", Direction::Forward, "nhwc-w-"), 0);
  EXPECT_GT(compare("sm_90", Direction::Forward, "nhwc-igemm"), 0);
}

// What neighbouring lanes load, where they load single elements: pixels by the
// distance of their windows, chunks of eight channels of a filter by its taps,
// and of backward weights channels of y.
TEST(ChooseTile, KnowsHowFarLanesAreApart) {
  ConvProblem p = makeChannelsFirst(Direction::Forward);
  const GpuTarget &target = *findTarget("sm_80");
  auto getDistance = [&](const ConvProblem &problem) {
    return getGemmSize(problem, 32, target).rowOperand.laneDistance;
  };
  EXPECT_EQ(getDistance(p), 1);
  EXPECT_EQ(getGemmSize(p, 32, target).columnOperand.laneDistance, 8 * 9);
  p.stride = {2, 1};
  EXPECT_EQ(getDistance(p), 1);
  p.stride = {1, 2};
  EXPECT_EQ(getDistance(p), 2);
  p.direction = Direction::BackwardData;
  EXPECT_EQ(getDistance(p), 1);
  EXPECT_EQ(getGemmSize(p, 32, target).columnOperand.laneDistance, 9);
  p = makeChannelsFirst(Direction::BackwardWeights);
  EXPECT_EQ(getDistance(p), 14 * 14);
  p.yLayout = Layout::NHWC;
  EXPECT_EQ(getDistance(p), 8);
}

// On AMD's chips pixels of NCHW come in pairs where rows of the product are
// neighbours in memory, an even number of them, and the walk has taps.
TEST(ChooseTile, KnowsWherePixelsComeInPairs) {
  const GpuTarget &target = *findTarget("gfx942");
  auto getElements = [&](const ConvProblem &problem) {
    return getGemmSize(problem, 32, target).rowOperand.loadElements;
  };
  ConvProblem p = makeChannelsFirst(Direction::Forward);
  EXPECT_EQ(getElements(p), 2);
  p.stride = {1, 2};
  EXPECT_EQ(getElements(p), 1);
  p.direction = Direction::BackwardData;
  EXPECT_EQ(getElements(p), 1); // Rows of seven.
  p.stride = {1, 1};
  EXPECT_EQ(getElements(p), 2);
  p.outChannels = 48;
  EXPECT_EQ(getElements(p), 1);
}

// On RDNA taps of stride 1 share planes, of channels that are whole iterations
// of the loop, and are at most a tenth slower than in NHWC. On CDNA results are
// staged where they share none, and the AMD clock expects that to be faster:
// 0.063 ms for 0.066.
TEST(ChooseTile, SharesPlanesAmongTaps) {
  auto isShared = [](const ConvProblem &p, const char *chip) {
    return chooseTile(p, *findTarget(chip))->toText().ends_with("-h2");
  };
  auto getCost = [](ConvProblem p, Layout layout, const char *chip) {
    p.xLayout = p.wLayout = p.yLayout = layout;
    return rankTiles(p, *findTarget(chip))->front().cost;
  };
  EXPECT_FALSE(isShared(makeChannelsFirst(Direction::Forward), "gfx942"));
  for (const char *chip : {"gfx1100", "gfx1201"})
    for (Direction direction : {Direction::Forward, Direction::BackwardData}) {
      ConvProblem p = makeChannelsFirst(direction);
      EXPECT_TRUE(isShared(p, chip)) << chip;
      EXPECT_LT(getCost(p, Layout::NCHW, chip),
                getCost(p, Layout::NHWC, chip) / 0.9)
          << chip;
      EXPECT_FALSE(isShared(makeLayer(), chip)) << chip;
      p.in = {7, 7};
      EXPECT_TRUE(isShared(p, chip)) << chip;
      p = makeChannelsFirst(direction);
      p.inChannels = p.outChannels = 96;
      EXPECT_FALSE(isShared(p, chip)) << chip;
      p = makeChannelsFirst(direction);
      p.stride = {2, 2};
      EXPECT_FALSE(isShared(p, chip)) << chip;
      p = makeChannelsFirst(direction);
      p.dataType = DataType::F32;
      EXPECT_FALSE(isShared(p, chip)) << chip;
    }
}

// In NCHW backward weights walks planes on AMD's chips, filled up to whole
// chunks of eight pixels, and needs no launch that transposes, which is the
// first choice on RDNA. Splits are shares of the images, or of lines that are
// long enough.
TEST(ChooseTile, WalksPlanes) {
  ConvProblem p = makeChannelsFirst(Direction::BackwardWeights);
  const GpuTarget &target = *findTarget("gfx942");
  GemmSize size = getGemmSize(p, 32, target);
  EXPECT_TRUE(size.hasPlanes);
  EXPECT_EQ(size.reduction, static_cast<double>(p.batch * 25 * 8));
  EXPECT_EQ(size.splittable, p.batch);
  EXPECT_EQ(size.alsoSplittable, 1);
  EXPECT_EQ(size.tableBytes, 26 * 16);
  for (int64_t length : {14, 56}) {
    p.in = {length, length};
    for (const char *chip : {"gfx1100", "gfx1201"})
      EXPECT_EQ(chooseTile(p, *findTarget(chip))->algorithm, "igemm") << chip;
  }
  EXPECT_EQ(getGemmSize(p, 32, target).alsoSplittable, 56);
  EXPECT_FALSE(getGemmSize(p, 32, *findTarget("sm_80")).hasPlanes);
  EXPECT_FALSE(getGemmSize(p, 32, target, /*columns=*/96).hasPlanes);
  p.pad = {1, 0};
  EXPECT_FALSE(getGemmSize(p, 32, target).hasPlanes);
}

// Without taps, planes are walked that are no whole steps, and not split by
// lines.
TEST(ChooseTile, WalksPlanesWithoutTaps) {
  ConvProblem p = makeChannelsFirst(Direction::BackwardWeights);
  const GpuTarget &target = *findTarget("gfx942");
  p.filter = {1, 1};
  p.pad = {0, 0};
  const GemmSize size = getGemmSize(p, 32, target);
  EXPECT_TRUE(size.hasPlanes);
  EXPECT_EQ(size.tableBytes, 0);
  p.in = {36, 36};
  EXPECT_TRUE(getGemmSize(p, 32, target).hasPlanes);
  EXPECT_EQ(getGemmSize(p, 32, target).alsoSplittable, 1);
  p.in = {56, 56};
  EXPECT_FALSE(getGemmSize(p, 32, target).hasPlanes);
}

// On gfx942, where a line of L1 is a step of 128 bytes, planes may have steps
// of lines, and nothing else may, nor planes shorter than a step, which are not
// walked in such.
TEST(ChooseTile, HasStepsOfLinesForPlanes) {
  ConvProblem p = makeChannelsFirst(Direction::BackwardWeights);
  auto hasSteps = [&](int k, const char *chip) {
    const std::vector<Candidate> ranked = *rankTiles(p, *findTarget(chip));
    return std::ranges::any_of(ranked, [&](const Candidate &candidate) {
      return candidate.tile.algorithm == "igemm" &&
             parseGemmTile(candidate.tile)->k == k;
    });
  };
  EXPECT_TRUE(hasSteps(64, "gfx942"));
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  EXPECT_FALSE(hasSteps(64, "gfx942"));
  p = makeChannelsFirst(Direction::BackwardWeights);
  p.inChannels = p.outChannels = 512;
  p.in = {7, 7};
  EXPECT_FALSE(hasSteps(64, "gfx90a"));
  EXPECT_TRUE(hasSteps(32, "gfx90a"));
}

// Planes whose lines are fetched at once are no slower than two launches that
// transpose them, but of the shortest planes: the AMD clock expects 0.177 ms
// instead of 0.203 of 128 channels, and 0.145 instead of 0.181 of 512.
TEST(ChooseTile, WalksPlanesByLines) {
  ConvProblem p = makeChannelsFirst(Direction::BackwardWeights);
  const GpuTarget &target = *findTarget("gfx942");
  p.batch = 256;
  auto choose = [&](int64_t channels, int64_t length) {
    p.inChannels = p.outChannels = channels;
    p.in = {length, length};
    return chooseTile(p, target)->toText();
  };
  EXPECT_TRUE(choose(128, 28).starts_with("igemm-m128n128k32"));
  EXPECT_TRUE(choose(256, 14).starts_with("igemm-m256n128k32"));
  EXPECT_TRUE(choose(512, 7).starts_with("nhwc-igemm-m256n256k32"));
}

// Misaligned tensors are accessed element by element, and with long blocks the
// stores of a wave go to the same lines again and again.
TEST(ChooseTile, StoresShortBlocksToMisalignedTensors) {
  for (const char *text :
       {"rowwise-activ_fwd-m3-33554432-r-i:f16:1-o:f16:1",
        "rowwise-softmax_fwd-m1-32768x1024-r1-i:f16:1024:1-o:f16:1024:1"}) {
    const ErrorOr<Problem> problem = parseNetworkConfig(text);
    ASSERT_TRUE(problem) << problem.getStatus().getMessage();
    for (const char *chip : {"sm_90", "gfx942"}) {
      auto getVector = [&](const Problem &p) {
        return parseRowWiseTile(*chooseTile(p, *findTarget(chip)))->vector;
      };
      EXPECT_EQ(getVector(*problem), 8) << text << chip;
      EXPECT_LT(getVector(problem->asUnaligned()), 8) << text << chip;
    }
  }
}

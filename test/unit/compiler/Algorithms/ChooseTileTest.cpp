//===- ChooseTileTest.cpp - What the model chooses and refuses ------------===//

#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"
#include "compiler/Algorithms/RowWise/RowWiseTile.h"
#include "runtime/Base/TileSetting.h"
#include "test/unit/compiler/Algorithms/Layer.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace tessera;
using namespace tessera::test;

// The runtime, which has no compiler, checks the algorithm of a tile against
// names of its own; they must be those of the registry.
TEST(ChooseTile, EveryAlgorithmHasItsNameInTheRuntime) {
  EXPECT_EQ(getAlgorithms().size(), kAlgorithmNames.size());
  for (const Algorithm *algorithm : getAlgorithms())
    EXPECT_EQ(std::ranges::count(kAlgorithmNames, algorithm->getName()), 1)
        << algorithm->getName();
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
  ConvProblem p = makeStem();
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

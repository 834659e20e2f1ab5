//===- UnknownSizesTest.cpp - One kernel for many sizes -------------------===//
//
// Runs kernels for unknown sizes with many sizes on the device that
// TESSERA_DEVICE names, and compares each result with the reference
// (docs/design/0038-sizes-as-arguments.md).
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Algorithms/Registry.h"
#include "test/unit/Support/RunPool.h"
#include "test/unit/Support/RunRowWise.h"
#include "test/unit/execute/ConvFixture.h"
#include "test/unit/execute/Draw.h"
#include "test/unit/execute/DrawProblem.h"

#include <array>
#include <random>
#include <set>

using namespace tessera;
using namespace tessera::test;

/// An engine that prefers kernels for unknown sizes from the first problem on.
static std::unique_ptr<Engine>
makeGenericEngine(std::shared_ptr<KernelCompiler> compiler) {
  EngineOptions options;
  options.compiler = std::move(compiler);
  options.generic = {GenericUse::Keep, /*shapesBefore=*/0};
  return std::move(*Engine::create(getGpu(), std::move(options)));
}

namespace {
struct UnknownSizes : testing::Test {
  std::unique_ptr<Engine> engine = makeGenericEngine(createJitCompiler());

  uint64_t countGeneric() { return engine->getCounters().generic; }

  /// Expects that every problem so far had the kernel of one of so many
  /// families.
  void expectKernels(uint64_t problems, uint64_t families = 1) {
    EXPECT_EQ(countGeneric(), problems);
    EXPECT_EQ(engine->getCounters().compiled, families);
  }
};

/// A JIT compiler that takes the best tile whose text has `name` in it, even
/// where the model prefers another, mostly the general convolution.
class NamedTileCompiler final : public FixedTileCompiler {
public:
  explicit NamedTileCompiler(std::string name)
      : FixedTileCompiler(TileConfig()), name(std::move(name)) {}
  ErrorOr<TileConfig> chooseTile(const Problem &problem,
                                 const GpuTarget &target) const override {
    ErrorOr<std::vector<Candidate>> ranked =
        tessera::rankTiles(problem, target);
    if (!ranked)
      return ranked.getStatus();
    for (const Candidate &candidate : *ranked)
      if (candidate.tile.toText().find(name) != std::string::npos)
        return candidate.tile;
    return notFound("no " + name + " for " + problem.toNetworkConfig());
  }

private:
  std::string name;
};

/// Sizes around powers of two, at which the shift of a division changes, small
/// ones and primes.
constexpr int64_t kSizes[] = {1,  2,  3,  4,  5,  7,  8,  9,  15, 16,
                              17, 19, 23, 31, 32, 33, 37, 48, 63, 64};

struct Sizes {
  int64_t batch, h, w;
};
} // namespace

/// The `index`-th of a sequence of random sizes; the first few have every size
/// once in each dimension.
static Sizes drawSizes(int64_t index) {
  std::mt19937_64 random(getSeed() + static_cast<uint64_t>(index));
  auto draw = [&](int64_t shift) {
    const auto count = static_cast<int64_t>(std::size(kSizes));
    return index < count ? kSizes[(index * shift + shift) % count]
                         : static_cast<int64_t>(1 + random() % 40);
  };
  return {1 + draw(7) % 5, draw(1), draw(3)};
}

static ConvProblem makeConv(Direction direction, Layout layout) {
  ConvProblem p;
  p.direction = direction;
  p.dataType = DataType::F16;
  p.xLayout = p.wLayout = p.yLayout = layout;
  p.inChannels = 8;
  p.outChannels = 16;
  p.filter = {3, 2};
  p.pad = {1, 1};
  p.stride = {2, 1};
  p.dilation = {1, 2};
  return p;
}

// One kernel for each direction and layout serves all sizes, or two: images
// with channels last have one for few pixels.
TEST_F(UnknownSizes, OneConvolutionKernelServesAllSizes) {
  for (Direction direction : {Direction::Forward, Direction::BackwardData,
                              Direction::BackwardWeights})
    for (Layout layout : {Layout::NHWC, Layout::NCHW}) {
      engine.reset();
      SetUp();
      engine = makeGenericEngine(createJitCompiler());
      ConvProblem p = makeConv(direction, layout);
      constexpr int64_t kProblems = 20; // Others on each chip.
      std::set<std::string> families;
      for (int64_t i = 0; i < kProblems; ++i) {
        const Sizes sizes = drawSizes(i);
        p.batch = sizes.batch;
        p.in = {sizes.h, sizes.w};
        families.insert(Problem(p).findFamily()->problem.toNetworkConfig());
        checkConv(*engine, p,
                  i % 2 ? reference::DataKind::Uniform
                        : reference::DataKind::Integer);
      }
      EXPECT_LE(families.size(), 2u);
      expectKernels(kProblems, families.size());
    }
}

// Lines of a text-to-speech model's length: convolutions of one dimension, with
// batch 1, dilations and an epilogue.
TEST_F(UnknownSizes, OneKernelServesLines) {
  ConvProblem p = makeConv(Direction::Forward, Layout::NCHW);
  p.dataType = DataType::F32;
  p.filter = {1, 7};
  p.pad = {0, 9};
  p.stride = {1, 1};
  p.dilation = {1, 3};
  p.epilogue.bias = true;
  p.epilogue.activation = Activation::LeakyRelu;
  constexpr int64_t kProblems = 40;
  for (int64_t i = 0; i < kProblems; ++i) {
    p.in = {1, 1 + i * i};
    checkConv(*engine, p, reference::DataKind::Uniform);
  }
  expectKernels(kProblems);
}

// Random convolutions of every kind. Those whose images have gaps have kernels
// of their own.
TEST_F(UnknownSizes, RandomConvolutions) {
  for (int64_t i = 0; i < TESSERA_RANDOM_PROBLEMS; ++i) {
    const ConvProblem p = drawProblem(getSeed(), i);
    const uint64_t before = countGeneric();
    checkConv(*engine, p, reference::DataKind::Uniform);
    EXPECT_EQ(countGeneric() - before, Problem(p).findFamily() ? 1u : 0u)
        << p.toNetworkConfig();
  }
}

/// Widens rows that have no whole window, as such are of no family.
static void widenRows(ConvProblem &p) {
  const int64_t reach = (p.filter.w - 1) * p.dilation.w;
  p.in.w = std::max(p.in.w, reach + 1 - 2 * p.pad.w);
}

/// The `index`-th member of a family of convolutions.
static ConvProblem drawMember(ConvProblem p, int64_t index) {
  const Sizes sizes = drawSizes(index);
  p.batch = sizes.batch;
  p.in = p.filter.h == 1 && p.filter.w > 1 ? Spatial{1, sizes.h * sizes.w}
                                           : Spatial{sizes.h, sizes.w};
  // A line of one pixel under a window of one is of another family.
  if (p.filter == Spatial())
    p.in = {1 + sizes.h, 1 + sizes.w};
  widenRows(p);
  return p;
}

/// Runs `count` problems that differ in sizes, and expects that one kernel with
/// a tile of `name` served all of few pixels, and one the others.
static void checkFamily(Engine &engine, std::string_view config, int64_t count,
                        std::string_view name = "igemm") {
  const ConvProblem first = *parseNetworkConfig(config)->getConv();
  const uint64_t generic = engine.getCounters().generic;
  const uint64_t compiled = engine.getCounters().compiled;
  std::set<std::string> families, problems;
  for (int64_t i = 0; i < count; ++i) {
    const ConvProblem p = drawMember(first, i);
    problems.insert(p.toNetworkConfig()); // Sizes may be drawn twice.
    families.insert(Problem(p).findFamily()->problem.toNetworkConfig());
    const ConvOutcome outcome = runConv(engine, p,
                                        i % 2 ? reference::DataKind::Uniform
                                              : reference::DataKind::Integer,
                                        getSeed());
    EXPECT_TRUE(outcome.passed()) << p.toNetworkConfig() << ": " << outcome.tile
                                  << ": " << outcome.toText();
    EXPECT_NE(outcome.tile.find(name), std::string::npos) << outcome.tile;
  }
  EXPECT_EQ(engine.getCounters().generic - generic, problems.size()) << config;
  EXPECT_EQ(engine.getCounters().compiled - compiled, families.size())
      << config;
  EXPECT_LE(families.size(), 2u) << config;
}

/// The same for those of `configs` that this device runs.
static void checkFamilies(Engine &engine,
                          std::initializer_list<const char *> configs,
                          int64_t count, std::string_view name = "igemm") {
  int64_t number = 0;
  for (const char *config : configs)
    if (runsHere(number++))
      checkFamily(engine, config, count, name);
}

// Products of matrices serve channels last: windows that overlap, strides,
// unequal pads, groups, walks of every kind, types, epilogues and lines.
TEST_F(UnknownSizes, OneMatrixKernelServesAllSizes) {
  constexpr int64_t kProblems = 12; // Others on each chip.
  engine = makeGenericEngine(std::make_shared<NamedTileCompiler>("igemm"));
  checkFamilies(
      *engine,
      {"conv-fwd-f16-nhwc,nhwc,nhwc-n1c64h8w8-k64y3x3-p1x1-s1x1-d1x1-g1",
       "conv-fwd-f16-nhwc,nhwc,nhwc-n1c64h8w8-k96y1x1-p0x0-s1x1-d1x1-g1",
       "conv-fwd-bf16-nhwc,nhwc,nhwc-n1c96h8w8-k64y1x1-p0x0-s2x2-d1x1-g1",
       "conv-fwd-f16-nhwc,nhwc,nhwc-n1c24h8w8-k40y3x2-p2x0-s2x1-d1x2-g1",
       "conv-fwd-f32-nhwc,nhwc,nhwc-n1c32h8w8-k32y3x3-p1x1-s1x1-d1x1-g1",
       "conv-fwd-f16-nhwc,nhwc,nhwc-n1c128h8w8-k128y3x3-p1x1-s1x1-d1x1-g2",
       "conv-fwd-f16-nhwc,nhwc,nhwc-n1c64h1w8-k64y1x7-p0x9-s1x1-d1x3-g1",
       "conv-bwd-f16-nhwc,nhwc,nhwc-n1c64h8w8-k64y3x3-p1x1-s1x1-d1x1-g1",
       "conv-bwd-f16-nhwc,nhwc,nhwc-n1c64h8w8-k96y1x1-p0x0-s1x1-d1x1-g1",
       "conv-bwd-bf16-nhwc,nhwc,nhwc-n1c32h8w8-k64y3x3-p1x1-s2x2-d1x1-g1",
       "conv-bwd-f16-nhwc,nhwc,nhwc-n1c40h8w8-k64y4x3-p3x0-s3x2-d2x1-g1",
       "conv-bwd-f32-nhwc,nhwc,nhwc-n1c32h8w8-k32y1x1-p0x0-s2x2-d1x1-g1",
       "conv-wrw-f16-nhwc,nhwc,nhwc-n1c64h8w8-k64y3x3-p1x1-s1x1-d1x1-g1",
       "conv-wrw-bf16-nhwc,nhwc,nhwc-n1c32h8w8-k96y1x1-p0x0-s1x1-d1x1-g1",
       "conv-wrw-f16-nhwc,nhwc,nhwc-n1c24h8w8-k40y3x2-p2x0-s2x1-d1x2-g1",
       "conv-wrw-f32-nhwc,nhwc,nhwc-n1c32h8w8-k64y1x1-p0x0-s2x2-d1x1-g2"},
      kProblems);
}

// Channels first: launches around the products transpose images of unknown
// size, which lie one behind the other in the workspace. One channel, one tap
// and mixed layouts have fewer copies; lines and volumes other matrices.
TEST_F(UnknownSizes, OneMatrixKernelServesChannelsFirst) {
  constexpr int64_t kProblems = 16;
  engine = makeGenericEngine(std::make_shared<NamedTileCompiler>("igemm"));
  checkFamilies(
      *engine,
      {"conv-fwd-f16-nchw,nchw,nchw-n1c64h8w8-k96y3x3-p1x1-s1x1-d1x1-g1",
       "conv-fwd-f32-nchw,nchw,nchw-n1c20h8w8-k33y1x1-p0x0-s2x2-d1x1-g1",
       "conv-fwd-f16-nhwc,nchw,nchw-n1c64h8w8-k64y1x1-p0x0-s1x1-d1x1-g1",
       "conv-fwd-f16-nchw,nchw,nchw-n1c64h1w8-k64y1x7-p0x9-s1x1-d1x3-g2",
       "conv-bwd-bf16-nchw,nchw,nchw-n1c24h8w8-k40y3x3-p1x1-s2x2-d1x1-g1",
       "conv-bwd-f16-nchw,nchw,nhwc-n1c64h8w8-k96y1x1-p0x0-s1x1-d1x1-g1",
       "conv-wrw-f16-nchw,nchw,nchw-n1c24h8w8-k40y3x2-p2x0-s2x1-d1x2-g1",
       "conv-wrw-f32-nchw,nchw,nchw-n1c64h8w8-k64y1x1-p0x0-s1x1-d1x1-g1"},
      kProblems);
}

// The same with images that stay as they are, one pixel a load, or that alone
// whose pixels are stored: flat walks, strides, groups, lines, volumes, and
// epilogues with a tensor of the result's layout.
TEST_F(UnknownSizes, OneMatrixKernelServesPlanes) {
  constexpr int64_t kProblems = 8;
  for (const char *name : {"nhwc-w-igemm", "nhwc-operands-igemm"}) {
    engine = makeGenericEngine(std::make_shared<NamedTileCompiler>(name));
    checkFamilies(
        *engine,
        {"conv-fwd-f16-nchw,nchw,nchw-n1c64h8w8-k96y3x3-p1x1-s1x1-d1x1-g1-"
         "ebias+relu",
         "conv-fwd-f32-nchw,nchw,nchw-n1c20h8w8-k33y3x2-p1x0-s2x1-d1x2-g1",
         "conv-fwd-f16-nchw,nchw,nchw-n1c64h1w8-k64y1x7-p0x9-s1x1-d1x3-g2",
         "conv-bwd-bf16-nchw,nchw,nchw-n1c24h8w8-k40y3x2-p1x0-s1x1-d1x2-g1",
         "conv-bwd-f16-nchw,nchw,nchw-n1c96h8w8-k64y3x3-p1x1-s1x1-d1x1-g1"},
        kProblems);
  }
  // A filter is stored as it is, too.
  checkFamilies(
      *engine,
      {"conv-wrw-bf16-nchw,nchw,nchw-n1c24h8w8-k40y3x2-p2x0-s2x1-d1x2-g1",
       "conv-wrw-f16-nhwc,nchw,nhwc-n1c32h8w8-k33y3x3-p1x1-s1x1-d1x1-g1"},
      kProblems);
  engine = makeGenericEngine(std::make_shared<NamedTileCompiler>("igemm"));
  checkFamily(*engine,
              "conv-fwd-f16-nchw,nchw,nchw-n1c64h8w8-k64y1x1-p0x0-s1x1-d1x1-"
              "g1-eresidual+relu",
              kProblems);
}

// Few channels a group: vectors of channels, columns and several channels a
// group; filters that workgroups share where groups alone fill them.
TEST_F(UnknownSizes, OneDepthwiseKernelServesAllSizes) {
  constexpr int64_t kProblems = 16;
  engine = makeGenericEngine(std::make_shared<NamedTileCompiler>("depthwise"));
  checkFamilies(
      *engine,
      {"conv-fwd-f16-nhwc,nhwc,nhwc-n1c48h8w8-k48y3x3-p1x1-s1x1-d1x1-g48",
       "conv-fwd-f32-nhwc,nhwc,nhwc-n1c12h8w8-k24y5x3-p2x0-s2x1-d1x2-g12",
       "conv-fwd-bf16-nchw,nchw,nchw-n1c10h8w8-k10y7x7-p3x3-s1x1-d1x1-g10",
       "conv-bwd-f16-nhwc,nhwc,nhwc-n1c32h8w8-k16y3x3-p1x1-s2x2-d1x1-g16",
       "conv-bwd-f32-nchw,nchw,nchw-n1c7h8w8-k7y3x4-p1x2-s2x1-d1x1-g7"},
      kProblems, "depthwise");
}

/// A JIT compiler that takes igemm's best tile of the family's sample under the
/// name "packed", which only NVIDIA's chips choose.
class PackedTileCompiler final : public FixedTileCompiler {
public:
  PackedTileCompiler() : FixedTileCompiler(TileConfig()) {}
  ErrorOr<TileConfig> chooseTile(const Problem &problem,
                                 const GpuTarget &target) const override {
    if (Status status = getPacked().check(problem, target); !status.isOk())
      return status;
    for (const Candidate &candidate :
         getImplicitGemm().getCandidates(problem, target))
      if (candidate.tile.parameters.find("-s") == std::string::npos)
        return TileConfig{"packed", candidate.tile.parameters};
    return notFound("no tile for " + problem.toNetworkConfig());
  }
};

// Tensors that are packed: windows of three and more channels, with strides
// that become channels; images whose channels are padded, of both operands; and
// all of that behind copies.
TEST_F(UnknownSizes, OnePackedKernelServesAllSizes) {
  constexpr int64_t kProblems = 12;
  engine = makeGenericEngine(std::make_shared<PackedTileCompiler>());
  checkFamilies(
      *engine,
      {"conv-fwd-f16-nhwc,nhwc,nhwc-n1c3h8w8-k24y7x7-p3x3-s2x2-d1x1-g1-"
       "ebias+relu",
       "conv-fwd-f32-nhwc,nhwc,nhwc-n1c13h8w8-k21y5x3-p2x0-s1x3-d1x1-g1",
       "conv-bwd-f16-nhwc,nhwc,nhwc-n1c3h8w8-k16y7x7-p3x3-s2x2-d1x1-g1",
       "conv-bwd-bf16-nhwc,nhwc,nhwc-n1c13h8w8-k21y4x5-p1x2-s1x1-d1x1-g1",
       "conv-wrw-f16-nhwc,nhwc,nhwc-n1c3h8w8-k16y7x7-p3x3-s2x2-d1x1-g1",
       "conv-wrw-f32-nhwc,nhwc,nhwc-n1c13h8w8-k70y3x4-p1x2-s2x1-d1x1-g1",
       "conv-wrw-f16-nchw,nchw,nchw-n1c13h8w8-k21y3x3-p1x1-s1x1-d1x1-g1"},
      kProblems, "packed");
}

// Few input channels: the windows of a block of pixels, in lines of any length,
// whose pieces are loaded as a whole where they divide it. Channels are planes
// or neighbours, filters are wide, high or dilated, and results lines of either
// layout.
TEST_F(UnknownSizes, OneStemKernelServesAllSizes) {
  constexpr int64_t kProblems = 24;
  engine = makeGenericEngine(std::make_shared<NamedTileCompiler>("stem"));
  checkFamilies(
      *engine,
      {"conv-fwd-f16-nhwc,nhwc,nhwc-n1c3h8w8-k64y7x7-p3x3-s2x2-d1x1-g1",
       "conv-fwd-f16-nchw,nchw,nchw-n1c3h8w8-k64y7x7-p3x3-s2x2-d1x1-g1",
       "conv-fwd-bf16-nhwc,nhwc,nhwc-n1c4h8w8-k40y3x3-p1x1-s1x1-d1x1-g1-"
       "ebias+relu",
       "conv-fwd-f32-nchw,nchw,nhwc-n1c2h8w8-k33y3x5-p2x1-s1x2-d2x1-g1",
       "conv-fwd-f32-nhwc,nhwc,nchw-n1c1h8w8-k64y1x9-p0x4-s1x1-d1x1-g1"},
      kProblems, "stem");
}

// Their backward weights walk strips of images, whose number is unknown.
TEST_F(UnknownSizes, OneDepthwiseKernelServesAllWeights) {
  constexpr int64_t kProblems = 16;
  engine = makeGenericEngine(std::make_shared<NamedTileCompiler>("depthwise"));
  checkFamilies(
      *engine,
      {"conv-wrw-f16-nhwc,nhwc,nhwc-n1c48h8w8-k48y3x3-p1x1-s1x1-d1x1-g48",
       "conv-wrw-f32-nhwc,nhwc,nhwc-n1c12h8w8-k24y5x3-p2x0-s2x1-d1x2-g12",
       "conv-wrw-bf16-nchw,nchw,nchw-n1c10h8w8-k10y7x7-p3x3-s1x1-d1x1-g10",
       "conv-wrw-f16-nhwc,nhwc,nhwc-n1c32h8w8-k16y3x3-p1x1-s2x2-d1x1-g16"},
      kProblems, "depthwise");
}

/// Runs the `index`-th member of a family, on integers if that is even; returns
/// the tile.
static std::string expectRight(Engine &engine, const ConvProblem &p,
                               int64_t index) {
  const ConvOutcome outcome = runConv(engine, p,
                                      index % 2 ? reference::DataKind::Uniform
                                                : reference::DataKind::Integer,
                                      getSeed());
  EXPECT_TRUE(outcome.passed()) << p.toNetworkConfig() << ": " << outcome.tile
                                << ": " << outcome.toText();
  return outcome.tile;
}

// A few pixels of many channels: splits of the reduction, whose partial results
// lie in a workspace of unknown size, alone and behind copies, with channels
// last whatever the result has, are added by a launch that has the epilogue.
TEST_F(UnknownSizes, OneSplitKernelServesFewPixels) {
  constexpr int64_t kProblems = 6;
  engine = makeGenericEngine(std::make_shared<NamedTileCompiler>("-s4"));
  for (const char *config :
       {"conv-fwd-f16-nhwc,nhwc,nhwc-n1c256h8w8-k320y3x3-p1x1-s1x1-d1x1-g1-"
        "ebias+relu",
        "conv-fwd-f32-nhwc,nhwc,nhwc-n1c256h8w8-k260y1x1-p0x0-s2x2-d1x1-g1",
        "conv-bwd-bf16-nhwc,nhwc,nhwc-n1c320h8w8-k256y3x3-p1x1-s2x2-d1x1-g1",
        "conv-fwd-f16-nchw,nchw,nchw-n1c256h8w8-k320y3x3-p1x1-s1x1-d1x1-g1",
        "conv-fwd-f16-nchw,nchw,nchw-n1c256h8w8-k90y1x1-p0x0-s1x1-d1x1-g1-"
        "eresidual+relu",
        "conv-bwd-f16-nchw,nchw,nchw-n1c512h8w8-k512y1x1-p0x0-s1x1-d1x1-g2"}) {
    ConvProblem p = *parseNetworkConfig(config)->getConv();
    for (int64_t i = 0; i < kProblems; ++i) {
      const Sizes sizes = drawSizes(i);
      p.batch = 1 + sizes.batch % 2;
      p.in = {2 + sizes.h % 11, 2 + sizes.w % 11};
      widenRows(p);
      ASSERT_TRUE(Problem(p).findFamily()->problem.isSmall());
      EXPECT_NE(expectRight(*engine, p, i).find("-s4"), std::string::npos);
    }
  }
  EXPECT_EQ(engine->getCounters().compiled, 6u);
}

/// A compiler that takes the most splits of 32 and 16 that the model ranks for
/// the family of `p`; null if it ranks neither, as for chips of few units.
static std::shared_ptr<NamedTileCompiler> findManySplits(const ConvProblem &p) {
  for (const char *name : {"-s32", "-s16"}) {
    auto compiler = std::make_shared<NamedTileCompiler>(name);
    if (compiler->chooseTile(Problem(p).findFamily()->problem, getTarget()))
      return compiler;
  }
  return nullptr;
}

// Of many splits as many are used as the pixels allow.
TEST_F(UnknownSizes, SizesDecideTheSplitsOfWeights) {
  constexpr int64_t kProblems = 4;
  for (const char *config :
       {"conv-wrw-f16-nchw,nchw,nchw-n4c22h19w16-k96y3x2-p1x0-s2x1-d1x2-g1",
        "conv-wrw-f16-nchw,nchw,nchw-n4c40h19w16-k24y1x1-p0x0-s1x1-d1x1-g1",
        "conv-wrw-f16-nhwc,nhwc,nhwc-n4c64h19w16-k32y3x3-p1x1-s1x1-d1x1-g1"}) {
    ConvProblem p = *parseNetworkConfig(config)->getConv();
    const auto compiler = findManySplits(p);
    if (!compiler)
      continue;
    engine = makeGenericEngine(compiler);
    for (int64_t i = 0; i < kProblems; ++i) {
      p.batch = 4 + 3 * i;
      p.in = {19 + 4 * i, 16 + 9 * i};
      ASSERT_FALSE(Problem(p).findFamily()->problem.isSmall());
      expectRight(*engine, p, i);
    }
    EXPECT_EQ(engine->getCounters().compiled, 1u) << config;
  }
}

/// Runs problems of one family by its kernel and by their own kernels of the
/// same tile, and expects the same results bit for bit.
static void checkSameBits(Engine &engine, std::string_view config) {
  constexpr int64_t kFirst = 5, kLast = 9;
  const ConvProblem first = *parseNetworkConfig(config)->getConv();
  for (int64_t i = kFirst; i < kLast; ++i) {
    const ConvProblem p = drawMember(first, i);
    const ConvOutcome generic =
        runConv(engine, p, reference::DataKind::Uniform, getSeed());
    ASSERT_TRUE(generic.passed()) << config << ": " << generic.toText();
    const ErrorOr<TileConfig> tile = parseTileConfig(generic.tile);
    ASSERT_TRUE(tile) << tile.getStatus().getMessage();
    const ConvOutcome own =
        runConv(*makeEngine(std::make_shared<FixedTileCompiler>(*tile)), p,
                reference::DataKind::Uniform, getSeed());
    EXPECT_TRUE(own.passed()) << config << ": " << own.toText();
    EXPECT_EQ(own.tile, generic.tile);
    EXPECT_TRUE(own.result == generic.result)
        << p.toNetworkConfig() << ", " << own.tile;
  }
}

// A problem's own kernel of the same tile adds in the same order, forward and,
// unless there are strides, backward data. Splits of backward weights are other
// parts of the reduction.
TEST_F(UnknownSizes, OwnKernelsHaveTheSameBits) {
  // A tile that stores a result as it is exists for unknown sizes only.
  engine = makeGenericEngine(std::make_shared<NamedTileCompiler>("nhwc-igemm"));
  for (const char *config :
       {"conv-fwd-f16-nchw,nchw,nchw-n1c64h8w8-k96y3x3-p1x1-s1x1-d1x1-g1",
        "conv-fwd-f32-nchw,nchw,nchw-n1c20h8w8-k33y1x1-p0x0-s2x2-d1x1-g1",
        "conv-bwd-bf16-nchw,nchw,nchw-n1c24h8w8-k40y3x3-p1x1-s1x1-d1x1-g1",
        "conv-bwd-f32-nchw,nchw,nchw-n1c32h8w8-k32y3x3-p1x1-s1x1-d1x1-g1",
        "conv-bwd-f16-nchw,nchw,nhwc-n1c64h8w8-k96y1x1-p0x0-s1x1-d1x1-g1"})
    checkSameBits(*engine, config);
  engine = makeGenericEngine(std::make_shared<NamedTileCompiler>("igemm"));
  for (const char *config :
       {"conv-fwd-f16-nhwc,nhwc,nhwc-n1c64h8w8-k64y3x3-p1x1-s1x1-d1x1-g1",
        "conv-bwd-f16-nhwc,nhwc,nhwc-n1c64h8w8-k64y3x3-p1x1-s1x1-d1x1-g1"})
    checkSameBits(*engine, config);
}

static PoolProblem makePool(Direction direction, PoolMode mode, Layout layout) {
  PoolProblem p;
  p.direction = direction;
  p.mode = mode;
  p.dataType = DataType::F16;
  p.xLayout = p.yLayout = layout;
  p.channels = 24;
  p.window = {3, 2};
  p.pad = {1, 0};
  p.stride = {2, 1};
  if (mode == PoolMode::Max)
    p.indexType = IndexType::U8;
  return p;
}

// A maximum's indices of pixels depend on the sizes of the image.
TEST_F(UnknownSizes, OneKernelServesIndicesOfPixels) {
  constexpr int64_t kProblems = 10;
  uint64_t kernels = 0;
  for (Direction direction : {Direction::Forward, Direction::BackwardData})
    for (Layout layout : {Layout::NHWC, Layout::NCHW})
      for (int64_t window : {2, 13}) {
        PoolProblem p = makePool(direction, PoolMode::Max, layout);
        p.indexMode = IndexMode::Image;
        p.indexType = window == 2 ? IndexType::U64 : IndexType::U32;
        p.window = {window + 1, window};
        for (int64_t i = 0; i < kProblems; ++i) {
          const Sizes sizes = drawSizes(i);
          p.batch = sizes.batch;
          p.in = {sizes.h + window, sizes.w + window};
          const PoolOutcome outcome =
              runPool(*engine, p, PoolData::Ties, getSeed());
          EXPECT_TRUE(outcome.passed())
              << p.toNetworkConfig() << ": " << outcome.toText();
        }
        EXPECT_EQ(countGeneric(), ++kernels * kProblems);
        EXPECT_EQ(engine->getCounters().compiled, kernels);
      }
}

// One kernel for each kind of pooling serves all sizes.
TEST_F(UnknownSizes, OnePoolingKernelServesAllSizes) {
  constexpr int64_t kProblems = 24;
  uint64_t kernels = 0;
  for (Direction direction : {Direction::Forward, Direction::BackwardData})
    for (PoolMode mode : {PoolMode::Max, PoolMode::Average})
      for (Layout layout : {Layout::NHWC, Layout::NCHW}) {
        PoolProblem p = makePool(direction, mode, layout);
        for (int64_t i = 0; i < kProblems; ++i) {
          const Sizes sizes = drawSizes(i);
          p.batch = sizes.batch;
          p.in = {sizes.h, sizes.w};
          const PoolOutcome outcome =
              runPool(*engine, p, PoolData::Ties, getSeed());
          EXPECT_TRUE(outcome.passed())
              << p.toNetworkConfig() << ": " << outcome.toText();
        }
        EXPECT_EQ(countGeneric(), ++kernels * kProblems);
        EXPECT_EQ(engine->getCounters().compiled, kernels);
      }
}

// Random poolings of every kind. Images with gaps have kernels of their own.
TEST_F(UnknownSizes, RandomPoolings) {
  for (int64_t i = 0; i < TESSERA_RANDOM_PROBLEMS; ++i) {
    const PoolProblem p = drawPool(getSeed(), i);
    const PoolOutcome outcome =
        runPool(*engine, p, PoolData::Uniform, getSeed());
    EXPECT_TRUE(outcome.passed()) << p.toNetworkConfig() << ": " << outcome.tile
                                  << ": " << outcome.toText();
  }
  EXPECT_GT(countGeneric(), uint64_t(TESSERA_RANDOM_PROBLEMS / 4));
}

/// Normalises rows of 200 elements, with a weight and a bias for each column.
static RowWiseProblem makeNorm(int64_t rows) {
  RowWiseProblem p =
      *parseNetworkConfig(
           "rowwise-softmax_fwd-m2-64x200-r1-i:f16:200:1-o:f16:200:1")
           ->getRows();
  p.lengths[0] = rows;
  return p;
}

// One kernel serves all numbers of rows.
TEST_F(UnknownSizes, OneKernelServesAllRows) {
  uint64_t problems = 0;
  for (int64_t rows = 2; rows < 3000; rows += 1 + rows / 5, ++problems) {
    const RowOutcome outcome =
        runRowWise(*engine, makeNorm(rows), getSeed(), 0);
    EXPECT_TRUE(outcome.passed()) << rows << " rows: " << outcome.toText();
  }
  expectKernels(problems);
}

// A line of elements has a kernel for each power of two up to 8 that divides
// its length.
TEST_F(UnknownSizes, FewKernelsServeAllLines) {
  for (int64_t length :
       {3, 6, 12, 24, 63, 64, 126, 252, 999, 1000, 1002, 4100}) {
    const RowWiseProblem line =
        *parseNetworkConfig("rowwise-activ_fwd-m3-" + std::to_string(length) +
                            "-r-i:f32:1-o:f32:1")
             ->getRows();
    const RowOutcome outcome = runRowWise(*engine, line, getSeed(), 0);
    EXPECT_TRUE(outcome.passed()) << length << ": " << outcome.toText();
  }
  EXPECT_EQ(engine->getCounters().compiled, 4u);
}

// Random row-wise operations of every kind.
TEST_F(UnknownSizes, RandomRows) {
  for (int64_t i = 0; i < TESSERA_RANDOM_PROBLEMS; ++i) {
    const RowWiseProblem p = drawRowWise(getSeed(), i);
    const RowOutcome outcome = runRowWise(*engine, p, getSeed(), 0);
    EXPECT_TRUE(outcome.passed()) << p.toNetworkConfig() << ": " << outcome.tile
                                  << ": " << outcome.toText();
  }
  EXPECT_GT(countGeneric(), uint64_t(TESSERA_RANDOM_PROBLEMS / 3));
}

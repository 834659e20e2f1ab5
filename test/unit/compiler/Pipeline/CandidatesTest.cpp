//===- CandidatesTest.cpp - Every tile of the model can be compiled -------===//
//
// If the lowering refuses a tile that the model offers, tuning reports an
// error, and a client whose tile the model chooses gets no kernel.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Registry.h"
#include "compiler/Pipeline/Pipeline.h"
#include "test/unit/Support/RandomProblem.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace tessera;

/// Draws a convolution without groups that TMA can load, or that is packed so
/// that it can.
static ConvProblem drawProblem(test::RandomProblem &random, int index) {
  ConvProblem p;
  p.direction = static_cast<Direction>(index % 3);
  p.dataType = DataType::BF16;
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  p.batch = random.pick(1, 5);
  p.inChannels = random.pick(1, 200);
  p.outChannels = random.pick(1, 40) * random.pick(1, 8);
  p.filter = random.pickPair(1, 5);
  p.in = random.pickPair(7, 30);
  p.pad = {random.pick(0, p.filter.h), random.pick(0, p.filter.w)};
  if (index % 2 == 0)
    p.setPadAfter({random.pick(0, p.filter.h), random.pick(0, p.filter.w)});
  p.stride = random.pickPair(1, std::min<int64_t>(2, p.filter.h));
  p.stride.w = std::min(p.stride.w, p.filter.w);
  return p.canonicalize();
}

/// Draws a convolution with groups of 4 to 32 channels.
static ConvProblem drawNarrow(test::RandomProblem &random, int index) {
  ConvProblem p = drawProblem(random, index);
  p.inChannels = p.outChannels = 64 * random.pick(1, 2);
  p.groups = p.inChannels >> random.pick(2, 5);
  p.in = random.pickPair(5, 17);
  if (p.direction == Direction::BackwardData)
    p.stride = {1, 1};
  return p.canonicalize();
}

/// Lowers all tiles that `algorithm` offers for `p` on a chip, if any.
static void lowerAll(CompileContext &context, const Algorithm &algorithm,
                     const ConvProblem &p, const char *chip = "sm_90") {
  const GpuTarget *target = findTarget(chip);
  if (!p.verify().isOk() || !algorithm.check(p, *target).isOk())
    return;
  for (const Candidate &candidate : algorithm.getCandidates(p, *target)) {
    PipelineOptions options{.target = target,
                            .tile = candidate.tile.toText(),
                            .stopAfter = Stage::Gpu};
    ErrorOr<PipelineResult> result = compileProblem(context, p, options);
    ASSERT_TRUE(result) << p.toNetworkConfig() << " " << options.tile << ": "
                        << result.getStatus().getMessage();
  }
}

// Every tile of every random problem can be lowered for an H100. Among the
// tiles are halos, whose rows must be positions of the image with the padding
// of both ends, and pipelines with as many stages as fit into shared memory.
TEST(Candidates, AreAllLowered) {
  test::RandomProblem random;
  SCOPED_TRACE(random.getSeed());
  CompileContext context;
  for (int index = 0; index < 12; ++index) {
    const ConvProblem p = drawProblem(random, index);
    for (const Algorithm *algorithm : {&getImplicitGemm(), &getPacked()})
      ASSERT_NO_FATAL_FAILURE(lowerAll(context, *algorithm, p));
  }
}

// The same holds for f32 that may be rounded to tf32.
TEST(Candidates, OfTf32AreAllLowered) {
  test::RandomProblem random;
  SCOPED_TRACE(random.getSeed());
  CompileContext context;
  for (int index = 0; index < 9; ++index) {
    ConvProblem p = drawProblem(random, index);
    p.dataType = DataType::F32;
    p.mathType = MathType::Tf32;
    for (const Algorithm *algorithm : {&getImplicitGemm(), &getPacked()})
      ASSERT_NO_FATAL_FAILURE(lowerAll(context, *algorithm, p));
  }
}

// Products with a single channel as rows or columns are tested here, because
// they are seldom drawn.
TEST(Candidates, OfOneChannelAreAllLowered) {
  CompileContext context;
  for (int index = 0; index < 12; ++index) {
    ConvProblem p;
    p.direction = static_cast<Direction>(index % 3);
    p.dataType = DataType::BF16;
    p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
    p.inChannels = index / 3 % 2 ? 1 : 42;
    p.outChannels = index / 6 ? 1 : 40;
    p.in = {7, 9};
    p.filter = {3, 2};
    p = p.canonicalize();
    for (const Algorithm *algorithm : {&getImplicitGemm(), &getPacked()})
      ASSERT_NO_FATAL_FAILURE(lowerAll(context, *algorithm, p));
  }
}

// The same holds for narrow groups: for persistent workgroups, and for runs of
// lines with strides and with windows that share no line.
TEST(Candidates, OfNarrowGroupsAreAllLowered) {
  test::RandomProblem random;
  SCOPED_TRACE(random.getSeed());
  CompileContext context;
  for (int index = 0; index < 12; ++index) {
    ConvProblem p = drawNarrow(random, index);
    if (index / 3 % 2 == 1) {
      p.dataType = DataType::F32;
      p.mathType = MathType::Tf32;
    }
    ASSERT_NO_FATAL_FAILURE(lowerAll(context, getNarrowGroups(), p));
  }
}

// The same holds for forward and backward data of few tiles, whose reduction is
// split, on each kind of chip.
TEST(Candidates, OfSplitsAreAllLowered) {
  CompileContext context;
  for (const char *chip : {"sm_90", "sm_80", "gfx942", "gfx1100"})
    for (Direction direction : {Direction::Forward, Direction::BackwardData})
      for (int64_t stride : {1, 2}) {
        ConvProblem p;
        p.direction = direction;
        p.dataType = DataType::BF16;
        p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
        p.inChannels = p.outChannels = 256;
        p.in = {5, 7};
        p.filter = {3, 2};
        p.pad = {1, 1};
        p.stride = {stride, stride};
        p.epilogue.bias = stride == 2;
        const auto offered =
            getImplicitGemm().getCandidates(p, *findTarget(chip));
        EXPECT_TRUE(std::ranges::any_of(offered, [](const Candidate
                                                        &candidate) {
          return candidate.tile.parameters.find("-s") != std::string::npos;
        })) << chip;
        ASSERT_NO_FATAL_FAILURE(lowerAll(context, getImplicitGemm(), p, chip));
      }
}

// The same holds for planes of NCHW that taps share on AMD's chips: of images
// and results of different lengths, and filters of up to 25 taps.
TEST(Candidates, OfSharedPlanesAreAllLowered) {
  test::RandomProblem random;
  SCOPED_TRACE(random.getSeed());
  CompileContext context;
  int shared = 0;
  for (int index = 0; index < 24; ++index)
    for (const char *chip :
         {"gfx908", "gfx942", "gfx950", "gfx1100", "gfx1201"}) {
      ConvProblem p = drawProblem(random, index);
      p.direction =
          index % 2 == 0 ? Direction::Forward : Direction::BackwardData;
      p.dataType = index % 4 < 2 ? DataType::BF16 : DataType::F16;
      p.xLayout = p.wLayout = p.yLayout = Layout::NCHW;
      p.inChannels = p.outChannels = 64;
      p.stride = {1, 1};
      p = p.canonicalize();
      ASSERT_NO_FATAL_FAILURE(lowerAll(context, getImplicitGemm(), p, chip));
      for (const Candidate &candidate :
           getImplicitGemm().getCandidates(p, *findTarget(chip)))
        shared += candidate.tile.parameters.ends_with("-h2") ? 1 : 0;
    }
  EXPECT_GT(shared, 0);
}

// Images that are matrices: one and several, whose last step of pixels is a
// part of one. Splits of one image must divide its steps, and do.
TEST(Candidates, OfImageMatricesAreAllLowered) {
  CompileContext context;
  for (int64_t batch : {1, 3})
    for (Direction direction : {Direction::Forward, Direction::BackwardData,
                                Direction::BackwardWeights}) {
      ConvProblem p;
      p.direction = direction;
      p.dataType = DataType::BF16;
      p.batch = batch;
      p.inChannels = 72;
      p.outChannels = 200;
      p.in = {28, 30};
      ASSERT_NO_FATAL_FAILURE(lowerAll(context, getImplicitGemm(), p));
    }
}

// The same holds for f32 that may not be rounded, in both layouts.
TEST(Candidates, OfExactF32AreAllLowered) {
  test::RandomProblem random;
  SCOPED_TRACE(random.getSeed());
  CompileContext context;
  for (int index = 0; index < 6; ++index) {
    ConvProblem p = drawProblem(random, index);
    p.dataType = DataType::F32;
    p.inChannels = p.inChannels / 4 * 4 + 4;
    p.outChannels = p.outChannels / 4 * 4 + 4;
    if (index % 2 == 0)
      p.xLayout = p.wLayout = p.yLayout = Layout::NCHW;
    p = p.canonicalize();
    for (const Algorithm *algorithm : {&getImplicitGemm(), &getChannelsLast()})
      ASSERT_NO_FATAL_FAILURE(lowerAll(context, *algorithm, p));
  }
}

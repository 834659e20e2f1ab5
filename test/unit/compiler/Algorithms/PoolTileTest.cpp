//===- PoolTileTest.cpp - The tiles of pooling and their choice -----------===//

#include "compiler/Algorithms/Pooling/PoolTile.h"
#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Algorithms/Pooling/PoolGeometry.h"
#include "compiler/Algorithms/Pooling/PoolModel.h"
#include "compiler/Algorithms/Pooling/PoolSplit.h"
#include "compiler/Frontend/PoolFrontend.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

using namespace tessera;

/// 3x3 with stride 2, as ResNet-50 begins.
static PoolProblem makeStem() {
  PoolProblem p;
  p.dataType = DataType::F16;
  p.xLayout = p.yLayout = Layout::NHWC;
  p.batch = 64;
  p.channels = 64;
  p.in = {112, 112};
  p.window = {3, 3};
  p.pad = {1, 1};
  p.stride = {2, 2};
  return p;
}

static std::string choose(const PoolProblem &problem,
                          std::string_view chip = "gfx942") {
  auto tile = chooseTile(problem, *findTarget(chip));
  return tile ? tile->toText() : tile.getStatus().getMessage();
}

// The texts are part of a database key, and a text that is written can be read.
TEST(PoolTile, HasAStableText) {
  const PoolTile tile{8, 2, 1};
  EXPECT_EQ(tile.toConfig().toText(), "pool-c8h2w1");
  EXPECT_EQ(*parsePoolTile(tile.toConfig()), tile);
  const PoolSplitTile split{4, 8, 32};
  EXPECT_EQ(split.toConfig().toText(), "poolsplit-c4h8w32");
  EXPECT_EQ(*parsePoolSplitTile(split.toConfig()), split);
}

// Values and indices of a thread's outputs do not fill the registers: 4 channels
// by 4 rows by 8 columns of f32 are offered without indices only.
TEST(PoolTile, LeavesRegisters) {
  PoolProblem p = makeStem();
  p.dataType = DataType::F32;
  p.stride = {1, 1};
  p.window = {2, 2};
  auto offers = [&](const PoolTile &tile) {
    return llvm::any_of(
        getPoolCandidates(p, *findTarget("gfx1100"), kPoolRates),
        [&](const Candidate &one) { return one.tile == tile.toConfig(); });
  };
  EXPECT_TRUE(offers({4, 4, 8}));
  p.indexType = IndexType::U32;
  EXPECT_FALSE(offers({4, 4, 8}));
  EXPECT_TRUE(offers({4, 2, 8}));
}

// Only the canonical text is a tile.
TEST(PoolTile, RefusesOtherTexts) {
  for (const char *text :
       {"pool", "pool-c8h2", "pool-c8h2w1-", "pool-h2c8w1", "pool-c0h2w1",
        "pool-c8h2w-1", "pool-c08h2w1", "poolsplit-c8h2w1"})
    EXPECT_EQ(parsePoolTile(*parseTileConfig(text)).getStatus().getCode(),
              StatusCode::InvalidArgument)
        << text;
  for (const char *text :
       {"poolsplit", "poolsplit-c8h2w0", "poolsplit-c8h2w1x", "pool-c8h2w1"})
    EXPECT_EQ(parsePoolSplitTile(*parseTileConfig(text)).getStatus().getCode(),
              StatusCode::InvalidArgument)
        << text;
}

// A thread has 16 bytes of channels if these are contiguous; a window as large
// as the image of one channel is shared between threads, but a wide window in
// backward direction is not.
TEST(PoolTile, Choice) {
  EXPECT_TRUE(choose(makeStem()).starts_with("pool-c8")) << choose(makeStem());
  PoolProblem p = makeStem();
  p.direction = Direction::BackwardData;
  p.indexType = IndexType::U8;
  EXPECT_TRUE(choose(p).starts_with("pool-c")) << choose(p);
  p = PoolProblem();
  p.in = p.window = {410, 400};
  EXPECT_TRUE(choose(p).starts_with("poolsplit-c1")) << choose(p);
  p.mode = PoolMode::Average;
  p.direction = Direction::BackwardData;
  EXPECT_EQ(choose(p), "pool-c1h1w1");
}

// On an H100 a thread moves 16 bytes at a time and little more, in both
// directions and layouts. If no vector divides rows, a thread has a square.
// Where that leaves few threads, the model chooses a tile with more.
TEST(PoolTile, ChoiceOnNvidia) {
  PoolProblem p = makeStem();
  for (Direction direction : {Direction::Forward, Direction::BackwardData}) {
    p.direction = direction;
    p.indexType = IndexType::U8;
    p.dataType = DataType::F16;
    p.xLayout = p.yLayout = Layout::NHWC;
    EXPECT_EQ(choose(p, "sm_90"), "pool-c8h1w1");
    p.xLayout = p.yLayout = Layout::NCHW;
    EXPECT_EQ(choose(p, "sm_90"), "pool-c1h1w4");
    p.dataType = DataType::F32;
    EXPECT_EQ(choose(p, "sm_90"), "pool-c1h1w2");
    PoolProblem odd = p;
    odd.in = {35, 35};
    EXPECT_EQ(choose(odd, "sm_90"), "pool-c1h2w2");
  }
  p.direction = Direction::Forward;
  p.dataType = DataType::F16;
  p.xLayout = p.yLayout = Layout::NHWC;
  p.channels = 2048;
  p.in = p.window = {7, 7};
  p.pad = {0, 0};
  EXPECT_NE(choose(p, "sm_90"), "pool-c8h1w1");
}

// Every chip has a tile for every valid problem, and a problem beyond 32-bit
// arithmetic is refused with a sentence.
TEST(PoolTile, Refusals) {
  for (const GpuTarget &target : getAllTargets())
    EXPECT_TRUE(chooseTile(makeStem(), target)) << target.name;
  PoolProblem p = makeStem();
  p.window = {3, 1 << 30};
  p.pad = {1, 1 << 29};
  EXPECT_NE(choose(p).find("the window is beyond the 32-bit arithmetic"),
            std::string::npos)
      << choose(p);
  p = makeStem();
  p.stride = {0, 1};
  EXPECT_EQ(choose(p), "the vertical stride is 0, but must be between 1 and "
                       "2147483647");
}

/// Expects the fields of a tensor to be the same for problem and op.
static void expectSame(const PoolTensorShape &one,
                       const PoolTensorShape &other) {
  EXPECT_EQ(one.sizes, other.sizes);
  EXPECT_EQ(one.elementBytes, other.elementBytes);
  EXPECT_EQ(one.hasChannelsLast(), other.hasChannelsLast());
  for (PoolDim dim : {kChannel, kColumn})
    EXPECT_EQ(one.getVectorLength(dim), other.getVectorLength(dim));
}

// The tile is chosen for the problem and built for the op: both must have the
// same vectors, whatever the layouts, or a chosen tile could not be built.
TEST(PoolGeometry, ProblemAndOpAgree) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  PoolProblem packed = makeStem();
  packed.indexType = IndexType::U16;
  PoolProblem mixed = packed;
  mixed.yLayout = Layout::NCHW;
  mixed.indexMode = IndexMode::Image;
  PoolProblem deep = packed;
  deep.in.d = 5;
  deep.window.d = 2;
  PoolProblem strided = packed;
  strided.batch = 1;
  strided.xLayout = strided.yLayout = Layout::Strided;
  strided.xStrides = {.n = 1, .c = 1, .d = 1, .h = 112 * 96, .w = 96};
  strided.yStrides = {.n = 1, .c = 56 * 64, .d = 1, .h = 64, .w = 1};
  for (const PoolProblem &problem : {packed, mixed, deep, strided}) {
    SCOPED_TRACE(problem.toNetworkConfig());
    auto module = buildPoolModule(context, problem, "pool");
    ASSERT_TRUE(mlir::succeeded(mlir::verify(*module)));
    dnn::PoolOp op;
    module->walk([&](dnn::PoolOp found) { op = found; });
    const PoolGeometry one(problem), other(op);
    expectSame(one.x, other.x);
    expectSame(one.y, other.y);
    expectSame(one.indices, other.indices);
    EXPECT_EQ(one.mode, other.mode);
    EXPECT_EQ(one.indexMode, other.indexMode);
    EXPECT_EQ(one.isForward, other.isForward);
    EXPECT_EQ(one.dims.in, other.dims.in);
    EXPECT_EQ(one.dims.out, other.dims.out);
    EXPECT_EQ(one.dims.window, other.dims.window);
    EXPECT_EQ(one.dims.pads, other.dims.pads);
    EXPECT_EQ(one.dims.strides, other.dims.strides);
  }
  EXPECT_EQ(PoolGeometry(strided).x.getVectorLength(kChannel), 8);
}

// Clipping, and what it means for the divisor of an average.
TEST(PoolGeometry, Clipping) {
  PoolProblem p = makeStem();
  p.mode = PoolMode::Average;
  EXPECT_TRUE(PoolGeometry(p).isClipped());
  EXPECT_TRUE(PoolGeometry(p).countsElements());
  p.mode = PoolMode::AverageInclusive;
  EXPECT_FALSE(PoolGeometry(p).countsElements());
  p.pad = {0, 0};
  EXPECT_FALSE(PoolGeometry(p).isClipped());
  p.window = {113, 3};
  EXPECT_TRUE(PoolGeometry(p).isClipped(1));
  EXPECT_FALSE(PoolGeometry(p).isClipped(2));
}

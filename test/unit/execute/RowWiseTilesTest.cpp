//===- RowWiseTilesTest.cpp - Every tile of row-wise operations -----------===//
//
// The model never chooses the tiles of large problems for small ones, so tiles
// are forced here: all row-wise algorithms, all kinds of reductions, rows that
// are contiguous and rows that lie side by side, splits and remainders.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/ChooseTile.h"
#include "test/unit/Support/RunRowWise.h"
#include "test/unit/execute/ConvFixture.h"

using namespace tessera;
using namespace tessera::test;

static RowWiseProblem parse(std::string_view config) {
  ErrorOr<Problem> problem = parseNetworkConfig(config);
  EXPECT_TRUE(problem) << problem.getStatus().getMessage();
  return *problem->getRows();
}

/// Runs the problem `config` with each of the tiles.
static void checkTiles(std::string_view config,
                       std::initializer_list<std::string_view> tiles) {
  const RowWiseProblem problem = parse(config);
  for (std::string_view text : tiles) {
    ErrorOr<TileConfig> tile = parseTileConfig(text);
    ASSERT_TRUE(tile) << tile.getStatus().getMessage();
    std::unique_ptr<Engine> engine =
        makeEngine(std::make_shared<FixedTileCompiler>(*tile));
    const RowOutcome outcome = runRowWise(*engine, problem, getSeed());
    EXPECT_TRUE(outcome.passed())
        << config << " " << text << ": " << outcome.toText();
  }
}

// The threads that share a contiguous row are from one to a whole workgroup.
// Some rows stay in registers and others are walked by loops, and some
// workgroups have more threads than their rows need.
TEST(RowWiseTiles, ContiguousRows) {
  checkTiles("rowwise-softmax_fwd-m1-13x1000-r1-i:f16:1000:1-o:f16:1000:1",
             {"rowwise-v8t1r64", "rowwise-v8t4r16", "rowwise-v8t128r2",
              "rowwise-v4t256r1", "rowwise-v2t16r4", "rowwise-v1t512r1"});
  checkTiles("rowwise-softmax_bwd-m2-7x1030-r1-i:bf16:1040:1-i:bf16:1030:1-"
             "o:bf16:1030:1",
             {"rowwise-v2t32r2", "rowwise-v1t64r1", "rowwise-v2t2r32"});
}

// Rows that lie side by side are computed in blocks, with several groups of
// threads along them.
TEST(RowWiseTiles, NeighbouringRows) {
  checkTiles("rowwise-softmax_fwd-m2-3x37x24-r1-i:f16:888:24:1-o:f16:888:24:1",
             {"rowwise-v8t8r8", "rowwise-v4t64r1", "rowwise-v2t16r16",
              "rowwise-v1t1r64", "rowwise-v8t32r2"});
  checkTiles("rowwise-reduce-m0-300x40-r0-i:bf16:40:1-r:f32:0:1",
             {"rowwise-v8t64r4", "rowwise-v4t2r32", "rowwise-v1t256r1"});
}

// Tests every kind of reduction with several numbers of threads for a row, in
// f64 and with NaNs.
TEST(RowWiseTiles, Kinds) {
  for (int mode : {0, 2, 3, 4, 5, 6, 7, 10, 11, 12, 32})
    checkTiles("rowwise-reduce-m" + std::to_string(mode) +
                   "-5x333-r1-i:f32:333:1-r:f32:1:0",
               {"rowwise-v1t64r1", "rowwise-v1t8r8"});
  for (int mode : {18, 19, 20, 26, 27, 28})
    checkTiles("rowwise-reduce-m" + std::to_string(mode) +
                   "-5x332-r1-i:f16:332:1-r:f16:1:0-r:i32:1:0",
               {"rowwise-v4t64r1", "rowwise-v1t8r8"});
  checkTiles("rowwise-reduce-m7-6x500-r1-i:f64:500:1-r:f64:1:0",
             {"rowwise-v2t128r1", "rowwise-v1t8r8"});
}

// Two dimensions are reduced around one that is kept: the moments of channels,
// in tensors with channels first and last.
TEST(RowWiseTiles, Moments) {
  checkTiles("rowwise-bnorm_train-m48-4x6x96-r0,2-i:f16:576:96:1-i:f32:0:1:0-"
             "i:f32:0:1:0-i:f32:0:1:0-i:f32:0:1:0-r:f32:0:1:0-r:f32:0:1:0-"
             "r:f32:0:1:0-r:f32:0:1:0-o:f16:576:96:1",
             {"rowwise-v8t64r1", "rowwise-v4t16r4", "rowwise-v1t32r8"});
  checkTiles(
      "rowwise-bnorm_train-m32-390x24-r0-i:bf16:24:1-i:f32:0:1-i:f32:0:1-"
      "r:f32:0:1-r:f32:0:1-o:bf16:24:1",
      {"rowwise-v8t64r2", "rowwise-v4t16r4", "rowwise-v1t32r8"});
}

// Several workgroups share a row, and some splits have fewer elements than
// others or none. The operations have up to two reductions and a map.
TEST(RowWiseTiles, Splits) {
  checkTiles(
      "rowwise-softmax_fwd-m1-3x9000-r1-i:f16:9000:1-o:f16:9000:1",
      {"rowsplit-v8t64r1p32", "rowsplit-v4t32r2p64", "rowsplit-v8t16r4p128"});
  checkTiles("rowwise-softmax_fwd-m2-5000x12-r0-i:f32:12:1-o:f32:12:1",
             {"rowsplit-v4t32r2p32", "rowsplit-v1t8r8p64"});
  checkTiles("rowwise-reduce-m27-2x8200-r1-i:f32:8200:1-r:f32:1:0-r:i32:1:0",
             {"rowsplit-v4t64r1p32", "rowsplit-v2t32r2p32"});
  checkTiles("rowwise-reduce-m1-1x9001-r1-i:f32:9001:1-r:f32:1:0",
             {"rowsplit-v1t64r1p64"});
  checkTiles("rowwise-reduce-m7-9001-r0-i:f64:1-r:f64:0",
             {"rowsplit-v1t64r1p64"});
  checkTiles("rowwise-bnorm_train-m32-6000x4-r0-i:f16:4:1-i:f32:0:1-i:f32:0:1-"
             "r:f32:0:1-r:f32:0:1-o:f16:4:1",
             {"rowsplit-v4t64r1p32", "rowsplit-v1t32r4p64"});
}

// Rows are units of sequences: they share the weights and the states, and each
// is finished by another thread. Groups of rows do not divide all of them, and
// some threads have no block.
TEST(RowWiseTiles, SharedRows) {
  checkTiles(
      "rowwise-lstm_step-m1-8x12x72-r2-i:f16:72:0:1-i:f16:0:72:1-i:f16:0:72:1-"
      "i:f16:0:72:1-i:f16:0:72:1-i:f16:48:1:0-i:f16:48:1:0-i:f16:48:1:0-"
      "i:f16:48:1:0-i:f16:12:1:0-r:f16:48:1:0-r:f16:48:1:0-r:f16:48:1:0-"
      "r:f16:48:1:0-r:f16:12:1:0-r:f16:12:1:0",
      {"rowwise-v8t8r8n8m1", "rowwise-v8t4r16n2m2", "rowwise-v8t32r2n4m4",
       "rowwise-v4t16r4n1m4", "rowwise-v1t64r1n8m2"});
  checkTiles("rowwise-lstm_step_bwd-m0-6x20x80-r2-i:f32:80:0:1-i:f32:0:80:1-"
             "i:f32:80:1:0-i:f32:80:1:0-i:f32:80:1:0-i:f32:80:1:0-i:f32:20:1:0-"
             "i:f32:20:1:0-i:f32:20:1:0-r:f32:80:1:0-r:f32:80:1:0-r:f32:80:1:0-"
             "r:f32:80:1:0-r:f32:20:1:0",
             {"rowwise-v4t8r8n2m4", "rowwise-v4t16r4n1m2",
              "rowwise-v2t32r8n2m1", "rowwise-v4t4r16n2m2"});
  checkTiles("rowwise-rnn_step-m3-4x8x34-r2-i:bf16:40:0:1-i:bf16:0:36:1-"
             "i:bf16:8:1:0-r:bf16:8:1:0-r:bf16:8:1:0",
             {"rowwise-v2t32r2n4m8", "rowwise-v1t16r4n4m1"});
}

// Layers of real size have a tile and do not spill.
TEST(RowWiseTiles, LargeProblemsHaveNoSpills) {
  for (const char *config :
       {"rowwise-softmax_fwd-m1-32768x1024-r1-i:f16:1024:1-o:f16:1024:1",
        "rowwise-softmax_fwd-m1-512x50304-r1-i:f32:50304:1-o:f32:50304:1",
        "rowwise-softmax_bwd-m1-64x256x3136-r1-i:f16:802816:3136:1-"
        "i:f16:802816:3136:1-o:f16:802816:3136:1",
        "rowwise-reduce-m0-200704x256-r0-i:f16:256:1-r:f16:0:1",
        "rowwise-reduce-m19-33554432-r0-i:f16:1-r:f16:0-r:i32:0"}) {
    const Problem problem = parse(config);
    ErrorOr<const GpuTarget *> target = getGpu().getTarget();
    ASSERT_TRUE(target);
    const std::unique_ptr<KernelCompiler> jit = createJitCompiler();
    ErrorOr<TileConfig> tile = jit->chooseTile(problem, **target);
    ASSERT_TRUE(tile) << tile.getStatus().getMessage();
    ErrorOr<Kernel> kernel = jit->compile(problem, *tile, **target);
    ASSERT_TRUE(kernel) << kernel.getStatus().getMessage();
    EXPECT_EQ(kernel->resources.vgprSpills, 0u)
        << config << " " << tile->toText();
  }
}

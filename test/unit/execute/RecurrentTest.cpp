//===- RecurrentTest.cpp - All steps of a recurrent network ---------------===//
//
// Each step is compared with what the reference makes of the state that the
// kernel has written in the step before.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/ChooseTile.h"
#include "test/unit/Support/RunRowWise.h"
#include "test/unit/execute/ConvFixture.h"

#include <string>

using namespace tessera;
using namespace tessera::test;

namespace {
/// A problem with steps. All tensors of units have a gap behind their rows.
struct Steps {
  std::string op;
  uint32_t mode;
  int64_t steps, sequences, units;
  DataType type = DataType::F16;
  int64_t gap = 0;
  bool keepsLast = false; ///< Of the cell state, or the gradient handed on.

  RowWiseProblem getProblem() const;

private:
  void add(RowWiseProblem &p, RowRole role,
           std::array<int64_t, kMaxRowRank> strides) const {
    p.tensors[p.tensorCount++] = {type, role, strides};
  }
};
} // namespace

RowWiseProblem Steps::getProblem() const {
  const bool isBackward = op.ends_with("_bwd");
  const int64_t gates = op.starts_with("lstm")  ? 4
                        : op.starts_with("gru") ? 3
                                                : 1;
  const bool keeps = mode & (gates == 1 ? 2 : 1);
  ErrorOr<Problem> any =
      parseNetworkConfig("rowwise-" + op + "-m0-1x1x1x1-r3-r:f16:0:0:0:0");
  RowWiseProblem p = *any->getRows();
  p.mode = mode;
  const int64_t elements = isBackward ? gates * units : units;
  p.lengths = {steps, sequences, units, elements, 1};
  p.tensorCount = 0;
  const int64_t row = units + gap, wide = gates * units + gap;
  const std::array<int64_t, kMaxRowRank> state{0, elements + gap, 0, 1},
      weight{0, 0, elements + gap, 1}, unit{sequences * row, row, 1},
      first{0, row, 1}, gate{sequences * wide, wide, 1};
  auto repeat = [&](int64_t count, RowRole role, const auto &strides) {
    for (int64_t i = 0; i < count; ++i)
      add(p, role, strides);
  };
  using enum RowRole;
  repeat(1, Input, state);
  repeat(isBackward ? 1 : gates, Input, weight);
  repeat(gates, Input, gate);
  if (!isBackward) {
    if (gates == 3)
      add(p, Input, {0, 0, 1});
    if (gates > 1)
      add(p, Input, first);
    if (keeps && gates > 1)
      repeat(gates, RowOutput, gate);
    const int64_t results = gates == 4 ? 2 : gates == 3 ? 1 + keeps : 1 + keeps;
    repeat(results, RowOutput, unit);
    if (keepsLast)
      p.tensors[p.tensorCount - 2].strides = first;
    return p;
  }
  if (gates > 1)
    repeat(gates == 4 ? 1 : 2, Input, unit);
  add(p, Input, unit);
  if (gates > 1)
    add(p, Input, first);
  repeat(gates == 3 ? 6 : gates, RowOutput, gate);
  if (gates > 1)
    add(p, RowOutput, keepsLast ? first : unit);
  return p;
}

/// f16 may be subnormal, which gfx90a's matrix unit reads as zero.
static void check(Steps steps) {
  if (steps.type == DataType::F16 &&
      getTarget().has(Erratum::FlushesHalfSubnormals))
    steps.type = DataType::BF16;
  static const std::unique_ptr<Engine> engine =
      makeEngine(std::shared_ptr<KernelCompiler>(createJitCompiler()));
  const RowWiseProblem problem = steps.getProblem();
  const RowOutcome outcome = runRowWise(*engine, problem, getSeed());
  EXPECT_TRUE(outcome.passed()) << problem.toNetworkConfig() << " "
                                << outcome.tile << ": " << outcome.toText();
}

/// Bits of the mode: all steps, and from the last one on.
static constexpr uint32_t kAll = 8, kDown = 24;

TEST(Recurrent, LstmForward) {
  check({"lstm_step", kAll, 3, 16, 32});
  check({"lstm_step", kAll | 1, 3, 16, 64}); // In part in gfx1100's LDS.
  check({"lstm_step", kDown | 1, 4, 5, 20, DataType::BF16, 3});
}

TEST(Recurrent, GruForward) {
  check({"gru_step", kAll, 3, 16, 32});
  check({"gru_step", kDown | 1, 3, 17, 23});
  check({"gru_step", kAll | 1, 2, 1, 48, DataType::BF16});
}

TEST(Recurrent, VanillaForward) {
  check({"rnn_step", kAll | 1, 3, 33, 40});
  check({"rnn_step", kDown | 2, 3, 16, 17});
  check({"rnn_step", kAll | 3, 1, 16, 96});
}

// By fused multiply-adds, as 16 bits are on chips without a matrix unit. Lanes
// that share out a reduction have a sequence each, or the same one.
TEST(Recurrent, SinglePrecision) {
  constexpr DataType kF32 = DataType::F32;
  check({"lstm_step", kAll, 3, 16, 32, kF32});
  check({"lstm_step", kDown | 1, 4, 5, 20, kF32, 3});
  check({"lstm_step", kAll | 1, 2, 3, 65, kF32});
  check({"gru_step", kDown | 1, 3, 17, 23, kF32});
  check({"gru_step", kAll, 2, 1, 48, kF32});
  check({"rnn_step", kAll | 1, 3, 33, 40, kF32});
  check({"rnn_step", kAll | 3, 1, 200, 96, kF32, 1});
  check({"lstm_step_bwd", kDown, 3, 16, 32, kF32});
  check({"lstm_step_bwd", kAll, 4, 9, 19, kF32, 5, true});
  check({"gru_step_bwd", kDown, 3, 18, 24, kF32});
  check({"rnn_step_bwd", kAll, 3, 1, 33, kF32});
}

// The lanes of a unit have several sequences each, one, or the same one; a lane
// has one unit or two; some weights are in shared memory.
TEST(Recurrent, TilesOfMultiplyAdds) {
  auto run = [](const Steps &steps, std::string_view text) {
    ErrorOr<TileConfig> tile = parseTileConfig(text);
    ASSERT_TRUE(tile) << tile.getStatus().getMessage();
    std::unique_ptr<Engine> engine =
        makeEngine(std::make_shared<FixedTileCompiler>(*tile));
    const RowOutcome outcome =
        runRowWise(*engine, steps.getProblem(), getSeed());
    EXPECT_TRUE(outcome.passed())
        << steps.op << " " << text << ": " << outcome.toText();
  };
  const Steps lstm{"lstm_step", kAll | 1, 2, 11, 33, DataType::F32};
  for (const char *tile :
       {"steps-u1l1s1", "steps-u1l2s8", "steps-u1l8s2", "steps-u2l4s4"})
    run(lstm, tile);
  const Steps gradients{"gru_step_bwd", kDown, 3, 5, 18, DataType::F32};
  for (const char *tile : {"steps-u1l4s8", "steps-u2l2s4"})
    run(gradients, tile);
  run({"lstm_step", kAll, 2, 3, 80, DataType::F32}, "steps-u1l2s2");
  run({"rnn_step", kDown | 1, 3, 5, 62, DataType::F32}, "steps-u1l16s1");
  run({"rnn_step", kAll | 2, 2, 21, 24, DataType::F32}, "steps-u1l4s16");
}

TEST(Recurrent, Backward) {
  check({"lstm_step_bwd", kDown, 3, 16, 32});
  check({"lstm_step_bwd", kAll, 2, 9, 19, DataType::BF16, 5});
  check({"gru_step_bwd", kDown, 3, 18, 24});
  check({"gru_step_bwd", kAll, 3, 3, 21});
  check({"rnn_step_bwd", kDown | 1, 3, 16, 33});
  check({"rnn_step_bwd", kAll, 3, 40, 16});
}

// As the C API has them: the cell state, and the gradients that a step hands
// on, are kept of the last step alone. The reference computes those of the
// others again.
TEST(Recurrent, KeepsTheLastStep) {
  check({"lstm_step", kAll, 5, 9, 32, DataType::F16, 0, true});
  check({"lstm_step", kDown, 4, 16, 20, DataType::BF16, 3, true});
  check({"lstm_step_bwd", kDown, 4, 9, 32, DataType::F16, 0, true});
  check({"gru_step_bwd", kAll, 3, 16, 24, DataType::BF16, 0, true});
}

// A single step is made by many workgroups, each with some units; its waves
// share out the reduction and have one or several tiles of sequences.
TEST(Recurrent, OneStep) {
  for (const Steps &steps :
       {Steps{"lstm_step", kAll, 1, 16, 64},
        Steps{"lstm_step", kAll | 1, 1, 37, 48, DataType::BF16, 8},
        Steps{"lstm_step", kDown | 1, 1, 66, 32},
        Steps{"gru_step", kDown | 1, 1, 9, 64},
        Steps{"rnn_step", kAll | 3, 1, 40, 112, DataType::F16, 1},
        Steps{"lstm_step_bwd", kDown, 1, 16, 32},
        Steps{"lstm_step_bwd", kAll, 1, 34, 48, DataType::BF16, 4},
        Steps{"gru_step_bwd", kDown, 1, 33, 32},
        Steps{"rnn_step_bwd", kDown | 1, 1, 5, 80}})
    check(steps);
}

// One kernel serves any number of steps.
TEST(Recurrent, StepsMayBeUnknown) {
  EngineOptions options;
  options.compiler = createJitCompiler();
  options.generic = {GenericUse::Keep, /*shapesBefore=*/0};
  const std::unique_ptr<Engine> engine =
      std::move(*Engine::create(getGpu(), std::move(options)));
  for (int64_t steps : {1, 2, 5})
    for (const Steps &each :
         {Steps{"lstm_step", kAll | 1, steps, 9, 20, DataType::BF16},
          Steps{"gru_step_bwd", kDown, steps, 9, 24, DataType::BF16}}) {
      const RowOutcome outcome =
          runRowWise(*engine, each.getProblem(), getSeed());
      EXPECT_TRUE(outcome.passed()) << steps << ": " << outcome.toText();
    }
  EXPECT_EQ(engine->getCounters().generic, 6u);
  EXPECT_EQ(engine->getCounters().compiled, 2u);
}

// Weights that fit neither registers nor shared memory have no kernel, nor have
// networks whose steps are as fast as launches of their own; callers make steps
// one by one.
TEST(Recurrent, RefusesWhatDoesNotFit) {
  const std::unique_ptr<KernelCompiler> jit = createJitCompiler();
  auto refuses = [&](const char *chip, const Steps &steps) {
    const auto tile = jit->chooseTile(steps.getProblem(), *findTarget(chip));
    return !tile && tile.getStatus().getCode() == StatusCode::NotSupported;
  };
  constexpr DataType kF32 = DataType::F32;
  EXPECT_FALSE(refuses("gfx1030", {"lstm_step", kAll, 3, 16, 128}));
  EXPECT_FALSE(refuses("gfx900", {"lstm_step", kAll, 3, 16, 64}));
  EXPECT_FALSE(refuses("gfx942", {"lstm_step", kAll, 3, 16, 128, kF32}));
  EXPECT_FALSE(refuses("sm_90", {"lstm_step", kAll, 3, 16, 384, kF32}));
  EXPECT_TRUE(refuses("gfx1030", {"lstm_step", kAll, 3, 16, 192}));
  EXPECT_TRUE(refuses("sm_80", {"lstm_step", kAll, 3, 16, 256, kF32}));
  EXPECT_TRUE(refuses("sm_90", {"lstm_step", kAll, 3, 16, 512, kF32}));
  EXPECT_TRUE(refuses("sm_90", {"lstm_step", kAll, 3, 1024, 256, kF32}));
  EXPECT_TRUE(refuses("sm_90", {"lstm_step", kAll, 3, 16, 32, DataType::F64}));
  EXPECT_TRUE(refuses("gfx942", {"lstm_step", kAll, 3, 16, 256}));
  EXPECT_TRUE(refuses("sm_80", {"lstm_step", kAll, 3, 16, 256}));
  EXPECT_TRUE(refuses("sm_90", {"lstm_step", kAll, 3, 16, 1024}));
  EXPECT_TRUE(refuses("sm_90", {"lstm_step", kAll, 3, 16, 1}));
  EXPECT_FALSE(refuses("sm_80", {"lstm_step", kAll, 3, 16, 128}));
  EXPECT_FALSE(refuses("sm_90", {"lstm_step", kAll, 3, 16, 512}));
  EXPECT_FALSE(refuses("gfx942", {"lstm_step", kAll, 3, 16, 128}));
  // A step needs no workgroup that holds all weights, but whole instructions.
  EXPECT_FALSE(refuses("sm_90", {"lstm_step", kAll, 1, 16, 1024}));
  EXPECT_FALSE(refuses("sm_90", {"lstm_step_bwd", kAll, 1, 64, 1024}));
  EXPECT_FALSE(refuses("gfx942", {"lstm_step", kAll, 1, 64, 2048}));
  EXPECT_TRUE(refuses("sm_90", {"lstm_step", kAll, 1, 16, 1031}));
  EXPECT_TRUE(refuses("sm_90", {"lstm_step", kAll, 1, 512, 1024}));
}

//===- dnn-sweep.cpp - Random problems against the reference --------------===//
//
// "Every valid problem runs, and is right" as a test without an end: draws
// problem after problem, runs each on the device that TESSERA_DEVICE names, and
// compares with the reference. A failure is printed as a command line that
// repeats it, and the sweep goes on.
//
//===----------------------------------------------------------------------===//

#include "test/sweep/Progress.h"
#include "test/sweep/SweepOptions.h"
#include "test/sweep/SweepState.h"

#include "compiler/Driver/JitCompiler.h"
#include "test/unit/Support/RunConv.h"
#include "test/unit/Support/RunPool.h"
#include "test/unit/execute/DrawProblem.h"

#include <cstdio>

using namespace tessera;
using namespace tessera::sweep;

/// Small integers, whose sums are exact, take turns with numbers that use every
/// bit.
static reference::DataKind getKind(int64_t index) {
  return index % 4 == 0 ? reference::DataKind::Integer
                        : reference::DataKind::Uniform;
}

namespace {
/// What came of one problem, of either kind.
struct Outcome {
  bool passed;
  bool refused; ///< No kernel covers it.
  std::string tile;
  std::string text;
};
} // namespace

template <typename RunOutcome>
static Outcome summarize(const RunOutcome &run) {
  return {run.passed(), run.status.getCode() == StatusCode::NotSupported,
          run.tile, run.toText()};
}

static Outcome runOne(Engine &engine, const Problem &problem, int64_t index,
                      uint64_t seed) {
  if (const ConvProblem *conv = problem.getConv())
    return summarize(test::runConv(engine, *conv, getKind(index), seed));
  const PoolProblem &pool = *problem.getPool();
  // Special numbers where something is chosen, others where sums are made.
  bool isChoice =
      pool.mode == PoolMode::Max && pool.direction == Direction::Forward;
  return summarize(test::runPool(
      engine, pool,
      isChoice ? test::PoolData::Specials : test::PoolData::Uniform, seed));
}

/// One line to run again, one to say what happened.
static void printFailure(const SweepOptions &options, int64_t index,
                         const Problem &problem, const Outcome &outcome) {
  std::printf(
      "dnn-driver %s\n  # %s\n  # dnn-sweep --seed %llu --from %lld "
      "--count 1\n  # %s%s%s: %s\n",
      toDriverCommand(problem).c_str(), problem.toNetworkConfig().c_str(),
      static_cast<unsigned long long>(options.seed),
      static_cast<long long>(index), outcome.refused ? "refused" : "wrong",
      outcome.tile.empty() ? "" : ", ", outcome.tile.c_str(),
      outcome.text.c_str());
  std::fflush(stdout);
}

/// Draws, runs and counts problem number `index`.
static void sweepOne(Engine &engine, const SweepOptions &options, int64_t index,
                     SweepState &state) {
  const Problem problem = drawAny(options.seed, index, options.space);
  const Outcome outcome = runOne(engine, problem, index, options.seed + index);
  if (outcome.passed) {
    ++state.passed;
    return;
  }
  ++(outcome.refused ? state.refused : state.failed);
  if (!outcome.refused || !options.allowRefusals)
    printFailure(options, index, problem, outcome);
}

static Status runSweep(const SweepOptions &options, SweepState &state) {
  ErrorOr<const GpuApi *> gpu = GpuApi::get();
  if (!gpu)
    return gpu.getStatus();
  ErrorOr<std::unique_ptr<Engine>> engine =
      Engine::create(**gpu, {createJitCompiler(), ""});
  if (!engine)
    return engine.getStatus();
  Progress progress(options.from, options.from + options.count);
  while (state.next < options.from + options.count) {
    progress.show(state);
    sweepOne(**engine, options, state.next, state);
    ++state.next;
    // A stop costs a few problems, a write for each would cost a disk.
    constexpr int64_t kSaveEvery = 8;
    if (state.next % kSaveEvery == 0)
      if (Status saved = saveState(options, state); !saved.isOk())
        return saved;
  }
  progress.finish(state);
  return saveState(options, state);
}

int main(int argc, char **argv) {
  ErrorOr<SweepOptions> options = parseSweepOptions({argv + 1, argv + argc});
  if (!options) {
    std::fprintf(stderr, "dnn-sweep: %s\n",
                 options.getStatus().getMessage().c_str());
    return 2;
  }
  if (options->help) {
    std::fputs(getSweepHelp(), stdout);
    return 0;
  }
  ErrorOr<SweepState> state = loadState(*options);
  Status status = state ? runSweep(*options, *state) : state.getStatus();
  if (!status.isOk()) {
    std::fprintf(stderr, "dnn-sweep: %s\n", status.getMessage().c_str());
    return 2;
  }
  std::printf("seed %llu, problems %lld to %lld: %lld right, %lld wrong, %lld "
              "refused\n",
              static_cast<unsigned long long>(options->seed),
              static_cast<long long>(options->from),
              static_cast<long long>(state->next - 1),
              static_cast<long long>(state->passed),
              static_cast<long long>(state->failed),
              static_cast<long long>(state->refused));
  const bool clean =
      state->failed == 0 && (options->allowRefusals || state->refused == 0);
  return clean && state->passed > 0 ? 0 : 1;
}

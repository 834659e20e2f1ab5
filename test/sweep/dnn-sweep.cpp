//===- dnn-sweep.cpp - Compares many problems with the reference ----------===//
//
// Tests without an end that every valid problem runs and is right: it draws
// problem after problem or takes those of a list, runs each on the device that
// TESSERA_DEVICE names, and compares the result with the reference. A failure
// is printed as a command line that repeats it, and the sweep goes on.
//
//===----------------------------------------------------------------------===//

#include "runtime/DriverCommand/DriverCommand.h"
#include "test/sweep/DrawMember.h"
#include "test/sweep/Progress.h"
#include "test/sweep/SweepOptions.h"
#include "test/sweep/SweepState.h"

#include "compiler/Driver/JitCompiler.h"
#include "runtime/Base/TileSetting.h"
#include "test/unit/Support/RunConv.h"
#include "test/unit/Support/RunPool.h"
#include "test/unit/Support/RunRowWise.h"
#include "test/unit/execute/DrawProblem.h"
#include "tools/problems/ProblemCost.h"
#include "tools/problems/ProblemFile.h"
#include "tools/support/Tool.h"

#include <algorithm>
#include <cstdio>

using namespace tessera;
using namespace tessera::sweep;

/// Every fourth problem has small integers, whose sums are exact; the others
/// have numbers that use every bit.
static reference::DataKind getKind(int64_t index) {
  return index % 4 == 0 ? reference::DataKind::Integer
                        : reference::DataKind::Uniform;
}

namespace {
/// The result of one problem, of any kind.
struct Outcome {
  bool passed;
  StatusCode code; ///< Ok if it ran, whether or not its result is right.
  std::string tile;
  std::string text;

  /// Returns whether no kernel covers the problem.
  bool isRefused() const { return code == StatusCode::NotSupported; }
  bool isTooLarge() const { return code == StatusCode::ResourceExhausted; }
  const char *getVerdict() const {
    return isRefused() ? "refused" : isTooLarge() ? "too large" : "wrong";
  }
};
} // namespace

template <typename RunOutcome>
static Outcome summarize(const RunOutcome &run) {
  return {run.passed(), run.status.getCode(), run.tile, run.toText()};
}

static Outcome runOne(Engine &engine, const Problem &problem, int64_t index,
                      uint64_t seed, test::Placement placement) {
  if (const ConvProblem *conv = problem.getConv())
    return summarize(test::runConv(engine, *conv, getKind(index), seed,
                                   /*sample=*/0, placement));
  if (const RowWiseProblem *rows = problem.getRows())
    return summarize(test::runRowWise(engine, *rows, seed, /*sample=*/0,
                                      /*shared=*/{}, placement));
  const PoolProblem &pool = *problem.getPool();
  // NaNs and infinities test a maximum; sums of them would hide errors.
  bool isChoice = isMaximum(pool.mode) && pool.direction == Direction::Forward;
  return summarize(test::runPool(
      engine, pool, isChoice ? PoolData::Specials : PoolData::Uniform, seed,
      /*sample=*/0, placement));
}

/// Compiles a problem that is too large to run.
static Outcome compileOne(Engine &engine, const Problem &problem) {
  ErrorOr<const LoadedKernel *> kernel = engine.prepare(problem);
  if (!kernel)
    return {false, kernel.getStatus().getCode(), "",
            kernel.getStatus().getMessage()};
  return {true, StatusCode::Ok, (*kernel)->getKernel().tile, ""};
}

/// Prints command lines that repeat the problem, and what went wrong.
static void printFailure(const SweepOptions &options, int64_t index,
                         const Problem &problem, const Outcome &outcome) {
  const std::string source = options.listFile.empty()
                                 ? "--seed " + std::to_string(options.seed)
                                 : "--list " + options.listFile;
  std::printf(
      "dnn-driver %s\n  # %s\n  # dnn-sweep %s%s%s --from %lld --count 1\n"
      "  # %s%s%s: %s\n",
      toDriverCommand(problem).c_str(), problem.toNetworkConfig().c_str(),
      source.c_str(), options.misplaced ? " --misaligned" : "",
      options.members > 0
          ? (" --members " + std::to_string(options.members)).c_str()
          : "",
      static_cast<long long>(index), outcome.getVerdict(),
      outcome.tile.empty() ? "" : ", ", outcome.tile.c_str(),
      outcome.text.c_str());
  std::fflush(stdout);
}

/// Runs or compiles problem number `index`, and counts it in `state`.
static void sweepOne(Engine &engine, const SweepOptions &options,
                     const Problem &problem, int64_t index, SweepState &state) {
  const bool runs = countOperations(problem) <= options.runBelow;
  const Outcome outcome =
      runs ? runOne(engine, problem, index, options.seed + index,
                    options.misplaced ? test::Placement::OneElementOn
                                      : test::Placement::Aligned)
           : compileOne(engine, problem);
  if (outcome.passed) {
    ++(runs ? state.passed : state.compiled);
    return;
  }
  ++(outcome.isRefused()    ? state.refused
     : outcome.isTooLarge() ? state.tooLarge
                            : state.failed);
  if (!outcome.isRefused() || !options.allowRefusals)
    printFailure(options, index, problem, outcome);
}

/// Problem number `index` of the sweep.
static Problem getProblem(const SweepOptions &options,
                          const std::vector<Problem> &list, int64_t index) {
  const int64_t members = std::max<int64_t>(options.members, 1);
  const int64_t base = index / members;
  const Problem problem = options.listFile.empty()
                              ? drawAny(options.seed, base, options.space)
                              : list[base];
  if (options.members == 0)
    return problem;
  const double most = std::min(options.runBelow, options.space.maxFlops);
  return drawMember(problem, options.seed + index, most);
}

/// A sweep of members has kernels for unknown sizes only, where there are any.
static ErrorOr<std::unique_ptr<Engine>>
createEngine(const GpuApi &gpu, const SweepOptions &options) {
  EngineOptions made;
  made.compiler = createJitCompiler();
  if (options.members > 0)
    made.generic = {GenericUse::Keep, /*shapesBefore=*/0};
  return Engine::create(gpu, std::move(made));
}

static Status runSweep(const SweepOptions &options,
                       const std::vector<Problem> &list, SweepState &state) {
  // The compiler is part of this program and does not report a malformed tile
  // in the environment, so that the tool does.
  (void)getEnvTile(reportEnvOnStderr);
  ErrorOr<const GpuApi *> gpu = GpuApi::get();
  if (!gpu)
    return gpu.getStatus();
  // A device without a target is one error here, not one for each problem.
  if (Status status = (*gpu)->getTarget().getStatus(); !status.isOk())
    return status;
  ErrorOr<std::unique_ptr<Engine>> engine = createEngine(**gpu, options);
  if (!engine)
    return engine.getStatus();
  const int64_t end = options.from + options.count;
  Progress progress(options.from, end);
  while (state.next < end) {
    progress.show(state);
    sweepOne(**engine, options, getProblem(options, list, state.next),
             state.next, state);
    ++state.next;
    // Writing the state for every problem would wear out the disk; this way a
    // sweep that is stopped repeats a few problems.
    constexpr int64_t kSaveEvery = 8;
    if (state.next % kSaveEvery == 0)
      if (Status saved = saveState(options, state); !saved.isOk())
        return saved;
  }
  progress.finish(state);
  const EngineCounters &counters = (*engine)->getCounters();
  if (options.members > 0)
    std::printf("%llu problems by kernels for unknown sizes, %llu kernels "
                "compiled\n",
                static_cast<unsigned long long>(counters.generic.load()),
                static_cast<unsigned long long>(counters.compiled.load()));
  return saveState(options, state);
}

/// Reads the problems of the list, if there is one, and limits `options.count`
/// to its end.
static ErrorOr<std::vector<Problem>> readList(SweepOptions &options) {
  if (options.listFile.empty())
    return std::vector<Problem>();
  // A sweep claims that everything is right, so that it may not skip a line
  // that it cannot read.
  ProblemFileOptions strict;
  strict.strict = true;
  ErrorOr<ProblemFile> file = readProblems(options.listFile, strict);
  if (!file)
    return file.getStatus();
  std::vector<Problem> list;
  for (const ListedProblem &listed : file->problems)
    list.push_back(listed.problem);
  const auto size =
      static_cast<int64_t>(list.size()) * std::max<int64_t>(options.members, 1);
  if (options.from >= size)
    return invalidArgument("--from " + std::to_string(options.from) +
                           " is behind the end of the list");
  options.count = std::min(options.count, size - options.from);
  return list;
}

static void printSummary(const SweepOptions &options, const SweepState &state) {
  std::printf("%s, problems %lld to %lld: %lld right, %lld only compiled, "
              "%lld wrong, %lld refused\n",
              options.listFile.empty()
                  ? ("seed " + std::to_string(options.seed)).c_str()
                  : options.listFile.c_str(),
              static_cast<long long>(options.from),
              static_cast<long long>(state.next - 1),
              static_cast<long long>(state.passed),
              static_cast<long long>(state.compiled),
              static_cast<long long>(state.failed),
              static_cast<long long>(state.refused));
  if (state.tooLarge)
    std::printf("%lld too large for the memory\n",
                static_cast<long long>(state.tooLarge));
}

static ErrorOr<SweepState> sweepAll(SweepOptions &options) {
  ErrorOr<std::vector<Problem>> list = readList(options);
  if (!list)
    return list.getStatus();
  ErrorOr<SweepState> state = loadState(options);
  if (!state)
    return state.getStatus();
  if (Status status = runSweep(options, *list, *state); !status.isOk())
    return status;
  return state;
}

static int runSweepTool(int argc, char **argv) {
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
  ErrorOr<SweepState> state = sweepAll(*options);
  if (!state) {
    std::fprintf(stderr, "dnn-sweep: %s\n",
                 state.getStatus().getMessage().c_str());
    return 2;
  }
  printSummary(*options, *state);
  const bool clean = state->failed == 0 && state->tooLarge == 0 &&
                     (options->allowRefusals || state->refused == 0);
  return clean && state->passed + state->compiled > 0 ? 0 : 1;
}

int main(int argc, char **argv) {
  return runTool("dnn-sweep", argc, argv, runSweepTool, 2);
}

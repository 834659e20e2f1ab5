//===- TuneRun.cpp - Tunes the problems of a command line -----------------===//

#include "tools/dnn-tune/TuneRun.h"

#include "compiler/Driver/Revision.h"
#include "runtime/Tuning/TrialWatch.h"
#include "runtime/Worker/WorkerCompiler.h"
#include "tools/dnn-tune/Report.h"
#include "tools/support/Files.h"
#include "tools/support/Progress.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

using namespace tessera;
using namespace tessera::tune_tool;

/// The library uses only stored results, so a run without a database would be
/// useless. A run that measures nothing only needs to read.
static Status checkDatabase(PerfDatabase *tunings, const TuneOptions &options) {
  if (!tunings)
    return notFound("there is no database for the results "
                    "(MIOPEN_DISABLE_CACHE, or no home); name its folder with "
                    "--db");
  if (options.budget.seconds == 0)
    return Status::ok();
  return tunings->checkKept().withContext(
      "the results cannot be stored; name another folder with --db");
}

ErrorOr<std::unique_ptr<TuneRun>>
TuneRun::create(const TuneOptions &options, const Attempt &attempt,
                const WatchLine &line, const std::string &folder, int device) {
  ErrorOr<const GpuApi *> gpu = GpuApi::get();
  if (!gpu)
    return gpu.getStatus();
  int devices = 0;
  Status status =
      (*gpu)->check((*gpu)->hipGetDeviceCount(&devices), "hipGetDeviceCount");
  if (status.isOk())
    status =
        (*gpu)->check((*gpu)->hipSetDevice(device % devices), "hipSetDevice");
  // Checked once instead of for every problem.
  if (status.isOk())
    status = (*gpu)->getTarget().getStatus();
  if (!status.isOk())
    return status;
  ErrorOr<std::unique_ptr<Engine>> engine =
      Engine::create(**gpu, {createCompiler(getCompilerRevision()), folder});
  if (!engine)
    return engine.getStatus();
  std::unique_ptr<TuneRun> run(new TuneRun(options, attempt, line));
  run->engine = std::move(*engine);
  if (Status kept = checkDatabase(run->engine->getTunings(), options);
      !kept.isOk())
    return kept;
  if (run->engine->getTunings()->checkKept().isOk())
    line.sayKept();
  return run;
}

/// The time limit of a trial. The emulated device stops endless loops itself,
/// so its limit is long.
std::chrono::milliseconds TuneRun::getTimeLimit() const {
  constexpr double kGpuSeconds = kTrialLimit.count(), kEmulatedSeconds = 1e6;
  const bool isEmulated = engine->getGpu().getKind() == DeviceKind::Emulated;
  return std::chrono::ceil<std::chrono::milliseconds>(
      std::chrono::duration<double>(options.timeLimit.value_or(
          isEmulated ? kEmulatedSeconds : kGpuSeconds)));
}

TuningOptions TuneRun::getTuningOptions() const {
  TuningOptions tuning;
  tuning.budget = options.budget;
  tuning.seed = options.seed;
  tuning.jobs =
      options.jobs ? options.jobs : getDefaultJobs(engine->getGpu().getKind());
  tuning.again = options.again;
  // Tiles that earlier processes of this run have tried again are not tried
  // once more.
  if (!attempt.isFirst)
    tuning.againBefore = attempt.beginTime;
  tuning.judge = options.judge;
  tuning.database = engine->getTunings();
  return tuning;
}

Outcome TuneRun::tune(const Problem &problem) {
  TuningOptions tuning = getTuningOptions();
  const std::string name = problem.toNetworkConfig();
  if (auto found = attempt.condemned.find(name);
      found != attempt.condemned.end())
    tuning.condemned = found->second;
  tuning.onTrial = [&](const std::string *tile) {
    if (tile)
      line.sayBegin(name, *tile, getTimeLimit());
    else
      line.sayEnd();
  };
  return tune(problem, std::move(tuning));
}

Outcome TuneRun::recall(const Problem &problem) {
  TuningOptions tuning = getTuningOptions();
  tuning.again = false;
  tuning.budget.seconds = 0;
  return tune(problem, std::move(tuning));
}

bool TuneRun::isDeviceLost() const {
  return engine->getGpu().hipDeviceSynchronize() != hipSuccess;
}

Outcome TuneRun::tune(const Problem &problem, TuningOptions tuning) {
  Outcome outcome;
  outcome.problem = problem;
  ErrorOr<TuningResult> result = tessera::tune(*engine, problem, tuning);
  outcome.status = result.getStatus();
  if (!result)
    return outcome;
  outcome.status = result->stored.withContext(
      "the best tile is " + result->search.getBest()->ranked.tile.toText() +
      ", but the library will not find it: not everything is stored");
  outcome.result = std::move(*result);
  return outcome;
}

ErrorOr<std::vector<Problem>>
tessera::tune_tool::readAllProblems(const TuneOptions &options) {
  std::vector<Problem> problems;
  for (const std::string &name : options.files) {
    ErrorOr<ProblemFile> file = readProblems(name, options.reading);
    if (!file)
      return file.getStatus();
    std::fprintf(stderr, "%s: %s\n", name.c_str(), getSummary(*file).c_str());
    for (const ListedProblem &listed : file->problems)
      if (std::ranges::find(problems, listed.problem) == problems.end())
        problems.push_back(listed.problem);
  }
  if (problems.empty())
    return invalidArgument("the files name no problem");
  return problems;
}

std::vector<Outcome>
tessera::tune_tool::tuneAll(TuneRun &run, const TuneOptions &options,
                            const std::vector<Problem> &problems) {
  const Progress progress(problems.size());
  std::vector<Outcome> outcomes;
  for (const Problem &problem : problems) {
    if (outcomes.size() < run.attempt.printed) {
      outcomes.push_back(run.recall(problem));
      continue;
    }
    const std::chrono::duration<double> spent =
        std::chrono::steady_clock::now() - run.attempt.begin;
    if (spent.count() > options.totalSeconds)
      break;
    progress.show(outcomes.size(), problem.toNetworkConfig());
    outcomes.push_back(run.tune(problem));
    progress.clear();
    if (!outcomes.back().status.isOk() && run.isDeviceLost() &&
        run.line.isWatched())
      break;
    std::fputs(formatLine(outcomes.back()).c_str(), stdout);
    std::fflush(stdout);
    run.line.sayPrinted();
  }
  return outcomes;
}

/// The current time in UTC, which means the same to every reader.
static std::string getDate() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char text[64];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC",
                gmtime_r(&now, &parts));
  return text;
}

Status tessera::tune_tool::writeResults(const TuneOptions &options,
                                        const std::vector<Outcome> &outcomes) {
  Status status;
  if (!options.tableFile.empty())
    status = writeOutput(options.tableFile, formatTable(outcomes));
  if (status.isOk() && !options.reportFile.empty())
    status = writeOutput(
        options.reportFile,
        formatReport(outcomes, {{options.roofTflops, options.roofGbs},
                                getCompilerRevision(),
                                getDate()}));
  return status;
}

//===- TuneRun.cpp - Tunes the problems of a command line -----------------===//

#include "tools/dnn-tune/TuneRun.h"

#include "compiler/Driver/Revision.h"
#include "runtime/Worker/WorkerCompiler.h"
#include "tools/dnn-tune/Progress.h"
#include "tools/dnn-tune/Report.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>

using namespace tessera;
using namespace tessera::tune_tool;

ErrorOr<std::unique_ptr<TuneRun>> TuneRun::create(const TuneOptions &options,
                                                  const std::string &folder,
                                                  int device) {
  ErrorOr<const GpuApi *> gpu = GpuApi::get();
  if (!gpu)
    return gpu.getStatus();
  int devices = 0;
  Status status =
      (*gpu)->check((*gpu)->hipGetDeviceCount(&devices), "hipGetDeviceCount");
  if (status.isOk())
    status =
        (*gpu)->check((*gpu)->hipSetDevice(device % devices), "hipSetDevice");
  if (!status.isOk())
    return status;
  ErrorOr<std::unique_ptr<Engine>> engine =
      Engine::create(**gpu, {createCompiler(getCompilerRevision()), folder});
  if (!engine)
    return engine.getStatus();
  std::unique_ptr<TuneRun> run(new TuneRun(options));
  run->engine = std::move(*engine);
  return run;
}

Outcome TuneRun::tune(const Problem &problem) {
  TuningOptions tuning;
  tuning.budget = options.budget;
  tuning.seed = options.seed;
  tuning.jobs =
      options.jobs ? options.jobs : getDefaultJobs(engine->getGpu().getKind());
  tuning.again = options.again;
  tuning.judge = options.judge;
  tuning.database = engine->getTunings();
  Outcome outcome;
  outcome.problem = problem;
  ErrorOr<TuningResult> result = tessera::tune(*engine, problem, tuning);
  outcome.status = result.getStatus();
  if (result)
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
  const auto begin = std::chrono::steady_clock::now();
  const Progress progress(problems.size());
  std::vector<Outcome> outcomes;
  for (const Problem &problem : problems) {
    const std::chrono::duration<double> spent =
        std::chrono::steady_clock::now() - begin;
    if (spent.count() > options.totalSeconds)
      break;
    progress.show(outcomes.size(), problem.toNetworkConfig());
    outcomes.push_back(run.tune(problem));
    progress.clear();
    std::fputs(formatLine(outcomes.back()).c_str(), stdout);
    std::fflush(stdout);
  }
  return outcomes;
}

static Status writeFile(const std::string &name, const std::string &text) {
  if (name.empty())
    return Status::ok();
  std::ofstream file(name);
  file << text;
  file.close();
  return file ? Status::ok() : invalidArgument("cannot write '" + name + "'");
}

Status tessera::tune_tool::writeResults(const TuneOptions &options,
                                        const std::vector<Outcome> &outcomes) {
  Status status = writeFile(options.tableFile, formatTable(outcomes));
  if (status.isOk() && !options.reportFile.empty())
    status = writeFile(
        options.reportFile,
        formatReport(outcomes, {options.roofTflops, options.roofGbs}));
  return status;
}

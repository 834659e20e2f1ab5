//===- dnn-tune: the best kernel of each problem of a list ----------------===//
//
// The command line of runtime/Tuning, its output, and the modes in which
// several processes share the work. docs/guides/tuning.md shows its use.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Revision.h"
#include "tools/dnn-tune/DbCommand.h"
#include "tools/dnn-tune/DbOptions.h"
#include "tools/dnn-tune/SharedFolder.h"
#include "tools/dnn-tune/TuneRun.h"
#include "tools/support/Files.h"
#include "tools/support/Tool.h"

#include <cstdio>

using namespace tessera;
using namespace tessera::tune_tool;

static int fail(const Status &status) {
  std::fflush(stdout);
  std::fprintf(stderr, "dnn-tune: %s\n", status.getMessage().c_str());
  return 2;
}

/// Returns 0 if every problem was tuned, 1 if not.
static int finish(const TuneOptions &options, size_t problems,
                  const std::vector<Outcome> &outcomes) {
  std::fputs(formatSummary(outcomes).c_str(), stdout);
  if (outcomes.size() < problems)
    std::printf("%zu problems were not begun in %.0f s\n",
                problems - outcomes.size(), options.totalSeconds);
  if (Status status = writeResults(options, outcomes); !status.isOk())
    return fail(status);
  return rate(outcomes).problems == problems ? 0 : 1;
}

static int tuneAlone(const TuneOptions &options,
                     const std::vector<Problem> &problems,
                     const Attempt &attempt, const WatchLine &line) {
  ErrorOr<std::unique_ptr<TuneRun>> run = TuneRun::create(
      options, attempt, line,
      options.folder.empty() ? Engine::getDefaultCacheDirectory()
                             : options.folder);
  if (!run)
    return fail(run.getStatus());
  const std::vector<Outcome> outcomes = tuneAll(**run, options, problems);
  if (line.isWatched() && (*run)->isDeviceLost())
    return kNeedsAnother;
  return finish(options, problems.size(), outcomes);
}

/// Reports the results of all ranks' databases like those of one process.
static int reportShared(TuneOptions options, const SharedFolder &folder,
                        const std::vector<Problem> &problems) {
  options.budget.seconds = 0;
  options.again = false;
  const Attempt attempt;
  const WatchLine line;
  ErrorOr<std::unique_ptr<TuneRun>> run =
      TuneRun::create(options, attempt, line, folder.getPath());
  if (!run)
    return fail(run.getStatus());
  return finish(options, problems.size(), tuneAll(**run, options, problems));
}

/// The work of one rank, and the report of the one that merges.
static int tuneShared(const TuneOptions &options,
                      const std::vector<Problem> &problems,
                      const Attempt &attempt, const WatchLine &line) {
  const Rank rank = readRank();
  ErrorOr<SharedFolder> folder = SharedFolder::open(options.sharedFolder, rank);
  if (!folder)
    return fail(folder.getStatus());
  ErrorOr<std::unique_ptr<TuneRun>> run = TuneRun::create(
      options, attempt, line, folder->getOwnFolder(), rank.local);
  if (!run)
    return fail(run.getStatus());
  Status status = folder->takeProblems(problems, [&](const Problem &problem) {
    const Outcome outcome = (*run)->tune(problem);
    std::printf("%s: %s", rank.name.c_str(), formatLine(outcome).c_str());
    std::fflush(stdout);
    // A problem that no kernel covers counts as done.
    return outcome.status.getCode() == StatusCode::Unavailable ? outcome.status
                                                               : Status::ok();
  });
  if (!status.isOk() && line.isWatched() && (*run)->isDeviceLost())
    return kNeedsAnother;
  if (!status.isOk())
    return fail(status.withContext(rank.name));
  const ErrorOr<bool> isMerger = folder->merge();
  if (!isMerger)
    return fail(isMerger.getStatus());
  return *isMerger ? reportShared(options, *folder, problems) : 0;
}

static int runTune(int argc, char **argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words[0] == "db")
    return runDatabaseCommand({words.begin() + 1, words.end()},
                              getCompilerRevision());
  const ErrorOr<TuneOptions> options = parseTuneOptions(words);
  if (!options)
    return fail(options.getStatus());
  if (options->help) {
    std::printf("%s%s", getTuneHelp(), getProblemFileHelp());
    return 0;
  }
  if (Status status = checkDatabaseFolder(options->folder); !status.isOk())
    return fail(status);
  for (const std::string &file : {options->tableFile, options->reportFile})
    if (Status status = file.empty() ? Status::ok() : checkOutput(file);
        !status.isOk())
      return fail(status);
  const ErrorOr<std::vector<Problem>> problems = readAllProblems(*options);
  if (!problems)
    return fail(problems.getStatus());
  auto work = [&](const Attempt &attempt, const WatchLine &line) {
    return options->sharedFolder.empty()
               ? tuneAlone(*options, *problems, attempt, line)
               : tuneShared(*options, *problems, attempt, line);
  };
  return options->timeLimit == 0.0 ? work(Attempt(), WatchLine()) : watch(work);
}

int main(int argc, char **argv) {
  return runTool("dnn-tune", argc, argv, runTune, 2);
}

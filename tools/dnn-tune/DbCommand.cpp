//===- DbCommand.cpp - dnn-tune db: look after the databases --------------===//

#include "tools/dnn-tune/DbCommand.h"

#include "runtime/Base/UnknownTarget.h"
#include "runtime/Db/KernelStore.h"
#include "runtime/Db/Packages.h"
#include "runtime/DriverCommand/DriverCommand.h"
#include "runtime/Engine/Engine.h"
#include "tools/dnn-tune/DbOptions.h"
#include "tools/dnn-tune/DbPrint.h"
#include "tools/support/Files.h"

#include <cinttypes>
#include <cstdio>
#include <filesystem>

using namespace tessera;
using namespace tessera::tune_tool;

namespace {
/// The result of a command: its exit status, or why it failed.
using Exit = ErrorOr<int>;

/// The options, and the compiler's revision.
struct Context {
  const DbOptions &options;
  const std::string &revision;
};
} // namespace

/// The user's file unless the options name one; NotFound if the library has no
/// database.
static ErrorOr<std::string> getPath(const DbOptions &options) {
  if (!options.file.empty())
    return options.file;
  const std::string path = Engine::getUserFile(
      options.folder.empty() ? Engine::getDefaultCacheDirectory()
                             : options.folder);
  if (path.empty())
    return notFound("there is no database of the user (MIOPEN_DISABLE_CACHE, "
                    "or no home); name its folder with --db");
  return path;
}

/// Calls `use` with the open file.
template <typename Use>
static Exit withFile(const DbOptions &options, Use use) {
  const ErrorOr<std::string> path = getPath(options);
  if (!path)
    return path.getStatus();
  DatabaseFile file(*path, DatabaseFile::Use::Named);
  if (Status failure = file.getFailure(); !failure.isOk())
    return failure;
  return use(file);
}

static Exit getExit(const Status &status) {
  if (status.isOk())
    return 0;
  if (status.getCode() != StatusCode::NotFound)
    return status;
  std::printf("%s\n", status.getMessage().c_str());
  return 1;
}

/// Parses a network config, or a driver line.
static ErrorOr<Problem> readProblem(const std::string &text) {
  ErrorOr<Problem> problem = parseDriverCommand(text);
  return problem ? problem
                 : problem.getStatus().withContext("'" + text +
                                                   "' names no problem");
}

//===----------------------------------------------------------------------===//
// Looking
//===----------------------------------------------------------------------===//

static Exit runList(const Context &context) {
  return withFile(context.options, [&](DatabaseFile &file) -> Exit {
    return getExit(printList(file, context.options.filter));
  });
}

static Exit runShow(const Context &context) {
  ErrorOr<Problem> problem = readProblem(context.options.operands[0]);
  if (!problem)
    return problem.getStatus();
  return withFile(context.options, [&](DatabaseFile &file) -> Exit {
    return getExit(printProblem(file, *problem, context.options.filter));
  });
}

/// The chip that --target names, else that of the device.
static ErrorOr<const GpuTarget *> getTarget(const DbOptions &options) {
  if (const std::string &name = options.filter.target; !name.empty()) {
    if (const GpuTarget *target = findTarget(name))
      return target;
    return refuseTarget(name);
  }
  const ErrorOr<const GpuApi *> gpu = GpuApi::get();
  ErrorOr<const GpuTarget *> target =
      gpu ? (*gpu)->getTarget() : gpu.getStatus();
  return target ? target
                : target.getStatus().withContext(
                      "no device says for which chip; --target does");
}

/// Prints the tile with which a kernel that no file has would be compiled, on
/// the largest device with the chip.
static void printTile(KernelStore &store, const Problem &problem,
                      const GpuTarget &target) {
  const TuningKey key = {problem.toNetworkConfig(), std::string(target.name),
                         target.computeUnits};
  bool isTuned = false;
  for (Objective objective : {Objective::MeasuredTime, Objective::IssueCycles})
    if (std::optional<TunedTile> found = store.findTile(key, objective, "")) {
      std::printf("then it is made with %s, the best in %s of the tunings of "
                  "%s for %u CUs\n",
                  found->tile.toText().c_str(),
                  std::string(getName(objective)).c_str(),
                  found->key == key ? "it" : found->key.networkConfig.c_str(),
                  found->key.computeUnits);
      isTuned = true;
    }
  if (!isTuned)
    std::printf("then it is made with the model's tile: neither it for %u CUs "
                "was tuned, nor a neighbour\n",
                key.computeUnits);
}

static Exit runExplain(const Context &context) {
  const DbOptions &options = context.options;
  ErrorOr<Problem> problem = readProblem(options.operands[0]);
  if (!problem)
    return problem.getStatus();
  ErrorOr<const GpuTarget *> target = getTarget(options);
  if (!target)
    return target.getStatus();
  const KernelKey key = {
      problem->toNetworkConfig(), std::string((*target)->name),
      options.revisions.empty() ? context.revision : options.revisions.front()};
  std::string path = getPath(options) ? *getPath(options) : "";
  // A query must not create a missing file.
  if (!path.empty() && !std::filesystem::exists(path)) {
    std::printf("there is no %s yet\n", path.c_str());
    path.clear();
  }
  KernelStore store(path, findPackages());
  std::printf("%s for %s, by %s\n", key.networkConfig.c_str(),
              key.target.c_str(), key.revision.c_str());
  for (const std::string &line : store.explain(key))
    std::printf("%s\n", line.c_str());
  if (store.find(key))
    return 0;
  printTile(store, *problem, **target);
  return 1;
}

//===----------------------------------------------------------------------===//
// Moving rows
//===----------------------------------------------------------------------===//

static void printCount(const char *what, const MergeCount &count) {
  std::printf("%s: %" PRId64 " kernels, %" PRId64 " tunings\n", what,
              count.kernels, count.tunings);
}

static Exit printMerge(const ErrorOr<MergeResult> &result) {
  if (!result)
    return result.getStatus();
  printCount("new", result->added);
  printCount("newer than what was there", result->replaced);
  printCount("older or the same", result->kept);
  return 0;
}

static Exit runExport(const Context &context) {
  const ErrorOr<std::string> path = getPath(context.options);
  if (!path)
    return path.getStatus();
  if (Status status = checkOutput(context.options.operands[0]); !status.isOk())
    return status;
  return printMerge(mergeIntoPackage({*path}, context.options.operands[0],
                                     context.options.filter));
}

static Exit runMerge(const Context &context) {
  const std::vector<std::string> &files = context.options.operands;
  if (Status status = checkOutput(files.front()); !status.isOk())
    return status;
  return printMerge(mergeIntoPackage({files.begin() + 1, files.end()},
                                     files.front(), context.options.filter));
}

static Exit runImport(const Context &context) {
  const ErrorOr<std::string> path = getPath(context.options);
  if (!path)
    return path.getStatus();
  // The file may not exist yet.
  DatabaseFile into(*path, DatabaseFile::Use::Cache);
  if (Status failure = into.getFailure(); !failure.isOk())
    return failure;
  for (const std::string &name : context.options.operands) {
    std::printf("%s\n", name.c_str());
    DatabaseFile from(name, DatabaseFile::Use::Named);
    Exit exit = printMerge(mergeFile(into, from, context.options.filter));
    if (!exit)
      return exit;
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Upkeep
//===----------------------------------------------------------------------===//

/// Verifies one file; true if it is sound.
static ErrorOr<bool> verifyOne(const std::string &path) {
  DatabaseFile file(path, DatabaseFile::Use::Named);
  ErrorOr<VerifyResult> result = verifyFile(file);
  if (!result)
    return result.getStatus();
  for (const std::string &fault : result->faults)
    std::printf("%s: %s\n", path.c_str(), fault.c_str());
  std::printf("%s: %" PRId64 " kernels, %" PRId64 " code objects, %" PRId64
              " tunings, %zu faults\n",
              path.c_str(), result->kernels, result->codeObjects,
              result->tunings, result->faults.size());
  return result->faults.empty();
}

static Exit runVerify(const Context &context) {
  std::vector<std::string> paths = context.options.operands;
  if (paths.empty()) {
    ErrorOr<std::string> path = getPath(context.options);
    if (!path)
      return path.getStatus();
    paths.push_back(*path);
  }
  bool isSound = true;
  for (const std::string &path : paths) {
    ErrorOr<bool> outcome = verifyOne(path);
    if (!outcome)
      return outcome.getStatus();
    isSound &= *outcome;
  }
  return isSound ? 0 : 1;
}

static Exit runPrune(const Context &context) {
  return withFile(context.options, [&](DatabaseFile &file) -> Exit {
    ErrorOr<PruneResult> result =
        pruneFile(file, {context.options.revisions, context.options.maxBytes});
    if (!result)
      return result.getStatus();
    std::printf("%" PRId64 " kernels deleted; %.1f MB before, %.1f MB now\n",
                result->kernels, result->bytesBefore / 1e6,
                result->bytesAfter / 1e6);
    return 0;
  });
}

/// Runs the command that the options name.
static Exit runCommand(const Context &context) {
  static constexpr std::pair<std::string_view, Exit (*)(const Context &)>
      commands[] = {{"list", runList},       {"show", runShow},
                    {"explain", runExplain}, {"export", runExport},
                    {"import", runImport},   {"merge", runMerge},
                    {"verify", runVerify},   {"prune", runPrune}};
  for (const auto &[name, run] : commands)
    if (context.options.command == name)
      return run(context);
  return internalError("a command without a function");
}

int tune_tool::runDatabaseCommand(const std::vector<std::string> &words,
                                  const std::string &revision) {
  const ErrorOr<DbOptions> options = parseDbOptions(words);
  Exit exit = options ? Exit(0) : Exit(options.getStatus());
  if (options && options->help)
    std::fputs(getDbHelp(), stdout);
  else if (options)
    exit = runCommand({*options, revision});
  if (exit)
    return *exit;
  std::fflush(stdout);
  std::fprintf(stderr, "dnn-tune db: %s\n",
               exit.getStatus().getMessage().c_str());
  return 2;
}

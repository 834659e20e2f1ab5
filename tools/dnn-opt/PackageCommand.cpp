//===- PackageCommand.cpp - dnn-opt --aot ---------------------------------===//

#include "tools/dnn-opt/PackageCommand.h"

#include "compiler/Driver/Revision.h"
#include "runtime/Base/UnknownTarget.h"
#include "runtime/Worker/WorkerCompiler.h"
#include "tools/dnn-opt/PackageBuilder.h"
#include "tools/problems/ProblemFile.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <thread>
#include <unistd.h>

using namespace tessera;
using Clock = std::chrono::steady_clock;

static constexpr char kUsage[] =
    R"(dnn-opt --aot: a package of kernels, for machines that should not compile

  dnn-opt --aot LIST --target gfx942,gfx1100 -o kernels.db
  dnn-opt --aot model.onnx --batch 64 --type fp16 --layout NHWC \
          --target gfx942,sm_90 -o kernels.db

  --aot FILE               problems: a list, a log with MIOpenDriver's commands, a
                           find or perf database of MIOpen, or an ONNX model
  --target CHIP,...        chips to compile for; none of them is needed
  -o FILE                  the package; kernels of one that is there, or of a
                           build that was stopped, are not made again
  --tiles FILE             take tiles from this database of tunings
  --jobs N                 kernels at the same time (as many as there are cores)
  --families               kernels for unknown batch, spatial sizes and rows, one
                           for all problems that differ in these only, instead
                           of one for each problem
  --keep-going             exit with 0 though some kernels could not be made
)";

namespace {
struct Arguments {
  std::string list;
  PackageRequest request;
  ProblemFileOptions options;
  bool keepGoing = false;
  bool families = false; ///< Kernels for unknown sizes.
  bool help = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

static Status readTargets(std::string_view names, PackageRequest &request) {
  for (bool isLast = false; !isLast;) {
    const size_t comma = names.find(',');
    const std::string name(names.substr(0, comma));
    const GpuTarget *target = findTarget(name);
    if (!target)
      return refuseTarget(name);
    if (std::ranges::find(request.targets, target) == request.targets.end())
      request.targets.push_back(target);
    isLast = comma == names.npos;
    names.remove_prefix(isLast ? 0 : comma + 1);
  }
  return Status::ok();
}

static Status readJobs(std::string_view word, unsigned &jobs) {
  auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), jobs);
  if (error == std::errc() && end == word.data() + word.size() && jobs >= 1 &&
      jobs <= 1024)
    return Status::ok();
  return invalidArgument("--jobs takes a number from 1 to 1024, not '" +
                         std::string(word) + "'");
}

/// Parses a flag of ours that has a value; false if it is another flag.
static ErrorOr<bool> readOwnFlag(const std::string &flag,
                                 const std::string &value,
                                 Arguments &arguments) {
  Status status;
  if (flag == "--aot")
    arguments.list = value;
  else if (flag == "--target")
    status = readTargets(value, arguments.request);
  else if (flag == "-o")
    arguments.request.output = value;
  else if (flag == "--tiles")
    arguments.request.tiles = value;
  else if (flag == "--jobs")
    status = readJobs(value, arguments.request.jobs);
  else
    return readProblemFileFlag(flag, value, arguments.options);
  if (!status.isOk())
    return status;
  return true;
}

static Status checkComplete(const Arguments &arguments) {
  if (arguments.list.empty())
    return invalidArgument("--aot needs a list of problems");
  if (arguments.request.targets.empty())
    return invalidArgument("--target is missing; there are " +
                           std::string(getTargetNames()));
  if (arguments.request.output.empty())
    return invalidArgument("-o is missing: where does the package go?");
  return Status::ok();
}

static ErrorOr<Arguments> readArguments(int argc, char **argv) {
  Arguments arguments;
  arguments.request.jobs = std::max(1u, std::thread::hardware_concurrency());
  // Checked first, because --aot would take a flag after it for its list.
  arguments.help =
      std::any_of(argv + 1, argv + argc, [](std::string_view word) {
        return word == "--help" || word == "-h";
      });
  if (arguments.help)
    return arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--keep-going") {
      arguments.keepGoing = true;
      continue;
    }
    if (flag == "--families") {
      arguments.families = true;
      continue;
    }
    const bool hasValue = hasProblemFileValue(flag);
    if (hasValue && i + 1 == argc)
      return invalidArgument("'" + flag +
                             "' is no flag, or lacks its value; see --help");
    ErrorOr<bool> taken =
        readOwnFlag(flag, hasValue ? argv[i + 1] : "", arguments);
    if (!taken)
      return taken.getStatus();
    if (!*taken)
      return invalidArgument("unknown flag '" + flag + "'; see --aot --help");
    i += hasValue;
  }
  if (Status status = checkComplete(arguments); !status.isOk())
    return status;
  return arguments;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static double getSeconds(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Draws the progress on stderr. The remaining time is estimated without
/// kernels that were taken from an older package, because they took no time.
static void showProgress(const PackageReport &report, Clock::time_point begin) {
  constexpr int64_t kWidth = 30;
  const std::string bar(
      static_cast<size_t>(kWidth * report.done / report.wanted), '#');
  const int64_t worked = report.done - report.takenOver;
  const double seconds = getSeconds(begin);
  std::fprintf(stderr, "\r[%-30s] %lld of %lld, %zu failed, %.0f s",
               bar.c_str(), static_cast<long long>(report.done),
               static_cast<long long>(report.wanted), report.failures.size(),
               seconds);
  if (worked > 0)
    std::fprintf(stderr, ", %.0f s left   ",
                 seconds * static_cast<double>(report.wanted - report.done) /
                     static_cast<double>(worked));
  if (report.done == report.wanted)
    std::fputc('\n', stderr);
}

static void printList(const char *what,
                      const std::vector<PackageFailure> &list) {
  if (list.empty())
    return;
  std::fprintf(stderr, "%s %zu:\n", what, list.size());
  for (const PackageFailure &failure : list)
    std::fprintf(stderr, "  %s for %s: %s\n", failure.networkConfig.c_str(),
                 failure.target.c_str(), failure.reason.c_str());
}

static void printReport(const PackageRequest &request,
                        const PackageReport &report, double seconds) {
  std::error_code error;
  std::fprintf(
      stderr,
      "%s: %lld kernels (%lld made, %lld of them with tuned tiles, "
      "%lld taken over), %.1f MB, %.1f s\n",
      request.output.c_str(),
      static_cast<long long>(report.made + report.takenOver),
      static_cast<long long>(report.made), static_cast<long long>(report.tuned),
      static_cast<long long>(report.takenOver),
      static_cast<double>(std::filesystem::file_size(request.output, error)) *
          1e-6,
      seconds);
  printList("made with another tile, because the chosen one failed:",
            report.replaced);
  printList("not made:", report.failures);
}

/// Replaces the problems by their families, each once. Problems without one get
/// no kernel.
static void takeFamilies(PackageRequest &request) {
  std::vector<Problem> families;
  size_t without = 0;
  for (const Problem &problem : request.problems) {
    const std::optional<Family> family = problem.findFamily();
    if (!family)
      ++without;
    else if (std::ranges::find(families, family->problem) == families.end())
      families.push_back(family->problem);
  }
  std::fprintf(stderr, "%zu families; %zu problems have none\n",
               families.size(), without);
  request.problems = std::move(families);
}

static ErrorOr<PackageReport> build(Arguments &arguments) {
  ErrorOr<ProblemFile> file = readProblems(arguments.list, arguments.options);
  if (!file)
    return file.getStatus();
  std::fprintf(stderr, "%s: %s", arguments.list.c_str(),
               getSummary(*file).c_str());
  if (file->problems.empty())
    return invalidArgument("'" + arguments.list + "' names no problem");
  for (const ListedProblem &listed : file->problems)
    arguments.request.problems.push_back(listed.problem);
  if (arguments.families)
    takeFamilies(arguments.request);
  // There are as many workers as jobs.
  setenv("TESSERA_COMPILE_JOBS", std::to_string(arguments.request.jobs).c_str(),
         1);
  std::unique_ptr<KernelCompiler> compiler =
      createCompiler(getCompilerRevision());
  const bool isShown = isatty(STDERR_FILENO);
  const Clock::time_point begin = Clock::now();
  ErrorOr<PackageReport> report = buildPackage(arguments.request, *compiler,
                                               [&](const PackageReport &sofar) {
                                                 if (isShown)
                                                   showProgress(sofar, begin);
                                               });
  if (report)
    printReport(arguments.request, *report, getSeconds(begin));
  return report;
}

bool tessera::isPackageCommand(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--aot") == 0)
      return true;
  return false;
}

int tessera::runPackageCommand(int argc, char **argv) {
  ErrorOr<Arguments> arguments = readArguments(argc, argv);
  Status status = arguments.getStatus();
  if (arguments && arguments->help) {
    std::printf("%s%s", kUsage, getProblemFileHelp());
    return 0;
  }
  if (arguments) {
    ErrorOr<PackageReport> report = build(*arguments);
    if (report)
      return report->failures.empty() || arguments->keepGoing ? 0 : 1;
    status = report.getStatus();
  }
  std::fprintf(stderr, "dnn-opt: error: %s\n", status.getMessage().c_str());
  return 1;
}

//===- AheadOfTime.cpp - dnn-opt as a compiler of kernels -----------------===//
//
// Compiles from a problem, or from the text of any stage, to the text of any
// later stage or to the code object. Its command line is separate from LLVM's
// options, of which the -opt half of the tool has hundreds.
//
//===----------------------------------------------------------------------===//

#include "runtime/DriverCommand/DriverCommand.h"
#include "tools/dnn-opt/AheadOfTime.h"
#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Pipeline/Pipeline.h"
#include "runtime/Base/KeepMemory.h"
#include "runtime/Base/UnknownTarget.h"
#include "tools/support/Files.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>

using namespace tessera;

static constexpr char kUsage[] =
    R"(dnn-opt, ahead of time: one kernel from a problem, or from the text of a stage

  dnn-opt --problem "convfp16 -n 64 -c 256 -H 14 -W 14 -k 256 -y 3 -x 3 -p 1 -q 1" \
          --target gfx942 -o conv.hsaco
  dnn-opt --start-from gpu conv.mlir --target gfx942 --stop-after isa

  --problem LINE           the problem, as a MIOpenDriver command line
  --start-from STAGE FILE  start from the text of a stage instead; "-" is stdin
  --target CHIP            gfx90a, gfx942, ...
  --tile TEXT              the tile; the compiler's choice without it
  --list-tiles N           no kernel, but the N best tiles of the problem by the
                           compiler's model, and the clocks it expects
  --stop-after STAGE       problem, dnn, tiled, workgroup, gpu, llvm, isa,
                           object (default)
  -o FILE                  where the result goes; "-" (default) is stdout
  --timing                 the tile, time of each stage and the kernel's resources,
                           on stderr
  --repeat N               compile N times and report the last; for --timing

With --aot FILE, dnn-opt makes a package of kernels: dnn-opt --aot --help.
Without --problem and --start-from, it runs passes over MLIR:
dnn-opt --help-passes lists its options.
)";

namespace {
struct Arguments {
  Stage from = Stage::Problem;
  std::string text;
  PipelineOptions options;
  std::string output = "-";
  bool timing = false;
  bool help = false;
  int repeat = 1;
  int listedTiles = 0;
};
} // namespace

static ErrorOr<Stage> readStage(std::string_view name) {
  if (std::optional<Stage> stage = parseStage(name))
    return *stage;
  return invalidArgument(
      "'" + std::string(name) +
      "' is no stage; there are problem, dnn, tiled, workgroup, gpu, llvm, isa, object");
}

static Status readCount(const std::string &option, const std::string &value,
                        int &count) {
  const char *end = value.data() + value.size();
  auto [stop, error] = std::from_chars(value.data(), end, count);
  if (error != std::errc() || stop != end || count < 1)
    return invalidArgument(option + " needs a number of at least 1");
  return Status::ok();
}

/// Parses the option at `*arg` and the values after it.
static Status readArgument(char **&arg, Arguments &arguments) {
  std::string option = *arg++;
  if (option == "--help" || option == "-h") {
    arguments.help = true;
    return Status::ok();
  }
  if (option == "--timing") {
    arguments.timing = true;
    return Status::ok();
  }
  if (!*arg)
    return invalidArgument(option + " needs a value");
  std::string value = *arg++;
  if (option == "--problem") {
    arguments.text = value;
  } else if (option == "--tile") {
    arguments.options.tile = value;
  } else if (option == "-o") {
    arguments.output = value;
  } else if (option == "--target") {
    arguments.options.target = findTarget(value);
    if (!arguments.options.target)
      return refuseTarget(value);
  } else if (option == "--stop-after" || option == "--start-from") {
    ErrorOr<Stage> stage = readStage(value);
    if (!stage)
      return stage.getStatus();
    if (option == "--stop-after") {
      arguments.options.stopAfter = *stage;
      return Status::ok();
    }
    if (!*arg)
      return invalidArgument("--start-from needs a stage and a file");
    ErrorOr<std::string> text = readInput(*arg++);
    if (!text)
      return text.getStatus();
    arguments.from = *stage;
    arguments.text = std::move(*text);
  } else if (option == "--repeat") {
    return readCount(option, value, arguments.repeat);
  } else if (option == "--list-tiles") {
    return readCount(option, value, arguments.listedTiles);
  } else {
    return invalidArgument("unknown option " + option + "; see --help");
  }
  return Status::ok();
}

static ErrorOr<Arguments> readArguments(char **arg) {
  Arguments arguments;
  while (*arg) {
    Status status = readArgument(arg, arguments);
    if (!status.isOk())
      return status;
  }
  if (!arguments.options.target && !arguments.help)
    return invalidArgument("--target is missing; there are " +
                           std::string(getTargetNames()));
  return arguments;
}

static void printTiming(const PipelineResult &result) {
  if (!result.tile.empty())
    std::fprintf(stderr, "%-8s %s\n", "tile", result.tile.c_str());
  double totalMs = 0;
  for (const StageTime &time : result.stageTimes) {
    std::fprintf(stderr, "%-8s %8.2f ms\n", time.stage.c_str(), time.timeMs);
    totalMs += time.timeMs;
  }
  std::fprintf(stderr, "%-8s %8.2f ms\n", "total", totalMs);
}

/// Prints the resources of a finished code object. Spills are a warning, since
/// a kernel that spills is right but slow.
static void printResources(const PipelineResult &result) {
  for (const KernelMetadata &kernel : result.kernels) {
    const KernelResources &resources = kernel.resources;
    std::fprintf(stderr,
                 "%s: %u VGPRs (%u AGPRs), %u SGPRs, %u bytes of LDS, %u "
                 "bytes of scratch, %u spills, code object of %zu bytes\n",
                 kernel.name.c_str(), resources.vgprs, resources.agprs,
                 resources.sgprs, resources.ldsBytes, resources.scratchBytes,
                 resources.vgprSpills + resources.sgprSpills,
                 result.output.size());
    if (resources.vgprSpills + resources.sgprSpills != 0)
      std::fprintf(stderr, "dnn-opt: warning: %s spills registers\n",
                   kernel.name.c_str());
  }
}

static Status compile(const Arguments &arguments) {
  keepFreedMemory();
  CompileContextPool contexts;
  for (int i = 1;; ++i) {
    CompileContextPool::Loan context = contexts.borrow();
    ErrorOr<PipelineResult> result = compileText(
        *context, arguments.from, arguments.text, arguments.options);
    if (!result)
      return result.getStatus();
    if (i != arguments.repeat)
      continue;
    if (arguments.timing) {
      printTiming(*result);
      printResources(*result);
    }
    // The code object of an NVIDIA chip is PTX, a text.
    const bool isBinary = arguments.options.stopAfter == Stage::Object &&
                          arguments.options.target->vendor != Vendor::Nvidia;
    return writeOutput(arguments.output, result->output,
                       isBinary ? Content::Binary : Content::Text);
  }
}

static Status listTiles(const Arguments &arguments) {
  if (arguments.from != Stage::Problem)
    return invalidArgument("--list-tiles needs --problem");
  ErrorOr<Problem> problem = parseDriverCommand(arguments.text);
  if (!problem)
    return problem.getStatus();
  ErrorOr<std::vector<Candidate>> ranked =
      rankTiles(*problem, *arguments.options.target);
  if (!ranked)
    return ranked.getStatus();
  std::string text;
  for (const Candidate &candidate : std::span(*ranked).first(std::min<size_t>(
           ranked->size(), static_cast<size_t>(arguments.listedTiles))))
    text += candidate.tile.toText() + " " +
            std::to_string(std::llround(candidate.cost)) + "\n";
  return writeOutput(arguments.output, text);
}

bool tessera::isAheadOfTime(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    for (const char *option : {"--problem", "--start-from", "--help", "-h"})
      if (std::strcmp(argv[i], option) == 0)
        return true;
  return false;
}

int tessera::runAheadOfTime(int argc, char **argv) {
  ErrorOr<Arguments> arguments = readArguments(argv + 1);
  if (arguments && arguments->help) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  Status status = !arguments                   ? arguments.getStatus()
                  : arguments->listedTiles > 0 ? listTiles(*arguments)
                                               : compile(*arguments);
  if (status.isOk())
    return 0;
  std::fprintf(stderr, "dnn-opt: error: %s\n", status.getMessage().c_str());
  return 1;
}

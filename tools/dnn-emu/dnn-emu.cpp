//===- dnn-emu.cpp - Run one kernel of a code object ----------------------===//
//
// The emulated device without a program around it: buffers come from files or
// generators, and the device's findings are printed for people. It accepts any
// AMDGPU code object, whoever compiled it. See docs/guides/dnn-emu.md.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Time/Prediction.h"
#include "tools/dnn-emu/Findings.h"
#include "tools/dnn-emu/Listing.h"
#include "tools/dnn-emu/Trace.h"
#include "tools/support/Files.h"
#include "tools/support/Progress.h"
#include "tools/support/Tool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <elf.h>
#include <mutex>
#include <optional>
#include <thread>
#include <unistd.h>

using namespace tessera;
using namespace tessera::emu;
using namespace tessera::emulator;

enum ExitCode : int { kExitWell = 0, kExitFound = 1, kExitUsage = 2 };

/// HIP's limits of one dimension, and of a workgroup.
static constexpr uint64_t kMaxWorkgroupItems = 1024;

namespace {
/// A loaded file, and the memory of the whole device.
struct Input {
  const Chip *chip = nullptr;
  MemoryMap memory;
  std::shared_ptr<const CodeObject> object;
};

/// Shows how many workgroups of a launch have ended, beginning after one
/// second: a launch may take an hour, but most take no time.
class LaunchProgress {
public:
  LaunchProgress(const Launch &launch, bool isWanted) {
    const std::array<uint32_t, 3> groups = launch.getGroups();
    if (isWanted && isatty(STDERR_FILENO))
      thread = std::jthread([this, name = launch.kernel.name,
                             count = uint64_t(groups[0]) * groups[1] *
                                     groups[2]](const std::stop_token &stop) {
        show(stop, Progress(count), name);
      });
  }

  std::atomic<uint64_t> *getCounter() { return &finished; }

private:
  void show(const std::stop_token &stop, const Progress &progress,
            const std::string &name) {
    using namespace std::chrono_literals;
    std::unique_lock lock(mutex);
    auto isStopped = [&](std::chrono::milliseconds time) {
      return wakeUp.wait_for(lock, stop, time,
                             [&] { return stop.stop_requested(); });
    };
    if (isStopped(1s))
      return;
    do
      progress.show(finished, name);
    while (!isStopped(250ms));
    progress.clear();
  }

  std::atomic<uint64_t> finished = 0;
  std::mutex mutex;
  std::condition_variable_any wakeUp;
  std::jthread thread; ///< Last, because it is joined before the rest ends.
};
} // namespace

static int fail(const Status &status) {
  std::fflush(stdout);
  std::fprintf(stderr, "dnn-emu: %s\n", status.getMessage().c_str());
  return kExitUsage;
}

static ErrorOr<const Chip *> findChipOf(const EmuOptions &options,
                                        const std::vector<uint8_t> &file) {
  if (!options.target.empty()) {
    if (const Chip *chip = findChip(options.target))
      return chip;
    return invalidArgument("target '" + options.target +
                           "' is not emulated; there are " + getChipNames());
  }
  Elf64_Ehdr header{};
  if (file.size() < sizeof header ||
      std::memcmp(file.data(), ELFMAG, SELFMAG) != 0)
    return invalidArgument("'" + options.file + "' is not an ELF file");
  std::memcpy(&header, file.data(), sizeof header);
  if (const Chip *chip = findChipByElfMachine(header.e_flags))
    return chip;
  return invalidArgument("'" + options.file +
                         "' is for a chip that is not emulated; there are " +
                         getChipNames());
}

static Status loadInput(const EmuOptions &options, Input &input) {
  ErrorOr<std::vector<uint8_t>> file = readFile(options.file);
  if (!file)
    return file.getStatus();
  ErrorOr<const Chip *> chip = findChipOf(options, *file);
  if (!chip)
    return chip.getStatus();
  input.chip = *chip;
  auto object =
      CodeObject::load(file->data(), file->size(), **chip, input.memory);
  if (!object)
    return object.getStatus().withContext("'" + options.file + "'");
  input.object = *object;
  return Status::ok();
}

static ErrorOr<const KernelImage *> pickKernel(const EmuOptions &options,
                                               const CodeObject &object) {
  std::string names;
  for (const KernelImage &kernel : object.getKernels())
    names += (names.empty() ? "" : ", ") + kernel.name;
  if (options.kernel.empty()) {
    if (object.getKernels().size() == 1)
      return &object.getKernels()[0];
    return invalidArgument("the file holds several kernels; --kernel picks "
                           "one of " +
                           names);
  }
  if (const KernelImage *kernel = object.findKernel(options.kernel))
    return kernel;
  return invalidArgument("there is no kernel '" + options.kernel +
                         "'; there are " + names);
}

static Program decode(const Input &input, const KernelImage &kernel) {
  bool isWave32 = !input.chip->isGfx9() && kernel.descriptor.isWave32();
  Decoder decoder(*input.chip, isWave32 ? 32 : 64);
  Program program(decoder, input.object->getText(),
                  input.object->getLoadAddress());
  program.setSourceLines(input.object->getSourceLines());
  return program;
}

static Status checkSizes(const Launch &launch,
                         const std::array<uint32_t, 3> &grid) {
  uint64_t items = 1;
  for (unsigned d = 0; d < 3; ++d) {
    items *= launch.groupSize[d];
    if (items > kMaxWorkgroupItems)
      break;
    if (uint64_t(grid[d]) * launch.groupSize[d] > UINT32_MAX)
      return invalidArgument("the grid has 2^32 work-items in one dimension");
  }
  uint64_t limit =
      std::min<uint64_t>(kMaxWorkgroupItems, launch.kernel.maxWorkgroupSize);
  if (items > limit)
    return invalidArgument("kernel '" + launch.kernel.name + "' allows " +
                           std::to_string(limit) +
                           " work-items a workgroup: --block is too large");
  if (Status status = checkGroupSize(launch); !status.isOk())
    return status;
  return checkLds(launch);
}

static std::array<uint32_t, 3> pickBlock(const EmuOptions &options,
                                         const KernelImage &kernel) {
  if (options.block[0])
    return options.block;
  if (kernel.requiredGroupSize[0])
    return kernel.requiredGroupSize;
  return {64, 1, 1};
}

static Settings makeSettings(const EmuOptions &options) {
  Settings settings;
  settings.checks = options.checks;
  settings.maxInstructions = options.maxInstructions;
  settings.maxGroups = options.groups;
  settings.ignoresLdsOverruns = options.ignoresLdsOverruns;
  settings.threads =
      options.threads ? options.threads : std::thread::hardware_concurrency();
  // With several threads the lines would be interleaved.
  if (options.trace || !settings.threads)
    settings.threads = 1;
  return settings;
}

static Status printStats(const EmuOptions &options, const Launch &launch,
                         const LaunchStats &stats, double timeMs) {
  LaunchSummary summary = makeSummary(launch, timeMs);
  summary.usefulMacs = options.usefulMacs;
  std::string line =
      formatSummary(summary, sumUp(summary, launch.program, stats), true);
  if (!options.statsPath.empty())
    return appendStats(options.statsPath, line);
  std::printf("%s\n", line.c_str());
  return Status::ok();
}

/// Dumps and compares buffers; true when nothing differs.
static ErrorOr<bool> inspectBuffers(const EmuOptions &options,
                                    const Arguments &arguments) {
  for (const DumpSpec &dump : options.dumps)
    if (Status status = arguments.dump(dump); !status.isOk())
      return status;
  bool isSame = true;
  for (const CompareSpec &compare : options.compares) {
    ErrorOr<std::string> difference = arguments.compare(compare);
    if (!difference)
      return difference.getStatus();
    if (!difference->empty())
      std::printf("%s\n", difference->c_str());
    isSame &= difference->empty();
  }
  return isSame;
}

/// Predicts the launch's time from a few of its workgroups.
static int predict(const EmuOptions &options, const Launch &launch,
                   const Arguments &arguments, MemoryMap &memory) {
  const ChipTimes *times = findChipTimes(launch.chip.name);
  TimeOptions model;
  if (times)
    model.times = *times;
  model.footprintBytes = double(arguments.getBufferBytes());
  for (const auto &[name, value] : options.timeParameters)
    if (!setChipTime(model.times, name, value))
      return fail(invalidArgument("the timing model has no parameter '" + name +
                                  "'; ChipTimes.def lists them"));
  Timeline timeline;
  if (!options.timelinePath.empty())
    model.timeline = &timeline;
  ErrorOr<TimePrediction> prediction =
      predictTime(launch, memory, makeSettings(options), model);
  if (!prediction)
    return fail(prediction.getStatus());
  if (model.timeline)
    if (Status status =
            writeOutput(options.timelinePath,
                        timeline.format(launch.program, launch.chip.clockMhz));
        !status.isOk())
      return fail(status);
  if (options.timePath.empty()) {
    std::printf("%s", describePrediction(launch, *prediction).c_str());
    return kExitWell;
  }
  const Status status =
      appendStats(options.timePath, formatPrediction(launch, *prediction));
  return status.isOk() ? kExitWell : fail(status);
}

static int runKernel(const EmuOptions &options, Input &input,
                     const KernelImage &kernel) {
  ErrorOr<Arguments> arguments =
      Arguments::create(kernel, options.arguments, input.memory);
  if (!arguments)
    return fail(arguments.getStatus());
  Program program = decode(input, kernel);
  Launch launch{kernel,
                program,
                *input.chip,
                {},
                pickBlock(options, kernel),
                options.dynamicLdsBytes,
                arguments->getBytes()};
  for (unsigned d = 0; d < 3; ++d)
    launch.items[d] = options.grid[d] * launch.groupSize[d];
  if (Status status = checkSizes(launch, options.grid); !status.isOk())
    return fail(status);
  if (options.time)
    return predict(options, launch, *arguments, input.memory);
  ErrorOr<std::unique_ptr<OutputFile>> traceFile =
      OutputFile::create(options.tracePath.empty() ? "-" : options.tracePath);
  if (!traceFile)
    return fail(traceFile.getStatus());
  LaunchStats stats;
  LaunchWatch watch;
  if (options.stats || options.profile)
    watch = {MeasureLevel::Addresses, &stats, {}, nullptr};
  if (options.trace)
    watch.makeObserver = [&] {
      return std::make_unique<Trace>(
          TraceOptions{(*traceFile)->getStream(), options.grid,
                       options.traceWave, options.traceLimit});
    };
  const bool isTraceShown = options.trace && options.tracePath.empty();
  std::optional<LaunchProgress> progress;
  progress.emplace(launch, !isTraceShown);
  watch.finishedGroups = progress->getCounter();
  LaunchOutcome outcome =
      run(launch, input.memory, makeSettings(options), watch);
  progress.reset();
  if (Status status = (*traceFile)->finish(); !status.isOk())
    return fail(status);
  printFindings(launch, outcome, *arguments);
  if (options.profile)
    printProfile(launch, stats);
  if (options.stats)
    if (Status status = printStats(options, launch, stats, outcome.timeMs);
        !status.isOk())
      return fail(status);
  ErrorOr<bool> isSame = inspectBuffers(options, *arguments);
  if (!isSame)
    return fail(isSame.getStatus());
  return outcome.fault == FaultKind::None && *isSame ? kExitWell : kExitFound;
}

/// Performs --list and --disassemble, for the kernel that is named or for all.
static int describe(const EmuOptions &options, const Input &input) {
  for (const KernelImage &kernel : input.object->getKernels()) {
    if (!options.kernel.empty() && kernel.name != options.kernel)
      continue;
    if (options.list)
      printKernel(kernel);
    if (options.disassemble)
      printDisassembly(kernel, decode(input, kernel));
  }
  return kExitWell;
}

static int runEmu(int argc, char **argv) {
  ErrorOr<EmuOptions> options = parseOptions(argc, argv);
  if (!options)
    return fail(options.getStatus());
  if (options->help || options->checkHelp) {
    options->help ? printHelp() : printCheckHelp();
    return kExitWell;
  }
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    return fail(notSupported("the emulated device needs a host with AVX2"));
  Input input;
  if (Status status = loadInput(*options, input); !status.isOk())
    return fail(status);
  if (!options->list && !options->disassemble) {
    ErrorOr<const KernelImage *> kernel = pickKernel(*options, *input.object);
    return kernel ? runKernel(*options, input, **kernel)
                  : fail(kernel.getStatus());
  }
  if (!options->kernel.empty())
    if (auto kernel = pickKernel(*options, *input.object); !kernel)
      return fail(kernel.getStatus());
  return describe(*options, input);
}

int main(int argc, char **argv) {
  return runTool("dnn-emu", argc, argv, runEmu, kExitUsage);
}

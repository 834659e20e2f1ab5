//===- emulator-bench.cpp - How fast the emulated device is ---------------===//
//
// Runs a list of convolutions on the emulator itself, without HIP around it,
// and prints wave-instructions and useful multiply-adds per second. These are
// speeds of the emulation on this host. They say nothing about a GPU.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/JitCompiler.h"
#include "runtime/DriverCommand/DriverCommand.h"
#include "runtime/Emulator/Decode/CodeObject.h"
#include "runtime/Emulator/Launch.h"
#include "tools/support/Files.h"
#include "tools/support/Tool.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <sstream>

using namespace tessera;
using namespace tessera::emulator;

static constexpr char kUsage[] =
    R"(emulator-bench: speed of the emulated device on this host

  emulator-bench LIST [--target CHIP] [--threads N] [--repeat N] [--check SET]
                      [--layout NHWC]

  LIST            lines of: how often, then a MIOpenDriver command line
  --target CHIP   gfx942 (default), gfx90a, ...
  --threads N     host threads; 1 (default) shows the speed of a core
  --repeat N      launches of each problem; the fastest counts (default 3)
  --check SET     checks to run under: default, none, all, ...
  --layout NAME   of every tensor (default NHWC)
)";

namespace {
struct Options {
  std::string list;
  std::string target = "gfx942";
  std::string layout = "NHWC";
  int repeat = 3;
  Settings settings;
};

struct Entry {
  int count = 1;
  std::string line;
  ConvProblem problem;
};

/// Sums over one problem, or over the whole list.
struct Total {
  double seconds = 0;
  double instructions = 0;
  double macs = 0;

  void add(const Total &other, int times) {
    seconds += times * other.seconds;
    instructions += times * other.instructions;
    macs += times * other.macs;
  }
};
} // namespace

static bool parseInt(const std::string &text, int &value) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value > 0;
}

/// Returns nothing for a wrong command line, after printing the reason.
static std::optional<Options> parseArguments(int argc, char **argv) {
  Options options;
  options.settings.threads = 1;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (!word.starts_with("--")) {
      options.list = word;
      continue;
    }
    std::string value = i + 1 < argc ? argv[++i] : "";
    int number = 0;
    bool isNumber = parseInt(value, number);
    if (word == "--target")
      options.target = value;
    else if (word == "--layout")
      options.layout = value;
    else if (word == "--threads" && isNumber)
      options.settings.threads = static_cast<unsigned>(number);
    else if (word == "--repeat" && isNumber)
      options.repeat = number;
    else if (auto checks = CheckSet::parse(value); word == "--check" && checks)
      options.settings.checks = *checks;
    else {
      std::fprintf(stderr, "emulator-bench: cannot use '%s %s'\n%s",
                   word.c_str(), value.c_str(), kUsage);
      return std::nullopt;
    }
  }
  if (!options.list.empty())
    return options;
  std::fputs(kUsage, stderr);
  return std::nullopt;
}

static ErrorOr<std::vector<Entry>> readList(const Options &options) {
  const ErrorOr<std::string> text = readInput(options.list);
  if (!text)
    return text.getStatus();
  std::istringstream file(*text);
  std::vector<Entry> entries;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#')
      continue;
    Entry entry;
    std::istringstream stream(line);
    stream >> entry.count;
    std::getline(stream >> std::ws, entry.line);
    std::istringstream words(entry.line + " -I " + options.layout + " -O " +
                             options.layout + " -f " + options.layout +
                             " -F 1");
    std::vector<std::string> list{std::istream_iterator<std::string>(words),
                                  {}};
    ErrorOr<DriverOptions> parsed = parseDriverOptions(list);
    if (!parsed)
      return parsed.getStatus();
    entry.problem = *parsed->problems.front().getConv();
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// A buffer of elements that are about one in every format: 0x3c3c is 1.06 as
/// f16.
static void *makeBuffer(MemoryMap &memory, int64_t bytes) {
  void *buffer =
      memory.allocate(static_cast<size_t>(bytes), MemoryKind::Device);
  if (buffer)
    std::memset(buffer, 0x3c, static_cast<size_t>(bytes));
  return buffer;
}

static ErrorOr<Total> measure(const Options &options, const Chip &chip,
                              const Kernel &compiled,
                              const ConvProblem &problem) {
  MemoryMap memory;
  auto object = CodeObject::load(compiled.codeObject.data(),
                                 compiled.codeObject.size(), chip, memory);
  if (!object)
    return object.getStatus();
  const KernelImage *kernel =
      (*object)->findKernel(compiled.launches.front().symbol);
  Decoder decoder(chip, kernel->descriptor.isWave32() ? 32 : 64);
  Program program(decoder, (*object)->getText(), (*object)->getLoadAddress());
  const int64_t bytes = getByteSize(problem.dataType);
  void *const tensors[] = {
      makeBuffer(memory, problem.getInputElements() * bytes),
      makeBuffer(memory, problem.getFilterElements() * bytes),
      makeBuffer(memory, problem.getOutputElements() * bytes)};
  Launch launch{
      *kernel,
      program,
      chip,
      {},
      compiled.launches.front().block,
      compiled.launches.front().dynamicLdsBytes,
      std::vector<uint8_t>(compiled.launches.front().args.size() * 8)};
  for (unsigned d = 0; d < 3; ++d)
    launch.items[d] =
        compiled.launches.front().grid[d] * compiled.launches.front().block[d];
  for (size_t i = 0; i < compiled.launches.front().args.size(); ++i)
    std::memcpy(
        &launch.arguments[8 * i],
        &tensors[static_cast<size_t>(compiled.launches.front().args[i].kind)],
        8);
  Total best;
  for (int i = 0; i < options.repeat; ++i) {
    auto begin = std::chrono::steady_clock::now();
    LaunchOutcome outcome = run(launch, memory, options.settings);
    std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - begin;
    if (outcome.fault != FaultKind::None)
      return unavailable(outcome.message);
    if (i == 0 || time.count() < best.seconds)
      best = {time.count(), double(outcome.waveInstructions),
              problem.getFlops() / 2};
  }
  return best;
}

static void print(const Total &total, int threads, const std::string &name) {
  std::printf("%9.1f ms %8.2f M instr %8.2f M instr/s/core %8.2f GMAC/s/core"
              "  %s\n",
              total.seconds * 1e3, total.instructions / 1e6,
              total.instructions / total.seconds / 1e6 / threads,
              total.macs / total.seconds / 1e9 / threads, name.c_str());
}

static Status runAll(const Options &options) {
  const Chip *chip = findChip(options.target);
  if (!chip)
    return invalidArgument("'" + options.target +
                           "' is not emulated; there are " + getChipNames());
  ErrorOr<std::vector<Entry>> entries = readList(options);
  if (!entries)
    return entries.getStatus();
  std::unique_ptr<KernelCompiler> compiler = createJitCompiler();
  Total all;
  int launches = 0;
  for (const Entry &entry : *entries) {
    const GpuTarget &target = chip->getTarget();
    ErrorOr<TileConfig> tile = compiler->chooseTile(entry.problem, target);
    if (!tile)
      return tile.getStatus();
    ErrorOr<Kernel> kernel = compiler->compile(entry.problem, *tile, target);
    if (!kernel)
      return kernel.getStatus();
    ErrorOr<Total> total = measure(options, *chip, *kernel, entry.problem);
    if (!total)
      return total.getStatus();
    print(*total, int(options.settings.threads), entry.line);
    all.add(*total, entry.count);
    launches += entry.count;
  }
  print(all, int(options.settings.threads),
        "all " + std::to_string(launches) + " launches");
  return Status::ok();
}

static int runBench(int argc, char **argv) {
  if (std::any_of(argv + 1, argv + argc, [](std::string_view word) {
        return word == "--help" || word == "-h";
      })) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  std::optional<Options> options = parseArguments(argc, argv);
  if (!options)
    return 2;
  Status status = runAll(*options);
  if (!status.isOk())
    std::fprintf(stderr, "emulator-bench: %s\n", status.getMessage().c_str());
  return status.isOk() ? 0 : 1;
}

int main(int argc, char **argv) {
  return runTool("emulator-bench", argc, argv, runBench);
}

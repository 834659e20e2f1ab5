//===- dnn-fit.cpp - Fits the model's constants to measured times ---------===//
//
// The model of wgmma's tiles has a few constants of the chip
// (compiler/Algorithms/TmaRates.def). This finds them from times of many tiles
// of many problems, never of one layer, and prints the file's rows anew.
//
//===----------------------------------------------------------------------===//

#include "tools/dnn-fit/Fit.h"

#include <charconv>
#include <cstdio>
#include <cstring>

using namespace tessera;
using namespace tessera::fit;

static constexpr char kUsage[] =
    R"(dnn-fit: fits the cost model of wgmma's tiles to measured times

  dnn-tune list.txt --exhaustive --table all.csv       # on the GPU
  dnn-fit all.csv                                      # anywhere

  FILE...        what dnn-tune --table or gpu_tiles.py run wrote; forward and
                 backward data count
  --target CHIP  sm_90
  --steps N      of the search, some milliseconds each (5000); 0 only says how
                 good the compiler's own constants are
  --seed N       of the search (1)

Prints how much of the best tile's speed the model's first choice has, before
and after, and the rows of compiler/Algorithms/TmaRates.def.
)";

namespace {
struct Options {
  std::vector<std::string> files;
  const GpuTarget *target = findTarget("sm_90");
  int steps = 5000;
  int seed = 1;
};
} // namespace

static Status readOption(const std::string &flag, const char *value,
                         Options &options) {
  if (flag != "--target" && flag != "--steps" && flag != "--seed")
    return invalidArgument("unknown flag '" + flag + "'; see --help");
  if (!value)
    return invalidArgument(flag + " needs a value");
  if (flag == "--target") {
    options.target = findTarget(value);
    if (options.target && options.target->wgmmaSharedBytes > 0)
      return Status::ok();
    return invalidArgument("'" + std::string(value) +
                           "' is no chip with wgmma; sm_90 is");
  }
  int &number = flag == "--steps" ? options.steps : options.seed;
  const char *end = value + std::strlen(value);
  auto [stop, error] = std::from_chars(value, end, number);
  if (error != std::errc() || stop != end || number < 0)
    return invalidArgument(flag + " needs a number of at least 0");
  return Status::ok();
}

static ErrorOr<Options> readOptions(char **arg) {
  Options options;
  for (; *arg; ++arg) {
    if (**arg != '-') {
      options.files.emplace_back(*arg);
      continue;
    }
    const std::string flag = *arg;
    if (Status status = readOption(flag, arg[1], options); !status.isOk())
      return status;
    ++arg;
  }
  if (options.files.empty())
    return invalidArgument("no file is named; see --help");
  return options;
}

static void printShare(const char *when, const Share &share) {
  std::printf("%s: the first choice has %.3f of the best tile's speed "
              "(geometric mean), %.3f at least\n",
              when, share.mean, share.least);
}

static void printRates(const TmaRates &rates) {
#define TMA_RATE(NAME, VALUE, MEANING)                                         \
  std::printf("TMA_RATE(" #NAME ", %.4g, \"" MEANING "\")\n", rates.NAME);
#include "compiler/Algorithms/TmaRates.def"
}

static Status run(const Options &options) {
  std::vector<Run> runs;
  for (const std::string &file : options.files) {
    ErrorOr<std::vector<Run>> read = readRuns(file);
    if (!read)
      return read.getStatus();
    runs.insert(runs.end(), read->begin(), read->end());
  }
  const std::vector<Sample> samples = makeSamples(runs, *options.target);
  if (samples.empty())
    return invalidArgument("no problem has two times of tiles that the model "
                           "of forward and backward data knows");
  size_t times = 0;
  for (const Sample &sample : samples)
    times += sample.times.size();
  std::printf("%zu times of %zu runs\n", times, samples.size());
  printShare("before", getShare(samples, *options.target, kTmaRates));
  if (options.steps == 0)
    return Status::ok();
  const TmaRates rates =
      fitRates(samples, *options.target, kTmaRates, options.steps,
               static_cast<uint64_t>(options.seed));
  printShare("after", getShare(samples, *options.target, rates));
  printRates(rates);
  return Status::ok();
}

int main(int argc, char **argv) {
  if (argc > 1 && (std::strcmp(argv[1], "--help") == 0)) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  const ErrorOr<Options> options = readOptions(argv + 1);
  const Status status = options ? run(*options) : options.getStatus();
  if (status.isOk())
    return 0;
  std::fprintf(stderr, "dnn-fit: error: %s\n", status.getMessage().c_str());
  return 1;
}

//===- dnn-fit.cpp - Fits a model's constants to measured tiles -----------===//
//
// The models that rank tiles have a few constants of the chip
// (compiler/Algorithms/*/*Rates.def). This fits them to values of many tiles of
// many problems, never of one layer, and prints new rows for the file.
//
//===----------------------------------------------------------------------===//

#include "runtime/Base/UnknownTarget.h"
#include "tools/dnn-fit/Fit.h"
#include "tools/support/Tool.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string_view>

using namespace tessera;
using namespace tessera::fit;

static constexpr char kUsage[] =
    R"(dnn-fit: fits a cost model of the compiler to measured tiles

  dnn-tune list.txt --exhaustive --table all.csv       # on the GPU
  dnn-fit all.csv                                      # anywhere

  FILE...        what dnn-tune --table or gpu_tiles.py run wrote; all times, or all
                 issue cycles of the emulated device
  --model NAME   wgmma          forward and backward data (TmaRates.def; the default)
                 wgmma-tf32     the same of tf32 (TmaTf32Rates.def)
                 wgmma-weights  backward weights (TmaWeightRates.def)
                 gemm           tiles through LDS: mma.sync, AMD's chips
                                (GemmRates.def)
                 groups         narrow groups side by side (NarrowRates.def)
                 stem           stems beside packing (StemRates.def, PackRates.def)
                 single         algorithms of one tile a problem (DepthwiseRates.def,
                                ToeplitzRates.def, GeneralRates.def)
                 pool           poolings (PoolRates.def)
                 rowwise        operations on rows (RowWiseRates.def)
                 all            all algorithms together, as a call ranks them;
                                only with --steps 0
  --target CHIP  sm_90
  --steps N      of the search, some milliseconds each (5000); 0 only says how
                 good the compiler's own constants are
  --seed N       of the search (1)
  --stay X       what a constant pays for leaving the compiler's, so that few
                 values do not move it far (0.0001; of some 50 runs 0.001)
  --keep FILE    tiles that are known to be good, of this or further files: a tile of
                 these problems that has no value counts as 5 % slower than theirs
  --only NAMES   change only these constants, with commas between them
  --worst N      also the N problems in which the first choice loses most: its share
                 of the best tile's speed, it, and the best; "TILE +" where the model
                 has TILE before it, which has no value
  --clock MHZ    hold costs, which are clocks, against times, too: where several
                 algorithms have tiles for a problem, their models compete

Prints how much of the best tile's speed the model's first choice has, before
and after, and the rows of the file under compiler/Algorithms; with --clock also
costs over times, and the factor by which they scatter.
)";

namespace {
struct Options {
  std::vector<std::string> files, kept, only;
  std::string model = "wgmma";
  const GpuTarget *target = findTarget("sm_90");
  SearchOptions search;
  size_t worst = 0;
  double clockMhz = 0;
};
} // namespace

static Status readOption(const std::string &flag, const char *value,
                         Options &options) {
  if (flag != "--model" && flag != "--target" && flag != "--steps" &&
      flag != "--seed" && flag != "--stay" && flag != "--clock" &&
      flag != "--worst" && flag != "--keep" && flag != "--only")
    return invalidArgument("unknown flag '" + flag + "'; see --help");
  if (!value)
    return invalidArgument(flag + " needs a value");
  if (flag == "--keep") {
    options.kept.emplace_back(value);
    return Status::ok();
  }
  if (flag == "--only") {
    std::istringstream names{value};
    for (std::string name; std::getline(names, name, ',');)
      options.only.push_back(name);
    return Status::ok();
  }
  if (flag == "--model") {
    options.model = value;
    return Status::ok();
  }
  if (flag == "--target") {
    options.target = findTarget(value);
    return options.target ? Status::ok() : refuseTarget(value);
  }
  auto read = [&](auto &number) {
    const char *end = value + std::strlen(value);
    auto [stop, error] = std::from_chars(value, end, number);
    return error == std::errc() && stop == end && number >= 0
               ? Status::ok()
               : invalidArgument(flag + " needs a number of at least 0");
  };
  return flag == "--stay"    ? read(options.search.stay)
         : flag == "--clock" ? read(options.clockMhz)
         : flag == "--steps" ? read(options.search.steps)
         : flag == "--worst" ? read(options.worst)
                             : read(options.search.seed);
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
  if (options.files.empty() && options.kept.empty())
    return invalidArgument("no file is named; see --help");
  return options;
}

static void printQuality(const char *when, const std::vector<Sample> &samples,
                         const Model &model, const Rates &rates,
                         std::optional<double> clocks) {
  const Share share = getShare(samples, model, rates);
  std::printf("%s: the first choice has %.3f of the best tile's speed "
              "(geometric mean), %.3f at least\n",
              when, share.mean, share.least);
  if (const Kept kept = countKept(samples, model, rates); kept.all != 0)
    std::printf("%s: %zu of %zu known choices stay\n", when, kept.stay,
                kept.all);
  if (!clocks)
    return;
  const Scale scale = getScale(samples, model, rates, *clocks);
  std::printf("%s: costs are %.2f of times (geometric mean), within a factor "
              "of %.2f\n",
              when, scale.mean, scale.spread);
}

static void printWorst(size_t count, const std::vector<Sample> &samples,
                       const Model &model, const Rates &rates) {
  std::vector<Choice> choices;
  std::vector<std::pair<double, size_t>> order;
  for (const Sample &sample : samples) {
    choices.push_back(choose(sample, model, rates));
    order.emplace_back(choices.back().share, order.size());
  }
  std::ranges::sort(order);
  order.resize(std::min(count, order.size()));
  for (const auto &[share, index] : order) {
    const Sample &sample = samples[index];
    const Choice &choice = choices[index];
    std::printf("%.3f %s: %s%s%s %.5g, %s %.5g\n", share,
                sample.problem.toNetworkConfig().c_str(), choice.before.c_str(),
                choice.before.empty() ? "" : " + ",
                sample.tiles[choice.first].c_str(),
                sample.values[choice.first].second,
                sample.tiles[choice.best].c_str(), sample.best);
  }
}

static ErrorOr<std::vector<Run>> readAll(const Options &options) {
  std::vector<Run> runs;
  for (const auto *files : {&options.files, &options.kept})
    for (const std::string &file : *files) {
      ErrorOr<std::vector<Run>> read = readRuns(file);
      if (!read)
        return read.getStatus();
      for (Run &run : *read)
        run.isKept = files == &options.kept;
      runs.insert(runs.end(), read->begin(), read->end());
    }
  for (const Run &run : runs)
    if (run.unit != runs.front().unit)
      return invalidArgument("values in " + runs.front().unit + " and in " +
                             run.unit + " are not fitted together");
  return runs;
}

/// The constants that the search may change.
static Status setOnly(const std::vector<std::string> &names, const Model &model,
                      SearchOptions &search) {
  for (const std::string &name : names) {
    const auto found =
        std::ranges::find(model.constants, name, &Constant::name);
    if (found == model.constants.end())
      return invalidArgument("the model '" + model.name +
                             "' has no constant '" + name + "'");
    search.only.push_back(static_cast<size_t>(found - model.constants.begin()));
  }
  return Status::ok();
}

static Status run(Options options) {
  const ErrorOr<Model> model = makeModel(options.model, *options.target);
  if (!model)
    return model.getStatus();
  const ErrorOr<std::vector<Run>> runs = readAll(options);
  if (!runs)
    return runs.getStatus();
  const std::vector<Sample> samples = makeSamples(*runs, *model);
  if (samples.empty())
    return invalidArgument("no problem has values of two tiles that the model "
                           "'" +
                           model->name + "' knows");
  size_t values = 0;
  for (const Sample &sample : samples)
    values += sample.values.size();
  std::printf("%zu values of %zu runs\n", values, samples.size());
  SearchOptions &search = options.search;
  if (Status status = setOnly(options.only, *model, search); !status.isOk())
    return status;
  if (options.clockMhz > 0) {
    // Clocks that were predicted are those of the chip.
    if (runs->front().unit != "us" && options.clockMhz != 1)
      return invalidArgument("--clock is for times, but values are in " +
                             runs->front().unit);
    search.clocks = options.clockMhz;
  }
  const Rates own = model->getRates();
  printQuality("before", samples, *model, own, search.clocks);
  if (search.steps == 0) {
    printWorst(options.worst, samples, *model, own);
    return Status::ok();
  }
  if (own.empty())
    return invalidArgument("the model '" + model->name +
                           "' has no constants to fit; use --steps 0");
  const Rates rates = fitRates(samples, *model, own, search);
  printQuality("after", samples, *model, rates, search.clocks);
  printWorst(options.worst, samples, *model, rates);
  std::fputs(model->format(rates).c_str(), stdout);
  return Status::ok();
}

static int runFit(int argc, char **argv) {
  if (std::any_of(argv + 1, argv + argc, [](std::string_view word) {
        return word == "--help" || word == "-h";
      })) {
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

int main(int argc, char **argv) {
  return runTool("dnn-fit", argc, argv, runFit);
}

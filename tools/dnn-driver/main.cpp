//===- dnn-driver: MIOpenDriver's command lines, on our library -----------===//
//
// Runs the lines that MIOpen's users quote and that MIOPEN_ENABLE_LOGGING_CMD
// prints, and answers in MIOpenDriver's words, so that scripts which parse its
// output can parse ours. Exit codes are MIOpenDriver's as well, except that a
// code which the shell cannot see (0x100 is 0 there) becomes 1.
//
//===----------------------------------------------------------------------===//

#include "runtime/Base/Env.h"
#include "runtime/DriverCommand/DriverCommand.h"
#include "runtime/Reference/CaseMemory.h"
#include "tools/dnn-driver/Judge.h"
#include "tools/dnn-driver/Lines.h"
#include "tools/dnn-driver/LrnRun.h"
#include "tools/dnn-driver/PoolRun.h"
#include "tools/dnn-driver/RowWiseRun.h"
#include "tools/support/Tool.h"

#include <algorithm>
#include <cstdio>

using namespace tessera;
using namespace tessera::driver;

/// Bits that MIOpenDriver adds to its exit code.
enum ExitBits : int {
  kExitOk = 0,
  kExitUsage = 1,
  kExitFailed = 2,
  kExitForward = 0x100,
  kExitBackwardData = 0x200,
  kExitBackwardWeights = 0x400,
};

static constexpr int64_t kDefaultSeed = 12345678;

static int fail(const Status &status, int code) {
  std::fflush(stdout);
  std::fprintf(stderr, "dnn-driver: %s\n", status.getMessage().c_str());
  return code;
}

namespace {
/// The flags that MIOpenDriver lacks.
struct OwnOptions {
  bool kernelInfo = false;
  ReferenceChoice reference = ReferenceChoice::Auto;
};
} // namespace

/// Removes "FLAG VALUE" from the words, and leaves the last value in `value`.
static Status takeFlag(std::vector<std::string> &words, const char *flag,
                       std::string &value) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] != flag)
      continue;
    if (i + 1 == words.size())
      return invalidArgument("flag '" + std::string(flag) + "' needs a value");
    value = words[i + 1];
    words.erase(words.begin() + static_cast<ptrdiff_t>(i),
                words.begin() + static_cast<ptrdiff_t>(i) + 2);
    --i;
  }
  return Status::ok();
}

/// Removes our flags from the words, because the parser knows only
/// MIOpenDriver's. MIOpenDriver's variable for the reference is honoured.
static ErrorOr<OwnOptions> takeOwnOptions(std::vector<std::string> &words) {
  std::string kernelInfo = "0";
  std::string reference =
      getEnvBool("MIOPEN_DRIVER_USE_GPU_REFERENCE", reportEnvOnStderr)
              .value_or(false)
          ? "gpu"
          : "auto";
  Status status = takeFlag(words, "--kernel-info", kernelInfo);
  if (status.isOk())
    status = takeFlag(words, "--reference", reference);
  if (!status.isOk())
    return status;
  ErrorOr<ReferenceChoice> choice = parseReferenceChoice(reference);
  if (!choice)
    return choice.getStatus();
  return OwnOptions{kernelInfo != "0", *choice};
}

/// Refuses flags of MIOpenDriver that would change what is computed or written.
static Status checkOptions(const DriverOptions &options) {
  if (options.bias)
    return notSupported("'--bias' is not implemented");
  for (const auto &[name, value] : options.others)
    for (const char *refused : {"dump_output", "in_data", "weights", "in_bias",
                                "dout_data", "out_data"})
      if (name == refused && !value.empty() && value != "0")
        return notSupported("'--" + name + "' is not implemented");
  return Status::ok();
}

static int getExitBit(Direction direction) {
  switch (direction) {
  case Direction::Forward:
    return kExitForward;
  case Direction::BackwardData:
    return kExitBackwardData;
  case Direction::BackwardWeights:
    return kExitBackwardWeights;
  }
  __builtin_unreachable();
}

/// Prints the output of --kernel-info.
static Status explain(const ErrorOr<tesseraKernelInfo> &info) {
  if (!info)
    return info.getStatus();
  printKernelInfo(*info);
  return printCounters();
}

/// Runs, reports and verifies a convolution; returns the exit bits.
static ErrorOr<int> runConv(const GpuApi &gpu, const DriverOptions &options,
                            const ConvProblem &problem, int64_t seed,
                            bool kernelInfo, Judge &judge) {
  const Direction direction = getApiDirection(problem, options.isTransposed);
  const ErrorOr<const GpuTarget *> target = gpu.getTarget();
  if (!target)
    return target.getStatus();
  ConvCase data(problem, reference::DataKind::Uniform,
                static_cast<uint64_t>(seed));
  data.adaptTo(**target);
  ErrorOr<ConvRun> conv = ConvRun::create(gpu, options, problem, data);
  if (!conv)
    return conv.getStatus();
  const ErrorOr<ChosenKernel> kernel = conv->choose();
  if (!kernel)
    return kernel.getStatus();
  printChosen(direction, *kernel);
  const ErrorOr<Times> times = conv->run(*kernel);
  if (!times)
    return times.getStatus();
  if (options.time)
    printTimes(options, problem, *times);
  if (kernelInfo)
    if (Status status = explain(conv->getKernelInfo()); !status.isOk())
      return status;
  if (!options.verify)
    return kExitOk;
  if (Status status = conv->readResults(data); !status.isOk())
    return status;
  const ErrorOr<Verification> verification = judge.verify(problem, data);
  if (!verification)
    return verification.getStatus();
  printVerification(direction, *verification, judge.getName());
  return verification->passed() ? kExitOk : getExitBit(direction);
}

/// The same for a pooling.
static ErrorOr<int> runPool(const GpuApi &gpu, const DriverOptions &options,
                            const PoolProblem &problem, int64_t seed,
                            bool kernelInfo, Judge &judge) {
  PoolCase data(problem, PoolData::Uniform, static_cast<uint64_t>(seed));
  ErrorOr<PoolRun> pool = PoolRun::create(gpu, options, problem, data);
  if (!pool)
    return pool.getStatus();
  const ErrorOr<Times> times = pool->run();
  if (!times)
    return times.getStatus();
  if (options.time)
    printPoolTimes(options, problem.direction, *times);
  if (kernelInfo)
    if (Status status = explain(pool->getKernelInfo()); !status.isOk())
      return status;
  if (!options.verify)
    return kExitOk;
  if (Status status = pool->readResults(data); !status.isOk())
    return status;
  const ErrorOr<std::string> fault = judge.verify(problem, data);
  if (!fault)
    return fault.getStatus();
  printPoolVerification(problem.direction, *fault, judge.getName());
  return fault->empty() ? kExitOk : getExitBit(problem.direction);
}

/// The same for a row-wise operation, which the host verifies.
static ErrorOr<int> runRowWise(const GpuApi &gpu, const DriverOptions &options,
                               const RowWiseProblem &problem, int64_t seed,
                               bool kernelInfo) {
  ErrorOr<RowWiseRun> rows =
      RowWiseRun::create(gpu, options, problem, static_cast<uint64_t>(seed));
  if (!rows)
    return rows.getStatus();
  const ErrorOr<Times> times = rows->run();
  if (!times)
    return times.getStatus();
  if (options.time)
    printRowTimes(options, problem, *times);
  if (kernelInfo)
    if (Status status = explain(rows->getKernelInfo()); !status.isOk())
      return status;
  if (!options.verify)
    return kExitOk;
  const ErrorOr<std::string> fault = rows->verify();
  if (!fault)
    return fault.getStatus();
  printRowVerification(problem, *fault);
  const bool isBackward = problem.op == RowWiseKind::ActivationBackward ||
                          problem.op == RowWiseKind::SoftmaxBackward;
  return fault->empty() ? kExitOk
                        : getExitBit(isBackward ? Direction::BackwardData
                                                : Direction::Forward);
}

/// Reports and verifies one direction of a local response normalisation.
static ErrorOr<int>
reportLrn(const LrnCommand &command, Direction direction,
          const ErrorOr<Times> &times,
          const std::function<ErrorOr<std::string>()> &verify) {
  const char *word =
      direction == Direction::Forward ? "Forward LRN" : "Backward LRN";
  if (!times)
    return times.getStatus();
  if (command.options.time)
    printOperationTimes(command.options, word, *times);
  if (!command.options.verify)
    return kExitOk;
  const ErrorOr<std::string> fault = verify();
  if (!fault)
    return fault.getStatus();
  printOperationVerification(word, *fault);
  return fault->empty() ? kExitOk : getExitBit(direction);
}

/// Runs forward, and then backward on its results.
static ErrorOr<int> runLrn(const GpuApi &gpu, const LrnCommand &command,
                           int64_t seed) {
  ErrorOr<LrnRun> lrn =
      LrnRun::create(gpu, command, static_cast<uint64_t>(seed));
  if (!lrn)
    return lrn.getStatus();
  const ErrorOr<int> forward =
      reportLrn(command, Direction::Forward, lrn->runForward(),
                [&] { return lrn->verifyForward(); });
  if (!forward || command.isForwardOnly)
    return forward;
  const ErrorOr<int> backward =
      reportLrn(command, Direction::BackwardData, lrn->runBackward(),
                [&] { return lrn->verifyBackward(); });
  return backward ? ErrorOr<int>(*forward | *backward) : backward;
}

/// Prints the source of the data.
static int64_t printSeed() {
  const int64_t seed = getEnvInt("MIOPEN_DEBUG_DRIVER_PRNG_SEED", kLeastEnvInt,
                                 kMostEnvInt, reportEnvOnStderr)
                           .value_or(kDefaultSeed);
  std::printf("PRNG seed: %lld\n", static_cast<long long>(seed));
  return seed;
}

/// Runs all directions; a failure of one does not stop the others.
static int runProblems(const GpuApi &gpu, const DriverOptions &options,
                       const OwnOptions &own) {
  printDevice(gpu);
  Judge judge(gpu, own.reference);
  const int64_t seed = printSeed();
  int bits = kExitOk;
  auto run = [&](const Problem &problem) -> ErrorOr<int> {
    if (const ConvProblem *conv = problem.getConv())
      return runConv(gpu, options, *conv, seed, own.kernelInfo, judge);
    if (const PoolProblem *pool = problem.getPool())
      return runPool(gpu, options, *pool, seed, own.kernelInfo, judge);
    return runRowWise(gpu, options, *problem.getRows(), seed, own.kernelInfo);
  };
  const CaseUse use = {options.verify ? CaseUse::Purpose::Verify
                                      : CaseUse::Purpose::Run,
                       gpu.getKind() == DeviceKind::Emulated};
  for (const Problem &problem : options.problems) {
    const ErrorOr<int> ran =
        withCaseMemory(problem, use, [&] { return run(problem); });
    bits |= ran ? *ran
                : fail(ran.getStatus().withContext(toDriverCommand(problem)),
                       kExitFailed);
  }
  return bits;
}

/// A shell sees only the low byte.
static int toExitCode(int bits) {
  if (bits == 0)
    return 0;
  return (bits & 0xff) ? bits & 0xff : kExitUsage;
}

/// Returns a device whose chip is known. The failure is reported once here
/// instead of for every direction.
static ErrorOr<const GpuApi *> getDevice() {
  ErrorOr<const GpuApi *> gpu = GpuApi::get();
  if (gpu)
    if (Status status = (*gpu)->getTarget().getStatus(); !status.isOk())
      return status;
  return gpu;
}

static int runLrnCommand(int argc, char **argv,
                         const std::vector<std::string> &words,
                         const OwnOptions &own) {
  const ErrorOr<LrnCommand> command = parseLrnCommand(words);
  if (!command)
    return fail(command.getStatus(), kExitUsage);
  printCommand(argc, argv);
  if (own.kernelInfo)
    return fail(notSupported("'--kernel-info' is of one kernel, but a local "
                             "response normalisation has several"),
                kExitUsage);
  const ErrorOr<const GpuApi *> gpu = getDevice();
  if (!gpu)
    return fail(gpu.getStatus(), kExitFailed);
  printDevice(**gpu);
  const int64_t seed = printSeed();
  const ErrorOr<int> bits = withMemory(LrnRun::getBytes(*command, **gpu), [&] {
    return runLrn(**gpu, *command, seed);
  });
  return bits ? toExitCode(*bits) : fail(bits.getStatus(), kExitFailed);
}

/// Prints the help if the words ask for it: that of the operation that the
/// command names, if any. Returns whether they do.
static bool printWantedHelp(const std::vector<std::string> &words) {
  const bool isWanted = std::ranges::any_of(words, [](std::string_view word) {
    return word == "--help" || word == "-h" || word == "-?";
  });
  if (!isWanted && !words.empty())
    return false;
  const DriverOperation *operation = nullptr;
  // A program's name may precede the operation.
  for (size_t i = 0; i < std::min<size_t>(2, words.size()) && !operation; ++i)
    operation = findDriverOperation(words[i]);
  printHelp(operation);
  return true;
}

static int runDriver(int argc, char **argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (printWantedHelp(words))
    return words.empty() ? kExitUsage : kExitOk;
  const ErrorOr<OwnOptions> own = takeOwnOptions(words);
  if (!own)
    return fail(own.getStatus(), kExitUsage);
  if (isLrnCommand(words))
    return runLrnCommand(argc, argv, words, *own);
  const ErrorOr<DriverOptions> options = parseDriverOptions(words);
  if (!options)
    return fail(options.getStatus(), kExitUsage);
  printCommand(argc, argv);
  if (Status status = checkOptions(*options); !status.isOk())
    return fail(status, kExitUsage);
  const ErrorOr<const GpuApi *> gpu = getDevice();
  if (!gpu)
    return fail(gpu.getStatus(), kExitFailed);
  return toExitCode(runProblems(**gpu, *options, *own));
}

int main(int argc, char **argv) {
  return runTool("dnn-driver", argc, argv, runDriver, kExitFailed);
}

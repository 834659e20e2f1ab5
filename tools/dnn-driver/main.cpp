//===- dnn-driver: MIOpenDriver's command lines, on our library -----------===//
//
// Runs the lines that MIOpen's users quote and that MIOPEN_ENABLE_LOGGING_CMD
// prints, and answers in MIOpenDriver's words, so that scripts which read its
// output read ours. Exit codes are its as well, except that a code which the
// shell cannot see (0x100 is 0 there) becomes 1.
//
//===----------------------------------------------------------------------===//

#include "runtime/Base/Env.h"
#include "tools/dnn-driver/ForwardConv.h"

#include <cstdio>
#include <cstring>

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

static void printHelp() {
  std::printf("Runs a convolution through libtessera.so and compares it with a "
              "host reference.\n\n"
              "usage: dnn-driver conv|convfp16|convbfp16 [flag value]...\n\n");
  for (const DriverFlag &flag : getDriverFlags())
    std::printf("  -%c --%-20s %s (%s)\n", flag.shortName,
                std::string(flag.longName).c_str(),
                std::string(flag.help).c_str(),
                std::string(flag.defaultValue).c_str());
  std::printf("     --%-20s print what the kernel is like, how long its stages "
              "compiled, and what the library did (0)\n",
              "kernel-info");
  std::printf("\nTESSERA_DEVICE=amd|nvidia|emulated[:gfx942] chooses the "
              "device.\n"
              "Exit code: 0 verified, 1 wrong command line, or wrong result or "
              "a direction that\nis not implemented, 2 the library failed.\n");
}

/// Takes "--kernel-info VALUE" out of the words. It is ours, and the parser
/// knows only MIOpenDriver's flags.
static ErrorOr<bool> takeKernelInfo(std::vector<std::string> &words) {
  bool wanted = false;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] != "--kernel-info")
      continue;
    if (i + 1 == words.size())
      return invalidArgument("flag '--kernel-info' needs a value");
    wanted = words[i + 1] != "0";
    words.erase(words.begin() + static_cast<ptrdiff_t>(i),
                words.begin() + static_cast<ptrdiff_t>(i) + 2);
    --i;
  }
  return wanted;
}

/// Flags of MIOpenDriver that would change what is computed or written.
static Status checkOptions(const DriverOptions &options) {
  if (options.bias)
    return notSupported("'--bias' is not implemented");
  for (const auto &[name, value] : options.others)
    for (const char *refused :
         {"dump_output", "in_data", "weights", "in_bias", "dout_data"})
      if (name == refused && !value.empty() && value != "0")
        return notSupported("'--" + name + "' is not implemented");
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// MIOpenDriver's lines
//===----------------------------------------------------------------------===//

static void printCommand(int argc, char **argv) {
  std::printf("MIOpenDriver");
  for (int i = 1; i < argc; ++i)
    std::printf(" %s", argv[i]);
  std::printf("\n");
}

static void printChosen(const ChosenKernel &kernel) {
  std::printf("MIOpen Forward Conv. Algorithm: %d, Solution: %llu/"
              "TesseraImplicitGemmFwd\n",
              kernel.algorithm,
              static_cast<unsigned long long>(kernel.solution));
}

static void printTimes(const DriverOptions &options, const Times &times) {
  const ConvProblem &p = options.problem;
  const Spatial out = p.getOutput();
  const int64_t bytes = getByteSize(p.dataType);
  const auto flops = static_cast<int64_t>(p.getFlops());
  const int64_t read = bytes * (p.getInputElements() + p.getFilterElements());
  const int64_t written = bytes * p.getOutputElements();
  const double ms = times.kernelMs;
  std::printf("GPU Kernel Time Forward Conv. Elapsed: %f ms (average)\n", ms);
  std::printf("stats: name, n, c, ho, wo, x, y, k, flopCnt, bytesRead, "
              "bytesWritten, GFLOPs, GB/s, timeMs\n");
  std::printf(
      "stats: fwd-conv%lldx%lldu%lld, %lld, %lld, %lld, %lld, %lld, "
      "%lld, %lld, %lld, %lld, %lld, %.0f, %.0f, %f\n",
      (long long)p.filter.h, (long long)p.filter.w, (long long)p.stride.h,
      (long long)p.batch, (long long)p.inChannels, (long long)out.h,
      (long long)out.w, (long long)p.filter.h, (long long)p.filter.w,
      (long long)p.outChannels, (long long)flops, (long long)read,
      (long long)written, flops / ms / 1e6, (read + written) / ms / 1e6, ms);
}

static void printVerification(const Verification &verification) {
  if (verification.passed())
    std::printf("Forward Convolution Verifies OK on CPU reference (%g < %g)\n",
                verification.error, verification.tolerance);
  else
    std::printf("Forward Convolution FAILED: %g > %g\n", verification.error,
                verification.tolerance);
}

//===----------------------------------------------------------------------===//
// Our own lines
//===----------------------------------------------------------------------===//

static void printDevice(const GpuApi &gpu) {
  const ErrorOr<std::string> architecture = gpu.getArchitecture();
  const char *name = architecture ? architecture->c_str() : "unknown";
  switch (gpu.getKind()) {
  case DeviceKind::Amd:
    std::printf("Device: %s, AMD\n", name);
    break;
  case DeviceKind::Nvidia:
    std::printf("Device: %s, NVIDIA\n", name);
    break;
  case DeviceKind::Emulated:
    std::printf("Device: %s, emulated: every time below is host time of the "
                "emulation, not GPU time\n",
                name);
    break;
  }
}

static void printKernelInfo(const tesseraKernelInfo &info) {
  std::printf("Kernel: %s, tile %s, code object %llu bytes\n",
              info.origin == tesseraKernelFromDatabase ? "from the database"
                                                       : "compiled",
              info.tile, static_cast<unsigned long long>(info.codeObjectBytes));
  std::printf("Kernel resources: VGPR %u (AGPR %u), SGPR %u, LDS %u bytes, "
              "VGPR spills %u, SGPR spills %u, scratch %u bytes\n",
              info.vgprs, info.agprs, info.sgprs, info.ldsBytes,
              info.vgprSpills, info.sgprSpills, info.scratchBytes);
  if (info.stageCount == 0)
    return;
  double totalMs = 0;
  for (uint32_t i = 0; i < info.stageCount; ++i)
    totalMs += info.stages[i].timeMs;
  std::printf("Compile time: %.2f ms (", totalMs);
  for (uint32_t i = 0; i < info.stageCount; ++i)
    std::printf("%s%s %.2f", i == 0 ? "" : ", ", info.stages[i].name,
                info.stages[i].timeMs);
  std::printf(")\n");
}

static Status printCounters() {
  tesseraCounters counters = TESSERA_COUNTERS_INIT;
  if (Status status = check(tesseraGetCounters(&counters)); !status.isOk())
    return status;
  std::printf("Library: compiled %llu, from database %llu, from memory %llu, "
              "launched %llu\n",
              static_cast<unsigned long long>(counters.compiled),
              static_cast<unsigned long long>(counters.fromDatabase),
              static_cast<unsigned long long>(counters.fromMemory),
              static_cast<unsigned long long>(counters.launched));
  return Status::ok();
}

//===----------------------------------------------------------------------===//

/// Runs, reports and verifies; gives the exit bits.
static ErrorOr<int> runForward(const GpuApi &gpu, const DriverOptions &options,
                               bool kernelInfo) {
  const int64_t seed =
      getEnvInt("MIOPEN_DEBUG_DRIVER_PRNG_SEED").value_or(kDefaultSeed);
  std::printf("PRNG seed: %lld\n", static_cast<long long>(seed));
  HostTensors tensors = makeHostTensors(options.problem, seed);
  ErrorOr<ForwardConv> conv = ForwardConv::create(gpu, options, tensors);
  if (!conv)
    return conv.getStatus();
  const ErrorOr<ChosenKernel> kernel = conv->choose();
  if (!kernel)
    return kernel.getStatus();
  printChosen(*kernel);
  const ErrorOr<Times> times = conv->run(*kernel);
  if (!times)
    return times.getStatus();
  if (options.time)
    printTimes(options, *times);
  if (options.wall)
    std::printf("Wall-clock Time Forward Conv. Elapsed: %f ms\n",
                times->wallMs);
  if (kernelInfo) {
    const ErrorOr<tesseraKernelInfo> info = conv->getKernelInfo();
    if (!info)
      return info.getStatus();
    printKernelInfo(*info);
    if (Status status = printCounters(); !status.isOk())
      return status;
  }
  if (!options.verify)
    return kExitOk;
  if (Status status = conv->readOutput(tensors.y); !status.isOk())
    return status;
  const Verification verification = verifyForward(options.problem, tensors);
  printVerification(verification);
  return verification.passed() ? kExitOk : kExitForward;
}

/// Says which of the directions that were asked for are not there yet.
static int refuseOtherDirections(int directions) {
  int bits = 0;
  if (directions & kDriverBackwardData) {
    std::printf("Backward Data Convolution: not implemented\n");
    bits |= kExitBackwardData;
  }
  if (directions & kDriverBackwardWeights) {
    std::printf("Backward Weights Convolution: not implemented\n");
    bits |= kExitBackwardWeights;
  }
  return bits;
}

static int runDirections(const DriverOptions &options, bool kernelInfo) {
  const int directions =
      options.forw == 0
          ? kDriverForward | kDriverBackwardData | kDriverBackwardWeights
          : options.forw;
  int bits = kExitOk;
  if (directions & kDriverForward) {
    const ErrorOr<const GpuApi *> gpu = GpuApi::get();
    if (!gpu)
      return fail(gpu.getStatus(), kExitFailed);
    printDevice(**gpu);
    const ErrorOr<int> forward = runForward(**gpu, options, kernelInfo);
    if (!forward)
      return fail(forward.getStatus(), kExitFailed);
    bits |= *forward;
  }
  return bits | refuseOtherDirections(directions);
}

/// The low byte is all that a shell sees.
static int toExitCode(int bits) {
  if (bits == 0)
    return 0;
  return (bits & 0xff) ? bits & 0xff : kExitUsage;
}

int main(int argc, char **argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    printHelp();
    return words.empty() ? kExitUsage : kExitOk;
  }
  const ErrorOr<bool> kernelInfo = takeKernelInfo(words);
  if (!kernelInfo)
    return fail(kernelInfo.getStatus(), kExitUsage);
  const ErrorOr<DriverOptions> options = parseDriverOptions(words);
  if (!options)
    return fail(options.getStatus(), kExitUsage);
  if (options->help) {
    printHelp();
    return kExitOk;
  }
  printCommand(argc, argv);
  if (Status status = checkOptions(*options); !status.isOk())
    return fail(status, kExitUsage);
  return toExitCode(runDirections(*options, *kernelInfo));
}

//===- Lines.cpp - What the driver prints ---------------------------------===//

#include "tools/dnn-driver/Lines.h"
#include "runtime/Base/RowWiseKind.h"

#include <cstdio>

using namespace tessera;
using namespace tessera::driver;

static void printFlags(std::span<const DriverFlag> flags) {
  for (const DriverFlag &flag : flags) {
    if (flag.shortName)
      std::printf("  -%c ", flag.shortName);
    else
      std::printf("     ");
    std::printf("--%-20s %s", std::string(flag.longName).c_str(),
                std::string(flag.help).c_str());
    if (!flag.defaultValue.empty())
      std::printf(" (%s)", std::string(flag.defaultValue).c_str());
    std::printf("\n");
  }
}

/// Flags that may follow any operation.
static constexpr DriverFlag kOwnFlags[] = {
    {0, "kernel-info", "0",
     "print what the kernel is like, how long its stages compiled, and what "
     "the library did; not of lrn, which has several kernels"},
    {0, "reference", "auto",
     "verify by the reference of cpu or gpu; auto: of the GPU where the CPU "
     "would need more than 2 s"},
};

void driver::printHelp(const DriverOperation *only) {
  std::printf("Runs a problem through libtessera.so and compares it with a "
              "reference. Behind a flag is its default.\n");
  for (const DriverOperation &operation : getDriverOperations()) {
    if (only && &operation != only)
      continue;
    std::printf("\nusage: dnn-driver %s [flag value]...\n\n",
                getSpelling(operation).c_str());
    printFlags(operation.getFlags());
  }
  std::printf(only ? "\nand of every operation:\n\n"
                   : "\nbehind any of them:\n\n");
  printFlags(kOwnFlags);
  std::printf(
      "\nTESSERA_DEVICE=amd|nvidia|emulated[:gfx942] chooses the device.\n"
      "Exit code: 0 verified, 1 wrong command line, or wrong result, 2 the "
      "library failed.\n");
}

//===----------------------------------------------------------------------===//
// MIOpenDriver's lines
//===----------------------------------------------------------------------===//

namespace {
/// MIOpenDriver's words for a direction in its different lines.
struct Words {
  const char *direction;
  const char *verified;
  const char *stats;
  const char *solver; ///< Our solver's name.
};
} // namespace

static const Words &getWords(Direction direction) {
  static constexpr Words kForward = {"Forward", "Forward Convolution",
                                     "fwd-conv", "TesseraConvFwd"};
  static constexpr Words kBackwardData = {"Backward Data",
                                          "Backward Convolution Data",
                                          "bwdd-conv", "TesseraConvBwdData"};
  static constexpr Words kBackwardWeights = {
      "Backward Weights", "Backward Convolution Weights", "bwdw-conv",
      "TesseraConvBwdWeights"};
  switch (direction) {
  case Direction::Forward:
    return kForward;
  case Direction::BackwardData:
    return kBackwardData;
  case Direction::BackwardWeights:
    return kBackwardWeights;
  }
  __builtin_unreachable();
}

void driver::printCommand(int argc, char **argv) {
  std::printf("MIOpenDriver");
  for (int i = 1; i < argc; ++i)
    std::printf(" %s", argv[i]);
  std::printf("\n");
}

void driver::printChosen(Direction direction, const ChosenKernel &kernel) {
  const Words &words = getWords(direction);
  if (kernel.way == ChosenKernel::Way::Problem)
    std::printf("%s Conv. runs by its name: no function of MIOpen's asks for "
                "this problem\n",
                words.direction);
  else
    std::printf("MIOpen %s Conv. Algorithm: %d, Solution: %llu/%s\n",
                words.direction, kernel.algorithm,
                static_cast<unsigned long long>(kernel.solution), words.solver);
}

static std::string join(std::initializer_list<int64_t> numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += ", " + std::to_string(number);
  return text;
}

/// For a transposed convolution, whose input is the problem's output,
/// MIOpenDriver prints the shape in the command.
static void printShape(const DriverOptions &options, const ConvProblem &p,
                       const Words &words) {
  const bool swaps = options.isTransposed;
  const int64_t c = swaps ? p.outChannels : p.inChannels,
                k = swaps ? p.inChannels : p.outChannels;
  const Spatial out = swaps ? p.in : p.getOutput();
  const Spatial &f = p.filter;
  std::string shape;
  if (p.hasDepth()) {
    std::printf("stats: name, n, c, do, ho, wo, z, y, x, k, flopCnt, "
                "bytesRead, bytesWritten, GFLOPs, GB/s, timeMs\n");
    std::printf("stats: %s%lldx%lldx%lldu%lld", words.stats, (long long)f.d,
                (long long)f.h, (long long)f.w, (long long)p.stride.h);
    shape = join({p.batch, c, out.d, out.h, out.w, f.d, f.h, f.w, k});
  } else {
    std::printf("stats: name, n, c, ho, wo, x, y, k, flopCnt, bytesRead, "
                "bytesWritten, GFLOPs, GB/s, timeMs\n");
    std::printf("stats: %s%lldx%lldu%lld", words.stats, (long long)f.h,
                (long long)f.w, (long long)p.stride.h);
    shape = join({p.batch, c, out.h, out.w, f.h, f.w, k});
  }
  std::printf("%s", shape.c_str());
}

void driver::printTimes(const DriverOptions &options,
                        const ConvProblem &problem, const Times &times) {
  const Words &words = getWords(getApiDirection(problem, options.isTransposed));
  const auto flops = static_cast<int64_t>(problem.getFlops());
  const int64_t written = getByteSize(problem.getResultType()) *
                          problem.getResultLengths().getElements();
  const int64_t read =
      getByteSize(problem.dataType) *
      (problem.getInputElements() + problem.getFilterElements() +
       problem.getOutputElements() - problem.getResultLengths().getElements());
  const double ms = times.kernelMs;
  std::printf("GPU Kernel Time %s Conv. Elapsed: %f ms (average)\n",
              words.direction, ms);
  printShape(options, problem, words);
  std::printf(", %lld, %lld, %lld, %.0f, %.0f, %f\n", (long long)flops,
              (long long)read, (long long)written, flops / ms / 1e6,
              (read + written) / ms / 1e6, ms);
  if (options.wall)
    std::printf("Wall-clock Time %s Conv. Elapsed: %f ms\n", words.direction,
                times.wallMs);
}

void driver::printVerification(Direction direction,
                               const Verification &verification,
                               const char *reference) {
  const char *name = getWords(direction).verified;
  if (verification.passed())
    std::printf("%s Verifies OK on %s reference (%g < %g)\n", name, reference,
                verification.error, verification.tolerance);
  else if (!(verification.error < verification.tolerance))
    std::printf("%s FAILED: %g > %g\n", name, verification.error,
                verification.tolerance);
  else
    std::printf("%s FAILED: %s\n", name, verification.wrong.c_str());
}

static const char *getPoolWord(Direction direction) {
  return direction == Direction::Forward ? "Forward" : "Backward";
}

void driver::printPoolTimes(const DriverOptions &options, Direction direction,
                            const Times &times) {
  const char *word = getPoolWord(direction);
  if (options.wall)
    std::printf("Wall-clock Time %s Pooling Elapsed: %f ms\n", word,
                times.wallMs);
  std::printf("GPU Kernel Time %s Pooling Elapsed: %f ms\n", word,
              times.kernelMs);
}

void driver::printPoolVerification(Direction direction,
                                   const std::string &fault,
                                   const char *reference) {
  const char *word = getPoolWord(direction);
  // MIOpenDriver's line, which names the reference.
  if (fault.empty())
    std::printf("%s Pooling Verifies on CPU and GPU (every element, %s "
                "reference)\n",
                word, reference);
  else
    std::printf("%s Pooling verification FAILED: %s\n", word, fault.c_str());
}

/// The name of the operation in a line.
static const char *getRowWord(const RowWiseProblem &problem) {
  switch (problem.op) {
  case RowWiseKind::ActivationForward:
    return "Forward Activation";
  case RowWiseKind::ActivationBackward:
    return "Backward Activation";
  case RowWiseKind::OpTensor:
  case RowWiseKind::SetTensor:
  case RowWiseKind::ScaleTensor:
  case RowWiseKind::TransformTensor:
    return "Tensor Operation";
  case RowWiseKind::SoftmaxForward:
    return "Forward Softmax";
  case RowWiseKind::SoftmaxBackward:
    return "Backward Softmax";
  case RowWiseKind::Reduce:
    return "Reduction";
  case RowWiseKind::BatchNormTraining:
    return "Forward Train Batch Norm";
  case RowWiseKind::BatchNormInference:
    return "Forward Inference Batch Norm";
  case RowWiseKind::BatchNormBackward:
    return "Backward Batch Norm";
  case RowWiseKind::NormForward:
    return "Forward LayerNorm";
  default:
    return "Operation";
  }
}

void driver::printOperationTimes(const DriverOptions &options, const char *word,
                                 const Times &times) {
  if (options.wall)
    std::printf("Wall-clock Time %s Elapsed: %f ms\n", word, times.wallMs);
  std::printf("GPU Kernel Time %s Elapsed: %f ms\n", word, times.kernelMs);
}

void driver::printOperationVerification(const char *word,
                                        const std::string &fault) {
  if (fault.empty())
    std::printf("%s Verifies on CPU and GPU (CPU reference)\n", word);
  else
    std::printf("%s verification FAILED: %s\n", word, fault.c_str());
}

void driver::printRowTimes(const DriverOptions &options,
                           const RowWiseProblem &problem, const Times &times) {
  printOperationTimes(options, getRowWord(problem), times);
}

void driver::printRowVerification(const RowWiseProblem &problem,
                                  const std::string &fault) {
  printOperationVerification(getRowWord(problem), fault);
}

//===----------------------------------------------------------------------===//
// Our own lines
//===----------------------------------------------------------------------===//

void driver::printDevice(const GpuApi &gpu) {
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

void driver::printKernelInfo(const tesseraKernelInfo &info) {
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

Status driver::printCounters() {
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

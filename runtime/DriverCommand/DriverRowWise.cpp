//===- DriverRowWise.cpp - "MIOpenDriver activ" and "tensorop" ------------===//
//
// Flags and defaults are those of MIOpenDriver (ROCm/MIOpen,
// driver/activ_driver.hpp, driver/tensorop_driver.hpp). It has packed tensors
// of four dimensions only, whose order makes no difference, so a problem's line
// has all elements in one row. Other problems are named by their network
// config, which is a command as well.
//
//===----------------------------------------------------------------------===//

#include "runtime/Base/RowWiseKind.h"
#include "runtime/DriverCommand/DriverFlags.h"

#include <algorithm>

using namespace tessera;

static constexpr DriverFlag kActivationFlags[] = {
    {'F', "forw", "0", "1 forward, 2 backward, 0 both"},
    {'n', "batchsize", "100", "batch"},
    {'c', "in_channels", "3", "channels"},
    {'H', "in_h", "32", "height"},
    {'W', "in_w", "32", "width"},
    {'m', "mode", "3",
     "0 x, 1 logistic, 2 tanh, 3 relu, 4 softrelu, 5 abs, 6 power, 7 clipped "
     "relu, 8 leaky relu, 9 elu"},
    {'A', "alpha", "1", "first parameter"},
    {'B', "beta", "1", "second parameter"},
    {'G', "gamma", "1", "third parameter"},
    {'i', "iter", "10", "iterations"},
    {'V', "verify", "1", "compare with a reference"},
    {'t', "time", "0", "report the time of the kernel"},
    {'w', "wall", "0", "report wall-clock time; needs --time 1"},
};

static constexpr DriverFlag kTensorOpFlags[] = {
    {'F', "forw", "1", "read, but of no meaning"},
    {'n', "batchsize", "64", "batch"},
    {'c', "in_channels", "3", "channels"},
    {'H', "in_h", "32", "height"},
    {'W', "in_w", "32", "width"},
    {'A', "alpha1", "1", "factor of the first tensor"},
    {'B', "alpha2", "1", "factor of the second tensor"},
    {'G', "beta", "0", "factor of the old result"},
    {'i', "iter", "10", "iterations"},
    {'V', "verify", "1", "compare with a reference"},
    {'t', "time", "0", "report the time of the kernel"},
    {'w', "wall", "0", "report wall-clock time; needs --time 1"},
    {'o', "tensor_op", "0", "0 set, 1 scale, 2 add, 3 mul, 4 min, 5 max"},
    {'v', "tensor_val", "1", "what set and scale take"},
};

/// The flags that may follow a network config.
static constexpr DriverFlag kConfigFlags[] = {
    {'i', "iter", "10", "iterations"},
    {'V', "verify", "1", "compare with a reference"},
    {'t', "time", "0", "report the time of the kernel"},
    {'w', "wall", "0", "report wall-clock time; needs --time 1"},
};

std::span<const DriverFlag> tessera::getActivationDriverFlags() {
  return kActivationFlags;
}
std::span<const DriverFlag> tessera::getTensorOpDriverFlags() {
  return kTensorOpFlags;
}

//===----------------------------------------------------------------------===//
// Flags to problems
//===----------------------------------------------------------------------===//

/// Makes packed tensors of the command's lengths: inputs, and one output.
static RowWiseProblem makeProblem(FlagValues &flags, RowWiseKind op,
                                  int64_t mode, int inputs, DataType dataType) {
  RowWiseProblem p;
  p.op = op;
  p.mode = static_cast<uint32_t>(mode);
  p.rank = 4;
  p.lengths = {flags.getNumber("batchsize"), flags.getNumber("in_channels"),
               flags.getNumber("in_h"), flags.getNumber("in_w"), 1};
  p.tensorCount = inputs + 1;
  for (int i = 0; i < p.tensorCount; ++i) {
    p.tensors[i].type = dataType;
    p.tensors[i].role = i < inputs ? RowRole::Input : RowRole::Output;
    const auto &l = p.lengths;
    p.tensors[i].strides = {l[1] * l[2] * l[3], l[2] * l[3], l[3], 1};
  }
  return p;
}

/// Adds the problem without canonicalizing it, if the flags and it are valid.
static Status addProblem(const FlagValues &flags, const RowWiseProblem &problem,
                         DriverOptions &options) {
  Status status = flags.getStatus();
  return status.isOk() ? addRowWiseProblem(problem, options) : status;
}

ErrorOr<DriverOptions> tessera::toActivationOptions(FlagValues &flags,
                                                    DataType type) {
  DriverOptions options = readRun(flags);
  const int64_t forw = flags.getNumber("forw"), mode = flags.getNumber("mode");
  options.scalars = {flags.getReal("alpha"), flags.getReal("beta"),
                     flags.getReal("gamma")};
  Status status = checkRowType("activ", type);
  if (status.isOk())
    status = flags.checkRange("forw", 3);
  if (status.isOk())
    status = flags.checkRange("mode", static_cast<int64_t>(Activation::Elu));
  if (status.isOk() && (forw == 0 || (forw & kDriverForward)))
    status = addProblem(
        flags,
        makeProblem(flags, RowWiseKind::ActivationForward, mode, 1, type),
        options);
  if (status.isOk() && (forw == 0 || (forw & kDriverBackwardData)))
    status = addProblem(
        flags,
        makeProblem(flags, RowWiseKind::ActivationBackward, mode, 3, type),
        options);
  if (!status.isOk())
    return status;
  return options;
}

ErrorOr<DriverOptions> tessera::toTensorOpOptions(FlagValues &flags,
                                                  DataType type) {
  DriverOptions options = readRun(flags);
  const int64_t op = flags.getNumber("tensor_op");
  const double beta = flags.getReal("beta");
  constexpr int64_t kSet = 0, kScale = 1, kFirstOp = 2;
  RowWiseProblem problem;
  if (op == kSet)
    problem = makeProblem(flags, RowWiseKind::SetTensor, 0, 0, type);
  else if (op == kScale)
    problem = makeProblem(flags, RowWiseKind::ScaleTensor, 0, 1, type);
  else
    problem = makeProblem(flags, RowWiseKind::OpTensor, op - kFirstOp,
                          beta == 0 ? 2 : 3, type);
  if (op == kSet || op == kScale)
    options.scalars = {flags.getReal("tensor_val")};
  else
    options.scalars = {flags.getReal("alpha1"), flags.getReal("alpha2"), beta};
  Status status = checkRowType("tensorop", type);
  if (status.isOk())
    status = flags.checkRange("tensor_op", 5);
  if (status.isOk())
    status = addProblem(flags, problem, options);
  if (!status.isOk())
    return status;
  return options;
}

ErrorOr<DriverOptions>
tessera::toConfigOptions(std::span<const std::string> words) {
  FlagValues flags(kConfigFlags);
  if (Status status = flags.parse(words.subspan(1)); !status.isOk())
    return status;
  ErrorOr<Problem> problem = parseNetworkConfig(words[0]);
  if (!problem)
    return problem.getStatus();
  DriverOptions options = readRun(flags);
  options.problems.push_back(*problem);
  if (!flags.getStatus().isOk())
    return flags.getStatus();
  return options;
}

//===----------------------------------------------------------------------===//
// A problem to a line
//===----------------------------------------------------------------------===//

/// Whether all tensors are packed, alike, and of a type that has a word.
static bool isPacked(const RowWiseProblem &p) {
  return p.rank == 1 && hasRowWord(p.tensors[0].type) &&
         std::ranges::all_of(p.getTensors(), [&](const RowTensor &tensor) {
           return tensor.type == p.tensors[0].type &&
                  (tensor.strides[0] == 1 || p.lengths[0] == 1);
         });
}

/// The flags of the operation; empty if MIOpenDriver lacks it.
static std::string getOperationFlags(const RowWiseProblem &p) {
  auto number = [](int64_t value) { return std::to_string(value); };
  switch (p.op) {
  case RowWiseKind::ActivationForward:
  case RowWiseKind::ActivationBackward:
    if (p.mode > static_cast<uint32_t>(Activation::Elu))
      return "";
    return " -m " + number(p.mode) + " -F " +
           number(p.op == RowWiseKind::ActivationForward ? kDriverForward
                                                         : kDriverBackwardData);
  case RowWiseKind::SetTensor:
    return " -o 0";
  case RowWiseKind::ScaleTensor:
    return " -o 1";
  case RowWiseKind::OpTensor:
    return " -o " + number(p.mode + 2) + (p.tensorCount == 4 ? " -G 1" : "");
  default:
    return "";
  }
}

std::string tessera::toLine(const RowWiseProblem &problem) {
  if (std::string line = toReduceLine(problem); !line.empty())
    return line;
  if (std::string line = toNormLine(problem); !line.empty())
    return line;
  const std::string flags = getOperationFlags(problem);
  if (flags.empty() || !isPacked(problem))
    return problem.toNetworkConfig();
  const bool isActivation = problem.op == RowWiseKind::ActivationForward ||
                            problem.op == RowWiseKind::ActivationBackward;
  return getRowWord(isActivation ? "activ" : "tensorop",
                    problem.tensors[0].type) +
         " -n 1 -c 1 -H 1 -W " + std::to_string(problem.lengths[0]) + flags +
         " -t 1";
}

//===- DriverRowWise.cpp - "MIOpenDriver activ" and "tensorop" ------------===//
//
// Flags and defaults are those of MIOpenDriver (ROCm/MIOpen,
// driver/activ_driver.hpp, driver/tensorop_driver.hpp). It has packed tensors
// of four dimensions only, whose order makes no difference, so a problem's line
// has all elements in one row. Other problems are named by their network
// config, which is a command as well.
//
//===----------------------------------------------------------------------===//

#include "runtime/DriverCommand/DriverRows.h"

#include <algorithm>
#include <numeric>

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
// Packed tensors
//===----------------------------------------------------------------------===//

PackedRows::PackedRows(RowWiseKind op, std::span<const int64_t> lengths) {
  problem.op = op;
  problem.rank = static_cast<int>(lengths.size());
  std::ranges::copy(lengths, problem.lengths.begin());
}

void PackedRows::add(int count, DataType type, RowRole role, uint32_t shared) {
  // Dimensions in the order of memory, the outermost first.
  std::array<int, kMaxRowRank> order;
  const auto end = order.begin() + problem.rank;
  std::iota(order.begin(), end, 0);
  if (isChannelsLast)
    std::rotate(order.begin() + 1, order.begin() + 2, end);
  RowTensor tensor = {type, role, {}};
  int64_t next = 1;
  for (int i = problem.rank; i-- > 0;) {
    const int dim = order[i];
    const bool isShared = shared >> dim & 1;
    tensor.strides[dim] = isShared ? 0 : next;
    next *= isShared ? 1 : problem.lengths[dim];
  }
  for (int i = 0; i < count; ++i)
    problem.tensors[problem.tensorCount++] = tensor;
}

Status tessera::checkRowType(std::string_view operation, DataType type) {
  if (type == DataType::F16 || type == DataType::BF16 || type == DataType::F32)
    return Status::ok();
  return notSupported(std::string(operation) + " has f16, bf16 and f32, not " +
                      std::string(getName(type)));
}

int64_t tessera::countElements(const RowWiseProblem &p, int first, int last) {
  return std::accumulate(p.lengths.begin() + first, p.lengths.begin() + last,
                         int64_t{1}, std::multiplies());
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

namespace {
struct Activations {
  std::array<int64_t, 4> images;
  int64_t mode = 0, forw = 0;
};
} // namespace

template <typename Flags, typename CommandT>
static void describeActivation(Flags &flags, CommandT &&command) {
  describeImages(flags, command.images);
  flags.upTo(static_cast<int64_t>(Activation::Elu), "-m", command.mode);
  flags.upTo(3, "-F", command.forw);
}

ErrorOr<DriverOptions> tessera::toActivationOptions(FlagReader &flags,
                                                    DataType type) {
  Activations command;
  describeActivation(flags, command);
  DriverOptions options = readRun(flags);
  options.scalars = {flags.getReal("alpha"), flags.getReal("beta"),
                     flags.getReal("gamma")};
  flags.check(checkRowType("activ", type));
  auto add = [&](int direction, RowWiseKind op, int inputs) {
    if (command.forw != 0 && !(command.forw & direction))
      return;
    PackedRows rows(op, command.images);
    rows.problem.mode = static_cast<uint32_t>(command.mode);
    rows.add(inputs, type, RowRole::Input);
    rows.add(1, type, RowRole::Output);
    addProblem(flags, rows.problem, options);
  };
  add(kDriverForward, RowWiseKind::ActivationForward, 1);
  add(kDriverBackwardData, RowWiseKind::ActivationBackward, 3);
  return finish(flags, std::move(options));
}

//===----------------------------------------------------------------------===//
// Tensor operations
//===----------------------------------------------------------------------===//

namespace {
/// `op` is 0 to set, 1 to scale, and above an operation on two tensors.
struct TensorOps {
  static constexpr int64_t kSet = 0, kScale = 1, kFirstOp = 2;
  std::array<int64_t, 4> images;
  int64_t op = 0;
  bool hasOld = false;
};
} // namespace

template <typename Flags, typename CommandT>
static void describeTensorOp(Flags &flags, CommandT &&command) {
  describeImages(flags, command.images);
  flags.upTo(5, "-o", command.op);
  if (flags.needs(command.hasOld))
    flags.factor("-G", command.hasOld);
}

ErrorOr<DriverOptions> tessera::toTensorOpOptions(FlagReader &flags,
                                                  DataType type) {
  TensorOps command;
  describeTensorOp(flags, command);
  DriverOptions options = readRun(flags);
  flags.check(checkRowType("tensorop", type));
  const bool isOfOne = command.op < TensorOps::kFirstOp;
  PackedRows rows(command.op == TensorOps::kSet     ? RowWiseKind::SetTensor
                  : command.op == TensorOps::kScale ? RowWiseKind::ScaleTensor
                                                    : RowWiseKind::OpTensor,
                  command.images);
  if (isOfOne) {
    options.scalars = {flags.getReal("tensor_val")};
    rows.add(static_cast<int>(command.op), type, RowRole::Input);
  } else {
    options.scalars = {flags.getReal("alpha1"), flags.getReal("alpha2"),
                       flags.getReal("beta")};
    rows.problem.mode = static_cast<uint32_t>(command.op - TensorOps::kFirstOp);
    rows.add(command.hasOld ? 3 : 2, type, RowRole::Input);
  }
  rows.add(1, type, RowRole::Output);
  addProblem(flags, rows.problem, options);
  return finish(flags, std::move(options));
}

//===----------------------------------------------------------------------===//
// A problem to a line
//===----------------------------------------------------------------------===//

std::string tessera::guessElementLine(const RowWiseProblem &p) {
  const std::array<int64_t, 4> images = {1, 1, 1, p.lengths[0]};
  const DataType type = p.tensors[0].type;
  auto writeActivation = [&](int forw) {
    FlagWriter writer("activ", type);
    describeActivation(writer, Activations{images, p.mode, forw});
    return writer.finish();
  };
  auto writeTensorOp = [&](int64_t op) {
    FlagWriter writer("tensorop", type);
    describeTensorOp(writer, TensorOps{images, op, p.tensorCount == 4});
    return writer.finish();
  };
  switch (p.op) {
  case RowWiseKind::ActivationForward:
    return writeActivation(kDriverForward);
  case RowWiseKind::ActivationBackward:
    return writeActivation(kDriverBackwardData);
  case RowWiseKind::SetTensor:
    return writeTensorOp(TensorOps::kSet);
  case RowWiseKind::ScaleTensor:
    return writeTensorOp(TensorOps::kScale);
  case RowWiseKind::OpTensor:
    return writeTensorOp(TensorOps::kFirstOp + p.mode);
  default:
    return "";
  }
}

std::string tessera::toLine(const RowWiseProblem &problem) {
  for (auto guess : {guessElementLine, guessReduceLine, guessNormLine})
    if (const std::string line = guess(problem); !line.empty()) {
      const ErrorOr<Problem> read = parseDriverCommand(line);
      if (read && *read == Problem(problem))
        return line;
    }
  return problem.toNetworkConfig();
}

//===----------------------------------------------------------------------===//
// Network configs
//===----------------------------------------------------------------------===//

ErrorOr<DriverOptions>
tessera::toConfigOptions(std::span<const std::string> words) {
  FlagReader flags(kConfigFlags);
  if (Status status = flags.parse(words.subspan(1)); !status.isOk())
    return status;
  ErrorOr<Problem> problem = parseNetworkConfig(words[0]);
  if (!problem)
    return problem.getStatus();
  DriverOptions options = readRun(flags);
  options.problems.push_back(*problem);
  return finish(flags, std::move(options));
}

//===- DriverNorm.cpp - "MIOpenDriver bnorm" and "layernorm" --------------===//
//
// Flags are those of MIOpenDriver (ROCm/MIOpen, driver/bn_driver.hpp,
// driver/layernorm_driver.hpp). So are the defaults, except that a bnorm
// without --forw and --back trains. Statistics and parameters of bnorm are f32,
// as those of frameworks are; other problems are named by their network config.
//
//===----------------------------------------------------------------------===//

#include "runtime/DriverCommand/DriverRows.h"

using namespace tessera;

static constexpr DriverFlag kBatchNormFlags[] = {
    {'F', "forw", "1", "0 off, 1 training, 2 inference"},
    {'b', "back", "0", "1: the gradient, if --forw is 0"},
    {'n', "batchsize", "32", "batch"},
    {'c', "in_channels", "3", "channels"},
    {'D', "in_d", "0", "depth; 0: none"},
    {'H', "in_h", "32", "height"},
    {'W', "in_w", "32", "width"},
    {'L', "layout", "NCHW", "NCHW or NHWC (NCDHW, NDHWC)"},
    {'A', "alpha", "1", "factor of the result; only 1"},
    {'B', "beta", "0", "factor of the old result; only 0"},
    {'m', "mode", "0", "0 for each activation, 1 for each channel"},
    {'s', "save", "0",
     "1: save mean and inverse variance; of the gradient, use saved ones"},
    {'r', "run", "0", "1: training updates running mean and variance"},
    {'i', "iter", "1", "iterations"},
    {'V', "verify", "1", "compare with a reference"},
    {'t', "time", "0", "report the time of the kernel"},
    {'w', "wall", "0", "report wall-clock time; needs --time 1"},
};

static constexpr DriverFlag kLayerNormFlags[] = {
    {'F', "forw", "1", "read, but of no meaning: there is only forward"},
    {'X', "input", "100x3x32x32", "lengths of the input"},
    {'e', "eps", "0.00001", "what is added to the variance"},
    {'o', "normalized_dim", "3", "the first dimension of a row"},
    {'m', "mode", "0", "1: with weight and bias"},
    {'i', "iter", "10", "iterations"},
    {'V', "verify", "1", "compare with a reference"},
    {'t', "time", "0", "report the time of the kernel"},
    {'w', "wall", "0", "report wall-clock time; needs --time 1"},
};

std::span<const DriverFlag> tessera::getBatchNormDriverFlags() {
  return kBatchNormFlags;
}
std::span<const DriverFlag> tessera::getLayerNormDriverFlags() {
  return kLayerNormFlags;
}

/// Bits of the modes: see docs/spec/row-wise.md.
enum : uint32_t {
  kHasRunning = 16,
  kSaves = 32,
  kHasSaved = 16,
  kWeightAndBias = 2 | 4,
  kMeanAndInverse = 8 | 16,
};

//===----------------------------------------------------------------------===//
// Batch normalisations
//===----------------------------------------------------------------------===//

namespace {
struct BatchNorm {
  std::array<int64_t, 4> images;
  int64_t depth = 0; ///< 0 if there is none.
  Layout layout = Layout::NCHW;
  bool isOfChannels = false;
  int64_t forw = 1;
  bool isGradient = false, saves = false, keeps = false;
};
} // namespace

template <typename Flags, typename CommandT>
static void describeBatchNorm(Flags &flags, CommandT &&command) {
  describeImages(flags, command.images);
  if (flags.needs(command.depth != 0))
    flags.number("-D", command.depth);
  if (flags.needs(command.layout == Layout::NHWC))
    flags.layout("-L", command.depth != 0, command.layout);
  flags.boolean("-m", command.isOfChannels);
  flags.upTo(2, "-F", command.forw);
  if (flags.needs(command.isGradient))
    flags.boolean("-b", command.isGradient);
  if (flags.needs(command.forw != 2))
    flags.boolean("-s", command.saves);
  if (flags.needs(command.forw == 1))
    flags.boolean("-r", command.keeps);
}

/// Adds the tensors in the order of docs/spec/row-wise.md.
static RowWiseProblem makeProblem(const BatchNorm &command, DataType type) {
  const auto &[n, c, h, w] = command.images;
  std::vector<int64_t> lengths = {n, c, h, w};
  if (command.depth != 0)
    lengths.insert(lengths.begin() + 2, command.depth);
  constexpr uint32_t kBatch = 1, kChannels = 2;
  const uint32_t all = (1u << lengths.size()) - 1;
  const uint32_t shared = command.isOfChannels ? all & ~kChannels : kBatch;
  PackedRows rows(RowWiseKind::BatchNormTraining, lengths);
  rows.isChannelsLast = command.layout == Layout::NHWC;
  RowWiseProblem &p = rows.problem;
  auto addRows = [&](int inputs, int outputs) {
    rows.add(inputs, DataType::F32, RowRole::Input, shared);
    rows.add(outputs, DataType::F32, RowRole::RowOutput, shared);
  };
  rows.add(1, type, RowRole::Input);
  if (command.forw == 2) {
    p.op = RowWiseKind::BatchNormInference;
    addRows(4, 0);
  } else if (command.forw == 0 && command.isGradient) {
    p.op = RowWiseKind::BatchNormBackward;
    p.mode = command.saves ? kHasSaved : 0;
    p.reduced = shared;
    rows.add(1, type, RowRole::Input);
    addRows(command.saves ? 3 : 1, 2);
  } else {
    p.mode = (command.keeps ? kHasRunning : 0) | (command.saves ? kSaves : 0);
    p.reduced = shared;
    addRows(command.keeps ? 4 : 2, 2 * command.keeps + 2 * command.saves);
  }
  rows.add(1, type, RowRole::Output);
  return p;
}

ErrorOr<DriverOptions> tessera::toBatchNormOptions(FlagReader &flags,
                                                   DataType type) {
  DriverOptions options = readRun(flags);
  BatchNorm command;
  describeBatchNorm(flags, command);
  flags.check(checkRowType("bnorm", type));
  flags.requireDefaults({"alpha", "beta"});
  const RowWiseProblem problem = makeProblem(command, type);
  // The epsilon and the momentum of MIOpenDriver.
  options.scalars = {1e-3};
  if (problem.op == RowWiseKind::BatchNormTraining)
    options.scalars.push_back(0.1);
  addProblem(flags, problem, options);
  return finish(flags, std::move(options));
}

//===----------------------------------------------------------------------===//
// Layer normalisations
//===----------------------------------------------------------------------===//

namespace {
struct LayerNorm {
  std::vector<int64_t> lengths;
  int64_t firstOfRow = 0;
  bool hasWeight = false;
};
} // namespace

template <typename Flags, typename CommandT>
static void describeLayerNorm(Flags &flags, CommandT &&command) {
  flags.numbers("-X", 'x', 1, kMaxRowRank, command.lengths);
  flags.upTo(static_cast<int64_t>(command.lengths.size()) - 1, "-o",
             command.firstOfRow);
  flags.boolean("-m", command.hasWeight);
}

ErrorOr<DriverOptions> tessera::toLayerNormOptions(FlagReader &flags,
                                                   DataType type) {
  DriverOptions options = readRun(flags);
  options.scalars = {flags.getReal("eps")};
  flags.check(checkRowType("layernorm", type));
  LayerNorm command;
  describeLayerNorm(flags, command);
  if (!flags.isOk())
    return flags.getStatus();
  PackedRows rows(RowWiseKind::NormForward, command.lengths);
  RowWiseProblem &p = rows.problem;
  const uint32_t outer = (1u << command.firstOfRow) - 1;
  p.reduced = ((1u << p.rank) - 1) & ~outer;
  p.mode = (command.hasWeight ? kWeightAndBias : 0) | kMeanAndInverse;
  rows.add(1, type, RowRole::Input);
  rows.add(command.hasWeight ? 2 : 0, type, RowRole::Input, outer);
  rows.add(2, type, RowRole::RowOutput, p.reduced);
  rows.add(1, type, RowRole::Output);
  addProblem(flags, p, options);
  return finish(flags, std::move(options));
}

//===----------------------------------------------------------------------===//
// A problem to a line
//===----------------------------------------------------------------------===//

/// The only dimension along which the parameters vary, or -1.
static int findChannels(const RowWiseProblem &p, int parameter) {
  int channels = -1;
  for (int dim = 0; dim < p.rank; ++dim)
    if (p.tensors[parameter].strides[dim] != 0) {
      if (channels >= 0)
        return -1;
      channels = dim;
    }
  return channels;
}

static std::string guessBatchNormLine(const RowWiseProblem &p) {
  BatchNorm command;
  command.isGradient = p.op == RowWiseKind::BatchNormBackward;
  const int k = findChannels(p, command.isGradient ? 2 : 1);
  if (k < 0)
    return "";
  command.images = {countElements(p, 0, k), p.lengths[k], 1,
                    countElements(p, k + 1, p.rank)};
  command.isOfChannels = true;
  if (command.isGradient)
    command.forw = 0;
  else if (p.op == RowWiseKind::BatchNormInference)
    command.forw = 2;
  command.saves = p.mode & (command.isGradient ? kHasSaved : kSaves);
  command.keeps = p.mode & kHasRunning;
  FlagWriter writer("bnorm", p.tensors[0].type);
  describeBatchNorm(writer, command);
  return writer.finish();
}

std::string tessera::guessNormLine(const RowWiseProblem &p) {
  switch (p.op) {
  case RowWiseKind::BatchNormTraining:
  case RowWiseKind::BatchNormInference:
  case RowWiseKind::BatchNormBackward:
    return guessBatchNormLine(p);
  case RowWiseKind::NormForward: {
    FlagWriter writer("layernorm", p.tensors[0].type);
    describeLayerNorm(writer, LayerNorm{{p.lengths[0], p.lengths[1]},
                                        1,
                                        (p.mode & kWeightAndBias) != 0});
    return writer.finish();
  }
  default:
    return "";
  }
}

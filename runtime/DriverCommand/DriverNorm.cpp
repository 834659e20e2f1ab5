//===- DriverNorm.cpp - "MIOpenDriver bnorm" and "layernorm" --------------===//
//
// Flags are those of MIOpenDriver (ROCm/MIOpen, driver/bn_driver.hpp,
// driver/layernorm_driver.hpp). So are the defaults, except that a bnorm
// without --forw and --back trains. Statistics and parameters of bnorm are f32,
// as those of frameworks are; other problems are named by their network config.
//
//===----------------------------------------------------------------------===//

#include "runtime/Base/RowWiseKind.h"
#include "runtime/DriverCommand/DriverFlags.h"

#include <algorithm>
#include <numeric>

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
// Flags to problems
//===----------------------------------------------------------------------===//

namespace {
/// The space of a command, whose tensors are packed.
struct Space {
  RowWiseProblem problem;
  /// Dimensions in the order of memory, the outermost first.
  std::vector<int> order;

  /// Adds a tensor that is broadcast along the dimensions in `shared`.
  void add(DataType type, RowRole role, uint32_t shared = 0) {
    RowTensor &tensor = problem.tensors[problem.tensorCount++];
    tensor = {type, role, {}};
    int64_t next = 1;
    for (auto dim = order.rbegin(); dim != order.rend(); ++dim) {
      const bool isShared = shared >> *dim & 1;
      tensor.strides[*dim] = isShared ? 0 : next;
      next *= isShared ? 1 : problem.lengths[*dim];
    }
  }
  void add(int count, DataType type, RowRole role, uint32_t shared) {
    for (int i = 0; i < count; ++i)
      add(type, role, shared);
  }
};
} // namespace

/// Reads lengths in the order n, c, [d,] h, w, and the layout.
static Status readImages(FlagValues &flags, Space &space) {
  const int64_t depth = flags.getNumber("in_d");
  std::vector<int64_t> lengths = {
      flags.getNumber("batchsize"), flags.getNumber("in_channels"),
      flags.getNumber("in_h"), flags.getNumber("in_w")};
  if (depth != 0)
    lengths.insert(lengths.begin() + 2, depth);
  space.problem.rank = static_cast<int>(lengths.size());
  std::ranges::copy(lengths, space.problem.lengths.begin());
  Layout layout;
  Status status =
      parseLayoutWord("layout", flags.getText("layout"), depth != 0, layout);
  space.order.resize(lengths.size());
  std::iota(space.order.begin(), space.order.end(), 0);
  if (status.isOk() && layout == Layout::NHWC)
    std::ranges::rotate(space.order.begin() + 1, space.order.begin() + 2,
                        space.order.end());
  return status;
}

/// Adds the tensors in the order of docs/spec/row-wise.md, and the scalars.
static void addTraining(FlagValues &flags, DataType type, uint32_t shared,
                        Space &space, DriverOptions &options) {
  const bool keeps = flags.getBool("run"), saves = flags.getBool("save");
  space.problem.op = RowWiseKind::BatchNormTraining;
  space.problem.mode = (keeps ? kHasRunning : 0) | (saves ? kSaves : 0);
  space.problem.reduced = shared;
  space.add(type, RowRole::Input);
  space.add(keeps ? 4 : 2, DataType::F32, RowRole::Input, shared);
  space.add((keeps ? 2 : 0) + (saves ? 2 : 0), DataType::F32,
            RowRole::RowOutput, shared);
  space.add(type, RowRole::Output);
  options.scalars.push_back(0.1); // The momentum of MIOpenDriver.
}

static void addInference(DataType type, uint32_t shared, Space &space) {
  space.problem.op = RowWiseKind::BatchNormInference;
  space.add(type, RowRole::Input);
  space.add(4, DataType::F32, RowRole::Input, shared);
  space.add(type, RowRole::Output);
}

static void addGradient(FlagValues &flags, DataType type, uint32_t shared,
                        Space &space) {
  const bool isSaved = flags.getBool("save");
  space.problem.op = RowWiseKind::BatchNormBackward;
  space.problem.mode = isSaved ? kHasSaved : 0;
  space.problem.reduced = shared;
  space.add(2, type, RowRole::Input, 0);
  space.add(isSaved ? 3 : 1, DataType::F32, RowRole::Input, shared);
  space.add(2, DataType::F32, RowRole::RowOutput, shared);
  space.add(type, RowRole::Output);
}

ErrorOr<DriverOptions> tessera::toBatchNormOptions(FlagValues &flags,
                                                   DataType type) {
  DriverOptions options = readRun(flags);
  Space space;
  Status status = checkRowType("bnorm", type);
  if (status.isOk())
    status = flags.requireDefaults({"alpha", "beta"});
  if (status.isOk())
    status = readImages(flags, space);
  for (auto [flag, most] :
       {std::pair("forw", 2), std::pair("back", 1), std::pair("mode", 1),
        std::pair("save", 1), std::pair("run", 1)})
    if (status.isOk())
      status = flags.checkRange(flag, most);
  if (!status.isOk())
    return status;
  constexpr uint32_t kBatch = 1, kChannels = 2;
  const uint32_t all = (1u << space.problem.rank) - 1;
  const uint32_t shared = flags.getBool("mode") ? all & ~kChannels : kBatch;
  options.scalars = {1e-3}; // The epsilon of MIOpenDriver.
  const int64_t forw = flags.getNumber("forw");
  if (forw == 2)
    addInference(type, shared, space);
  else if (forw == 0 && flags.getBool("back"))
    addGradient(flags, type, shared, space);
  else
    addTraining(flags, type, shared, space, options);
  status = flags.getStatus();
  if (status.isOk())
    status = addRowWiseProblem(space.problem, options);
  if (!status.isOk())
    return status;
  return options;
}

ErrorOr<DriverOptions> tessera::toLayerNormOptions(FlagValues &flags,
                                                   DataType type) {
  DriverOptions options = readRun(flags);
  options.scalars = {flags.getReal("eps")};
  const std::string_view text = flags.getText("input");
  std::vector<int64_t> lengths;
  if (Status bad = checkRowType("layernorm", type); !bad.isOk())
    return bad;
  if (!parseNumbers(text, 'x', lengths) || lengths.empty() ||
      lengths.size() > kMaxRowRank)
    return invalidArgument("flag '--input' needs 1 to 5 lengths with 'x' "
                           "between, not " +
                           quote(text));
  const auto rank = static_cast<int>(lengths.size());
  Status status = flags.checkRange("normalized_dim", rank - 1);
  if (status.isOk())
    status = flags.checkRange("mode", 1);
  if (status.isOk())
    status = flags.getStatus();
  if (!status.isOk())
    return status;
  Space space;
  RowWiseProblem &p = space.problem;
  p.op = RowWiseKind::NormForward;
  p.rank = rank;
  std::ranges::copy(lengths, p.lengths.begin());
  space.order.resize(rank);
  std::iota(space.order.begin(), space.order.end(), 0);
  const uint32_t outer = (1u << flags.getNumber("normalized_dim")) - 1;
  p.reduced = ((1u << rank) - 1) & ~outer;
  const bool hasWeight = flags.getBool("mode");
  p.mode = (hasWeight ? kWeightAndBias : 0) | kMeanAndInverse;
  space.add(type, RowRole::Input);
  space.add(hasWeight ? 2 : 0, type, RowRole::Input, outer);
  space.add(2, type, RowRole::RowOutput, p.reduced);
  space.add(type, RowRole::Output);
  if (Status bad = addRowWiseProblem(p, options); !bad.isOk())
    return bad;
  return options;
}

//===----------------------------------------------------------------------===//
// A problem to a line
//===----------------------------------------------------------------------===//

/// The product of some lengths.
static std::string getProduct(const RowWiseProblem &p, int first, int last) {
  int64_t product = 1;
  for (int dim = first; dim < last; ++dim)
    product *= p.lengths[dim];
  return std::to_string(product);
}

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

static std::string toBatchNormFlags(const RowWiseProblem &p) {
  const bool isBackward = p.op == RowWiseKind::BatchNormBackward;
  const int k = findChannels(p, isBackward ? 2 : 1);
  if (k < 0)
    return "";
  std::string flags = " -n " + getProduct(p, 0, k) + " -c " +
                      getProduct(p, k, k + 1) + " -H 1 -W " +
                      getProduct(p, k + 1, p.rank) + " -m 1";
  if (isBackward)
    return flags + " -F 0 -b 1 -s " + (p.mode & kHasSaved ? "1" : "0");
  if (p.op == RowWiseKind::BatchNormInference)
    return flags + " -F 2";
  return flags + " -F 1 -s " + (p.mode & kSaves ? "1" : "0") + " -r " +
         (p.mode & kHasRunning ? "1" : "0");
}

/// The line that the problem may have; the caller parses it to see whether it
/// is right.
static std::string guessLine(const RowWiseProblem &p) {
  const DataType type = p.tensors[0].type;
  std::string flags;
  switch (p.op) {
  case RowWiseKind::BatchNormTraining:
  case RowWiseKind::BatchNormInference:
  case RowWiseKind::BatchNormBackward:
    flags = toBatchNormFlags(p);
    return flags.empty() ? "" : getRowWord("bnorm", type) + flags + " -t 1";
  case RowWiseKind::NormForward:
    if (p.rank != 2 || p.reduced != 2)
      return "";
    return getRowWord("layernorm", type) + " -X " +
           std::to_string(p.lengths[0]) + "x" + std::to_string(p.lengths[1]) +
           " -o 1 -m " + (p.mode & kWeightAndBias ? "1" : "0") + " -t 1";
  default:
    return "";
  }
}

std::string tessera::toNormLine(const RowWiseProblem &problem) {
  std::string line = guessLine(problem);
  if (line.empty())
    return line;
  const ErrorOr<Problem> read = parseDriverCommand(line);
  return read && *read == Problem(problem) ? line : "";
}

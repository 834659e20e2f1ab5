//===- DriverPool.cpp - "MIOpenDriver pool" -------------------------------===//
//
// Flags and defaults are those of MIOpenDriver (ROCm/MIOpen,
// driver/pool_driver.hpp). Note that -v is the vertical stride and -u the
// horizontal one, which is the reverse of "conv".
//
//===----------------------------------------------------------------------===//

#include "runtime/DriverCommand/DriverFlags.h"

using namespace tessera;

static constexpr DriverFlag kFlags[] = {
    {'W', "input", "100x3x32x32,NCHW",
     "input: lengths, then a layout or strides, as 2x3x8x8,192x64x8x1"},
    {'D', "dinput", "", "its gradient, if it lies differently"},
    {'O', "output", "", "output, if it lies differently from the input"},
    {'H', "doutput", "", "its gradient, if it lies differently"},
    {'F', "forw", "0", "1 forward, 2 backward, 0 both"},
    {'Z', "win_d", "3", "depth of the window (3-D only)"},
    {'y', "win_h", "3", "height of the window"},
    {'x', "win_w", "3", "width of the window"},
    {'s', "pool_stride_d", "1", "stride of the depth (3-D only)"},
    {'v', "pool_stride_h", "1", "stride of the height"},
    {'u', "pool_stride_w", "1", "stride of the width"},
    {'o', "pad_d", "0", "padding of the depth (3-D only)"},
    {'p', "pad_h", "0", "padding of the height"},
    {'q', "pad_w", "0", "padding of the width"},
    {'r', "pad_val", "0", "value of the padding; only 0"},
    {'M', "index_position", "",
     "0 indices of the window, 1 of the image; 0 in 2-D, 1 in 3-D"},
    {'I', "index_type", "miopenIndexUint8",
     "miopenIndexUint8, 16, 32 or 64: type of an index"},
    {'m', "mode", "max",
     "max, avg, avg_in (average, padding included) or max_nan (a NaN wins; not "
     "MIOpen's)"},
    {'z', "pad_mode", "default", "valid or default"},
    {'i', "iter", "10", "iterations"},
    {'V', "verify", "1", "compare with a reference"},
    {'t', "time", "0", "report the time of the kernel"},
    {'w', "wall", "0", "report wall-clock time; needs --time 1"},
    {'P', "print", "1", "print the problem"},
    {'j', "in_data", "", "file with the input"},
    {'k', "out_data", "", "file with the output"},
    {'l', "dout_data", "", "file with the gradient of the output"},
    // MIOpenDriver lacks these flags.
    {0, "pad_after_d", "",
     "padding after the depth, if not that of --pad_d (3-D only)"},
    {0, "pad_after_h", "", "the same of the height"},
    {0, "pad_after_w", "", "the same of the width"},
    {0, "save_indices", "",
     "forward max: 1 writes indices, 0 does not; 0 with --forw 1, else 1"},
};

std::span<const DriverFlag> tessera::getPoolDriverFlags() { return kFlags; }

static constexpr std::pair<std::string_view, PoolMode> kModes[] = {
    {"max", PoolMode::Max},
    {"avg", PoolMode::Average},
    {"avg_in", PoolMode::AverageInclusive},
    {"max_nan", PoolMode::MaxNan}};

static constexpr std::pair<std::string_view, IndexType> kIndexTypes[] = {
    {"miopenIndexUint8", IndexType::U8},
    {"miopenIndexUint16", IndexType::U16},
    {"miopenIndexUint32", IndexType::U32},
    {"miopenIndexUint64", IndexType::U64}};

//===----------------------------------------------------------------------===//
// Flags to a problem
//===----------------------------------------------------------------------===//

namespace {
/// The value of a tensor's flag.
struct TensorText {
  std::vector<int64_t> lengths; ///< Empty if the flag was not given.
  Layout layout = Layout::NCHW;
  Strides strides;

  bool hasDepth() const { return lengths.size() == 5; }
};

/// The four tensors. Each has the layout of the one that it was derived from
/// unless the command says otherwise.
struct Tensors {
  TensorText x, dx, y, dy;
};
} // namespace

static Status parseTensor(std::string_view flag, std::string_view text,
                          TensorText &tensor) {
  size_t comma = text.find(',');
  std::string_view order = comma == text.npos ? "" : text.substr(comma + 1);
  tensor.lengths.clear();
  if (!parseNumbers(text.substr(0, comma), 'x', tensor.lengths) ||
      (tensor.lengths.size() != 4 && tensor.lengths.size() != 5))
    return invalidArgument("flag '--" + std::string(flag) +
                           "' needs 4 or 5 lengths with x between, and a "
                           "layout or strides behind a comma, as in "
                           "'100x3x32x32,NCHW', not " +
                           quote(text));
  if (order.empty())
    return Status::ok();
  if (order.front() < '0' || order.front() > '9')
    return parseLayoutWord(flag, order, tensor.hasDepth(), tensor.layout);
  std::vector<int64_t> strides;
  if (!parseNumbers(order, 'x', strides) ||
      strides.size() != tensor.lengths.size())
    return invalidArgument("flag '--" + std::string(flag) +
                           "' needs as many strides as lengths, not " +
                           quote(order));
  tensor.layout = Layout::Strided;
  tensor.strides = toStrides(strides);
  return Status::ok();
}

/// Reads a tensor, which has the layout and strides of `likely` unless the flag
/// says otherwise.
static Status parseTensor(const FlagValues &flags, std::string_view flag,
                          const TensorText &likely, TensorText &tensor) {
  std::string_view text = flags.getText(flag);
  tensor.layout = likely.layout;
  tensor.strides = likely.strides;
  return text.empty() ? Status::ok() : parseTensor(flag, text, tensor);
}

static ErrorOr<Tensors> parseTensors(const FlagValues &flags) {
  Tensors tensors;
  Status status = parseTensor("input", flags.getText("input"), tensors.x);
  if (status.isOk())
    status = parseTensor(flags, "dinput", tensors.x, tensors.dx);
  // The strides of the input do not apply to the output.
  TensorText likely = tensors.x;
  if (likely.layout == Layout::Strided)
    likely = {};
  if (status.isOk())
    status = parseTensor(flags, "output", likely, tensors.y);
  if (status.isOk())
    status = parseTensor(flags, "doutput", tensors.y, tensors.dy);
  if (!status.isOk())
    return status;
  return tensors;
}

/// Parses a value that must be one of a few words.
template <typename Enum, size_t count>
static Status parseWord(const FlagValues &flags, std::string_view flag,
                        const std::pair<std::string_view, Enum> (&words)[count],
                        Enum &result) {
  std::string known;
  for (const auto &[word, value] : words) {
    if (word == flags.getText(flag)) {
      result = value;
      return Status::ok();
    }
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  return invalidArgument("flag '--" + std::string(flag) + "' must be one of " +
                         known + ", not " + quote(flags.getText(flag)));
}

static void readLengths(FlagValues &flags, const TensorText &x,
                        PoolProblem &problem) {
  auto get = [&](auto neutral, const std::string &prefix) {
    neutral.h = flags.getNumber(prefix + "_h");
    neutral.w = flags.getNumber(prefix + "_w");
    if (x.hasDepth())
      neutral.d = flags.getNumber(prefix + "_d");
    return neutral;
  };
  size_t last = x.lengths.size() - 1;
  problem.batch = x.lengths[0];
  problem.channels = x.lengths[1];
  problem.in = {x.lengths[last - 1], x.lengths[last],
                x.hasDepth() ? x.lengths[2] : 1};
  problem.window = get(Spatial(), "win");
  problem.stride = get(Spatial(), "pool_stride");
  problem.pad = get(Pads(), "pad");
  problem.extraPad = readExtraPad(flags, problem.pad, x.hasDepth());
}

static Status applyPadMode(std::string_view mode, PoolProblem &problem) {
  if (mode == "valid")
    problem.pad = problem.extraPad = {};
  else if (mode == "same")
    return notSupported("'--pad_mode same' is not supported; give the padding");
  else if (mode != "default")
    return invalidArgument("flag '--pad_mode' must be valid or default, not " +
                           quote(mode));
  return Status::ok();
}

/// Checks that the lengths in a tensor's flag, if any, are those of the
/// problem.
static Status checkLengths(std::string_view flag, const TensorText &tensor,
                           const TensorLengths &expected) {
  const std::vector<int64_t> &l = tensor.lengths;
  if (l.empty())
    return Status::ok();
  size_t last = l.size() - 1;
  TensorLengths given = {l[0], l[1], tensor.hasDepth() ? l[2] : 1, l[last - 1],
                         l[last]};
  for (auto length : {&TensorLengths::n, &TensorLengths::c, &TensorLengths::d,
                      &TensorLengths::h, &TensorLengths::w})
    if (given.*length != expected.*length)
      return invalidArgument("a length of '--" + std::string(flag) + "' is " +
                             std::to_string(given.*length) +
                             ", but the problem makes it " +
                             std::to_string(expected.*length));
  return Status::ok();
}

/// Checks everything except the indices, which not every direction has.
static Status verifyShape(PoolProblem problem) {
  problem.indexType = IndexType::None;
  return problem.verify();
}

/// Reads what all directions share; layouts are not set.
static ErrorOr<PoolProblem> readProblem(FlagValues &flags, DataType dataType,
                                        const Tensors &tensors) {
  PoolProblem p;
  p.dataType = dataType;
  readLengths(flags, tensors.x, p);
  bool isImage = flags.isGiven("index_position")
                     ? flags.getBool("index_position")
                     : tensors.x.hasDepth();
  p.indexMode = isImage ? IndexMode::Image : IndexMode::Mask;
  Status status = flags.getStatus();
  if (status.isOk())
    status = flags.requireDefaults({"pad_val"});
  if (status.isOk())
    status = parseWord(flags, "mode", kModes, p.mode);
  if (status.isOk())
    status = parseWord(flags, "index_type", kIndexTypes, p.indexType);
  if (status.isOk())
    status = applyPadMode(flags.getText("pad_mode"), p);
  if (!isMaximum(p.mode))
    p.indexType = IndexType::None;
  if (status.isOk())
    status = verifyShape(p);
  if (status.isOk())
    status = checkLengths("dinput", tensors.dx, p.getInputLengths());
  if (status.isOk())
    status = checkLengths("output", tensors.y, p.getOutputLengths());
  if (status.isOk())
    status = checkLengths("doutput", tensors.dy, p.getOutputLengths());
  if (!status.isOk())
    return status;
  return p;
}

static void setTensors(const TensorText &x, const TensorText &y,
                       PoolProblem &problem) {
  problem.xLayout = x.layout;
  problem.xStrides = x.strides;
  problem.yLayout = y.layout;
  problem.yStrides = y.strides;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static ErrorOr<std::vector<Problem>> makeProblems(FlagValues &flags,
                                                  DataType dataType) {
  int64_t forw = flags.getNumber("forw");
  if (forw < 0 || forw > 3)
    return invalidArgument("flag '--forw' must be between 0 and 3, not " +
                           std::to_string(forw));
  ErrorOr<Tensors> tensors = parseTensors(flags);
  if (!tensors)
    return tensors.getStatus();
  ErrorOr<PoolProblem> shared = readProblem(flags, dataType, *tensors);
  if (!shared)
    return shared.getStatus();
  PoolProblem forward = *shared, backward = *shared;
  setTensors(tensors->x, tensors->y, forward);
  setTensors(tensors->dx, tensors->dy, backward);
  bool savesIndices = flags.isGiven("save_indices")
                          ? flags.getBool("save_indices")
                          : forw != kDriverForward;
  if (!savesIndices)
    forward.indexType = IndexType::None;
  backward.direction = Direction::BackwardData;
  std::vector<Problem> problems;
  if (forw == 0 || (forw & kDriverForward))
    problems.push_back(forward.canonicalize());
  if (forw == 0 || (forw & kDriverBackwardData))
    problems.push_back(backward.canonicalize());
  return problems;
}

ErrorOr<DriverOptions> tessera::toPoolOptions(FlagValues &flags,
                                              DataType dataType) {
  DriverOptions options = readRun(flags);
  options.printProblem = flags.getBool("print");
  for (std::string_view name : {"in_data", "out_data", "dout_data"})
    if (flags.isGiven(name))
      options.others.emplace_back(name, flags.getText(name));
  ErrorOr<std::vector<Problem>> problems = makeProblems(flags, dataType);
  if (!problems)
    return problems.getStatus();
  for (const Problem &problem : *problems)
    if (Status status = problem.verify(); !status.isOk())
      return status;
  options.problems = std::move(*problems);
  return options;
}

//===----------------------------------------------------------------------===//
// A problem to a line
//===----------------------------------------------------------------------===//

static std::string getTensorText(const TensorLengths &l, Layout layout,
                                 const Strides &strides, bool deep) {
  return toText(Strides{l.n, l.c, l.d, l.h, l.w}, deep, 'x') + "," +
         (layout == Layout::Strided ? toText(strides, deep, 'x')
                                    : std::string(getLayoutWord(layout, deep)));
}

template <typename Enum, size_t count>
static std::string_view
getWord(const std::pair<std::string_view, Enum> (&words)[count], Enum value) {
  for (const auto &[word, known] : words)
    if (known == value)
      return word;
  __builtin_unreachable();
}

std::string tessera::toLine(const PoolProblem &problem) {
  bool deep = problem.hasDepth();
  std::string line = "pool" + std::string(getDriverWord(problem.dataType));
  auto addText = [&](std::string_view flag, std::string_view value) {
    line += " " + std::string(flag) + " " + std::string(value);
  };
  auto add = [&](std::string_view flag, int64_t value) {
    addText(flag, std::to_string(value));
  };
  auto addDepth = [&](std::string_view flag, int64_t value) {
    if (deep)
      add(flag, value);
  };
  addText("-W", getTensorText(problem.getInputLengths(), problem.xLayout,
                              problem.xStrides, deep));
  addText("-O", getTensorText(problem.getOutputLengths(), problem.yLayout,
                              problem.yStrides, deep));
  addDepth("-Z", problem.window.d);
  add("-y", problem.window.h);
  add("-x", problem.window.w);
  addDepth("-o", problem.pad.d);
  add("-p", problem.pad.h);
  add("-q", problem.pad.w);
  line += getPadAfterFlags(problem.pad, problem.extraPad);
  addDepth("-s", problem.stride.d);
  add("-v", problem.stride.h);
  add("-u", problem.stride.w);
  addText("-m", getWord(kModes, problem.mode));
  bool isForward = problem.direction == Direction::Forward;
  if (problem.indexType != IndexType::None) {
    add("-M", problem.indexMode == IndexMode::Image);
    addText("--index_type", getWord(kIndexTypes, problem.indexType));
    if (isForward)
      add("--save_indices", 1);
  }
  add("-F", isForward ? kDriverForward : kDriverBackwardData);
  add("-t", 1);
  return line;
}

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
// The flags of a problem
//===----------------------------------------------------------------------===//

namespace {
/// The value of a tensor's flag.
struct TensorText {
  std::vector<int64_t> lengths; ///< Empty if the flag was not given.
  bool hasOrder = false;        ///< Whether a layout or strides were given.
  Layout layout = Layout::NCHW;
  Strides strides;

  bool hasDepth() const { return lengths.size() == 5; }
  /// Takes the layout and strides of `likely` unless the flag has them.
  void inherit(const TensorText &likely) {
    if (hasOrder)
      return;
    layout = likely.layout;
    strides = likely.strides;
  }
};

/// The request in the command line's own terms.
struct Request {
  TensorText x, dx, y, dy;
  PoolProblem problem;
  std::optional<int64_t> indexPosition, savesIndices;
  int64_t forw = 0;
};
} // namespace

static std::string toText(const TensorText &tensor) {
  if (tensor.lengths.empty())
    return "";
  const bool hasDepth = tensor.hasDepth();
  return joinNumbers(tensor.lengths, 'x') + "," +
         (tensor.layout == Layout::Strided
              ? joinNumbers(toNumbers(tensor.strides, hasDepth), 'x')
              : std::string(getLayoutWord(tensor.layout, hasDepth)));
}

static Status readTensor(std::string_view flag, std::string_view text,
                         TensorText &tensor) {
  size_t comma = text.find(',');
  std::string_view order = comma == text.npos ? "" : text.substr(comma + 1);
  tensor = {};
  if (!parseNumbers(text.substr(0, comma), 'x', tensor.lengths) ||
      (tensor.lengths.size() != 4 && tensor.lengths.size() != 5))
    return invalidArgument("flag '--" + std::string(flag) +
                           "' needs 4 or 5 lengths with x between, and a "
                           "layout or strides behind a comma, as in "
                           "'100x3x32x32,NCHW', not " +
                           quote(text));
  tensor.hasOrder = !order.empty();
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

/// The flags of a pooling.
template <typename Flags, typename RequestT>
static void describe(Flags &flags, RequestT &request) {
  auto &p = request.problem;
  flags.value("-W", request.x, toText, readTensor);
  flags.value("-D", request.dx, toText, readTensor);
  flags.value("-O", request.y, toText, readTensor);
  flags.value("-H", request.dy, toText, readTensor);
  const bool hasDepth = request.x.hasDepth();
  describeLengths(flags, {"-Z", "-y", "-x"}, p.window, hasDepth);
  describePads(flags, {"-o", "-p", "-q"}, p.pad, p.extraPad, hasDepth);
  describeLengths(flags, {"-s", "-v", "-u"}, p.stride, hasDepth);
  flags.template oneOf<PoolMode>("-m", kModes, p.mode);
  flags.number("-M", request.indexPosition);
  flags.template oneOf<IndexType>("--index_type", kIndexTypes, p.indexType);
  flags.number("--save_indices", request.savesIndices);
  flags.upTo(3, "-F", request.forw);
}

//===----------------------------------------------------------------------===//
// Flags to a problem
//===----------------------------------------------------------------------===//

static void applyPadMode(FlagReader &flags, PoolProblem &problem) {
  const std::string_view mode = flags.getText("pad_mode");
  if (mode == "valid")
    problem.pad = problem.extraPad = {};
  else if (mode == "same")
    flags.check(
        notSupported("'--pad_mode same' is not supported; give the padding"));
  else if (mode != "default")
    flags.check(invalidArgument(
        "flag '--pad_mode' must be valid or default, not " + quote(mode)));
}

/// Checks that the lengths in a tensor's flag, if any, are those of the
/// problem.
static Status checkLengths(std::string_view flag, const TensorText &tensor,
                           const TensorLengths &expected) {
  if (tensor.lengths.empty())
    return Status::ok();
  const Strides given = toStrides(tensor.lengths);
  const int64_t pairs[][2] = {{given.n, expected.n},
                              {given.c, expected.c},
                              {given.d, expected.d},
                              {given.h, expected.h},
                              {given.w, expected.w}};
  for (auto [length, needed] : pairs)
    if (length != needed)
      return invalidArgument("a length of '--" + std::string(flag) + "' is " +
                             std::to_string(length) +
                             ", but the problem makes it " +
                             std::to_string(needed));
  return Status::ok();
}

/// Checks everything except the indices, which not every direction has.
static Status verifyShape(PoolProblem problem) {
  problem.indexType = IndexType::None;
  return problem.verify();
}

/// Reads the request; layouts of its problem are not set.
static Request readRequest(FlagReader &flags, DataType dataType) {
  Request request;
  PoolProblem &p = request.problem;
  p.dataType = dataType;
  flags.requireDefaults({"pad_val"});
  flags.check(readTensor("input", flags.getText("input"), request.x));
  describe(flags, request);
  if (!flags.isOk())
    return request;
  request.dx.inherit(request.x);
  // The strides of the input do not apply to the output.
  if (request.x.layout != Layout::Strided)
    request.y.inherit(request.x);
  request.dy.inherit(request.y);
  const Strides lengths = toStrides(request.x.lengths);
  p.batch = lengths.n;
  p.channels = lengths.c;
  p.in = {lengths.h, lengths.w, lengths.d};
  const bool isImage = request.indexPosition.value_or(request.x.hasDepth());
  p.indexMode = isImage ? IndexMode::Image : IndexMode::Mask;
  if (!isMaximum(p.mode))
    p.indexType = IndexType::None;
  applyPadMode(flags, p);
  flags.check(verifyShape(p));
  if (!flags.isOk())
    return request;
  flags.check(checkLengths("dinput", request.dx, p.getInputLengths()));
  flags.check(checkLengths("output", request.y, p.getOutputLengths()));
  flags.check(checkLengths("doutput", request.dy, p.getOutputLengths()));
  return request;
}

static PoolProblem withTensors(PoolProblem problem, const TensorText &x,
                               const TensorText &y) {
  problem.xLayout = x.layout;
  problem.xStrides = x.strides;
  problem.yLayout = y.layout;
  problem.yStrides = y.strides;
  return problem;
}

ErrorOr<DriverOptions> tessera::toPoolOptions(FlagReader &flags,
                                              DataType dataType) {
  DriverOptions options = readRun(flags);
  options.printProblem = flags.getBool("print");
  for (std::string_view name : {"in_data", "out_data", "dout_data"})
    if (flags.isGiven(name))
      options.others.emplace_back(name, flags.getText(name));
  const Request request = readRequest(flags, dataType);
  PoolProblem forward = withTensors(request.problem, request.x, request.y);
  PoolProblem backward = withTensors(request.problem, request.dx, request.dy);
  if (!request.savesIndices.value_or(request.forw != kDriverForward))
    forward.indexType = IndexType::None;
  backward.direction = Direction::BackwardData;
  if (request.forw == 0 || (request.forw & kDriverForward))
    addProblem(flags, forward, options);
  if (request.forw == 0 || (request.forw & kDriverBackwardData))
    addProblem(flags, backward, options);
  return finish(flags, std::move(options));
}

//===----------------------------------------------------------------------===//
// A problem to a line
//===----------------------------------------------------------------------===//

static TensorText getTensor(const TensorLengths &l, Layout layout,
                            const Strides &strides, bool hasDepth) {
  return {toNumbers({l.n, l.c, l.d, l.h, l.w}, hasDepth), true, layout,
          strides};
}

std::string tessera::toLine(const PoolProblem &p) {
  Request request;
  request.problem = p;
  request.x =
      getTensor(p.getInputLengths(), p.xLayout, p.xStrides, p.hasDepth());
  request.y =
      getTensor(p.getOutputLengths(), p.yLayout, p.yStrides, p.hasDepth());
  const bool isForward = p.direction == Direction::Forward;
  if (p.indexType != IndexType::None) {
    request.indexPosition = p.indexMode == IndexMode::Image;
    if (isForward)
      request.savesIndices = 1;
  }
  request.forw = isForward ? kDriverForward : kDriverBackwardData;
  FlagWriter writer("pool", p.dataType);
  describe(writer, request);
  return writer.finish();
}

//===- DriverConv.cpp - "MIOpenDriver conv" -------------------------------===//
//
// Flags, defaults and rules are those of MIOpenDriver (ROCm/MIOpen 2d1fd997,
// driver/conv_driver.hpp). Where MIOpenDriver would continue with a value that
// it cannot use, we report an error instead.
//
//===----------------------------------------------------------------------===//

#include "runtime/Base/ProblemText.h"
#include "runtime/DriverCommand/DriverFlags.h"

#include <algorithm>

using namespace tessera;

static constexpr DriverFlag kFlags[] = {
    {'I', "in_layout", "NCHW",
     "input layout: NCHW or NHWC; 3-D: NCDHW or NDHWC"},
    {'O', "out_layout", "NCHW", "output layout"},
    {'f', "fil_layout", "NCHW", "filter layout"},
    {'_', "spatial_dim", "2", "spatial dimensions: 2 or 3"},
    {'F', "forw", "0",
     "sum of 1 forward, 2 backward data, 4 backward weights; 0 is all"},
    {'n', "batchsize", "100", "batch size"},
    {'c', "in_channels", "3", "input channels"},
    {'!', "in_d", "32", "input depth (3-D only)"},
    {'H', "in_h", "32", "input height"},
    {'W', "in_w", "32", "input width"},
    {'k', "out_channels", "32", "output channels"},
    {'@', "fil_d", "3", "filter depth (3-D only)"},
    {'y', "fil_h", "3", "filter height"},
    {'x', "fil_w", "3", "filter width"},
    {'#', "conv_stride_d", "1", "stride of the depth (3-D only)"},
    {'u', "conv_stride_h", "1", "stride of the height"},
    {'v', "conv_stride_w", "1", "stride of the width"},
    {'$', "pad_d", "0", "padding of the depth (3-D only)"},
    {'p', "pad_h", "0", "padding of the height"},
    {'q', "pad_w", "0", "padding of the width"},
    {'r', "pad_val", "0", "value of the padding; only 0"},
    {'%', "trans_output_pad_d", "0", "output padding (transposed only)"},
    {'Y', "trans_output_pad_h", "0", "output padding (transposed only)"},
    {'X', "trans_output_pad_w", "0", "output padding (transposed only)"},
    {'i', "iter", "10", "iterations"},
    {'V', "verify", "1", "compare with a reference"},
    {'C', "verification_cache", "", "directory of reference results"},
    {'t', "time", "0", "report the time of the kernel"},
    {'w', "wall", "0", "report wall-clock time; needs --time 1"},
    {'s', "search", "0", "tune"},
    {'P', "printconv", "1", "print the problem"},
    {'o', "dump_output", "0", "write the output buffers to files"},
    {'d', "in_data", "", "file with the input"},
    {'e', "weights", "", "file with the filter"},
    {'b', "bias", "", "add a bias"},
    {'m', "mode", "conv", "conv or trans"},
    {'z', "pad_mode", "default", "same, valid or default"},
    {'Z', "tensor_vect", "0", "vectorised tensors"},
    {'L', "vector_length", "1", "length of the vectors"},
    {'^', "dilation_d", "1", "dilation of the depth (3-D only)"},
    {'l', "dilation_h", "1", "dilation of the height"},
    {'j', "dilation_w", "1", "dilation of the width"},
    {'a', "in_bias", "", "file with the bias"},
    {'g', "group_count", "1", "groups"},
    {'D', "dout_data", "", "file with dy for backward weights"},
    {'S', "solution", "-1",
     "-1 Find, 0 the best immediate solution, else its id"},
    {'G', "gpualloc", "0", "where the buffers are initialised"},
    {'U', "in_cast_type", "-1", "type that the input is cast to"},
    {'T', "out_cast_type", "-1", "type that the output is cast to"},
    {'R', "wei_cast_type", "-1", "type that the filter is cast to"},
    // MIOpenDriver lacks these flags.
    {0, "pad_after_d", "",
     "padding after the depth, if not that of --pad_d (3-D only)"},
    {0, "pad_after_h", "", "the same of the height"},
    {0, "pad_after_w", "", "the same of the width"},
    {0, "in_strides", "",
     "distances of the input's elements, as n,c,h,w or n,c,d,h,w"},
    {0, "fil_strides", "", "the same of the filter, as k,c,h,w or k,c,d,h,w"},
    {0, "out_strides", "", "the same of the output"},
    {0, "result_type", "",
     "result of convint8: int32 or fp32; of 8-bit floats: the same type, fp16, "
     "bfp16 or fp32"},
    {0, "math", "fp32",
     "products of conv: fp32, or tf32 where a chip has them"},
    {0, "epilogue", "",
     "what follows the sum, e.g. alpha+beta+bias+residual+stats+relu"},
};

std::span<const DriverFlag> tessera::getConvDriverFlags() { return kFlags; }

/// The bits of --forw.
static constexpr std::pair<int64_t, Direction> kForw[] = {
    {kDriverForward, Direction::Forward},
    {kDriverBackwardData, Direction::BackwardData},
    {kDriverBackwardWeights, Direction::BackwardWeights}};

static constexpr std::pair<std::string_view, bool> kModes[] = {{"conv", false},
                                                               {"trans", true}};

static constexpr std::pair<std::string_view, MathType> kMathTypes[] = {
    {"fp32", MathType::Exact}, {"tf32", MathType::Tf32}};

//===----------------------------------------------------------------------===//
// The flags of a problem
//===----------------------------------------------------------------------===//

namespace {
/// The request in the command line's own terms: for a transposed convolution x
/// is the input and y the larger output.
struct Request {
  bool isTransposed = false;
  int64_t rank = 2;
  int64_t forw = 0;
  ConvProblem problem; ///< Forward; x and y not yet swapped.
  Pads outputPad;

  bool hasDepth() const { return rank == 3; }
};
} // namespace

/// The types that a result of bytes may have, as words; the first one without
/// the flag.
static std::vector<std::pair<std::string_view, DataType>>
getResultWords(DataType type) {
  std::vector<std::pair<std::string_view, DataType>> words;
  auto add = [&](std::initializer_list<DataType> types) {
    for (DataType result : types)
      words.emplace_back(
          result == DataType::F32 ? "fp32" : getDriverWord(result), result);
  };
  if (isFloat8(type))
    add({type, DataType::F16, DataType::BF16, DataType::F32});
  else
    add({DataType::I32, DataType::F32, DataType::I8});
  return words;
}

static Status readEpilogue(std::string_view flag, std::string_view text,
                           Epilogue &epilogue) {
  const std::string suffix = "-e" + std::string(text);
  TextScanner scanner(suffix);
  scanEpilogue(scanner, epilogue);
  if (scanner.isDone())
    return Status::ok();
  return invalidArgument("flag '--" + std::string(flag) +
                         "' must be some of alpha, beta, bias, residual, stats "
                         "or normgrad[relu|mask], and an activation, in this "
                         "order with + between, not " +
                         quote(text));
}

/// Strides, or else a layout.
template <typename Flags, typename LayoutT, typename StridesT>
static void describeTensor(Flags &flags, const std::string &name,
                           LayoutT &layout, StridesT &strides, bool hasDepth) {
  const size_t rank = hasDepth ? 5 : 4;
  std::vector<int64_t> numbers;
  if (layout == Layout::Strided)
    numbers = toNumbers(strides, hasDepth);
  flags.numbers("--" + name + "_strides", ',', rank, rank, numbers);
  if (!numbers.empty()) {
    flags.assign(layout, Layout::Strided);
    flags.assign(strides, toStrides(numbers));
  } else if (flags.needs(layout == Layout::NHWC)) {
    flags.layout("--" + name + "_layout", hasDepth, layout);
  }
}

/// What a fused convolution has, too.
template <typename Flags, typename ProblemT>
static void describeShape(Flags &flags, ProblemT &p, bool hasDepth) {
  flags.number("-n", p.batch);
  flags.number("-c", p.inChannels);
  describeLengths(flags, {"--in_d", "-H", "-W"}, p.in, hasDepth);
  flags.number("-k", p.outChannels);
  describeLengths(flags, {"--fil_d", "-y", "-x"}, p.filter, hasDepth);
  describePads(flags, {"--pad_d", "-p", "-q"}, p.pad, p.extraPad, hasDepth);
  describeLengths(flags, {"--conv_stride_d", "-u", "-v"}, p.stride, hasDepth);
  describeLengths(flags, {"--dilation_d", "-l", "-j"}, p.dilation, hasDepth);
}

/// The flags of a convolution, in MIOpen's order; a reader knows the rank
/// beforehand.
template <typename Flags, typename RequestT>
static void describe(Flags &flags, RequestT &request) {
  auto &p = request.problem;
  const bool hasDepth = request.hasDepth();
  describeShape(flags, p, hasDepth);
  if (flags.needs(hasDepth))
    flags.number("--spatial_dim", request.rank);
  describeTensor(flags, "in", p.xLayout, p.xStrides, hasDepth);
  describeTensor(flags, "fil", p.wLayout, p.wStrides, hasDepth);
  describeTensor(flags, "out", p.yLayout, p.yStrides, hasDepth);
  if (p.hasByteResult())
    flags.template oneOf<DataType>("--result_type", getResultWords(p.dataType),
                                   p.byteResult);
  if (flags.needs(p.allowsTf32()))
    flags.template oneOf<MathType>("--math", kMathTypes, p.mathType);
  flags.value("--epilogue", p.epilogue, toText, readEpilogue);
  flags.template oneOf<bool>("-m", kModes, request.isTransposed);
  flags.number("-g", p.groups);
  flags.upTo(7, "-F", request.forw);
}

void tessera::readShape(FlagReader &flags, ConvProblem &problem) {
  describeShape(flags, problem, false);
}

//===----------------------------------------------------------------------===//
// Flags to a problem
//===----------------------------------------------------------------------===//

/// Half of the padding that keeps ceil(in / stride) outputs, as MIOpenDriver
/// rounds it.
static int64_t getSamePad(int64_t in, int64_t filter, int64_t stride) {
  if (stride < 1) // verify() reports this.
    return 0;
  int64_t covered = in % stride == 0 ? stride : in % stride;
  return std::max<int64_t>(filter - covered, 0) / 2;
}

static void applyPadMode(FlagReader &flags, ConvProblem &problem) {
  enum class Mode { Default, Same, Valid } mode = Mode::Default;
  static constexpr std::pair<std::string_view, Mode> kPadModes[] = {
      {"same", Mode::Same}, {"valid", Mode::Valid}, {"default", Mode::Default}};
  flags.oneOf<Mode>("--pad_mode", kPadModes, mode);
  // MIOpenDriver ignores the padding mode if the filter is dilated.
  if (mode == Mode::Default ||
      (problem.dilation != Spatial() && problem.filter != Spatial()))
    return;
  problem.pad = problem.extraPad = {};
  if (mode == Mode::Same)
    problem.pad = {
        getSamePad(problem.in.h, problem.filter.h, problem.stride.h),
        getSamePad(problem.in.w, problem.filter.w, problem.stride.w),
        getSamePad(problem.in.d, problem.filter.d, problem.stride.d)};
}

/// Also refuses requests that MIOpenDriver knows and this build does not.
static Request readRequest(FlagReader &flags, DataType dataType) {
  Request request;
  ConvProblem &p = request.problem;
  p.dataType = dataType;
  if (p.hasByteResult())
    p.byteResult = getResultWords(dataType).front().second;
  else if (flags.isGiven("result_type"))
    flags.check(invalidArgument("flag '--result_type' is one of convint8 and "
                                "of floats of 8 bits only"));
  request.rank = flags.getNumber("spatial_dim");
  if (request.rank != 2 && request.rank != 3)
    flags.check(invalidArgument("flag '--spatial_dim' must be 2 or 3, not " +
                                quote(flags.getText("spatial_dim"))));
  flags.requireDefaults({"in_cast_type", "wei_cast_type", "out_cast_type",
                         "tensor_vect", "vector_length", "pad_val"});
  describe(flags, request);
  describeLengths(
      flags,
      {"--trans_output_pad_d", "--trans_output_pad_h", "--trans_output_pad_w"},
      request.outputPad, request.hasDepth());
  // MIOpenDriver treats 0 groups as 1.
  p.groups = std::max<int64_t>(p.groups, 1);
  if (p.mathType == MathType::Tf32 && dataType != DataType::F32)
    flags.check(invalidArgument("flag '--math tf32' is one of conv only"));
  applyPadMode(flags, p);
  return request;
}

//===----------------------------------------------------------------------===//
// Transposed convolutions
//===----------------------------------------------------------------------===//

/// The length of a transposed convolution's result: the input of the
/// convolution whose output is `in`. Every number is at most 2^31.
/// `pads` is the padding of both ends together.
static ErrorOr<int64_t> getTransposedLength(int64_t in, int64_t filter,
                                            int64_t pads, int64_t stride,
                                            int64_t dilation,
                                            int64_t outputPad) {
  if (outputPad < 0 || outputPad >= stride)
    return invalidArgument(
        "the output padding is " + std::to_string(outputPad) +
        ", but must be below the stride " + std::to_string(stride));
  int64_t length =
      stride * (in - 1) + 1 + dilation * (filter - 1) - pads + outputPad;
  if (length < 1)
    return invalidArgument("the padding leaves nothing of the transposed "
                           "convolution's result");
  return length;
}

/// The convolution whose input is the result of the transposed one.
static ErrorOr<ConvProblem> swapTensors(const Request &request) {
  const ConvProblem &p = request.problem;
  struct Dimension {
    int64_t Spatial::*spatial;
    int64_t Pads::*pad;
  };
  ConvProblem result = p;
  for (auto [spatial, pad] :
       {Dimension{&Spatial::h, &Pads::h}, Dimension{&Spatial::w, &Pads::w},
        Dimension{&Spatial::d, &Pads::d}}) {
    ErrorOr<int64_t> length = getTransposedLength(
        p.in.*spatial, p.filter.*spatial, 2 * p.pad.*pad + p.extraPad.*pad,
        p.stride.*spatial, p.dilation.*spatial, request.outputPad.*pad);
    if (!length)
      return length.getStatus();
    result.in.*spatial = *length;
  }
  std::swap(result.inChannels, result.outChannels);
  std::swap(result.xLayout, result.yLayout);
  std::swap(result.xStrides, result.yStrides);
  return result;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// Flags that DriverOptions::others reports.
static bool isOther(std::string_view name) {
  for (std::string_view other : {"verification_cache", "dump_output", "in_data",
                                 "weights", "in_bias", "dout_data", "gpualloc"})
    if (name == other)
      return true;
  return false;
}

/// The direction of the convolution that a transposed one stands for.
static Direction swapData(Direction direction) {
  switch (direction) {
  case Direction::Forward:
    return Direction::BackwardData;
  case Direction::BackwardData:
    return Direction::Forward;
  case Direction::BackwardWeights:
    return direction;
  }
  __builtin_unreachable();
}

static std::vector<Direction> getDirections(int64_t forw, DataType type,
                                            bool isTransposed) {
  // Integers have no gradients, so all directions means only forward.
  if (forw == 0)
    forw = type == DataType::I8 ? kDriverForward : 7;
  std::vector<Direction> directions;
  for (auto [bit, direction] : kForw)
    if (forw & bit)
      directions.push_back(isTransposed ? swapData(direction) : direction);
  return directions;
}

/// Checks everything except the tensors' strides and what depends on the
/// direction, on the numbers that were given and not on those after x and y are
/// swapped.
static Status verifyLengths(ConvProblem problem) {
  problem.epilogue.normGradient = NormGradient::None;
  problem.xLayout = problem.wLayout = problem.yLayout = Layout::NCHW;
  return problem.verify();
}

static Status setProblems(FlagReader &flags, DataType dataType,
                          DriverOptions &options) {
  const Request request = readRequest(flags, dataType);
  options.isTransposed = request.isTransposed;
  if (options.isTransposed && dataType == DataType::I8)
    flags.check(
        notSupported("transposed convolutions of int8 are not supported"));
  if (flags.isOk())
    flags.check(verifyLengths(request.problem));
  if (!flags.isOk())
    return flags.getStatus();
  ErrorOr<ConvProblem> problem = request.problem;
  if (options.isTransposed)
    problem = swapTensors(request);
  if (!problem)
    return problem.getStatus();
  for (Direction direction :
       getDirections(request.forw, dataType, options.isTransposed)) {
    problem->direction = direction;
    addProblem(flags, *problem, options);
  }
  return flags.getStatus();
}

ErrorOr<DriverOptions> tessera::toConvOptions(FlagReader &flags,
                                              DataType dataType) {
  DriverOptions options = readRun(flags);
  options.search = flags.getBool("search");
  options.bias = flags.getBool("bias");
  options.printProblem = flags.getBool("printconv");
  options.solution = static_cast<int>(flags.getNumber("solution"));
  for (const auto &[name, value] : flags.getGiven())
    if (isOther(name))
      options.others.emplace_back(name, value);
  if (Status status = setProblems(flags, dataType, options); !status.isOk())
    return status;
  return options;
}

std::string tessera::toLine(const ConvProblem &problem) {
  Request request;
  request.rank = problem.hasDepth() ? 3 : 2;
  request.problem = problem;
  for (auto [bit, direction] : kForw)
    if (problem.direction == direction)
      request.forw = bit;
  FlagWriter writer("conv", problem.dataType);
  describe(writer, request);
  return writer.finish();
}

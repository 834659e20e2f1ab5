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

//===----------------------------------------------------------------------===//
// Flags to a problem
//===----------------------------------------------------------------------===//

namespace {
/// The request in the command line's own terms: for a transposed convolution x
/// is the input and y the larger output.
struct Request {
  bool isTransposed = false;
  bool hasDepth = false;
  ConvProblem problem; ///< Forward; x and y not yet swapped.
  Pads outputPad;
};
} // namespace

static Status parseTensor(const FlagValues &flags, const std::string &prefix,
                          bool hasDepth, Layout &layout, Strides &strides) {
  std::string_view text = flags.getText(prefix + "_strides");
  if (text.empty())
    return parseLayoutWord(prefix + "_layout",
                           flags.getText(prefix + "_layout"), hasDepth, layout);
  std::vector<int64_t> numbers;
  size_t count = hasDepth ? 5 : 4;
  if (!parseNumbers(text, ',', numbers) || numbers.size() != count)
    return invalidArgument("flag '--" + prefix + "_strides' needs " +
                           std::to_string(count) +
                           " numbers with commas between, not " + quote(text));
  layout = Layout::Strided;
  strides = toStrides(numbers);
  return Status::ok();
}

/// Half of the padding that keeps ceil(in / stride) outputs, as MIOpenDriver
/// rounds it.
static int64_t getSamePad(int64_t in, int64_t filter, int64_t stride) {
  if (stride < 1) // verify() reports this.
    return 0;
  int64_t covered = in % stride == 0 ? stride : in % stride;
  return std::max<int64_t>(filter - covered, 0) / 2;
}

static Status applyPadMode(std::string_view mode, ConvProblem &problem) {
  if (mode != "default" && mode != "same" && mode != "valid")
    return invalidArgument("flag '--pad_mode' must be same, valid or default, "
                           "not " +
                           quote(mode));
  // MIOpenDriver ignores the padding mode if the filter is dilated.
  if (problem.dilation != Spatial() && problem.filter != Spatial())
    return Status::ok();
  if (mode != "default")
    problem.extraPad = {};
  if (mode == "valid")
    problem.pad = {};
  if (mode == "same")
    problem.pad = {
        getSamePad(problem.in.h, problem.filter.h, problem.stride.h),
        getSamePad(problem.in.w, problem.filter.w, problem.stride.w),
        getSamePad(problem.in.d, problem.filter.d, problem.stride.d)};
  return Status::ok();
}

static Status parseEpilogueFlag(std::string_view text, Epilogue &epilogue) {
  if (text.empty())
    return Status::ok();
  std::string suffix = "-e" + std::string(text);
  TextScanner scanner(suffix);
  scanEpilogue(scanner, epilogue);
  if (scanner.isDone())
    return Status::ok();
  return invalidArgument("flag '--epilogue' must be some of alpha, beta, bias, "
                         "residual, stats or normgrad[relu|mask], and an "
                         "activation, in this order "
                         "with + between, not " +
                         quote(text));
}

/// A flag's word for the type of a result.
static std::string_view getResultWord(DataType type) {
  return type == DataType::F32 ? "fp32" : getDriverWord(type);
}

/// Without the flag it is int32 of int8, and the same type of floats.
static Status parseResultType(const FlagValues &flags, ConvProblem &problem) {
  if (!problem.hasByteResult())
    return flags.isGiven("result_type")
               ? invalidArgument("flag '--result_type' is one of convint8 and "
                                 "of floats of 8 bits only")
               : Status::ok();
  std::vector<DataType> types = {DataType::I32, DataType::F32, DataType::I8};
  if (isFloat8(problem.dataType))
    types = {problem.dataType, DataType::F16, DataType::BF16, DataType::F32};
  problem.byteResult = types.front();
  if (!flags.isGiven("result_type"))
    return Status::ok();
  const std::string_view text = flags.getText("result_type");
  std::string words;
  for (DataType type : types) {
    if (text == getResultWord(type)) {
      problem.byteResult = type;
      return Status::ok();
    }
    words += type == types.front() ? "" : type == types.back() ? " or " : ", ";
    words += getResultWord(type);
  }
  return invalidArgument("flag '--result_type' must be " + words + ", not " +
                         quote(text));
}

static Status parseTypes(const FlagValues &flags, DataType dataType,
                         ConvProblem &problem) {
  problem.dataType = dataType;
  if (Status status = parseResultType(flags, problem); !status.isOk())
    return status;
  const std::string_view math = flags.getText("math");
  if (math != "fp32" && math != "tf32")
    return invalidArgument("flag '--math' must be fp32 or tf32, not " +
                           quote(math));
  if (math == "tf32" && dataType != DataType::F32)
    return invalidArgument("flag '--math tf32' is one of conv only");
  problem.mathType = math == "tf32" ? MathType::Tf32 : MathType::Exact;
  return Status::ok();
}

/// Refuses requests that MIOpenDriver knows and this build does not, and words
/// that neither knows.
static Status parseKind(FlagValues &flags, Request &request) {
  int64_t rank = flags.getNumber("spatial_dim");
  if (rank != 2 && rank != 3)
    return invalidArgument("flag '--spatial_dim' must be 2 or 3, not " +
                           quote(flags.getText("spatial_dim")));
  request.hasDepth = rank == 3;
  std::string_view mode = flags.getText("mode");
  if (mode != "conv" && mode != "trans")
    return invalidArgument("flag '--mode' must be conv or trans, not " +
                           quote(mode));
  request.isTransposed = mode == "trans";
  return flags.requireDefaults({"in_cast_type", "wei_cast_type",
                                "out_cast_type", "tensor_vect", "vector_length",
                                "pad_val"});
}

static void readLengths(FlagValues &flags, Request &request) {
  auto get = [&](auto neutral, const std::string &prefix) {
    neutral.h = flags.getNumber(prefix + "_h");
    neutral.w = flags.getNumber(prefix + "_w");
    if (request.hasDepth)
      neutral.d = flags.getNumber(prefix + "_d");
    return neutral;
  };
  ConvProblem &problem = request.problem;
  problem.batch = flags.getNumber("batchsize");
  problem.inChannels = flags.getNumber("in_channels");
  problem.outChannels = flags.getNumber("out_channels");
  // MIOpenDriver treats 0 groups as 1.
  problem.groups = std::max<int64_t>(flags.getNumber("group_count"), 1);
  problem.in = get(Spatial(), "in");
  problem.filter = get(Spatial(), "fil");
  problem.pad = get(Pads(), "pad");
  problem.extraPad = readExtraPad(flags, problem.pad, request.hasDepth);
  problem.stride = get(Spatial(), "conv_stride");
  problem.dilation = get(Spatial(), "dilation");
  request.outputPad = get(Pads(), "trans_output_pad");
}

static ErrorOr<Request> readRequest(FlagValues &flags, DataType dataType) {
  Request request;
  ConvProblem &p = request.problem;
  Status status = parseKind(flags, request);
  readLengths(flags, request);
  if (status.isOk())
    status = flags.getStatus();
  if (status.isOk())
    status = parseTypes(flags, dataType, p);
  if (status.isOk())
    status = parseTensor(flags, "in", request.hasDepth, p.xLayout, p.xStrides);
  if (status.isOk())
    status = parseTensor(flags, "fil", request.hasDepth, p.wLayout, p.wStrides);
  if (status.isOk())
    status = parseTensor(flags, "out", request.hasDepth, p.yLayout, p.yStrides);
  if (status.isOk())
    status = parseEpilogueFlag(flags.getText("epilogue"), p.epilogue);
  if (status.isOk())
    status = applyPadMode(flags.getText("pad_mode"), p);
  if (!status.isOk())
    return status;
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

static ErrorOr<std::vector<Direction>>
getDirections(int64_t forw, DataType type, bool isTransposed) {
  if (forw < 0 || forw > 7)
    return invalidArgument("flag '--forw' must be between 0 and 7, not " +
                           std::to_string(forw));
  // Integers have no gradients, so all directions means only forward.
  if (forw == 0)
    forw = type == DataType::I8 ? kDriverForward : 7;
  std::vector<Direction> directions;
  if (forw & kDriverForward)
    directions.push_back(isTransposed ? Direction::BackwardData
                                      : Direction::Forward);
  if (forw & kDriverBackwardData)
    directions.push_back(isTransposed ? Direction::Forward
                                      : Direction::BackwardData);
  if (forw & kDriverBackwardWeights)
    directions.push_back(Direction::BackwardWeights);
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

static Status setProblems(FlagValues &flags, DataType dataType,
                          DriverOptions &options) {
  ErrorOr<Request> request = readRequest(flags, dataType);
  if (!request)
    return request.getStatus();
  options.isTransposed = request->isTransposed;
  if (options.isTransposed && dataType == DataType::I8)
    return notSupported("transposed convolutions of int8 are not supported");
  if (Status status = verifyLengths(request->problem); !status.isOk())
    return status;
  ErrorOr<ConvProblem> problem = request->problem;
  if (options.isTransposed)
    problem = swapTensors(*request);
  if (!problem)
    return problem.getStatus();
  ErrorOr<std::vector<Direction>> directions =
      getDirections(flags.getNumber("forw"), dataType, options.isTransposed);
  if (!directions)
    return directions.getStatus();
  for (Direction direction : *directions) {
    problem->direction = direction;
    if (Status status = problem->verify(); !status.isOk())
      return status;
    options.problems.push_back(problem->canonicalize());
  }
  return Status::ok();
}

ErrorOr<DriverOptions> tessera::toConvOptions(FlagValues &flags,
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

//===----------------------------------------------------------------------===//
// A problem to a line
//===----------------------------------------------------------------------===//

static int getForw(Direction direction) {
  switch (direction) {
  case Direction::Forward:
    return kDriverForward;
  case Direction::BackwardData:
    return kDriverBackwardData;
  case Direction::BackwardWeights:
    return kDriverBackwardWeights;
  }
  __builtin_unreachable();
}

std::string tessera::toLine(const ConvProblem &problem) {
  bool deep = problem.hasDepth();
  std::string line = "conv" + std::string(getDriverWord(problem.dataType));
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
  auto addTensor = [&](const std::string &prefix, Layout layout,
                       const Strides &strides) {
    if (layout == Layout::Strided)
      addText("--" + prefix + "_strides", toText(strides, deep, ','));
    if (layout == Layout::NHWC)
      addText("--" + prefix + "_layout", getLayoutWord(layout, deep));
  };
  add("-n", problem.batch);
  add("-c", problem.inChannels);
  addDepth("--in_d", problem.in.d);
  add("-H", problem.in.h);
  add("-W", problem.in.w);
  add("-k", problem.outChannels);
  addDepth("--fil_d", problem.filter.d);
  add("-y", problem.filter.h);
  add("-x", problem.filter.w);
  addDepth("--pad_d", problem.pad.d);
  add("-p", problem.pad.h);
  add("-q", problem.pad.w);
  line += getPadAfterFlags(problem.pad, problem.extraPad);
  addDepth("--conv_stride_d", problem.stride.d);
  add("-u", problem.stride.h);
  add("-v", problem.stride.w);
  addDepth("--dilation_d", problem.dilation.d);
  add("-l", problem.dilation.h);
  add("-j", problem.dilation.w);
  addDepth("--spatial_dim", 3);
  addTensor("in", problem.xLayout, problem.xStrides);
  addTensor("fil", problem.wLayout, problem.wStrides);
  addTensor("out", problem.yLayout, problem.yStrides);
  if (problem.hasByteResult())
    addText("--result_type", getResultWord(problem.byteResult));
  if (problem.allowsTf32())
    addText("--math", "tf32");
  if (!problem.epilogue.isEmpty())
    addText("--epilogue", toText(problem.epilogue));
  line += " -m conv";
  add("-g", problem.groups);
  add("-F", getForw(problem.direction));
  add("-t", 1);
  return line;
}

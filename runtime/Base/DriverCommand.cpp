//===- DriverCommand.cpp - MIOpenDriver's command line --------------------===//
//
// Flags, defaults and rules are those of MIOpenDriver (ROCm/MIOpen 2d1fd997,
// driver/conv_driver.hpp). Where it would go on with a value that it cannot
// use, we say so instead.
//
//===----------------------------------------------------------------------===//

#include "runtime/Base/DriverCommand.h"

#include <algorithm>
#include <charconv>
#include <map>

using namespace tessera;

static constexpr DriverFlag kFlags[] = {
    {'I', "in_layout", "NCHW", "input layout: NCHW or NHWC"},
    {'O', "out_layout", "NCHW", "output layout: NCHW or NHWC"},
    {'f', "fil_layout", "NCHW", "filter layout: NCHW or NHWC"},
    {'_', "spatial_dim", "2", "spatial dimensions"},
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
};

std::span<const DriverFlag> tessera::getDriverFlags() { return kFlags; }

static std::string quote(std::string_view text) {
  return "'" + std::string(text) + "'";
}

//===----------------------------------------------------------------------===//
// Words to flags
//===----------------------------------------------------------------------===//

namespace {
/// The flags of one command line, by long name. Borrows the words.
///
/// Getters give the default of a flag that is not there. They remember the
/// first value that cannot be read, so that a caller may get all of them and
/// ask once.
class FlagValues {
public:
  Status parse(std::span<const std::string> words);

  bool isGiven(std::string_view name) const { return given.contains(name); }
  std::string_view getText(std::string_view name) const;
  int64_t getNumber(std::string_view name);
  bool getBool(std::string_view name) { return getNumber(name) != 0; }
  bool wantsHelp() const { return help; }

  const std::map<std::string_view, std::string_view> &getGiven() const {
    return given;
  }
  const Status &getStatus() const { return status; }

private:
  std::map<std::string_view, std::string_view> given;
  bool help = false;
  Status status;
};
} // namespace

/// The flag that `word` names: "-n", "--batchsize".
static const DriverFlag *findFlag(std::string_view word) {
  bool isLong = word.starts_with("--");
  for (const DriverFlag &flag : kFlags)
    if (isLong
            ? word.substr(2) == flag.longName
            : word.size() == 2 && word[0] == '-' && word[1] == flag.shortName)
      return &flag;
  return nullptr;
}

static std::string_view getDefault(std::string_view longName) {
  return findFlag("--" + std::string(longName))->defaultValue;
}

static Status unknownFlag(std::string_view word) {
  if (!word.starts_with("-"))
    return invalidArgument(quote(word) + " stands where a flag should");
  // MIOpenDriver reads "-n64" as "-n" and takes the next word as its value.
  if (!word.starts_with("--") && word.size() > 2 && findFlag(word.substr(0, 2)))
    return invalidArgument("unknown flag " + quote(word) + "; write " +
                           quote(std::string(word.substr(0, 2)) + " " +
                                 std::string(word.substr(2))));
  return invalidArgument("unknown flag " + quote(word));
}

Status FlagValues::parse(std::span<const std::string> words) {
  for (size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (word == "--help" || word == "-h" || word == "-?") {
      help = true;
      continue;
    }
    // "--flag=value" is ours; MIOpenDriver has only "--flag value".
    size_t equals = word.starts_with("--") ? word.find('=') : word.npos;
    const DriverFlag *flag = findFlag(word.substr(0, equals));
    if (!flag)
      return unknownFlag(word.substr(0, equals));
    if (equals != word.npos)
      given[flag->longName] = word.substr(equals + 1);
    else if (++i < words.size())
      given[flag->longName] = words[i];
    else
      return invalidArgument("flag " + quote(word) + " needs a value");
  }
  return Status::ok();
}

std::string_view FlagValues::getText(std::string_view name) const {
  if (auto found = given.find(name); found != given.end())
    return found->second;
  return getDefault(name);
}

int64_t FlagValues::getNumber(std::string_view name) {
  std::string_view text = getText(name);
  if (text.empty()) // The default of --bias.
    return 0;
  int32_t value = 0;
  auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if ((error != std::errc() || stop != text.data() + text.size()) &&
      status.isOk())
    status =
        invalidArgument("flag '--" + std::string(name) +
                        "' needs an integer of 32 bits, not " + quote(text));
  return value;
}

//===----------------------------------------------------------------------===//
// Flags to a problem
//===----------------------------------------------------------------------===//

static ErrorOr<DataType> parseOperation(std::string_view name) {
  if (name == "conv")
    return DataType::F32;
  if (name == "convfp16")
    return DataType::F16;
  if (name == "convbfp16" || name == "convbf16")
    return DataType::BF16;
  for (std::string_view other :
       {"convint8", "convfp8", "convbfp8", "convint32", "convfp64"})
    if (name == other)
      return notSupported(quote(name) +
                          " has a data type that is not "
                          "supported; use conv, convfp16 or convbfp16");
  for (std::string_view other :
       {"CBAInfer",  "pool",      "lrn",  "activ",   "softmax",  "bnorm",
        "rnn",       "gemm",      "ctc",  "dropout", "tensorop", "reduce",
        "layernorm", "groupnorm", "cat",  "sum",     "argmax",   "adam",
        "kthvalue",  "getitem",   "rope", "prelu"})
    if (name.starts_with(other))
      return notSupported("the operation " + quote(name) +
                          " is not supported; use conv, convfp16 or convbfp16");
  return invalidArgument("unknown operation " + quote(name) +
                         "; use conv, convfp16 or convbfp16");
}

/// Requests that MIOpenDriver knows and this build does not.
static Status checkSupported(FlagValues &flags) {
  if (flags.getNumber("spatial_dim") != 2)
    return notSupported("only 2-D convolutions are supported, but "
                        "'--spatial_dim' is " +
                        std::string(flags.getText("spatial_dim")));
  std::string_view mode = flags.getText("mode");
  if (mode == "trans")
    return notSupported("transposed convolutions ('--mode trans') are not "
                        "supported; ask for backward data of the convolution");
  if (mode != "conv")
    return invalidArgument("flag '--mode' must be conv or trans, not " +
                           quote(mode));
  for (std::string_view name :
       {"in_cast_type", "wei_cast_type", "out_cast_type", "tensor_vect",
        "vector_length", "pad_val"})
    if (flags.getText(name) != getDefault(name))
      return notSupported("flag '--" + std::string(name) +
                          "' is supported only with its default " +
                          quote(getDefault(name)) + ", not " +
                          quote(flags.getText(name)));
  return Status::ok();
}

static Status parseLayout(const FlagValues &flags, std::string_view name,
                          Layout &layout) {
  std::string_view text = flags.getText(name);
  if (text == "NCHW")
    layout = Layout::NCHW;
  else if (text == "NHWC")
    layout = Layout::NHWC;
  else if (text == "CHWN" || text == "NCDHW" || text == "NDHWC")
    return notSupported("the layout " + quote(text) + " of flag '--" +
                        std::string(name) +
                        "' is not supported; use NCHW or NHWC");
  else
    return invalidArgument("flag '--" + std::string(name) +
                           "' must be NCHW or NHWC, not " + quote(text));
  return Status::ok();
}

/// Half of what keeps ceil(in / stride) outputs, as MIOpenDriver rounds it.
static int64_t getSamePad(int64_t in, int64_t filter, int64_t stride) {
  if (stride < 1) // verify() will say so.
    return 0;
  int64_t covered = in % stride == 0 ? stride : in % stride;
  return std::max<int64_t>(filter - covered, 0) / 2;
}

static Status applyPadMode(std::string_view mode, ConvProblem &problem) {
  if (mode != "default" && mode != "same" && mode != "valid")
    return invalidArgument("flag '--pad_mode' must be same, valid or default, "
                           "not " +
                           quote(mode));
  // MIOpenDriver ignores the mode of a dilated filter.
  if (problem.dilation != Spatial{1, 1} && problem.filter != Spatial{1, 1})
    return Status::ok();
  if (mode == "valid")
    problem.pad = {0, 0};
  if (mode == "same")
    problem.pad = {
        getSamePad(problem.in.h, problem.filter.h, problem.stride.h),
        getSamePad(problem.in.w, problem.filter.w, problem.stride.w)};
  return Status::ok();
}

static Direction getFirstDirection(int forw) {
  if (forw == 0 || (forw & kDriverForward))
    return Direction::Forward;
  return forw & kDriverBackwardData ? Direction::BackwardData
                                    : Direction::BackwardWeights;
}

static ErrorOr<ConvProblem> toProblem(FlagValues &flags, DataType dataType) {
  ConvProblem problem;
  problem.dataType = dataType;
  problem.batch = flags.getNumber("batchsize");
  problem.inChannels = flags.getNumber("in_channels");
  problem.outChannels = flags.getNumber("out_channels");
  // MIOpenDriver takes 0 groups for 1.
  problem.groups = std::max<int64_t>(flags.getNumber("group_count"), 1);
  auto getPair = [&](std::string_view h, std::string_view w) {
    return Spatial{flags.getNumber(h), flags.getNumber(w)};
  };
  problem.in = getPair("in_h", "in_w");
  problem.filter = getPair("fil_h", "fil_w");
  problem.pad = {flags.getNumber("pad_h"), flags.getNumber("pad_w")};
  problem.stride = getPair("conv_stride_h", "conv_stride_w");
  problem.dilation = getPair("dilation_h", "dilation_w");
  Status status = flags.getStatus();
  if (status.isOk())
    status = parseLayout(flags, "in_layout", problem.xLayout);
  if (status.isOk())
    status = parseLayout(flags, "fil_layout", problem.wLayout);
  if (status.isOk())
    status = parseLayout(flags, "out_layout", problem.yLayout);
  if (status.isOk())
    status = applyPadMode(flags.getText("pad_mode"), problem);
  if (status.isOk())
    status = problem.verify();
  if (!status.isOk())
    return status;
  return problem;
}

/// Flags that DriverOptions::others reports.
static bool isOther(std::string_view name) {
  for (std::string_view other : {"verification_cache", "dump_output", "in_data",
                                 "weights", "in_bias", "dout_data", "gpualloc"})
    if (name == other)
      return true;
  return false;
}

static ErrorOr<DriverOptions> toOptions(FlagValues &flags, DataType dataType) {
  DriverOptions options;
  options.help = flags.wantsHelp();
  options.forw = static_cast<int>(flags.getNumber("forw"));
  options.iterations = static_cast<int>(flags.getNumber("iter"));
  options.verify = flags.getBool("verify");
  options.time = flags.getBool("time");
  options.wall = flags.getBool("wall");
  options.search = flags.getBool("search");
  options.bias = flags.getBool("bias");
  options.printProblem = flags.getBool("printconv");
  options.solution = static_cast<int>(flags.getNumber("solution"));
  for (const auto &[name, value] : flags.getGiven())
    if (isOther(name))
      options.others.emplace_back(name, value);
  if (options.forw < 0 || options.forw > 7)
    return invalidArgument("flag '--forw' must be between 0 and 7, not " +
                           std::to_string(options.forw));
  if (Status status = checkSupported(flags); !status.isOk())
    return status;
  ErrorOr<ConvProblem> problem = toProblem(flags, dataType);
  if (!problem)
    return problem.getStatus();
  options.problem = *problem;
  options.problem.direction = getFirstDirection(options.forw);
  return options;
}

ErrorOr<DriverOptions>
tessera::parseDriverOptions(std::span<const std::string> words) {
  // A flag follows the operation; another word can only follow a program.
  if (words.size() > 1 && !words[1].starts_with("-"))
    words = words.subspan(1);
  if (words.empty())
    return invalidArgument("the command line names no operation; use conv, "
                           "convfp16 or convbfp16");
  ErrorOr<DataType> dataType = parseOperation(words[0]);
  if (!dataType)
    return dataType.getStatus();
  FlagValues flags;
  if (Status status = flags.parse(words.subspan(1)); !status.isOk())
    return status;
  return toOptions(flags, *dataType);
}

//===----------------------------------------------------------------------===//
// Lines of text
//===----------------------------------------------------------------------===//

ErrorOr<Problem> tessera::parseDriverCommand(std::string_view command) {
  // A line of MIOpen's log has text before the program's name.
  if (size_t program = command.find("MIOpenDriver"); program != command.npos)
    command.remove_prefix(program);
  std::vector<std::string> words;
  constexpr std::string_view blanks = " \t\r\n";
  for (size_t begin = command.find_first_not_of(blanks); begin != command.npos;
       begin = command.find_first_not_of(blanks)) {
    command.remove_prefix(begin);
    size_t length = std::min(command.find_first_of(blanks), command.size());
    words.emplace_back(command.substr(0, length));
    command.remove_prefix(length);
  }
  ErrorOr<DriverOptions> options = parseDriverOptions(words);
  if (!options)
    return options.getStatus();
  return Problem(options->problem);
}

static std::string_view getOperation(DataType type) {
  switch (type) {
  case DataType::F16:
    return "convfp16";
  case DataType::BF16:
    return "convbfp16";
  case DataType::F32:
    return "conv";
  case DataType::F64:
    return "convfp64";
  case DataType::I8:
    return "convint8";
  case DataType::I32:
    return "convint32";
  }
  __builtin_unreachable();
}

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

static std::string toLine(const ConvProblem &problem) {
  std::string line(getOperation(problem.dataType));
  auto add = [&](std::string_view flag, int64_t value) {
    line += " ";
    line += flag;
    line += " " + std::to_string(value);
  };
  auto addLayout = [&](std::string_view flag, Layout layout) {
    if (layout == Layout::NHWC)
      line += " " + std::string(flag) + " NHWC";
  };
  add("-n", problem.batch);
  add("-c", problem.inChannels);
  add("-H", problem.in.h);
  add("-W", problem.in.w);
  add("-k", problem.outChannels);
  add("-y", problem.filter.h);
  add("-x", problem.filter.w);
  add("-p", problem.pad.h);
  add("-q", problem.pad.w);
  add("-u", problem.stride.h);
  add("-v", problem.stride.w);
  add("-l", problem.dilation.h);
  add("-j", problem.dilation.w);
  addLayout("--in_layout", problem.xLayout);
  addLayout("--fil_layout", problem.wLayout);
  addLayout("--out_layout", problem.yLayout);
  line += " -m conv";
  add("-g", problem.groups);
  add("-F", getForw(problem.direction));
  add("-t", 1);
  return line;
}

std::string tessera::toDriverCommand(const Problem &problem) {
  // The network config stands for what no command of MIOpenDriver asks.
  const ConvProblem *conv = problem.getConv();
  return conv ? toLine(*conv) : problem.toNetworkConfig();
}

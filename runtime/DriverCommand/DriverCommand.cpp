//===- DriverCommand.cpp - MIOpenDriver's command line --------------------===//

#include "runtime/DriverCommand/DriverFlags.h"

#include <algorithm>

using namespace tessera;

namespace {
/// The operation that the first word of a command asks for.
struct FirstWord {
  const DriverOperation *operation;
  DataType dataType;
};
} // namespace

static constexpr std::string_view kConvTypes[] = {
    "fp16", "bfp16", "fp64", "int8", "fp8", "bfp8", "fp8ocp", "bfp8ocp"};
static constexpr std::string_view kHalfTypes[] = {"fp16", "bfp16"};

static constexpr DriverOperation kOperations[] = {
    {"conv", kConvTypes, getConvDriverFlags, toConvOptions},
    {"pool", kHalfTypes, getPoolDriverFlags, toPoolOptions},
    {"activ", kHalfTypes, getActivationDriverFlags, toActivationOptions},
    {"tensorop", kHalfTypes, getTensorOpDriverFlags, toTensorOpOptions},
    {"softmax", kHalfTypes, getSoftmaxDriverFlags, toSoftmaxOptions},
    {"reduce", kHalfTypes, getReduceDriverFlags, toReduceOptions},
    {"bnorm", kHalfTypes, getBatchNormDriverFlags, toBatchNormOptions},
    {"layernorm", kHalfTypes, getLayerNormDriverFlags, toLayerNormOptions},
    {"lrn", kHalfTypes, getLrnDriverFlags, toLrnOptions},
    {"CBAInfer", kHalfTypes, getFusedDriverFlags, toFusedOptions},
};

std::span<const DriverOperation> tessera::getDriverOperations() {
  return kOperations;
}

std::string tessera::getSpelling(const DriverOperation &operation) {
  std::string text(operation.word);
  char separator = '[';
  for (std::string_view type : operation.types) {
    text += separator;
    text += type;
    separator = '|';
  }
  return text + "]";
}

const DriverOperation *tessera::findDriverOperation(std::string_view word) {
  for (const DriverOperation &operation : kOperations)
    if (word.starts_with(operation.word))
      return &operation;
  return nullptr;
}

/// The end of every refusal of an operation.
static std::string listOperations() {
  std::string text;
  for (const DriverOperation &operation : kOperations)
    text += (text.empty() ? "; use " : ", ") + getSpelling(operation);
  return text;
}

/// The type that the end of an operation's name stands for.
static ErrorOr<DataType> parseType(std::string_view name,
                                   std::string_view suffix) {
  if (suffix == "bf16")
    return DataType::BF16;
  for (DataType type : kDataTypes)
    if (suffix == getDriverWord(type)) {
      if (type == DataType::I32 || type == DataType::I64)
        return notSupported(quote(name) +
                            " has a data type that is not supported" +
                            listOperations());
      return type;
    }
  return invalidArgument("unknown operation " + quote(name) + listOperations());
}

static ErrorOr<FirstWord> parseFirstWord(std::string_view name) {
  if (const DriverOperation *operation = findDriverOperation(name)) {
    ErrorOr<DataType> type =
        parseType(name, name.substr(operation->word.size()));
    if (!type)
      return type.getStatus();
    return FirstWord{operation, *type};
  }
  for (std::string_view other :
       {"rnn", "gemm", "ctc", "dropout", "groupnorm", "cat", "sum", "argmax",
        "adam", "kthvalue", "getitem", "rope", "prelu"})
    if (name.starts_with(other))
      return notSupported("the operation " + quote(name) + " is not supported" +
                          listOperations());
  return invalidArgument("unknown operation " + quote(name) + listOperations());
}

ErrorOr<DriverOptions>
tessera::parseDriverOptions(std::span<const std::string> words) {
  // The operation is followed by a flag; another word means that the first one
  // is a program.
  if (words.size() > 1 && !words[1].starts_with("-"))
    words = words.subspan(1);
  if (words.empty())
    return invalidArgument("the command line names no operation" +
                           listOperations());
  if (isNetworkConfig(words[0]))
    return toConfigOptions(words);
  ErrorOr<FirstWord> first = parseFirstWord(words[0]);
  if (!first)
    return first.getStatus();
  FlagReader flags(first->operation->getFlags());
  if (Status status = flags.parse(words.subspan(1)); !status.isOk())
    return status;
  return first->operation->toOptions(flags, first->dataType);
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
  return options->problems.front();
}

std::string tessera::toDriverCommand(const Problem &problem) {
  const ConvProblem *conv = problem.getConv();
  if (problem.isUnaligned() || problem.isWithoutWorkspace() ||
      (conv && conv->forbidsWinograd))
    return problem.toNetworkConfig();
  if (const PoolProblem *pool = problem.getPool())
    return toLine(*pool);
  if (const RowWiseProblem *rows = problem.getRows())
    return toLine(*rows);
  return toLine(*conv);
}

//===- DriverCommand.cpp - MIOpenDriver's command line --------------------===//

#include "runtime/Base/DriverFlags.h"

#include <algorithm>

using namespace tessera;

static constexpr std::string_view kOperations =
    "use conv, pool, activ, tensorop, softmax, reduce, bnorm, layernorm or "
    "CBAInfer, with fp16 or bfp16 behind it, or convfp64 or convint8";

namespace {
/// One word that a command may begin with, before the word of its type.
struct OperationKind {
  std::string_view word;
  std::span<const DriverFlag> (*getFlags)();
  ErrorOr<DriverOptions> (*toOptions)(FlagValues &flags, DataType dataType);
};

/// What the first word of a command asks for.
struct Operation {
  const OperationKind *kind;
  DataType dataType;
};
} // namespace

static constexpr OperationKind kKinds[] = {
    {"conv", getConvDriverFlags, toConvOptions},
    {"pool", getPoolDriverFlags, toPoolOptions},
    {"activ", getActivationDriverFlags, toActivationOptions},
    {"tensorop", getTensorOpDriverFlags, toTensorOpOptions},
    {"softmax", getSoftmaxDriverFlags, toSoftmaxOptions},
    {"reduce", getReduceDriverFlags, toReduceOptions},
    {"bnorm", getBatchNormDriverFlags, toBatchNormOptions},
    {"layernorm", getLayerNormDriverFlags, toLayerNormOptions},
    {"CBAInfer", getFusedDriverFlags, toFusedOptions},
};

bool tessera::isDriverOperation(std::string_view word) {
  return std::ranges::any_of(kKinds, [&](const OperationKind &kind) {
    return word.starts_with(kind.word);
  });
}

/// The type that the end of an operation's name stands for.
static ErrorOr<DataType> parseType(std::string_view name,
                                   std::string_view suffix) {
  if (suffix.empty())
    return DataType::F32;
  if (suffix == "fp16")
    return DataType::F16;
  if (suffix == "bfp16" || suffix == "bf16")
    return DataType::BF16;
  if (suffix == "fp64")
    return DataType::F64;
  if (suffix == "int8")
    return DataType::I8;
  for (std::string_view other : {"fp8", "bfp8", "int32"})
    if (suffix == other)
      return notSupported(quote(name) +
                          " has a data type that is not supported; " +
                          std::string(kOperations));
  return invalidArgument("unknown operation " + quote(name) + "; " +
                         std::string(kOperations));
}

static ErrorOr<Operation> parseOperation(std::string_view name) {
  for (const OperationKind &kind : kKinds) {
    if (!name.starts_with(kind.word))
      continue;
    ErrorOr<DataType> type = parseType(name, name.substr(kind.word.size()));
    if (!type)
      return type.getStatus();
    return Operation{&kind, *type};
  }
  for (std::string_view other :
       {"lrn", "rnn", "gemm", "ctc", "dropout", "groupnorm", "cat", "sum",
        "argmax", "adam", "kthvalue", "getitem", "rope", "prelu"})
    if (name.starts_with(other))
      return notSupported("the operation " + quote(name) +
                          " is not supported; " + std::string(kOperations));
  return invalidArgument("unknown operation " + quote(name) + "; " +
                         std::string(kOperations));
}

ErrorOr<DriverOptions>
tessera::parseDriverOptions(std::span<const std::string> words) {
  // A flag follows the operation; another word can only follow a program.
  if (words.size() > 1 && !words[1].starts_with("-"))
    words = words.subspan(1);
  if (words.empty())
    return invalidArgument("the command line names no operation; " +
                           std::string(kOperations));
  if (isNetworkConfig(words[0]))
    return toConfigOptions(words);
  ErrorOr<Operation> operation = parseOperation(words[0]);
  if (!operation)
    return operation.getStatus();
  FlagValues flags(operation->kind->getFlags());
  if (Status status = flags.parse(words.subspan(1)); !status.isOk())
    return status;
  return operation->kind->toOptions(flags, operation->dataType);
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
  if (problem.isUnaligned())
    return problem.toNetworkConfig();
  if (const PoolProblem *pool = problem.getPool())
    return toLine(*pool);
  if (const RowProblem *rows = problem.getRows())
    return toLine(*rows);
  return toLine(*problem.getConv());
}

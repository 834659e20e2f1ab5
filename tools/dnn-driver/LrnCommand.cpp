//===- LrnCommand.cpp - "dnn-driver lrn" ----------------------------------===//

#include "tools/dnn-driver/LrnCommand.h"

#include "runtime/DriverCommand/DriverFlags.h"

#include <algorithm>
#include <climits>
#include <optional>

using namespace tessera;
using namespace tessera::driver;

/// The words without a program name. The operation is followed by a flag;
/// another word means that the first one is a program.
static std::span<const std::string>
skipProgram(std::span<const std::string> words) {
  const bool hasProgram = words.size() > 1 && !words[1].starts_with("-");
  return words.subspan(hasProgram ? 1 : 0);
}

static std::optional<DataType> findType(std::string_view word) {
  for (DataType type : {DataType::F32, DataType::F16, DataType::BF16})
    if (word == "lrn" + std::string(getDriverWord(type)))
      return type;
  return std::nullopt;
}

bool driver::isLrnCommand(std::span<const std::string> words) {
  words = skipProgram(words);
  return !words.empty() && findType(words[0]);
}

static constexpr std::pair<std::string_view, miopenLRNMode_t> kModes[] = {
    {"within", miopenLRNWithinChannel}, {"cross", miopenLRNCrossChannel}};

/// Reads a length; 0 is an error.
static void readLength(FlagReader &flags, std::string_view name,
                       int64_t &length) {
  flags.upTo(INT_MAX, "--" + std::string(name), length);
  if (length == 0)
    flags.check(invalidArgument("flag '--" + std::string(name) + "' is 0"));
}

ErrorOr<LrnCommand>
driver::parseLrnCommand(std::span<const std::string> words) {
  words = skipProgram(words);
  LrnCommand command;
  command.type = *findType(words[0]);
  FlagReader flags(getLrnDriverFlags());
  flags.check(flags.parse(words.subspan(1)));
  readLength(flags, "batchsize", command.lengths[0]);
  readLength(flags, "in_channels", command.lengths[1]);
  readLength(flags, "in_h", command.lengths[2]);
  readLength(flags, "in_w", command.lengths[3]);
  readLength(flags, "lrnN", command.window);
  command.alpha = flags.getReal("alpha");
  command.beta = flags.getReal("beta");
  command.k = flags.getReal("lrnK");
  flags.boolean("--forw", command.isForwardOnly);
  flags.oneOf<miopenLRNMode_t>("--mode", kModes, command.mode);
  command.options = readRun(flags);
  if (!flags.isOk())
    return flags.getStatus();
  return command;
}

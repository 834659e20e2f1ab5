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
    if (word == getRowWord("lrn", type))
      return type;
  return std::nullopt;
}

bool driver::isLrnCommand(std::span<const std::string> words) {
  words = skipProgram(words);
  return !words.empty() && findType(words[0]);
}

/// Reads the numbers; a missing length is an error.
static Status readNumbers(FlagValues &flags, LrnCommand &command) {
  int64_t *const numbers[] = {&command.lengths[0], &command.lengths[1],
                              &command.lengths[2], &command.lengths[3],
                              &command.window};
  static constexpr std::string_view kNames[] = {"batchsize", "in_channels",
                                                "in_h", "in_w", "lrnN"};
  for (size_t i = 0; i < std::size(kNames); ++i) {
    *numbers[i] = flags.getNumber(kNames[i]);
    if (Status status = flags.checkRange(kNames[i], INT_MAX); !status.isOk())
      return status;
    if (*numbers[i] == 0)
      return invalidArgument("flag '--" + std::string(kNames[i]) + "' is 0");
  }
  command.alpha = flags.getReal("alpha");
  command.beta = flags.getReal("beta");
  command.k = flags.getReal("lrnK");
  return flags.checkRange("forw", 1);
}

ErrorOr<LrnCommand>
driver::parseLrnCommand(std::span<const std::string> words) {
  words = skipProgram(words);
  LrnCommand command;
  command.type = *findType(words[0]);
  FlagValues flags(getLrnDriverFlags());
  Status status = flags.parse(words.subspan(1));
  if (status.isOk())
    status = readNumbers(flags, command);
  if (!status.isOk())
    return status;
  const std::string_view mode = flags.getText("mode");
  if (mode != "within" && mode != "cross")
    return invalidArgument("flag '--mode' needs within or cross, not " +
                           quote(mode));
  command.mode =
      mode == "within" ? miopenLRNWithinChannel : miopenLRNCrossChannel;
  command.isForwardOnly = flags.getBool("forw");
  command.options = readRun(flags);
  if (!flags.getStatus().isOk())
    return flags.getStatus();
  return command;
}

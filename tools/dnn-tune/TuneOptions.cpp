//===- TuneOptions.cpp - The command line of dnn-tune ---------------------===//

#include "tools/dnn-tune/TuneOptions.h"

#include <charconv>
#include <limits>

using namespace tessera;
using namespace tessera::tune_tool;

const char *tessera::tune_tool::getTuneHelp() {
  return R"(usage: dnn-tune FILE... [options]
       dnn-tune db COMMAND ...    work on databases; dnn-tune db --help

Tunes the problems of the files on the device that TESSERA_DEVICE names: tries
the tiles that the compiler's model ranks first, verifies and times each, and
stores times, failures and the best kernel in the kernel database, which the
library uses from then on. What is known of this device and compiler is not tried
again, so a run that was killed goes on where it was.

  --candidates N           tiles of a problem at most (8)
  --knobs N                then N tiles at most that change a decision in the plan
                           of the best one (0)
  --exhaustive             all tiles, or N of them, whatever the model expects
  --budget SECONDS         begin no further tile of a problem after this time; with
                           0, what is known is reported
  --total SECONDS          begin no further problem after this time
  --time-limit SECONDS     a tile that runs longer is in quarantine, and another
                           process goes on (60, on the emulated device none);
                           0: tune in this process, without a limit
  --again                  try also what the database knows
  --seed N                 of the data, and of the order of --exhaustive (1)
  --judge NAME             who verifies: auto, host, device or general
  --jobs N                 threads that compile (as many as suit the machine)
  --db FOLDER              with the database kernels.db, as in dnn-tune db; made
                           if it is not there (that of the library)
  --report FILE.html       roofline, tiles and ranks, in one file without scripts
  --roof TFLOPS,GBS        the device's limits, for the roofline
  --table FILE.csv         every tile that was tried
  --mpi FOLDER             share the problems with the other ranks of an MPI job,
                           or with any processes that name the same folder
  --help                   this text

Of the files:
)";
}

template <typename T>
static Status parseNumber(const std::string &flag, const std::string &word,
                          T least, T &value) {
  auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc() && end == word.data() + word.size() &&
      value >= least)
    return Status::ok();
  return invalidArgument(flag + " takes a number, not '" + word + "'");
}

static Status parseRoof(const std::string &word, TuneOptions &options) {
  const size_t comma = word.find(',');
  if (comma == word.npos)
    return invalidArgument("--roof takes two numbers with a comma between, not "
                           "'" +
                           word + "'");
  Status status =
      parseNumber("--roof", word.substr(0, comma), 0.0, options.roofTflops);
  if (status.isOk())
    status =
        parseNumber("--roof", word.substr(comma + 1), 0.0, options.roofGbs);
  return status;
}

/// Parses flags with a value that are our own.
static Status parseValue(const std::string &flag, const std::string &word,
                         TuneOptions &options) {
  if (flag == "--candidates")
    return parseNumber<size_t>(flag, word, 1, options.budget.candidates);
  if (flag == "--knobs")
    return parseNumber<size_t>(flag, word, 0, options.budget.neighbours);
  if (flag == "--budget")
    return parseNumber(flag, word, 0.0, options.budget.seconds);
  if (flag == "--total")
    return parseNumber(flag, word, 0.0, options.totalSeconds);
  if (flag == "--time-limit") {
    options.timeLimit.emplace();
    return parseNumber(flag, word, 0.0, *options.timeLimit);
  }
  if (flag == "--seed")
    return parseNumber<uint64_t>(flag, word, 0, options.seed);
  if (flag == "--jobs")
    return parseNumber(flag, word, 1u, options.jobs);
  if (flag == "--roof")
    return parseRoof(word, options);
  if (flag == "--judge") {
    const std::optional<JudgeChoice> choice = parseJudgeChoice(word);
    options.judge = choice.value_or(JudgeChoice::Auto);
    return choice ? Status::ok()
                  : invalidArgument("--judge takes auto, host, device or "
                                    "general, not '" +
                                    word + "'");
  }
  const std::pair<const char *, std::string TuneOptions::*> texts[] = {
      {"--db", &TuneOptions::folder},
      {"--report", &TuneOptions::reportFile},
      {"--table", &TuneOptions::tableFile},
      {"--mpi", &TuneOptions::sharedFolder}};
  for (auto [name, field] : texts)
    if (flag == name) {
      options.*field = word;
      return Status::ok();
    }
  return invalidArgument("unknown flag '" + flag + "'; see --help");
}

/// Parses flags without a value; false if it is another flag.
static bool parseSwitch(const std::string &flag, TuneOptions &options) {
  if (flag == "--exhaustive")
    options.budget.isExhaustive = true;
  else if (flag == "--again")
    options.again = true;
  else if (flag == "--help")
    options.help = true;
  else
    return false;
  return true;
}

/// Parses the flag at `next`, which moves behind the flag and its value.
static Status parseFlag(const std::vector<std::string> &words, size_t &next,
                        TuneOptions &options) {
  const std::string &flag = words[next++];
  if (parseSwitch(flag, options))
    return Status::ok();
  const bool hasValue = hasProblemFileValue(flag);
  if (hasValue && next == words.size())
    return invalidArgument("'" + flag +
                           "' is no flag, or lacks its value; see --help");
  const std::string value = hasValue ? words[next] : "";
  const ErrorOr<bool> isTaken =
      readProblemFileFlag(flag, value, options.reading);
  if (!isTaken)
    return isTaken.getStatus();
  next += hasValue;
  return *isTaken ? Status::ok() : parseValue(flag, value, options);
}

ErrorOr<TuneOptions>
tessera::tune_tool::parseTuneOptions(const std::vector<std::string> &words) {
  TuneOptions options;
  options.budget.candidates = 0;
  for (size_t next = 0; next < words.size();) {
    if (!words[next].starts_with("--")) {
      options.files.push_back(words[next++]);
      continue;
    }
    if (Status status = parseFlag(words, next, options); !status.isOk())
      return status;
  }
  if (options.budget.candidates == 0)
    options.budget.candidates = options.budget.isExhaustive
                                    ? std::numeric_limits<size_t>::max()
                                    : TuningBudget().candidates;
  if (options.files.empty() && !options.help)
    return invalidArgument("no file with problems; see --help");
  return options;
}

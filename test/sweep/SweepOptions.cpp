//===- SweepOptions.cpp - The command line of dnn-sweep -------------------===//

#include "test/sweep/SweepOptions.h"

#include <charconv>

using namespace tessera;
using namespace tessera::sweep;

const char *tessera::sweep::getSweepHelp() {
  return R"(Runs problems, random ones or those of a list, on the device that TESSERA_DEVICE
names and compares each with the reference. Prints every failure; exits with 1 if
there was one.

  --seed N            which sequence of problems (1)
  --from N            its first problem (0)
  --count N           how many problems (100; of a list: all)
  --list FILE         the problems of FILE instead: a list, a log, a database
  --run-below N       only compile what needs more than N operations
  --state FILE        keep in FILE how far the sweep is, and go on from there
  --direction WORD    convolutions only: fwd, bwd or wrw
  --row-wise              draw row-wise operations instead of convolutions
  --members N         of each problem N with other batch, spatial sizes or rows,
                      all served by the kernel for unknown sizes of their family
  --misaligned         each tensor begins one element into its memory
  --allow-refusals    a problem that no kernel covers is no failure
  --help              this text

  TESSERA_DEVICE=emulated:gfx942 TESSERA_EMULATOR_CHECK=all dnn-sweep --count 500
  TESSERA_DEVICE=emulated:gfx942 dnn-sweep --list test/sweep/lists/conv-miopen.txt \
    --run-below 3e7
)";
}

template <typename T>
static Status parseNumber(const std::string &flag, const std::string &word,
                          T &value) {
  auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc() && end == word.data() + word.size() && value >= 0)
    return Status::ok();
  return invalidArgument(flag + " takes a number of at least 0, not '" + word +
                         "'");
}

static Status parseOperations(const std::string &word, SweepOptions &options) {
  auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), options.runBelow);
  if (error == std::errc() && end == word.data() + word.size() &&
      options.runBelow >= 0)
    return Status::ok();
  return invalidArgument("--run-below takes a number such as 3e7, not '" +
                         word + "'");
}

static Status parseDirection(const std::string &word, ProblemSpace &space) {
  for (Direction direction : {Direction::Forward, Direction::BackwardData,
                              Direction::BackwardWeights})
    if (word == getName(direction)) {
      space.directions = {direction};
      space.pooling = false;
      return Status::ok();
    }
  return invalidArgument("--direction takes fwd, bwd or wrw, not '" + word +
                         "'");
}

/// Parses a flag that has a value.
static Status parseValue(const std::string &flag, const std::string &word,
                         SweepOptions &options) {
  if (flag == "--seed")
    return parseNumber(flag, word, options.seed);
  if (flag == "--from")
    return parseNumber(flag, word, options.from);
  if (flag == "--count")
    return parseNumber(flag, word, options.count);
  if (flag == "--members")
    return parseNumber(flag, word, options.members);
  if (flag == "--direction")
    return parseDirection(word, options.space);
  if (flag == "--run-below")
    return parseOperations(word, options);
  if (flag == "--list") {
    options.listFile = word;
    return Status::ok();
  }
  if (flag != "--state")
    return invalidArgument("unknown flag '" + flag + "'; see --help");
  options.stateFile = word;
  return Status::ok();
}

ErrorOr<SweepOptions>
tessera::sweep::parseSweepOptions(const std::vector<std::string> &words) {
  SweepOptions options;
  // Without --count, a list is swept to its end.
  bool isCounted = false;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--allow-refusals") {
      options.allowRefusals = true;
      continue;
    }
    if (words[i] == "--misaligned") {
      options.misplaced = true;
      continue;
    }
    if (words[i] == "--row-wise") {
      options.space.rows = true;
      continue;
    }
    if (words[i] == "--help") {
      options.help = true;
      continue;
    }
    if (i + 1 == words.size())
      return invalidArgument("'" + words[i] +
                             "' is no flag, or lacks its "
                             "value; see --help");
    Status status = parseValue(words[i], words[i + 1], options);
    if (!status.isOk())
      return status;
    isCounted |= words[i] == "--count";
    ++i;
  }
  if (!options.listFile.empty() && !isCounted)
    options.count = std::numeric_limits<int64_t>::max();
  return options;
}

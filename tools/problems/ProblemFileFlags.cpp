//===- ProblemFileFlags.cpp - The flags of a problem file -----------------===//

#include "tools/problems/ProblemFile.h"

#include <algorithm>
#include <charconv>

using namespace tessera;

const char *tessera::getProblemFileHelp() {
  return R"(  --strict                 a line that names no problem is an error
  --type TYPE              fp16, bf16, fp32, fp64 or int8: of models, and of lines
                           with flags alone (fp32)
  --layout LAYOUT          NCHW (default) or NHWC, of models
  --directions F,B,W       forward (default), backward data, backward weights, of
                           models
  --batch N                the batch of a model that leaves it open
  --dim NAME=N             another dimension that a model leaves open
  --fuse                   bias and activation of a model's convolutions are part of
                           their kernels
)";
}

bool tessera::hasProblemFileValue(const std::string &flag) {
  return flag != "--strict" && flag != "--fuse";
}

static constexpr std::pair<std::string_view, DataType> kTypes[] = {
    {"fp16", DataType::F16}, {"bf16", DataType::BF16}, {"fp32", DataType::F32},
    {"fp64", DataType::F64}, {"int8", DataType::I8},
};

static constexpr std::pair<char, Direction> kLetters[] = {
    {'F', Direction::Forward},
    {'B', Direction::BackwardData},
    {'W', Direction::BackwardWeights},
};

static Status parseType(const std::string &word, ProblemFileOptions &options) {
  for (auto [name, type] : kTypes)
    if (word == name) {
      options.dataType = type;
      return Status::ok();
    }
  return invalidArgument("--type takes fp16, bf16, fp32, fp64 or int8, not '" +
                         word + "'");
}

static Status parseLayout(const std::string &word,
                          ProblemFileOptions &options) {
  if (word != "NCHW" && word != "NHWC")
    return invalidArgument("--layout takes NCHW or NHWC, not '" + word + "'");
  options.layout = word == "NCHW" ? Layout::NCHW : Layout::NHWC;
  return Status::ok();
}

/// Parses letters with commas between them.
static Status parseDirections(const std::string &word,
                              ProblemFileOptions &options) {
  options.directions.clear();
  bool isFine = word.size() % 2 == 1;
  for (size_t i = 0; i < word.size(); ++i) {
    if (i % 2 == 1) {
      isFine &= word[i] == ',';
      continue;
    }
    const auto *found = std::ranges::find(kLetters, word[i],
                                          &std::pair<char, Direction>::first);
    isFine &= found != std::end(kLetters);
    if (isFine)
      options.directions.push_back(found->second);
  }
  return isFine ? Status::ok()
                : invalidArgument("--directions takes some of F, B and W with "
                                  "commas between, not '" +
                                  word + "'");
}

static std::optional<int64_t> parseLength(std::string_view word) {
  int32_t length = 0;
  auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), length);
  if (error != std::errc() || end != word.data() + word.size() || length < 1)
    return std::nullopt;
  return length;
}

static Status parseBatch(const std::string &word, ProblemFileOptions &options) {
  options.batch = parseLength(word);
  return options.batch
             ? Status::ok()
             : invalidArgument("--batch takes a number of at least 1, not '" +
                               word + "'");
}

static Status parseDimension(const std::string &word,
                             ProblemFileOptions &options) {
  const size_t equals = word.find('=');
  std::optional<int64_t> length;
  if (equals != word.npos)
    length = parseLength(std::string_view(word).substr(equals + 1));
  if (!length || equals == 0)
    return invalidArgument("--dim takes a name and a number, as height=224, "
                           "not '" +
                           word + "'");
  options.dimensions[word.substr(0, equals)] = *length;
  return Status::ok();
}

ErrorOr<bool> tessera::readProblemFileFlag(const std::string &flag,
                                           const std::string &value,
                                           ProblemFileOptions &options) {
  Status status;
  if (flag == "--strict")
    options.strict = true;
  else if (flag == "--fuse")
    options.fuse = true;
  else if (flag == "--type")
    status = parseType(value, options);
  else if (flag == "--layout")
    status = parseLayout(value, options);
  else if (flag == "--directions")
    status = parseDirections(value, options);
  else if (flag == "--batch")
    status = parseBatch(value, options);
  else if (flag == "--dim")
    status = parseDimension(value, options);
  else
    return false;
  if (!status.isOk())
    return status;
  return true;
}

std::vector<std::string> tessera::toFlags(const ProblemFileOptions &options) {
  std::vector<std::string> flags;
  if (options.strict)
    flags.emplace_back("--strict");
  if (options.fuse)
    flags.emplace_back("--fuse");
  for (auto [name, type] : kTypes)
    if (type == options.dataType)
      flags.insert(flags.end(), {"--type", std::string(name)});
  flags.insert(flags.end(),
               {"--layout", options.layout == Layout::NHWC ? "NHWC" : "NCHW"});
  std::string letters;
  for (Direction wanted : options.directions)
    for (auto [letter, direction] : kLetters)
      if (direction == wanted)
        letters += (letters.empty() ? "" : ",") + std::string(1, letter);
  flags.insert(flags.end(), {"--directions", letters});
  if (options.batch)
    flags.insert(flags.end(), {"--batch", std::to_string(*options.batch)});
  for (const auto &[name, length] : options.dimensions)
    flags.insert(flags.end(), {"--dim", name + "=" + std::to_string(length)});
  return flags;
}

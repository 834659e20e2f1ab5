//===- ProblemFileFlags.cpp - The flags of a problem file -----------------===//

#include "tools/problems/ProblemFile.h"

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

static Status parseType(const std::string &word, ProblemFileOptions &options) {
  static constexpr std::pair<std::string_view, DataType> kTypes[] = {
      {"fp16", DataType::F16}, {"bf16", DataType::BF16},
      {"fp32", DataType::F32}, {"fp64", DataType::F64},
      {"int8", DataType::I8},
  };
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

static Status parseDirections(std::string_view words,
                              ProblemFileOptions &options) {
  const std::string all(words);
  options.directions.clear();
  for (bool isLast = false; !isLast;) {
    const size_t comma = words.find(',');
    const std::string_view word = words.substr(0, comma);
    if (word == "F")
      options.directions.push_back(Direction::Forward);
    else if (word == "B")
      options.directions.push_back(Direction::BackwardData);
    else if (word == "W")
      options.directions.push_back(Direction::BackwardWeights);
    else
      return invalidArgument("--directions takes some of F, B and W with "
                             "commas between, not '" +
                             all + "'");
    isLast = comma == words.npos;
    words.remove_prefix(isLast ? 0 : comma + 1);
  }
  return Status::ok();
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

//===- TextProblems.cpp - Lists, logs and text databases ------------------===//
//
// Reads line by line, each line independently: a file may mix kinds. Text
// around a problem (a layer's name, how often it occurs, a logger's prefix) is
// used where it has a meaning and dropped where it has none.
//
//===----------------------------------------------------------------------===//

#include "runtime/DriverCommand/DriverCommand.h"
#include "tools/problems/Collector.h"
#include "tools/problems/MiopenKey.h"

#include <charconv>
#include <cstring>
#include <fstream>

using namespace tessera;

/// Longer than any command line; a file with longer lines is no text.
static constexpr size_t kMaxLine = 1 << 20;

static std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  constexpr std::string_view blanks = " \t\r\n";
  for (size_t begin = text.find_first_not_of(blanks); begin != text.npos;
       begin = text.find_first_not_of(blanks)) {
    text.remove_prefix(begin);
    const size_t length = std::min(text.find_first_of(blanks), text.size());
    words.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return words;
}

/// Removes the comment, which begins the line or follows a blank; "-#" is a
/// flag.
static std::string_view dropComment(std::string_view line) {
  if (line.starts_with("#"))
    return {};
  for (std::string_view mark : {" #", "\t#"})
    line = line.substr(0, line.find(mark));
  return line;
}

static std::optional<int64_t> parseCount(std::string_view word) {
  int64_t count = 0;
  auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), count);
  if (error != std::errc() || end != word.data() + word.size() || count < 1)
    return std::nullopt;
  return count;
}

/// The operation for a line that has only flags.
static std::string getConvOperation(DataType type) {
  ConvProblem problem;
  problem.dataType = type;
  const std::string line = toDriverCommand(problem);
  return line.substr(0, line.find(' '));
}

namespace {
/// A line after parsing.
struct Line {
  /// The line is no problem and does not resemble one.
  bool isForeign = false;
  int64_t count = 1;
  ErrorOr<std::vector<Problem>> problems = std::vector<Problem>();
};
} // namespace

static ErrorOr<std::vector<Problem>> toList(const ErrorOr<Problem> &problem) {
  if (!problem)
    return problem.getStatus();
  return std::vector{*problem};
}

static ErrorOr<std::vector<Problem>>
parseCommand(std::span<const std::string> words) {
  ErrorOr<DriverOptions> options = parseDriverOptions(words);
  if (!options)
    return options.getStatus();
  return std::move(options->problems);
}

/// Whether a problem's text begins at word `i`. A log may have any words, so
/// anything less than a command counts only in lists.
static bool beginsProblem(const std::vector<std::string> &words, size_t i,
                          bool isLog) {
  if (isNetworkConfig(words[i]))
    return true;
  if (i + 1 == words.size() || !findDriverOperation(words[i]))
    return !isLog &&
           (words[i].starts_with("-") || findDriverOperation(words[i]));
  // A name may begin like an operation: "conv1 conv-fwd-...".
  return words[i + 1].starts_with("-");
}

/// Parses "[NAME] [COUNT] CONFIG [COUNT]", "[NAME] [COUNT] conv FLAGS" or
/// "NAME: FLAGS".
static Line readListLine(const std::vector<std::string> &words, bool isLog,
                         const ProblemFileOptions &options) {
  Line line;
  size_t begin = 0;
  for (; begin < words.size() && !beginsProblem(words, begin, isLog); ++begin)
    if (std::optional<int64_t> count = parseCount(words[begin]))
      line.count = *count;
  // A sentence with a dash in it is no line of a list.
  line.isForeign = begin == words.size() || begin > 2;
  if (line.isForeign)
    return line;
  std::vector<std::string> rest(words.begin() + static_cast<ptrdiff_t>(begin),
                                words.end());
  if (isNetworkConfig(rest[0])) {
    if (rest.size() == 2)
      line.count = parseCount(rest[1]).value_or(line.count);
    line.problems = toList(parseNetworkConfig(rest[0]));
    return line;
  }
  if (rest[0].starts_with("-"))
    rest.insert(rest.begin(),
                getConvOperation(options.dataType.value_or(DataType::F32)));
  line.problems = parseCommand(rest);
  return line;
}

static Line readLine(std::string_view text, bool isLog,
                     const ProblemFileOptions &options) {
  Line line;
  text = dropComment(text);
  if (isMiopenRecord(text)) {
    line.problems = toList(parseMiopenRecord(text));
    return line;
  }
  const size_t program = text.find("MIOpenDriver");
  if (program != text.npos) {
    std::vector<std::string> words = split(text.substr(program));
    line.problems = parseCommand(std::span(words).subspan(1));
    return line;
  }
  const std::vector<std::string> words = split(text);
  return words.empty() ? line : readListLine(words, isLog, options);
}

namespace {
/// The file, read line by line.
class Lines {
public:
  explicit Lines(const std::string &path)
      : stream(path, std::ios::binary), path(path) {}

  bool next() {
    ++number;
    return static_cast<bool>(std::getline(stream, text));
  }
  /// Returns to the first line.
  void rewind() {
    stream.clear();
    stream.seekg(0);
    number = 0;
  }
  const std::string &getText() const { return text; }
  std::string getSource() const { return path + ":" + std::to_string(number); }

private:
  std::ifstream stream;
  std::string path;
  std::string text;
  int64_t number = 0;
};
} // namespace

/// A log has a program's command lines among unrelated ones.
static bool looksLikeLog(Lines &lines) {
  bool found = false;
  while (!found && lines.next())
    found = !lines.getText().starts_with("#") &&
            lines.getText().find("MIOpenDriver") != std::string::npos;
  lines.rewind();
  return found;
}

Status tessera::readTextProblems(const std::string &path,
                                 const ProblemFileOptions &options,
                                 ProblemCollector &collector) {
  Lines lines(path);
  const bool isLog = looksLikeLog(lines);
  while (lines.next()) {
    if (lines.getText().size() > kMaxLine) {
      collector.passOver("a line of more than a million characters",
                         lines.getSource());
      continue;
    }
    const Line line = readLine(lines.getText(), isLog, options);
    if (!line.isForeign)
      collector.add(line.problems, line.count, lines.getSource());
    else if (!isLog)
      collector.passOver("a line that names no problem", lines.getSource());
  }
  return Status::ok();
}

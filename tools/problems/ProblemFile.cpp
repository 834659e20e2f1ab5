//===- ProblemFile.cpp - The problems that a file names -------------------===//

#include "tools/problems/ProblemFile.h"
#include "tools/problems/Collector.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

using namespace tessera;

//===----------------------------------------------------------------------===//
// Collector
//===----------------------------------------------------------------------===//

void ProblemCollector::passOver(const std::string &reason,
                                const std::string &source) {
  auto [entry, isNew] = reasons.try_emplace(reason, file.passedOver.size());
  if (isNew)
    file.passedOver.push_back({reason, source});
  else
    ++file.passedOver[entry->second].count;
}

void ProblemCollector::add(const Problem &problem, int64_t count,
                           const std::string &source) {
  if (Status status = problem.verify(); !status.isOk())
    return passOver(status.getMessage(), source);
  const Problem canonical = problem.canonicalize();
  auto [entry, isNew] = known.try_emplace(canonical, file.problems.size());
  if (isNew)
    file.problems.push_back({canonical, count, source});
  else
    file.problems[entry->second].count += count;
}

void ProblemCollector::add(const ErrorOr<std::vector<Problem>> &problems,
                           int64_t count, const std::string &source) {
  if (!problems)
    return passOver(problems.getStatus().getMessage(), source);
  for (const Problem &problem : *problems)
    add(problem, count, source);
}

//===----------------------------------------------------------------------===//
// Kinds of files
//===----------------------------------------------------------------------===//

/// The first bytes of a file, enough to recognise its kind.
static ErrorOr<std::string> readHead(const std::string &path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return notFound("cannot read '" + path + "': it is a directory");
  std::ifstream stream(path, std::ios::binary);
  std::string head(4096, '\0');
  if (!stream)
    return notFound("cannot read '" + path + "': " + std::strerror(errno));
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(stream.gcount()));
  return head;
}

/// The program that unpacks a file that begins like this, or null.
static const char *findUnpacker(std::string_view head) {
  using namespace std::string_view_literals;
  struct {
    std::string_view magic;
    const char *program;
  } static constexpr kPackers[] = {{"BZh"sv, "bunzip2"},
                                   {"\x1f\x8b"sv, "gunzip"},
                                   {"\xfd"
                                    "7zXZ\0"sv,
                                    "unxz"},
                                   {"\x28\xb5\x2f\xfd"sv, "unzstd"},
                                   {"PK\3\4"sv, "unzip"}};
  for (auto [magic, program] : kPackers)
    if (head.starts_with(magic))
      return program;
  return nullptr;
}

static bool isText(std::string_view head) {
  return std::ranges::none_of(head,
                              [](char c) {
                                return static_cast<unsigned char>(c) < ' ' &&
                                       !std::strchr("\t\n\v\f\r\x1b", c);
                              }) &&
         head.find('\0') == head.npos;
}

static Status readAnyProblems(const std::string &path,
                              const ProblemFileOptions &options,
                              ProblemCollector &collector) {
  ErrorOr<std::string> head = readHead(path);
  if (!head)
    return head.getStatus();
  if (const char *program = findUnpacker(*head))
    return invalidArgument("'" + path + "' is compressed; unpack it with " +
                           program + " first");
  if (head->starts_with("SQLite format 3"))
    return readSqliteProblems(path, collector);
  if (isText(*head))
    return readTextProblems(path, options, collector);
  return readModelProblems(path, options, collector);
}

ErrorOr<ProblemFile> tessera::readProblems(const std::string &path,
                                           const ProblemFileOptions &options) {
  ProblemCollector collector;
  if (Status status = readAnyProblems(path, options, collector); !status.isOk())
    return status;
  ProblemFile file = collector.take();
  if (options.strict && !file.passedOver.empty())
    return invalidArgument(file.passedOver.front().source + ": " +
                           file.passedOver.front().reason);
  return file;
}

std::string tessera::getSummary(const ProblemFile &file) {
  constexpr size_t kShown = 8;
  int64_t named = 0;
  for (const ListedProblem &listed : file.problems)
    named += listed.count;
  std::string text = std::to_string(file.problems.size()) + " problems (" +
                     std::to_string(named) + " with repetitions)\n";
  int64_t others = 0;
  for (size_t i = 0; i < file.passedOver.size(); ++i) {
    const PassedOver &over = file.passedOver[i];
    if (i < kShown)
      text += "passed over " + std::to_string(over.count) + ": " + over.reason +
              " (first at " + over.source + ")\n";
    else
      others += over.count;
  }
  if (others > 0)
    text += "passed over " + std::to_string(others) + " for other reasons\n";
  return text;
}

//===- ProblemFile.h - The problems that a file names ----------*- C++ -*--===//
//
// One reader for all files that list problems, so that whatever a user has (a
// list, a log, MIOpen's databases, a model) can be swept, tuned and compiled
// ahead of time alike. The kind of the file is recognised by its content, not
// by its name.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_PROBLEMS_PROBLEMFILE_H
#define TESSERA_TOOLS_PROBLEMS_PROBLEMFILE_H

#include "runtime/Base/Problem.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// Values that a file may leave open, and how strictly it is read.
struct ProblemFileOptions {
  /// A line that names no problem makes the whole file fail.
  bool strict = false;
  /// The type of lines with flags but without an operation, and of models,
  /// whose own type it replaces.
  std::optional<DataType> dataType;

  // The following are for models only.
  Layout layout = Layout::NCHW;
  std::vector<Direction> directions{Direction::Forward};
  /// Replaces a first dimension of an input that has no number.
  std::optional<int64_t> batch;
  /// Replace other dimensions that have a name instead of a number.
  std::map<std::string, int64_t> dimensions;
  /// Bias and activation go into the convolution's epilogue.
  bool fuse = false;
};

/// Parses `flag` with `value` into `options` if it is one of
/// getProblemFileHelp(); false if it is not. --strict and --fuse have no value
/// and ignore it; see hasProblemFileValue().
ErrorOr<bool> readProblemFileFlag(const std::string &flag,
                                  const std::string &value,
                                  ProblemFileOptions &options);
bool hasProblemFileValue(const std::string &flag);

/// The flags that set these options.
std::vector<std::string> toFlags(const ProblemFileOptions &options);

/// The lines of a help text for these flags.
const char *getProblemFileHelp();

struct ListedProblem {
  Problem problem; ///< Valid and canonical.
  /// How often the file names it, if it says so.
  int64_t count = 1;
  /// Where it was named first: "file:12", or a model's "file: node 'conv1'".
  std::string source;
};

/// Entries that were read but are no problem that we support.
struct PassedOver {
  std::string reason;
  std::string source; ///< Where this reason occurred first.
  int64_t count = 1;
};

struct ProblemFile {
  std::vector<ListedProblem> problems; ///< Each once, in the file's order.
  std::vector<PassedOver> passedOver;  ///< Each reason once.
};

/// Reads lists with one problem a line (a network config or a driver line, with
/// a name or a count before it and a count or a comment after it), logs with
/// MIOpenDriver's command lines, find and perf databases of MIOpen (text or
/// SQLite) and ONNX models, for which it starts the program dnn-onnx.
///
/// NotFound if the file cannot be read, InvalidArgument if it is of no known
/// kind, and in strict mode if something was skipped. Lines of a log that are
/// no commands, and nodes of a model that compute something else, are ignored
/// and do not count as skipped.
ErrorOr<ProblemFile> readProblems(const std::string &path,
                                  const ProblemFileOptions &options = {});

/// Prints "23 problems (53 with repetitions)", and a line for each of the first
/// reasons why something was skipped.
std::string getSummary(const ProblemFile &file);

} // namespace tessera

#endif // TESSERA_TOOLS_PROBLEMS_PROBLEMFILE_H

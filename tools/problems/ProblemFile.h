//===- ProblemFile.h - The problems that a file names ----------*- C++ -*-===//
//
// One reader for everything that lists problems, so that whatever a user has
// (a list, a log, MIOpen's databases, a model) can be swept, tuned and
// compiled ahead of time alike. What the file holds is told from its content,
// not from its name.
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

/// What a file may leave open, and how strictly it is read.
struct ProblemFileOptions {
  /// What names no problem makes the whole file fail.
  bool strict = false;
  /// For lines of flags without an operation, and for models, whose own type
  /// it replaces.
  std::optional<DataType> dataType;

  // Models only.
  Layout layout = Layout::NCHW;
  std::vector<Direction> directions{Direction::Forward};
  /// For a first dimension of an input that has no number.
  std::optional<int64_t> batch;
  /// For other dimensions that have a name instead of a number.
  std::map<std::string, int64_t> dimensions;
  /// Bias and activation go into the convolution's epilogue.
  bool fuse = false;
};

/// Takes `flag` with `value` into `options` if it is one of
/// getProblemFileHelp(); false if it is not. --strict and --fuse have no value
/// and do not look at it; see hasProblemFileValue().
ErrorOr<bool> readProblemFileFlag(const std::string &flag,
                                  const std::string &value,
                                  ProblemFileOptions &options);
bool hasProblemFileValue(const std::string &flag);

/// The flags that give these options.
std::vector<std::string> toFlags(const ProblemFileOptions &options);

/// The lines of a help text for these flags.
const char *getProblemFileHelp();

struct ListedProblem {
  Problem problem; ///< Valid and canonical.
  /// How often the file names it, as far as it says.
  int64_t count = 1;
  /// Where it was named first: "file:12", or a model's "file: node 'conv1'".
  std::string source;
};

/// What was read and names no problem that we have.
struct PassedOver {
  std::string reason;
  std::string source; ///< Where this reason came up first.
  int64_t count = 1;
};

struct ProblemFile {
  std::vector<ListedProblem> problems; ///< Each once, in the file's order.
  std::vector<PassedOver> passedOver;  ///< Each reason once.
};

/// Reads lists with one problem a line (a network config or a driver line,
/// with a name or a count before it and a count or a comment behind it), logs
/// with MIOpenDriver's command lines, find and perf databases of MIOpen (text
/// or SQLite) and ONNX models, for which it starts the program dnn-onnx.
///
/// NotFound if the file cannot be read, InvalidArgument if it is of no known
/// kind, and in strict mode if something was passed over. Lines of a log that
/// are no commands, and nodes of a model that compute something else, are not
/// passed over: they are no concern of ours.
ErrorOr<ProblemFile> readProblems(const std::string &path,
                                  const ProblemFileOptions &options = {});

/// "23 problems (53 with repetitions)", and a line for each of the first
/// reasons why something was passed over.
std::string getSummary(const ProblemFile &file);

} // namespace tessera

#endif // TESSERA_TOOLS_PROBLEMS_PROBLEMFILE_H

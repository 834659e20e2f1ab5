//===- DriverCommand.h - MIOpenDriver's command line -----------*- C++ -*-===//
//
// Every MIOpen bug report quotes a MIOpenDriver line and MIOpen's logs print
// it; such a line is also our way to name a problem on a command line. The
// flags are data, so the parser, dnn-driver and its help text agree. What
// MIOpenDriver cannot express has flags of our own, so that every problem has a
// line.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_DRIVERCOMMAND_DRIVERCOMMAND_H
#define TESSERA_RUNTIME_DRIVERCOMMAND_DRIVERCOMMAND_H

#include "runtime/Base/Problem.h"

#include <span>
#include <string>
#include <vector>

namespace tessera {

class FlagValues; // DriverFlags.h

/// One flag of an operation. Every flag takes one value.
struct DriverFlag {
  char shortName; ///< 0 if it has none, as our own flags.
  std::string_view longName;
  std::string_view defaultValue;
  std::string_view help;
};

/// Bits of --forw. "pool" and "activ" have the first two.
enum DriverDirections : int {
  kDriverForward = 1,
  kDriverBackwardData = 2,
  kDriverBackwardWeights = 4,
};

/// A command line after parsing.
struct DriverOptions {
  /// What to run, in this order: one canonical problem for each direction that
  /// --forw asks for, at least one.
  std::vector<Problem> problems;
  /// What row problems are launched with: those of all problems are the same.
  std::vector<double> scalars;
  /// The command asks for transposed convolutions. `problems` are the
  /// convolutions that they amount to: its forward is backward data.
  bool isTransposed = false;
  int iterations = 10;
  bool verify = true;
  bool time = false;
  bool wall = false;
  bool search = false;
  bool bias = false;
  bool printProblem = true;
  /// -1: Find; 0: the best immediate solution; else a solution's id.
  int solution = -1;
  /// Flags that were given but that no field above stands for: long name,
  /// value.
  std::vector<std::pair<std::string, std::string>> others;
};

/// An operation that a command may begin with: its word, with a type's behind
/// it.
struct DriverOperation {
  std::string_view word;
  std::span<const std::string_view> types;   ///< But f32, which has no word.
  std::span<const DriverFlag> (*getFlags)(); ///< In the order of the help text.
  ErrorOr<DriverOptions> (*toOptions)(FlagValues &flags, DataType type);
};

/// The table of all operations.
std::span<const DriverOperation> getDriverOperations();

/// What a command may begin with: "conv[fp16|bfp16|fp64|int8]".
std::string getSpelling(const DriverOperation &operation);

/// The operation of a command that begins with `word`, whatever type is behind
/// it ("conv", "softmaxfp16"), or null.
const DriverOperation *findDriverOperation(std::string_view word);

/// Reads the words of a command line, with or without a program name before
/// the operation, for which a network config may stand. InvalidArgument names
/// the first wrong word; NotSupported says which valid request this build does
/// not cover.
ErrorOr<DriverOptions> parseDriverOptions(std::span<const std::string> words);

/// Reads a MIOpenDriver command line ("convfp16 -n 64 -c 256 ...", with or
/// without a leading program name; short and long flags). Flags that do not
/// describe the problem (iterations, verification, timing) are ignored. Or a
/// network config.
ErrorOr<Problem> parseDriverCommand(std::string_view command);

/// The reverse: a line that dnn-driver and MIOpenDriver replay.
std::string toDriverCommand(const Problem &problem);

} // namespace tessera

#endif // TESSERA_RUNTIME_DRIVERCOMMAND_DRIVERCOMMAND_H

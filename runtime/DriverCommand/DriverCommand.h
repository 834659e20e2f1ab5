//===- DriverCommand.h - MIOpenDriver's command line -----------*- C++ -*--===//
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

class FlagReader; // DriverFlags.h

/// One flag of an operation. Every flag takes one value.
struct DriverFlag {
  char shortName; ///< 0 if it has none, like our own flags.
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
  /// The problems to run, in this order: one canonical problem for each
  /// direction that --forw asks for, at least one.
  std::vector<Problem> problems;
  /// The scalars of row problems; all problems of the command have the same.
  std::vector<double> scalars;
  /// Whether the command asks for transposed convolutions. `problems` are then
  /// the equivalent convolutions: forward becomes backward data.
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
  /// Flags that were given but have no field here: long name, value.
  std::vector<std::pair<std::string, std::string>> others;
};

/// An operation that a command may begin with: a word, to which a type's word
/// may be appended.
struct DriverOperation {
  std::string_view word;
  /// Without f32, which has no word.
  std::span<const std::string_view> types;
  std::span<const DriverFlag> (*getFlags)(); ///< In the order of the help text.
  ErrorOr<DriverOptions> (*toOptions)(FlagReader &flags, DataType type);
};

/// The table of all operations.
std::span<const DriverOperation> getDriverOperations();

/// Prints the words of an operation for messages: "conv[fp16|bfp16|fp64|int8]".
std::string getSpelling(const DriverOperation &operation);

/// The operation of a command that begins with `word`, with any type's word
/// appended ("conv", "softmaxfp16"), or null.
const DriverOperation *findDriverOperation(std::string_view word);

/// Parses the words of a command line. A program name may come before the
/// operation, and a network config may stand for it. InvalidArgument names the
/// first wrong word; NotSupported says which valid request this build does not
/// cover.
ErrorOr<DriverOptions> parseDriverOptions(std::span<const std::string> words);

/// Parses a MIOpenDriver command line ("convfp16 -n 64 -c 256 ...", with or
/// without a leading program name; short and long flags) or a network config.
/// Flags that do not describe the problem (iterations, verification, timing)
/// are ignored.
ErrorOr<Problem> parseDriverCommand(std::string_view command);

/// The inverse of parseDriverCommand(): a line that dnn-driver and MIOpenDriver
/// replay.
std::string toDriverCommand(const Problem &problem);

} // namespace tessera

#endif // TESSERA_RUNTIME_DRIVERCOMMAND_DRIVERCOMMAND_H

//===- DriverCommand.h - MIOpenDriver's command line -----------*- C++ -*-===//
//
// The line that every MIOpen bug report quotes and that MIOpen's logs print is
// also our way to name a problem on a command line. The flags are data, so the
// parser, dnn-driver and its help text agree. What MIOpenDriver cannot say has
// flags of our own, so that every problem has a line.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_DRIVERCOMMAND_H
#define TESSERA_RUNTIME_BASE_DRIVERCOMMAND_H

#include "runtime/Base/Problem.h"

#include <span>
#include <string>
#include <vector>

namespace tessera {

/// One flag of an operation. Every flag takes one value.
struct DriverFlag {
  char shortName; ///< 0 if it has none, as our own flags.
  std::string_view longName;
  std::string_view defaultValue;
  std::string_view help;
};

/// Every flag of an operation, in the order of the help text.
std::span<const DriverFlag> getConvDriverFlags();
std::span<const DriverFlag> getPoolDriverFlags();
std::span<const DriverFlag> getActivationDriverFlags();
std::span<const DriverFlag> getTensorOpDriverFlags();
std::span<const DriverFlag> getSoftmaxDriverFlags();
std::span<const DriverFlag> getReduceDriverFlags();
std::span<const DriverFlag> getBatchNormDriverFlags();
std::span<const DriverFlag> getLayerNormDriverFlags();
std::span<const DriverFlag> getFusedDriverFlags();

/// Bits of --forw. "pool" and "activ" have the first two.
enum DriverDirections : int {
  kDriverForward = 1,
  kDriverBackwardData = 2,
  kDriverBackwardWeights = 4,
};

/// A command line, understood.
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
  bool help = false;
  /// Flags that were given but that no field above stands for: long name,
  /// value.
  std::vector<std::pair<std::string, std::string>> others;
};

/// Whether a command may begin with `word`, but for the type behind it: "conv",
/// "softmaxfp16".
bool isDriverOperation(std::string_view word);

/// Reads the words of a command line, with or without a program name before
/// the operation, for which a network config may stand. InvalidArgument names
/// the first wrong word; NotSupported says which valid request this build does
/// not cover.
ErrorOr<DriverOptions> parseDriverOptions(std::span<const std::string> words);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_DRIVERCOMMAND_H

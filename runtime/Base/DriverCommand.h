//===- DriverCommand.h - MIOpenDriver's command line -----------*- C++ -*-===//
//
// The line that every MIOpen bug report quotes and that MIOpen's logs print is
// also our way to name a problem on a command line. The flags are data, so the
// parser, dnn-driver and its help text agree.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_DRIVERCOMMAND_H
#define TESSERA_RUNTIME_BASE_DRIVERCOMMAND_H

#include "runtime/Base/Problem.h"

#include <span>
#include <string>
#include <vector>

namespace tessera {

/// One flag of "MIOpenDriver conv". Every flag takes one value.
struct DriverFlag {
  char shortName;
  std::string_view longName;
  std::string_view defaultValue;
  std::string_view help;
};

/// Every flag, in the order of the help text.
std::span<const DriverFlag> getDriverFlags();

/// Bits of --forw.
enum DriverDirections : int {
  kDriverForward = 1,
  kDriverBackwardData = 2,
  kDriverBackwardWeights = 4,
};

/// A command line, understood.
struct DriverOptions {
  /// Its direction is the first of forward, backward data, backward weights
  /// that `forw` asks for.
  ConvProblem problem;
  /// Or of DriverDirections, as given; 0 means all three.
  int forw = 0;
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

/// Reads the words of a command line, with or without a program name before
/// the operation. InvalidArgument names the first wrong word; NotSupported
/// says which valid request this build does not cover.
ErrorOr<DriverOptions> parseDriverOptions(std::span<const std::string> words);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_DRIVERCOMMAND_H

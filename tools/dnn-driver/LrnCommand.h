//===- LrnCommand.h - "dnn-driver lrn" -------------------------*- C++ -*--===//
//
// A local response normalisation has several launches and therefore is no
// problem: only the driver reads its command line.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_DNN_DRIVER_LRNCOMMAND_H
#define TESSERA_TOOLS_DNN_DRIVER_LRNCOMMAND_H

#include "runtime/DriverCommand/DriverCommand.h"

#include <miopen/lrn.h>

#include <array>

namespace tessera::driver {

/// A command line after parsing.
struct LrnCommand {
  DataType type = DataType::F32;
  std::array<int64_t, 4> lengths{}; ///< N, C, H, W; packed.
  miopenLRNMode_t mode = miopenLRNWithinChannel;
  int64_t window = 0;
  double alpha = 0, beta = 0, k = 0;
  bool isForwardOnly = false;
  /// How the command is run; it has no problems.
  DriverOptions options;

  bool isWithinChannel() const { return mode == miopenLRNWithinChannel; }
  int64_t countElements() const {
    return lengths[0] * lengths[1] * lengths[2] * lengths[3];
  }
};

/// Whether the words, after an optional program name, are "lrn", "lrnfp16" or
/// "lrnbfp16" and flags.
bool isLrnCommand(std::span<const std::string> words);

/// Parses such words. InvalidArgument names the first wrong one.
ErrorOr<LrnCommand> parseLrnCommand(std::span<const std::string> words);

} // namespace tessera::driver

#endif // TESSERA_TOOLS_DNN_DRIVER_LRNCOMMAND_H

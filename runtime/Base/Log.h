//===- Log.h - Tell the user what happened ---------------------*- C++ -*--===//
//
// Lines on stderr that look like MIOpen's and obey the variables that its
// users know, because their scripts search for them. The settings are read
// once, at the first question.
//
//   MIOPEN_LOG_LEVEL                    0 default (warnings), 1 quiet ... 7
//   MIOPEN_ENABLE_LOGGING               every call of the C API
//   MIOPEN_ENABLE_LOGGING_CMD           a driver line for every problem run
//   MIOPEN_ENABLE_LOGGING_MPMT          thread id before each line
//   MIOPEN_ENABLE_LOGGING_ELAPSED_TIME  milliseconds since the previous line
//
// Every function may be called from several threads at once.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_LOG_H
#define TESSERA_RUNTIME_BASE_LOG_H

#include "runtime/Base/Problem.h"

#include <string_view>

namespace tessera {

/// A message is shown if MIOPEN_LOG_LEVEL is at least its level.
enum class LogLevel {
  Fatal = 2,
  Error = 3,
  Warning = 4,
  Info = 5,
  Info2 = 6,
  Trace = 7,
};

/// Cheap, so that callers ask before they build a long message.
bool isLogged(LogLevel level);

/// Writes "MIOpen(HIP): Warning text" if the level is shown.
void logMessage(LogLevel level, std::string_view text);

/// Whether MIOPEN_ENABLE_LOGGING asks for every call of the C API.
bool areCallsLogged();

/// Writes "MIOpen(HIP): text"; callers ask areCallsLogged() first.
void logCall(std::string_view text);

/// Whether MIOPEN_ENABLE_LOGGING_CMD asks for the command of every problem
/// (runtime/DriverCommand/LogCommand.h).
bool areCommandsLogged();

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_LOG_H

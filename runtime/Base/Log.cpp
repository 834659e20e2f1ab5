//===- Log.cpp - Tell the user what happened ------------------------------===//
//
// The only file that sees spdlog: its headers take seconds to compile.
//
//===----------------------------------------------------------------------===//

#include "runtime/Base/Log.h"

#include "runtime/Base/Env.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

using namespace tessera;

namespace {
struct Logger {
  int level;
  bool calls;
  bool commands;
  spdlog::logger lines;
};
} // namespace

/// MIOPEN_LOG_LEVEL 0 means what a release build of MIOpen shows.
static int readLevel() {
  int64_t level = getEnvInt("MIOPEN_LOG_LEVEL").value_or(0);
  return static_cast<int>(level == 0 ? static_cast<int64_t>(LogLevel::Warning)
                                     : level);
}

static std::string readPattern() {
  std::string pattern;
  if (getEnvBool("MIOPEN_ENABLE_LOGGING_MPMT").value_or(false))
    pattern += "%t ";
  pattern += "MIOpen(HIP)";
  if (getEnvBool("MIOPEN_ENABLE_LOGGING_ELAPSED_TIME").value_or(false))
    pattern += "%8i";
  return pattern + ": %v";
}

/// Never destroyed: other static objects may log when the process ends.
static Logger &getLogger() {
  static Logger &logger = *[] {
    auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    auto *made = new Logger{
        readLevel(), getEnvBool("MIOPEN_ENABLE_LOGGING").value_or(false),
        getEnvBool("MIOPEN_ENABLE_LOGGING_CMD").value_or(false),
        spdlog::logger("tessera", std::move(sink))};
    made->lines.set_pattern(readPattern());
    made->lines.set_level(spdlog::level::info);
    made->lines.flush_on(spdlog::level::info);
    return made;
  }();
  return logger;
}

static void writeLine(std::string_view head, std::string_view text) {
  getLogger().lines.info("{}{}", head, text);
}

static std::string_view getHead(LogLevel level) {
  switch (level) {
  case LogLevel::Fatal:
    return "Fatal ";
  case LogLevel::Error:
    return "Error ";
  case LogLevel::Warning:
    return "Warning ";
  case LogLevel::Info:
    return "Info ";
  case LogLevel::Info2:
    return "Info2 ";
  case LogLevel::Trace:
    return "Trace ";
  }
  __builtin_unreachable();
}

bool tessera::isLogged(LogLevel level) {
  return static_cast<int>(level) <= getLogger().level;
}

void tessera::logMessage(LogLevel level, std::string_view text) {
  if (isLogged(level))
    writeLine(getHead(level), text);
}

bool tessera::areCallsLogged() { return getLogger().calls; }

void tessera::logCall(std::string_view text) { writeLine("", text); }

void tessera::logCommand(const Problem &problem) {
  if (getLogger().commands)
    writeLine("Command [LogCmdConvolution] ./bin/MIOpenDriver ",
              toDriverCommand(problem));
}

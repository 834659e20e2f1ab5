//===- Log.cpp - Tell the user what happened ------------------------------===//
//
// This is the only file that includes spdlog: its headers take seconds to
// compile.
//
//===----------------------------------------------------------------------===//

#include "runtime/Base/Log.h"

#include "runtime/Base/Env.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <vector>

using namespace tessera;

namespace {
struct Logger {
  int level;
  bool calls;
  bool commands;
  spdlog::logger lines;
};
} // namespace

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

/// Complaints about the log's own variables wait here until there is a log to
/// write them to: a log that asked for itself while it is constructed would
/// wait for ever. Only the thread that constructs the log uses this.
static std::vector<std::string> &getOwnComplaints() {
  static auto &complaints = *new std::vector<std::string>;
  return complaints;
}

static void keepComplaint(const std::string &sentence) {
  getOwnComplaints().push_back(sentence);
}

static bool readSwitch(const char *name) {
  return getEnvBool(name, keepComplaint).value_or(false);
}

/// MIOPEN_LOG_LEVEL 0 means what a release build of MIOpen shows.
static int readLevel() {
  const int64_t level =
      getEnvInt("MIOPEN_LOG_LEVEL", 0, static_cast<int64_t>(LogLevel::Trace),
                keepComplaint)
          .value_or(0);
  return static_cast<int>(level == 0 ? static_cast<int64_t>(LogLevel::Warning)
                                     : level);
}

static std::string readPattern() {
  std::string pattern;
  if (readSwitch("MIOPEN_ENABLE_LOGGING_MPMT"))
    pattern += "%t ";
  pattern += "MIOpen(HIP)";
  if (readSwitch("MIOPEN_ENABLE_LOGGING_ELAPSED_TIME"))
    pattern += "%8i";
  return pattern + ": %v";
}

static Logger *makeLogger() {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  auto *logger = new Logger{readLevel(), readSwitch("MIOPEN_ENABLE_LOGGING"),
                            readSwitch("MIOPEN_ENABLE_LOGGING_CMD"),
                            spdlog::logger("tessera", std::move(sink))};
  logger->lines.set_pattern(readPattern());
  logger->lines.set_level(spdlog::level::info);
  logger->lines.flush_on(spdlog::level::info);
  if (logger->level >= static_cast<int>(LogLevel::Warning))
    for (const std::string &complaint : getOwnComplaints())
      logger->lines.info("{}{}", getHead(LogLevel::Warning), complaint);
  return logger;
}

/// The logger is never destroyed: other static objects may log when the process
/// ends.
static Logger &getLogger() {
  static Logger &logger = *makeLogger();
  return logger;
}

static void writeLine(std::string_view head, std::string_view text) {
  getLogger().lines.info("{}{}", head, text);
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

bool tessera::areCommandsLogged() { return getLogger().commands; }

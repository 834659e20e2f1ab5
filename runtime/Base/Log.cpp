//===- Log.cpp - Tell the user what happened ------------------------------===//
//
// The only file that sees spdlog: its headers take seconds to compile.
//
//===----------------------------------------------------------------------===//

#include "runtime/Base/Log.h"

#include "runtime/Base/Env.h"
#include "runtime/Base/RowOp.h"

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

/// What is wrong with the log's own variables waits here until there is a log
/// to write it to: one that asked itself while it is made would wait for ever.
/// Used by the one thread that makes the log.
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

/// Never destroyed: other static objects may log when the process ends.
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

/// Forward, the normalisations of layers and groups and T5's are one operation,
/// which has the first one's name. MIOpen logs no gated linear units: that name
/// is ours.
static std::string_view getLogName(RowOp op) {
  switch (op) {
  case RowOp::ActivationForward:
  case RowOp::ActivationBackward:
    return "LogCmdActivation";
  case RowOp::OpTensor:
  case RowOp::SetTensor:
  case RowOp::ScaleTensor:
  case RowOp::TransformTensor:
    return "LogCmdTensorOp";
  case RowOp::Dropout:
  case RowOp::DropoutMask:
  case RowOp::DropoutAdvance:
    return "LogCmdDropout";
  case RowOp::GluForward:
  case RowOp::GluBackward:
    return "LogCmdGLU";
  case RowOp::PReluBackward:
    return "LogCmdPReLU";
  case RowOp::Rope:
    return "LogCmdRoPE";
  case RowOp::SoftmaxForward:
  case RowOp::SoftmaxBackward:
    return "LogCmdSoftmax";
  case RowOp::Reduce:
    return "LogCmdRedux";
  case RowOp::BatchNormInference:
  case RowOp::BatchNormTraining:
  case RowOp::BatchNormBackward:
    return "LogCmdBNorm";
  case RowOp::LrnSum:
  case RowOp::LrnForward:
  case RowOp::LrnBackwardSum:
  case RowOp::LrnBackward:
    return "LogCmdLRN";
  case RowOp::NormForward:
    return "LogCmdLayerNorm";
  case RowOp::T5Backward:
  case RowOp::T5BackwardWeight:
    return "LogCmdT5LayerNorm";
  }
  __builtin_unreachable();
}

/// Alpha and beta are of any convolution; the rest only a fusion has.
static bool isFused(const Epilogue &epilogue) {
  return epilogue.bias || epilogue.residual ||
         epilogue.activation != Activation::None;
}

/// What stands in brackets: MIOpen names the function of its own that logs.
/// Those of 3.3 (ROCm/MIOpen, src/*_api.cpp, src/fusion.cpp).
static std::string_view getLogName(const Problem &problem) {
  if (problem.getPool())
    return "Pooling_logging_cmd";
  if (const RowProblem *rows = problem.getRows())
    return getLogName(rows->op);
  return isFused(problem.getConv()->epilogue) ? "LogCmdFusion"
                                              : "LogCmdConvolution";
}

void tessera::logCommand(const Problem &problem) {
  if (!getLogger().commands)
    return;
  std::string head = "Command [";
  head += getLogName(problem);
  writeLine(head + "] ./bin/MIOpenDriver ", toDriverCommand(problem));
}

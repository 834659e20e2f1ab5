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

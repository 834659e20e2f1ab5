//===- LogTest.cpp - What reaches stderr at which level -------------------===//
//
// The settings are read once in a process, so each case logs in a child: the
// parent never uses the logger.
//
//===----------------------------------------------------------------------===//

#include "runtime/Base/Log.h"
#include "runtime/Base/RowWiseKind.h"
#include "runtime/DriverCommand/DriverCommand.h"
#include "runtime/DriverCommand/LogCommand.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace tessera;

/// Logs one message of each level and leaves.
[[noreturn]] static void logAllLevels(const char *level) {
  setenv("MIOPEN_LOG_LEVEL", level, 1);
  logMessage(LogLevel::Error, "first");
  logMessage(LogLevel::Warning, "second");
  logMessage(LogLevel::Info, "third");
  logMessage(LogLevel::Trace, "fourth");
  std::exit(0);
}

static const testing::ExitedWithCode kExitsWell(0);

// Without a level, and with level 0, warnings and worse are shown.
TEST(LogDeathTest, ShowsWarningsByDefault) {
  const char *expected = "^MIOpen\\(HIP\\): Error first\n"
                         "MIOpen\\(HIP\\): Warning second\n$";
  EXPECT_EXIT(logAllLevels("0"), kExitsWell, expected);
}

// An invalid level is reported once, by the log itself, and counts as not set.
// So do its switches.
TEST(LogDeathTest, TellsOfItsOwnVariables) {
  const std::string shown = "MIOpen\\(HIP\\): Error first\n"
                            "MIOpen\\(HIP\\): Warning second\n$";
  for (const char *level : {"banana", "-1", "8"})
    EXPECT_EXIT(logAllLevels(level), kExitsWell,
                "^MIOpen\\(HIP\\): Warning MIOPEN_LOG_LEVEL is '" +
                    std::string(level) +
                    "', but must be a whole number from 0 to 7; it counts as "
                    "not set\n" +
                    shown);
  EXPECT_EXIT(
      {
        for (const char *name :
             {"MIOPEN_ENABLE_LOGGING", "MIOPEN_ENABLE_LOGGING_CMD",
              "MIOPEN_ENABLE_LOGGING_MPMT",
              "MIOPEN_ENABLE_LOGGING_ELAPSED_TIME"})
          setenv(name, "maybe", 1);
        logAllLevels("0");
      },
      kExitsWell,
      "^[^\n]*MIOPEN_ENABLE_LOGGING is 'maybe'[^\n]*\n"
      "[^\n]*MIOPEN_ENABLE_LOGGING_CMD is 'maybe'[^\n]*\n"
      "[^\n]*MIOPEN_ENABLE_LOGGING_MPMT is 'maybe'[^\n]*\n"
      "[^\n]*MIOPEN_ENABLE_LOGGING_ELAPSED_TIME is 'maybe'[^\n]*\n" +
          shown);
  // A user who wants quiet gets no report.
  EXPECT_EXIT(
      {
        setenv("MIOPEN_ENABLE_LOGGING", "maybe", 1);
        logAllLevels("1");
      },
      kExitsWell, "^$");
}

// Level 1 shows nothing at all.
TEST(LogDeathTest, CanBeQuiet) {
  EXPECT_EXIT(logAllLevels("1"), kExitsWell, "^$");
}

// Each level shows itself and what is worse.
TEST(LogDeathTest, ObeysTheLevel) {
  EXPECT_EXIT(logAllLevels("3"), kExitsWell, "^[^\n]*Error first\n$");
  EXPECT_EXIT(logAllLevels("5"), kExitsWell, "Info third\n$");
  EXPECT_EXIT(logAllLevels("7"), kExitsWell, "Trace fourth\n$");
}

// Braces in a message are text, not a format.
TEST(LogDeathTest, PrintsBraces) {
  EXPECT_EXIT(
      {
        logMessage(LogLevel::Error, "{} {0} {oops");
        std::exit(0);
      },
      kExitsWell, "Error \\{\\} \\{0\\} \\{oops\n$");
}

// MIOPEN_ENABLE_LOGGING_CMD prints the line that users put into bug reports.
TEST(LogDeathTest, PrintsDriverLines) {
  EXPECT_EXIT(
      {
        setenv("MIOPEN_ENABLE_LOGGING_CMD", "on", 1);
        logCommand(Problem());
        std::exit(0);
      },
      kExitsWell,
      "^MIOpen\\(HIP\\): Command \\[LogCmdConvolution\\] ./bin/MIOpenDriver "
      "conv -n 1 -c 1 ");
  EXPECT_EXIT(
      {
        logCommand(Problem());
        std::exit(0);
      },
      kExitsWell, "^$");
}

/// Logs the problem's line, which must begin with `begin`, and exits.
static void expectLine(const Problem &problem, const std::string &begin) {
  EXPECT_EXIT(
      {
        setenv("MIOPEN_ENABLE_LOGGING_CMD", "on", 1);
        logCommand(problem);
        std::exit(0);
      },
      kExitsWell, "^MIOpen\\(HIP\\): Command \\[" + begin);
}

/// A problem of the operation; its other fields do not matter here.
static Problem makeRows(RowWiseKind op) {
  RowWiseProblem problem;
  problem.op = op;
  return problem;
}

// A driver line names its operation in MIOpen's words.
TEST(LogDeathTest, NamesTheOperation) {
  for (auto [command, begin] :
       {std::pair{"pool", "Pooling_logging_cmd\\] ./bin/MIOpenDriver pool "},
        {"activ -F 1", "LogCmdActivation\\] ./bin/MIOpenDriver activ "},
        {"tensorop -o 2", "LogCmdTensorOp\\] ./bin/MIOpenDriver tensorop "},
        {"softmax -F 1", "LogCmdSoftmax\\] ./bin/MIOpenDriver softmax "},
        {"reduce", "LogCmdRedux\\] ./bin/MIOpenDriver reduce "},
        {"bnorm", "LogCmdBNorm\\] ./bin/MIOpenDriver bnorm "},
        {"layernorm", "LogCmdLayerNorm\\] ./bin/MIOpenDriver layernorm "},
        {"CBAInfer -F 4", "LogCmdFusion\\] ./bin/MIOpenDriver "},
        {"conv -F 1 --epilogue alpha",
         "LogCmdConvolution\\] ./bin/MIOpenDriver conv "}}) {
    const ErrorOr<Problem> problem = parseDriverCommand(command);
    ASSERT_TRUE(problem) << problem.getStatus().getMessage();
    expectLine(*problem, begin);
  }
  for (auto [op, name] : {std::pair{RowWiseKind::LrnBackwardSum, "LogCmdLRN"},
                          {RowWiseKind::DropoutMask, "LogCmdDropout"},
                          {RowWiseKind::GluForward, "LogCmdGLU"},
                          {RowWiseKind::PReluBackward, "LogCmdPReLU"},
                          {RowWiseKind::Rope, "LogCmdRoPE"},
                          {RowWiseKind::NormBackward, "LogCmdLayerNorm"},
                          {RowWiseKind::T5Backward, "LogCmdT5LayerNorm"}})
    expectLine(makeRows(op),
               std::string(name) + "\\] ./bin/MIOpenDriver rowwise-");
}

// Calls are logged only on request.
TEST(LogDeathTest, AsksBeforeLoggingCalls) {
  EXPECT_EXIT(std::exit(areCallsLogged() ? 1 : 0), kExitsWell, "");
  EXPECT_EXIT(
      {
        setenv("MIOPEN_ENABLE_LOGGING", "1", 1);
        if (areCallsLogged())
          logCall("miopenCreate()");
        std::exit(0);
      },
      kExitsWell, "^MIOpen\\(HIP\\): miopenCreate\\(\\)\n$");
}

// The prefix has the thread and the time on request.
TEST(LogDeathTest, PrefixesThreadAndTime) {
  EXPECT_EXIT(
      {
        setenv("MIOPEN_ENABLE_LOGGING_MPMT", "1", 1);
        setenv("MIOPEN_ENABLE_LOGGING_ELAPSED_TIME", "1", 1);
        logMessage(LogLevel::Error, "late");
        std::exit(0);
      },
      kExitsWell, "^[0-9]+ MIOpen\\(HIP\\) +[0-9]+: Error late\n$");
}

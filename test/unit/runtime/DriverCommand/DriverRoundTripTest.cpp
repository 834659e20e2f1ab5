//===- DriverRoundTripTest.cpp - Flags, problems, and flags again ---------===//

#include "runtime/DriverCommand/DriverCommand.h"

#include "test/unit/Support/RandomProblem.h"

#include <gtest/gtest.h>

using namespace tessera;

/// Expects that the problem's line stands for it, and is written again.
static void expectRoundTrip(const Problem &problem) {
  const std::string line = toDriverCommand(problem);
  const ErrorOr<Problem> read = parseDriverCommand(line);
  ASSERT_TRUE(read) << line << ": " << read.getStatus().getMessage();
  EXPECT_EQ(*read, problem) << line;
  EXPECT_EQ(toDriverCommand(*read), line);
}

// A convolution's or a pooling's line is parsed back to the same problem.
TEST(DriverRoundTrip, OfProblems) {
  test::RandomProblem random;
  SCOPED_TRACE(testing::Message() << "TESSERA_TEST_SEED=" << random.getSeed());
  for (int i = 0; i < 4000 && !testing::Test::HasFailure(); ++i)
    expectRoundTrip(i % 2 ? Problem(random.nextOfAll())
                          : Problem(random.nextPool()));
}

namespace {
/// A flag, and values that are likely to be valid with any of the others.
struct Choice {
  std::string_view flag;
  std::vector<std::string_view> values;
};

/// A command, and flags that each line has.
struct Command {
  std::string_view word;
  std::vector<Choice> choices;
};
} // namespace

static const std::vector<Command> &getCommands() {
  static const Choice kBatch = {"-n", {"1", "2", "5"}},
                      kChannels = {"-c", {"1", "4", "6"}},
                      kHeight = {"-H", {"1", "7", "8"}},
                      kWidth = {"-W", {"1", "9", "12"}};
  static const std::vector<Command> commands = {
      {"conv",
       {kBatch,
        {"-c", {"4", "8"}},
        {"-H", {"7", "8"}},
        {"-W", {"9", "12"}},
        {"-k", {"2", "6"}},
        {"-g", {"0", "1", "2"}},
        {"-y", {"1", "3"}},
        {"-x", {"2", "5"}},
        {"-p", {"0", "2"}},
        {"-q", {"0", "1"}},
        {"--pad_after_h", {"0", "1", "2"}},
        {"-u", {"1", "2"}},
        {"-l", {"1", "2"}},
        {"-z", {"default", "same", "valid"}},
        {"-m", {"conv", "trans"}},
        {"-_", {"2", "3"}},
        {"-I", {"NCHW", "NHWC"}},
        {"-O", {"NCHW", "NHWC"}},
        {"-F", {"0", "1", "2", "4", "7"}}}},
      {"pool",
       {{"-W", {"2x3x8x9", "2x3x8x9,NHWC", "1x2x5x9x8", "2x3x8x9,512x1x40x4"}},
        {"-y", {"2", "3"}},
        {"-v", {"1", "2"}},
        {"-p", {"0", "1"}},
        {"--pad_after_w", {"0", "1"}},
        {"-m", {"max", "avg", "avg_in", "max_nan"}},
        {"-M", {"0", "1"}},
        {"-I", {"miopenIndexUint16", "miopenIndexUint32"}},
        {"--save_indices", {"0", "1"}},
        {"-F", {"0", "1", "2"}}}},
      {"CBAInfer",
       {kBatch,
        kHeight,
        kWidth,
        {"-p", {"1", "2"}},
        {"-q", {"1", "2"}},
        {"-m", {"0", "1", "3", "7", "9"}},
        {"-F", {"4", "5", "6"}}}},
      {"activ",
       {kBatch,
        kChannels,
        kHeight,
        kWidth,
        {"-m", {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}},
        {"-F", {"0", "1", "2"}}}},
      {"tensorop",
       {kBatch,
        kChannels,
        kHeight,
        kWidth,
        {"-G", {"0", "0.5"}},
        {"-o", {"0", "1", "2", "3", "4", "5"}}}},
      {"softmax",
       {kBatch,
        kChannels,
        kHeight,
        kWidth,
        {"-B", {"0", "0.5"}},
        {"-a", {"0", "1", "2"}},
        {"-m", {"0", "1"}},
        {"-F", {"0", "1", "2"}}}},
      {"reduce",
       {{"-D", {"3,4,5,6", "2,3,4,1,5", "7,8,9,2"}},
        {"-R", {"0", "1,2", "0,3", "0,1,2,3"}},
        {"-O", {"0", "1", "2", "3", "4", "5", "6", "7"}},
        {"-N", {"0", "1"}},
        {"-I", {"0", "1"}},
        {"-B", {"0", "0.5"}}}},
      {"bnorm",
       {kBatch,
        kChannels,
        kHeight,
        kWidth,
        {"-D", {"0", "3"}},
        {"-L", {"NCHW", "NHWC"}},
        {"-m", {"0", "1"}},
        {"-F", {"0", "1", "2"}},
        {"-b", {"0", "1"}},
        {"-s", {"0", "1"}},
        {"-r", {"0", "1"}}}},
      {"layernorm",
       {{"-X", {"6x20", "4x3x8x8", "2x3x4x5x6"}},
        {"-o", {"0", "1"}},
        {"-m", {"0", "1"}}}},
  };
  return commands;
}

// Whatever the flags of an operation stand for has a line, which is parsed back
// to the same problem, and is that of this one, too. lrn alone is missing, which
// is no problem.
TEST(DriverRoundTrip, OfFlags) {
  EXPECT_EQ(getCommands().size() + 1, getDriverOperations().size());
  test::RandomProblem random;
  SCOPED_TRACE(testing::Message() << "TESSERA_TEST_SEED=" << random.getSeed());
  auto pickOf = [&](const auto &list) {
    return list[random.pick(0, static_cast<int64_t>(list.size()) - 1)];
  };
  for (const auto &[word, choices] : getCommands()) {
    int lines = 0;
    for (int i = 0; i < 1000 && !testing::Test::HasFailure(); ++i) {
      std::vector<std::string> words = {std::string(word) +
                                        (random.pick(0, 1) ? "fp16" : "")};
      for (const auto &[flag, values] : choices)
        if (random.pick(0, 3) != 0 || flag == "-F") {
          words.emplace_back(flag);
          words.emplace_back(pickOf(values));
        }
      const ErrorOr<DriverOptions> options = parseDriverOptions(words);
      if (!options) // Two flags do not fit together.
        continue;
      for (const Problem &problem : options->problems) {
        expectRoundTrip(problem);
        lines += !toDriverCommand(problem).starts_with("rowwise-");
      }
    }
    EXPECT_GT(lines, 300) << word;
  }
}

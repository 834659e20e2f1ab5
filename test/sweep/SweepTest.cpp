//===- SweepTest.cpp - The sweep's command line and state file ------------===//

#include "test/sweep/SweepState.h"
#include "test/unit/Support/TemporaryDirectory.h"

#include <gtest/gtest.h>

#include <fstream>

using namespace tessera;
using namespace tessera::sweep;

// Every flag sets its field.
TEST(SweepOptions, EveryFlag) {
  auto options = parseSweepOptions({"--seed", "7", "--from", "20", "--count",
                                    "5", "--state", "s", "--direction", "wrw",
                                    "--allow-refusals", "--run-below", "3e7"});
  ASSERT_TRUE(options) << options.getStatus().getMessage();
  EXPECT_EQ(options->seed, 7u);
  EXPECT_EQ(options->from, 20);
  EXPECT_EQ(options->count, 5);
  EXPECT_EQ(options->stateFile, "s");
  EXPECT_EQ(options->space.directions, std::vector{Direction::BackwardWeights});
  EXPECT_TRUE(options->allowRefusals);
  EXPECT_EQ(options->runBelow, 3e7);
}

// A list is swept to its end unless a number is given.
TEST(SweepOptions, CountOfAList) {
  EXPECT_GT(parseSweepOptions({"--list", "f"})->count, 1000000);
  EXPECT_EQ(parseSweepOptions({"--count", "5", "--list", "f"})->count, 5);
}

// The message names the word that is wrong.
TEST(SweepOptions, Refusals) {
  auto refusal = [](const std::vector<std::string> &words) {
    return parseSweepOptions(words).getStatus().getMessage();
  };
  EXPECT_EQ(refusal({"--seed", "x"}),
            "--seed takes a number of at least 0, not 'x'");
  EXPECT_EQ(refusal({"--count", "-1"}),
            "--count takes a number of at least 0, not '-1'");
  EXPECT_EQ(refusal({"--direction", "up"}),
            "--direction takes fwd, bwd or wrw, not 'up'");
  EXPECT_EQ(refusal({"--run-below", "-3"}),
            "--run-below takes a number such as 3e7, not '-3'");
  EXPECT_EQ(refusal({"--speed", "9"}), "unknown flag '--speed'; see --help");
  EXPECT_EQ(refusal({"--seed"}),
            "'--seed' is no flag, or lacks its value; see --help");
}

// A sweep continues where its state ends; without a state it begins.
TEST(SweepState, Resumes) {
  test::TemporaryDirectory directory;
  SweepOptions options;
  options.from = 10;
  options.stateFile = directory.get("state");
  EXPECT_EQ(loadState(options)->next, 10);
  ASSERT_TRUE(saveState(options, {.next = 17,
                                  .passed = 4,
                                  .compiled = 3,
                                  .failed = 1,
                                  .refused = 2,
                                  .tooLarge = 5})
                  .isOk());
  auto state = loadState(options);
  ASSERT_TRUE(state) << state.getStatus().getMessage();
  EXPECT_EQ(state->next, 17);
  EXPECT_EQ(state->passed, 4);
  EXPECT_EQ(state->compiled, 3);
  EXPECT_EQ(state->failed, 1);
  EXPECT_EQ(state->refused, 2);
  EXPECT_EQ(state->tooLarge, 5);
}

// A file that is the state of another sweep or no state at all is refused and
// not overwritten.
TEST(SweepState, RefusesWhatIsNotItsOwn) {
  test::TemporaryDirectory directory;
  SweepOptions options;
  options.stateFile = directory.get("state");
  ASSERT_TRUE(saveState(options, {}).isOk());
  options.seed = 2;
  EXPECT_EQ(loadState(options).getStatus().getMessage(),
            "'" + options.stateFile +
                "' is the state of a sweep with seed 1 from 0");
  options.seed = SweepOptions().seed;
  options.listFile = "some list.txt";
  ASSERT_TRUE(saveState(options, {}).isOk());
  options.listFile = "";
  EXPECT_EQ(loadState(options).getStatus().getMessage(),
            "'" + options.stateFile +
                "' is the state of a sweep of the list 'some list.txt' from 0");
  std::ofstream(options.stateFile) << "shopping list";
  EXPECT_EQ(loadState(options).getStatus().getMessage(),
            "'" + options.stateFile + "' is no state of a sweep");
}

//===- WatchTest.cpp - What ends a process, and what follows --------------===//
//
// Each child here is a function that tells its watcher what a tuning would
// tell, and then acts as a kernel may make it act. The child returns its
// observations as its exit status.
//
//===----------------------------------------------------------------------===//

#include "tools/dnn-tune/Watch.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <unistd.h>

using namespace tessera::tune_tool;
using namespace std::chrono_literals;

// The status of a child that ends is the answer, whatever it is; the child runs
// in a process of its own.
TEST(Watch, ReturnsWhatTheChildReturns) {
  const pid_t here = getpid();
  for (int answer : {0, 1, 2})
    EXPECT_EQ(watch([&](const Attempt &, const WatchLine &line) {
                return getpid() != here && line.isWatched() ? answer : 9;
              }),
              answer);
}

// A trial that does not end is killed, and the next child learns which tile it
// was, why, and what was already printed. A trial that ends in time has no
// effect, and neither has time between trials.
TEST(Watch, EndsATrialThatDoesNotEnd) {
  const auto begin = std::chrono::steady_clock::now();
  const int answer = watch([](const Attempt &attempt, const WatchLine &line) {
    line.sayKept();
    if (attempt.condemned.empty()) {
      line.sayBegin("conv-a", "igemm-good", 100ms);
      line.sayEnd();
      usleep(300'000);
      line.sayPrinted();
      line.sayBegin("conv-b", "igemm-bad", 100ms);
      pause();
    }
    const bool isRight = attempt.condemned.size() == 1 &&
                         attempt.condemned.at("conv-b").size() == 1 &&
                         attempt.condemned.at("conv-b").at("igemm-bad") ==
                             "it did not end within 0.1 s";
    return isRight && attempt.printed == 1 ? 0 : 1;
  });
  EXPECT_EQ(answer, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

// A child that dies of a trial is followed by another, and so is one that has
// lost its device. That does not condemn the tile, since the database counts
// such ends.
TEST(Watch, GoesOnBehindADeath) {
  const int answer = watch([](const Attempt &attempt, const WatchLine &line) {
    line.sayKept();
    line.sayPrinted();
    line.sayBegin("conv", "igemm", 10s);
    if (attempt.printed == 0)
      raise(SIGKILL);
    if (attempt.printed == 1)
      return kNeedsAnother;
    return attempt.condemned.empty() ? static_cast<int>(attempt.printed) : 9;
  });
  EXPECT_EQ(answer, 2);
}

// If nothing is stored, or nothing was tried, another child would meet the same
// end: none is started.
TEST(Watch, DoesNotRepeatWhatLeadsNowhere) {
  auto dieOnce = [](bool isKept, bool hasTried) {
    return watch([=](const Attempt &attempt, const WatchLine &line) {
      if (attempt.printed != 0)
        return 0;
      line.sayPrinted();
      if (isKept)
        line.sayKept();
      if (hasTried)
        line.sayBegin("conv", "igemm", 10s);
      raise(SIGKILL);
      return 9;
    });
  };
  EXPECT_EQ(dieOnce(true, true), 0);
  EXPECT_EQ(dieOnce(false, true), 2);
  EXPECT_EQ(dieOnce(true, false), 2);
}

// The child does not outlive its watcher.
TEST(Watch, TheChildDiesWithTheWatcher) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t watcher = fork();
  if (watcher == 0) {
    watch([&](const Attempt &, const WatchLine &) {
      const pid_t child = getpid();
      (void)!write(ends[1], &child, sizeof child);
      pause();
      return 0;
    });
    _exit(0);
  }
  close(ends[1]);
  pid_t child = 0;
  ASSERT_EQ(read(ends[0], &child, sizeof child), ssize_t(sizeof child));
  kill(watcher, SIGKILL);
  // The child holds the other end of the pipe until it ends.
  char more;
  EXPECT_EQ(read(ends[0], &more, 1), 0);
  close(ends[0]);
}

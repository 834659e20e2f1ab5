//===- SharedFolderTest.cpp - Several processes, one list -----------------===//
//
// Ranks are threads here, each with a folder object of its own: locks belong to
// open files, so threads exclude each other as processes do.
//
//===----------------------------------------------------------------------===//

#include "tools/dnn-tune/SharedFolder.h"

#include "runtime/Db/DatabaseFile.h"
#include "runtime/Db/PerfDatabase.h"
#include "test/unit/Support/TemporaryDirectory.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

using namespace tessera;
using namespace tessera::tune_tool;

static std::vector<Problem> makeProblems(int count) {
  std::vector<Problem> problems;
  for (int i = 1; i <= count; ++i) {
    ConvProblem problem;
    problem.batch = i;
    problems.push_back(problem);
  }
  return problems;
}

static Rank makeRank(int number) {
  return {"rank-" + std::to_string(number), number, number};
}

// Four ranks process every problem once, and all of them learn when all is
// done.
TEST(SharedFolder, EachProblemOnce) {
  test::TemporaryDirectory directory;
  const std::vector<Problem> problems = makeProblems(40);
  std::mutex mutex;
  std::map<std::string, int> times;
  std::vector<std::thread> ranks;
  for (int number = 0; number < 4; ++number)
    ranks.emplace_back([&, number] {
      auto folder = SharedFolder::open(directory.getPath(), makeRank(number));
      ASSERT_TRUE(folder) << folder.getStatus().getMessage();
      Status status =
          folder->takeProblems(problems, [&](const Problem &problem) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            const std::lock_guard lock(mutex);
            ++times[problem.toNetworkConfig()];
            return Status::ok();
          });
      EXPECT_TRUE(status.isOk()) << status.getMessage();
    });
  for (std::thread &rank : ranks)
    rank.join();
  EXPECT_EQ(times.size(), 40u);
  for (const auto &[problem, count] : times)
    EXPECT_EQ(count, 1) << problem;
}

// A rank that fails over a problem leaves it, and another takes it.
TEST(SharedFolder, OthersTakeWhatIsLeft) {
  test::TemporaryDirectory directory;
  const std::vector<Problem> problems = makeProblems(3);
  auto broken = SharedFolder::open(directory.getPath(), makeRank(0));
  int done = 0;
  Status status = broken->takeProblems(problems, [&](const Problem &) {
    return ++done == 2 ? unavailable("the device is gone") : Status::ok();
  });
  EXPECT_EQ(status.getMessage(), "the device is gone");
  auto whole = SharedFolder::open(directory.getPath(), makeRank(1));
  done = 0;
  EXPECT_TRUE(whole
                  ->takeProblems(problems,
                                 [&](const Problem &) {
                                   ++done;
                                   return Status::ok();
                                 })
                  .isOk());
  EXPECT_EQ(done, 2);
}

// One rank merges; the others learn that it is done. A longer list is merged
// again.
TEST(SharedFolder, MergesOnce) {
  test::TemporaryDirectory directory;
  auto run = [&](int number, int count) {
    auto folder = SharedFolder::open(directory.getPath(), makeRank(number));
    PerfDatabase tunings(
        std::make_shared<DatabaseFile>(folder->getOwnFolder() + "/kernels.db"));
    EXPECT_TRUE(folder
                    ->takeProblems(makeProblems(count),
                                   [&](const Problem &problem) {
                                     Tuning tuning;
                                     tuning.tile = "t";
                                     tuning.value = number + 1;
                                     tunings.store(
                                         {problem.toNetworkConfig(), "gfx", 1},
                                         tuning);
                                     return Status::ok();
                                   })
                    .isOk());
    const ErrorOr<bool> isMerger = folder->merge();
    EXPECT_TRUE(isMerger) << isMerger.getStatus().getMessage();
    return isMerger && *isMerger;
  };
  EXPECT_TRUE(run(0, 2));
  EXPECT_FALSE(run(1, 2));
  EXPECT_TRUE(run(1, 4));
  PerfDatabase merged(
      std::make_shared<DatabaseFile>(directory.get("kernels.db")));
  const std::vector<Problem> problems = makeProblems(4);
  for (size_t i = 0; i < 4; ++i) {
    const auto rows = merged.find({problems[i].toNetworkConfig(), "gfx", 1},
                                  Objective::MeasuredTime);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].value, i < 2 ? 1 : 2);
  }
}

// Rank and size are read from the variables of the launchers, or are 0 and 1
// without them.
TEST(SharedFolder, Ranks) {
  const char *names[] = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
                         "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
  for (const char *name : names)
    unsetenv(name);
  EXPECT_EQ(readRank().name, "alone");
  setenv("SLURM_PROCID", "5", 1);
  EXPECT_EQ(readRank().name, "rank-5");
  setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  setenv("OMPI_COMM_WORLD_LOCAL_RANK", "1", 1);
  EXPECT_EQ(readRank().name, "rank-3");
  EXPECT_EQ(readRank().number, 3);
  EXPECT_EQ(readRank().local, 1);
  for (const char *name : names)
    unsetenv(name);
}

//===- SearchTest.cpp - Which candidates are tried, and who wins ----------===//

#include "runtime/Tuning/Search.h"

#include "test/unit/runtime/Tuning/FakeBench.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

namespace {
struct SearchTest : testing::Test {
  FakeBench bench;
  TuningBudget budget;
  SearchHooks hooks;
  uint64_t seed = 1;

  SearchResult run(const std::vector<RankedTile> &ranking, unsigned jobs = 2) {
    return search(ranking, bench, budget, seed, jobs, hooks);
  }
};

std::string getName(const TriedTile *tile) {
  return tile ? tile->ranked.tile.toText() : "none";
}
} // namespace

// The best of the tiles that were tried wins, not the model's favourite.
TEST_F(SearchTest, TheBestWins) {
  bench.values = {{"t-0", 50}, {"t-1", 40}, {"t-2", 60}};
  SearchResult result = run(makeRanking(3, 1));
  EXPECT_EQ(getName(result.getBest()), "t-1");
  EXPECT_EQ(result.getBest()->value, 40);
  EXPECT_EQ(result.stop, StopReason::AllTried);
  ASSERT_TRUE(result.getBest()->kernel);
  EXPECT_EQ(result.getBest()->kernel->getKernel().tile, "t-1");
}

// The search keeps to the number in the budget, and names it as the reason to
// stop.
TEST_F(SearchTest, CandidatesAreCounted) {
  budget.candidates = 4;
  SearchResult result = run(makeRanking(20, 0));
  EXPECT_EQ(bench.verified.size(), 4u);
  EXPECT_EQ(result.stop, StopReason::Candidates);
}

// The model's first choice is tried even if there is no time at all.
TEST_F(SearchTest, TheFirstIsAlwaysTried) {
  budget.seconds = 0;
  SearchResult result = run(makeRanking(20, 1));
  EXPECT_EQ(bench.verified, std::vector<std::string>{"t-0"});
  EXPECT_EQ(result.stop, StopReason::Time);
  EXPECT_EQ(getName(result.getBest()), "t-0");
}

// A model that is right to a few percent ends the search when costs exceed the
// best value by more; the same ranking is tried completely where times do not
// follow the model.
TEST_F(SearchTest, StopsWhereNothingCanWin) {
  budget.candidates = 50;
  const std::vector<RankedTile> ranking = makeRanking(50, 20);
  for (const RankedTile &tile : ranking)
    bench.values[tile.tile.toText()] = 2 * tile.cost;
  SearchResult result = run(ranking);
  EXPECT_EQ(result.stop, StopReason::NothingBetter);
  EXPECT_EQ(bench.verified.size(), 3u);

  bench.verified.clear();
  for (size_t i = 0; i < ranking.size(); ++i)
    bench.values["t-" + std::to_string(i)] = i % 2 ? 1000 : 60;
  EXPECT_EQ(run(ranking).stop, StopReason::AllTried);
  EXPECT_EQ(bench.verified.size(), 50u);
}

// An exhaustive search also tries tiles that the model considers hopeless.
TEST_F(SearchTest, ExhaustiveTriesAll) {
  budget.candidates = 50;
  budget.isExhaustive = true;
  const std::vector<RankedTile> ranking = makeRanking(50, 20);
  for (const RankedTile &tile : ranking)
    bench.values[tile.tile.toText()] = 2 * tile.cost;
  bench.values["t-49"] = 1;
  SearchResult result = run(ranking);
  EXPECT_EQ(getName(result.getBest()), "t-49");
  EXPECT_EQ(bench.verified.size(), 50u);
}

// The seed decides the order of an exhaustive search after the model's first
// choice; results are reported in the order of ranks.
TEST_F(SearchTest, TheSeedDecidesTheOrder) {
  budget.isExhaustive = true;
  budget.candidates = 30;
  auto getOrder = [&](uint64_t with) {
    seed = with;
    bench.verified.clear();
    SearchResult result = run(makeRanking(30, 1));
    for (size_t i = 0; i < result.tried.size(); ++i)
      EXPECT_EQ(result.tried[i].rank, i);
    return bench.verified;
  };
  const std::vector<std::string> first = getOrder(1);
  EXPECT_EQ(first.front(), "t-0");
  EXPECT_EQ(getOrder(1), first);
  EXPECT_NE(getOrder(2), first);
}

// A tile that does not compile or is wrong is put into quarantine with its
// reason, and never timed; the search continues.
TEST_F(SearchTest, Quarantine) {
  bench.uncompilable = {"t-0"};
  bench.wrong = {"t-1"};
  bench.values = {{"t-1", 1}, {"t-2", 50}, {"t-3", 60}};
  SearchResult result = run(makeRanking(4, 1));
  ASSERT_EQ(result.tried.size(), 4u);
  EXPECT_EQ(result.tried[0].failure, "compile: no code");
  EXPECT_EQ(result.tried[1].failure, "wrong result: 1 of 2");
  EXPECT_EQ(bench.measured.count("t-1"), 0u);
  EXPECT_EQ(getName(result.getBest()), "t-2");
}

// A tile whose workers were killed from outside is not blamed: it counts as not
// tried.
TEST_F(SearchTest, BlamesNoTileForAKill) {
  bench.killed = {"t-0"};
  SearchResult result = run(makeRanking(2, 1));
  ASSERT_EQ(result.tried.size(), 1u);
  EXPECT_EQ(getName(result.getBest()), "t-1");
}

// Without a right candidate there is no best one.
TEST_F(SearchTest, NobodyWins) {
  bench.wrong = {"t-0", "t-1"};
  SearchResult result = run(makeRanking(2, 1));
  EXPECT_EQ(result.getBest(), nullptr);
}

// If a kernel takes the device down, only that kernel is blamed.
TEST_F(SearchTest, ALostDeviceEndsTheSearch) {
  bench.deadly = "t-1";
  SearchResult result = run(makeRanking(6, 0));
  EXPECT_EQ(result.stop, StopReason::DeviceLost);
  EXPECT_EQ(bench.verified.size(), 2u);
  ASSERT_EQ(result.tried.size(), 2u);
  EXPECT_EQ(result.tried[1].failure, "launch: illegal address");
  EXPECT_EQ(result.deviceStatus.getMessage(), "gone");
}

// If there is no judge, no tile is blamed.
TEST_F(SearchTest, WithoutAJudgeNothingIsTried) {
  bench.prepareStatus = internalError("no judge");
  SearchResult result = run(makeRanking(3, 0));
  EXPECT_TRUE(result.tried.empty());
  EXPECT_EQ(result.deviceStatus.getMessage(), "no judge");
}

// A search that was killed resumes: known values and failures count, and if
// they decide everything, no data are made.
TEST_F(SearchTest, Resumes) {
  bench.values = {{"t-2", 30}};
  hooks.known["t-0"].value = 40;
  hooks.known["t-1"].failure = "wrong result";
  SearchResult result = run(makeRanking(3, 0));
  EXPECT_EQ(bench.verified, std::vector<std::string>{"t-2"});
  EXPECT_EQ(getName(result.getBest()), "t-2");
  EXPECT_TRUE(result.tried[0].isKnown);
  EXPECT_FALSE(result.tried[1].isVerified());

  hooks.known["t-2"].value = 50;
  bench.prepared = 0;
  result = run(makeRanking(3, 0));
  EXPECT_EQ(getName(result.getBest()), "t-0");
  EXPECT_EQ(result.getBest()->kernel, nullptr);
  EXPECT_EQ(bench.prepared, 0);
}

// Known tiles are used even when no time is left, because they cost none.
TEST_F(SearchTest, KnownTilesNeedNoTime) {
  budget.seconds = 0;
  for (const char *tile : {"t-0", "t-2", "t-4"})
    hooks.known[tile].value = 7;
  SearchResult result = run(makeRanking(5, 0));
  EXPECT_TRUE(bench.verified.empty());
  EXPECT_EQ(bench.made, 0);
  EXPECT_EQ(result.tried.size(), 3u);
  EXPECT_EQ(result.stop, StopReason::Time);
}

// A tile that needs more workspace than there is is skipped, and not blamed.
TEST_F(SearchTest, WorkspaceIsLimited) {
  hooks.maxWorkspaceBytes = 100;
  bench.workspaces = {{"t-0", 101}, {"t-1", 100}};
  SearchResult result = run(makeRanking(2, 0));
  ASSERT_EQ(result.tried.size(), 1u);
  EXPECT_EQ(getName(result.getBest()), "t-1");
}

// Every tile is announced before it runs, and reported afterwards.
TEST_F(SearchTest, TellsBeforeAndAfter) {
  std::vector<std::string> told;
  hooks.onBegin = [&](const TriedTile &tile) {
    told.push_back("begin " + getName(&tile));
  };
  hooks.onEnd = [&](const TriedTile &tile) {
    told.push_back("end " + getName(&tile));
  };
  bench.wrong = {"t-1"};
  run(makeRanking(2, 0));
  EXPECT_EQ(told, (std::vector<std::string>{"begin t-0", "end t-0", "begin t-1",
                                            "end t-1"}));
}

// Tiles whose times are close are measured again alternately; estimates and
// distant times are not.
TEST_F(SearchTest, FinalistsRunAgain) {
  bench.values = {{"t-0", 100}, {"t-1", 102}, {"t-2", 150}};
  bench.objective = Objective::MeasuredTime;
  run(makeRanking(3, 0));
  EXPECT_EQ(bench.measured["t-0"], 4);
  EXPECT_EQ(bench.measured["t-1"], 4);
  EXPECT_EQ(bench.measured["t-2"], 1);
  bench.objective = Objective::IssueCycles;
  bench.measured.clear();
  run(makeRanking(3, 0));
  EXPECT_EQ(bench.measured["t-0"], 1);
}

// The search asks between candidates whether it is cancelled.
TEST_F(SearchTest, CanBeCancelled) {
  hooks.isCancelled = [&] { return bench.verified.size() >= 2; };
  run(makeRanking(8, 0));
  EXPECT_EQ(bench.verified.size(), 2u);
}

// More threads than candidates, and one thread, give the same result.
TEST_F(SearchTest, AnyNumberOfThreads) {
  bench.values = {{"t-3", 5}};
  for (unsigned jobs : {1u, 3u, 64u})
    EXPECT_EQ(getName(run(makeRanking(8, 0), jobs).getBest()), "t-3");
}

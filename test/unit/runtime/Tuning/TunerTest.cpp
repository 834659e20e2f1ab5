//===- TunerTest.cpp - What a tuning leaves behind ------------------------===//
//
// The fake device computes nothing, so each of its results is wrong: that must
// be detected and stored, and nothing may be adopted. The tests of dnn-tune
// cover right kernels on the emulated device.
//
//===----------------------------------------------------------------------===//

#include "runtime/Tuning/Tuner.h"
#include "runtime/Tuning/BackgroundTuner.h"
#include "runtime/Tuning/TrialWatch.h"

#include "test/unit/Support/FakeCompiler.h"
#include "test/unit/Support/TemporaryDirectory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

using namespace tessera;
using namespace tessera::test;

namespace {
struct TunerTest : testing::Test {
  TemporaryDirectory folder;
  const GpuApi &gpu = loadFakeHip();
  std::shared_ptr<FakeCompiler> compiler = std::make_shared<FakeCompiler>();
  std::unique_ptr<Engine> engine =
      std::move(*Engine::create(gpu, {compiler, folder.getPath()}));
  ConvProblem problem;
  TuningOptions options;

  void SetUp() override {
    getFakeHip().reset();
    options.database = engine->getTunings();
    // Three kilobytes are unlikely to be right by accident.
    problem.outChannels = 768;
  }
  std::vector<Tuning> getRows() {
    return engine->getTunings()->find(*makeTuningKey(gpu, problem),
                                      Objective::MeasuredTime);
  }
};
} // namespace

// A wrong kernel is in quarantine, on disk with its reason, and not adopted.
TEST_F(TunerTest, RemembersTheQuarantine) {
  const ErrorOr<TuningResult> result = tune(*engine, problem, options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.getStatus().getCode(), StatusCode::NotSupported);
  EXPECT_NE(result.getStatus().getMessage().find("wrong result"),
            std::string::npos);
  const std::vector<Tuning> rows = getRows();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].tile, "igemm-m64n64k16-w1x1-b2-fma");
  EXPECT_EQ(rows[0].revision, "fake-1");
  EXPECT_EQ(rows[0].failure.find("wrong result: "), 0u) << rows[0].failure;
  EXPECT_EQ(getFakeHip().getAlive("hipModuleLoadData"), 0);
}

// A tile in quarantine is not tried again, unless that is requested or the
// compiler has another revision.
TEST_F(TunerTest, TriesAgainOnlyWhenAsked) {
  EXPECT_FALSE(tune(*engine, problem, options));
  const int compiled = compiler->compiled;
  EXPECT_FALSE(tune(*engine, problem, options));
  EXPECT_EQ(compiler->compiled, compiled);
  options.again = true;
  EXPECT_FALSE(tune(*engine, problem, options));
  EXPECT_EQ(compiler->compiled, compiled + 1);
  options.again = false;
  compiler->revision = "fake-2";
  EXPECT_FALSE(tune(*engine, problem, options));
  EXPECT_EQ(compiler->compiled, compiled + 2);
}

// A tile that took the process down once gets a second chance, but not a third.
TEST_F(TunerTest, AnUnfinishedTileGetsASecondChance) {
  Tuning row;
  row.tile = "igemm-m64n64k16-w1x1-b2-fma";
  row.revision = "fake-1";
  row.device = *gpu.getDeviceName();
  for (auto [failure, attempts] :
       {std::pair{"the process ended while it was being tried", 1},
        {"the process ended while it was being tried, twice", 0}}) {
    row.failure = failure;
    engine->getTunings()->store(*makeTuningKey(gpu, problem), row);
    const int compiled = compiler->compiled;
    EXPECT_FALSE(tune(*engine, problem, options));
    EXPECT_EQ(compiler->compiled - compiled, attempts) << failure;
  }
}

// A tile that exceeds the patience is in quarantine while it runs; if it ends
// after all, its result counts.
TEST_F(TunerTest, ATileThatDoesNotEndIsInQuarantineMeanwhile) {
  std::string meanwhile;
  options.patience = std::chrono::milliseconds(1);
  options.onTrial = [&](const std::string *tile) {
    const auto patience = std::chrono::seconds(30);
    const auto begin = std::chrono::steady_clock::now();
    while (tile && !meanwhile.starts_with("it did not end") &&
           std::chrono::steady_clock::now() - begin < patience)
      meanwhile = getRows().at(0).failure;
  };
  EXPECT_FALSE(tune(*engine, problem, options));
  EXPECT_EQ(meanwhile, "it did not end within 0.001 s");
  EXPECT_EQ(getRows().at(0).failure.find("wrong result: "), 0u);
}

// A tile that ends in time is never reported as late.
TEST_F(TunerTest, TheWatchIsQuietWhereATileEnds) {
  std::atomic<int> late = 0;
  TrialWatch watch(std::chrono::milliseconds(20));
  for (int trial = 0; trial < 100; ++trial) {
    watch.begin([&] { ++late; });
    watch.end();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_EQ(late, 0);
  watch.begin([&] { ++late; });
  while (late == 0)
    std::this_thread::yield();
  watch.end();
  EXPECT_EQ(late, 1);
}

// An invalid problem, and an engine without a compiler, are refused with a
// sentence.
TEST_F(TunerTest, Refusals) {
  problem.batch = 0;
  EXPECT_EQ(tune(*engine, problem, options).getStatus().getCode(),
            StatusCode::InvalidArgument);
  problem.batch = 1;
  engine = std::move(*Engine::create(gpu, {nullptr, ""}));
  EXPECT_NE(tune(*engine, problem, TuningOptions())
                .getStatus()
                .getMessage()
                .find("no compiler"),
            std::string::npos);
}

// A problem too large for the host is refused with the number of bytes instead
// of ending the process; nothing is stored for it.
TEST_F(TunerTest, RefusesWhatTheHostCannotHold) {
  problem.batch = 1 << 20;
  problem.inChannels = 1 << 20;
  const Status status = tune(*engine, problem, options).getStatus();
  EXPECT_EQ(status.getCode(), StatusCode::ResourceExhausted);
  EXPECT_EQ(
      status.getMessage().find("the host has not enough memory: at least "), 0u)
      << status.getMessage();
  EXPECT_TRUE(getRows().empty());
}

// Each problem that is added to the background is tuned there, and its results
// are stored as by tune().
TEST_F(TunerTest, InTheBackground) {
  BackgroundTuner tuner;
  ConvProblem other = problem;
  other.batch = 3;
  tuner.add(*engine, problem, options);
  tuner.add(*engine, other, options);
  tuner.drain();
  EXPECT_EQ(getRows().size(), 1u);
  problem = other;
  EXPECT_EQ(getRows().size(), 1u);
}

// A tuner that ends does not begin problems that still wait.
TEST_F(TunerTest, TheBackgroundEndsAtOnce) {
  compiler->delay = std::chrono::milliseconds(50);
  {
    BackgroundTuner tuner;
    for (int batch = 1; batch < 100; ++batch) {
      problem.batch = batch;
      tuner.add(*engine, problem, options);
    }
  }
  EXPECT_LT(compiler->compiled, 10);
}

//===- FitTest.cpp - That a fit finds what times were made with -----------===//
//
// Times are made up from the model itself, so that the right answer is known.
//
//===----------------------------------------------------------------------===//

#include "tools/dnn-fit/Fit.h"

#include "compiler/Algorithms/TmaTiles.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::fit;

static const GpuTarget &getTarget() { return *findTarget("sm_90"); }

static ConvProblem makeProblem(Direction direction, int64_t batch,
                               int64_t channels, int64_t size, int64_t filter) {
  ConvProblem p;
  p.direction = direction;
  p.dataType = DataType::BF16;
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  p.batch = batch;
  p.inChannels = p.outChannels = channels;
  p.in = {size, size};
  p.filter = {filter, filter};
  p.pad = {filter / 2, filter / 2};
  return p;
}

/// Layers of several sizes, each tile timed as `rates` expect.
static std::vector<Run> makeRuns(const TmaRates &rates) {
  std::vector<Run> runs;
  for (Direction direction : {Direction::Forward, Direction::BackwardData})
    for (int64_t filter : {1, 3})
      for (int64_t channels : {64, 256, 512}) {
        Run run{makeProblem(direction, 64, channels, 3584 / channels, filter),
                {}};
        for (const Candidate &candidate :
             getTmaCandidates(run.problem, getTarget(), rates))
          run.times.push_back({candidate.tile.toText(), candidate.cost / 1755});
        runs.push_back(std::move(run));
      }
  return runs;
}

// The rates that times follow choose the best tile everywhere.
TEST(Fit, IsPerfectWithTheRatesThatTimesFollow) {
  const std::vector<Sample> samples =
      makeSamples(makeRuns(kTmaRates), getTarget());
  ASSERT_EQ(samples.size(), 12u);
  const Share share = getShare(samples, getTarget(), kTmaRates);
  EXPECT_DOUBLE_EQ(share.mean, 1);
  EXPECT_DOUBLE_EQ(share.least, 1);
}

// From wrong rates a search comes nearly all of the way back, by the same steps
// each time, and does not multiply more than the chip can.
TEST(Fit, ComesBackFromWrongRates) {
  const std::vector<Sample> samples =
      makeSamples(makeRuns(kTmaRates), getTarget());
  TmaRates wrong;
  wrong.products = 300;
  wrong.exposedSums = 2;
  wrong.windowBytes = 400;
  const Share before = getShare(samples, getTarget(), wrong);
  ASSERT_LT(before.mean, 0.97);
  const TmaRates found = fitRates(samples, getTarget(), wrong, 1500, 1);
  EXPECT_GT(getShare(samples, getTarget(), found).mean, 0.99);
  EXPECT_LE(found.products, 2048);
  const TmaRates again = fitRates(samples, getTarget(), wrong, 1500, 1);
  EXPECT_EQ(found.products, again.products);
  EXPECT_EQ(found.begin, again.begin);
}

// What the model does not know, and what has nothing to be compared with, is
// no sample.
TEST(Fit, PassesOverWhatItCannotUse) {
  std::vector<fit::Run> runs = makeRuns(kTmaRates);
  runs.resize(3);
  runs[0].problem.direction = Direction::BackwardWeights;
  runs[1].times.resize(1);
  for (TileTime &time : runs[2].times)
    time.tile = "igemm-m1n1k1-w1x1-t1-wgmma";
  EXPECT_TRUE(makeSamples(runs, getTarget()).empty());
}

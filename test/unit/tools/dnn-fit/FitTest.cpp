//===- FitTest.cpp - That a fit finds what values were made with ----------===//
//
// The values are computed from the models themselves, so that the right answer
// is known.
//
//===----------------------------------------------------------------------===//

#include "tools/dnn-fit/Fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

using namespace tessera;
using namespace tessera::fit;

namespace {
/// A model for a chip, and the distance from the truth at which a search
/// begins.
struct FitCase {
  const char *model;
  const char *target;
  std::vector<Direction> directions;
  Layout layout;
  /// Factors by which constants are wrong.
  std::map<std::string, double> wrong;

  Model getModel() const { return *makeModel(model, *findTarget(target)); }
  Rates getWrongRates() const {
    const Model m = getModel();
    Rates rates = m.getRates();
    size_t found = 0;
    for (size_t i = 0; i != rates.size(); ++i)
      if (auto factor = wrong.find(m.constants[i].name);
          factor != wrong.end()) {
        rates[i] *= factor->second;
        ++found;
      }
    EXPECT_EQ(found, wrong.size());
    return rates;
  }
};

void PrintTo(const FitCase &fitCase, std::ostream *stream) {
  *stream << fitCase.model << " on " << fitCase.target;
}

/// Clocks in a microsecond.
static constexpr double kClocks = 1755;

struct FitTest : testing::TestWithParam<FitCase> {
  const Model model = GetParam().getModel();
  const std::vector<Sample> samples = makeSamples(makeRuns(), model);

  std::vector<Problem> makeProblems() const;
  /// Makes layers of several sizes; each tile has the value that the model
  /// expects.
  std::vector<fit::Run> makeRuns() const {
    std::vector<fit::Run> runs;
    for (const Problem &problem : makeProblems()) {
      fit::Run run{problem, "us", {}};
      for (const Candidate &candidate :
           model.getCandidates(problem, model.getRates()))
        run.values.push_back(
            {candidate.tile.toText(), candidate.cost / kClocks});
      runs.push_back(std::move(run));
    }
    return runs;
  }
};
} // namespace

static ConvProblem makeConv(const FitCase &fitCase, Direction direction,
                            int64_t channels, int64_t filter) {
  ConvProblem p;
  p.direction = direction;
  p.dataType = DataType::F16;
  p.xLayout = p.wLayout = p.yLayout = fitCase.layout;
  p.batch = 64;
  p.inChannels = p.outChannels = channels;
  p.in = {3584 / channels, 3584 / channels};
  p.filter = {filter, filter};
  p.pad = {filter / 2, filter / 2};
  if (fitCase.model == std::string("groups"))
    p.groups = channels / 8;
  if (fitCase.model == std::string("stem"))
    p.inChannels = 4;
  if (fitCase.model == std::string("single"))
    p.groups = channels;
  return p;
}

static PoolProblem makePool(const FitCase &fitCase, Direction direction,
                            int64_t channels, int64_t window) {
  PoolProblem p;
  p.direction = direction;
  p.dataType = DataType::F16;
  p.xLayout = p.yLayout = fitCase.layout;
  p.batch = 4;
  p.channels = channels;
  p.in = {3584 / channels, 3584 / channels};
  p.window = {window, window};
  return p;
}

/// A row-wise problem with contiguous rows, or rows side by side, of many
/// lengths.
static Problem makeRows(int64_t length, int64_t window) {
  const std::string other = std::to_string((1 << 22) / length);
  const std::string row = std::to_string(length);
  const std::string config =
      window == 1 ? "rowwise-reduce-m0-" + row + "x" + other +
                        "-r0-i:f32:" + other + ":1-r:f32:0:1"
                  : "rowwise-softmax_fwd-m1-" + other + "x" + row +
                        "-r1-i:f16:" + row + ":1-o:f16:" + row + ":1";
  return *parseNetworkConfig(config);
}

std::vector<Problem> FitTest::makeProblems() const {
  std::vector<Problem> problems;
  for (Direction direction : GetParam().directions)
    for (int64_t window : {1, 3})
      for (int64_t channels : {64, 256, 512}) {
        if (model.name == "pool")
          problems.emplace_back(
              makePool(GetParam(), direction, channels, window + 1));
        else if (model.name == "rowwise")
          problems.push_back(makeRows(channels * 64, window));
        else
          problems.emplace_back(
              makeConv(GetParam(), direction, channels, window));
      }
  return problems;
}

// With the rates that the values were computed from, the best tile is chosen
// for every problem.
TEST_P(FitTest, IsPerfectWithTheRatesThatValuesFollow) {
  ASSERT_EQ(samples.size(), 6 * GetParam().directions.size());
  const Share share = getShare(samples, model, model.getRates());
  EXPECT_DOUBLE_EQ(share.mean, 1);
  EXPECT_DOUBLE_EQ(share.least, 1);
}

// From wrong rates a search returns nearly to the right ones, by the same steps
// each time, and its rates never exceed those of the chip.
TEST_P(FitTest, ComesBackFromWrongRates) {
  const Rates wrong = GetParam().getWrongRates();
  const Share before = getShare(samples, model, wrong);
  ASSERT_LT(before.mean, 0.97);
  const SearchOptions options{.steps = 2500};
  const Rates found = fitRates(samples, model, wrong, options);
  EXPECT_GT(getShare(samples, model, found).mean, 0.99);
  for (size_t i = 0; i != found.size(); ++i)
    EXPECT_LE(found[i], model.constants[i].most) << model.constants[i].name;
  EXPECT_EQ(found, fitRates(samples, model, wrong, options));
}

/// The runs of `problems` with the value of each problem's dearest tile alone.
static std::vector<fit::Run> makeKept(const std::vector<Problem> &problems,
                                      const Model &model) {
  std::vector<fit::Run> runs;
  for (const Problem &problem : problems) {
    const std::vector<Candidate> candidates =
        model.getCandidates(problem, model.getRates());
    const auto most =
        std::ranges::max_element(candidates, {}, &Candidate::cost);
    runs.push_back({problem, "us", {{most->tile.toText(), 1}}, true});
  }
  return runs;
}

// Of problems that are kept one value is enough. A tile without one that the
// model ranks first is named, and a search leaves no known tile for it.
TEST_P(FitTest, KeepsKnownChoices) {
  const std::vector<Sample> kept =
      makeSamples(makeKept(makeProblems(), model), model);
  ASSERT_EQ(kept.size(), makeProblems().size());
  const Rates own = model.getRates();
  const Kept before = countKept(kept, model, own);
  ASSERT_GT(before.all, 0u);
  EXPECT_LT(before.stay, before.all);
  EXPECT_TRUE(std::ranges::any_of(kept, [&](const Sample &sample) {
    return !choose(sample, model, own).before.empty();
  }));
  const Rates found = fitRates(kept, model, own, {.steps = 1000, .stay = 0});
  EXPECT_GE(countKept(kept, model, found).stay, before.stay);
  // The values that the rates follow keep all.
  EXPECT_EQ(countKept(samples, model, own).all, 0u);
}

// Only the constants that are named move.
TEST_P(FitTest, LeavesOtherConstantsAlone) {
  const Rates wrong = GetParam().getWrongRates();
  const Rates found =
      fitRates(samples, model, wrong, {.steps = 200, .only = {0}, .stay = 0});
  for (size_t i = 1; i != found.size(); ++i)
    EXPECT_EQ(found[i], wrong[i]) << model.constants[i].name;
}

// Values are costs at kClocks in a microsecond: with twice as many, costs are
// half of what they should be. Held against times, a search from wrong rates
// finds their size again.
TEST_P(FitTest, HoldsCostsAgainstTimes) {
  const Scale scale = getScale(samples, model, model.getRates(), 2 * kClocks);
  EXPECT_NEAR(scale.mean, 0.5, 1e-9);
  EXPECT_NEAR(scale.spread, 1, 1e-4);
  const Rates wrong = GetParam().getWrongRates();
  const auto getMiss = [&](std::optional<double> clocks) {
    const Rates found = fitRates(samples, model, wrong,
                                 {.steps = 1500, .stay = 0, .clocks = clocks});
    return std::abs(std::log(getScale(samples, model, found, kClocks).mean));
  };
  EXPECT_LT(getMiss(kClocks), 0.1);
}

// The output is rows that the compiler could include, one for each constant, or
// one for the chip.
TEST_P(FitTest, PrintsRows) {
  const std::string rows = model.format(model.getRates());
  const auto lines = std::ranges::count(rows, '\n');
  // `single` has all three rates of depthwise filters in one row.
  EXPECT_EQ(lines, model.name == "gemm" ? 1
                                        : model.constants.size() -
                                              (model.name == "single" ? 2 : 0))
      << rows;
  EXPECT_NE(rows.find("_RATE"), std::string::npos);
}

static const std::vector<Direction> kData = {Direction::Forward,
                                             Direction::BackwardData};
static const std::vector<Direction> kForward = {Direction::Forward};
static const std::vector<Direction> kAll = {
    Direction::Forward, Direction::BackwardData, Direction::BackwardWeights};
static const std::vector<Direction> kWeights = {Direction::BackwardWeights};

INSTANTIATE_TEST_SUITE_P(
    , FitTest,
    testing::Values(
        FitCase{
            "wgmma",
            "sm_90",
            kData,
            Layout::NHWC,
            {{"products", 0.2}, {"exposedStores", 0.2}, {"windowBytes", 9}}},
        FitCase{"wgmma-weights",
                "sm_90",
                kWeights,
                Layout::NHWC,
                {{"sumPass", 8}, {"sumBytes", 0.1}}},
        FitCase{"gemm",
                "sm_80",
                kData,
                Layout::NHWC,
                {{"cache", 0.15}, {"lds", 8}}},
        FitCase{"gemm",
                "gfx942",
                kWeights,
                Layout::NCHW,
                {{"flat", 20}, {"joining", 20}, {"sum", 9}}},
        FitCase{"groups",
                "sm_90",
                kAll,
                Layout::NHWC,
                {{"latency", 10}, {"overlap", 3}, {"weightWaits", 50}}},
        FitCase{"stem",
                "sm_90",
                kForward,
                Layout::NHWC,
                {{"piece", 30}, {"result", 30}}},
        FitCase{"single",
                "sm_90",
                kData,
                Layout::NHWC,
                {{"lanes", 100}, {"work", 0.1}}},
        FitCase{"pool",
                "gfx942",
                kData,
                Layout::NCHW,
                {{"cacheBytes", 0.1}, {"loadClocks", 10}, {"latency", 9}}},
        FitCase{"rowwise",
                "sm_90",
                kForward,
                Layout::NCHW,
                {{"wait", 10}, {"launch", 0.1}, {"combine", 10}}}),
    [](const testing::TestParamInfo<FitCase> &info) {
      std::string name =
          std::string(info.param.model) + "_" + info.param.target;
      std::ranges::replace(name, '-', '_');
      return name;
    });

// Tiles that the model does not know, and problems with nothing to compare, are
// no sample.
TEST(Fit, PassesOverWhatItCannotUse) {
  const Model model = *makeModel("wgmma", *findTarget("sm_90"));
  const FitCase fitCase{"wgmma", "sm_90", kData, Layout::NHWC, {}};
  const Problem problem = makeConv(fitCase, Direction::Forward, 64, 3);
  std::vector<TileValue> values;
  for (const Candidate &candidate :
       model.getCandidates(problem, model.getRates()))
    values.push_back({candidate.tile.toText(), 1});
  const Problem weights = makeConv(fitCase, Direction::BackwardWeights, 64, 3);
  EXPECT_EQ(makeSamples({{problem, "us", values}}, model).size(), 1u);
  EXPECT_TRUE(makeSamples({{weights, "us", values},
                           {problem, "us", {values[0]}},
                           {problem, "us", {{"igemm-a", 1}, {"igemm-b", 2}}}},
                          model)
                  .empty());
}

// An unknown model, and one for other chips, are refused by name.
TEST(Fit, RefusesModels) {
  EXPECT_NE(makeModel("mma", *findTarget("sm_80"))
                .getStatus()
                .getMessage()
                .find("but there are: wgmma, wgmma-tf32, wgmma-weights, gemm, "
                      "gemm-all, groups, stem, single, pool, rowwise"),
            std::string::npos);
  EXPECT_NE(makeModel("wgmma", *findTarget("gfx942"))
                .getStatus()
                .getMessage()
                .find("'gfx942' is no chip with wgmma"),
            std::string::npos);
}

//===- OutcomeTest.cpp - What is said of a tuning -------------------------===//

#include "tools/dnn-tune/Outcome.h"
#include "tools/dnn-tune/Report.h"
#include "tools/dnn-tune/ReportCharts.h"
#include "tools/dnn-tune/Svg.h"
#include "tools/dnn-tune/TuneOptions.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::tune_tool;

namespace {
/// Makes tiles whose costs are their ranks plus 1; a value of 0 is a failure.
Outcome makeOutcome(const std::vector<double> &values) {
  Outcome outcome;
  outcome.problem = ConvProblem();
  outcome.result.device = "Device & Sons";
  outcome.result.judge = "host";
  outcome.result.candidates = values.size();
  for (size_t rank = 0; rank < values.size(); ++rank) {
    TriedTile tile({{"igemm", "m" + std::to_string(64 << rank) + "n64k32"},
                    static_cast<double>(rank + 1)},
                   rank);
    tile.value = values[rank];
    if (values[rank] == 0)
      tile.failure = "wrong <result>, \"badly\"";
    outcome.result.search.tried.push_back(std::move(tile));
  }
  return outcome;
}

std::vector<Outcome> makeOutcomes(const std::vector<double> &values) {
  std::vector<Outcome> outcomes;
  outcomes.push_back(makeOutcome(values));
  return outcomes;
}
} // namespace

// Speeds are the inverse of values; a failure is not counted.
TEST(Outcome, RatesTheModel) {
  const Ranking ranking = rate(makeOutcome({40, 0, 30, 25, 50, 20}).result);
  EXPECT_EQ(ranking.best, 20);
  EXPECT_EQ(ranking.firstOverBest, 0.5);
  EXPECT_EQ(ranking.topFourOverBest, 0.8);
  EXPECT_EQ(ranking.verified, 5u);
  EXPECT_EQ(ranking.quarantined, 1u);
  // Three of ten pairs are in the model's order.
  EXPECT_NEAR(ranking.tau, -0.4, 1e-12);
}

// Means over problems are geometric; problems without a tuning do not count.
TEST(Outcome, RatesManyProblems) {
  std::vector<Outcome> outcomes;
  outcomes.push_back(makeOutcome({40, 10}));
  outcomes.push_back(makeOutcome({10, 40}));
  outcomes.push_back(makeOutcome({0}));
  outcomes.back().status = notSupported("no candidate is right");
  const Rating rating = rate(outcomes);
  EXPECT_EQ(rating.problems, 2u);
  EXPECT_NEAR(rating.firstOverBest, 0.5, 1e-12);
  EXPECT_EQ(rating.topFourOverBest, 1);
  EXPECT_EQ(rating.tau, 0);
}

// Fields with commas and quotes stay one field.
TEST(Outcome, Table) {
  const std::string table = formatTable(makeOutcomes({4, 0}));
  EXPECT_NE(table.find("\"Device & Sons\",0,igemm-m64n64k32,1,4,0,us,\"\"\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("\"wrong <result>, \"\"badly\"\"\"\n"),
            std::string::npos)
      << table;
}

// Texts from elsewhere cannot break the page, and the page fetches nothing.
TEST(Report, IsOneSafePage) {
  const std::string html =
      formatReport(makeOutcomes({4, 3, 0, 9}), {{10, 100}, "<r1>", "today"});
  EXPECT_EQ(html.find("wrong <result>"), std::string::npos);
  EXPECT_NE(html.find("wrong &lt;result&gt;, &quot;badly&quot;"),
            std::string::npos);
  EXPECT_NE(html.find("Device &amp; Sons"), std::string::npos);
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("src="), std::string::npos);
  EXPECT_NE(html.find("class=\"dot best\""), std::string::npos);
  EXPECT_NE(html.find("class=\"dot first\""), std::string::npos);
}

// The page says who made it and when, and fits a window of any width.
TEST(Report, HasAHead) {
  const std::string html =
      formatReport(makeOutcomes({4}), {{}, "llvm-<1>", "2026-01-02 03:04 UTC"});
  for (const char *text :
       {"2026-01-02 03:04 UTC", "llvm-&lt;1&gt;",
        "<meta name=\"viewport\" content=\"width=device-width",
        "svg { max-width: 100%", "<div class=\"wide\"><table"})
    EXPECT_NE(html.find(text), std::string::npos) << text;
}

// The emulated device has no seconds, so no time is mentioned, and limits in
// operations per second do not apply.
TEST(Report, CyclesAreNoTimes) {
  std::vector<Outcome> outcomes = makeOutcomes({4, 3});
  const Roofs roofs = {10, 100};
  std::string html = formatReport(outcomes, {roofs, "", ""});
  EXPECT_NE(html.find(">TFLOP/s</text>"), std::string::npos);
  EXPECT_NE(html.find("class=\"roof\""), std::string::npos);
  EXPECT_NE(html.find(">measured time in us</text>"), std::string::npos);
  EXPECT_EQ(html.find("a cycle"), std::string::npos);
  outcomes[0].result.objective = Objective::IssueCycles;
  html = formatReport(outcomes, {roofs, "", ""});
  EXPECT_NE(html.find(">operations a cycle</text>"), std::string::npos);
  EXPECT_NE(html.find(">issue cycles (estimate)</text>"), std::string::npos);
  EXPECT_EQ(html.find("a second"), std::string::npos);
  EXPECT_EQ(html.find("FLOP/s"), std::string::npos);
  EXPECT_EQ(html.find("class=\"roof\""), std::string::npos);
}

// A first choice that is the best tile is drawn differently.
TEST(Report, MarksAFirstChoiceThatIsTheBest) {
  const std::string marked = "class=\"dot best first\"><title>";
  EXPECT_NE(drawRanks(makeOutcome({3, 4}).result).find(marked),
            std::string::npos);
  EXPECT_EQ(drawRanks(makeOutcome({4, 3}).result).find(marked),
            std::string::npos);
}

// Numbers on a dark field of the map are light.
TEST(Report, LabelsOfTheMapCanBeRead) {
  const std::string map = drawTiles(makeOutcome({10, 20}).result);
  EXPECT_NE(map.find("class=\"light\">100 %<"), std::string::npos) << map;
  EXPECT_NE(map.find("text-anchor=\"middle\">50 %<"), std::string::npos) << map;
  EXPECT_NE(map.find(">columns of the tile<"), std::string::npos);
  EXPECT_NE(map.find(">rows of the tile<"), std::string::npos);
}

// Ticks are round numbers, equidistant, and enclose all values.
TEST(Report, Ticks) {
  using Ticks = std::vector<double>;
  auto linear = [](double least, double most) {
    return Axis(Axis::Scale::Linear, least, most, 0, 1).getTicks();
  };
  EXPECT_EQ(linear(1234, 1890), (Ticks{1200, 1400, 1600, 1800, 2000}));
  EXPECT_EQ(linear(0, 10), (Ticks{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(linear(7, 7), (Ticks{6, 6.5, 7, 7.5, 8}));
  auto log = [](double least, double most) {
    return Axis(Axis::Scale::Log, least, most, 0, 1).getTicks();
  };
  EXPECT_EQ(log(3, 70), (Ticks{2, 5, 10, 20, 50, 100}));
  EXPECT_EQ(log(0.5, 20), (Ticks{0.5, 1, 2, 5, 10, 20}));
  EXPECT_EQ(log(30, 40000), (Ticks{10, 100, 1000, 10000, 100000}));
  EXPECT_EQ(chooseScale(10, 150), Axis::Scale::Linear);
  EXPECT_EQ(chooseScale(10, 1500), Axis::Scale::Log);
  const Axis axis(Axis::Scale::Log, 1, 100, 50, 10);
  EXPECT_EQ(axis.map(1), 50);
  EXPECT_EQ(axis.map(10), 30);
  EXPECT_EQ(axis.map(100), 10);
}

// Numbers have no exponents, which are hard to read.
TEST(Report, Numbers) {
  EXPECT_EQ(formatTick(0.05), "0.05");
  EXPECT_EQ(formatTick(2000), "2k");
  EXPECT_EQ(formatTick(12500), "12.5k");
  EXPECT_EQ(formatTick(2e6), "2M");
  EXPECT_EQ(formatShort(0.98765), "0.9877");
  EXPECT_EQ(formatShort(1234567), "1234567");
  EXPECT_EQ(formatShort(99.96, 2), "100");
}

// A report of nothing is still a page.
TEST(Report, OfNothing) {
  std::vector<Outcome> outcomes = makeOutcomes({0});
  outcomes[0].status = notSupported("nothing is right");
  EXPECT_NE(formatReport(outcomes, {}).find("nothing is right"),
            std::string::npos);
  EXPECT_NE(formatReport({}, {}).find("</html>"), std::string::npos);
}

// Rows and columns of a tile are read from its text.
TEST(Report, TileShapes) {
  const auto shape = readTileShape("m128n64k32-w2x1-b2-mfma32");
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->rows, 128);
  EXPECT_EQ(shape->columns, 64);
  EXPECT_FALSE(readTileShape("h8w16n32-w4x1"));
}

// A convolution multiplies and adds, and moves each tensor once at least.
TEST(Report, Work) {
  const auto problem = parseNetworkConfig(
      "conv-fwd-f16-nhwc,nhwc,nhwc-n1c8h4w4-k8y1x1-p0x0-s1x1-d1x1-g1");
  ASSERT_TRUE(problem);
  const Work work = getWork(*problem);
  EXPECT_EQ(work.operations, 2 * 8 * 8 * 16);
  EXPECT_EQ(work.bytes, 2 * (8 * 16 + 8 * 8 + 8 * 16));
}

// Every flag sets its field; an exhaustive search has no limit by default.
TEST(TuneOptions, EveryFlag) {
  const auto options = parseTuneOptions({"a",        "--candidates",
                                         "5",        "--budget",
                                         "1.5",      "--total",
                                         "60",       "--seed",
                                         "7",        "--jobs",
                                         "3",        "--again",
                                         "--db",     "d",
                                         "--report", "r",
                                         "--table",  "t",
                                         "--roof",   "989,3350",
                                         "--mpi",    "m",
                                         "--strict", "b"});
  ASSERT_TRUE(options) << options.getStatus().getMessage();
  EXPECT_EQ(options->files, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(options->budget.candidates, 5u);
  EXPECT_EQ(options->budget.seconds, 1.5);
  EXPECT_EQ(options->totalSeconds, 60);
  EXPECT_EQ(options->seed, 7u);
  EXPECT_EQ(options->jobs, 3u);
  EXPECT_TRUE(options->again && options->reading.strict);
  EXPECT_EQ(options->folder + options->reportFile + options->tableFile, "drt");
  EXPECT_EQ(options->roofTflops, 989);
  EXPECT_EQ(options->roofGbs, 3350);
  EXPECT_EQ(options->sharedFolder, "m");
  EXPECT_EQ(parseTuneOptions({"a"})->budget.candidates, 8u);
  EXPECT_GT(parseTuneOptions({"a", "--exhaustive"})->budget.candidates,
            1000000u);
  EXPECT_EQ(parseTuneOptions({"a", "--exhaustive", "--candidates", "9"})
                ->budget.candidates,
            9u);
}

// A wrong word is named.
TEST(TuneOptions, Refusals) {
  auto refusal = [](const std::vector<std::string> &words) {
    return parseTuneOptions(words).getStatus().getMessage();
  };
  EXPECT_EQ(refusal({}), "no file with problems; see --help");
  EXPECT_EQ(refusal({"a", "--jobs", "0"}), "--jobs takes a number, not '0'");
  EXPECT_EQ(refusal({"a", "--roof", "9"}),
            "--roof takes two numbers with a comma between, not '9'");
  EXPECT_EQ(refusal({"a", "--judge", "me"}),
            "--judge takes auto, host, device or general, not 'me'");
  EXPECT_EQ(refusal({"a", "--seed"}),
            "'--seed' is no flag, or lacks its value; see --help");
}

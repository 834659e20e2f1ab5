//===- ProblemTest.cpp - Shapes, rules and the network config -------------===//

#include "runtime/Base/Problem.h"

#include "test/unit/Support/RandomProblem.h"

#include <gtest/gtest.h>

#include <set>

using namespace tessera;

static Problem makeProblem() {
  Problem problem;
  problem.dataType = DataType::F16;
  problem.xLayout = problem.wLayout = problem.yLayout = Layout::NHWC;
  problem.batch = 64;
  problem.inChannels = problem.outChannels = 256;
  problem.in = {14, 14};
  problem.filter = {3, 3};
  problem.pad = {1, 1};
  return problem;
}

// The output has one element for each position of the window.
TEST(Problem, ComputesTheOutput) {
  Problem problem = makeProblem();
  EXPECT_EQ(problem.getOutput(), (Spatial{14, 14}));
  problem.stride = {2, 3};
  EXPECT_EQ(problem.getOutput(), (Spatial{7, 5}));
  problem.dilation = {4, 1};
  EXPECT_EQ(problem.getOutput(), (Spatial{4, 5}));
}

// A window larger than the padded input still has one output, as in MIOpen.
TEST(Problem, HasAtLeastOneOutput) {
  Problem problem = makeProblem();
  problem.in = {2, 1};
  problem.pad = {0, 0};
  problem.filter = {7, 11};
  EXPECT_EQ(problem.getOutput(), (Spatial{1, 1}));
  EXPECT_TRUE(problem.verify().isOk());
}

// Elements and operations count the channels of one group only once.
TEST(Problem, CountsElementsAndOperations) {
  Problem problem = makeProblem();
  problem.groups = 4;
  EXPECT_EQ(problem.getInputElements(), 64 * 256 * 14 * 14);
  EXPECT_EQ(problem.getFilterElements(), 256 * 64 * 9);
  EXPECT_EQ(problem.getOutputElements(), 64 * 256 * 14 * 14);
  EXPECT_EQ(problem.getFlops(), 2.0 * 64 * 256 * 14 * 14 * 64 * 9);
}

// The text is the key of databases that outlive this build: it may not change
// by accident.
TEST(Problem, HasAStableNetworkConfig) {
  EXPECT_EQ(
      makeProblem().toNetworkConfig(),
      "conv-fwd-f16-nhwc,nhwc,nhwc-n64c256h14w14-k256y3x3-p1x1-s1x1-d1x1-g1");
}

// What is written can be read, and is the same problem.
TEST(Problem, RoundTripsThroughTheNetworkConfig) {
  test::RandomProblem random;
  SCOPED_TRACE(testing::Message() << "TESSERA_TEST_SEED=" << random.getSeed());
  for (int i = 0; i < 2000; ++i) {
    Problem problem = random.next();
    std::string text = problem.toNetworkConfig();
    ErrorOr<Problem> read = parseNetworkConfig(text);
    ASSERT_TRUE(read) << read.getStatus().getMessage();
    ASSERT_EQ(*read, problem) << text;
  }
}

// Every field that changes the answer changes the text.
TEST(Problem, PutsEveryFieldIntoTheNetworkConfig) {
  std::vector<Problem> problems(18, makeProblem());
  problems[1].direction = Direction::BackwardData;
  problems[2].direction = Direction::BackwardWeights;
  problems[3].dataType = DataType::BF16;
  problems[4].xLayout = Layout::NCHW;
  problems[5].wLayout = Layout::NCHW;
  problems[6].yLayout = Layout::NCHW;
  problems[7].batch = 65;
  problems[8].inChannels = 128;
  problems[9].outChannels = 128;
  problems[10].groups = 2;
  problems[11].in = {14, 15};
  problems[12].in = {15, 14};
  problems[13].filter = {3, 1};
  problems[14].filter = {1, 3};
  problems[15].pad = {0, 1};
  problems[16].stride = {1, 2};
  problems[17].dilation = {2, 1};
  std::set<std::string> texts;
  for (const Problem &problem : problems)
    texts.insert(problem.toNetworkConfig());
  EXPECT_EQ(texts.size(), problems.size());
}

// Only the canonical text is a key: nothing may be read as another's twin.
TEST(Problem, RefusesOtherTexts) {
  std::string good = makeProblem().toNetworkConfig();
  for (const auto &[from, to] :
       std::initializer_list<std::pair<const char *, const char *>>{
           {"conv-", "Conv-"},
           {"fwd", "forward"},
           {"f16", "f17"},
           {"nhwc,", "nhwc, "},
           {"nhwc,nhwc,nhwc", "nhwc"},
           {"n64", "n064"},
           {"n64", "n+64"},
           {"n64", "n-64"},
           {"n64", "n"},
           {"n64", "n99999999999999999999"},
           {"-g1", ""},
           {"-g1", "-g1 "},
           {"-p1x1", "-p1"},
           {"-s1x1-d1x1", "-d1x1-s1x1"}}) {
    std::string text = good;
    text.replace(text.find(from), std::string(from).size(), to);
    ErrorOr<Problem> read = parseNetworkConfig(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.getStatus().getCode(), StatusCode::InvalidArgument);
    EXPECT_NE(read.getStatus().getMessage().find("is not a network config"),
              std::string::npos)
        << read.getStatus().getMessage();
  }
  EXPECT_FALSE(parseNetworkConfig(""));
}

// A config that can be read but breaks a rule is refused with the rule.
TEST(Problem, VerifiesWhatItReads) {
  std::string text = makeProblem().toNetworkConfig();
  text.replace(text.find("-g1"), 3, "-g3");
  EXPECT_NE(parseNetworkConfig(text).getStatus().getMessage().find(
                "must be a multiple of the group count 3"),
            std::string::npos);
}

// Each rule is named by the sentence that refuses its violation.
TEST(Problem, NamesTheBrokenRule) {
  struct Case {
    void (*breakIt)(Problem &);
    const char *sentence;
  };
  constexpr int64_t tooLong = 1LL << 31;
  const Case cases[] = {
      {[](Problem &p) { p.batch = 0; }, "the batch size is 0"},
      {[](Problem &p) { p.batch = tooLong; }, "the batch size is 2147483648"},
      {[](Problem &p) { p.inChannels = -1; },
       "the number of input channels is -1"},
      {[](Problem &p) { p.outChannels = 0; },
       "the number of output channels is 0"},
      {[](Problem &p) { p.groups = 0; }, "the group count is 0"},
      {[](Problem &p) { p.in.h = 0; }, "the input height is 0"},
      {[](Problem &p) { p.in.w = 0; }, "the input width is 0"},
      {[](Problem &p) { p.filter.h = 0; }, "the filter height is 0"},
      {[](Problem &p) { p.filter.w = 0; }, "the filter width is 0"},
      {[](Problem &p) { p.pad.h = -1; }, "the vertical padding is -1"},
      {[](Problem &p) { p.pad.w = -1; }, "the horizontal padding is -1"},
      {[](Problem &p) { p.stride.h = 0; }, "the vertical stride is 0"},
      {[](Problem &p) { p.stride.w = 0; }, "the horizontal stride is 0"},
      {[](Problem &p) { p.dilation.h = 0; }, "the vertical dilation is 0"},
      {[](Problem &p) { p.dilation.w = 0; }, "the horizontal dilation is 0"},
      {[](Problem &p) { p.inChannels = 6, p.outChannels = 8, p.groups = 4; },
       "the number of input channels is 6, but must be a multiple of the "
       "group count 4"},
      {[](Problem &p) { p.inChannels = 8, p.outChannels = 6, p.groups = 4; },
       "the number of output channels is 6, but must be a multiple"},
      {[](Problem &p) { p.in = {tooLong - 1, tooLong - 1}; },
       "the input has more bytes than 64 bits can count"},
      {[](Problem &p) { p.filter = {tooLong - 1, tooLong - 1}; },
       "the filter has more bytes than 64 bits can count"},
      {[](Problem &p) { p.pad = {tooLong - 1, tooLong - 1}; },
       "the output has more bytes than 64 bits can count"},
  };
  EXPECT_TRUE(makeProblem().verify().isOk());
  for (const Case &c : cases) {
    Problem problem = makeProblem();
    c.breakIt(problem);
    Status status = problem.verify();
    EXPECT_EQ(status.getCode(), StatusCode::InvalidArgument) << c.sentence;
    EXPECT_EQ(status.getMessage().find(c.sentence), 0u) << status.getMessage();
  }
}

// Byte sizes are those of the types.
TEST(Problem, KnowsByteSizes) {
  EXPECT_EQ(getByteSize(DataType::I8), 1);
  EXPECT_EQ(getByteSize(DataType::F16), 2);
  EXPECT_EQ(getByteSize(DataType::BF16), 2);
  EXPECT_EQ(getByteSize(DataType::F32), 4);
  EXPECT_EQ(getByteSize(DataType::I32), 4);
  EXPECT_EQ(getByteSize(DataType::F64), 8);
}

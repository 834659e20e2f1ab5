//===- ProblemTest.cpp - Shapes, rules and the network config -------------===//

#include "runtime/Base/Problem.h"

#include "runtime/DriverCommand/DriverCommand.h"
#include "test/unit/Support/RandomProblem.h"

#include <gtest/gtest.h>

#include <set>

using namespace tessera;

static ConvProblem makeProblem() {
  ConvProblem problem;
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
  ConvProblem problem = makeProblem();
  EXPECT_EQ(problem.getOutput(), (Spatial{14, 14}));
  problem.stride = {2, 3};
  EXPECT_EQ(problem.getOutput(), (Spatial{7, 5}));
  problem.dilation = {4, 1};
  EXPECT_EQ(problem.getOutput(), (Spatial{4, 5}));
}

// A window larger than the padded input still has one output, as in MIOpen.
TEST(Problem, HasAtLeastOneOutput) {
  ConvProblem problem = makeProblem();
  problem.in = {2, 1};
  problem.pad = {0, 0};
  problem.filter = {7, 11};
  EXPECT_EQ(problem.getOutput(), (Spatial{1, 1}));
  EXPECT_TRUE(problem.verify().isOk());
}

// Elements and operations count the channels of one group only once.
TEST(Problem, CountsElementsAndOperations) {
  ConvProblem problem = makeProblem();
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

// A network config can be parsed again, and is the same problem.
TEST(Problem, RoundTripsThroughTheNetworkConfig) {
  test::RandomProblem random;
  SCOPED_TRACE(testing::Message() << "TESSERA_TEST_SEED=" << random.getSeed());
  for (int i = 0; i < 4000; ++i) {
    Problem problem =
        i % 2 ? Problem(random.nextOfAll()) : Problem(random.nextPool());
    std::string text = problem.toNetworkConfig();
    ErrorOr<Problem> read = parseNetworkConfig(text);
    ASSERT_TRUE(read) << read.getStatus().getMessage();
    ASSERT_EQ(*read, problem) << text;
    ASSERT_EQ(read->toNetworkConfig(), text);
  }
}

// Problems whose tensors may begin anywhere differ from the others, for every
// kind; no line of MIOpenDriver can express that.
TEST(Problem, NamesTensorsThatBeginAnywhere) {
  test::RandomProblem random;
  SCOPED_TRACE(testing::Message() << "TESSERA_TEST_SEED=" << random.getSeed());
  RowWiseProblem rows;
  rows.lengths[0] = 8;
  rows.tensorCount = 1;
  rows.tensors[0] = {DataType::F16, RowRole::Output, {1}};
  for (const Problem &aligned : {Problem(random.nextOfAll()),
                                 Problem(random.nextPool()), Problem(rows)}) {
    const Problem problem = aligned.asUnaligned();
    EXPECT_TRUE(problem.isUnaligned() && !aligned.isUnaligned());
    EXPECT_NE(problem, aligned);
    EXPECT_NE(problem.getHash(), aligned.getHash());
    EXPECT_TRUE(problem.canonicalize().isUnaligned());
    const std::string text = problem.toNetworkConfig();
    EXPECT_EQ(text, aligned.toNetworkConfig() + "-unaligned");
    EXPECT_EQ(toDriverCommand(problem), text);
    ErrorOr<Problem> read = parseDriverCommand(text);
    ASSERT_TRUE(read) << read.getStatus().getMessage();
    EXPECT_EQ(*read, problem);
  }
  EXPECT_FALSE(parseNetworkConfig("-unaligned"));
}

// A convolution whose kernel must do without a workspace is another problem.
TEST(Problem, NamesTheMissingWorkspace) {
  test::RandomProblem random;
  SCOPED_TRACE(testing::Message() << "TESSERA_TEST_SEED=" << random.getSeed());
  const Problem any(random.nextOfAll());
  const Problem without = any.asWithoutWorkspace();
  EXPECT_TRUE(without.isWithoutWorkspace() && !any.isWithoutWorkspace());
  EXPECT_NE(without, any);
  EXPECT_NE(without.getHash(), any.getHash());
  EXPECT_NE(without.getHash(), any.asUnaligned().getHash());
  EXPECT_TRUE(without.canonicalize().isWithoutWorkspace());
  EXPECT_EQ(without.toNetworkConfig(), any.toNetworkConfig() + "-noworkspace");
  for (const Problem &problem : {without, without.asUnaligned()}) {
    ErrorOr<Problem> read = parseDriverCommand(toDriverCommand(problem));
    ASSERT_TRUE(read) << read.getStatus().getMessage();
    EXPECT_EQ(*read, problem);
  }
  EXPECT_FALSE(
      parseNetworkConfig(any.asUnaligned().toNetworkConfig() + "-noworkspace"));
}

// Every field that changes the answer changes the text.
// Tf32 is a word for f32 with another math type, which other types do not have.
TEST(Problem, NamesTheMathTypeOfF32) {
  ConvProblem problem = makeProblem();
  const std::string half = problem.toNetworkConfig();
  problem.mathType = MathType::Tf32;
  EXPECT_EQ(problem.toNetworkConfig(), half);
  EXPECT_EQ(problem.canonicalize().mathType, MathType::Exact);
  problem.dataType = DataType::F32;
  EXPECT_EQ(problem.canonicalize(), problem);
  const std::string text = problem.toNetworkConfig();
  EXPECT_EQ(text.substr(0, 14), "conv-fwd-tf32-");
  ErrorOr<Problem> read = parseNetworkConfig(text);
  ASSERT_TRUE(read) << read.getStatus().getMessage();
  EXPECT_EQ(*read->getConv(), problem);
}

// Winograd's transforms are forbidden where they could be used; of any other
// convolution that means nothing and is dropped.
TEST(Problem, NamesForbiddenTransforms) {
  ConvProblem problem = makeProblem();
  const std::string text = problem.toNetworkConfig();
  problem.forbidsWinograd = true;
  EXPECT_EQ(problem.canonicalize(), problem);
  EXPECT_EQ(problem.toNetworkConfig(), text + "-nowinograd");
  problem.epilogue.bias = true;
  for (const Problem &any :
       {Problem(problem), Problem(problem).asWithoutWorkspace()}) {
    EXPECT_EQ(toDriverCommand(any), any.toNetworkConfig());
    ErrorOr<Problem> read = parseDriverCommand(any.toNetworkConfig());
    ASSERT_TRUE(read) << read.getStatus().getMessage();
    EXPECT_EQ(*read, any);
  }
  std::vector<ConvProblem> others(8, problem);
  others[0].filter = {1, 1};
  others[1].dataType = DataType::F64;
  others[2].groups = 2;
  others[3].filter = {3, 1};
  others[4].stride = {2, 1};
  others[5].dilation = {1, 2};
  others[6].in.d = 2;
  others[7].filter = {5, 5};
  for (const ConvProblem &other : others)
    EXPECT_FALSE(other.canonicalize().forbidsWinograd)
        << other.toNetworkConfig();
}

TEST(Problem, PutsEveryFieldIntoTheNetworkConfig) {
  std::vector<ConvProblem> problems(43, makeProblem());
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
  problems[18].in.d = 2;
  problems[19].filter.d = 2;
  problems[20].pad.d = 1;
  problems[21].epilogue.alpha = true;
  problems[22].epilogue.beta = true;
  problems[23].epilogue.bias = true;
  problems[24].epilogue.residual = true;
  problems[25].epilogue.activation = Activation::Relu;
  problems[26].xLayout = Layout::Strided;
  problems[26].xStrides = {100000, 1, 1, 7168, 512};
  problems[27].dataType = DataType::I8;
  problems[28].dataType = DataType::I8;
  problems[28].byteResult = DataType::F32;
  problems[29].dataType = problems[30].dataType = DataType::F32;
  problems[30].mathType = MathType::Tf32;
  problems[31].extraPad = {1, 0};
  problems[32].extraPad = {0, 1};
  problems[33].extraPad = {0, -1};
  problems[34].extraPad = {1, 1};
  problems[35].extraPad.d = 1;
  problems[36].forbidsWinograd = true;
  problems[37].epilogue.statistics = true;
  for (int i = 38; i < 43; ++i)
    problems[i].byteResult = DataType::F16;
  problems[38].dataType = DataType::E4M3FNUZ;
  problems[39].dataType = DataType::E5M2FNUZ;
  problems[40].dataType = problems[41].dataType = DataType::E4M3FN;
  problems[41].byteResult = DataType::E4M3FN;
  problems[42].dataType = DataType::E5M2;
  std::set<std::string> texts;
  std::set<uint64_t> hashes;
  for (const ConvProblem &problem : problems) {
    texts.insert(problem.toNetworkConfig());
    hashes.insert(Problem(problem).getHash());
  }
  EXPECT_EQ(hashes.size(), problems.size());
  EXPECT_EQ(texts.size(), problems.size());
}

// Statistics stand between the terms and the activation.
TEST(Problem, ReadsAndWritesStatistics) {
  ConvProblem problem = makeProblem();
  problem.epilogue = {
      .bias = true, .statistics = true, .activation = Activation::Relu};
  EXPECT_TRUE(problem.toNetworkConfig().ends_with("-ebias+stats+relu"));
  EXPECT_FALSE(problem.epilogue.leavesSums());
  ErrorOr<Problem> parsed = parseNetworkConfig(problem.toNetworkConfig());
  ASSERT_TRUE(parsed) << parsed.getStatus().getMessage();
  EXPECT_EQ(*parsed->getConv(), problem.canonicalize());
  problem.epilogue = {.statistics = true};
  EXPECT_TRUE(problem.epilogue.leavesSums());
  EXPECT_FALSE(problem.epilogue.isEmpty());
}

// They are of what a forward convolution stores in a float of up to 32 bits.
TEST(Problem, RefusesStatistics) {
  ConvProblem problem = makeProblem();
  problem.epilogue.statistics = true;
  EXPECT_TRUE(problem.verify().isOk());
  problem.direction = Direction::BackwardData;
  EXPECT_EQ(problem.verify().getMessage(),
            "statistics are of the result of a forward convolution only");
  problem.direction = Direction::Forward;
  problem.dataType = DataType::F64;
  EXPECT_EQ(problem.verify().getMessage(),
            "statistics and the sums of a normalisation's gradient are of f16, "
            "bf16 and f32, not of f64");
}

// A normalisation's gradient stands where forward has statistics; one of its
// words begins the others.
TEST(Problem, ReadsAndWritesNormGradient) {
  ConvProblem problem = makeProblem();
  problem.direction = Direction::BackwardData;
  std::set<uint64_t> hashes = {Problem(problem).getHash()};
  for (NormGradient kind :
       {NormGradient::Plain, NormGradient::Relu, NormGradient::Mask}) {
    problem.epilogue = {.normGradient = kind};
    EXPECT_TRUE(problem.epilogue.leavesSums());
    EXPECT_FALSE(problem.epilogue.isEmpty());
    EXPECT_TRUE(problem.verify().isOk());
    hashes.insert(Problem(problem).getHash());
    for (Activation activation : {Activation::None, Activation::Relu}) {
      problem.epilogue = {
          .residual = true, .normGradient = kind, .activation = activation};
      EXPECT_FALSE(problem.epilogue.leavesSums());
      ErrorOr<Problem> parsed = parseNetworkConfig(problem.toNetworkConfig());
      ASSERT_TRUE(parsed) << parsed.getStatus().getMessage();
      EXPECT_EQ(*parsed->getConv(), problem.canonicalize());
    }
  }
  EXPECT_EQ(hashes.size(), 4u);
  EXPECT_TRUE(
      problem.toNetworkConfig().ends_with("-eresidual+normgradmask+relu"));
}

// It is of what backward data stores in a float of up to 32 bits.
TEST(Problem, RefusesNormGradient) {
  ConvProblem problem = makeProblem();
  problem.epilogue.normGradient = NormGradient::Plain;
  EXPECT_EQ(problem.verify().getMessage(),
            "the sums of a normalisation's gradient are of the result of "
            "backward data only");
  problem.direction = Direction::BackwardData;
  problem.dataType = DataType::F64;
  EXPECT_EQ(problem.verify().getMessage(),
            "statistics and the sums of a normalisation's gradient are of f16, "
            "bf16 and f32, not of f64");
  problem.epilogue = {.statistics = true};
  EXPECT_EQ(problem.verify().getMessage(),
            "statistics are of the result of a forward convolution only");
}

// A pooling's text holds every field, can be parsed again, and is stable.
TEST(Problem, ReadsAndWritesPooling) {
  PoolProblem pool;
  pool.mode = PoolMode::Max;
  pool.dataType = DataType::F16;
  pool.xLayout = pool.yLayout = Layout::NHWC;
  pool.batch = 64;
  pool.channels = 32;
  pool.in = {112, 112};
  pool.window = {3, 3};
  pool.pad = {1, 1};
  pool.stride = {2, 2};
  pool.indexType = IndexType::U8;
  EXPECT_EQ(pool.toNetworkConfig(),
            "pool-fwd-max-f16-nhwc,nhwc-n64c32h112w112-y3x3-p1x1-s2x2-iu8mask");
  EXPECT_EQ(pool.getOutput(), (Spatial{56, 56}));
  std::vector<PoolProblem> pools(11, pool);
  pools[1].direction = Direction::BackwardData;
  pools[2].mode = PoolMode::Average;
  pools[2].indexType = IndexType::None;
  pools[3].indexType = IndexType::U32;
  pools[3].indexMode = IndexMode::Image;
  pools[4].indexType = IndexType::None;
  pools[5].in.d = 4;
  pools[6].window.d = pools[6].in.d = 2;
  pools[7].yLayout = Layout::Strided;
  pools[7].yStrides = {300000, 1, 1, 3584, 64};
  pools[8].extraPad = {1, 0};
  pools[9].extraPad = {-1, 2};
  pools[10].extraPad.d = 1;
  EXPECT_NE(pools[9].toNetworkConfig().find("-p1:0x1:3-s2x2"),
            std::string::npos);
  std::set<std::string> texts;
  std::set<uint64_t> hashes;
  for (const PoolProblem &each : pools) {
    std::string text = each.toNetworkConfig();
    ErrorOr<Problem> read = parseNetworkConfig(text);
    ASSERT_TRUE(read) << read.getStatus().getMessage();
    EXPECT_EQ(*read, Problem(each)) << text;
    texts.insert(text);
    hashes.insert(Problem(each).getHash());
  }
  EXPECT_EQ(texts.size(), pools.size());
  EXPECT_EQ(hashes.size(), pools.size());
  // Rounding up is more padding at the end, and as much as needed.
  pools[8].extraPad = {7, 2};
  pools[8].in = {113, 112};
  EXPECT_EQ(pools[8].canonicalize().getPadAfter(), (Pads{7, 2}));
  EXPECT_EQ(pools[9].canonicalize().getPadAfter(), (Pads{1, 2}));
}

// Pooling's own rules, each with a sentence.
TEST(Problem, NamesThePoolingRuleThatIsBroken) {
  PoolProblem pool;
  pool.in = {20, 20};
  pool.window = {3, 3};
  EXPECT_TRUE(pool.verify().isOk());
  auto getMessage = [](const PoolProblem &broken) {
    EXPECT_EQ(broken.verify().getCode(), StatusCode::InvalidArgument);
    return broken.verify().getMessage();
  };
  PoolProblem p = pool;
  p.direction = Direction::BackwardData;
  EXPECT_EQ(getMessage(p),
            "max pooling backward needs the indices of the forward pass");
  p.indexType = IndexType::U8;
  EXPECT_TRUE(p.verify().isOk());
  p.indexMode = IndexMode::Image;
  EXPECT_EQ(getMessage(p),
            "the index type u8 is too small for the 400 pixels of the input");
  p = pool;
  p.window = {15, 17};
  p.indexType = IndexType::U8;
  EXPECT_EQ(getMessage(p), "the index type u8 is too small for the 255 offsets "
                           "of the window");
  p.window = {INT32_MAX, INT32_MAX, INT32_MAX};
  p.indexType = IndexType::U64; // Its number has more than 64 bits.
  EXPECT_TRUE(getMessage(p).ends_with("offsets of the window"));
  p = pool;
  p.mode = PoolMode::Average;
  p.indexType = IndexType::U8;
  EXPECT_EQ(getMessage(p), "only max pooling has indices");
  p = pool;
  p.dataType = DataType::F64;
  EXPECT_EQ(getMessage(p), "pooling computes with f16, bf16 and f32, not f64");
}

// Equal tensors have equal texts: a strided layout that has a word becomes the
// word, and strides that a length of 1 leaves open get one value.
TEST(Problem, CanonicalizesLayoutsAndDepth) {
  ConvProblem packed = makeProblem();
  ConvProblem strided = packed;
  strided.xLayout = Layout::Strided;
  strided.xStrides = packed.getInputStrides();
  strided.xStrides.d = 77;
  strided.stride.d = 3;
  EXPECT_NE(strided, packed);
  EXPECT_EQ(strided.canonicalize(), packed);
  strided.xStrides.h += 8;
  EXPECT_EQ(strided.canonicalize().xLayout, Layout::Strided);
}

// Padding that differs between the ends has both numbers in the text, before
// and after; equal padding has one.
TEST(Problem, NamesBothEndsOfUnequalPadding) {
  ConvProblem p = makeProblem();
  p.pad = {2, 1};
  p.setPadAfter({0, 1});
  EXPECT_NE(p.toNetworkConfig().find("-p2:0x1-s"), std::string::npos);
  EXPECT_EQ(p.getOutput(), (Spatial{14, 14}));
  p.setPadAfter({2, 3});
  EXPECT_NE(p.toNetworkConfig().find("-p2x1:3-s"), std::string::npos);
  EXPECT_EQ(p.getOutput(), (Spatial{16, 16}));
  // All padding of the time is before the first frame.
  ConvProblem causal = makeProblem();
  causal.in.d = 5;
  causal.filter.d = 3;
  causal.pad.d = 2;
  causal.extraPad.d = -2;
  EXPECT_NE(causal.toNetworkConfig().find("-p2:0x1x1-s"), std::string::npos);
  EXPECT_EQ(causal.getOutput().d, 5);
}

// The padding after the last element only decides the output size: problems
// with the same size are one, which has equal padding if it can, else the least
// at the end.
TEST(Problem, CanonicalizesPadding) {
  struct Case {
    int64_t before, after, canonical;
  };
  // 14 elements, windows of 3 at a distance of 2.
  for (auto [before, after, canonical] :
       {Case{1, 0, 1}, Case{1, 2, 2}, Case{0, 1, 1}, Case{0, 2, 1},
        Case{3, 0, 0}, Case{3, 1, 0}, Case{3, 2, 3}, Case{0, 5, 5}}) {
    ConvProblem p = makeProblem();
    p.stride = {2, 2};
    p.pad = {before, before};
    p.setPadAfter({after, after});
    const ConvProblem same = p.canonicalize();
    EXPECT_EQ(same.getPadAfter(), (Pads{canonical, canonical}))
        << before << ":" << after;
    EXPECT_EQ(same.getOutput(), p.getOutput());
    EXPECT_EQ(same.canonicalize(), same);
  }
  test::RandomProblem random;
  SCOPED_TRACE(testing::Message() << "TESSERA_TEST_SEED=" << random.getSeed());
  for (int i = 0; i < 2000; ++i) {
    ConvProblem p = random.next();
    p.pad.d = random.pick(0, 2);
    p.setPadAfter({random.pick(0, 9), random.pick(0, 9), random.pick(0, 2)});
    const ConvProblem same = p.canonicalize();
    ASSERT_TRUE(same.verify().isOk()) << p.toNetworkConfig();
    ASSERT_EQ(same.getOutput(), p.getOutput()) << p.toNetworkConfig();
    ASSERT_EQ(same.pad, p.pad);
    ASSERT_EQ(same.canonicalize(), same) << p.toNetworkConfig();
    // Another padding that gives the same size is the same problem.
    ConvProblem other = p;
    other.extraPad.w += 1;
    if (other.getOutput() == p.getOutput())
      ASSERT_EQ(other.canonicalize(), same) << p.toNetworkConfig();
  }
}

// A result whose elements share memory would depend on the order of writes.
TEST(Problem, RefusesOverlappingResults) {
  ConvProblem p = makeProblem();
  p.yLayout = Layout::Strided;
  p.yStrides = p.getOutputStrides();
  p.yStrides = getPackedStrides(Layout::NHWC, p.getOutputLengths());
  EXPECT_TRUE(p.verify().isOk());
  p.yStrides.h -= 1;
  EXPECT_EQ(p.verify().getMessage(),
            "the strides of the output put two of its elements at one address, "
            "but it is written");
  p.yStrides.h = 0;
  EXPECT_EQ(p.verify().getMessage(),
            "a stride of the output is 0, but must be at least 1");
}

// Only the canonical text is a key: no other text may be parsed as the same
// problem.
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
           {"-p1x1", "-p1:1x1"},
           {"-p1x1", "-p1:x1"},
           {"-p1x1", "-p1x1:"},
           {"-p1x1", "-p1x1:-1"},
           {"-p1x1", "-p1x5:-9223372036854775808"},
           {"-p1x1", "-p1x1:02"},
           {"-p1x1", "-p1:2:3x1"},
           {"-s1x1", "-s1:2x1"},
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

// A config that can be parsed but breaks a rule is refused with the rule.
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
    void (*breakIt)(ConvProblem &);
    const char *sentence;
  };
  constexpr int64_t tooLong = 1LL << 31;
  const Case cases[] = {
      {[](ConvProblem &p) { p.batch = 0; }, "the batch size is 0"},
      {[](ConvProblem &p) { p.batch = tooLong; },
       "the batch size is 2147483648"},
      {[](ConvProblem &p) { p.inChannels = -1; },
       "the number of input channels is -1"},
      {[](ConvProblem &p) { p.outChannels = 0; },
       "the number of output channels is 0"},
      {[](ConvProblem &p) { p.groups = 0; }, "the group count is 0"},
      {[](ConvProblem &p) { p.in.h = 0; }, "the input height is 0"},
      {[](ConvProblem &p) { p.in.w = 0; }, "the input width is 0"},
      {[](ConvProblem &p) { p.filter.h = 0; }, "the filter height is 0"},
      {[](ConvProblem &p) { p.filter.w = 0; }, "the filter width is 0"},
      {[](ConvProblem &p) { p.pad.h = -1; }, "the vertical padding is -1"},
      {[](ConvProblem &p) { p.pad.w = -1; }, "the horizontal padding is -1"},
      {[](ConvProblem &p) { p.extraPad.h = -2; },
       "the vertical padding after the image is -1"},
      {[](ConvProblem &p) { p.extraPad.w = tooLong; },
       "the horizontal padding after the image is 2147483649"},
      {[](ConvProblem &p) { p.extraPad.d = -1; },
       "the padding after the depth is -1"},
      {[](ConvProblem &p) { p.stride.h = 0; }, "the vertical stride is 0"},
      {[](ConvProblem &p) { p.stride.w = 0; }, "the horizontal stride is 0"},
      {[](ConvProblem &p) { p.dilation.h = 0; }, "the vertical dilation is 0"},
      {[](ConvProblem &p) { p.dilation.w = 0; },
       "the horizontal dilation is 0"},
      {[](ConvProblem &p) {
         p.inChannels = 6, p.outChannels = 8, p.groups = 4;
       },
       "the number of input channels is 6, but must be a multiple of the "
       "group count 4"},
      {[](ConvProblem &p) {
         p.inChannels = 8, p.outChannels = 6, p.groups = 4;
       },
       "the number of output channels is 6, but must be a multiple"},
      {[](ConvProblem &p) { p.in = {tooLong - 1, tooLong - 1}; },
       "the input has more bytes than 64 bits can count"},
      {[](ConvProblem &p) { p.filter = {tooLong - 1, tooLong - 1}; },
       "the filter has more bytes than 64 bits can count"},
      {[](ConvProblem &p) { p.pad = {tooLong - 1, tooLong - 1}; },
       "the output has more bytes than 64 bits can count"},
  };
  EXPECT_TRUE(makeProblem().verify().isOk());
  for (const Case &c : cases) {
    ConvProblem problem = makeProblem();
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

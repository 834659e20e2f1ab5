//===- RowWiseProblemTest.cpp - Rules, text and canonical form of rows ----===//

#include "runtime/Base/Problem.h"
#include "runtime/Base/RowWiseKind.h"
#include "runtime/DriverCommand/DriverCommand.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

using namespace tessera;

/// Input and output of one type and the same strides.
static RowWiseProblem makeProblem(RowWiseKind op, std::vector<int64_t> lengths,
                                  std::vector<int64_t> strides,
                                  uint32_t reduced = 0) {
  RowWiseProblem p;
  p.op = op;
  p.rank = static_cast<int>(lengths.size());
  p.reduced = reduced;
  std::ranges::copy(lengths, p.lengths.begin());
  p.tensorCount = 2;
  std::ranges::copy(strides, p.tensors[0].strides.begin());
  p.tensors[1] = p.tensors[0];
  p.tensors[1].role = RowRole::Output;
  return p;
}

static RowWiseProblem makeSoftmax() {
  RowWiseProblem p = makeProblem(RowWiseKind::SoftmaxForward, {64, 1000, 49},
                                 {49000, 49, 1}, 0b010);
  p.mode = 2;
  return p;
}

// The text is the key of databases that outlive this build.
TEST(RowWiseProblem, HasAStableNetworkConfig) {
  EXPECT_EQ(makeSoftmax().toNetworkConfig(),
            "rowwise-softmax_fwd-m2-64x1000x49-r1-i:f32:49000:49:1-"
            "o:f32:49000:49:1");
  RowWiseProblem sums =
      makeProblem(RowWiseKind::SoftmaxForward, {3, 4, 5, 6, 7},
                  {840, 210, 42, 7, 1}, 0b10101);
  sums.tensors[0].type = DataType::BF16;
  sums.tensors[1] = {DataType::I64, RowRole::RowOutput, {0, 6, 0, 1, 0}};
  EXPECT_EQ(sums.toNetworkConfig(),
            "rowwise-softmax_fwd-m0-3x4x5x6x7-r0,2,4-i:bf16:840:210:42:7:1-"
            "r:i64:0:6:0:1:0");
}

/// A random problem: valid, but without a meaning.
static RowWiseProblem draw(std::mt19937_64 &random) {
  auto pick = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  RowWiseProblem p;
  p.op = static_cast<RowWiseKind>(pick(0, 2));
  p.mode = static_cast<uint32_t>(pick(0, 1000000));
  p.rank = static_cast<int>(pick(1, kMaxRowRank));
  p.reduced = static_cast<uint32_t>(pick(0, (1 << p.rank) - 1));
  for (int dim = 0; dim < p.rank; ++dim)
    p.lengths[dim] = pick(1, 4);
  p.tensorCount = static_cast<int>(pick(1, kMaxTensors));
  for (int i = 0; i < p.tensorCount; ++i) {
    RowTensor &tensor = p.tensors[i];
    tensor.role =
        i + 1 == p.tensorCount
            ? RowRole::Output
            : static_cast<RowRole>(
                  pick(i ? static_cast<int>(p.tensors[i - 1].role) : 0, 2));
    tensor.type = kDataTypes[pick(0, std::size(kDataTypes) - 1)];
    int64_t stride = pick(1, 2);
    for (int dim = p.rank; dim-- > 0;) {
      if ((tensor.role == RowRole::RowOutput && p.isReduced(dim)) ||
          (tensor.role == RowRole::Input && pick(0, 3) == 0))
        continue;
      tensor.strides[dim] = stride;
      stride *= p.lengths[dim] + pick(0, 5) / 5;
    }
  }
  return p;
}

// A network config can be parsed again and is the same problem; so is the
// canonical form, whose own canonical form is itself.
TEST(RowWiseProblem, RoundTripsThroughTheNetworkConfig) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 4000; ++i) {
    const RowWiseProblem drawn = draw(random);
    ASSERT_TRUE(drawn.verify().isOk())
        << drawn.toNetworkConfig() << drawn.verify().getMessage();
    const RowWiseProblem canonical = drawn.canonicalize();
    EXPECT_EQ(canonical.canonicalize(), canonical) << drawn.toNetworkConfig();
    EXPECT_EQ(canonical.getElements(), drawn.getElements());
    EXPECT_EQ(canonical.getRowLength(), drawn.getRowLength());
    EXPECT_EQ(canonical.reduced != 0, drawn.reduced != 0);
    for (int tensor = 0; tensor < drawn.tensorCount; ++tensor)
      EXPECT_EQ(canonical.getSpan(tensor), drawn.getSpan(tensor));
    for (const Problem &problem : {Problem(drawn), Problem(canonical)}) {
      const std::string text = problem.toNetworkConfig();
      const ErrorOr<Problem> read = parseNetworkConfig(text);
      ASSERT_TRUE(read) << read.getStatus().getMessage();
      EXPECT_EQ(*read, problem) << text;
      EXPECT_EQ(read->getHash(), problem.getHash());
    }
  }
}

// Every field that changes the answer changes the text and the hash.
TEST(RowWiseProblem, PutsEveryFieldIntoTheNetworkConfig) {
  std::vector<RowWiseProblem> problems(11, makeSoftmax());
  problems[1].op = RowWiseKind::ActivationForward;
  problems[2].mode = 3;
  problems[3].lengths[0] = 63;
  problems[4].reduced = 0b011;
  problems[5].tensors[0].type = DataType::F16;
  problems[6].tensors[1].type = DataType::F16;
  problems[7].tensors[0].strides[0] = 0;
  problems[8].tensors[1].strides = {1, 64, 64000};
  problems[9].tensors[2] = problems[9].tensors[1];
  problems[9].tensorCount = 3;
  problems[10].tensors[0].role = RowRole::Output;
  std::set<std::string> texts;
  std::set<uint64_t> hashes;
  for (const RowWiseProblem &problem : problems) {
    texts.insert(problem.toNetworkConfig());
    hashes.insert(Problem(problem).getHash());
  }
  EXPECT_EQ(texts.size(), problems.size());
  EXPECT_EQ(hashes.size(), problems.size());
}

// A packed tensor is one dimension, whatever its layout: lengths in the order
// n, c, h, w with strides of NCHW or NHWC.
TEST(RowWiseProblem, MergesWhatLiesTogether) {
  const RowWiseProblem nchw =
      makeProblem(RowWiseKind::ActivationForward, {2, 3, 4, 5}, {60, 20, 5, 1});
  const RowWiseProblem nhwc =
      makeProblem(RowWiseKind::ActivationForward, {2, 3, 4, 5}, {60, 1, 15, 3});
  EXPECT_EQ(nchw.canonicalize().toNetworkConfig(),
            "rowwise-activ_fwd-m0-120-r-i:f32:1-o:f32:1");
  EXPECT_EQ(nhwc.canonicalize(), nchw.canonicalize());
  RowWiseProblem gap = nchw;
  gap.tensors[0].strides[0] = 100;
  EXPECT_EQ(gap.canonicalize().toNetworkConfig(),
            "rowwise-activ_fwd-m0-2x60-r-i:f32:100:1-o:f32:60:1");
  RowWiseProblem mixed = nchw;
  mixed.tensors[1].strides = nhwc.tensors[1].strides;
  EXPECT_EQ(mixed.canonicalize().toNetworkConfig(),
            "rowwise-activ_fwd-m0-2x3x20-r-i:f32:60:20:1-o:f32:60:1:3");
}

// Kernels count the elements of a dimension in 30 bits, and those of all
// together in 31: contiguous dimensions are merged up to that limit.
TEST(RowWiseProblem, MergesNoMoreThanKernelsCount) {
  auto getConfig = [](int64_t outer, int64_t inner) {
    return makeProblem(RowWiseKind::ActivationForward, {outer, inner},
                       {inner, 1})
        .canonicalize()
        .toNetworkConfig();
  };
  EXPECT_EQ(getConfig(63, 1 << 24),
            "rowwise-activ_fwd-m0-1056964608-r-i:f32:1-o:f32:1");
  EXPECT_EQ(
      getConfig(64, 1 << 24),
      "rowwise-activ_fwd-m0-64x16777216-r-i:f32:16777216:1-o:f32:16777216:1");
}

// Reduced and other dimensions stay separate, a broadcast is kept, and the
// largest tensor decides the order.
TEST(RowWiseProblem, KeepsRowsAndBroadcastsSeparate) {
  EXPECT_EQ(makeProblem(RowWiseKind::SoftmaxForward, {2, 3, 4, 5},
                        {60, 1, 15, 3}, 0b1110)
                .canonicalize()
                .toNetworkConfig(),
            "rowwise-softmax_fwd-m0-2x60-r1-i:f32:60:1-o:f32:60:1");
  RowWiseProblem bias = makeProblem(RowWiseKind::BatchNormInference,
                                    {2, 3, 4, 5}, {60, 1, 15, 3});
  bias.tensors[0].strides = {0, 1, 0, 0};
  EXPECT_EQ(bias.canonicalize().toNetworkConfig(),
            "rowwise-bnorm_infer-m0-40x3-r-i:f32:0:1-o:f32:3:1");
}

// Two bytes may be so far apart that twice their distance overflows.
TEST(RowWiseProblem, KeepsFarElementsSeparate) {
  RowWiseProblem far =
      makeProblem(RowWiseKind::ActivationForward, {2, 2}, {2, 1});
  far.tensors[0].type = far.tensors[1].type = DataType::I8;
  far.tensors[0].strides = {0, int64_t(1) << 62};
  EXPECT_TRUE(far.verify().isOk());
  EXPECT_EQ(far.canonicalize().rank, 2);
}

// A row of one element is still a row, and a space has at least one dimension.
TEST(RowWiseProblem, KeepsOneReducedDimension) {
  EXPECT_EQ(makeProblem(RowWiseKind::SoftmaxForward, {7, 1, 1, 3}, {3, 5, 9, 1},
                        0b0110)
                .canonicalize()
                .toNetworkConfig(),
            "rowwise-softmax_fwd-m0-21x1-r1-i:f32:1:0-o:f32:1:0");
  EXPECT_EQ(makeProblem(RowWiseKind::ActivationForward, {1, 1}, {3, 5})
                .canonicalize()
                .toNetworkConfig(),
            "rowwise-activ_fwd-m0-1-r-i:f32:0-o:f32:0");
}

// Each rule has a sentence.
TEST(RowWiseProblem, NamesTheRuleThatIsBroken) {
  auto getMessage = [](auto &&change) {
    RowWiseProblem p = makeSoftmax();
    EXPECT_TRUE(p.verify().isOk());
    change(p);
    EXPECT_EQ(p.verify().getCode(), StatusCode::InvalidArgument);
    return p.verify().getMessage();
  };
  EXPECT_EQ(getMessage([](RowWiseProblem &p) { p.rank = 6; }),
            "the space has 6 dimensions, but must have between 1 and 5");
  EXPECT_EQ(getMessage([](RowWiseProblem &p) { p.lengths[1] = 0; }),
            "length 1 of the space is 0, but must be between 1 and "
            "2147483647");
  EXPECT_EQ(getMessage([](RowWiseProblem &p) { p.reduced = 8; }),
            "a dimension is reduced that the space lacks");
  EXPECT_EQ(getMessage([](RowWiseProblem &p) {
              p.lengths = {1, 1 << 16, 1 << 16, 1, 1};
              p.reduced = 7;
            }),
            "a row has 4294967296 elements, but may have 2147483647");
  EXPECT_EQ(getMessage([](RowWiseProblem &p) { p.tensorCount = 0; }),
            "there are 0 tensors, but must be between 1 and 16");
  EXPECT_EQ(getMessage([](RowWiseProblem &p) {
              p.tensors[0].role = RowRole::Output;
              p.tensors[1].role = RowRole::Input;
            }),
            "tensors must be in the order inputs, row outputs, outputs");
  EXPECT_EQ(
      getMessage([](RowWiseProblem &p) { p.tensors[1].role = RowRole::Input; }),
      "no tensor is written");
  EXPECT_EQ(getMessage([](RowWiseProblem &p) { p.tensors[0].strides[0] = -1; }),
            "a stride of tensor 0 is -1, but must not be negative");
  EXPECT_EQ(
      getMessage(
          [](RowWiseProblem &p) { p.tensors[1].role = RowRole::RowOutput; }),
      "tensor 1 has one element a row, but a stride in reduced dimension 1");
  EXPECT_EQ(
      getMessage([](RowWiseProblem &p) { p.tensors[1].strides[0] = 0; }),
      "the strides of tensor 1 put two of its elements at one address, but "
      "it is written");
  EXPECT_EQ(getMessage(
                [](RowWiseProblem &p) { p.tensors[0].strides[1] = INT64_MAX; }),
            "tensor 0 has more bytes than 64 bits can count");
}

// Text that the printer does not write is refused.
TEST(RowWiseProblem, RefusesOtherText) {
  for (const char *text :
       {"rowwise-", "rowwise-softmax_fwd-m0-4-r-",
        "rowwise-nothing-m0-4-r-o:f32:1",
        "rowwise-activ_fwd-m0-4-r-i:f32:1:1-o:f32:1",
        "rowwise-activ_fwd-m0-4-r1-i:f32:1-o:f32:1",
        "rowwise-activ_fwd-m0-4-r0,-i:f32:1-o:f32:1",
        "rowwise-activ_fwd-m00-4-r-i:f32:1-o:f32:1",
        "rowwise-activ_fwd-m0-1x1x1x1x1x1-r-o:f32:1:1:1:1:1:1",
        "rowwise-activ_fwd-m0-4-r-i:f32:1-x:f32:1"})
    EXPECT_EQ(parseNetworkConfig(text).getStatus().getCode(),
              StatusCode::InvalidArgument)
        << text;
}

// Every row problem has a line that can be parsed: MIOpenDriver's where it has
// one, else the network config.
TEST(RowWiseProblem, IsADriverCommand) {
  auto check = [](const RowWiseProblem &problem, std::string_view line) {
    EXPECT_EQ(toDriverCommand(problem), line);
    const ErrorOr<Problem> read = parseDriverCommand(line);
    ASSERT_TRUE(read) << read.getStatus().getMessage();
    EXPECT_EQ(*read, Problem(problem));
  };
  check(makeSoftmax(), "softmax -n 64 -c 1000 -H 1 -W 49 -a 2 -m 1 -F 1 -t 1");
  RowWiseProblem p = makeProblem(RowWiseKind::ActivationForward, {60}, {1});
  p.mode = 3;
  check(p, "activ -n 1 -c 1 -H 1 -W 60 -m 3 -F 1 -t 1");
  p.tensors[0].type = p.tensors[1].type = DataType::BF16;
  check(p, "activbfp16 -n 1 -c 1 -H 1 -W 60 -m 3 -F 1 -t 1");
  p.mode = 10;
  check(p, p.toNetworkConfig());
  p = makeProblem(RowWiseKind::ScaleTensor, {60}, {1});
  check(p, "tensorop -n 1 -c 1 -H 1 -W 60 -o 1 -t 1");
  p.op = RowWiseKind::OpTensor;
  p.mode = 2;
  p.tensorCount = 4;
  p.tensors[3] = p.tensors[1];
  p.tensors[1] = p.tensors[2] = p.tensors[0];
  check(p, "tensorop -n 1 -c 1 -H 1 -W 60 -o 4 -G 1 -t 1");
  p.tensors[1].strides[0] = 0;
  check(p, p.toNetworkConfig());
  for (const char *line :
       {"softmaxfp16 -n 1 -c 7 -H 1 -W 9 -a 1 -m 1 -B 1 -F 1 -t 1",
        "softmaxbfp16 -n 3 -c 7 -H 1 -W 1 -a 0 -m 1 -F 2 -t 1",
        "reduce -D 10,6,16 -R 0,2 -O 7 -t 1",
        "reducefp16 -D 10,6 -R 1 -O 3 -N 1 -I 1 -B 1 -t 1"}) {
    const ErrorOr<Problem> read = parseDriverCommand(line);
    ASSERT_TRUE(read) << read.getStatus().getMessage();
    check(*read->getRows(), line);
  }
  // MIOpenDriver cannot express gaps, a type without a word, and indices alone.
  for (const char *config :
       {"rowwise-softmax_fwd-m1-3x7-r1-i:f32:8:1-o:f32:7:1",
        "rowwise-reduce-m0-3x7-r1-i:f64:7:1-r:f64:1:0",
        "rowwise-reduce-m66-3x7-r1-i:f32:7:1-r:i32:1:0"}) {
    const ErrorOr<Problem> read = parseDriverCommand(config);
    ASSERT_TRUE(read) << read.getStatus().getMessage();
    check(*read->getRows(), config);
  }
}

// A network config is a command, with flags that say how to run it.
TEST(RowWiseProblem, IsRunByItsNetworkConfig) {
  const std::string config = makeSoftmax().toNetworkConfig();
  const ErrorOr<DriverOptions> options = parseDriverOptions(
      std::vector<std::string>{"dnn-driver", config, "-i", "3", "-V", "0"});
  ASSERT_TRUE(options) << options.getStatus().getMessage();
  EXPECT_EQ(options->problems.front(), Problem(makeSoftmax()));
  EXPECT_EQ(options->iterations, 3);
  EXPECT_FALSE(options->verify);
  EXPECT_EQ(parseDriverOptions(std::vector<std::string>{config, "-n", "3"})
                .getStatus()
                .getMessage(),
            "unknown flag '-n'");
}

// MIOpenDriver's flags of activations and tensor operations.
TEST(RowWiseProblem, ReadsDriverFlags) {
  auto parse = [](std::vector<std::string> words) {
    return parseDriverOptions(words);
  };
  ErrorOr<DriverOptions> options =
      parse({"activfp16", "-n", "2", "-c", "3", "-H", "4", "-W", "5", "-m", "6",
             "-A", "0.5", "-B", "-2", "-G", "1e1"});
  ASSERT_TRUE(options) << options.getStatus().getMessage();
  ASSERT_EQ(options->problems.size(), 2u);
  EXPECT_EQ(options->problems[0].toNetworkConfig(),
            "rowwise-activ_fwd-m6-120-r-i:f16:1-o:f16:1");
  EXPECT_EQ(options->problems[1].toNetworkConfig(),
            "rowwise-activ_bwd-m6-120-r-i:f16:1-i:f16:1-i:f16:1-o:f16:1");
  EXPECT_EQ(options->scalars, (std::vector<double>{0.5, -2, 10}));
  options = parse({"tensorop", "--tensor_op", "0", "--tensor_val", "7"});
  ASSERT_TRUE(options) << options.getStatus().getMessage();
  EXPECT_EQ(options->problems[0].toNetworkConfig(),
            "rowwise-set-m0-196608-r-o:f32:1");
  EXPECT_EQ(options->scalars, std::vector<double>{7});
  for (const auto &[words, message] :
       {std::pair{std::vector<std::string>{"activ", "-m", "10"},
                  "flag '--mode' must be between 0 and 9, not 10"},
        {{"activ", "-A", "x"}, "flag '--alpha' needs a number, not 'x'"},
        {{"tensorop", "-o", "6"},
         "flag '--tensor_op' must be between 0 and 5, not 6"},
        {{"activfp64"}, "activ has f16, bf16 and f32, not f64"},
        {{"activ", "-n", "0"},
         "length 0 of the space is 0, but must be between 1 and 2147483647"}})
    EXPECT_EQ(parse(words).getStatus().getMessage(), message);
}

//===- DriverCommandTest.cpp - MIOpenDriver's command line ----------------===//

#include "runtime/Base/DriverCommand.h"

#include "test/unit/Support/RandomProblem.h"

#include <gtest/gtest.h>

#include <set>

using namespace tessera;

using Words = std::vector<std::string>;

static DriverOptions parse(const Words &words) {
  ErrorOr<DriverOptions> options = parseDriverOptions(words);
  if (options)
    return *options;
  ADD_FAILURE() << options.getStatus().getMessage();
  return {};
}

static std::string getNetworkConfig(const std::string &command) {
  ErrorOr<Problem> problem = parseDriverCommand(command);
  return problem ? problem->toNetworkConfig()
                 : problem.getStatus().getMessage();
}

// An operation without flags means MIOpenDriver's defaults.
TEST(DriverCommand, HasMiopenDriversDefaults) {
  EXPECT_EQ(getNetworkConfig("conv"),
            "conv-fwd-f32-nchw,nchw,nchw-n100c3h32w32-k32y3x3-p0x0-s1x1-d1x1-"
            "g1");
  DriverOptions options = parse({"conv"});
  EXPECT_EQ(options.forw, 0);
  EXPECT_EQ(options.iterations, 10);
  EXPECT_TRUE(options.verify);
  EXPECT_FALSE(options.time);
  EXPECT_FALSE(options.wall);
  EXPECT_FALSE(options.search);
  EXPECT_FALSE(options.bias);
  EXPECT_TRUE(options.printProblem);
  EXPECT_EQ(options.solution, -1);
  EXPECT_TRUE(options.others.empty());
}

// Every short flag that describes the problem does so.
TEST(DriverCommand, ReadsShortFlags) {
  EXPECT_EQ(getNetworkConfig("convfp16 -n 1 -c 4 -H 20 -W 21 -k 6 -y 5 -x 7 "
                             "-p 1 -q 2 -u 3 -v 4 -l 5 -j 6 -g 2 -I NHWC "
                             "-f NCHW -O NHWC -F 2 -m conv -_ 2 -z default"),
            "conv-bwd-f16-nhwc,nchw,nhwc-n1c4h20w21-k6y5x7-p1x2-s3x4-d5x6-g2");
}

// A line of AMD's perf_models files, with long flags and some of 3-D.
TEST(DriverCommand, ReadsLongFlags) {
  EXPECT_EQ(
      getNetworkConfig(
          "./bin/MIOpenDriver convbfp16 --batchsize 128 --spatial_dim 2 "
          "--pad_h 2 --pad_w 3 --pad_d 0 --conv_stride_h 1 --conv_stride_w 2 "
          "--conv_stride_d 0 --dilation_h 3 --dilation_w 1 --dilation_d 0 "
          "--group_count 1 --mode conv --pad_mode default "
          "--trans_output_pad_h 0 --trans_output_pad_w 0 "
          "--trans_output_pad_d 0 --in_layout NHWC --fil_layout NHWC "
          "--out_layout NHWC --in_d 1 --in_h 27 --in_w 28 --fil_d 1 --fil_h 5 "
          "--fil_w 4 --in_channels 64 --out_channels 192 --forw 4"),
      "conv-wrw-bf16-nhwc,nhwc,nhwc-n128c64h27w28-k192y5x4-p2x3-s1x2-d3x1-g1");
}

// "--flag=value" is read too, and a later flag wins.
TEST(DriverCommand, ReadsAttachedValues) {
  EXPECT_EQ(parse({"conv", "--in_h=7", "-H", "9"}).problem.in.h, 9);
  EXPECT_EQ(parse({"conv", "-H", "9", "--in_h=7"}).problem.in.h, 7);
}

// The operation names the type; both spellings of bfloat16 are known.
TEST(DriverCommand, ReadsOperations) {
  EXPECT_EQ(parse({"conv"}).problem.dataType, DataType::F32);
  EXPECT_EQ(parse({"convfp16"}).problem.dataType, DataType::F16);
  EXPECT_EQ(parse({"convbfp16"}).problem.dataType, DataType::BF16);
  EXPECT_EQ(parse({"convbf16"}).problem.dataType, DataType::BF16);
}

// A program name before the operation is skipped, whatever it is.
TEST(DriverCommand, SkipsTheProgram) {
  EXPECT_EQ(parse({"dnn-driver", "conv", "-n", "5"}).problem.batch, 5);
  EXPECT_EQ(parse({"/opt/rocm/bin/MIOpenDriver", "conv"}).problem.batch, 100);
}

// A line can be pasted from a log as it is.
TEST(DriverCommand, ReadsLogLines) {
  EXPECT_EQ(getNetworkConfig("MIOpen(HIP): Command [LogCmdConvolution] "
                             "./bin/MIOpenDriver convfp16 -n 2 -F 1 -t 1\n"),
            "conv-fwd-f16-nchw,nchw,nchw-n2c3h32w32-k32y3x3-p0x0-s1x1-d1x1-g1");
}

// --forw is a sum of bits; the problem takes the first direction of it.
TEST(DriverCommand, ReadsDirections) {
  const Direction expected[] = {Direction::Forward,         Direction::Forward,
                                Direction::BackwardData,    Direction::Forward,
                                Direction::BackwardWeights, Direction::Forward,
                                Direction::BackwardData,    Direction::Forward};
  for (int forw = 0; forw < 8; ++forw) {
    DriverOptions options = parse({"conv", "-F", std::to_string(forw)});
    EXPECT_EQ(options.forw, forw);
    EXPECT_EQ(options.problem.direction, expected[forw]) << forw;
  }
}

// Flags about the run have fields; files and the like are passed on.
TEST(DriverCommand, ReadsFlagsOfTheRun) {
  DriverOptions options = parse({"conv", "-i", "3",  "-V", "0",     "-t", "1",
                                 "-w",   "2",  "-s", "1",  "-b",    "1",  "-P",
                                 "0",    "-S", "85", "-d", "x.bin", "-G", "1"});
  EXPECT_EQ(options.iterations, 3);
  EXPECT_FALSE(options.verify);
  EXPECT_TRUE(options.time);
  EXPECT_TRUE(options.wall);
  EXPECT_TRUE(options.search);
  EXPECT_TRUE(options.bias);
  EXPECT_FALSE(options.printProblem);
  EXPECT_EQ(options.solution, 85);
  EXPECT_EQ(options.others, (std::vector<std::pair<std::string, std::string>>{
                                {"gpualloc", "1"}, {"in_data", "x.bin"}}));
  EXPECT_EQ(parse({"conv", "--solution", "-1"}).solution, -1);
}

// Help is a wish, not an error.
TEST(DriverCommand, NoticesHelp) {
  for (const char *word : {"-h", "-?", "--help"})
    EXPECT_TRUE(parse({"conv", word}).help) << word;
  EXPECT_FALSE(parse({"conv"}).help);
}

// "same" and "valid" replace the given padding as MIOpenDriver does.
TEST(DriverCommand, AppliesThePaddingMode) {
  Words same = {"conv", "-H", "28", "-W", "29", "-y", "5",  "-x", "3",
                "-u",   "2",  "-v", "2",  "-p", "9",  "-q", "9"};
  Words valid = same;
  same.insert(same.end(), {"-z", "same"});
  valid.insert(valid.end(), {"-z", "valid"});
  EXPECT_EQ(parse(same).problem.pad, (Pads{1, 1}));
  EXPECT_EQ(parse(valid).problem.pad, (Pads{0, 0}));
  same.insert(same.end(), {"-l", "2"});
  EXPECT_EQ(parse(same).problem.pad, (Pads{9, 9})) << "dilated: ignored";
}

// No group means one group, as in MIOpenDriver.
TEST(DriverCommand, TakesZeroGroupsForOne) {
  EXPECT_EQ(parse({"conv", "-g", "0"}).problem.groups, 1);
}

// A problem's line gives the same problem back.
TEST(DriverCommand, RoundTripsProblems) {
  test::RandomProblem random;
  SCOPED_TRACE(testing::Message() << "TESSERA_TEST_SEED=" << random.getSeed());
  for (int i = 0; i < 2000; ++i) {
    ConvProblem problem = random.next(DataType::F32);
    std::string line = toDriverCommand(problem);
    ErrorOr<Problem> read = parseDriverCommand(line);
    ASSERT_TRUE(read) << read.getStatus().getMessage();
    ASSERT_EQ(*read, Problem(problem)) << line;
  }
}

// The line is in MIOpen's own order, so that it can be compared with its logs.
TEST(DriverCommand, WritesLinesAsMiopenDoes) {
  ConvProblem problem = parse({"convfp16", "-I", "NHWC", "-F", "1"}).problem;
  EXPECT_EQ(toDriverCommand(problem),
            "convfp16 -n 100 -c 3 -H 32 -W 32 -k 32 -y 3 -x 3 -p 0 -q 0 -u 1 "
            "-v 1 -l 1 -j 1 --in_layout NHWC -m conv -g 1 -F 1 -t 1");
}

static void expectRefusal(StatusCode code, const Words &words,
                          const std::string &sentence) {
  ErrorOr<DriverOptions> options = parseDriverOptions(words);
  ASSERT_FALSE(options) << sentence;
  EXPECT_EQ(options.getStatus().getCode(), code) << sentence;
  EXPECT_NE(options.getStatus().getMessage().find(sentence), std::string::npos)
      << options.getStatus().getMessage();
}

// What is not a driver line is refused, and the wrong word is named.
TEST(DriverCommand, NamesTheWrongWord) {
  const std::pair<Words, const char *> cases[] = {
      {{}, "names no operation"},
      {{"convolve"}, "unknown operation 'convolve'"},
      {{"MIOpenDriver", "-n", "3"}, "unknown operation 'MIOpenDriver'"},
      {{"conv", "--batch", "3"}, "unknown flag '--batch'"},
      {{"conv", "--batch=3"}, "unknown flag '--batch'"},
      {{"conv", "-K", "3"}, "unknown flag '-K'"},
      {{"conv", "-n64"}, "unknown flag '-n64'; write '-n 64'"},
      {{"conv", "-n", "3", "4"}, "'4' stands where a flag should"},
      {{"conv", "-n"}, "flag '-n' needs a value"},
      {{"conv", "-n", "x"}, "flag '--batchsize' needs an integer"},
      {{"conv", "-n", "3x"}, "flag '--batchsize' needs an integer"},
      {{"conv", "-n", "3000000000"}, "not '3000000000'"},
      {{"conv", "-i", "many"}, "flag '--iter' needs an integer"},
      {{"conv", "-F", "8"}, "flag '--forw' must be between 0 and 7"},
      {{"conv", "-I", "nhwc"}, "flag '--in_layout' must be NCHW or NHWC"},
      {{"conv", "-m", "deconv"}, "flag '--mode' must be conv or trans"},
      {{"conv", "-z", "full"}, "flag '--pad_mode' must be same, valid"},
      {{"conv", "-n", "0"}, "the batch size is 0"},
      {{"conv", "-u", "0", "-z", "same"}, "the vertical stride is 0"},
      {{"conv", "-g", "2"}, "must be a multiple of the group count 2"},
  };
  for (const auto &[words, sentence] : cases)
    expectRefusal(StatusCode::InvalidArgument, words, sentence);
}

// Valid requests that this build does not cover are told apart from mistakes.
TEST(DriverCommand, SaysWhatIsNotSupported) {
  const std::pair<Words, const char *> cases[] = {
      {{"convint8"}, "'convint8' has a data type that is not supported"},
      {{"convfp8"}, "'convfp8' has a data type that is not supported"},
      {{"poolfp16"}, "the operation 'poolfp16' is not supported"},
      {{"bnorm", "-n", "3"}, "the operation 'bnorm' is not supported"},
      {{"conv", "-m", "trans"}, "transposed convolutions"},
      {{"conv", "-_", "3"}, "only 2-D convolutions are supported"},
      {{"conv", "-O", "CHWN"}, "the layout 'CHWN' of flag '--out_layout'"},
      {{"conv", "-Z", "1"},
       "flag '--tensor_vect' is supported only with its "
       "default '0', not '1'"},
      {{"conv", "-U", "fp8"}, "flag '--in_cast_type'"},
      {{"conv", "-r", "1"}, "flag '--pad_val'"},
  };
  for (const auto &[words, sentence] : cases)
    expectRefusal(StatusCode::NotSupported, words, sentence);
}

// The table has no two flags of one name, and every numeric default is read.
TEST(DriverCommand, HasAConsistentTable) {
  std::set<char> shortNames;
  std::set<std::string_view> longNames;
  for (const DriverFlag &flag : getDriverFlags()) {
    EXPECT_TRUE(shortNames.insert(flag.shortName).second) << flag.longName;
    EXPECT_TRUE(longNames.insert(flag.longName).second) << flag.longName;
    EXPECT_FALSE(flag.help.empty()) << flag.longName;
    if (!flag.defaultValue.empty()) {
      Words words = {"conv", std::string("-") + flag.shortName,
                     std::string(flag.defaultValue)};
      EXPECT_EQ(parse(words).problem, parse({"conv"}).problem);
    }
  }
}

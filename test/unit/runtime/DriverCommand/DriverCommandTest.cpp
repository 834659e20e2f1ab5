//===- DriverCommandTest.cpp - MIOpenDriver's command line ----------------===//

#include "runtime/DriverCommand/DriverCommand.h"

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

/// Parses a command and returns its first problem, which is a convolution.
static ConvProblem parseConv(const Words &words) {
  DriverOptions options = parse(words);
  return options.problems.empty() ? ConvProblem()
                                  : *options.problems.front().getConv();
}

/// The network configs of all problems.
static std::vector<std::string> parseAll(const Words &words) {
  std::vector<std::string> texts;
  for (const Problem &problem : parse(words).problems)
    texts.push_back(problem.toNetworkConfig());
  return texts;
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
  EXPECT_EQ(options.problems.size(), 3u);
  EXPECT_FALSE(options.isTransposed);
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

// A line of AMD's perf_models files can be parsed, with long flags and some of
// 3-D.
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

// "--flag=value" is accepted too, and a later flag wins.
TEST(DriverCommand, ReadsAttachedValues) {
  EXPECT_EQ(parseConv({"conv", "--in_h=7", "-H", "9"}).in.h, 9);
  EXPECT_EQ(parseConv({"conv", "-H", "9", "--in_h=7"}).in.h, 7);
}

// The operation names the type; both spellings of bfloat16 are known.
TEST(DriverCommand, ReadsOperations) {
  EXPECT_EQ(parseConv({"conv"}).dataType, DataType::F32);
  EXPECT_EQ(parseConv({"convfp16"}).dataType, DataType::F16);
  EXPECT_EQ(parseConv({"convbfp16"}).dataType, DataType::BF16);
  EXPECT_EQ(parseConv({"convbf16"}).dataType, DataType::BF16);
}

// A program name before the operation is skipped, whatever it is.
TEST(DriverCommand, SkipsTheProgram) {
  EXPECT_EQ(parseConv({"dnn-driver", "conv", "-n", "5"}).batch, 5);
  EXPECT_EQ(parseConv({"/opt/rocm/bin/MIOpenDriver", "conv"}).batch, 100);
}

// A line can be pasted from a log as it is.
TEST(DriverCommand, ReadsLogLines) {
  EXPECT_EQ(getNetworkConfig("MIOpen(HIP): Command [LogCmdConvolution] "
                             "./bin/MIOpenDriver convfp16 -n 2 -F 1 -t 1\n"),
            "conv-fwd-f16-nchw,nchw,nchw-n2c3h32w32-k32y3x3-p0x0-s1x1-d1x1-g1");
}

// --forw is a sum of bits, and 0 is all; each direction is a problem.
TEST(DriverCommand, ReadsDirections) {
  for (int forw = 0; forw < 8; ++forw) {
    int bits = forw == 0 ? 7 : forw;
    std::vector<Direction> expected;
    for (auto [bit, direction] :
         {std::pair{kDriverForward, Direction::Forward},
          {kDriverBackwardData, Direction::BackwardData},
          {kDriverBackwardWeights, Direction::BackwardWeights}})
      if (bits & bit)
        expected.push_back(direction);
    std::vector<Direction> actual;
    for (const Problem &problem :
         parse({"conv", "-F", std::to_string(forw)}).problems)
      actual.push_back(problem.getConv()->direction);
    EXPECT_EQ(actual, expected) << forw;
  }
}

// Integers have one direction, which is also the meaning of "all".
TEST(DriverCommand, Int8RunsForward) {
  EXPECT_EQ(parseAll({"convint8", "-I", "NHWC"}),
            std::vector<std::string>{
                "conv-fwd-i8,i32-nhwc,nchw,nchw-n100c3h32w32-k32y3x3-p0x0-"
                "s1x1-d1x1-g1"});
  EXPECT_EQ(parseConv({"convint8", "--result_type", "int8"}).byteResult,
            DataType::I8);
  EXPECT_EQ(parseConv({"convint8", "--result_type", "fp32"}).byteResult,
            DataType::F32);
}

// Of floats of 8 bits there are MIOpen's and OCP's; the result has the same
// type, unless a flag says otherwise.
TEST(DriverCommand, ReadsFloatsOf8Bits) {
  const std::pair<const char *, DataType> kWords[] = {
      {"convfp8", DataType::E4M3FNUZ},
      {"convbfp8", DataType::E5M2FNUZ},
      {"convfp8ocp", DataType::E4M3FN},
      {"convbfp8ocp", DataType::E5M2}};
  for (auto [word, type] : kWords) {
    EXPECT_EQ(parseConv({word}).dataType, type);
    EXPECT_EQ(parseConv({word}).byteResult, type);
    EXPECT_EQ(parseConv({word, "--result_type", "bfp16"}).byteResult,
              DataType::BF16);
    EXPECT_EQ(parseConv({word, "--result_type", "fp32"}).byteResult,
              DataType::F32);
  }
}

// Products of f32 may be computed as tf32.
TEST(DriverCommand, ReadsTheMathType) {
  EXPECT_FALSE(parseConv({"conv", "--math", "fp32"}).allowsTf32());
  EXPECT_TRUE(parseConv({"conv", "--math", "tf32"}).allowsTf32());
}

// Depth has its own flags, words for layouts, and defaults; in 2-D all of them
// are ignored.
TEST(DriverCommand, ReadsDepth) {
  EXPECT_EQ(
      getNetworkConfig("convfp16 -_ 3 -n 1 -c 4 -! 6 -H 20 -W 21 -k 6 -@ 2 "
                       "-y 5 -x 7 -$ 1 -p 0 -q 2 -# 2 -u 3 -v 4 -^ 3 -l 1 "
                       "-j 2 -I NDHWC -f NCDHW -O NHWC -F 4"),
      "conv-wrw-f16-ndhwc,ncdhw,ndhwc-n1c4d6h20w21-k6z2y5x7-p1x0x2-s2x3x4-"
      "d3x1x2-g1");
  EXPECT_EQ(getNetworkConfig("conv --spatial_dim 3 -F 1"),
            "conv-fwd-f32-ncdhw,ncdhw,ncdhw-n100c3d32h32w32-k32z3y3x3-p0x0x0-"
            "s1x1x1-d1x1x1-g1");
  EXPECT_EQ(getNetworkConfig("conv -_ 2 -! 9 -@ 2 -$ 7"),
            getNetworkConfig("conv"));
}

// A transposed convolution is backward data of the convolution whose input is
// its result; channels, layouts and directions are swapped.
TEST(DriverCommand, SwapsTransposedConvolutions) {
  Words words = {"conv", "-m", "trans", "-n", "2",  "-c", "6",  "-H", "7",
                 "-W",   "9",  "-k",    "4",  "-p", "1",  "-q", "1",  "-u",
                 "2",    "-v", "2",     "-g", "2",  "-Y", "1",  "-I", "NHWC"};
  const std::string rest =
      "-f32-nchw,nchw,nhwc-n2c4h14w17-k6y3x3-p1x1-s2x2-d1x1-g2";
  EXPECT_TRUE(parse(words).isTransposed);
  EXPECT_EQ(parseAll(words),
            (std::vector<std::string>{"conv-bwd" + rest, "conv-fwd" + rest,
                                      "conv-wrw" + rest}));
  words.insert(words.end(), {"-F", "2"});
  EXPECT_EQ(parseAll(words), std::vector<std::string>{"conv-fwd" + rest});
}

// What MIOpenDriver cannot express has flags of our own.
TEST(DriverCommand, ReadsOurOwnFlags) {
  EXPECT_EQ(
      getNetworkConfig("conv -n 1 -c 2 -H 4 -W 4 -k 8 --in_strides "
                       "40,20,5,1 --out_strides 32,4,32,64 --epilogue "
                       "alpha+beta+bias+residual+leakyrelu"),
      "conv-fwd-f32-s1:20:5:1,nchw,s1:4:32:64-n1c2h4w4-k8y3x3-p0x0-s1x1-d1x1-"
      "g1-ealpha+beta+bias+residual+leakyrelu");
  EXPECT_EQ(getNetworkConfig("convfp64 -n 1 -_ 3 -! 2 -@ 1 -H 4 -W 4 "
                             "--in_strides 96,1,48,12,3"),
            "conv-fwd-f64-ndhwc,ncdhw,ncdhw-n1c3d2h4w4-k32z1y3x3-p0x0x0-s1x1x1-"
            "d1x1x1-g1")
      << "a word is used where one fits";
}

// Flags about the run have fields; others, such as file names, are passed on.
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

// "same" and "valid" replace the given padding as MIOpenDriver does.
TEST(DriverCommand, AppliesThePaddingMode) {
  Words same = {"conv", "-H", "28", "-W", "29", "-y", "5",  "-x", "3",
                "-u",   "2",  "-v", "2",  "-p", "9",  "-q", "9"};
  Words valid = same;
  same.insert(same.end(), {"-z", "same"});
  valid.insert(valid.end(), {"-z", "valid"});
  EXPECT_EQ(parseConv(same).pad, (Pads{1, 1}));
  EXPECT_EQ(parseConv(valid).pad, (Pads{0, 0}));
  same.insert(same.end(), {"-l", "2"});
  EXPECT_EQ(parseConv(same).pad, (Pads{9, 9})) << "dilated: ignored";
}

// No group means one group, as in MIOpenDriver.
// Padding after the last elements is that before the first ones unless our own
// flags say otherwise. Those of a depth count in 3-D only, as its others.
TEST(DriverCommand, ReadsPaddingOfEitherEnd) {
  const Words words = {"conv", "-n",
                       "1",    "-c",
                       "4",    "-H",
                       "9",    "-W",
                       "8",    "-k",
                       "2",    "-p",
                       "1",    "-q",
                       "2",    "-F",
                       "1",    "--pad_after_h",
                       "3",    "--pad_after_w",
                       "0",    "--pad_after_d",
                       "1"};
  EXPECT_EQ(parseAll(words),
            Words{"conv-fwd-f32-nchw,nchw,nchw-n1c4h9w8-k2y3x3-p1:3x2:0-s1x1-"
                  "d1x1-g1"});
  Words deep = words;
  deep.insert(deep.end(), {"--spatial_dim", "3", "--in_d", "5"});
  EXPECT_EQ(parseAll(deep),
            Words{"conv-fwd-f32-ncdhw,ncdhw,ncdhw-n1c4d5h9w8-k2z3y3x3-p0:1x1:"
                  "3x2:0-s1x1x1-d1x1x1-g1"});
  Words valid = words;
  valid.insert(valid.end(), {"-z", "valid"});
  EXPECT_EQ(parseAll(valid),
            Words{"conv-fwd-f32-nchw,nchw,nchw-n1c4h9w8-k2y3x3-p0x0-s1x1-d1x1-"
                  "g1"});
  // The result of a transposed convolution lacks the padding of both ends: 2 *
  // 8 + 3 - 1 - 3 by 8 + 2 - 2.
  Words transposed = words;
  transposed.insert(transposed.end(), {"-m", "trans", "-u", "2"});
  EXPECT_EQ(parseAll(transposed),
            Words{"conv-bwd-f32-nchw,nchw,nchw-n1c2h15w8-k4y3x3-p1:3x2:0-s2x1-"
                  "d1x1-g1"});
}

TEST(DriverCommand, TakesZeroGroupsForOne) {
  EXPECT_EQ(parseConv({"conv", "-g", "0"}).groups, 1);
}

// The line is in MIOpen's own order, so that it can be compared with its logs.
TEST(DriverCommand, WritesLinesAsMiopenDoes) {
  ConvProblem problem = parseConv({"convfp16", "-I", "NHWC", "-F", "1"});
  EXPECT_EQ(toDriverCommand(problem),
            "convfp16 -n 100 -c 3 -H 32 -W 32 -k 32 -y 3 -x 3 -p 0 -q 0 -u 1 "
            "-v 1 -l 1 -j 1 --in_layout NHWC -m conv -g 1 -F 1 -t 1");
  problem = parseConv({"conv", "-_", "3", "-O", "NDHWC", "-F", "2"});
  EXPECT_EQ(toDriverCommand(problem),
            "conv -n 100 -c 3 --in_d 32 -H 32 -W 32 -k 32 --fil_d 3 -y 3 -x 3 "
            "--pad_d 0 -p 0 -q 0 --conv_stride_d 1 -u 1 -v 1 --dilation_d 1 "
            "-l 1 -j 1 --spatial_dim 3 --out_layout NDHWC -m conv -g 1 -F 2 "
            "-t 1");
}

// Pooling's defaults are MIOpenDriver's: forward keeps indices for backward.
TEST(DriverCommand, ReadsPooling) {
  EXPECT_EQ(
      parseAll({"pool"}),
      (std::vector<std::string>{
          "pool-fwd-max-f32-nchw,nchw-n100c3h32w32-y3x3-p0x0-s1x1-iu8mask",
          "pool-bwd-max-f32-nchw,nchw-n100c3h32w32-y3x3-p0x0-s1x1-iu8mask"}));
  EXPECT_EQ(getNetworkConfig("poolfp16 -W 2x4x9x10,NHWC -y 2 -x 5 -v 3 -u 4 "
                             "-p 1 -q 2 -m avg_in -F 2"),
            "pool-bwd-avgin-f16-nhwc,nhwc-n2c4h9w10-y2x5-p1x2-s3x4-inone");
  EXPECT_EQ(getNetworkConfig("poolbfp16 -W 2x4x5x9x10,NDHWC -Z 2 -s 2 -o 1 "
                             "-I miopenIndexUint32"),
            "pool-fwd-max-bf16-ndhwc,ndhwc-n2c4d5h9w10-z2y3x3-p1x0x0-s2x1x1-"
            "iu32image");
}

// Forward without backward keeps no indices, so that their type cannot be too
// small.
TEST(DriverCommand, ReadsPaddingOfEitherEndOfPooling) {
  EXPECT_EQ(parseAll({"pool",    "-W",
                      "1x4x9x8", "-y",
                      "2",       "-x",
                      "3",       "-p",
                      "1",       "--pad_after_h",
                      "0",       "--pad_after_w",
                      "2",       "--pad_after_d",
                      "1",       "-m",
                      "avg",     "-F",
                      "1",       "-v",
                      "3"}),
            Words{"pool-fwd-avg-f32-nchw,nchw-n1c4h9w8-y2x3-p1:0x0:2-s3x1-"
                  "inone"});
  EXPECT_EQ(parseAll({"pool", "-W", "1x4x5x9x8", "-m", "avg", "-F", "1",
                      "--pad_after_d", "1"}),
            Words{"pool-fwd-avg-f32-ncdhw,ncdhw-n1c4d5h9w8-z3y3x3-p0:1x0x0-"
                  "s1x1x1-inone"});
}

TEST(DriverCommand, ForwardPoolingAloneKeepsNoIndices) {
  EXPECT_EQ(getNetworkConfig("pool -W 1x1x32x32 -y 20 -x 20 -F 1"),
            "pool-fwd-max-f32-nchw,nchw-n1c1h32w32-y20x20-p0x0-s1x1-inone");
  EXPECT_EQ(getNetworkConfig("pool -W 1x1x32x32 -F 1 --save_indices 1 -M 1 "
                             "--index_type miopenIndexUint16"),
            "pool-fwd-max-f32-nchw,nchw-n1c1h32w32-y3x3-p0x0-s1x1-iu16image");
}

// Each tensor may have its own layout; a gradient has that of its tensor.
TEST(DriverCommand, ReadsTensorsOfPooling) {
  EXPECT_EQ(
      parseAll({"pool", "-W", "2x4x9x9,400x1x40x4", "-O", "2x4x7x7,NHWC", "-D",
                "2x4x9x9,NCHW", "-m", "avg"}),
      (std::vector<std::string>{
          "pool-fwd-avg-f32-s400:1:40:4,nhwc-n2c4h9w9-y3x3-p0x0-s1x1-inone",
          "pool-bwd-avg-f32-nchw,nhwc-n2c4h9w9-y3x3-p0x0-s1x1-inone"}));
}

static void expectRefusal(StatusCode code, const Words &words,
                          const std::string &sentence) {
  ErrorOr<DriverOptions> options = parseDriverOptions(words);
  ASSERT_FALSE(options) << sentence;
  EXPECT_EQ(options.getStatus().getCode(), code) << sentence;
  EXPECT_NE(options.getStatus().getMessage().find(sentence), std::string::npos)
      << options.getStatus().getMessage();
}

// A text that is no driver line is refused, and the wrong word is named.
TEST(DriverCommand, NamesTheWrongWord) {
  const std::pair<Words, const char *> cases[] = {
      {{}, "names no operation"},
      {{"convolve"}, "unknown operation 'convolve'"},
      {{"MIOpenDriver", "-n", "3"}, "unknown operation 'MIOpenDriver'"},
      {{"conv", "--batch", "3"}, "unknown flag '--batch'"},
      {{"conv", "--batch=3"}, "unknown flag '--batch'"},
      {{"conv", "--bogus", "3"}, "unknown flag '--bogus'"},
      {{"conv", "--batchsiz=3"},
       "unknown flag '--batchsiz'; write '--batchsize'"},
      {{"conv", "-batchsize", "3"},
       "unknown flag '-batchsize'; write '--batchsize'"},
      {{"conv", "--n", "3"}, "unknown flag '--n'; write '-n'"},
      {{"conv", "-n", "3", "c", "4"},
       "'c' stands where a flag should; write '-c'"},
      {{"conv", "-K", "3"}, "unknown flag '-K'"},
      {{"conv", "-n64"}, "unknown flag '-n64'; write '-n 64'"},
      {{"conv", "-n", "3", "4"}, "'4' stands where a flag should"},
      {{"conv", "-n"}, "flag '-n' needs a value"},
      {{"conv", "-n", "x"}, "flag '--batchsize' needs an integer"},
      {{"conv", "-n", "3x"}, "flag '--batchsize' needs an integer"},
      {{"conv", "-n", "3000000000"}, "not '3000000000'"},
      {{"conv", "-i", "many"}, "flag '--iter' needs an integer"},
      {{"conv", "-F", "3x"}, "flag '--forw' needs an integer"},
      {{"conv", "-F", "8"}, "flag '--forw' must be between 0 and 7"},
      {{"conv", "-I", "nhwc"}, "flag '--in_layout' must be NCHW or NHWC"},
      {{"conv", "-_", "3", "-I", "DHW"}, "must be NCDHW or NDHWC, not 'DHW'"},
      {{"conv", "-I", "NCDHW"}, "has a depth, but the problem has none"},
      {{"conv", "-_", "4"}, "flag '--spatial_dim' must be 2 or 3, not '4'"},
      {{"conv", "--in_strides", "1,2,3"},
       "'--in_strides' needs 4 numbers with commas between, not '1,2,3'"},
      {{"conv", "-_", "3", "--fil_strides", "1,2,3,4"}, "needs 5 numbers"},
      {{"conv", "--out_strides", "1,2,3,x"}, "'--out_strides' needs 4"},
      {{"conv", "--out_strides", "1,1,1,1"}, "two of its elements at one"},
      {{"conv", "--epilogue", "relu+bias"}, "flag '--epilogue' must be some"},
      {{"conv", "--epilogue", "alpha+"}, "flag '--epilogue' must be some"},
      {{"conv", "--result_type", "fp32"},
       "is one of convint8 and of floats of 8 bits only"},
      {{"convint8", "--result_type", "fp16"}, "must be int32, fp32 or int8"},
      {{"convfp8", "--result_type", "bfp8"},
       "must be fp8, fp16, bfp16 or fp32, not 'bfp8'"},
      {{"poolfp8"}, "e4m3fnuz"},
      {{"conv", "--math", "bf16"}, "'--math' must be fp32 or tf32, not 'bf16'"},
      {{"convfp16", "--math", "tf32"}, "'--math tf32' is one of conv only"},
      {{"convint8", "-F", "2"}, "i8 is a type of forward"},
      {{"conv", "-m", "trans", "-Y", "1"},
       "the output padding is 1, but must be below the stride 1"},
      {{"conv", "-m", "trans", "-H", "1", "-p", "5"}, "leaves nothing"},
      {{"pool", "-F", "4"}, "flag '--forw' must be between 0 and 3"},
      {{"pool", "-n", "4"}, "unknown flag '-n'; write '-W 4x3x32x32'"},
      {{"pool", "-n", "4", "-c", "8", "-H", "9", "-W", "10"},
       "unknown flag '-n'; write '-W 4x8x9x10'"},
      {{"pool", "--in_h", "4"}, "unknown flag '--in_h'; write '-W 100x3x4x32'"},
      {{"pool", "-W", "9x8x7x6", "-n", "4"},
       "unknown flag '-n'; write '-W 4x3x32x32'"},
      {{"layernorm", "-c", "4"}, "unknown flag '-c'; write '-X 100x4x32x32'"},
      {{"reduce", "-n", "4"}, "unknown flag '-n'; write '-D 4,60,16,240'"},
      {{"pool", "-W", "4x4"},
       "flag '--input' needs 4 or 5 lengths with x between, and a layout or "
       "strides behind a comma, as in '100x3x32x32,NCHW', not '4x4'"},
      {{"pool", "--input="}, "flag '--input' needs 4 or 5 lengths"},
      {{"reduce", "--DimLengths="}, "'--DimLengths' needs 1 to 5 numbers"},
      {{"pool", "-W", "1x1x9x9,1x2"}, "as many strides as lengths"},
      {{"pool", "-O", "100x3x31x30"},
       "a length of '--output' is 31, but the problem makes it 30"},
      {{"pool", "-m", "min"}, "must be max, avg, avg_in or max_nan, not 'min'"},
      {{"pool", "-I", "u8"}, "'--index_type' must be miopenIndexUint8, "},
      {{"pool", "-z", "full"}, "'--pad_mode' must be valid or default"},
      {{"pool", "-y", "20", "-x", "20"}, "the index type u8 is too small"},
      {{"poolint8"}, "pooling computes with f16, bf16 and f32, not i8"},
      {{"convolution"}, "unknown operation 'convolution'"},
      {{"conv", "-m", "deconv"}, "flag '--mode' must be conv or trans"},
      {{"conv", "-z", "full"}, "flag '--pad_mode' must be same, valid"},
      {{"conv", "-n", "0"}, "the batch size is 0"},
      {{"conv", "-u", "0", "-z", "same"}, "the vertical stride is 0"},
      {{"conv", "-g", "2"}, "must be a multiple of the group count 2"},
  };
  for (const auto &[words, sentence] : cases)
    expectRefusal(StatusCode::InvalidArgument, words, sentence);
}

// Valid requests that this build does not cover are distinguished from
// mistakes.
TEST(DriverCommand, SaysWhatIsNotSupported) {
  const std::pair<Words, const char *> cases[] = {
      {{"pool", "-z", "same"}, "'--pad_mode same' is not supported"},
      {{"lrn", "-n", "3"}, "the operation 'lrn' is not supported"},
      {{"bnorm", "-A", "2"}, "flag '--alpha' is supported only with"},
      {{"layernormfp64"}, "layernorm has f16, bf16 and f32, not f64"},
      {{"convint8", "-m", "trans"}, "transposed convolutions of int8"},
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

// The tensors of a normalisation are those of docs/spec/row-wise.md; one with
// statistics of another type has no line of MIOpenDriver.
TEST(DriverCommand, ReadsAndWritesNormalisations) {
  EXPECT_EQ(
      getNetworkConfig("bnormfp16 -n 2 -c 6 -H 3 -W 5 -m 1 -r 1"),
      "rowwise-bnorm_train-m16-2x6x15-r0,2-i:f16:90:15:1-i:f32:0:1:0-i:f32:"
      "0:1:0-i:f32:0:1:0-i:f32:0:1:0-r:f32:0:1:0-r:f32:0:1:0-o:f16:90:15:"
      "1");
  const std::string ofHalf = "rowwise-bnorm_infer-m0-2x3x4-r-i:f16:12:4:1-i:"
                             "f32:0:1:0-i:f32:0:1:0-i:f16:"
                             "0:1:0-i:f16:0:1:0-o:f16:12:4:1";
  const ErrorOr<Problem> problem = parseNetworkConfig(ofHalf);
  ASSERT_TRUE(problem) << problem.getStatus().getMessage();
  EXPECT_EQ(toDriverCommand(*problem), ofHalf);
  expectRefusal(StatusCode::InvalidArgument,
                {"layernorm", "-X", "3x4", "-o", "2"},
                "flag '--normalized_dim' must be between 0 and 1, not 2");
  expectRefusal(StatusCode::InvalidArgument, {"bnorm", "-m", "2"},
                "flag '--mode' must be between 0 and 1, not 2");
}

// An activation that reads an old result is none of MIOpenDriver's.
TEST(DriverCommand, WritesNoLineOfAnotherProblem) {
  const std::string ofTwo = "rowwise-activ_fwd-m3-12-r-i:f32:1-i:f32:1-o:f32:1";
  const ErrorOr<Problem> problem = parseNetworkConfig(ofTwo);
  ASSERT_TRUE(problem) << problem.getStatus().getMessage();
  EXPECT_EQ(toDriverCommand(*problem), ofTwo);
}

// A convolution with the operations that follow it, in the numbers of CBAInfer.
TEST(DriverCommand, ReadsFusedConvolutions) {
  EXPECT_EQ(getNetworkConfig("CBAInferfp16 -n 2 -c 8 -H 9 -W 10 -k 16 -y 3 -x "
                             "1 -p 1 -q 0 -u 2 -v 3 -F 4 -m 3"),
            "conv-fwd-f16-nchw,nchw,nchw-n2c8h9w10-k16y3x1-p1x0-s2x3-d1x1-g1-"
            "ebias+relu");
  EXPECT_EQ(getNetworkConfig("CBAInfer -F 6"),
            "conv-fwd-f32-nchw,nchw,nchw-n32c3h32w32-k32y3x3-p0x0-s1x1-d1x1-g1-"
            "ebias");
  const ErrorOr<DriverOptions> refused =
      parseDriverOptions(std::vector<std::string>{"CBAInfer", "-F", "0"});
  EXPECT_EQ(refused.getStatus().getCode(), StatusCode::NotSupported);
}

// The message for an unknown operation lists the whole table, and each entry is
// accepted.
TEST(DriverCommand, ListsEveryOperation) {
  const ErrorOr<DriverOptions> unknown = parseDriverOptions(Words{"unknown"});
  const std::string list = unknown.getStatus().getMessage();
  for (const DriverOperation &operation : getDriverOperations()) {
    EXPECT_NE(list.find(getSpelling(operation)), std::string::npos) << list;
    EXPECT_EQ(findDriverOperation(operation.word), &operation);
    for (std::string_view type : operation.types) {
      const Words words = {std::string(operation.word) + std::string(type),
                           "-F", operation.word == "CBAInfer" ? "4" : "1"};
      const ErrorOr<DriverOptions> options = parseDriverOptions(words);
      if (operation.word != "lrn") // lrn is no problem.
        EXPECT_TRUE(options) << options.getStatus().getMessage();
    }
  }
  EXPECT_NE(list.find("lrn[fp16|bfp16]"), std::string::npos) << list;
}

// No table has two flags of one name, and each default equals the value that is
// used if the flag is missing. (The defaults of CBAInfer and all of lrn are
// refused.)
TEST(DriverCommand, HasConsistentTables) {
  for (const DriverOperation &row : getDriverOperations()) {
    const std::string operation(row.word);
    const bool isRead(parseDriverOptions(Words{operation}));
    std::set<char> shortNames;
    std::set<std::string_view> longNames;
    for (const DriverFlag &flag : row.getFlags()) {
      EXPECT_TRUE(!flag.shortName || shortNames.insert(flag.shortName).second)
          << flag.longName;
      EXPECT_TRUE(longNames.insert(flag.longName).second) << flag.longName;
      EXPECT_FALSE(flag.help.empty()) << flag.longName;
      if (!isRead || flag.defaultValue.empty() || !flag.shortName)
        continue;
      Words words = {operation, std::string("-") + flag.shortName,
                     std::string(flag.defaultValue)};
      EXPECT_EQ(parse(words).problems, parse({operation}).problems);
    }
  }
}

//===- MiopenKeyTest.cpp - Keys of MIOpen's databases ---------------------===//

#include "tools/problems/MiopenKey.h"

#include <gtest/gtest.h>

using namespace tessera;

static std::string read(std::string_view line) {
  EXPECT_TRUE(isMiopenRecord(line)) << line;
  ErrorOr<Problem> problem = parseMiopenRecord(line);
  return problem ? problem->toNetworkConfig()
                 : problem.getStatus().getMessage();
}

// Forward, "in" is x: 16 images of 64 channels, 56 rows, 48 columns.
TEST(MiopenKey, ReadsForward) {
  EXPECT_EQ(
      read("64-56-48-3x5-128-28-48-16-1x2-2x1-1x1-0-NCHW-FP16-F=a:0.01,0,b"),
      "conv-fwd-f16-nchw,nchw,nchw-n16c64h56w48-k128y3x5-p1x2-s2x1-d1x1-g1");
}

// The key has the output twice; if the two differ, the padding is not the same
// at both ends.
TEST(MiopenKey, ComparesTheOutput) {
  EXPECT_EQ(
      read("64-56-48-3x5-128-28-47-16-1x2-2x1-1x1-0-NCHW-FP16-F=a:0.01,0,b"),
      "a key whose output is not that of its padding");
}

// In both backward directions "in" is y, so its channels are the filter's
// first dimension; the example is a depthwise filter with unequal channels.
TEST(MiopenKey, SwapsBackward) {
  EXPECT_EQ(
      read("64-28-28-3x3-32-56-56-8-1x1-2x2-1x1-0-NCHW-FP32-B_g32=x:1,0,a"),
      "conv-bwd-f32-nchw,nchw,nchw-n8c32h56w56-k64y3x3-p1x1-s2x2-d1x1-g32");
  EXPECT_EQ(
      read("64-28-28-3x3-32-56-56-8-1x1-2x2-1x1-0-NCHW-BF16-W=x:1,0,a"),
      "conv-wrw-bf16-nchw,nchw,nchw-n8c32h56w56-k64y3x3-p1x1-s2x2-d1x1-g1");
}

// Lines of the old format, in which solvers do not come first, have the same
// keys.
TEST(MiopenKey, ReadsOldLines) {
  EXPECT_EQ(read("1-1-1-3x3-2-3-3-128-0x0-1x1-1x1-0-NCHW-FP32-W="
                 "miopenConvolutionBwdWeightsAlgoWinograd:ConvBinWinogradRxS,"
                 "0.12,0,miopenConvolutionBwdWeightsAlgoWinograd,<unused>"),
            "conv-wrw-f32-nchw,nchw,nchw-n128c2h3w3-k1y3x3-p0x0-s1x1-d1x1-g1");
}

// Depth adds a number to every group. A key has three layouts if one is
// unusual; backward, that of x is the last one.
TEST(MiopenKey, ReadsDepthAndLayouts) {
  EXPECT_EQ(read("8-4-9-9-3x3x3-16-4-9-9-2-1x1x1-1x1x1-1x1x1-0-NCDHW-FP32-F=a"),
            "conv-fwd-f32-ncdhw,ncdhw,ncdhw-n2c8d4h9w9-k16z3y3x3-p1x1x1-"
            "s1x1x1-d1x1x1-g1");
  EXPECT_EQ(
      read("16-8-8-1x1-8-8-8-2-0x0-1x1-1x1-0-NCHW-NHWC-NHWC-FP16-B=a:1,0,b"),
      "conv-bwd-f16-nhwc,nhwc,nchw-n2c8h8w8-k16y1x1-p0x0-s1x1-d1x1-g1");
}

// The result of int8 has a type of its own.
TEST(MiopenKey, ReadsInt8) {
  EXPECT_EQ(read("8-4-4-1x1-8-4-4-1-0x0-1x1-1x1-0-NHWC-NHWC-NHWC-"
                 "INT8INT8FP32-F=a:1,0,b"),
            "conv-fwd-i8,f32-nhwc,nhwc,nhwc-n1c8h4w4-k8y1x1-p0x0-s1x1-d1x1-g1");
}

// Unsupported requests are named, and no number makes the arithmetic overflow.
TEST(MiopenKey, Refusals) {
  EXPECT_EQ(read("8-4-4-1x1-8-4-4-1-0x0-1x1-1x1-0-NCHW-FP8FP8FP8-F=a"),
            "the data type FP8FP8FP8 is not supported");
  EXPECT_EQ(read("8-4-4-1x1-8-4-4-1-0x0-1x1-1x1-0-NCHW-FP32-F_ciFP8=a"),
            "tensors that are cast to other types are not supported");
  EXPECT_EQ(read("8-4-4-1x1-8-4-4-1-0x0-1x1-1x1-0-NCHWc-FP32-F=a"),
            "the layout NCHWc is not supported");
  EXPECT_EQ(read("8-4-4-1x1-8-4-4-1-0x0-1x1-1x1-1-NCHW-FP32-F=a"),
            "fused convolutions are not supported: their keys do not name the "
            "activation");
  EXPECT_EQ(read("8-4-4-1x1-8-4-4-1-0x0-1x1-1x1-0-NCHW-FP32-Q=a"),
            "the direction Q is none of F, B and W");
  const std::string none =
      "a record whose key is none of MIOpen's convolutions";
  EXPECT_EQ(read("8-4-4-1x1-8=a"), none);
  EXPECT_EQ(read("8-4-4x=a"), none);
  EXPECT_EQ(read("8-4-4-1x1-8-4-4-1-0x0-1x1-1x1-0-NCHW-FP32-F_h2=a"), none);
  for (const char *number : {"0", "9999999999", "9223372036854775807"})
    EXPECT_EQ(read(std::string("8-") + number +
                   "-4-1x1-8-4-4-1-0x0-1x1-1x1-0-NCHW-FP32-F=a"),
              "a key with a number out of range")
        << number;
}

// Words with an equals sign are no records, whatever precedes them.
TEST(MiopenKey, KnowsItsRecords) {
  for (const char *line : {"", "=", "8=a", "8-4=a", "MIOPEN_LOG_LEVEL=5",
                           "3 convfp16 --in_h=4 -n 4x4", "2026-11-21 4x4=a"})
    EXPECT_FALSE(isMiopenRecord(line)) << line;
}

// Without "out", x is the size that the stride divides, if that is possible: 56
// for 28 rows at stride 2. A filter as large as the stride fits tightly; else x
// is the smallest size.
TEST(MiopenKey, GuessesTheInput) {
  MiopenKey key;
  key.inChannels = 8;
  key.outChannels = 4;
  key.in = {1, 28, 28};
  key.filter = {1, 3, 2};
  key.pad = {0, 1, 0};
  key.stride = {0, 2, 2};
  key.inLayout = key.filterLayout = key.outLayout = "NCHW";
  key.dataType = "FP32";
  key.direction = "B";
  ErrorOr<Problem> problem = toProblem(key);
  ASSERT_TRUE(problem) << problem.getStatus().getMessage();
  EXPECT_EQ(problem->getConv()->in, (Spatial{56, 56}));
  EXPECT_EQ(problem->getConv()->getOutput(), (Spatial{28, 28}));
  key.filter = {1, 7, 7};
  key.pad = {0, 0, 0};
  problem = toProblem(key);
  ASSERT_TRUE(problem) << problem.getStatus().getMessage();
  EXPECT_EQ(problem->getConv()->in, (Spatial{61, 61}));
  EXPECT_EQ(problem->getConv()->getOutput(), (Spatial{28, 28}));
}

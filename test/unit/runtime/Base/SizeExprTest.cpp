//===- SizeExprTest.cpp - Numbers made of sizes, and families -------------===//

#include "runtime/Base/SizeExpr.h"
#include "runtime/Base/Problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace tessera;

/// The quotient as a kernel computes it.
static uint32_t divide(uint32_t dividend, uint64_t divisor) {
  const uint64_t product = uint64_t(2 * dividend) * uint32_t(divisor);
  return static_cast<uint32_t>(product >> 32) >> (divisor >> 32);
}

/// Compares with the processor's quotient around multiples of the divisor.
static void checkDivisor(uint32_t by, std::mt19937_64 &random) {
  constexpr uint64_t kMost = INT32_MAX;
  const uint64_t divisor = makeDivisor(by);
  ASSERT_LT(divisor >> 32, 32u);
  auto check = [&](uint64_t dividend) {
    if (dividend <= kMost)
      ASSERT_EQ(divide(static_cast<uint32_t>(dividend), divisor), dividend / by)
          << dividend << " / " << by;
  };
  for (uint64_t factor : {uint64_t(0), uint64_t(1), uint64_t(2), kMost / by,
                          kMost / by - 1, random() % (kMost / by + 1)})
    for (uint64_t offset : {uint64_t(0), uint64_t(1), uint64_t(by) - 1})
      check(factor * by + offset);
  check(kMost);
  check(random() % (kMost + 1));
}

// Every divisor up to 2^16, those around powers of two and random ones divide
// exactly, also at the ends of the range.
TEST(SizeExpr, DividesExactly) {
  std::mt19937_64 random(1);
  for (uint32_t by = 1; by <= 1 << 16; ++by)
    checkDivisor(by, random);
  for (int bit = 16; bit < 31; ++bit)
    for (uint32_t by : {(1u << bit) - 1, 1u << bit, (1u << bit) + 1})
      checkDivisor(by, random);
  for (int i = 0; i < 100000; ++i)
    checkDivisor(1 + static_cast<uint32_t>(random() % INT32_MAX), random);
  checkDivisor(INT32_MAX, random);
}

// Expressions are folded where they can be, printed, read and evaluated.
TEST(SizeExpr, Evaluates) {
  const SizeExpr x1 = SizeExpr::makeSize(KernelArg::X, 1);
  const SizeExpr t0 = SizeExpr::makeSize(KernelArg::Tensor0, 0);
  const SizeExpr groups = ceilDiv(x1 * t0 * 3, 64) + SizeExpr(2) * 5;
  EXPECT_EQ(groups.toText(), "xd1.t0d0.*.3.*.64.^.10.+");
  EXPECT_EQ((SizeExpr(6) * 7).getNumber(), 42);
  EXPECT_EQ((x1 * 1).toText(), "xd1");
  const ErrorOr<SizeExpr> read = parseSizeExpr(groups.toText());
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, groups);
  const ErrorOr<int64_t> value = read->evaluate(
      [](KernelArg tensor, int64_t) { return tensor == KernelArg::X ? 9 : 5; });
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, 13);
}

// Texts that are no expressions, and numbers that are too large, are refused.
TEST(SizeExpr, Refuses) {
  for (const char *text : {"", ".", "xd", "d1", "alphad1", "1.2", "1.+", "01",
                           "-1", "xd1.xd1.**", "zd1", "1.2.+.", "x1"})
    EXPECT_FALSE(parseSizeExpr(text)) << text;
  const SizeExpr x0 = SizeExpr::makeSize(KernelArg::X, 0);
  auto get = [](const SizeExpr &expr, int64_t size) {
    return expr.evaluate([=](KernelArg, int64_t) { return size; })
        .getStatus()
        .getCode();
  };
  EXPECT_EQ(get(x0 * x0, int64_t(1) << 31), StatusCode::NotSupported);
  EXPECT_EQ(get(ceilDiv(1, x0), 0), StatusCode::NotSupported);
  EXPECT_EQ(x0.evaluate([](KernelArg, int64_t) -> std::optional<int64_t> {
                return std::nullopt;
              })
                .getStatus()
                .getCode(),
            StatusCode::InvalidArgument);
}

static std::string getFamily(const char *config) {
  const ErrorOr<Problem> problem = parseNetworkConfig(config);
  EXPECT_TRUE(problem) << problem.getStatus().getMessage();
  const std::optional<Family> family = problem->findFamily();
  if (!family)
    return "none";
  // The text is a key like any other.
  const std::string text = family->problem.toNetworkConfig();
  const ErrorOr<Problem> read = parseNetworkConfig(text);
  EXPECT_TRUE(read && *read == family->problem) << text;
  EXPECT_TRUE(family->problem.hasUnknownSizes());
  EXPECT_FALSE(family->member.hasUnknownSizes());
  return text;
}

// A row that is shorter than its window, with padding, is of no family: its one
// result is none of the positions that a kernel's halo has.
TEST(Family, HasRowsWithAWholeWindow) {
  EXPECT_NE(getFamily("conv-fwd-f16-nhwc,nhwc,nhwc-n1c16h5w5-k8y5x7-p0x1-"
                      "s1x1-d1x1-g1"),
            "none");
  EXPECT_EQ(getFamily("conv-fwd-f16-nhwc,nhwc,nhwc-n1c16h5w4-k8y5x7-p0x1-"
                      "s1x1-d1x1-g1"),
            "none");
  EXPECT_NE(getFamily("conv-fwd-f16-nhwc,nhwc,nhwc-n1c16h5w4-k8y5x7-p0x1-"
                      "s1x2-d1x1-g1"),
            "none");
}

// Batch, spatial sizes and rows are unknown in a family; what a kernel cannot
// have unknown has none.
TEST(Family, HasUnknownSizes) {
  EXPECT_EQ(getFamily("conv-fwd-f16-nhwc,nhwc,nchw-n64c256h14w15-k256y3x3-p1x1-"
                      "s1x1-d1x1-g1-ebias+relu"),
            "conv-fwd-f16-nhwc,nhwc,nchw-n?c256h?w?-k256y3x3-p1x1-"
            "s1x1-d1x1-g1-ebias+relu");
  EXPECT_EQ(getFamily("conv-bwd-f32-nchw,nchw,nchw-n1c8h1w99-k8y1x7-p0x3-"
                      "s1x1-d1x1-g1-unaligned"),
            "conv-bwd-f32-nchw,nchw,nchw-n?c8h1w?-k8y1x7-p0x3-"
            "s1x1-d1x1-g1-small-unaligned");
  // Products of few tiles, and short reductions of backward weights, have a
  // family of their own. Up to 64 rows and columns are a tile.
  EXPECT_EQ(getFamily("conv-fwd-f16-nhwc,nhwc,nhwc-n1c64h128w128-k8y3x3-p1x1-"
                      "s1x1-d1x1-g1"),
            "conv-fwd-f16-nhwc,nhwc,nhwc-n?c64h?w?-k8y3x3-p1x1-s1x1-d1x1-g1-"
            "small");
  EXPECT_EQ(getFamily("conv-fwd-f16-nhwc,nhwc,nhwc-n1c64h128w64-k65y3x3-p1x1-"
                      "s1x1-d1x1-g1"),
            "conv-fwd-f16-nhwc,nhwc,nhwc-n?c64h?w?-k65y3x3-p1x1-s1x1-d1x1-g1-"
            "small");
  EXPECT_EQ(getFamily("conv-fwd-f16-nhwc,nhwc,nhwc-n1c64h128w65-k65y3x3-p1x1-"
                      "s1x1-d1x1-g1"),
            "conv-fwd-f16-nhwc,nhwc,nhwc-n?c64h?w?-k65y3x3-p1x1-s1x1-d1x1-g1");
  EXPECT_EQ(getFamily("conv-bwd-f16-nhwc,nhwc,nhwc-n1c64h128w129-k8y3x3-p1x1-"
                      "s2x2-d1x1-g1-noworkspace"),
            "conv-bwd-f16-nhwc,nhwc,nhwc-n?c64h?w?-k8y3x3-p1x1-s2x2-d1x1-g1-"
            "noworkspace");
  EXPECT_EQ(getFamily("conv-wrw-f16-nhwc,nhwc,nhwc-n1c64h16w33-k8y3x3-p1x1-"
                      "s1x1-d1x1-g1"),
            "conv-wrw-f16-nhwc,nhwc,nhwc-n?c64h?w?-k8y3x3-p1x1-s1x1-d1x1-g1");
  EXPECT_EQ(getFamily("conv-wrw-f16-nhwc,nhwc,nhwc-n1c64h16w32-k8y3x3-p1x1-"
                      "s1x1-d1x1-g1"),
            "conv-wrw-f16-nhwc,nhwc,nhwc-n?c64h?w?-k8y3x3-p1x1-s1x1-d1x1-g1-"
            "small");
  EXPECT_EQ(getFamily("pool-fwd-max-f16-nhwc,nhwc-n64c64h112w112-y3x3-p1x1-"
                      "s2x2-iu8mask"),
            "pool-fwd-max-f16-nhwc,nhwc-n?c64h?w?-y3x3-p1x1-s2x2-iu8mask");
  EXPECT_EQ(
      getFamily("rowwise-softmax_fwd-m2-64x200-r1-i:f16:200:1-o:f16:200:1"),
      "rowwise-softmax_fwd-m2-?x200-r1-i:f16:200:1-o:f16:200:1");
  EXPECT_EQ(getFamily("rowwise-activ_fwd-m3-36-r-i:f32:1-o:f32:1"),
            "rowwise-activ_fwd-m3-?x4-r-i:f32:4:1-o:f32:4:1");
  // The pixels of images with channels last are rows.
  EXPECT_EQ(getFamily("rowwise-activ_fwd-m3-4x16x63-r-i:f32:1008:1:16-"
                      "o:f32:1008:1:16"),
            getFamily("rowwise-activ_fwd-m3-2x16x80-r-i:f32:1280:1:16-"
                      "o:f32:1280:1:16"));
  EXPECT_EQ(getFamily("rowwise-softmax_fwd-m2-200-r0-i:f16:1-o:f16:1"), "none");
  EXPECT_EQ(getFamily("conv-fwd-f16-s2000:1:200:8,nhwc,nhwc-n2c8h3w4-k8y1x1-"
                      "p0x0-s1x1-d1x1-g1"),
            "none");
  EXPECT_EQ(getFamily("conv-fwd-f16-nhwc,nhwc,nhwc-n65536c256h14w14-k256y3x3-"
                      "p1x1-s1x1-d1x1-g1"),
            "none");
}

// Unknown sizes are refused where they may not be.
TEST(Family, RefusesOtherUnknownSizes) {
  for (const char *config :
       {"conv-fwd-f16-nhwc,nhwc,nhwc-n1c?h14w14-k8y1x1-p0x0-s1x1-d1x1-g1",
        "conv-fwd-f16-nhwc,nhwc,nhwc-n1c8h14w14-k8y1x1-p0x0-s1x1-d1x1-g1-small",
        "rowwise-softmax_fwd-m2-?x200-r1-i:f16:200:1-o:f16:200:1-small",
        "conv-fwd-f16-s2000:1:200:8,nhwc,nhwc-n?c8h3w4-k8y1x1-p0x0-s1x1-d1x1-"
        "g1",
        "rowwise-softmax_fwd-m2-?x200-r0-i:f16:200:1-o:f16:200:1",
        "rowwise-softmax_fwd-m2-64x?-r1-i:f16:200:1-o:f16:200:1"})
    EXPECT_FALSE(parseNetworkConfig(config)) << config;
}

// The sizes of a member are found by the number of a dimension of the memref.
TEST(Family, FindsSizes) {
  ConvProblem p;
  p.batch = 2;
  p.inChannels = 3;
  p.outChannels = 5;
  p.in = {7, 11};
  p.yLayout = Layout::NHWC;
  auto getSizes = [&](KernelArg tensor) {
    std::vector<int64_t> sizes;
    while (auto size = Problem(p).getTensorSize(tensor, int64_t(sizes.size())))
      sizes.push_back(*size);
    return sizes;
  };
  EXPECT_EQ(getSizes(KernelArg::X), (std::vector<int64_t>{2, 3, 7, 11}));
  EXPECT_EQ(getSizes(KernelArg::Y), (std::vector<int64_t>{2, 7, 11, 5}));
  EXPECT_EQ(getSizes(KernelArg::Residual), (std::vector<int64_t>{2, 7, 11, 5}));
  EXPECT_TRUE(getSizes(KernelArg::W).empty());
}

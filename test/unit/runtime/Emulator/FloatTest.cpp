//===- FloatTest.cpp - Float vector instructions and conversions ----------===//

#include "runtime/Emulator/Exec/HalfFloat.h"
#include "test/unit/runtime/Emulator/WaveTester.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tessera::emulator;

namespace {
struct Case {
  const char *text; ///< Reads v1, v2, v3; writes v0.
  float (*expected)(float a, float b, float c);
};
} // namespace

static constexpr Case kCases[] = {
    {"v_add_f32 v0, v1, v2", [](float a, float b, float) { return a + b; }},
    {"v_sub_f32 v0, v1, v2", [](float a, float b, float) { return a - b; }},
    {"v_mul_f32 v0, v1, v2", [](float a, float b, float) { return a * b; }},
    {"v_fma_f32 v0, v1, v2, v3", std::fmaf},
    {"v_fma_f32 v0, -v1, |v2|, -|v3|",
     [](float a, float b, float c) {
       return std::fmaf(-a, std::fabs(b), -std::fabs(c));
     }},
    {"v_add_f32_e64 v0, v1, v2 mul:4",
     [](float a, float b, float) {
       float r = (a + b) * 4;
       return std::fpclassify(r) == FP_SUBNORMAL ? 0.0f : r;
     }},
    {"v_mul_f32_e64 v0, v1, v2 clamp",
     [](float a, float b, float) {
       float r = a * b;
       return r > 0 ? std::min(r, 1.0f) : 0.0f;
     }},
    {"v_mul_f32 v0, 0.15915494, v2",
     [](float, float b, float) { return 0x1.45f306p-3f * b; }},
    {"v_max_f32 v0, v1, v2",
     [](float a, float b, float) { return std::fmax(a, b); }},
    {"v_min_f32 v0, v1, v2",
     [](float a, float b, float) { return std::fmin(a, b); }},
    {"v_floor_f32 v0, v1", [](float a, float, float) { return std::floor(a); }},
    {"v_rndne_f32 v0, v1",
     [](float a, float, float) { return std::nearbyint(a); }},
    {"v_rcp_f32 v0, v1", [](float a, float, float) { return 1 / a; }},
    {"v_sqrt_f32 v0, v1", [](float a, float, float) { return std::sqrt(a); }},
    {"v_cvt_f32_u32 v0, v1",
     [](float a, float, float) {
       return static_cast<float>(std::bit_cast<uint32_t>(a));
     }},
    {"v_cvt_f32_f16 v0, v1",
     [](float a, float, float) {
       return halfToFloat(std::bit_cast<uint32_t>(a));
     }},
};

static void expectSame(float actual, float expected, const char *what,
                       unsigned lane) {
  if (expected != expected)
    ASSERT_NE(actual, actual) << what << " lane " << lane;
  else
    ASSERT_EQ(actual, expected) << what << " lane " << lane;
}

// Each instruction gives the host's correctly rounded result, for random bits
// and for zeros, denormals, infinities and NaN.
TEST(Float, MatchesHostArithmetic) {
  for (const char *chip : {"gfx942", "gfx1030"})
    for (const Case &item : kCases) {
      WaveTester tester(chip);
      for (unsigned reg = 1; reg < 4; ++reg)
        tester.fillSpecial(reg);
      float a[64], b[64], c[64];
      for (unsigned lane = 0; lane < 64; ++lane)
        a[lane] = tester.f(1, lane), b[lane] = tester.f(2, lane),
        c[lane] = tester.f(3, lane);
      tester.runWell(item.text);
      for (unsigned lane = 0; lane < tester->lanes; ++lane)
        expectSame(tester.f(0, lane), item.expected(a[lane], b[lane], c[lane]),
                   item.text, lane);
    }
}

// v_fmac adds to its destination; fmamk and fmaak have the constant between and
// after the sources.
TEST(Float, FusedForms) {
  WaveTester tester("gfx1030");
  for (unsigned reg = 0; reg < 4; ++reg)
    for (unsigned lane = 0; lane < 32; ++lane)
      tester.v(reg, lane) = std::bit_cast<uint32_t>(1.5f + reg + lane);
  float d = tester.f(0, 3), a = tester.f(1, 3), b = tester.f(2, 3);
  tester.runWell("v_fmac_f32 v0, v1, v2\n"
                 "v_fmamk_f32 v4, v1, 0x42000000, v2\n"
                 "v_fmaak_f32 v5, v1, v2, 0x42000000");
  EXPECT_EQ(tester.f(0, 3), std::fmaf(a, b, d));
  EXPECT_EQ(tester.f(4, 3), std::fmaf(a, 32.0f, b));
  EXPECT_EQ(tester.f(5, 3), std::fmaf(a, b, 32.0f));
}

// f32 to f16 rounds to nearest even, also at the ends of the range; f16 to f32
// is exact.
TEST(Float, ConvertsHalves) {
  WaveTester tester("gfx942");
  const std::pair<float, uint32_t> kPairs[] = {
      {1.0f, 0x3c00},     {65504.0f, 0x7bff},      {65519.0f, 0x7bff},
      {65520.0f, 0x7c00}, {0x1p-24f, 0x0001},      {0x1p-25f, 0x0000},
      {-2.0f, 0xc000},    {1.00048828125f, 0x3c00}};
  for (unsigned lane = 0; lane < std::size(kPairs); ++lane)
    tester.v(1, lane) = std::bit_cast<uint32_t>(kPairs[lane].first);
  tester.runWell("v_cvt_f16_f32 v0, v1");
  for (unsigned lane = 0; lane < std::size(kPairs); ++lane)
    EXPECT_EQ(tester.v(0, lane), kPairs[lane].second) << kPairs[lane].first;
}

// f32 to integers truncates and saturates; NaN gives 0.
TEST(Float, ConvertsIntegersSaturating) {
  WaveTester tester("gfx942");
  const float kValues[] = {1.9f, -1.9f, 3e9f, -3e9f, 5e9f, NAN, INFINITY};
  const int32_t kSigned[] = {1,         -1, INT32_MAX, INT32_MIN,
                             INT32_MAX, 0,  INT32_MAX};
  const uint32_t kUnsigned[] = {1, 0, 3000000000u, 0, ~0u, 0, ~0u};
  for (unsigned lane = 0; lane < std::size(kValues); ++lane)
    tester.v(2, lane) = std::bit_cast<uint32_t>(kValues[lane]);
  tester.runWell("v_cvt_i32_f32 v0, v2\nv_cvt_u32_f32 v1, v2");
  for (unsigned lane = 0; lane < std::size(kValues); ++lane) {
    EXPECT_EQ(static_cast<int32_t>(tester.v(0, lane)), kSigned[lane]) << lane;
    EXPECT_EQ(tester.v(1, lane), kUnsigned[lane]) << lane;
  }
}

// The instruction sequence that compilers emit for a division gives the rounded
// quotient, also if it overflows or is denormal, or an operand is.
TEST(Float, DivisionChain) {
  static constexpr float kEdges[] = {
      1e-45f, 1.1754942e-38f, 1.17549435e-38f, 3.4028235e38f,
      0.1f,   -3.0f,          1e-20f,          8.5070592e37f};
  WaveTester tester("gfx942");
  for (unsigned lane = 0; lane < 64; ++lane) {
    tester.v(1, lane) = std::bit_cast<uint32_t>(kEdges[lane / 8]);
    tester.v(2, lane) = std::bit_cast<uint32_t>(kEdges[lane % 8]);
  }
  float n[64], d[64];
  for (unsigned lane = 0; lane < 64; ++lane)
    n[lane] = tester.f(1, lane), d[lane] = tester.f(2, lane);
  tester.runWell("v_div_scale_f32 v3, s[0:1], v2, v2, v1\n"
                 "v_rcp_f32 v4, v3\n"
                 "v_fma_f32 v5, -v3, v4, 1.0\n"
                 "v_fmac_f32 v4, v5, v4\n"
                 "v_div_scale_f32 v5, vcc, v1, v2, v1\n"
                 "v_mul_f32 v6, v5, v4\n"
                 "v_fma_f32 v7, -v3, v6, v5\n"
                 "v_fmac_f32 v6, v7, v4\n"
                 "v_fma_f32 v3, -v3, v6, v5\n"
                 "v_div_fmas_f32 v3, v3, v4, v6\n"
                 "v_div_fixup_f32 v0, v3, v2, v1");
  for (unsigned lane = 0; lane < 64; ++lane)
    EXPECT_EQ(tester.f(0, lane), n[lane] / d[lane]) << lane;
}

// MODE decides whether denormals are flushed.
TEST(Float, FlushesDenormalsWhenModeSays) {
  WaveTester tester("gfx1030");
  tester.v(1, 0) = 0x00000001;
  tester.v(2, 0) = 0x3f800000;
  tester.runWell("v_mul_f32 v0, v1, v2");
  EXPECT_EQ(tester.v(0, 0), 1u);
  tester.runWell("s_denorm_mode 0\nv_mul_f32 v0, v1, v2");
  EXPECT_EQ(tester.v(0, 0), 0u);
}

// f64 operands are register pairs; inline constants are doubles.
TEST(Float, Doubles) {
  WaveTester tester("gfx90a");
  uint64_t a = std::bit_cast<uint64_t>(1.25), b = std::bit_cast<uint64_t>(3.5);
  tester.v(2, 9) = uint32_t(a), tester.v(3, 9) = uint32_t(a >> 32);
  tester.v(4, 9) = uint32_t(b), tester.v(5, 9) = uint32_t(b >> 32);
  tester.runWell("v_fma_f64 v[0:1], v[2:3], -v[4:5], 0.5");
  EXPECT_EQ(
      std::bit_cast<double>(tester.v(0, 9) | uint64_t(tester.v(1, 9)) << 32),
      1.25 * -3.5 + 0.5);
}

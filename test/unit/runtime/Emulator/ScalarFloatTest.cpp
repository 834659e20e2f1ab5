//===- ScalarFloatTest.cpp - Float arithmetic of the scalar unit ----------===//

#include "runtime/Emulator/Exec/HalfFloat.h"
#include "test/unit/runtime/Emulator/WaveTester.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <limits>

using namespace tessera::emulator;

static constexpr float kInf = std::numeric_limits<float>::infinity();
static constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
static constexpr float kValues[] = {
    0.0f,    -0.0f,   1.0f,    -2.5f,        0.5f,    1e-40f,
    -3e-39f, 3.4e38f, 65519.f, 65520.0f,     6.1e-5f, -1e-7f,
    kInf,    -kInf,   kNan,    4294967296.f, 1.5f,    -2147483649.f};

static uint32_t toBits(float value) { return std::bit_cast<uint32_t>(value); }

/// All NaNs are equal, because it is not published which payload results.
static void expectSame(uint32_t actual, float expected,
                       const std::string &what) {
  if (expected != expected)
    EXPECT_TRUE(std::isnan(std::bit_cast<float>(actual))) << what;
  else
    EXPECT_EQ(actual, toBits(expected)) << what;
}

// Each f32 operation gives the result of C++ arithmetic and leaves SCC
// unchanged.
TEST(ScalarFloat, MatchesHostArithmetic) {
  struct Case {
    const char *text;
    float (*expected)(float, float, float);
  };
  static const Case kCases[] = {
      {"s_add_f32 s0, s1, s2", [](float a, float b, float) { return a + b; }},
      {"s_sub_f32 s0, s1, s2", [](float a, float b, float) { return a - b; }},
      {"s_mul_f32 s0, s1, s2", [](float a, float b, float) { return a * b; }},
      {"s_fmac_f32 s0, s1, s2",
       [](float a, float b, float c) { return std::fma(a, b, c); }},
      {"s_fmamk_f32 s0, s1, 0x40400000, s2",
       [](float a, float b, float) { return std::fma(a, 3.0f, b); }},
      {"s_fmaak_f32 s0, s1, s2, 0x40400000",
       [](float a, float b, float) { return std::fma(a, b, 3.0f); }},
      {"s_min_num_f32 s0, s1, s2",
       [](float a, float b, float) {
         if (a == b)
           return std::signbit(a) ? a : b;
         return std::fmin(a, b);
       }},
      {"s_maximum_f32 s0, s1, s2",
       [](float a, float b, float) {
         if (a != a || b != b)
           return kNan;
         if (a == b)
           return std::signbit(a) ? b : a;
         return std::fmax(a, b);
       }},
      {"s_ceil_f32 s0, s1", [](float a, float, float) { return std::ceil(a); }},
      {"s_floor_f32 s0, s1",
       [](float a, float, float) { return std::floor(a); }},
      {"s_trunc_f32 s0, s1",
       [](float a, float, float) { return std::trunc(a); }},
      {"s_rndne_f32 s0, s1",
       [](float a, float, float) { return std::nearbyint(a); }},
      {"s_cvt_f32_f16 s0, s1",
       [](float a, float, float) { return halfToFloat(toBits(a)); }},
      {"s_cvt_hi_f32_f16 s0, s1",
       [](float a, float, float) { return halfToFloat(toBits(a) >> 16); }},
      {"s_cvt_f32_i32 s0, s1",
       [](float a, float, float) { return float(int32_t(toBits(a))); }},
      {"s_cvt_f32_u32 s0, s1",
       [](float a, float, float) { return float(toBits(a)); }},
  };
  for (const Case &item : kCases)
    for (float a : kValues)
      for (float b : kValues) {
        WaveTester tester("gfx1201");
        tester.s(0) = toBits(7.25f);
        tester.s(1) = toBits(a);
        tester.s(2) = toBits(b);
        tester->scc = true;
        tester.runWell(item.text);
        expectSame(tester.s(0), item.expected(a, b, 7.25f),
                   std::string(item.text) + " of " + std::to_string(a) +
                       " and " + std::to_string(b));
        EXPECT_TRUE(tester->scc);
      }
}

// f16 results are rounded once and clear the upper half.
TEST(ScalarFloat, HalvesClearTheUpperHalf) {
  WaveTester tester("gfx1201");
  tester.s(0) = 0xffff0000 | floatToHalf(1.0f);
  tester.s(1) = 0xabcd0000 | floatToHalf(2049.0f / 1024);
  tester.s(2) = 0x12340000 | floatToHalf(0.5f);
  tester.runWell("s_add_f16 s3, s1, s2\n"
                 "s_mul_f16 s4, s1, 0.5\n"
                 "s_fmac_f16 s0, s1, s2\n"
                 "s_cvt_f16_f32 s5, 0x477ff000\n"
                 "s_cvt_pk_rtz_f16_f32 s6, 0x477ff000, -1.0");
  float a = halfToFloat(floatToHalf(2049.0f / 1024));
  EXPECT_EQ(tester.s(3), floatToHalf(a + 0.5f));
  EXPECT_EQ(tester.s(4), floatToHalf(a * 0.5f));
  EXPECT_EQ(tester.s(0), floatToHalf(a * 0.5f + 1));
  // 65520 is the first value that rounds to infinity; truncation keeps 65504.
  EXPECT_EQ(tester.s(5), 0x7c00u);
  EXPECT_EQ(tester.s(6), 0xbc007bffu);
}

// Conversions to integers truncate and saturate, and NaN gives 0.
TEST(ScalarFloat, ConversionsSaturate) {
  struct Case {
    float value;
    int32_t asSigned;
    uint32_t asUnsigned;
  };
  static const Case kCases[] = {
      {-1.75f, -1, 0},       {3e9f, INT32_MAX, 3000000000u},
      {-3e9f, INT32_MIN, 0}, {kInf, INT32_MAX, UINT32_MAX},
      {kNan, 0, 0},          {2147483520.f, 2147483520, 2147483520u}};
  for (const Case &item : kCases) {
    WaveTester tester("gfx1201");
    tester.s(1) = toBits(item.value);
    tester.runWell("s_cvt_i32_f32 s2, s1\ns_cvt_u32_f32 s3, s1");
    EXPECT_EQ(int32_t(tester.s(2)), item.asSigned) << item.value;
    EXPECT_EQ(tester.s(3), item.asUnsigned) << item.value;
  }
}

// All fourteen relations, on f32 and f16, with NaN on either side.
TEST(ScalarFloat, ComparesLikeTheHost) {
  struct Case {
    const char *name;
    bool (*holds)(float, float);
  };
  static const Case kCases[] = {
      {"lt", [](float a, float b) { return a < b; }},
      {"eq", [](float a, float b) { return a == b; }},
      {"le", [](float a, float b) { return a <= b; }},
      {"gt", [](float a, float b) { return a > b; }},
      {"lg", [](float a, float b) { return std::islessgreater(a, b) != 0; }},
      {"ge", [](float a, float b) { return a >= b; }},
      {"o", [](float a, float b) { return !std::isunordered(a, b); }},
      {"u", [](float a, float b) { return std::isunordered(a, b) != 0; }},
      {"nge", [](float a, float b) { return !(a >= b); }},
      {"nlg", [](float a, float b) { return !std::islessgreater(a, b); }},
      {"ngt", [](float a, float b) { return !(a > b); }},
      {"nle", [](float a, float b) { return !(a <= b); }},
      {"neq", [](float a, float b) { return a != b; }},
      {"nlt", [](float a, float b) { return !(a < b); }},
  };
  static constexpr float kSides[] = {0.0f, -0.0f, 1.5f, kInf, -kInf, kNan};
  for (const Case &item : kCases)
    for (float a : kSides)
      for (float b : kSides) {
        WaveTester tester("gfx1201");
        tester.s(1) = toBits(a);
        tester.s(2) = toBits(b);
        tester.s(3) = 0xdead0000 | floatToHalf(a);
        tester.s(4) = 0xbeef0000 | floatToHalf(b);
        std::string name = item.name;
        tester.runWell("s_cmp_" + name + "_f32 s1, s2\n" +
                       "s_cselect_b32 s5, 1, 0\n" + "s_cmp_" + name +
                       "_f16 s3, s4\ns_cselect_b32 s6, 1, 0");
        EXPECT_EQ(tester.s(5), uint32_t(item.holds(a, b))) << name;
        EXPECT_EQ(tester.s(6), uint32_t(item.holds(a, b))) << name;
      }
}

// The transcendentals on scalar registers work with EXEC = 0 and accept the
// modifiers of the vector unit.
TEST(ScalarFloat, VectorFunctionsIgnoreExec) {
  WaveTester tester("gfx1201");
  tester->setExec(0);
  tester.s(1) = toBits(-4.0f);
  tester.runWell("v_s_rcp_f32 s2, s1\nv_s_sqrt_f32 s3, |s1|\n"
                 "v_s_exp_f32 s4, -s1 clamp\nv_s_log_f32 s5, -s1 mul:2\n"
                 "v_s_rsq_f16 s6, 4.0");
  EXPECT_EQ(tester.s(2), toBits(-0.25f));
  EXPECT_EQ(tester.s(3), toBits(2.0f));
  EXPECT_EQ(tester.s(4), toBits(1.0f));
  EXPECT_EQ(tester.s(5), toBits(4.0f));
  EXPECT_EQ(tester.s(6), floatToHalf(0.5f));
}

//===- RoundingTest.cpp - The four rounding modes -------------------------===//
//
// Results are compared with exact arithmetic: the sum or product of two f32 is
// exact in f64, or near enough that neighbours decide, so a result in mode M is
// right when it is the value nearest to the exact one on the side that M asks
// for.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/HalfFloat.h"
#include "test/unit/runtime/Emulator/WaveTester.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tessera::emulator;

namespace {
enum Mode : unsigned { Nearest, Up, Down, Zero };
constexpr Mode kModes[] = {Nearest, Up, Down, Zero};
constexpr const char *kChips[] = {"gfx906",  "gfx908",  "gfx90a", "gfx942",
                                  "gfx1030", "gfx1100", "gfx1201"};
/// With 113 bits it is exact for all sums and products of f32 that occur here.
using Exact = __float128;
} // namespace

/// Is `actual` what `exact` rounds to, given its neighbours in the format?
static bool isRounded(Exact actual, Exact below, Exact above, Exact exact,
                      Mode mode) {
  if (actual == exact)
    return true;
  switch (mode) {
  case Up:
    return actual > exact && below < exact;
  case Down:
    return actual < exact && above > exact;
  case Zero:
    return exact > 0 ? actual < exact && above > exact
                     : actual > exact && below < exact;
  default: {
    auto distance = [&](Exact x) { return x > exact ? x - exact : exact - x; };
    return distance(actual) <= distance(below) &&
           distance(actual) <= distance(above);
  }
  }
}

static bool isRoundedFloat(float actual, Exact exact, Mode mode) {
  return isRounded(actual, std::nextafter(actual, -HUGE_VALF),
                   std::nextafter(actual, HUGE_VALF), exact, mode);
}

/// Returns the next f16 towards +infinity or -infinity.
static float stepHalf(float value, bool up) {
  uint32_t bits = floatToHalf(value);
  bool negative = bits >> 15;
  if ((bits & 0x7fff) == 0)
    return up ? 0x1p-24f : -0x1p-24f;
  return halfToFloat(up != negative ? bits + 1 : bits - 1);
}
static bool isRoundedHalf(uint32_t bits, Exact exact, Mode mode) {
  float actual = halfToFloat(bits);
  return isRounded(actual, stepHalf(actual, false), stepHalf(actual, true),
                   exact, mode);
}

static float makeFloat(WaveTester &tester) {
  // Exponents are near each other, so that sums lose bits on both sides.
  uint32_t bits = static_cast<uint32_t>(tester.random());
  return std::bit_cast<float>((bits & 0x807fffff) | (117 + bits % 21) << 23);
}

// f32 add, multiply and fma follow every mode on every family of chips.
TEST(Rounding, SingleFollowsMode) {
  for (const char *chip : kChips)
    for (Mode mode : kModes) {
      WaveTester tester(chip);
      for (unsigned reg = 1; reg <= 3; ++reg)
        for (unsigned lane = 0; lane < kMaxLanes; ++lane)
          tester.v(reg, lane) = std::bit_cast<uint32_t>(makeFloat(tester));
      // The f16 and f64 mode is separate, so it must not matter.
      tester->setMode(0xf0 | mode | (mode ^ 3) << 2);
      tester.runWell("v_add_f32 v4, v1, v2\nv_mul_f32 v5, v1, v2\n"
                     "v_fma_f32 v6, v1, v2, v3\nv_sub_f32 v7, v1, v2");
      for (unsigned lane = 0; lane < tester->lanes; ++lane) {
        Exact a = tester.f(1, lane), b = tester.f(2, lane),
              c = tester.f(3, lane);
        EXPECT_TRUE(isRoundedFloat(tester.f(4, lane), a + b, mode)) << chip;
        EXPECT_TRUE(isRoundedFloat(tester.f(5, lane), a * b, mode)) << chip;
        EXPECT_TRUE(isRoundedFloat(tester.f(6, lane), a * b + c, mode)) << chip;
        EXPECT_TRUE(isRoundedFloat(tester.f(7, lane), a - b, mode)) << chip;
      }
    }
}

// f16, packed f16 and conversions to f16 follow MODE[3:2].
TEST(Rounding, HalfFollowsItsOwnMode) {
  for (const char *chip : kChips)
    for (Mode mode : kModes) {
      WaveTester tester(chip);
      for (unsigned lane = 0; lane < kMaxLanes; ++lane) {
        auto half = [&] {
          return 0x3000 + static_cast<uint32_t>(tester.random()) % 0x1000 +
                 (tester.random() % 2 << 15);
        };
        for (unsigned reg = 1; reg <= 3; ++reg)
          tester.v(reg, lane) = static_cast<uint32_t>(half() | half() << 16);
        tester.v(4, lane) = std::bit_cast<uint32_t>(makeFloat(tester));
      }
      tester->setMode(0xf0 | (mode ^ 3) | mode << 2);
      bool isTrue16 = std::string(chip) == "gfx1100";
      std::string add =
          isTrue16 ? "v_add_f16 v5.l, v1.l, v2.l\n" : "v_add_f16 v5, v1, v2\n";
      std::string fma = isTrue16 ? "v_fma_f16 v6.l, v1.l, v2.l, v3.l\n"
                                 : "v_fma_f16 v6, v1, v2, v3\n";
      std::string convert =
          isTrue16 ? "v_cvt_f16_f32 v7.l, v4\n" : "v_cvt_f16_f32 v7, v4\n";
      tester.runWell(add + fma + convert + "v_pk_mul_f16 v8, v1, v2\n");
      for (unsigned lane = 0; lane < tester->lanes; ++lane) {
        auto get = [&](unsigned reg, unsigned shift = 0) -> Exact {
          return halfToFloat(tester.v(reg, lane) >> shift);
        };
        EXPECT_TRUE(isRoundedHalf(tester.v(5, lane), get(1) + get(2), mode));
        EXPECT_TRUE(
            isRoundedHalf(tester.v(6, lane), get(1) * get(2) + get(3), mode));
        EXPECT_TRUE(isRoundedHalf(tester.v(7, lane), tester.f(4, lane), mode))
            << chip << " " << tester.f(4, lane);
        EXPECT_TRUE(isRoundedHalf(tester.v(8, lane), get(1) * get(2), mode));
        EXPECT_TRUE(isRoundedHalf(tester.v(8, lane) >> 16,
                                  get(1, 16) * get(2, 16), mode));
      }
    }
}

// f64 follows MODE[3:2]; f64 to f32 follows the mode of its result, f32.
TEST(Rounding, DoubleFollowsItsOwnMode) {
  for (const char *chip : kChips)
    for (Mode mode : kModes) {
      WaveTester tester(chip);
      auto get = [&](unsigned reg, unsigned lane) {
        return std::bit_cast<double>(tester.v(reg, lane) |
                                     uint64_t(tester.v(reg + 1, lane)) << 32);
      };
      for (unsigned lane = 0; lane < kMaxLanes; ++lane)
        for (unsigned reg = 2; reg <= 4; reg += 2) {
          auto bits = std::bit_cast<uint64_t>(double(makeFloat(tester)));
          bits |= tester.random() & 0x1fffffff;
          tester.v(reg, lane) = static_cast<uint32_t>(bits);
          tester.v(reg + 1, lane) = static_cast<uint32_t>(bits >> 32);
        }
      tester->setMode(0xf0 | (mode ^ 3) | mode << 2);
      tester.runWell("v_add_f64 v[6:7], v[2:3], v[4:5]\n"
                     "v_mul_f64 v[8:9], v[2:3], v[4:5]\n"
                     "v_cvt_f32_f64 v10, v[2:3]");
      for (unsigned lane = 0; lane < tester->lanes; ++lane) {
        Exact a = get(2, lane), b = get(4, lane);
        auto isRight = [&](double actual, Exact exact) {
          return isRounded(actual, std::nextafter(actual, -HUGE_VAL),
                           std::nextafter(actual, HUGE_VAL), exact, mode);
        };
        EXPECT_TRUE(isRight(get(6, lane), a + b));
        EXPECT_TRUE(isRight(get(8, lane), a * b));
        EXPECT_TRUE(
            isRoundedFloat(tester.f(10, lane), a, static_cast<Mode>(mode ^ 3)));
      }
    }
}

// Operations that do not round must not change: rndne ties to even, conversions
// from integers give +0 for 0, pkrtz truncates, and the host's mode is
// restored.
TEST(Rounding, LeavesTheRestAlone) {
  for (Mode mode : kModes) {
    WaveTester tester("gfx1201");
    tester->setMode(0xf0 | mode | mode << 2);
    tester.v(1, 0) = std::bit_cast<uint32_t>(2.5f);
    tester.v(2, 0) = 0;
    tester.v(3, 0) = std::bit_cast<uint32_t>(-1.00001f);
    tester.runWell("v_rndne_f32 v4, v1\nv_cvt_f32_u32 v5, v2\n"
                   "v_cvt_f32_i32 v6, v2\nv_cvt_pk_rtz_f16_f32 v7, v3, v3\n"
                   "v_cvt_f64_u32 v[8:9], v2");
    EXPECT_EQ(tester.f(4, 0), 2.0f);
    EXPECT_EQ(tester.v(5, 0), 0u);
    EXPECT_EQ(tester.v(6, 0), 0u);
    EXPECT_EQ(tester.v(7, 0), 0xbc00bc00u);
    EXPECT_EQ(tester.v(9, 0), 0u);
    volatile float one = 1, tiny = 1e-10f;
    EXPECT_EQ(one + tiny, 1.0f);
    EXPECT_EQ(-one - tiny, -1.0f);
  }
}

// s_round_mode and s_setreg switch in the middle of a kernel; the scalar unit
// of gfx12 follows, too.
TEST(Rounding, SwitchesInTheKernel) {
  WaveTester tester("gfx1201");
  tester.s(1) = std::bit_cast<uint32_t>(1.0f);
  tester.s(2) = std::bit_cast<uint32_t>(0x1p-30f);
  tester.runWell("s_add_f32 s3, s1, s2\n"
                 "s_round_mode 1\n"
                 "s_add_f32 s4, s1, s2\n"
                 "v_add_f32 v0, s1, s2\n"
                 "s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 0, 2), 2\n"
                 "s_sub_f32 s5, s1, s2\n"
                 "s_getreg_b32 s6, hwreg(HW_REG_WAVE_MODE, 0, 4)\n"
                 "s_round_mode 0\n"
                 "s_sub_f32 s7, s1, s2");
  uint32_t one = std::bit_cast<uint32_t>(1.0f);
  EXPECT_EQ(tester.s(3), one);
  EXPECT_EQ(tester.s(4), one + 1);
  EXPECT_EQ(tester.v(0, 0), one + 1);
  EXPECT_EQ(tester.s(5), one - 1);
  EXPECT_EQ(tester.s(6), 2u);
  EXPECT_EQ(tester.s(7), one);
}

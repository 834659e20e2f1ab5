//===- PackedTest.cpp - Packed, dot and mixed instructions ----------------===//

#include "runtime/Emulator/Exec/HalfFloat.h"
#include "test/unit/runtime/Emulator/WaveTester.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tessera::emulator;

static float lo(uint32_t word) { return halfToFloat(word); }
static float hi(uint32_t word) { return halfToFloat(word >> 16); }

// Both halves are computed; op_sel, op_sel_hi and neg select them.
TEST(Packed, HalvesAndSelectors) {
  for (const char *chip : {"gfx90a", "gfx1030"}) {
    WaveTester tester(chip);
    for (unsigned reg = 1; reg < 4; ++reg)
      tester.fillHalves(reg);
    tester.runWell("v_pk_add_f16 v4, v1, v2\n"
                   "v_pk_mul_f16 v5, v1, v2 op_sel:[1,0] op_sel_hi:[0,1] "
                   "neg_lo:[1,0] neg_hi:[0,1]\n"
                   "v_pk_fma_f16 v6, v1, v2, 1.0 op_sel_hi:[1,1,0]");
    for (unsigned lane = 0; lane < tester->lanes; ++lane) {
      uint32_t a = tester.v(1, lane), b = tester.v(2, lane);
      ASSERT_EQ(tester.v(4, lane),
                floatToHalf(lo(a) + lo(b)) | floatToHalf(hi(a) + hi(b)) << 16);
      ASSERT_EQ(tester.v(5, lane), floatToHalf(-hi(a) * lo(b)) |
                                       floatToHalf(lo(a) * -hi(b)) << 16);
      ASSERT_EQ(tester.v(6, lane),
                floatToHalf(roundToOdd(double(lo(a)) * lo(b) + 1)) |
                    floatToHalf(roundToOdd(double(hi(a)) * hi(b) + 1)) << 16);
    }
  }
}

// v_pk_fma_f32 works on pairs, from registers, scalars and constants.
TEST(Packed, PairsOfFloats) {
  WaveTester tester("gfx942");
  for (unsigned reg = 2; reg < 8; ++reg)
    for (unsigned lane = 0; lane < 64; ++lane)
      tester.v(reg, lane) =
          std::bit_cast<uint32_t>(float(reg) + float(lane) / 64);
  tester.runWell("v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7] "
                 "op_sel_hi:[1,0,1]\n"
                 "v_pk_mov_b32 v[8:9], v[2:3], v[4:5] op_sel:[1,0]");
  for (unsigned lane = 0; lane < 64; ++lane) {
    ASSERT_EQ(tester.f(0, lane), std::fmaf(tester.f(2, lane), tester.f(4, lane),
                                           tester.f(6, lane)));
    ASSERT_EQ(tester.f(1, lane), std::fmaf(tester.f(3, lane), tester.f(4, lane),
                                           tester.f(7, lane)));
    ASSERT_EQ(tester.v(8, lane), tester.v(3, lane));
    ASSERT_EQ(tester.v(9, lane), tester.v(4, lane));
  }
}

// v_dot2 adds two products to an f32; the c form adds to its destination.
TEST(Packed, DotProducts) {
  for (const char *chip : {"gfx942", "gfx1030"}) {
    WaveTester tester(chip);
    tester.fillHalves(1);
    tester.fillHalves(2);
    for (unsigned lane = 0; lane < 64; ++lane)
      tester.v(0, lane) = tester.v(3, lane) =
          std::bit_cast<uint32_t>(0.25f * float(lane));
    tester.runWell("v_dot2c_f32_f16 v0, v1, v2\n"
                   "v_dot2_f32_f16 v4, v1, v2, v3");
    for (unsigned lane = 0; lane < tester->lanes; ++lane) {
      uint32_t a = tester.v(1, lane), b = tester.v(2, lane);
      float expected =
          std::fmaf(hi(a), hi(b), std::fmaf(lo(a), lo(b), tester.f(3, lane)));
      ASSERT_EQ(tester.f(0, lane), expected);
      ASSERT_EQ(tester.f(4, lane), expected);
    }
  }
}

// v_fma_mix reads f16 where op_sel_hi says so, and f32 elsewhere; the signs
// apply to what it reads.
TEST(Packed, MixedPrecision) {
  WaveTester tester("gfx1030");
  tester.fillHalves(1);
  tester.fillHalves(2);
  for (unsigned lane = 0; lane < 32; ++lane)
    tester.v(3, lane) = std::bit_cast<uint32_t>(1.0f + float(lane));
  tester.runWell(
      "v_fma_mix_f32 v0, v1, v2, v3 op_sel:[1,0,0] op_sel_hi:[1,1,0]\n"
      "v_fma_mix_f32 v4, v3, -v3, |v3|\n"
      "v_fma_mix_f32 v5, |v1|, v3, -|v2| op_sel:[0,0,1] op_sel_hi:[1,0,1]");
  for (unsigned lane = 0; lane < 32; ++lane) {
    float c = tester.f(3, lane);
    ASSERT_EQ(tester.f(0, lane),
              std::fmaf(hi(tester.v(1, lane)), lo(tester.v(2, lane)), c));
    ASSERT_EQ(tester.f(4, lane), std::fmaf(c, -c, std::fabs(c)));
    ASSERT_EQ(tester.f(5, lane), std::fmaf(std::fabs(lo(tester.v(1, lane))), c,
                                           -std::fabs(hi(tester.v(2, lane)))));
  }
}

// v_pack joins two halves; op_sel selects an upper one.
TEST(Packed, PacksHalves) {
  WaveTester tester("gfx942");
  tester.fillHalves(1);
  tester.fillHalves(2);
  tester.runWell("v_pack_b32_f16 v0, v1, v2\n"
                 "v_pack_b32_f16 v3, v1, v2 op_sel:[1,0,0]");
  uint32_t a = tester.v(1, 8), b = tester.v(2, 8);
  EXPECT_EQ(tester.v(0, 8), (a & 0xffff) | b << 16);
  EXPECT_EQ(tester.v(3, 8), a >> 16 | b << 16);
}

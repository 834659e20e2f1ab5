//===- RdnaTest.cpp - What is special to gfx11 and gfx12 ------------------===//
//
// Halves of registers as operands, two operations in one instruction, DPP on
// three-operand forms, the new orderings of floats, and the new lane moves.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/HalfFloat.h"
#include "test/unit/runtime/Emulator/WaveTester.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace tessera::emulator;

static constexpr const char *kRdna[] = {"gfx1100", "gfx1151", "gfx1200",
                                        "gfx1201"};
static constexpr uint32_t kOne = 0x3f800000;

/// Runs `text` and returns register `reg` of each lane.
static std::vector<uint32_t> getRow(WaveTester &tester, unsigned reg) {
  std::vector<uint32_t> row;
  for (unsigned lane = 0; lane < 32; ++lane)
    row.push_back(tester.v(reg, lane));
  return row;
}

// A 16-bit operand of gfx1100 is either half of a register, as source and as
// destination; the half that is not written stays.
TEST(True16, HalvesAreOperands) {
  WaveTester tester("gfx1100");
  for (unsigned reg = 0; reg < 12; ++reg)
    tester.fillHalves(reg);
  WaveTester before("gfx1100");
  before->setExec(before->exec);
  std::memcpy(before->vector, tester->vector, sizeof tester->vector);
  tester.runWell("v_add_f16_e32 v0.h, v1.l, v2.h\n"
                 "v_add_nc_u16 v3.l, v1.h, v2.l\n"
                 "v_fma_f16 v4.h, v1.h, -v2.l, v5.h\n"
                 "v_mov_b16_e32 v6.h, v1.l\n"
                 "v_cvt_f32_f16_e32 v7, v1.h\n"
                 "v_pack_b32_f16 v8, v1.h, v2.l\n"
                 "v_mad_u32_u16 v9, v1.h, v2.l, v5\n"
                 "v_cvt_f16_f32_e32 v10.h, 1.0\n"
                 "v_fmac_f16_e64 v11.h, v1.l, v2.h");
  for (unsigned lane = 0; lane < 32; ++lane) {
    auto old = [&](unsigned reg) { return before.v(reg, lane); };
    auto low = [&](unsigned reg) { return halfToFloat(old(reg)); };
    auto high = [&](unsigned reg) { return halfToFloat(old(reg) >> 16); };
    EXPECT_EQ(tester.v(0, lane),
              (old(0) & 0xffff) | floatToHalf(low(1) + high(2)) << 16);
    EXPECT_EQ(tester.v(3, lane),
              (old(3) & 0xffff0000) | (((old(1) >> 16) + old(2)) & 0xffff));
    float fma = static_cast<float>(double(high(1)) * -low(2) + high(5));
    EXPECT_EQ(tester.v(4, lane), (old(4) & 0xffff) | floatToHalf(fma) << 16);
    EXPECT_EQ(tester.v(6, lane), (old(6) & 0xffff) | old(1) << 16);
    EXPECT_EQ(tester.f(7, lane), high(1));
    EXPECT_EQ(tester.v(8, lane), old(1) >> 16 | old(2) << 16);
    EXPECT_EQ(tester.v(9, lane), (old(1) >> 16) * (old(2) & 0xffff) + old(5));
    EXPECT_EQ(tester.v(10, lane), (old(10) & 0xffff) | 0x3c000000);
    float fmac = static_cast<float>(double(low(1)) * high(2) + high(11));
    EXPECT_EQ(tester.v(11, lane), (old(11) & 0xffff) | floatToHalf(fmac) << 16);
  }
}

// Comparisons and choices of 16 bits, and the swap of two halves.
TEST(True16, ComparesSelectsAndSwaps) {
  WaveTester tester("gfx1100");
  tester.v(1, 0) = 0x00050009;
  tester.v(2, 0) = 0x00070003;
  tester.v(1, 1) = 0xffff0000;
  tester.v(2, 1) = 0x00010000;
  tester.v(3, 0) = 0x11112222;
  tester.v(4, 0) = 0x33334444;
  tester->setExec(3);
  tester.runWell("v_cmp_lt_u16_e64 s4, v1.h, v2.h\n"
                 "v_cmp_lt_i16_e64 s5, v1.h, v2.h\n"
                 "v_cmp_lt_u16_e32 vcc_lo, v1.l, v2.h\n"
                 "v_cndmask_b16 v0.h, v1.l, v2.h, s4\n"
                 "v_swap_b16 v3.l, v4.h\n"
                 "v_cmpx_gt_u16_e64 v1.h, v2.h");
  EXPECT_EQ(tester.s(4), 1u);
  EXPECT_EQ(tester.s(5), 3u);
  EXPECT_EQ(tester.s(kVccLo), 2u);
  EXPECT_EQ(tester.v(0, 0) >> 16, 7u);
  EXPECT_EQ(tester.v(0, 1) >> 16, 0u);
  EXPECT_EQ(tester.v(3, 0), 0x11113333u);
  EXPECT_EQ(tester.v(4, 0), 0x22224444u);
  EXPECT_EQ(tester->exec, 2u);
}

// The class test of an f16 sees a signalling NaN, which arithmetic would quiet.
TEST(True16, ClassSeesTheBits) {
  struct Case {
    uint32_t half, bit;
  };
  static const Case kCases[] = {
      {0x7d00, 0}, {0x7e00, 1}, {0xfc00, 2}, {0xbc00, 3}, {0x8001, 4},
      {0x8000, 5}, {0x0000, 6}, {0x03ff, 7}, {0x0400, 8}, {0x7c00, 9}};
  for (const char *chip : {"gfx1030", "gfx1100", "gfx1201"})
    for (const Case &item : kCases) {
      WaveTester tester(chip);
      tester.v(1, 0) = 0xabcd0000 | item.half;
      tester.v(2, 0) = 1u << item.bit;
      tester.v(3, 0) = ~tester.v(2, 0) & 0x3ff;
      bool isTrue16 = std::string(chip) == "gfx1100";
      std::string half = isTrue16 ? ".l" : "";
      tester.runWell("v_cmp_class_f16_e64 s4, v1" + half + ", v2" + half +
                     "\nv_cmp_class_f16_e64 s5, v1" + half + ", v3" + half);
      EXPECT_EQ(tester.s(4) & 1, 1u) << chip << " " << item.half;
      EXPECT_EQ(tester.s(5) & 1, 0u) << chip << " " << item.half;
    }
}

// Both halves of VOPD read before either writes, even if the second reads what
// the first writes, and inactive lanes keep their values.
TEST(Dual, ReadsBeforeItWrites) {
  for (const char *chip : kRdna) {
    WaveTester tester(chip);
    tester->setExec(0x0000ffff);
    auto v0 = getRow(tester, 0), v1 = getRow(tester, 1);
    // Swapping two registers is not possible with two moves in any order.
    tester.runWell("v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v0");
    for (unsigned lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(tester.v(0, lane), lane < 16 ? v1[lane] : v0[lane]) << chip;
      EXPECT_EQ(tester.v(1, lane), lane < 16 ? v0[lane] : v1[lane]) << chip;
    }
  }
}

// The operations of VOPD with a literal for both, with accumulation, and with
// the selection by VCC, which is not printed.
TEST(Dual, RunsEachOperation) {
  for (const char *chip : kRdna) {
    WaveTester tester(chip);
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned reg = 0; reg < 8; ++reg)
        tester.v(reg, lane) =
            std::bit_cast<uint32_t>(float(lane + 1) * 0.75f - float(reg));
    tester.s(kVccLo) = 0x0f0f0f0f;
    auto old = [&, copy = std::vector<std::vector<uint32_t>>{
                       getRow(tester, 0), getRow(tester, 1), getRow(tester, 2),
                       getRow(tester, 3), getRow(tester, 4), getRow(tester, 5),
                       getRow(tester, 6),
                       getRow(tester, 7)}](unsigned reg, unsigned lane) {
      return std::bit_cast<float>(copy[reg][lane]);
    };
    tester.runWell(
        "v_dual_fmac_f32 v0, v2, v3 :: v_dual_cndmask_b32 v1, v4, v5\n"
        "v_dual_fmamk_f32 v6, v2, 0x40400000, v3 :: "
        "v_dual_fmaak_f32 v7, v4, v5, 0x40400000");
    for (unsigned lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(tester.f(0, lane),
                std::fma(old(2, lane), old(3, lane), old(0, lane)));
      EXPECT_EQ(tester.f(1, lane), old(lane / 4 % 2 ? 4 : 5, lane));
      EXPECT_EQ(tester.f(6, lane), std::fma(old(2, lane), 3.0f, old(3, lane)));
      EXPECT_EQ(tester.f(7, lane), std::fma(old(4, lane), old(5, lane), 3.0f));
    }
  }
}

// DPP on VOP3 and DPP8: rows share or shift lanes, masks and lanes without a
// source keep the destination, and modifiers apply after the move.
TEST(RdnaDpp, MovesLanesOfThreeOperandForms) {
  for (const char *chip : {"gfx1100", "gfx1201"}) {
    WaveTester tester(chip);
    auto v1 = getRow(tester, 1), v2 = getRow(tester, 2), v3 = getRow(tester, 3);
    auto v0 = getRow(tester, 0), v7 = getRow(tester, 7);
    tester.runWell(
        "v_add3_u32_e64_dpp v0, v1, v2, v3 row_shr:2 row_mask:0x1 "
        "bank_mask:0xf\n"
        "v_xor_b32_dpp v4, v1, v2 dpp8:[7,6,5,4,3,2,1,0]\n"
        "v_add_co_u32_e64_dpp v5, s4, v1, v2 row_share:3 row_mask:0xf "
        "bank_mask:0xf\n"
        "v_cmp_lt_u32_e64_dpp s5, v1, v2 row_xmask:1 row_mask:0xf "
        "bank_mask:0xf\n"
        "v_sub_f32_e64_dpp v6, |v1|, -v1 row_ror:4 row_mask:0xf bank_mask:0xf");
    for (unsigned lane = 0; lane < 32; ++lane) {
      bool writes = lane < 16 && lane % 16 >= 2;
      EXPECT_EQ(tester.v(0, lane),
                writes ? v1[lane - 2] + v2[lane] + v3[lane] : v0[lane]);
      EXPECT_EQ(tester.v(4, lane), v1[lane ^ 7] ^ v2[lane]);
      uint64_t sum = uint64_t(v1[lane / 16 * 16 + 3]) + v2[lane];
      EXPECT_EQ(tester.v(5, lane), uint32_t(sum));
      EXPECT_EQ(tester.s(4) >> lane & 1, uint32_t(sum >> 32));
      EXPECT_EQ(tester.s(5) >> lane & 1, uint32_t(v1[lane ^ 1] < v2[lane]));
      unsigned from = lane / 16 * 16 + (lane + 12) % 16;
      float moved = std::fabs(std::bit_cast<float>(v1[from]));
      float expected = moved + std::bit_cast<float>(v1[lane]);
      if (expected == expected)
        EXPECT_EQ(tester.f(6, lane), expected);
    }
  }
}

/// v_minimum and v_maximum implemented again: a NaN wins, -0 is below +0.
static float chooseOrNan(float a, float b, bool larger) {
  if (a != a || b != b)
    return std::numeric_limits<float>::quiet_NaN();
  if (a == b)
    return std::signbit(a) == larger ? b : a;
  return (a < b) == larger ? b : a;
}
/// The _num forms: a number wins against a NaN.
static float chooseNumber(float a, float b, bool larger) {
  if (a != a || b != b)
    return a != a ? b : a;
  return chooseOrNan(a, b, larger);
}

// The orderings of gfx12, single and in chains of three, with NaN, infinities,
// zeros of both signs and denormals as each operand.
TEST(RdnaOrder, KnowsNanAndZeros) {
  const float kEdges[] = {0.0f,
                          -0.0f,
                          1.0f,
                          -1e-40f,
                          std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()};
  for (float a : kEdges)
    for (float b : kEdges)
      for (float c : kEdges) {
        WaveTester tester("gfx1201");
        tester.v(1, 0) = std::bit_cast<uint32_t>(a);
        tester.v(2, 0) = std::bit_cast<uint32_t>(b);
        tester.v(3, 0) = std::bit_cast<uint32_t>(c);
        tester.runWell("v_minimum_f32 v4, v1, v2\nv_maximum_f32 v5, v1, v2\n"
                       "v_minimum3_f32 v6, v1, v2, v3\n"
                       "v_maximumminimum_f32 v7, v1, v2, v3\n"
                       "v_min_num_f32 v8, v1, v2\nv_max_num_f32 v9, v1, v2\n"
                       "v_maxmin_num_f32 v10, v1, v2, v3\n"
                       "v_max3_num_f32 v11, v1, v2, v3");
        float smaller = chooseOrNan(a, b, false);
        float larger = chooseOrNan(a, b, true);
        const float kExpected[] = {
            smaller,
            larger,
            chooseOrNan(smaller, c, false),
            chooseOrNan(larger, c, false),
            chooseNumber(a, b, false),
            chooseNumber(a, b, true),
            chooseNumber(chooseNumber(a, b, true), c, false),
            chooseNumber(chooseNumber(a, b, true), c, true)};
        for (unsigned i = 0; i < 8; ++i) {
          float expected = kExpected[i], actual = tester.f(4 + i, 0);
          if (expected != expected)
            EXPECT_NE(actual, actual) << i;
          else
            EXPECT_EQ(tester.v(4 + i, 0), std::bit_cast<uint32_t>(expected))
                << i << " of " << a << " " << b << " " << c;
        }
      }
}

// Permutations within rows by a register of each lane; v_permlane64 swaps
// nothing in a wave of 32.
TEST(RdnaLanes, PermutesByLane) {
  WaveTester tester("gfx1201");
  auto v0 = getRow(tester, 0), v1 = getRow(tester, 1), v2 = getRow(tester, 2);
  tester.runWell("v_permlane16_var_b32 v3, v1, v2\n"
                 "v_permlanex16_var_b32 v4, v1, v2\n"
                 "v_permlane64_b32 v0, v1");
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned row = lane / 16 * 16, pick = v2[lane] % 16;
    EXPECT_EQ(tester.v(3, lane), v1[row + pick]);
    EXPECT_EQ(tester.v(4, lane), v1[(row ^ 16) + pick]);
  }
  EXPECT_EQ(getRow(tester, 0), v0);
}

// Dot products whose sources are signed or not as neg_lo says, with and without
// saturation, and the f16 and f8 ones.
TEST(RdnaDot, FollowsSignsAndFormats) {
  for (const char *chip : {"gfx1100", "gfx1201"}) {
    WaveTester tester(chip);
    tester.v(1, 0) = 0x80ff7f01;
    tester.v(2, 0) = 0x8080ff03;
    tester.v(3, 0) = 0x7fffff00;
    tester.v(4, 0) = floatToHalf(1.5f) | floatToHalf(-2.0f) << 16;
    tester.v(5, 0) = floatToHalf(4.0f) | floatToHalf(0.25f) << 16;
    tester.v(6, 0) = kOne;
    tester.runWell("v_dot4_i32_iu8 v7, v1, v2, v3\n"
                   "v_dot4_i32_iu8 v8, v1, v2, v3 neg_lo:[1,0,0]\n"
                   "v_dot4_i32_iu8 v9, v1, v2, v3 neg_lo:[1,1,0]\n"
                   "v_dot4_i32_iu8 v10, v1, v2, v3 clamp\n"
                   "v_dot8_i32_iu4 v11, v1, v2, 0 neg_lo:[0,1,0]\n"
                   "v_dot2_f32_f16 v12, v4, v5, v6");
    auto dot = [](bool signedA, bool signedB) {
      const int a[] = {0x01, 0x7f, 0xff, 0x80}, b[] = {0x03, 0xff, 0x80, 0x80};
      int sum = 0;
      for (int i = 0; i < 4; ++i)
        sum +=
            (signedA ? int8_t(a[i]) : a[i]) * (signedB ? int8_t(b[i]) : b[i]);
      return uint32_t(sum);
    };
    EXPECT_EQ(tester.v(7, 0), 0x7fffff00u + dot(false, false));
    EXPECT_EQ(tester.v(8, 0), 0x7fffff00u + dot(true, false));
    EXPECT_EQ(tester.v(9, 0), 0x7fffff00u + dot(true, true));
    EXPECT_EQ(tester.v(10, 0), 0x7fffffffu);
    // Nibbles, low first: a = 1,0,15,7,15,15,0,8; b = 3,0,-1,-1,0,-8,0,-8.
    EXPECT_EQ(tester.v(11, 0), uint32_t(1 * 3 - 15 - 7 - 15 * 8 - 8 * 8));
    EXPECT_EQ(tester.f(12, 0), 1.0f + 6.0f - 0.5f);
  }
}

// Messages return times, and NULL reads 0 and ignores writes, although gfx11
// gave it M0's old number.
TEST(RdnaScalar, MessagesAndNull) {
  for (const char *chip : kRdna) {
    WaveTester tester(chip);
    tester.s(0) = tester.s(1) = 0;
    tester.s(kM0) = 77;
    tester.runWell("s_sendmsg_rtn_b64 s[0:1], sendmsg(MSG_RTN_GET_REALTIME)\n"
                   "s_sendmsg_rtn_b32 s2, sendmsg(MSG_RTN_GET_DOORBELL)\n"
                   "s_getreg_b32 null, hwreg(1)\n"
                   "s_mov_b32 s3, null\n"
                   "s_mov_b32 s4, m0\n"
                   "s_add_u32 null, s4, s4\n"
                   "s_getreg_b32 m0, hwreg(1, 4, 4)");
    EXPECT_NE(tester.getPair(0), 0u) << chip;
    EXPECT_EQ(tester.s(2), 0u);
    EXPECT_EQ(tester.s(3), 0u);
    EXPECT_EQ(tester.s(4), 77u);
    EXPECT_EQ(tester.s(kM0), 15u);
  }
}

// Masks that are written back to EXEC, quads, and doubled bits.
TEST(RdnaScalar, MasksAndQuads) {
  WaveTester tester("gfx1201");
  tester->setExec(0xff00ff00);
  tester.s(1) = 0x0ff00ff0;
  tester.s(2) = 0x00200104;
  tester.runWell("s_and_not0_wrexec_b32 s3, s1\n"
                 "s_quadmask_b32 s4, s2\ns_wqm_b32 s5, s2\n"
                 "s_bitreplicate_b64_b32 s[6:7], 0x80000005\n"
                 "s_cls_i32_i64 s8, -1\ns_bcnt0_i32_b32 s9, s2\n"
                 "s_nand_saveexec_b32 s10, s1");
  EXPECT_EQ(tester.s(3), ~0x0ff00ff0u & 0xff00ff00u);
  EXPECT_EQ(tester.s(4), 0x25u);
  EXPECT_EQ(tester.s(5), 0x00f00f0fu);
  EXPECT_EQ(tester.getPair(6), 0xc000000000000033u);
  EXPECT_EQ(tester.s(8), ~0u);
  EXPECT_EQ(tester.s(9), 29u);
  EXPECT_EQ(tester.s(10), 0xf000f000u);
  EXPECT_EQ(tester->exec, ~(0x0ff00ff0u & 0xf000f000u));
}

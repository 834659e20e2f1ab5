//===- IntegerTest.cpp - Integer vector instructions ----------------------===//

#include "test/unit/runtime/Emulator/WaveTester.h"

#include <gtest/gtest.h>

using namespace tessera::emulator;

using U = uint32_t;
using L = uint64_t;

namespace {
struct Case {
  const char *chip;
  const char *text; ///< Reads v1, v2, v3; writes v0.
  U (*expected)(U a, U b, U c);
};
} // namespace

static constexpr Case kCases[] = {
    {"gfx942", "v_add_u32 v0, v1, v2", [](U a, U b, U) { return a + b; }},
    {"gfx942", "v_subrev_u32 v0, v1, v2", [](U a, U b, U) { return b - a; }},
    {"gfx1030", "v_sub_nc_u32 v0, v1, v2", [](U a, U b, U) { return a - b; }},
    {"gfx942", "v_add3_u32 v0, v1, v2, v3",
     [](U a, U b, U c) { return a + b + c; }},
    {"gfx942", "v_mul_hi_u32 v0, v1, v2",
     [](U a, U b, U) { return U(L(a) * b >> 32); }},
    {"gfx942", "v_mul_hi_i32 v0, v1, v2",
     [](U a, U b, U) { return U(int64_t(int(a)) * int(b) >> 32); }},
    {"gfx942", "v_mul_lo_u32 v0, v1, v2", [](U a, U b, U) { return a * b; }},
    {"gfx942", "v_mad_u32_u24 v0, v1, v2, v3",
     [](U a, U b, U c) { return (a & 0xffffff) * (b & 0xffffff) + c; }},
    {"gfx942", "v_lshl_or_b32 v0, v1, v2, v3",
     [](U a, U b, U c) { return a << (b & 31) | c; }},
    {"gfx942", "v_lshlrev_b32 v0, v1, v2",
     [](U a, U b, U) { return b << (a & 31); }},
    {"gfx942", "v_ashrrev_i32 v0, v1, v2",
     [](U a, U b, U) { return U(int(b) >> (a & 31)); }},
    {"gfx942", "v_bfi_b32 v0, v1, v2, v3",
     [](U a, U b, U c) { return (a & b) | (~a & c); }},
    {"gfx942", "v_bfe_u32 v0, v1, 5, 7",
     [](U a, U, U) { return a >> 5 & 127; }},
    {"gfx942", "v_bfe_i32 v0, v1, 5, 7",
     [](U a, U, U) { return U(int(a << 20) >> 25); }},
    {"gfx942", "v_alignbit_b32 v0, v1, v2, 9",
     [](U a, U b, U) { return U((L(a) << 32 | b) >> 9); }},
    {"gfx942", "v_ffbh_u32 v0, v1",
     [](U a, U, U) { return a ? U(__builtin_clz(a)) : ~0u; }},
    {"gfx942", "v_bcnt_u32_b32 v0, v1, v2",
     [](U a, U b, U) { return U(__builtin_popcount(a)) + b; }},
    {"gfx942", "v_med3_i32 v0, v1, v2, v3",
     [](U a, U b, U c) {
       int x = int(a), y = int(b), z = int(c);
       return U(std::max(std::min(x, y), std::min(std::max(x, y), z)));
     }},
    // gfx9 clears the upper half of a 16-bit result, gfx10 keeps it.
    {"gfx942", "v_sub_u16 v0, v1, v2",
     [](U a, U b, U) { return (a - b) & 0xffff; }},
    {"gfx942", "v_lshrrev_b16 v0, 3, v2",
     [](U, U b, U) { return (b & 0xffff) >> 3; }},
    {"gfx942", "v_mov_b32 v0, 0x12345678", [](U, U, U) { return 0x12345678u; }},
    {"gfx942", "v_mov_b32 v0, 1.0", [](U, U, U) { return 0x3f800000u; }},
    {"gfx942", "v_mov_b32 v0, -7", [](U, U, U) { return U(-7); }},
    {"gfx942",
     "v_add_u32_sdwa v0, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD "
     "src0_sel:WORD_1 src1_sel:BYTE_2",
     [](U a, U b, U) { return (a >> 16) + (b >> 16 & 0xff); }},
    {"gfx942",
     "v_add_u32_sdwa v0, sext(v1), v2 dst_sel:WORD_1 dst_unused:UNUSED_PAD "
     "src0_sel:BYTE_0 src1_sel:DWORD",
     [](U a, U b, U) { return (U(int8_t(a)) + b) << 16; }},
    {"gfx1030", "v_xor3_b32 v0, v1, v2, v3",
     [](U a, U b, U c) { return a ^ b ^ c; }},
    {"gfx942", "v_dot4_i32_i8 v0, v1, v2, v3",
     [](U a, U b, U c) {
       for (int i = 0; i < 32; i += 8)
         c += U(int8_t(a >> i) * int8_t(b >> i));
       return c;
     }},
};

// Each instruction gives the result of C++ arithmetic, lane by lane.
TEST(Integer, MatchesHostArithmetic) {
  for (const Case &item : kCases) {
    WaveTester tester(item.chip);
    WaveTester before(item.chip);
    tester.runWell(item.text);
    for (unsigned lane = 0; lane < tester->lanes; ++lane)
      ASSERT_EQ(tester.v(0, lane),
                item.expected(before.v(1, lane), before.v(2, lane),
                              before.v(3, lane)))
          << item.text << " lane " << lane;
  }
}

// v_perm selects bytes of {src0, src1}, sign bits and constants.
TEST(Integer, PermutesBytes) {
  WaveTester tester("gfx942");
  tester.s(4) = 0x0d0c0702;
  tester.v(1, 5) = 0xa1b2c3d4;
  tester.v(2, 5) = 0x11223344;
  tester.runWell("v_perm_b32 v0, v1, v2, s4");
  EXPECT_EQ(tester.v(0, 5), 0xff00a122u);
}

// Inactive lanes keep their registers, whatever the operation.
TEST(Integer, InactiveLanesKeepTheirValue) {
  WaveTester tester("gfx942");
  tester->setExec(0xf0f0f0f0f0f0f0f0);
  uint32_t old = tester.v(0, 0), sum = tester.v(1, 4) + tester.v(2, 4);
  tester.runWell("v_add_u32 v0, v1, v2");
  EXPECT_EQ(tester.v(0, 0), old);
  EXPECT_EQ(tester.v(0, 4), sum);
}

// 16-bit results on RDNA leave the upper half of the register unchanged.
TEST(Integer, Gfx10KeepsTheUpperHalf) {
  WaveTester tester("gfx1030");
  uint32_t old = tester.v(0, 3);
  uint32_t sum = tester.v(1, 3) + tester.v(2, 3);
  tester.runWell("v_add_nc_u16 v0, v1, v2");
  EXPECT_EQ(tester.v(0, 3), (old & 0xffff0000) | (sum & 0xffff));
}

// A 64-bit addition in two steps carries through VCC.
TEST(Integer, CarriesThroughMask) {
  WaveTester tester("gfx942");
  std::vector<uint64_t> expected;
  for (unsigned lane = 0; lane < 64; ++lane)
    expected.push_back((tester.v(2, lane) | uint64_t(tester.v(3, lane)) << 32) +
                       (tester.v(4, lane) | uint64_t(tester.v(5, lane)) << 32));
  tester.runWell("v_add_co_u32 v0, vcc, v2, v4\n"
                 "v_addc_co_u32 v1, vcc, v3, v5, vcc");
  for (unsigned lane = 0; lane < 64; ++lane)
    ASSERT_EQ(tester.v(0, lane) | uint64_t(tester.v(1, lane)) << 32,
              expected[lane]);
}

// The 65th bit of v_mad_u64_u32 is written to the mask.
TEST(Integer, MultiplyAdd64) {
  WaveTester tester("gfx90a");
  tester.v(2, 7) = tester.v(3, 7) = 0xffffffff;
  tester.v(4, 7) = tester.v(5, 7) = 0xffffffff;
  tester.runWell("v_mad_u64_u32 v[0:1], s[4:5], v2, v3, v[4:5]");
  EXPECT_EQ(tester.v(0, 7), 0u);
  EXPECT_EQ(tester.v(1, 7), 0xfffffffeu);
  EXPECT_EQ(tester.getPair(4) >> 7 & 1, 1u);
}

// Comparisons write the complete mask: 0 for inactive lanes.
TEST(Integer, ComparisonWritesWholeMask) {
  WaveTester tester("gfx942");
  tester->setExec(0x00000000ffffffff);
  tester.setPair(kVccLo, ~uint64_t(0));
  uint64_t expected = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    expected |= uint64_t(tester.v(1, lane) < tester.v(2, lane)) << lane;
  tester.runWell("v_cmp_lt_u32 vcc, v1, v2");
  EXPECT_EQ(tester.getPair(kVccLo), expected);
}

// v_cmpx of gfx10 writes only EXEC, which has 32 bits.
TEST(Integer, CompareToExec) {
  WaveTester tester("gfx1030");
  uint64_t expected = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    expected |= uint64_t(int(tester.v(1, lane)) > int(tester.v(2, lane)))
                << lane;
  tester.runWell("v_cmpx_gt_i32 v1, v2");
  EXPECT_EQ(tester->exec, expected);
}

// v_cndmask selects src1 where the mask bit is set.
TEST(Integer, SelectsByMask) {
  WaveTester tester("gfx942");
  tester.setPair(8, 0x5555555555555555);
  tester.runWell("v_cndmask_b32_e64 v0, v1, v2, s[8:9]");
  EXPECT_EQ(tester.v(0, 0), tester.v(2, 0));
  EXPECT_EQ(tester.v(0, 1), tester.v(1, 1));
}

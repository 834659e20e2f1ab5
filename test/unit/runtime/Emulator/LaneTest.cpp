//===- LaneTest.cpp - Moves between lanes ---------------------------------===//

#include "test/unit/runtime/Emulator/WaveTester.h"

#include <gtest/gtest.h>

using namespace tessera::emulator;

// Every DPP permutation that gfx9 compilers use reads the lane it should.
TEST(Lanes, DppPermutations) {
  struct Case {
    const char *control;
    unsigned (*source)(unsigned lane);
  };
  static constexpr Case kCases[] = {
      {"quad_perm:[1,0,3,2]", [](unsigned l) { return l ^ 1; }},
      {"row_ror:3", [](unsigned l) { return l / 16 * 16 + (l + 13) % 16; }},
      {"row_mirror", [](unsigned l) { return l ^ 15; }},
      {"row_half_mirror", [](unsigned l) { return l ^ 7; }},
      {"row_newbcast:5", [](unsigned l) { return l / 16 * 16 + 5; }},
  };
  for (const Case &item : kCases) {
    WaveTester tester("gfx942");
    tester.runWell(std::string("v_mov_b32_dpp v0, v1 ") + item.control +
                   " row_mask:0xf bank_mask:0xf");
    for (unsigned lane = 0; lane < 64; ++lane)
      ASSERT_EQ(tester.v(0, lane), tester.v(1, item.source(lane)))
          << item.control << " lane " << lane;
  }
}

// A lane without a source keeps its value, or reads 0 with bound_ctrl.
TEST(Lanes, DppAtTheEdge) {
  WaveTester tester("gfx942");
  uint32_t old = tester.v(0, 16);
  tester.runWell("v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf\n"
                 "v_mov_b32_dpp v2, v1 row_shr:1 row_mask:0xf bank_mask:0xf "
                 "bound_ctrl:1\n");
  EXPECT_EQ(tester.v(0, 16), old);
  EXPECT_EQ(tester.v(2, 16), 0u);
  EXPECT_EQ(tester.v(0, 17), tester.v(1, 16));
}

// Lanes that row_mask and bank_mask exclude keep their values.
TEST(Lanes, DppMasks) {
  WaveTester tester("gfx942");
  uint32_t row1 = tester.v(0, 16), bank1 = tester.v(0, 4);
  tester.runWell("v_mov_b32_dpp v0, v1 row_mirror row_mask:0xd bank_mask:0xd");
  EXPECT_EQ(tester.v(0, 16), row1);
  EXPECT_EQ(tester.v(0, 4), bank1);
  EXPECT_EQ(tester.v(0, 0), tester.v(1, 15));
}

// readlane, readfirstlane and writelane access the right lanes.
TEST(Lanes, ScalarAccess) {
  WaveTester tester("gfx942");
  tester->setExec(0xff00);
  tester.s(3) = 77;
  tester.runWell("v_readfirstlane_b32 s0, v1\nv_readlane_b32 s1, v1, 63\n"
                 "v_writelane_b32 v2, s3, 5");
  EXPECT_EQ(tester.s(0), tester.v(1, 8));
  EXPECT_EQ(tester.s(1), tester.v(1, 63));
  EXPECT_EQ(tester.v(2, 5), 77u);
}

// The two halves of mbcnt number the active lanes.
TEST(Lanes, CountsBitsBelow) {
  WaveTester tester("gfx942");
  tester.runWell("v_mbcnt_lo_u32_b32 v0, -1, 0\n"
                 "v_mbcnt_hi_u32_b32 v0, -1, v0");
  for (unsigned lane = 0; lane < 64; ++lane)
    ASSERT_EQ(tester.v(0, lane), lane);
}

// bpermute fetches, permute sends, swizzle follows its pattern.
TEST(Lanes, LdsPermutations) {
  WaveTester tester("gfx942");
  for (unsigned lane = 0; lane < 64; ++lane)
    tester.v(2, lane) = 4 * ((lane * 5 + 3) % 64);
  tester.runWell("ds_bpermute_b32 v0, v2, v1\nds_permute_b32 v3, v2, v1\n"
                 "ds_swizzle_b32 v4, v1 offset:0x041f");
  for (unsigned lane = 0; lane < 64; ++lane) {
    ASSERT_EQ(tester.v(0, lane), tester.v(1, (lane * 5 + 3) % 64));
    ASSERT_EQ(tester.v(3, (lane * 5 + 3) % 64), tester.v(1, lane));
    ASSERT_EQ(tester.v(4, lane), tester.v(1, lane ^ 1));
  }
}

// In a wave of 64, gfx10 and gfx11 permute each half separately; gfx12 reaches
// the other half.
TEST(Lanes, LdsPermutationsOfWave64) {
  for (std::string chip : {"gfx1030", "gfx1100", "gfx1200", "gfx1201"}) {
    WaveTester tester(chip);
    tester->lanes = 64;
    tester->setExec(~uint64_t(0));
    auto getTarget = [](unsigned lane) { return (lane * 5 + 3) % 64; };
    for (unsigned lane = 0; lane < 64; ++lane)
      tester.v(2, lane) = 4 * getTarget(lane);
    tester.runWell("ds_bpermute_b32 v0, v2, v1\nds_permute_b32 v3, v2, v1");
    bool hasHalves = chip == "gfx1030" || chip == "gfx1100";
    for (unsigned lane = 0; lane < 64; ++lane) {
      unsigned target = getTarget(lane);
      if (hasHalves)
        target = target % 32 + (lane < 32 ? 0 : 32);
      ASSERT_EQ(tester.v(0, lane), tester.v(1, target)) << chip;
      ASSERT_EQ(tester.v(3, target), tester.v(1, lane)) << chip;
    }
  }
}

// v_permlanex16 reads the other row of a pair.
TEST(Lanes, PermlaneAcrossRows) {
  WaveTester tester("gfx1030");
  tester.s(0) = 0x76543210;
  tester.s(1) = 0xfedcba98;
  tester.runWell("v_permlanex16_b32 v0, v1, s0, s1");
  for (unsigned lane = 0; lane < 32; ++lane)
    ASSERT_EQ(tester.v(0, lane), tester.v(1, lane ^ 16));
}

// gfx9: between on and off, M0 is added to the selected register numbers. It
// keeps its value afterwards, and no other instruction is affected.
TEST(Lanes, RegistersRelativeToM0) {
  WaveTester tester("gfx942");
  tester.s(2) = 5;
  uint32_t v6 = tester.v(6, 3);
  tester.runWell("s_set_gpr_idx_on s2, gpr_idx(SRC0)\n"
                 "v_mov_b32_e32 v0, v10\n"
                 "s_set_gpr_idx_off\n"
                 "v_mov_b32_e32 v1, v10\n"
                 "s_set_gpr_idx_on 7, gpr_idx(DST)\n"
                 "v_mov_b32_e32 v20, v10\n"
                 "s_set_gpr_idx_off\n"
                 "s_set_gpr_idx_on s2, gpr_idx(SRC0,SRC1,DST)\n"
                 "v_add_u32_e32 v30, v10, v11\n"
                 "s_set_gpr_idx_off");
  for (unsigned lane = 0; lane < 64; ++lane) {
    ASSERT_EQ(tester.v(0, lane), tester.v(15, lane));
    ASSERT_EQ(tester.v(1, lane), tester.v(10, lane));
    ASSERT_EQ(tester.v(27, lane), tester.v(10, lane));
    ASSERT_EQ(tester.v(35, lane), tester.v(15, lane) + tester.v(16, lane));
  }
  EXPECT_EQ(tester.v(6, 3), v6);
}

// An index beyond the registers stops the wave.
TEST(Lanes, RegisterIndexOutOfRange) {
  WaveTester tester("gfx942");
  tester.s(2) = 250;
  tester.run("s_set_gpr_idx_on s2, gpr_idx(SRC0)\nv_mov_b32_e32 v0, v10\n"
             "s_set_gpr_idx_off");
  EXPECT_EQ(tester.getFault(), FaultKind::IllegalState);
}

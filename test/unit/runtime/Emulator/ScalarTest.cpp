//===- ScalarTest.cpp - Scalar instructions -------------------------------===//

#include "test/unit/runtime/Emulator/WaveTester.h"

#include <gtest/gtest.h>

using namespace tessera::emulator;

// SCC is the carry for unsigned, the overflow for signed, and nonzero for
// logic.
TEST(Scalar, ConditionCode) {
  WaveTester tester("gfx942");
  tester.s(1) = 0xffffffff;
  tester.s(2) = 1;
  tester.runWell("s_add_u32 s0, s1, s2");
  EXPECT_EQ(tester.s(0), 0u);
  EXPECT_TRUE(tester->scc);
  tester.runWell("s_addc_u32 s0, s2, s2");
  EXPECT_EQ(tester.s(0), 3u);
  EXPECT_FALSE(tester->scc);
  tester.s(1) = 0x7fffffff;
  tester.runWell("s_add_i32 s0, s1, s2");
  EXPECT_TRUE(tester->scc);
  tester.runWell("s_and_b32 s0, s1, 0");
  EXPECT_FALSE(tester->scc);
  tester.runWell("s_cmp_lt_u32 s2, s1\ns_cselect_b32 s0, 5, 6");
  EXPECT_EQ(tester.s(0), 5u);
}

// 16-bit constants are sign-extended, except in unsigned comparisons.
TEST(Scalar, ShortConstants) {
  WaveTester tester("gfx942");
  tester.runWell("s_movk_i32 s0, 0x8000\ns_mov_b32 s1, 10\n"
                 "s_addk_i32 s1, 0xfffe\ns_mulk_i32 s1, 0xfffd");
  EXPECT_EQ(tester.s(0), 0xffff8000u);
  EXPECT_EQ(static_cast<int32_t>(tester.s(1)), -24);
  tester.s(2) = 0xfff0;
  tester.runWell("s_cmpk_lt_u32 s2, 0xfff1");
  EXPECT_TRUE(tester->scc);
}

// Bit fields, shifts and counts of 32 and 64 bits.
TEST(Scalar, Bits) {
  WaveTester tester("gfx90a");
  tester.setPair(2, 0x0123456789abcdef);
  tester.runWell("s_bfe_u32 s0, s2, 0x80004\ns_bfe_i32 s1, s2, 0x80004\n"
                 "s_lshl_b64 s[4:5], s[2:3], 8\ns_ff1_i32_b64 s6, s[2:3]\n"
                 "s_bcnt1_i32_b64 s7, s[2:3]\ns_brev_b32 s8, s3\n"
                 "s_flbit_i32_b32 s9, s3");
  EXPECT_EQ(tester.s(0), 0xdeu);
  EXPECT_EQ(tester.s(1), 0xffffffdeu);
  EXPECT_EQ(tester.getPair(4), 0x23456789abcdef00u);
  EXPECT_EQ(tester.s(6), 0u);
  EXPECT_EQ(tester.s(7), 32u);
  EXPECT_EQ(tester.s(8), __builtin_bitreverse32(0x01234567u));
  EXPECT_EQ(tester.s(9), 7u);
}

// saveexec keeps the old mask and tests the new one.
TEST(Scalar, SaveExec) {
  WaveTester tester("gfx942");
  tester.setPair(2, 0x00ff);
  tester.runWell("s_and_saveexec_b64 s[0:1], s[2:3]");
  EXPECT_EQ(tester.getPair(0), ~uint64_t(0));
  EXPECT_EQ(tester->exec, 0xffu);
  EXPECT_TRUE(tester->scc);
  WaveTester narrow("gfx1030");
  narrow.s(2) = 0;
  narrow.runWell("s_and_saveexec_b32 s0, s2");
  EXPECT_EQ(narrow.s(0), ~0u);
  EXPECT_FALSE(narrow->scc);
}

// A loop by s_cbranch runs as often as it should.
TEST(Scalar, Branches) {
  WaveTester tester("gfx942");
  tester.runWell("s_mov_b32 s0, 0\ns_mov_b32 s1, 0\n"
                 "loop:\ns_add_i32 s0, s0, 3\ns_add_i32 s1, s1, 1\n"
                 "s_cmp_lg_u32 s1, 10\ns_cbranch_scc1 loop");
  EXPECT_EQ(tester.s(0), 30u);
}

// s_getpc gives the address of the next instruction; s_swappc returns.
TEST(Scalar, Calls) {
  WaveTester tester("gfx942");
  tester.runWell("s_getpc_b64 s[0:1]\ns_add_u32 s0, s0, 20\n"
                 "s_addc_u32 s1, s1, 0\ns_swappc_b64 s[2:3], s[0:1]\n"
                 "s_mov_b32 s5, 1\ns_branch end\n"
                 "s_mov_b32 s6, 2\ns_setpc_b64 s[2:3]\nend:\ns_nop 0");
  EXPECT_EQ(tester.s(5), 1u);
  EXPECT_EQ(tester.s(6), 2u);
}

// Scalar loads read groups of registers; the buffer form gives 0 beyond the
// descriptor's end.
TEST(Scalar, Loads) {
  WaveTester tester("gfx942");
  auto *data =
      static_cast<uint32_t *>(tester.memory.allocate(64, MemoryKind::Device));
  for (uint32_t i = 0; i < 16; ++i)
    data[i] = 100 + i;
  tester.setPair(0, reinterpret_cast<uint64_t>(data));
  tester.setPair(4, reinterpret_cast<uint64_t>(data));
  tester.s(6) = 8;
  tester.s(7) = 0x27000;
  tester.runWell("s_load_dwordx4 s[8:11], s[0:1], 0x10\n"
                 "s_buffer_load_dwordx4 s[12:15], s[4:7], 0x0");
  EXPECT_EQ(tester.s(8), 104u);
  EXPECT_EQ(tester.s(11), 107u);
  EXPECT_EQ(tester.s(13), 101u);
  EXPECT_EQ(tester.s(14), 0u);
  tester.run("s_load_dwordx4 s[8:11], s[0:1], 0x38");
  EXPECT_EQ(tester.getFault(), FaultKind::IllegalAddress);
}

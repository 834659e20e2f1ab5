//===- LdsBanksTest.cpp - Bank conflicts of LDS ---------------------------===//

#include "runtime/Base/LdsBanks.h"

#include <gtest/gtest.h>

using namespace tessera;

/// Returns the conflict cycles of a wave of `lanes` with the addresses that
/// `address` gives.
static uint32_t count(uint32_t bytes, bool isWrite,
                      uint32_t (*address)(uint32_t lane), uint32_t banks = 32,
                      uint32_t lanes = 64) {
  std::vector<LdsLaneAccess> accesses;
  for (uint32_t lane = 0; lane < lanes; ++lane)
    accesses.push_back({lane, address(lane)});
  return countLdsConflicts(accesses, bytes, banks, isWrite);
}

// Consecutive lanes never conflict, and one dword for all is a broadcast.
TEST(LdsBanks, NoConflict) {
  EXPECT_EQ(count(4, false, [](uint32_t l) { return 4 * l; }), 0u);
  EXPECT_EQ(count(8, false, [](uint32_t l) { return 8 * l; }), 0u);
  EXPECT_EQ(count(16, true, [](uint32_t l) { return 16 * l; }), 0u);
  EXPECT_EQ(count(16, false, [](uint32_t l) { return 16 * l; }), 0u);
  EXPECT_EQ(count(4, false, [](uint32_t) { return 64u; }), 0u);
}

// A stride of 32 dwords puts all lanes on one bank.
TEST(LdsBanks, WorstConflict) {
  EXPECT_EQ(count(4, false, [](uint32_t l) { return 128 * l; }), 62u);
  // A phase has eight lanes, each with its own dwords of the same four banks.
  EXPECT_EQ(count(16, true, [](uint32_t l) { return 128 * l; }), 8 * 7u);
}

// Rows of 64 bytes are read with 16 bytes a lane: two lanes share banks unless
// the chunks are swizzled, as the convolutions do.
TEST(LdsBanks, SwizzleRemovesConflicts) {
  EXPECT_GT(count(16, false,
                  [](uint32_t l) { return 64 * (l % 32) + 16 * (l / 32); }),
            0u);
  EXPECT_EQ(count(16, false,
                  [](uint32_t l) {
                    uint32_t row = l % 32, chunk = l / 32;
                    return 64 * row + 16 * (chunk ^ (row >> 1 & 3));
                  }),
            0u);
}

// gfx950 has 64 banks: a stride of 32 dwords uses two of them, and 16 lanes of
// 16 bytes fill one row.
TEST(LdsBanks, SixtyFourBanks) {
  EXPECT_EQ(count(4, false, [](uint32_t l) { return 4 * l; }, 64), 0u);
  EXPECT_EQ(count(4, false, [](uint32_t l) { return 128 * l; }, 64), 31u);
  EXPECT_EQ(count(4, false, [](uint32_t l) { return 256 * l; }, 64), 63u);
  EXPECT_EQ(count(16, true, [](uint32_t l) { return 16 * l; }, 64), 0u);
  // Four phases of 16 lanes, which all access the same four banks.
  EXPECT_EQ(count(16, true, [](uint32_t l) { return 256 * l; }, 64), 4 * 15u);
}

// A wave of 32 lanes is served by the 32 banks of its side at once.
TEST(LdsBanks, WaveOfThirtyTwo) {
  EXPECT_EQ(count(4, false, [](uint32_t l) { return 4 * l; }, 32, 32), 0u);
  EXPECT_EQ(count(4, false, [](uint32_t l) { return 128 * l; }, 32, 32), 31u);
  EXPECT_EQ(count(4, false, [](uint32_t l) { return 8 * l; }, 32, 32), 1u);
}

// Accesses that are not aligned to their own size are counted by the banks they
// touch: eight lanes of 16 bytes from byte 4 on wrap around to the first bank
// once.
TEST(LdsBanks, UnalignedWide) {
  EXPECT_EQ(count(16, true, [](uint32_t l) { return 16 * l + 4; }), 0u);
  EXPECT_EQ(count(8, true, [](uint32_t l) { return 8 * l + 4; }), 0u);
  // Pairs that straddle: lanes 0 and 1 both access bank 1.
  EXPECT_EQ(count(8, true, [](uint32_t l) { return l < 2 ? 132 * l : 0; }), 1u);
}

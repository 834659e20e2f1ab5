//===- StatsTest.cpp - Bank conflicts and the line of statistics ----------===//

#include "runtime/Emulator/Measure/Stats.h"

#include <gtest/gtest.h>

using namespace tessera::emulator;

/// Conflicts of 64 lanes whose addresses `address` gives.
static uint32_t count(uint32_t bytes, bool isWrite,
                      uint32_t (*address)(uint32_t lane)) {
  std::vector<LdsLaneAccess> accesses;
  for (uint32_t lane = 0; lane < 64; ++lane)
    accesses.push_back({lane, address(lane)});
  return countLdsConflicts(accesses, bytes, 32, isWrite);
}

// Consecutive lanes never conflict; one dword for all is a broadcast.
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
  // Eight lanes a phase, each with its own dwords of the same four banks.
  EXPECT_EQ(count(16, true, [](uint32_t l) { return 128 * l; }), 8 * 7u);
}

// Rows of 64 bytes read 16 bytes a lane: two lanes share banks unless the
// chunk is swizzled, as the convolutions do.
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

// The line is one JSON object with every class named.
TEST(Stats, LineIsJson) {
  LaunchStats stats;
  stats.instructions[static_cast<unsigned>(InstructionClass::Mfma)] = 7;
  stats.bytesLoaded = 640;
  LaunchSummary summary{"co\"nv", "gfx942", {2, 3, 1}, {256, 1, 1}, 128, 1.5};
  EXPECT_EQ(formatStats(summary, stats),
            "{\"kernel\":\"co\\\"nv\",\"chip\":\"gfx942\",\"grid\":[2,3,1],"
            "\"block\":[256,1,1],\"lds_bytes\":128,\"host_ms\":1.500,"
            "\"instructions\":{\"mfma\":7,\"valu\":0,\"salu\":0,\"smem\":0,"
            "\"vmem_load\":0,\"vmem_store\":0,\"lds_read\":0,\"lds_write\":0,"
            "\"wait\":0,\"barrier\":0,\"branch\":0,\"other\":0},"
            "\"bytes_loaded\":640,\"bytes_stored\":0,\"lds_bytes_read\":0,"
            "\"lds_bytes_written\":0,\"lds_read_conflict_cycles\":0,"
            "\"lds_write_conflict_cycles\":0}");
}

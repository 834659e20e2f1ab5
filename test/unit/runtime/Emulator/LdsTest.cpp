//===- LdsTest.cpp - LDS instructions -------------------------------------===//

#include "test/unit/runtime/Emulator/WaveTester.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <span>

using namespace tessera::emulator;

// Every width can be stored and loaded again.
TEST(Lds, StoresAndLoads) {
  for (const char *chip : {"gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030"}) {
    WaveTester tester(chip);
    for (unsigned lane = 0; lane < 64; ++lane)
      tester.v(1, lane) = 64 * lane;
    tester.runWell(
        "ds_write_b128 v1, v[4:7] offset:4096\n"
        "ds_read_b128 v[8:11], v1 offset:4096\n"
        "ds_read2_b64 v[12:15], v1 offset0:0 offset1:1\n"
        "ds_write2st64_b64 v1, v[4:5], v[6:7] offset0:16 offset1:24\n"
        "ds_read_b64 v[16:17], v1 offset:8192\n"
        "ds_read_b64 v[18:19], v1 offset:12288\n"
        "ds_read_u16 v20, v1 offset:4098\n"
        "ds_read_i8 v21, v1 offset:4099");
    for (unsigned lane = 0; lane < tester->lanes; ++lane) {
      for (unsigned d = 0; d < 4; ++d) {
        ASSERT_EQ(tester.v(8 + d, lane), tester.v(4 + d, lane));
        ASSERT_EQ(tester.v(16 + d, lane), tester.v(4 + d, lane));
      }
      ASSERT_EQ(tester.v(20, lane), tester.v(4, lane) >> 16);
      ASSERT_EQ(static_cast<int32_t>(tester.v(21, lane)),
                static_cast<int32_t>(tester.v(4, lane)) >> 24);
    }
  }
}

// Register and offset are added modulo 2^32, as LLVM assumes.
TEST(Lds, AddressWraps) {
  WaveTester tester("gfx1100");
  for (unsigned lane = 0; lane < 32; ++lane)
    tester.v(1, lane) = 0u - 4 * lane;
  auto first = tester.v(2, 0), last = tester.v(2, 31);
  tester.runWell("ds_store_b32 v1, v2 offset:252\n"
                 "ds_load_b32 v3, v1 offset:252");
  uint32_t word;
  std::memcpy(&word, &tester.lds[252], 4);
  EXPECT_EQ(word, first);
  std::memcpy(&word, &tester.lds[252 - 4 * 31], 4);
  EXPECT_EQ(word, last);
  EXPECT_EQ(tester.v(3, 31), last);
}

// Beyond the group's LDS is an error, although the hardware would give 0.
TEST(Lds, OutOfBoundsIsAnError) {
  WaveTester tester("gfx942");
  for (unsigned lane = 0; lane < 64; ++lane)
    tester.v(1, lane) = lane == 17 ? 65528 : 0;
  tester.run("ds_read_b128 v[4:7], v1");
  EXPECT_EQ(tester.getFault(), FaultKind::IllegalAddress);
  EXPECT_NE(tester.getMessage().find("lane 17"), std::string::npos);
}

// Where overruns pass, stores beyond the group's LDS are dropped, loads and
// atomics give 0, and the accesses of other lanes are as ever.
TEST(Lds, OverrunsMayPass) {
  WaveTester tester("gfx942");
  LdsOverruns overruns;
  tester->group->ldsOverruns = &overruns;
  for (unsigned lane = 0; lane < 64; ++lane)
    tester.v(1, lane) = lane % 4 ? 16 * lane : 65528 + 16 * lane;
  const std::vector<uint8_t> before = tester.lds;
  tester.runWell("ds_write_b128 v1, v[4:7]\n"
                 "ds_read_b128 v[8:11], v1\n"
                 "ds_add_rtn_u32 v12, v1, v4 offset:8");
  EXPECT_EQ(overruns.stores, 16u);
  EXPECT_EQ(overruns.loads, 32u);
  for (unsigned lane = 0; lane < 64; ++lane) {
    const bool isInside = lane % 4;
    for (unsigned d = 0; d < 4; ++d)
      EXPECT_EQ(tester.v(8 + d, lane), isInside ? tester.v(4 + d, lane) : 0);
    EXPECT_EQ(tester.v(12, lane), isInside ? tester.v(6, lane) : 0);
    if (!isInside) {
      EXPECT_EQ(std::memcmp(&tester.lds[16 * lane], &before[16 * lane], 16), 0);
    }
  }
  EXPECT_TRUE(std::equal(tester.lds.begin() + 1024, tester.lds.end(),
                         before.begin() + 1024));
}

// Wide accesses need alignment.
TEST(Lds, MisalignedIsAnError) {
  WaveTester tester("gfx942");
  for (unsigned lane = 0; lane < 64; ++lane)
    tester.v(1, lane) = 16 * lane + (lane == 2 ? 4 : 0);
  tester.run("ds_write_b128 v1, v[4:7]");
  EXPECT_EQ(tester.getFault(), FaultKind::Misaligned);
  EXPECT_NE(tester.getMessage().find("lane 2"), std::string::npos);
}

// Atomics are performed lane by lane.
TEST(Lds, Atomics) {
  WaveTester tester("gfx942");
  std::fill(tester.lds.begin(), tester.lds.end(), 0);
  for (unsigned lane = 0; lane < 64; ++lane) {
    tester.v(1, lane) = 0;
    tester.v(2, lane) = lane;
  }
  tester.runWell("ds_add_u32 v1, v2\nds_max_rtn_u32 v3, v1, v2 offset:4");
  uint32_t sum, largest;
  std::memcpy(&sum, tester.lds.data(), 4);
  std::memcpy(&largest, tester.lds.data() + 4, 4);
  EXPECT_EQ(sum, 2016u);
  EXPECT_EQ(largest, 63u);
  EXPECT_EQ(tester.v(3, 10), 9u);
}

// gfx950: a group of 16 lanes fetches a tile of 16 columns, one row after
// another, and each lane gets a column of it.
TEST(Lds, TransposingLoads) {
  struct Case {
    const char *mnemonic;
    unsigned bits, bytes;
  };
  for (const Case &item :
       {Case{"ds_read_b64_tr_b16", 16, 8}, Case{"ds_read_b64_tr_b8", 8, 8},
        Case{"ds_read_b64_tr_b4", 4, 8}, Case{"ds_read_b96_tr_b6", 6, 12}}) {
    WaveTester tester("gfx950");
    for (uint8_t &byte : tester.lds)
      byte = static_cast<uint8_t>(tester.random());
    // The lanes' addresses may be in any order; here they descend.
    for (unsigned lane = 0; lane < 64; ++lane)
      tester.v(8, lane) = 16 * (63 - lane);
    tester.runWell(std::string(item.mnemonic) +
                   (item.bytes == 8 ? " v[0:1]" : " v[0:2]") +
                   ", v8 offset:32");
    unsigned perLane = 8 * item.bytes / item.bits;
    for (unsigned lane = 0; lane < 64; ++lane)
      for (unsigned row = 0; row < perLane; ++row) {
        // This is element `lane % 16` of row `row` of the tile, as an element
        // number.
        unsigned number = 16 * row + lane % 16;
        unsigned fetcher = lane / 16 * 16 + number / perLane;
        for (unsigned bit = 0; bit < item.bits; ++bit) {
          unsigned in = number % perLane * item.bits + bit;
          unsigned out = row * item.bits + bit;
          ASSERT_EQ(tester.v(out / 32, lane) >> out % 32 & 1,
                    tester.lds[16 * (63 - fetcher) + 32 + in / 8] >> in % 8 & 1)
              << item.mnemonic << " lane " << lane << " row " << row;
        }
      }
  }
}

// gfx950: 12 and 16 bytes of each lane are stored to LDS, lane after lane.
TEST(Lds, WideLoadsToLds) {
  for (unsigned bytes : {12u, 16u}) {
    WaveTester tester("gfx950");
    auto *data = static_cast<uint32_t *>(
        tester.memory.allocate(1024, MemoryKind::Device));
    for (uint32_t &word : std::span(data, 256))
      word = static_cast<uint32_t>(tester.random());

    tester.setPair(2, reinterpret_cast<uint64_t>(data));
    for (unsigned lane = 0; lane < 64; ++lane)
      tester.v(0, lane) = 16 * (lane ^ 5);
    tester.runWell("s_movk_i32 m0, 0x100\nglobal_load_lds_dwordx" +
                   std::to_string(bytes / 4) + " v0, s[2:3]");
    for (unsigned lane = 0; lane < 64; ++lane)
      ASSERT_EQ(std::memcmp(&tester.lds[0x100 + bytes * lane],
                            &data[4 * (lane ^ 5)], bytes),
                0);
  }
}

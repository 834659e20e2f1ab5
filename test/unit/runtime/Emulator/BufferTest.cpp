//===- BufferTest.cpp - Global and buffer memory --------------------------===//

#include "test/unit/runtime/Emulator/WaveTester.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

using namespace tessera::emulator;

/// A tester with 1024 bytes of device memory behind s[0:1], and a raw buffer
/// descriptor of `records` bytes for it in s[4:7].
static uint8_t *prepare(WaveTester &tester, const std::string &chip,
                        uint32_t records) {
  auto *data =
      static_cast<uint8_t *>(tester.memory.allocate(1024, MemoryKind::Device));
  for (unsigned i = 0; i < 1024; ++i)
    data[i] = static_cast<uint8_t>(i * 7 + i / 256);
  tester.setPair(0, reinterpret_cast<uint64_t>(data));
  tester.setPair(4, reinterpret_cast<uint64_t>(data));
  tester.s(6) = records;
  tester.s(7) = findChip(chip)->getTarget().bufferWord3;
  return data;
}

static uint32_t read(const uint8_t *data, unsigned offset) {
  uint32_t value;
  std::memcpy(&value, data + offset, 4);
  return value;
}

// Dwords beyond the descriptor's end read 0, one by one; the offsets that
// convolutions use for padding are out of range, too.
TEST(Buffer, OutOfRangeLoadsGiveZero) {
  for (std::string chip : {"gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030"}) {
    WaveTester tester(chip);
    uint8_t *data = prepare(tester, chip, 512);
    for (unsigned lane = 0; lane < 64; ++lane)
      tester.v(1, lane) = 16 * lane;
    tester.v(1, 0) = 0x80000000;
    tester.v(1, 1) = 0xfffffffc;
    tester.v(1, 2) = 504;
    tester.runWell("buffer_load_dwordx4 v[4:7], v1, s[4:7], 0 offen");
    for (unsigned d = 0; d < 4; ++d) {
      EXPECT_EQ(tester.v(4 + d, 0), 0u) << chip;
      EXPECT_EQ(tester.v(4 + d, 1), 0u) << chip;
      EXPECT_EQ(tester.v(4 + d, 2), d < 2 ? read(data, 504 + 4 * d) : 0u);
      EXPECT_EQ(tester.v(4 + d, 5), read(data, 80 + 4 * d)) << chip;
    }
  }
}

// A descriptor of gfx9 without a data format is of no buffer: loads give 0 and
// stores do nothing.
TEST(Buffer, NoDataFormatIsNoBuffer) {
  for (std::string chip : {"gfx906", "gfx908", "gfx90a", "gfx942"}) {
    WaveTester tester(chip);
    uint8_t *data = prepare(tester, chip, 512);
    const std::vector<uint8_t> before(data, data + 1024);
    tester.s(7) &= ~(0xfu << 15);
    for (unsigned lane = 0; lane < 64; ++lane)
      tester.v(1, lane) = lane;
    tester.runWell("buffer_load_dword v2, v1, s[4:7], 0 idxen\n"
                   "buffer_load_dword v3, off, s[4:7], 0\n"
                   "buffer_store_dword v4, v1, s[4:7], 0 offen");
    for (unsigned lane = 0; lane < 64; ++lane) {
      EXPECT_EQ(tester.v(2, lane), 0u) << chip;
      EXPECT_EQ(tester.v(3, lane), 0u) << chip;
    }
    EXPECT_TRUE(std::equal(before.begin(), before.end(), data)) << chip;
  }
}

// The lane's offset and the immediate are added modulo 2^32 before the check:
// LLVM relies on it when it folds constants into the immediate.
TEST(Buffer, OffsetsWrapBeforeTheCheck) {
  for (std::string chip : {"gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030"}) {
    WaveTester tester(chip);
    uint8_t *data = prepare(tester, chip, 512);
    for (unsigned lane = 0; lane < 64; ++lane)
      tester.v(1, lane) = 0xfffffff0u + 8 * lane;
    tester.runWell("buffer_load_dword v0, v1, s[4:7], 0 offen offset:24");
    EXPECT_EQ(tester.v(0, 0), read(data, 8)) << chip;
    EXPECT_EQ(tester.v(0, 1), read(data, 16)) << chip;
    EXPECT_EQ(tester.v(0, 5), read(data, 48)) << chip;
  }
}

// The scalar offset is added to the address and counts for the range check.
TEST(Buffer, ScalarOffset) {
  WaveTester tester("gfx942");
  uint8_t *data = prepare(tester, "gfx942", 512);
  tester.s(8) = 256;
  for (unsigned lane = 0; lane < 64; ++lane)
    tester.v(1, lane) = 8 * lane;
  tester.runWell("buffer_load_dword v0, v1, s[4:7], s8 offen offset:4");
  EXPECT_EQ(tester.v(0, 3), read(data, 284));
  EXPECT_EQ(tester.v(0, 31), read(data, 508));
  EXPECT_EQ(tester.v(0, 32), 0u);
}

// Stores out of range do nothing.
TEST(Buffer, OutOfRangeStoresVanish) {
  WaveTester tester("gfx90a");
  uint8_t *data = prepare(tester, "gfx90a", 512);
  uint32_t after = read(data, 512);
  for (unsigned lane = 0; lane < 64; ++lane)
    tester.v(1, lane) = 504 + 1000 * lane;
  tester.runWell("buffer_store_dwordx4 v[4:7], v1, s[4:7], 0 offen");
  EXPECT_EQ(read(data, 504), tester.v(4, 0));
  EXPECT_EQ(read(data, 508), tester.v(5, 0));
  EXPECT_EQ(read(data, 512), after);
}

// Inside the descriptor but outside the allocation is an error.
TEST(Buffer, DescriptorBeyondAllocationIsAnError) {
  WaveTester tester("gfx942");
  prepare(tester, "gfx942", 4096);
  for (unsigned lane = 0; lane < 64; ++lane)
    tester.v(1, lane) = 32 * lane;
  tester.run("buffer_load_dword v0, v1, s[4:7], 0 offen");
  EXPECT_EQ(tester.getFault(), FaultKind::IllegalAddress);
  EXPECT_NE(tester.getMessage().find("lane 32"), std::string::npos);
}

// Bytes and shorts are extended or stored to one half of the register.
TEST(Buffer, ShortFormats) {
  WaveTester tester("gfx942");
  uint8_t *data = prepare(tester, "gfx942", 1024);
  data[8] = 0x80;
  data[9] = 0x92;
  for (unsigned lane = 0; lane < 64; ++lane)
    tester.v(1, lane) = 8;
  uint32_t old = tester.v(6, 0);
  tester.runWell("buffer_load_ubyte v2, v1, s[4:7], 0 offen\n"
                 "buffer_load_sbyte v3, v1, s[4:7], 0 offen\n"
                 "buffer_load_ushort v4, v1, s[4:7], 0 offen\n"
                 "global_load_sshort v5, v1, s[0:1]\n"
                 "global_load_short_d16_hi v6, v1, s[0:1]");
  EXPECT_EQ(tester.v(2, 0), 0x80u);
  EXPECT_EQ(tester.v(3, 0), 0xffffff80u);
  EXPECT_EQ(tester.v(4, 0), 0x9280u);
  EXPECT_EQ(tester.v(5, 0), 0xffff9280u);
  EXPECT_EQ(tester.v(6, 0), (old & 0xffff) | 0x92800000u);
}

// Global addresses have a 64-bit register or a scalar base and a signed offset;
// a load may overwrite its own address.
TEST(Global, AddressForms) {
  WaveTester tester("gfx1030");
  uint8_t *data = prepare(tester, "gfx1030", 0);
  auto base = reinterpret_cast<uint64_t>(data) + 64;
  for (unsigned lane = 0; lane < 32; ++lane) {
    uint64_t address = base + 4 * lane;
    tester.v(2, lane) = tester.v(8, lane) = static_cast<uint32_t>(address);
    tester.v(3, lane) = static_cast<uint32_t>(address >> 32);
    tester.v(4, lane) = 64 + 4 * lane;
  }
  tester.runWell("global_load_dwordx2 v[2:3], v[2:3], off offset:-16\n"
                 "global_load_dword v5, v4, s[0:1] offset:8\n"
                 "global_store_dword v4, v6, s[0:1] offset:512");
  EXPECT_EQ(tester.v(2, 9), read(data, 84));
  EXPECT_EQ(tester.v(3, 9), read(data, 88));
  EXPECT_EQ(tester.v(5, 9), read(data, 108));
  EXPECT_EQ(read(data, 612), tester.v(6, 9));
}

// For an access outside of every allocation the message names lane, address and
// the nearest allocation; inactive lanes are not checked.
TEST(Global, IllegalAddressIsNamed) {
  WaveTester tester("gfx942");
  prepare(tester, "gfx942", 0);
  for (unsigned lane = 0; lane < 64; ++lane)
    tester.v(1, lane) = lane == 5 ? 1024 : lane == 3 ? 1u << 30 : 4 * lane;
  tester->setExec(~(uint64_t(1) << 3));
  tester.run("global_load_dword v0, v1, s[0:1]");
  EXPECT_EQ(tester.getFault(), FaultKind::IllegalAddress);
  const std::string &message = tester.getMessage();
  for (const char *part :
       {"kernel 'test'", "pc 0x0", "lane 5", "address 0x",
        "load of 4 bytes 0 bytes past the end of the 1024-byte allocation",
        "global_load_dword v0, v1, s[0:1]"})
    EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
}

// Atomics return the old value if asked for it, and add up over lanes.
TEST(Global, Atomics) {
  WaveTester tester("gfx942");
  auto *data = reinterpret_cast<uint32_t *>(prepare(tester, "gfx942", 0));
  data[0] = 10;
  data[1] = std::bit_cast<uint32_t>(1.5f);
  for (unsigned lane = 0; lane < 64; ++lane) {
    tester.v(1, lane) = 0;
    tester.v(2, lane) = 1;
    tester.v(3, lane) = std::bit_cast<uint32_t>(0.5f);
    tester.v(4, lane) = 99; // new
    tester.v(5, lane) = 74; // compare
  }
  tester.runWell("global_atomic_add v0, v1, v2, s[0:1] sc0\n"
                 "global_atomic_add_f32 v1, v3, s[0:1] offset:4\n"
                 "global_atomic_cmpswap v6, v1, v[4:5], s[0:1] sc0");
  EXPECT_EQ(tester.v(0, 0), 10u);
  EXPECT_EQ(tester.v(0, 63), 73u);
  EXPECT_EQ(data[0], 99u);
  EXPECT_EQ(tester.v(6, 0), 74u);
  EXPECT_EQ(tester.v(6, 1), 99u);
  EXPECT_EQ(std::bit_cast<float>(data[1]), 33.5f);
}

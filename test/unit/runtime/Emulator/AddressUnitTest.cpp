//===- AddressUnitTest.cpp - Clocks of hand-made access patterns ----------===//
//
// gfx942 takes 4 lanes a clock, or 16 that access consecutive values of 64
// bytes; gfx1100 the same 4, or 32 that access consecutive values of 128 bytes.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Measure/AddressUnit.h"

#include <gtest/gtest.h>

#include <bit>

using namespace tessera::emulator;

static constexpr uint64_t kAllLanes = ~uint64_t(0);
static constexpr uint64_t kHalfWave = 0xffffffff;
static constexpr uint64_t kBase = 0x10000;

/// The clocks of an instruction whose lanes access `bytes` where
/// `getOffset(lane)` says.
template <typename GetOffset>
static uint64_t count(const char *chip, uint64_t exec, uint32_t bytes,
                      GetOffset getOffset) {
  AddressUnit unit(getChipCosts(chip));
  for (uint64_t rest = exec; rest; rest &= rest - 1) {
    auto lane = static_cast<unsigned>(std::countr_zero(rest));
    unit.addAccess(lane, kBase + getOffset(lane), bytes);
  }
  return unit.finish(exec);
}

/// Lanes at multiples of `stride` bytes.
static uint64_t countStrided(const char *chip, uint64_t exec, uint32_t bytes,
                             uint64_t stride, uint64_t begin = 0) {
  return count(chip, exec, bytes,
               [&](unsigned lane) { return begin + lane * stride; });
}

// A wave that loads consecutive dwords, shorts or bytes takes a clock for each
// 16 lanes: narrow values take as long for fewer bytes.
TEST(AddressUnit, ConsecutiveValuesCoalesce) {
  for (uint32_t bytes : {4, 2, 1}) {
    EXPECT_EQ(countStrided("gfx942", kAllLanes, bytes, bytes), 4u) << bytes;
    EXPECT_EQ(countStrided("gfx1100", kHalfWave, bytes, bytes), 1u) << bytes;
    EXPECT_EQ(countStrided("gfx1100", kAllLanes, bytes, bytes), 2u) << bytes;
  }
}

// Every other value, a cache line a lane, and one value for all: four lanes a
// clock.
TEST(AddressUnit, StridesDoNotCoalesce) {
  for (uint64_t stride : {8, 64, 128, 0}) {
    EXPECT_EQ(countStrided("gfx942", kAllLanes, 4, stride), 16u) << stride;
    EXPECT_EQ(countStrided("gfx1201", kHalfWave, 4, stride), 8u) << stride;
  }
  EXPECT_EQ(countStrided("gfx90a", kAllLanes, 2, 4), 16u);
}

// Addresses in a scrambled order: no two neighbours are together.
TEST(AddressUnit, RandomAddressesDoNotCoalesce) {
  auto scramble = [](unsigned lane) { return (lane * 37 + 11) % 64 * 4; };
  EXPECT_EQ(count("gfx942", kAllLanes, 4, scramble), 16u);
  EXPECT_EQ(count("gfx1100", kHalfWave, 4, scramble), 8u);
}

// One pair of lanes that swapped addresses costs its 16 lanes three clocks
// more.
TEST(AddressUnit, EachRunIsJudgedAlone) {
  auto swapped = [](unsigned lane) {
    return (lane == 20 ? 21 : lane == 21 ? 20 : lane) * 4;
  };
  EXPECT_EQ(count("gfx942", kAllLanes, 4, swapped), 3 + 4u);
}

// More than a dword a lane never coalesces: 4 lanes of 16 bytes are all that L1
// gives in a clock.
TEST(AddressUnit, WideLoadsTakeFourLanesAClock) {
  for (uint32_t bytes : {8, 12, 16}) {
    EXPECT_EQ(countStrided("gfx942", kAllLanes, bytes, bytes), 16u) << bytes;
    EXPECT_EQ(countStrided("gfx1100", kHalfWave, bytes, bytes), 8u) << bytes;
  }
}

// Consecutive values that begin in the middle of a block are in two blocks.
TEST(AddressUnit, BlocksAreAligned) {
  EXPECT_EQ(countStrided("gfx942", kAllLanes, 4, 4, 4), 8u);
  EXPECT_EQ(countStrided("gfx942", kAllLanes, 2, 2, 32), 4u);
  EXPECT_EQ(countStrided("gfx942", kAllLanes, 2, 2, 48), 6u);
  EXPECT_EQ(countStrided("gfx1100", kHalfWave, 4, 4, 64), 2u);
}

// Lanes that are off take no clocks, but only if all four of a group are; the
// others coalesce over the gap.
TEST(AddressUnit, MaskedLanes) {
  EXPECT_EQ(countStrided("gfx942", 0xf, 4, 64), 1u);
  EXPECT_EQ(countStrided("gfx942", 0x1111, 4, 64), 4u);
  EXPECT_EQ(countStrided("gfx942", 0x8001, 4, 4), 1u);
  EXPECT_EQ(countStrided("gfx942", uint64_t(1) << 63, 16, 16), 1u);
  EXPECT_EQ(countStrided("gfx942", 0, 4, 4), 0u);
}

// Lanes out of a descriptor's range are on but access nothing. They do not
// break a run, and cost what the rule says of their run.
TEST(AddressUnit, LanesOutOfRange) {
  AddressUnit unit(getChipCosts("gfx942"));
  for (unsigned lane : {0, 1, 2, 5})
    unit.addAccess(lane, kBase + lane * 4, 4);
  EXPECT_EQ(unit.finish(kAllLanes), 4u);
  for (unsigned lane : {0, 1, 2, 5})
    unit.addAccess(lane, kBase + lane * 64, 4);
  EXPECT_EQ(unit.finish(kAllLanes), 4 + 3u);
  // Nothing of the instruction before is left.
  EXPECT_EQ(unit.finish(kAllLanes), 0u);
}

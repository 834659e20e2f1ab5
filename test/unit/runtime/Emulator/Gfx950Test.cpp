//===- Gfx950Test.cpp - Vector instructions that came with gfx950 ---------===//

#include "runtime/Emulator/Exec/HalfFloat.h"
#include "test/unit/runtime/Emulator/WaveTester.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tessera::emulator;

// Every bit of the result is looked up in the table by the three source bits.
TEST(Gfx950, BitOp3) {
  for (uint32_t table : {0x00u, 0x83u, 0x96u, 0xcau, 0xfeu, 0x17u}) {
    WaveTester tester("gfx950");
    uint32_t old = tester.v(4, 9);
    std::string number = std::to_string(table);
    tester.runWell("v_bitop3_b32 v0, v1, v2, v3 bitop3:" + number +
                   "\nv_bitop3_b16 v4, v1, v2, v3 bitop3:" + number +
                   " op_sel:[1,0,0,1]");
    auto look = [&](uint32_t a, uint32_t b, uint32_t c, unsigned bit) {
      return table >>
                 ((a >> bit & 1) * 4 + (b >> bit & 1) * 2 + (c >> bit & 1)) &
             1;
    };
    for (unsigned lane = 0; lane < 64; ++lane) {
      uint32_t a = tester.v(1, lane), b = tester.v(2, lane);
      uint32_t c = tester.v(3, lane);
      for (unsigned bit = 0; bit < 32; ++bit)
        ASSERT_EQ(tester.v(0, lane) >> bit & 1, look(a, b, c, bit));
      for (unsigned bit = 0; bit < 16; ++bit)
        ASSERT_EQ(tester.v(4, lane) >> (16 + bit) & 1,
                  look(a >> 16, b, c, bit));
    }
    EXPECT_EQ(tester.v(4, 9) & 0xffff, old & 0xffff);
  }
}

// The upper lanes of one register are swapped with the lower of the other.
TEST(Gfx950, PermlaneSwap) {
  for (unsigned n : {16u, 32u}) {
    WaveTester tester("gfx950"), before("gfx950");
    tester.runWell("v_permlane" + std::to_string(n) + "_swap_b32 v0, v1");
    for (unsigned lane = 0; lane < 64; ++lane) {
      bool isUpper = lane / n % 2;
      ASSERT_EQ(tester.v(0, lane),
                isUpper ? before.v(1, lane - n) : before.v(0, lane));
      ASSERT_EQ(tester.v(1, lane),
                isUpper ? before.v(1, lane) : before.v(0, lane + n));
    }
  }
}

// An inactive lane is not written; as a source it counts only with fi.
TEST(Gfx950, PermlaneSwapOfInactiveLanes) {
  WaveTester tester("gfx950"), before("gfx950");
  tester->setExec(~uint64_t(1));
  tester.runWell("v_permlane32_swap_b32 v0, v1\n"
                 "v_permlane32_swap_b32_e64 v2, v3 bound_ctrl:1\n"
                 "v_permlane32_swap_b32_e64 v4, v5 fi:1");
  EXPECT_EQ(tester.v(0, 32), before.v(0, 32));
  EXPECT_EQ(tester.v(2, 32), 0u);
  EXPECT_EQ(tester.v(4, 32), before.v(5, 0));
  EXPECT_EQ(tester.v(1, 0), before.v(1, 0));
  EXPECT_EQ(tester.v(1, 1), before.v(0, 33));
}

// Shifts, saturates to a byte, packs; op_sel selects the half that is written.
TEST(Gfx950, AshrPk) {
  WaveTester tester("gfx950");
  for (unsigned lane = 0; lane < 64; ++lane)
    tester.v(3, lane) = lane; // counts of 32 and more wrap
  uint32_t old = tester.v(6, 0);
  tester.runWell("v_ashr_pk_i8_i32 v4, v1, v2, v3\n"
                 "v_ashr_pk_u8_i32 v5, v1, v2, v3\n"
                 "v_ashr_pk_u8_i32 v6, v1, v2, v3 op_sel:[0,0,0,1]");
  for (unsigned lane = 0; lane < 64; ++lane) {
    auto fit = [&](unsigned reg, int low, int high) {
      int64_t value = int32_t(tester.v(reg, lane)) >> (lane % 32);
      return static_cast<uint32_t>(
                 std::min<int64_t>(high, std::max<int64_t>(low, value))) &
             0xff;
    };
    ASSERT_EQ(tester.v(4, lane), fit(1, -128, 127) | fit(2, -128, 127) << 8);
    ASSERT_EQ(tester.v(5, lane), fit(1, 0, 255) | fit(2, 0, 255) << 8);
  }
  EXPECT_EQ(tester.v(6, 0), (old & 0xffff) | tester.v(5, 0) << 16);
}

// minimum3 and maximum3 give NaN for any NaN, and order zeros.
TEST(Gfx950, Minimum3) {
  WaveTester tester("gfx950");
  for (unsigned reg = 1; reg < 4; ++reg)
    tester.fillSpecial(reg);
  tester.runWell(
      "v_minimum3_f32 v4, v1, v2, v3\nv_maximum3_f32 v5, v1, v2, v3");
  for (unsigned lane = 0; lane < 64; ++lane) {
    float a = tester.f(1, lane), b = tester.f(2, lane), c = tester.f(3, lane);
    bool isNan = std::isnan(a) || std::isnan(b) || std::isnan(c);
    auto key = [](float x) {
      auto bits = std::bit_cast<int32_t>(x);
      return bits < 0 ? int32_t(0x80000000) - bits - 1 : bits;
    };
    ASSERT_EQ(std::isnan(tester.f(4, lane)), isNan);
    ASSERT_EQ(std::isnan(tester.f(5, lane)), isNan);
    if (isNan)
      continue;
    ASSERT_EQ(key(tester.f(4, lane)), std::min({key(a), key(b), key(c)}));
    ASSERT_EQ(key(tester.f(5, lane)), std::max({key(a), key(b), key(c)}));
  }
}

// v_prng is a shift register with the polynomial 0xc5.
TEST(Gfx950, Prng) {
  WaveTester tester("gfx950");
  tester.runWell("v_prng_b32 v0, v1");
  for (unsigned lane = 0; lane < 64; ++lane) {
    uint64_t shifted = uint64_t(tester.v(1, lane)) << 1;
    ASSERT_EQ(
        tester.v(0, lane),
        static_cast<uint32_t>(shifted & 1ull << 32 ? shifted ^ 0xc5 : shifted));
  }
}

// Stochastic rounding: exact numbers stay; the noise chooses between the two
// neighbours of any other number.
TEST(Gfx950, StochasticHalves) {
  WaveTester tester("gfx950");
  const float quarter = 1.0f + 0x1p-12f; // a quarter of f16's last place
  for (unsigned lane = 0; lane < 64; ++lane) {
    tester.v(1, lane) = std::bit_cast<uint32_t>(lane % 2 ? quarter : -1.5f);
    tester.v(2, lane) = (lane / 2) << 27; // 32 evenly spread noise values
  }
  uint32_t old = tester.v(4, 0);
  tester.runWell("v_cvt_sr_f16_f32 v3, v1, v2\n"
                 "v_cvt_sr_bf16_f32 v4, v1, v2 op_sel:[0,0,1]");
  unsigned up = 0;
  for (unsigned lane = 0; lane < 64; ++lane) {
    float half = halfToFloat(tester.v(3, lane));
    if (lane % 2 == 0) {
      ASSERT_EQ(half, -1.5f);
      continue;
    }
    ASSERT_TRUE(half == 1.0f || half == 1.0f + 0x1p-10f) << half;
    up += half > 1;
  }
  EXPECT_EQ(up, 8u);
  EXPECT_EQ(tester.v(4, 0), (old & 0xffff) | 0xbfc00000);
}

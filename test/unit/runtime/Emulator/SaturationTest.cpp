//===- SaturationTest.cpp - "clamp" on integer instructions ---------------===//
//
// Each result is compared with the same arithmetic in 128 bits, clamped to the
// range.
//
//===----------------------------------------------------------------------===//

#include "test/unit/runtime/Emulator/WaveTester.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>

using namespace tessera::emulator;

using Wide = __int128;

template <typename T>
static T fit(Wide value) {
  return static_cast<T>(std::clamp<Wide>(value, std::numeric_limits<T>::min(),
                                         std::numeric_limits<T>::max()));
}

/// Random bits mixed with the ends of each range.
static void fillEnds(WaveTester &tester, unsigned reg) {
  static constexpr uint32_t kEnds[] = {0,          1,          0xffffffff,
                                       0x7fffffff, 0x80000000, 0x7fff8000,
                                       0x80007fff, 0xffff0000};
  for (unsigned lane = 0; lane < 64; ++lane)
    tester.v(reg, lane) = lane % 2 ? kEnds[tester.random() % std::size(kEnds)]
                                   : static_cast<uint32_t>(tester.random());
}

template <typename T>
static void expectSaturated(const char *mnemonic, Wide (*exact)(Wide, Wide)) {
  WaveTester tester("gfx942");
  fillEnds(tester, 1);
  fillEnds(tester, 2);
  tester.runWell(std::string(mnemonic) + " v0, v1, v2 clamp");
  for (unsigned lane = 0; lane < 64; ++lane) {
    T a = static_cast<T>(tester.v(1, lane)),
      b = static_cast<T>(tester.v(2, lane));
    ASSERT_EQ(static_cast<T>(tester.v(0, lane)), fit<T>(exact(a, b)))
        << mnemonic << " " << int64_t(a) << ", " << int64_t(b);
  }
}

// Sums and differences of every width saturate at the ends of their type.
TEST(Saturation, SumsAndDifferences) {
  auto add = [](Wide a, Wide b) { return a + b; };
  auto sub = [](Wide a, Wide b) { return a - b; };
  auto reverse = [](Wide a, Wide b) { return b - a; };
  expectSaturated<uint32_t>("v_add_u32_e64", add);
  expectSaturated<uint32_t>("v_sub_u32_e64", sub);
  expectSaturated<uint32_t>("v_subrev_u32_e64", reverse);
  expectSaturated<int32_t>("v_add_i32", add);
  expectSaturated<int32_t>("v_sub_i32", sub);
  expectSaturated<uint16_t>("v_add_u16_e64", add);
  expectSaturated<uint16_t>("v_sub_u16_e64", sub);
  expectSaturated<int16_t>("v_add_i16", add);
  expectSaturated<int16_t>("v_sub_i16", sub);
}

// A product of 24 bits plus an addend exceeds 32 bits.
TEST(Saturation, MultiplyAdd) {
  WaveTester tester("gfx942");
  for (unsigned reg = 1; reg < 4; ++reg)
    fillEnds(tester, reg);
  tester.runWell("v_mad_u32_u24 v4, v1, v2, v3 clamp\n"
                 "v_mad_i32_i24 v5, v1, v2, v3 clamp\n"
                 "v_mad_i16 v6, v1, v2, v3 clamp\n"
                 "v_mad_u32_u24 v7, v1, v2, v3");
  auto sign24 = [](uint32_t v) { return static_cast<int32_t>(v << 8) >> 8; };
  for (unsigned lane = 0; lane < 64; ++lane) {
    uint32_t a = tester.v(1, lane), b = tester.v(2, lane),
             c = tester.v(3, lane);
    Wide product = Wide(a & 0xffffff) * (b & 0xffffff) + c;
    ASSERT_EQ(tester.v(4, lane), fit<uint32_t>(product));
    ASSERT_EQ(tester.v(7, lane), static_cast<uint32_t>(product));
    ASSERT_EQ(static_cast<int32_t>(tester.v(5, lane)),
              fit<int32_t>(Wide(sign24(a)) * sign24(b) + int32_t(c)));
    ASSERT_EQ(static_cast<int16_t>(tester.v(6, lane)),
              fit<int16_t>(Wide(int16_t(a)) * int16_t(b) + int16_t(c)));
  }
}

// Each half of a packed sum saturates separately.
TEST(Saturation, PackedHalves) {
  WaveTester tester("gfx90a");
  for (unsigned reg = 1; reg < 4; ++reg)
    fillEnds(tester, reg);
  tester.runWell(
      "v_pk_add_i16 v4, v1, v2 clamp\nv_pk_sub_u16 v5, v1, v2 clamp\n"
      "v_pk_mad_u16 v6, v1, v2, v3 clamp\n"
      "v_pk_mad_i16 v7, v1, v2, v3");
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned shift : {0, 16}) {
      uint16_t a = static_cast<uint16_t>(tester.v(1, lane) >> shift);
      uint16_t b = static_cast<uint16_t>(tester.v(2, lane) >> shift);
      uint16_t c = static_cast<uint16_t>(tester.v(3, lane) >> shift);
      auto half = [&](unsigned reg) {
        return static_cast<uint16_t>(tester.v(reg, lane) >> shift);
      };
      ASSERT_EQ(static_cast<int16_t>(half(4)),
                fit<int16_t>(Wide(int16_t(a)) + int16_t(b)));
      ASSERT_EQ(half(5), fit<uint16_t>(Wide(a) - b));
      ASSERT_EQ(half(6), fit<uint16_t>(Wide(a) * b + c));
      ASSERT_EQ(half(7), static_cast<uint16_t>(uint32_t(a) * b + c));
    }
}

// The sum of an integer dot product saturates once, at the end.
TEST(Saturation, DotProducts) {
  WaveTester tester("gfx942");
  for (unsigned reg = 1; reg < 4; ++reg)
    fillEnds(tester, reg);
  tester.runWell("v_dot4_i32_i8 v4, v1, v2, v3 clamp\n"
                 "v_dot8_u32_u4 v5, v1, v2, v3 clamp\n"
                 "v_dot2_i32_i16 v6, v1, v2, v3 clamp\n"
                 "v_dot4_i32_i8 v7, v1, v2, v3");
  for (unsigned lane = 0; lane < 64; ++lane) {
    uint32_t a = tester.v(1, lane), b = tester.v(2, lane),
             c = tester.v(3, lane);
    Wide bytes = int32_t(c), nibbles = c, shorts = int32_t(c);
    for (unsigned i = 0; i < 4; ++i)
      bytes += int8_t(a >> (8 * i)) * int8_t(b >> (8 * i));
    for (unsigned i = 0; i < 8; ++i)
      nibbles += (a >> (4 * i) & 15) * (b >> (4 * i) & 15);
    for (unsigned i = 0; i < 2; ++i)
      shorts += Wide(int16_t(a >> (16 * i))) * int16_t(b >> (16 * i));
    ASSERT_EQ(int32_t(tester.v(4, lane)), fit<int32_t>(bytes));
    ASSERT_EQ(tester.v(5, lane), fit<uint32_t>(nibbles));
    ASSERT_EQ(int32_t(tester.v(6, lane)), fit<int32_t>(shorts));
    ASSERT_EQ(tester.v(7, lane), static_cast<uint32_t>(bytes));
  }
}

// A carry out with "clamp" gives the end of the range, and the carry as well.
TEST(Saturation, Carries) {
  WaveTester tester("gfx942");
  fillEnds(tester, 1);
  fillEnds(tester, 2);
  tester.runWell("v_add_co_u32_e64 v3, s[0:1], v1, v2 clamp\n"
                 "v_sub_co_u32_e64 v4, s[2:3], v1, v2 clamp");
  for (unsigned lane = 0; lane < 64; ++lane) {
    uint32_t a = tester.v(1, lane), b = tester.v(2, lane);
    ASSERT_EQ(tester.v(3, lane), fit<uint32_t>(Wide(a) + b));
    ASSERT_EQ(tester.v(4, lane), fit<uint32_t>(Wide(a) - b));
    ASSERT_EQ(tester.getPair(0) >> lane & 1, uint64_t(uint32_t(a + b) < a));
    ASSERT_EQ(tester.getPair(2) >> lane & 1, uint64_t(a < b));
  }
}

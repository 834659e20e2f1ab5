//===- SmallFloatTest.cpp - Small floats, every value of them
//---------------===//

#include "dialect/Reference/SmallFloat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

using namespace tessera::reference;

namespace {
/// A format under test. The tests examine `codec`; `fractionBits` and `bias`
/// are the standard's numbers, from which they compute the expected values.
struct Format {
  const char *name;
  int fractionBits;
  int bias;
  uint16_t (*encode)(double);
  float (*decode)(uint16_t);
};

class SmallFloat : public testing::TestWithParam<Format> {
protected:
  uint32_t getInfinity() const {
    return 0x7fffu >> GetParam().fractionBits << GetParam().fractionBits;
  }
  /// The standard's definition of a finite number, written out.
  double getMeaning(uint32_t bits) const {
    const Format &format = GetParam();
    const uint32_t one = 1u << format.fractionBits;
    const auto exponent = static_cast<int>((bits & 0x7fffu) / one);
    const double fraction = (bits & (one - 1)) / static_cast<double>(one);
    const double magnitude =
        exponent == 0 ? std::ldexp(fraction, 1 - format.bias)
                      : std::ldexp(1 + fraction, exponent - format.bias);
    return (bits & 0x8000u) ? -magnitude : magnitude;
  }
};
} // namespace

// Every bit pattern decodes to what the standard says, and encodes to itself.
TEST_P(SmallFloat, AllValuesSurvive) {
  const Format &format = GetParam();
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = format.decode(bits);
    const uint32_t magnitude = bits & 0x7fffu;
    if (magnitude > getInfinity()) {
      ASSERT_TRUE(std::isnan(value)) << std::hex << bits;
      ASSERT_GT(format.encode(value) & 0x7fffu, getInfinity());
      continue;
    }
    if (magnitude == getInfinity())
      ASSERT_TRUE(std::isinf(value)) << std::hex << bits;
    else
      ASSERT_EQ(value, getMeaning(bits)) << std::hex << bits;
    ASSERT_EQ(std::signbit(value), bits >> 15) << std::hex << bits;
    ASSERT_EQ(format.encode(value), bits) << std::hex << bits;
  }
}

// Between every two neighbours, a double below the midpoint is rounded down,
// one above it up, and the midpoint to the even one: there is no double
// rounding.
TEST_P(SmallFloat, RoundsToNearestEven) {
  const Format &format = GetParam();
  for (uint32_t bits = 0; bits + 1 < getInfinity(); ++bits) {
    const double low = getMeaning(bits);
    const double high = getMeaning(bits + 1);
    const double middle = (low + high) / 2;
    const uint32_t even = bits + (bits & 1);
    for (uint32_t sign : {0u, 0x8000u}) {
      const double one = sign ? -1 : 1;
      ASSERT_EQ(format.encode(one * middle), sign | even) << std::hex << bits;
      ASSERT_EQ(format.encode(one * std::nextafter(middle, low)), sign | bits);
      ASSERT_EQ(format.encode(one * std::nextafter(middle, high)),
                sign | (bits + 1));
    }
  }
}

// Values up to half a unit above the largest number are rounded to it; from
// there on, and for infinity itself, the result is infinity.
TEST_P(SmallFloat, OverflowsToInfinity) {
  const Format &format = GetParam();
  const double largest = getMeaning(getInfinity() - 1);
  const double unit = largest - getMeaning(getInfinity() - 2);
  const double limit = largest + unit / 2;
  EXPECT_EQ(format.encode(std::nextafter(limit, 0)), getInfinity() - 1);
  EXPECT_EQ(format.encode(limit), getInfinity());
  EXPECT_EQ(format.encode(-limit), 0x8000u | getInfinity());
  EXPECT_EQ(format.encode(std::numeric_limits<double>::max()), getInfinity());
  EXPECT_EQ(format.encode(std::numeric_limits<double>::infinity()),
            getInfinity());
}

// Numbers below half of the smallest keep nothing but their sign.
TEST_P(SmallFloat, UnderflowsToZero) {
  const Format &format = GetParam();
  EXPECT_EQ(format.encode(getMeaning(1) / 2), 0);
  EXPECT_EQ(format.encode(-getMeaning(1) / 4), 0x8000);
  EXPECT_EQ(format.encode(std::numeric_limits<double>::denorm_min()), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Formats, SmallFloat,
    testing::Values(Format{"f16", 10, 15, encodeF16, decodeF16},
                    Format{"bf16", 7, 127, encodeBF16, decodeBF16}),
    [](const auto &info) { return std::string(info.param.name); });

//===----------------------------------------------------------------------===//
// Floats of 8 bits
//===----------------------------------------------------------------------===//

namespace {
/// What the standards say of a format: the largest number, the smallest, the
/// smallest normal one, and what else codes stand for.
struct Format8 {
  const char *name;
  Float8Format format;
  double largest, least, leastNormal;
  std::vector<int> nans, infinities;
};

class SmallFloat8 : public testing::TestWithParam<Format8> {
protected:
  Float8Numbers numbers{GetParam().format};
};
} // namespace

// OCP's "8-bit Floating Point Specification" and the FNUZ formats of AMD's ISA
// documents, by their extreme numbers; between these codes rise as numbers do.
TEST_P(SmallFloat8, HasTheNumbersOfTheStandard) {
  const Format8 &format = GetParam();
  EXPECT_EQ(numbers.decode(format.format.largest), format.largest);
  EXPECT_EQ(numbers.decode(0x80 | format.format.largest), -format.largest);
  EXPECT_EQ(numbers.decode(1), format.least);
  EXPECT_EQ(numbers.decode(1 << format.format.fractionBits),
            format.leastNormal);
  EXPECT_EQ(numbers.decode(0), 0);
  for (int code = 1; code <= format.format.largest; ++code)
    EXPECT_LT(numbers.decode(code - 1), numbers.decode(code)) << code;
  for (int code : format.nans)
    EXPECT_TRUE(std::isnan(numbers.decode(code))) << code;
  for (int code : format.infinities)
    EXPECT_TRUE(std::isinf(numbers.decode(code))) << code;
  int finite = 0;
  for (int code = 0; code < 256; ++code)
    finite += std::isfinite(numbers.decode(code));
  EXPECT_EQ(finite + format.nans.size() + format.infinities.size(), 256u);
}

// The encoder finds what a search of all numbers finds, for numbers themselves,
// halves between neighbours and random ones; and saturates.
TEST_P(SmallFloat8, RoundsToTheNearestNumber) {
  const Format8 &format = GetParam();
  auto check = [&](double value) {
    int best = 0;
    for (int code = 1; code <= format.format.largest; ++code) {
      const double error = std::fabs(numbers.decode(code) - std::fabs(value));
      const double least = std::fabs(numbers.decode(best) - std::fabs(value));
      if (error < least || (error == least && code % 2 == 0))
        best = code;
    }
    EXPECT_EQ(numbers.decode(numbers.encode(value)),
              std::copysign(numbers.decode(best), value))
        << value;
  };
  for (int code = 0; code < format.format.largest; ++code) {
    const double low = numbers.decode(code), high = numbers.decode(code + 1);
    for (double value : {low, (low + high) / 2, std::nextafter(low, high)}) {
      check(value);
      check(-value);
    }
  }
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-24, 17);
  for (int i = 0; i < 2000; ++i)
    check(std::exp2(exponent(random)));
  for (double value :
       {2 * format.largest, 1e30, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(numbers.decode(numbers.encode(value)), format.largest);
    EXPECT_EQ(numbers.decode(numbers.encode(-value)), -format.largest);
  }
  EXPECT_TRUE(std::isnan(numbers.decode(numbers.encode(NAN))));
  // A FNUZ format has no -0: its code is NaN's.
  EXPECT_EQ(numbers.decode(numbers.encode(-0.0)), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Formats, SmallFloat8,
    testing::Values(
        Format8{"e4m3fn", kE4M3FnFormat, 448, 0x1p-9, 0x1p-6, {0x7f, 0xff}, {}},
        Format8{"e5m2",
                kE5M2Format,
                57344,
                0x1p-16,
                0x1p-14,
                {0x7d, 0x7e, 0x7f, 0xfd, 0xfe, 0xff},
                {0x7c, 0xfc}},
        Format8{"e4m3fnuz", kE4M3FnuzFormat, 240, 0x1p-10, 0x1p-7, {0x80}, {}},
        Format8{
            "e5m2fnuz", kE5M2FnuzFormat, 57344, 0x1p-17, 0x1p-15, {0x80}, {}}),
    [](const auto &info) { return std::string(info.param.name); });

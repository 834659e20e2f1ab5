//===- SmallFloatTest.cpp - f16 and bf16, every value of them -------------===//

#include "dialect/Reference/SmallFloat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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

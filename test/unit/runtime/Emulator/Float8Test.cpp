//===- Float8Test.cpp - 8-bit floats, all of them -------------------------===//
//
// The formats are implemented again here from their definition (sign, biased
// exponent, mantissa, the codes of NaN and infinity), and encoding is a search
// for the nearest number.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/Float8.h"
#include "test/unit/runtime/Emulator/WaveTester.h"

#include <gtest/gtest.h>

using namespace tessera::emulator;

namespace {
struct Case {
  const char *chip;
  bool isE5; ///< bf8 (E5M2), otherwise fp8 (E4M3)
  const char *name;
  bool isFnuz() const { return std::string(chip) == "gfx942"; }
};
} // namespace

static constexpr Case kCases[] = {
    {"gfx942", false, "fp8"},  {"gfx942", true, "bf8"},
    {"gfx950", false, "fp8"},  {"gfx950", true, "bf8"},
    {"gfx1201", false, "fp8"}, {"gfx1201", true, "bf8"},
};

/// Returns the number that the bits encode.
static double getNumber(const Case &format, unsigned byte) {
  int mantissaBits = format.isE5 ? 2 : 3;
  int bias = format.isE5 ? 15 : 7;
  int exponent = static_cast<int>(byte & 0x7f) >> mantissaBits;
  double fraction = std::ldexp(byte % (1u << mantissaBits), -mantissaBits);
  double sign = byte >= 0x80 ? -1 : 1;
  if (format.isFnuz()) {
    if (byte == 0x80)
      return NAN;
    ++bias;
  } else if (format.isE5) {
    if ((byte & 0x7f) == 0x7c)
      return sign * INFINITY;
    if ((byte & 0x7f) > 0x7c)
      return NAN;
  } else if ((byte & 0x7f) == 0x7f) {
    return NAN;
  }
  return sign * (exponent ? std::ldexp(1 + fraction, exponent - bias)
                          : std::ldexp(fraction, 1 - bias));
}

/// Returns the code of the finite number nearest to `value`, ties to the even
/// code, or the next code if it would round to a number beyond the largest.
static unsigned getNearest(const Case &format, double value) {
  unsigned sign = std::signbit(value) ? 0x80 : 0, best = 0;
  double distance = INFINITY;
  unsigned largest = 0;
  for (unsigned code = 0; code < 0x80; ++code) {
    double number = getNumber(format, code);
    if (!std::isfinite(number))
      continue;
    largest = code;
    double d = std::fabs(number - std::fabs(value));
    if (d < distance || (d == distance && code % 2 == 0)) {
      best = code;
      distance = d;
    }
  }
  double step = getNumber(format, largest) - getNumber(format, largest - 1);
  // The midpoint beyond the largest number is a tie with a code that does not
  // exist.
  double limit = getNumber(format, largest) + step / 2;
  bool tieStays = largest % 2 == 0;
  if (std::fabs(value) > limit || (std::fabs(value) == limit && !tieStays)) {
    if (format.isFnuz())
      return 0x80;
    return (format.isE5 ? 0x7c : 0x7f) | sign;
  }
  return best == 0 && format.isFnuz() ? 0 : best | sign;
}

/// Compares numbers; all NaNs are equal.
static ::testing::AssertionResult isSame(double expected, float actual) {
  if (std::isnan(expected) ? std::isnan(actual)
                           : expected == actual &&
                                 std::signbit(expected) == std::signbit(actual))
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << actual << " is not " << expected;
}

/// Returns assembly that decodes byte (or half) `part` of v1.
static std::string select(const Case &format, bool isPair, unsigned part) {
  bool isGfx9 = findChip(format.chip)->isGfx9();
  std::string text = isPair ? "v_cvt_pk_f32_" : "v_cvt_f32_";
  text += format.name;
  std::string registers = isPair ? " v[2:3], v1" : " v2, v1";
  std::string number = std::to_string(part);
  if (isGfx9)
    return text + "_sdwa" + registers +
           (isPair ? " src0_sel:WORD_" : " src0_sel:BYTE_") + number;
  return text + "_e64" + registers +
         (isPair ? " op_sel:[" + number + ",0]" : " byte_sel:" + number);
}

// Every byte is decoded correctly in every position of the register.
TEST(Float8, DecodesEveryByte) {
  for (const Case &format : kCases)
    for (unsigned part = 0; part < 4; ++part)
      for (unsigned first = 0; first < 256; first += 32) {
        WaveTester tester(format.chip, first + 1);
        for (unsigned lane = 0; lane < 32; ++lane) {
          tester.v(1, lane) &= ~(0xffu << (8 * part));
          tester.v(1, lane) |= (first + lane) << (8 * part);
        }
        tester.runWell(select(format, false, part));
        for (unsigned lane = 0; lane < 32; ++lane)
          ASSERT_TRUE(
              isSame(getNumber(format, first + lane), tester.f(2, lane)))
              << format.chip << format.name << first + lane;
        tester.runWell(select(format, true, part / 2));
        for (unsigned lane = 0; lane < 32; ++lane)
          ASSERT_TRUE(isSame(getNumber(format, first + lane),
                             tester.f(2 + part % 2, lane)))
              << format.chip << format.name << first + lane;
      }
}

/// Returns every number, every midpoint and their neighbours, and special
/// values.
static std::vector<float> getEdges(const Case &format) {
  std::vector<float> values = {0.0f,      -0.0f, INFINITY, -INFINITY, NAN,
                               0x1p-149f, 1e38f, -1e38f,   449.0f,    -465.0f};
  for (unsigned code = 0; code < 0x80; ++code) {
    double a = getNumber(format, code), b = getNumber(format, code + 1);
    // Include the values one step beyond the largest, where overflow begins.
    if (!std::isfinite(b) || code == 0x7f)
      b = 2 * a - getNumber(format, code - 1);
    if (!std::isfinite(a))
      continue;
    for (double value : {a, (a + b) / 2, b}) {
      auto edge = static_cast<float>(value);
      for (float v :
           {edge, std::nextafterf(edge, 1e9f), std::nextafterf(edge, 0.0f)}) {
        values.push_back(v);
        values.push_back(-v);
      }
    }
  }
  return values;
}

/// Encodes a wave's worth of values, and their negations into the upper half.
static void checkEncoding(const Case &format, std::span<const float> values) {
  WaveTester tester(format.chip);
  for (unsigned lane = 0; lane < values.size(); ++lane) {
    tester.v(1, lane) = std::bit_cast<uint32_t>(values[lane]);
    tester.v(2, lane) = std::bit_cast<uint32_t>(-2.0f);
    tester.v(3, lane) = tester.v(4, lane) = 0xaabbccdd;
  }
  std::string name = std::string("v_cvt_pk_") + format.name + "_f32 ";
  tester.runWell(name + "v3, v1, v2\n" + name + "v4, -v1, |v2| op_sel:[0,0,1]");
  for (unsigned lane = 0; lane < values.size(); ++lane) {
    uint32_t low = tester.v(3, lane), high = tester.v(4, lane);
    ASSERT_EQ(low >> 16, 0xaabbu);
    ASSERT_EQ(high & 0xffff, 0xccddu);
    ASSERT_EQ(getNumber(format, low >> 8 & 0xff), -2);
    ASSERT_EQ(getNumber(format, high >> 24), 2);
    low &= 0xff;
    high = high >> 16 & 0xff;
    if (std::isnan(values[lane])) {
      EXPECT_TRUE(std::isnan(getNumber(format, low)));
      EXPECT_TRUE(std::isnan(getNumber(format, high)));
      continue;
    }
    EXPECT_EQ(low, getNearest(format, values[lane]))
        << format.chip << format.name << values[lane];
    EXPECT_EQ(high, getNearest(format, -values[lane]))
        << format.chip << format.name << values[lane];
  }
}

// Encoding finds the nearest number, ties to even; values that are too large
// give infinity or NaN. The half that is not written stays.
TEST(Float8, EncodesTheNearestNumber) {
  for (const Case &format : kCases) {
    std::vector<float> edges = getEdges(format);
    for (size_t i = 0; i < edges.size(); i += 32)
      checkEncoding(format, std::span(edges).subspan(
                                i, std::min<size_t>(32, edges.size() - i)));
  }
}

// MODE.FP16_OVFL turns overflow into the largest number, not infinity.
TEST(Float8, SaturatesWhenAsked) {
  for (const Case &format : kCases) {
    WaveTester tester(format.chip);
    tester->setMode(0xf0 | 1u << 23);
    tester.v(1, 0) = std::bit_cast<uint32_t>(1e30f);
    tester.v(2, 0) = std::bit_cast<uint32_t>(-1e30f);
    tester.runWell(std::string("v_cvt_pk_") + format.name + "_f32 v3, v1, v2");
    double largest = format.isE5 ? 57344 : format.isFnuz() ? 240 : 448;
    EXPECT_EQ(getNumber(format, tester.v(3, 0) & 0xff), largest);
    EXPECT_EQ(getNumber(format, tester.v(3, 0) >> 8 & 0xff), -largest);
  }
}

// Stochastic rounding: a value 3/8 of the way between two numbers is rounded up
// for 3/8 of all noise, and only the named byte is written.
TEST(Float8, StochasticRoundingGoesUpAsOftenAsItShould) {
  for (const Case &format : kCases) {
    bool isGfx9 = findChip(format.chip)->isGfx9();
    WaveTester tester(format.chip);
    double step = format.isE5 ? 0.25 : 0.125;
    unsigned up = 0;
    for (unsigned i = 0; i < 32; ++i) {
      tester.v(1, i) = std::bit_cast<uint32_t>(
          static_cast<float>(-(1 + 2 * step + 0.375 * step)));
      tester.v(2, i) = i << 27 | 0x1234567;
      tester.v(3, i) = 0x11223344;
    }
    tester.runWell(std::string("v_cvt_sr_") + format.name + "_f32 v3, v1, v2 " +
                   (isGfx9 ? "op_sel:[0,0,0,1]" : "byte_sel:2"));
    for (unsigned i = 0; i < 32; ++i) {
      EXPECT_EQ(tester.v(3, i) & 0xff00ffff, 0x11003344u);
      double number = getNumber(format, tester.v(3, i) >> 16 & 0xff);
      EXPECT_TRUE(number == -(1 + 2 * step) || number == -(1 + 3 * step));
      up += number == -(1 + 3 * step);
    }
    EXPECT_EQ(up, 12u) << format.chip << format.name;
  }
}

// Inactive lanes keep their values.
TEST(Float8, InactiveLanesStay) {
  WaveTester tester("gfx1201");
  tester->setExec(0x0000fffe);
  uint32_t before = tester.v(3, 0), pair = tester.v(5, 20);
  tester.runWell("v_cvt_pk_fp8_f32 v3, v1, v2\n"
                 "v_cvt_pk_f32_bf8_e32 v[4:5], v1");
  EXPECT_EQ(tester.v(3, 0), before);
  EXPECT_EQ(tester.v(5, 20), pair);
}

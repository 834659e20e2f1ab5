//===- ResultCheckTest.cpp - One expectation, many results ----------------===//
//
// The rule is that of dialect/Reference/Compare.h, so compare() judges the
// judge: both must say the same of the same result.
//
//===----------------------------------------------------------------------===//

#include "runtime/Tuning/ResultCheck.h"

#include "dialect/Reference/Random.h"
#include "dialect/Reference/TestData.h"

#include <gtest/gtest.h>

#include <limits>

using namespace tessera;
using namespace tessera::reference;

namespace {
/// A tensor with gaps: rows are two elements longer than the channels.
struct Sample {
  explicit Sample(ElementType type) : type(type) {
    expected.sizes = {.outer = 2, .channel = 5, .row = 3, .column = 4};
    expected.reductionLength = 64;
    expected.unitRoundoff = 0x1p-12; // Coarse, so that intervals have a width.
    strides = getNhwcStrides({.outer = 2, .channel = 7, .row = 3, .column = 4});
    before = makePoison(type, 2 * 7 * 3 * 4);
    after = before;
    Coord at;
    for (int64_t i = 0; i < expected.sizes.getProduct();
         ++i, expected.sizes.advance(at)) {
      expected.values.push_back(
          static_cast<double>(getRandomBits(1, i) % 200) / 8 - 12);
      expected.magnitudes.push_back(4);
      storeElement(type, after.data(), strides.getOffset(at),
                   expected.values.back());
    }
  }
  TensorView view(const std::vector<char> &data) const {
    return {type, data.data(), strides};
  }
  ResultCheck makeCheck(int slack = 0) const {
    return ResultCheck(expected, view(before), before.size(), slack);
  }

  ElementType type;
  Expected expected;
  reference::Strides strides;
  std::vector<char> before, after;
};

constexpr ElementType kTypes[] = {ElementType::F16,      ElementType::BF16,
                                  ElementType::F32,      ElementType::F64,
                                  ElementType::I8,       ElementType::I32,
                                  ElementType::E4M3FNUZ, ElementType::E5M2FNUZ,
                                  ElementType::E4M3FN,   ElementType::E5M2};
} // namespace

// The right values pass in every type; poison does not.
TEST(ResultCheck, AcceptsAndRefuses) {
  for (ElementType type : kTypes) {
    SCOPED_TRACE(getName(type));
    const Sample sample(type);
    const ResultCheck check = sample.makeCheck();
    EXPECT_EQ(check.check(sample.after), "");
    EXPECT_NE(check.check(sample.before), "");
  }
}

// One element at a time is moved by up to a few tolerances: the verdict must be
// that of compare().
TEST(ResultCheck, AgreesWithCompare) {
  for (ElementType type : kTypes) {
    SCOPED_TRACE(getName(type));
    const Sample sample(type);
    const ResultCheck check = sample.makeCheck();
    int passed = 0;
    for (int i = 0; i < 400; ++i) {
      std::vector<char> result = sample.after;
      const int64_t element = getRandomBits(2, i) % 120;
      const Coord at = sample.expected.sizes.getCoord(element);
      const double shift =
          (static_cast<double>(getRandomBits(3, i) % 2000) - 1000) / 20000;
      storeElement(type, result.data(), sample.strides.getOffset(at),
                   sample.expected.values[element] + shift);
      const bool isRight =
          compare(sample.expected, sample.view(result)).passed();
      EXPECT_EQ(check.check(result).empty(), isRight) << shift;
      passed += isRight;
    }
    EXPECT_GT(passed, 10);
    if (getByteSize(type) > 1 && type != ElementType::I32)
      EXPECT_LT(passed, 390);
  }
}

// A NaN, an infinity and an overwritten gap are wrong, and named with their
// coordinates.
TEST(ResultCheck, NanInfinityAndGaps) {
  const Sample sample(ElementType::F16);
  const ResultCheck check = sample.makeCheck();
  for (double value : {std::numeric_limits<double>::quiet_NaN(),
                       std::numeric_limits<double>::infinity(),
                       -std::numeric_limits<double>::infinity()}) {
    std::vector<char> result = sample.after;
    storeElement(ElementType::F16, result.data(), 0, value);
    EXPECT_EQ(
        check.check(result).find("1 of 168 elements are wrong; element 0 "),
        0u);
  }
  std::vector<char> result = sample.after;
  storeElement(ElementType::F16, result.data(), 6, 0);
  EXPECT_EQ(check.check(result).find("1 of 168 elements are wrong; element 6 "),
            0u);
}

// Zero may have either sign.
TEST(ResultCheck, BothZeros) {
  Sample sample(ElementType::F32);
  sample.expected.values[0] = 0;
  sample.expected.magnitudes[0] = 0;
  const ResultCheck check = sample.makeCheck();
  for (double zero : {0.0, -0.0}) {
    storeElement(ElementType::F32, sample.after.data(), 0, zero);
    EXPECT_EQ(check.check(sample.after), "");
  }
}

// Slack accepts the neighbours of an exact value, and no more.
TEST(ResultCheck, Slack) {
  Sample sample(ElementType::BF16);
  sample.expected.values[0] = 1;
  sample.expected.magnitudes[0] = 0;
  for (auto [value, isRight] :
       {std::pair{1 + 0x1p-7, true}, {1 - 0x1p-8, true}, {1 + 0x1p-6, false}}) {
    storeElement(ElementType::BF16, sample.after.data(), 0, value);
    EXPECT_EQ(sample.makeCheck(1).check(sample.after).empty(), isRight);
    EXPECT_NE(sample.makeCheck(0).check(sample.after), "");
  }
}

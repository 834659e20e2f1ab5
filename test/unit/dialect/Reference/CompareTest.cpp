//===- CompareTest.cpp - The comparison that other tests use --------------===//
//
// A comparison that never fails would make every test pass, so most of these
// show that it fails when it should.
//
//===----------------------------------------------------------------------===//

#include "dialect/Reference/Compare.h"
#include "dialect/Reference/TestData.h"
#include "dialect/Reference/TileMagnitudes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

using namespace tessera::reference;

namespace {
/// A tensor of 2x3x4x5 elements with sums of 1000 products of magnitude 1.
class Compare : public testing::TestWithParam<ElementType> {
protected:
  Compare() {
    expected.sizes = {2, 3, 4, 5};
    expected.reductionLength = 1000;
    for (int64_t i = 0; i < expected.sizes.getProduct(); ++i) {
      expected.values.push_back(std::sin(static_cast<double>(i)) * 20);
      expected.magnitudes.push_back(250);
    }
    actual = makePoison(GetParam(), expected.sizes.getProduct());
    for (size_t i = 0; i < expected.values.size(); ++i)
      store(expected.sizes.getCoord(i), expected.values[i]);
  }

  TensorView getView() const {
    return {GetParam(), actual.data(), getNchwStrides(expected.sizes)};
  }
  void store(const Coord &at, double value) {
    storeElement(GetParam(), actual.data(), getView().strides.getOffset(at),
                 value);
  }
  Report run(Rule rule = Rule::Rounding) {
    return compare(expected, getView(), rule);
  }

  Expected expected;
  std::vector<char> actual;
};
} // namespace

// Correctly rounded results pass by both rules.
TEST_P(Compare, AcceptsRoundedValues) {
  EXPECT_TRUE(run().passed()) << run().toText();
  EXPECT_TRUE(run(Rule::Exact).passed()) << run().toText();
  EXPECT_EQ(run().compared, 120);
}

// A single wrong element is found and named, and no other is reported.
TEST_P(Compare, FindsOneWrongElement) {
  const Coord at{1, 2, 0, 3};
  store(at, expected.values[expected.sizes.getFlatIndex(at)] + 1);
  Report report = run();
  EXPECT_FALSE(report.passed());
  EXPECT_EQ(report.failed, 1);
  EXPECT_EQ(report.worst, at);
  EXPECT_NE(report.toText().find(
                "1 of 120 elements are wrong; worst at n=1 k=2 h=0 w=3"),
            std::string::npos)
      << report.toText();
}

// If several elements are wrong, the worst is named.
TEST_P(Compare, NamesTheWorst) {
  store({0, 2, 0, 0}, expected.values[2] + 1);
  store({0, 1, 0, 0}, expected.values[1] + 5);
  Report report = run();
  EXPECT_EQ(report.failed, 2);
  EXPECT_EQ(report.worst, (Coord{0, 1, 0, 0}));
}

// NaN never passes, even where nearly every number would.
TEST_P(Compare, NeverAcceptsNaN) {
  expected.magnitudes.assign(expected.magnitudes.size(), 1e30);
  EXPECT_TRUE(run().passed());
  store({0, 0, 2, 2}, std::nan(""));
  Report report = run();
  EXPECT_EQ(report.failed, 1);
  EXPECT_EQ(report.worst, (Coord{0, 0, 2, 2}));
}

// An output that no kernel wrote fails in every element.
TEST_P(Compare, RejectsPoison) {
  actual = makePoison(GetParam(), 120);
  EXPECT_EQ(run().failed, 120);
}

// A zeroed output fails, except where the value is near zero itself.
TEST_P(Compare, RejectsZeros) {
  actual.assign(actual.size(), 0);
  EXPECT_GE(run().failed, 119);
}

// Elements in the wrong order fail: here the memory is read in another layout.
TEST_P(Compare, RejectsWrongLayout) {
  TensorView view = getView();
  view.strides = getNhwcStrides(expected.sizes);
  EXPECT_GT(compare(expected, view).failed, 100);
}

// The exact rule allows nothing but the correctly rounded value.
TEST_P(Compare, ExactAllowsNoOtherValue) {
  const double value = expected.values[7];
  const double neighbour = roundTo(
      GetParam(),
      value * (GetParam() == ElementType::F32 ? 1 + 0x1p-22 : 1 + 0x1p-6));
  ASSERT_NE(neighbour, roundTo(GetParam(), value));
  store(expected.sizes.getCoord(7), neighbour);
  EXPECT_EQ(run(Rule::Exact).failed, 1);
}

// An expectation that is not finite shows nothing, so it does not pass.
TEST_P(Compare, RejectsExpectationsThatAreNotFinite) {
  expected.values[3] = std::numeric_limits<double>::infinity();
  store(expected.sizes.getCoord(3), expected.values[3]);
  EXPECT_EQ(run().failed, 1);
}

// Where infinities and NaNs are valid results, each passes as itself and as
// nothing else.
TEST_P(Compare, FindsTheSameNonFiniteValueWhereItMayBe) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  expected.mayBeNonFinite = true;
  for (double value : {kInfinity, -kInfinity, std::nan("")}) {
    expected.values[7] = value;
    expected.magnitudes[7] = std::fabs(value);
    for (double found : {kInfinity, -kInfinity, std::nan(""), 1.0}) {
      store(expected.sizes.getCoord(7), found);
      const bool isSame =
          value == found || (std::isnan(value) && std::isnan(found));
      EXPECT_EQ(run().passed(), isSame) << value << " " << found;
    }
  }
}

// A sum that overflows the element type is expected to be infinity.
TEST_P(Compare, OverflowIsInfinity) {
  expected.values[3] = -1e300;
  store(expected.sizes.getCoord(3), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(run().passed()) << run().toText();
  store(expected.sizes.getCoord(3), std::numeric_limits<double>::infinity());
  EXPECT_EQ(run().failed, 1);
}

// A sample looks only at its own elements.
TEST_P(Compare, SampleLooksOnlyAtItsElements) {
  expected.indices = {5, 119};
  expected.values = {expected.values[5], expected.values[119]};
  expected.magnitudes = {250, 250};
  store(expected.sizes.getCoord(6), 1e4);
  EXPECT_TRUE(run().passed()) << run().toText();
  EXPECT_EQ(run().compared, 2);
  store(expected.sizes.getCoord(119), 1e4);
  EXPECT_EQ(run().failed, 1);
}

// Comparing nothing proves nothing.
TEST_P(Compare, NothingComparedIsNoSuccess) {
  expected.values.clear();
  expected.magnitudes.clear();
  EXPECT_FALSE(run().passed());
}

INSTANTIATE_TEST_SUITE_P(Types, Compare,
                         testing::Values(ElementType::F16, ElementType::BF16,
                                         ElementType::F32),
                         [](const auto &info) {
                           return std::string(getName(info.param));
                         });

namespace {
/// A sum of random products, the exact value and the result of float additions.
struct DotProduct {
  Expected expected;
  float sum = 0;

  TensorView view() { return {ElementType::F32, &sum, {1, 1, 1, 1}}; }
};
} // namespace

/// Makes a sum whose operands `round` has changed.
static DotProduct makeDotProduct(int length, uint64_t seed,
                                 float (*round)(float)) {
  auto x = makeData(ElementType::F32, length, DataKind::Uniform, seed);
  auto w = makeData(ElementType::F32, length, DataKind::Uniform, seed + 1);
  DotProduct dot{{.sizes = {1, 1, 1, 1},
                  .indices = {},
                  .values = {0},
                  .magnitudes = {0},
                  .reductionLength = length}};
  for (int i = 0; i < length; ++i) {
    const float a = loadElement(ElementType::F32, x.data(), i);
    const float b = loadElement(ElementType::F32, w.data(), i);
    dot.expected.values[0] += double(a) * b;
    dot.expected.magnitudes[0] += std::fabs(double(a) * b);
    dot.sum += round(a) * round(b);
  }
  return dot;
}

// The bound is tight enough to detect a missing product in a long sum: sums in
// float of 4608 products of [-1, 1] pass, and each without one average product
// fails.
TEST(CompareBound, SeparatesRoundingFromAMissingProduct) {
  DotProduct dot = makeDotProduct(4608, 1, [](float value) { return value; });
  EXPECT_TRUE(compare(dot.expected, dot.view()).passed());
  dot.sum -= 0.25f;
  EXPECT_FALSE(compare(dot.expected, dot.view()).passed());
}

/// Rounds to ten bits of mantissa, ties away from zero, like NVIDIA's
/// conversion.
static float roundToTf32(float value) {
  return std::bit_cast<float>((std::bit_cast<uint32_t>(value) + 0x1000) &
                              ~uint32_t(0x1fff));
}

// Operands of tf32 pass only where they are allowed, and even then no product
// may be missing. (In a sum of thousands of products the errors of its
// additions are larger.)
TEST(CompareBound, AllowsTf32OnlyWhereAsked) {
  DotProduct dot = makeDotProduct(64, 3, roundToTf32);
  EXPECT_FALSE(compare(dot.expected, dot.view()).passed());
  dot.expected.operandRoundoff = kTf32Roundoff;
  EXPECT_TRUE(compare(dot.expected, dot.view()).passed());
  dot.sum -= 0.25f;
  EXPECT_FALSE(compare(dot.expected, dot.view()).passed());
}

// A sample has the requested number of distinct elements, includes the first
// and the last, and is the same for the same seed.
TEST(CompareSample, CornersAndRandomElements) {
  const Sizes sizes{4, 64, 32, 64, 2};
  const std::vector<int64_t> sample = sampleElements(sizes, 500, 1);
  EXPECT_GT(sample.size(), 490u);
  EXPECT_EQ(sample.front(), 0);
  EXPECT_EQ(sample.back(), sizes.getProduct() - 1);
  EXPECT_TRUE(std::is_sorted(sample.begin(), sample.end()));
  EXPECT_EQ(sample, sampleElements(sizes, 500, 1));
  EXPECT_NE(sample, sampleElements(sizes, 500, 2));
  EXPECT_EQ(sampleElements({}, 500, 1), std::vector<int64_t>{0});
}

// The worst element of a volume is named with its depth.
TEST(CompareReport, NamesTheDepth) {
  Expected expected;
  expected.sizes = {1, 1, 1, 1, 2};
  expected.values = {1, 2};
  expected.magnitudes = {1, 2};
  const float found[] = {1, 3};
  const std::string text =
      compare(expected, {ElementType::F32, found, {.depth = 1}}).toText();
  EXPECT_NE(text.find("worst at n=0 k=0 d=1 h=0 w=0"), text.npos) << text;
}

// Of four pixels that share terms each has the largest magnitude, whether all
// elements are compared or a sample; what lies beyond an image has none.
TEST(TileMagnitudes, AreTheLargestOfEachTile) {
  const Sizes sizes{2, 3, 5, 3};
  const auto magnitudeOf = [&](int64_t index) {
    return static_cast<double>(index * 37 % 101);
  };
  const auto magnitudesAt = [&](const std::vector<int64_t> &indices) {
    std::vector<double> magnitudes;
    for (int64_t index : indices)
      magnitudes.push_back(magnitudeOf(index));
    return magnitudes;
  };
  Expected all;
  all.sizes = sizes;
  for (int64_t i = 0; i < sizes.getProduct(); ++i)
    all.magnitudes.push_back(magnitudeOf(i));
  takeLargestOfTiles(all, magnitudesAt);
  for (int64_t i = 0; i < sizes.getProduct(); ++i) {
    double largest = 0;
    for (int64_t j = 0; j < sizes.getProduct(); ++j) {
      const Coord at = sizes.getCoord(i), other = sizes.getCoord(j);
      if (at.outer == other.outer && at.channel == other.channel &&
          at.row / 2 == other.row / 2 && at.column / 2 == other.column / 2)
        largest = std::max(largest, magnitudeOf(j));
    }
    EXPECT_EQ(all.magnitudes[i], largest) << i;
  }
  Expected sample;
  sample.sizes = sizes;
  sample.indices = {0, 7, 44, sizes.getProduct() - 1};
  sample.magnitudes = magnitudesAt(sample.indices);
  takeLargestOfTiles(sample, magnitudesAt);
  for (size_t i = 0; i < sample.indices.size(); ++i)
    EXPECT_EQ(sample.magnitudes[i], all.magnitudes[sample.indices[i]]);
}

//===- TestDataTest.cpp - Test data are what they promise -----------------===//

#include "dialect/Reference/TestData.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

using namespace tessera::reference;

static constexpr ElementType kTypes[] = {ElementType::F16, ElementType::BF16,
                                         ElementType::F32, ElementType::F64};

// The same seed gives the same sequence, so a failing test can be repeated.
TEST(TestData, SameSeedSameData) {
  for (ElementType type : kTypes) {
    auto data = makeData(type, 100, DataKind::Uniform, 7);
    EXPECT_EQ(data, makeData(type, 100, DataKind::Uniform, 7));
    EXPECT_NE(data, makeData(type, 100, DataKind::Uniform, 8));
    EXPECT_EQ(data.size(), 100u * getByteSize(type));
  }
}

// Uniform data fill [-1, 1] evenly, so that no half of a kernel's products is
// too small to matter.
TEST(TestData, UniformCoversTheInterval) {
  for (ElementType type : kTypes) {
    auto data = makeData(type, 10000, DataKind::Uniform, 1);
    double sum = 0;
    int outer = 0;
    for (int i = 0; i < 10000; ++i) {
      const double value = loadElement(type, data.data(), i);
      ASSERT_LE(std::fabs(value), 1);
      sum += value;
      outer += std::fabs(value) > 0.5;
    }
    EXPECT_NEAR(sum / 10000, 0, 0.05);
    EXPECT_NEAR(outer / 10000.0, 0.5, 0.05);
  }
}

// Integer data are exactly the seven integers that TestData.h promises.
TEST(TestData, IntegersAreSmall) {
  for (ElementType type : kTypes) {
    auto data = makeData(type, 1000, DataKind::Integer, 1);
    std::set<double> seen;
    for (int i = 0; i < 1000; ++i)
      seen.insert(loadElement(type, data.data(), i));
    EXPECT_EQ(seen, (std::set<double>{-3, -2, -1, 0, 1, 2, 3}));
  }
}

// Uniform integers use all of eight bits, whatever type holds them.
TEST(TestData, UniformIntegersFillEightBits) {
  for (ElementType type : {ElementType::I8, ElementType::I32}) {
    auto data = makeData(type, 10000, DataKind::Uniform, 1);
    std::set<double> seen;
    for (int i = 0; i < 10000; ++i)
      seen.insert(loadElement(type, data.data(), i));
    EXPECT_EQ(seen.size(), 256u);
    EXPECT_EQ(*seen.begin(), -128);
    EXPECT_EQ(*seen.rbegin(), 127);
  }
}

// Poison is NaN whatever the type.
TEST(TestData, PoisonIsNaN) {
  for (ElementType type : kTypes) {
    auto data = makePoison(type, 3);
    for (int i = 0; i < 3; ++i)
      EXPECT_TRUE(std::isnan(loadElement(type, data.data(), i)));
  }
}

// The strides of both orders for a tensor of five different sizes.
TEST(Tensor, PackedStrides) {
  const Sizes sizes{2, 3, 5, 7, 11};
  const Coord at{1, 2, 3, 4, 6};
  EXPECT_EQ(getNchwStrides(sizes).getOffset(at),
            (((1 * 3 + 2) * 11 + 6) * 5 + 3) * 7 + 4);
  EXPECT_EQ(getNhwcStrides(sizes).getOffset(at),
            (((1 * 11 + 6) * 5 + 3) * 7 + 4) * 3 + 2);
}

// Flat indices count every element once, in the order of advance().
TEST(Tensor, FlatIndices) {
  const Sizes sizes{2, 3, 5, 7, 4};
  Coord at;
  for (int64_t i = 0; i < sizes.getProduct(); ++i, sizes.advance(at)) {
    ASSERT_EQ(sizes.getCoord(i), at);
    ASSERT_EQ(sizes.getFlatIndex(at), i);
  }
  EXPECT_EQ(at, (Coord{.outer = 2}));
}

// Integers round to the nearest, ties to even, and stop at the ends of their
// range.
TEST(Tensor, IntegersRoundAndSaturate) {
  EXPECT_EQ(roundTo(ElementType::I8, 2.5), 2);
  EXPECT_EQ(roundTo(ElementType::I8, -3.5), -4);
  EXPECT_EQ(roundTo(ElementType::I8, 1000), 127);
  EXPECT_EQ(roundTo(ElementType::I32, -1e10), -2147483648.0);
  int32_t stored = 0;
  storeElement(ElementType::I32, &stored, 0, 1e10);
  EXPECT_EQ(stored, 2147483647);
}

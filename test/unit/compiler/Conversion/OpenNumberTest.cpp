//===- OpenNumberTest.cpp - Polynomials of unknown sizes ------------------===//

#include "compiler/Conversion/Common/OpenNumber.h"

#include <gtest/gtest.h>

using namespace tessera;

static OpenNumber makeSize(int64_t dim) {
  return OpenNumber(SizeExpr::makeSize(KernelArg::X, dim));
}

// Numbers without unknown sizes are integers.
TEST(OpenNumber, FoldsNumbers) {
  const OpenNumber six = OpenNumber(2) * 3;
  EXPECT_TRUE(six.isKnown());
  EXPECT_EQ(int64_t(six), 6);
  EXPECT_EQ(int64_t(six - 8), -2);
  EXPECT_EQ((OpenNumber(0) * makeSize(0)), 0);
  EXPECT_TRUE((makeSize(1) - makeSize(1)).isKnown());
}

// Equal polynomials are equal in whatever order they were made.
TEST(OpenNumber, ComparesTerms) {
  const OpenNumber h = makeSize(1), w = makeSize(2);
  EXPECT_EQ(h * (w * 64), w * h * 64);
  EXPECT_EQ((h - 1) * w + (w - 1), h * w - 1);
  EXPECT_FALSE(h * w == h * h);
  EXPECT_FALSE(h == 1);
  // The bytes of a packed tensor, as the distance of its last element.
  EXPECT_EQ((h - 1) * w * 16 + (w - 1) * 16 + (8 - 1) * 2 + 2, h * w * 16);
}

// What divides every value is what divides every factor.
TEST(OpenNumber, FindsFactor) {
  const OpenNumber h = makeSize(1), w = makeSize(2);
  EXPECT_EQ((h * 24 - w * 16).getFactor(), 8);
  EXPECT_EQ((h * 24 + 3).getFactor(), 3);
  EXPECT_EQ(OpenNumber(-12).getFactor(), 12);
  EXPECT_EQ(OpenNumber().getFactor(), 0);
}

// As expressions of a recipe, which have no negative numbers.
TEST(OpenNumber, BecomesExpressions) {
  const OpenNumber h = makeSize(1), w = makeSize(2);
  const auto [added, subtracted] = (h * w * 4 - w * 2 - 3).toExprs();
  const SizeExpr::Lookup lookup = [](KernelArg, int64_t dim) {
    return dim * 5;
  };
  EXPECT_EQ(*added.evaluate(lookup), 4 * 5 * 10);
  EXPECT_EQ(*subtracted.evaluate(lookup), 2 * 10 + 3);
  EXPECT_EQ((h + 3).toExpr().toText(), "3.xd1.+");
}

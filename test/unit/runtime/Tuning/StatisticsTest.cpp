//===- StatisticsTest.cpp - What a few measurements say -------------------===//

#include "runtime/Tuning/Statistics.h"
#include "runtime/Tuning/StopRule.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace tessera;

// One slow sample among many changes neither.
TEST(Statistics, MedianAndSpread) {
  EXPECT_EQ(getMedian({7}), 7);
  EXPECT_EQ(getMedian({3, 1, 2}), 2);
  EXPECT_EQ(getMedian({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(getMedian({1, 1, 1, 1, 900}), 1);
  EXPECT_EQ(getSpread({5}), 0);
  EXPECT_EQ(getSpread({1, 2, 3, 4, 500}), 2);
}

// The cases are the same order, the reverse, nothing to order, and one swap of
// three.
TEST(Statistics, KendallTau) {
  EXPECT_EQ(getKendallTau({{1, 10}, {2, 20}, {3, 30}}), 1);
  EXPECT_EQ(getKendallTau({{1, 30}, {2, 20}, {3, 10}}), -1);
  EXPECT_EQ(getKendallTau({{1, 5}, {2, 5}}), 0);
  EXPECT_EQ(getKendallTau({}), 0);
  EXPECT_NEAR(getKendallTau({{1, 10}, {2, 30}, {3, 20}}), 1.0 / 3, 1e-12);
  // One of six pairs is tied in the first value and agrees with nothing: 5 /
  // sqrt(30).
  EXPECT_NEAR(getKendallTau({{1, 1}, {1, 2}, {2, 3}, {3, 4}}), 0.912871, 1e-6);
}

// Each number occurs once, and the first one is 0, whatever the seed.
TEST(Statistics, Shuffles) {
  for (size_t count : {0, 1, 2, 3, 100}) {
    std::vector<size_t> order = shuffleBehindFirst(count, 3);
    ASSERT_EQ(order.size(), count);
    if (count)
      EXPECT_EQ(order.front(), 0u);
    std::ranges::sort(order);
    for (size_t i = 0; i < count; ++i)
      EXPECT_EQ(order[i], i);
  }
}

// Nothing is concluded from two values, nor where there is no model.
TEST(StopRule, NeedsThreeRatios) {
  StopRule rule;
  rule.add(100, 200);
  rule.add(101, 202);
  EXPECT_TRUE(rule.canWin(1e9));
  rule.add(102, 204);
  EXPECT_FALSE(rule.canWin(1e9));
  StopRule blind;
  for (int i = 0; i < 9; ++i)
    blind.add(0, 1);
  EXPECT_TRUE(blind.canWin(0));
}

// With an exact model, a candidate that costs a little more may win; one that
// costs a quarter more may not.
TEST(StopRule, TrustsAnExactModelTo13Percent) {
  StopRule rule;
  for (double cost : {100.0, 110.0, 120.0})
    rule.add(cost, 2 * cost);
  EXPECT_TRUE(rule.canWin(113));
  EXPECT_FALSE(rule.canWin(114));
}

// A model that is sometimes off by a factor of two must not be trusted.
TEST(StopRule, DoubtsABadModel) {
  StopRule rule;
  for (double factor : {1.0, 2.0, 0.5, 1.0})
    rule.add(100, 100 * factor);
  EXPECT_TRUE(rule.canWin(150));
  EXPECT_FALSE(rule.canWin(1000));
}

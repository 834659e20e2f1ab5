//===- StatisticsTest.cpp - Means and variances of channels ---------------===//

#include "dialect/Reference/Statistics.h"

#include <gtest/gtest.h>

using namespace tessera::reference;

// Two channels of two columns and two images.
TEST(Statistics, OfTwoChannels) {
  const float data[] = {1, 10, 3, 10, 5, 30, 7, 30};
  const Sizes sizes{2, 2, 1, 2};
  const Statistics result = getStatistics(
      sizes, {ElementType::F32, data, getNhwcStrides(sizes)});
  EXPECT_EQ(result.mean.values, (std::vector<double>{4, 20}));
  EXPECT_EQ(result.variance.values, (std::vector<double>{5, 100}));
}

// Of 4096 and 4097 a difference of sums of squares in f32 is wrong; what the
// tolerance leaves is a thousandth.
TEST(Statistics, TellsCancellation) {
  std::vector<float> data(1024);
  float sum = 0, squares = 0;
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = 4096 + static_cast<float>(i % 2);
    sum += data[i];
    squares += data[i] * data[i];
  }
  const Sizes sizes{1024, 1, 1, 1};
  const Statistics result = getStatistics(
      sizes, {ElementType::F32, data.data(), getNhwcStrides(sizes)});
  EXPECT_EQ(result.variance.values.front(), 0.25);
  const float mean = sum / 1024, naive = squares / 1024 - mean * mean,
              close = 0.25001F;
  const Strides strides{.channel = 1};
  EXPECT_FALSE(
      compare(result.variance, {ElementType::F32, &naive, strides}).passed());
  EXPECT_TRUE(
      compare(result.variance, {ElementType::F32, &close, strides}).passed());
}

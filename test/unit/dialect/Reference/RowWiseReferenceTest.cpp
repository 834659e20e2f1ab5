//===- RowWiseReferenceTest.cpp - Rows against numbers found by hand ------===//

#include "dialect/Reference/RowWiseReference.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace tessera::reference;

/// The strides of a packed tensor, with the last dimension fastest.
static RowDims getPacked(const RowShape &shape) {
  RowDims strides{};
  int64_t stride = 1;
  for (int dim = shape.rank - 1; dim >= 0; --dim) {
    strides[dim] = stride;
    stride *= shape.lengths[dim];
  }
  return strides;
}

// Rows are numbered over the dimensions that are not reduced, their elements
// over the others; the last dimension is the fastest in both.
TEST(RowWiseReference, NumbersRowsAndElements) {
  RowShape shape{.rank = 3, .lengths = {2, 3, 4, 1, 1}, .reduced = 0b010};
  EXPECT_EQ(shape.getRowCount(), 8);
  EXPECT_EQ(shape.getRowLength(), 3);
  EXPECT_EQ(shape.getCoords(5, 2), (RowDims{1, 2, 1, 0, 0}));
}

// Softmax over the middle dimension is compared with sums written out.
TEST(RowWiseReference, Softmax) {
  RowShape shape{.operation = "softmax_fwd",
                 .mode = 1,
                 .rank = 3,
                 .lengths = {2, 3, 2, 1, 1},
                 .reduced = 0b010};
  const float x[12] = {0, 1, 2, -1, 1, 3, 0, 0, 5, 0, 0, 0};
  float y[12];
  const RowDims packed = getPacked(shape);
  shape.tensors = {{ElementType::F32, RowRole::Input, packed, x},
                   {ElementType::F32, RowRole::Output, packed, y}};
  shape.scalars = {2, 0};
  for (int n = 0; n < 2; ++n)
    for (int w = 0; w < 2; ++w) {
      double sum = 0;
      for (int c = 0; c < 3; ++c)
        sum += std::exp(x[n * 6 + c * 2 + w]);
      for (int c = 0; c < 3; ++c)
        y[n * 6 + c * 2 + w] =
            static_cast<float>(2 * std::exp(x[n * 6 + c * 2 + w]) / sum);
    }
  const std::vector<RowExpected> expected = evaluateRows(shape);
  EXPECT_EQ(compareRows(shape, expected), "");
  // Any element with a relative error of 2^-12 is found, and so is a NaN.
  for (float &element : y) {
    const float right = element;
    element *= 1 + 0x1p-12f;
    EXPECT_NE(compareRows(shape, expected), "");
    element = NAN;
    EXPECT_NE(compareRows(shape, expected), "");
    element = right;
  }
  // Some of the rows can be requested.
  y[0] = 0; // in row 0
  const std::vector<int64_t> rows{1, 3};
  EXPECT_EQ(compareRows(shape, evaluateRows(shape, rows), rows), "");
  EXPECT_NE(compareRows(shape, evaluateRows(shape, {0, 1}), {0, 1}), "");
}

// Batch norm with parameters for each channel and an activation.
TEST(RowWiseReference, BatchNormInference) {
  RowShape shape{.operation = "bnorm_infer",
                 .mode = 3, // ReLU
                 .rank = 2,
                 .lengths = {2, 2, 1, 1, 1}};
  const float x[4] = {1, 2, 3, 4}, mean[2] = {2, 1},
              variance[2] = {3.9f, 0.15f};
  const float scale[2] = {2, 3}, bias[2] = {-0.5f, 1};
  float y[4] = {0, 7, 0.5, 19};
  const RowDims packed{2, 1}, channel{0, 1};
  for (const float *data : {x, mean, variance, scale, bias})
    shape.tensors.push_back(
        {ElementType::F32, RowRole::Input, data == x ? packed : channel, data});
  shape.tensors.push_back({ElementType::F32, RowRole::Output, packed, y});
  shape.scalars = {0.1, 0, 0, 0};
  EXPECT_EQ(compareRows(shape, evaluateRows(shape)), "");
  y[0] = -1.5f; // the value without the activation
  EXPECT_NE(compareRows(shape, evaluateRows(shape)), "");
}

// The errors that formulas accumulate stay near those of f32 arithmetic.
TEST(RowWiseReference, ToleranceFollowsTheFormula) {
  float worst = 0;
  double most = 0;
  for (int i = 1; i < 100; ++i) {
    const float a = 0.37f * static_cast<float>(i), b = 1.0f / 3.0f;
    const float found = (a + b) * (a - b) / b;
    const Approx expected = (Approx(a) + b) * (Approx(a) - b) / Approx(b);
    worst =
        std::max(worst, static_cast<float>(std::fabs(found - expected.value) /
                                           expected.getMagnitude()));
    most = std::max(most, expected.error * 0x1p-24 / expected.getMagnitude());
    EXPECT_LE(std::fabs(found - expected.value), expected.error * 0x1p-24);
  }
  EXPECT_GT(worst, 0);
  EXPECT_LT(most, 20 * 0x1p-24);
}

// A sum's tolerance grows with the root of its length, that of moments with the
// size of the mean.
TEST(RowWiseReference, SumsAndMoments) {
  ApproxSum sum;
  for (int i = 0; i < 100; ++i)
    sum.add(i % 2 ? 1.0 : -1.0);
  EXPECT_EQ(sum.get().value, 0);
  EXPECT_EQ(sum.get().error, 4 * 10 * 100);
  auto getMoments = [](double offset) {
    return ApproxMoments::of(4, [&](int64_t i) { return offset + i; });
  };
  EXPECT_EQ(getMoments(1000).mean.value, 1001.5);
  EXPECT_EQ(getMoments(1000).squares.value, 5);
  EXPECT_GT(getMoments(1000).squares.error, 50 * getMoments(0).squares.error);
}

// Where a kernel may see the other sign, either branch is right.
TEST(RowWiseReference, AmbiguousSigns) {
  EXPECT_EQ(selectPositive(Approx(1, 1), 5, 7).error, 0);
  const Approx near = selectPositive(Approx(0x1p-25, 1), 5, 7);
  EXPECT_EQ(near.value, 5);
  EXPECT_GE(near.value + near.error * 0x1p-24, 7);
}

// A NaN that the formula gives must be found, but not the one that poisons
// outputs before a kernel runs.
TEST(RowWiseReference, TellsNanFromPoison) {
  RowShape shape{.operation = "activ_fwd"};
  const float x = NAN;
  float y = NAN;
  shape.tensors = {{ElementType::F32, RowRole::Input, {1}, &x},
                   {ElementType::F32, RowRole::Output, {1}, &y}};
  shape.scalars = {0, 0, 0};
  EXPECT_EQ(compareRows(shape, evaluateRows(shape)), "");
  std::memset(&y, 0xff, sizeof(y));
  EXPECT_NE(compareRows(shape, evaluateRows(shape)), "");
}

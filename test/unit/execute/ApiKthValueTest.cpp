//===- ApiKthValueTest.cpp - The k-th smallest element on a device --------===//

#include "test/unit/execute/ApiRowWiseFixture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

using namespace tessera;
using namespace tessera::test;

namespace {
class ApiKthValue : public ApiRowWise {
protected:
  miopenStatus_t run(const ApiTensor &x, const ApiTensor &y,
                     const ApiTensor &indices, size_t k, int dim,
                     bool keepDim) {
    return miopenKthvalueForward(handle, x.getDesc(), x.getData(), y.getDesc(),
                                 y.getData(), indices.getDesc(),
                                 static_cast<size_t *>(indices.getData()), k,
                                 dim, keepDim);
  }
  /// Sorts each row of `x` along `dim` and compares.
  void check(const ApiTensor &x, size_t k, int dim, bool keepDim);
};
} // namespace

void ApiKthValue::check(const ApiTensor &x, size_t k, int dim, bool keepDim) {
  SCOPED_TRACE(testing::Message() << "k " << k << " dim " << dim);
  const std::vector<int> lengths = x.getLengths();
  const int rank = static_cast<int>(lengths.size());
  std::vector<int> kept = lengths, rows = lengths;
  kept[dim] = 1;
  if (!keepDim)
    kept.erase(kept.begin() + dim);
  rows[dim] = 1;
  const int count =
      std::accumulate(rows.begin(), rows.end(), 1, std::multiplies<int>());
  const miopenDataType_t type =
      x.getType() == reference::ElementType::F16    ? miopenHalf
      : x.getType() == reference::ElementType::BF16 ? miopenBFloat16
                                                    : miopenFloat;
  ApiTensor y(type, kept), indices(miopenInt64, kept);
  y.poison();
  indices.poison();
  ASSERT_OK(run(x, y, indices, k, keepDim ? dim : dim - rank, keepDim));
  const auto operand = x.getOperand(reference::RowRole::Input, x.getHost());
  const std::vector<char> values = y.read(), found = indices.read();
  for (int row = 0; row < count; ++row) {
    reference::RowDims at{};
    for (int i = rank - 1, rest = row; i >= 0; --i) {
      at[i] = rest % rows[i];
      rest /= rows[i];
    }
    std::vector<double> sorted;
    for (int i = 0; i < lengths[dim]; ++i) {
      at[dim] = i;
      sorted.push_back(reference::loadElement(operand.type, x.getHost().data(),
                                              operand.getOffset(at)));
    }
    const std::vector<double> elements = sorted;
    std::sort(sorted.begin(), sorted.end(), [](double a, double b) {
      return std::isnan(b) ? !std::isnan(a) : a < b;
    });
    const double expected = sorted[k - 1];
    const double value =
        reference::loadElement(y.getType(), values.data(), row);
    int64_t index;
    memcpy(&index, &found[static_cast<size_t>(row) * 8], 8);
    ASSERT_EQ(std::isnan(value), std::isnan(expected)) << "row " << row;
    if (!std::isnan(expected)) {
      ASSERT_EQ(value, expected) << "row " << row;
    }
    ASSERT_GE(index, 0);
    ASSERT_LT(index, lengths[dim]);
    // The first element of several equal ones.
    const auto first =
        std::find_if(elements.begin(), elements.end(), [&](double element) {
          return std::isnan(expected) ? std::isnan(element)
                                      : element == expected;
        });
    ASSERT_EQ(index, first - elements.begin()) << "row " << row;
  }
}

// Each dimension, the first, a middle and the last element, in all types, with
// equal elements, since f16 and bf16 have few values, and other strides.
TEST_F(ApiKthValue, MatchesSorting) {
  for (miopenDataType_t type : {miopenFloat, miopenHalf, miopenBFloat16})
    for (int dim = 0; dim < 3; ++dim) {
      const std::vector<int> lengths = {5, 37, 11};
      ApiTensor x(type, lengths,
                  dim == 1 ? getChannelsLast(lengths) : std::vector<int>());
      for (int k : {1, (lengths[dim] + 1) / 2, lengths[dim]})
        check(x, static_cast<size_t>(k), dim, dim == 2);
    }
  ApiTensor row(miopenFloat, {1, 5000}), one(miopenFloat, {7, 1});
  check(row, 1234, 1, true);
  check(one, 1, 1, false);
}

// NaNs are the largest, infinities the ends, and both zeros are the same.
TEST_F(ApiKthValue, Specials) {
  ApiTensor x(miopenFloat, {2, 8});
  const float values[] = {
      0.0f, -0.0f, NAN, INFINITY, -INFINITY, 1e-40f, -1e-40f,   -NAN,
      3,    3,     3,   -0.0f,    0.0f,      -2,     -INFINITY, NAN};
  std::vector<char> bytes(sizeof values);
  memcpy(bytes.data(), values, sizeof values);
  x.setBytes(bytes);
  for (size_t k = 1; k <= 8; ++k)
    check(x, k, 1, false);
}

TEST_F(ApiKthValue, Refusals) {
  ApiTensor x(miopenFloat, {4, 5}), y(miopenFloat, {4}), z(miopenFloat, {5});
  ApiTensor indices(miopenInt64, {4}), words(miopenInt32, {4});
  EXPECT_EQ(run(x, y, indices, 0, 1, false), miopenStatusBadParm);
  EXPECT_EQ(run(x, y, indices, 6, 1, false), miopenStatusBadParm);
  EXPECT_STREQ(tesseraGetLastErrorMessage(),
               "miopenKthvalueForward: k is 6, not 1 to 5");
  EXPECT_EQ(run(x, y, indices, 1, 2, false), miopenStatusBadParm);
  EXPECT_EQ(run(x, z, indices, 1, 1, false), miopenStatusBadParm);
  EXPECT_EQ(run(x, y, indices, 1, 1, true), miopenStatusBadParm);
  EXPECT_EQ(run(x, y, words, 1, 1, false), miopenStatusBadParm);
  ApiTensor doubles(miopenDouble, {4, 5}), result(miopenDouble, {4});
  EXPECT_EQ(run(doubles, result, indices, 1, 1, false),
            miopenStatusNotImplemented);
  EXPECT_NE(std::string(tesseraGetLastErrorMessage())
                .find("the k-th value of f64 is not implemented"),
            std::string::npos);
}

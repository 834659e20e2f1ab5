//===- ApiTensorOperationsTest.cpp - Tensor operations on a device --------===//

#include "test/unit/execute/ApiRowWiseFixture.h"

#include <cstring>

using namespace tessera::test;

static const float kOne = 1, kZero = 0;

namespace {
class ApiTensorOperations : public ApiRowWise {
protected:
  miopenStatus_t opTensor(int op, float alpha1, const ApiTensor &a,
                          float alpha2, const ApiTensor &b, float beta,
                          const ApiTensor &c) {
    return miopenOpTensor(handle, static_cast<miopenTensorOp_t>(op), &alpha1,
                          a.getDesc(), a.getData(), &alpha2, b.getDesc(),
                          b.getData(), &beta, c.getDesc(), c.getData());
  }
  miopenStatus_t transform(float alpha, const ApiTensor &x, float beta,
                           const ApiTensor &y) {
    return miopenTransformTensor(handle, &alpha, x.getDesc(), x.getData(),
                                 &beta, y.getDesc(), y.getData());
  }
};
} // namespace

// Tests the four operations in all types, with and without the old result.
// Without it the result is poisoned first, so that reading it would show.
TEST_F(ApiTensorOperations, OpTensor) {
  const std::vector<int> lengths = {2, 3, 5, 7};
  for (miopenDataType_t type :
       {miopenFloat, miopenHalf, miopenBFloat16, miopenInt32, miopenInt8})
    for (int op = 0; op <= miopenTensorOpMax; ++op)
      for (float beta : {0.0f, -0.75f}) {
        ApiTensor a(type, lengths, {}, -9, 9), b(type, lengths, {}, -9, 9);
        ApiTensor c(type, lengths, {}, -9, 9);
        std::vector<const ApiTensor *> inputs = {&a, &b};
        if (beta == 0)
          c.poison();
        else
          inputs.push_back(&c);
        ASSERT_OK(opTensor(op, 1.5f, a, -0.5f, b, beta, c));
        expectRight("op_tensor", op, inputs, {&c}, {1.5, -0.5, beta});
      }
}

// Doubles have alpha and beta of their own type.
TEST_F(ApiTensorOperations, OpTensorOfDoubles) {
  const double alpha1 = 0.1, alpha2 = 1 / 3.0, beta = 0;
  ApiTensor a(miopenDouble, {7, 9}), b(miopenDouble, {7, 9});
  ApiTensor c(miopenDouble, {7, 9});
  c.poison();
  ASSERT_OK(miopenOpTensor(handle, miopenTensorOpAdd, &alpha1, a.getDesc(),
                           a.getData(), &alpha2, b.getDesc(), b.getData(),
                           &beta, c.getDesc(), c.getData()));
  expectRight("op_tensor", 0, {&a, &b}, {&c}, {alpha1, alpha2});
}

// Broadcasts B along every set of dimensions, in both layouts.
TEST_F(ApiTensorOperations, Broadcast) {
  const std::vector<int> lengths = {2, 3, 5, 6};
  for (unsigned ones = 1; ones < 16; ++ones)
    for (bool isLast : {false, true}) {
      std::vector<int> small = lengths;
      for (unsigned dim = 0; dim < 4; ++dim)
        if (ones >> dim & 1)
          small[dim] = 1;
      const std::vector<int> strides =
          isLast ? getChannelsLast(lengths) : std::vector<int>();
      ApiTensor a(miopenHalf, lengths, strides), b(miopenHalf, small);
      ApiTensor c(miopenHalf, lengths, strides);
      c.poison();
      ASSERT_OK(opTensor(miopenTensorOpAdd, 1, a, 1, b, 0, c));
      expectRight("op_tensor", 0, {&a, &b}, {&c}, {1, 1});
    }
}

// C may overwrite A, or A and B; tensors may have gaps and 1 to 5 dimensions.
TEST_F(ApiTensorOperations, InPlaceAndStrided) {
  ApiTensor a(miopenFloat, {4, 5, 6}, {50, 8, 1}), b(miopenFloat, {4, 5, 6});
  ASSERT_OK(opTensor(miopenTensorOpAdd, 1, a, 1, b, 0, a));
  expectRight("op_tensor", 0, {&a, &b}, {&a}, {1, 1});
  ApiTensor all(miopenFloat, {33});
  ASSERT_OK(opTensor(miopenTensorOpMul, 1, all, 1, all, 0, all));
  expectRight("op_tensor", 1, {&all, &all}, {&all}, {1, 1});
  ApiTensor deep(miopenHalf, {2, 3, 2, 3, 2}), one(miopenHalf, {1, 3, 1, 1, 1});
  ASSERT_OK(opTensor(miopenTensorOpMax, 1, deep, 1, one, 0, deep));
  expectRight("op_tensor", 3, {&deep, &one}, {&deep}, {1, 1});
}

// A result may not overwrite an operand whose elements are read in another
// order: some would be read after they were written.
TEST_F(ApiTensorOperations, OpTensorRefusals) {
  ApiTensor a(miopenFloat, {4, 4}), b(miopenFloat, {4, 1});
  ApiTensor transposed(miopenFloat, {4, 4}, {1, 4}), half(miopenHalf, {4, 4});
  EXPECT_EQ(opTensor(0, 1, a, 1, b, 0, b), miopenStatusBadParm);
  EXPECT_EQ(opTensor(4, 1, a, 1, b, 0, a), miopenStatusBadParm);
  EXPECT_EQ(opTensor(0, 1, a, 1, half, 0, a), miopenStatusBadParm);
  ApiTensor wrong(miopenFloat, {4, 2});
  EXPECT_EQ(opTensor(0, 1, a, 1, wrong, 0, a), miopenStatusBadParm);
  EXPECT_STREQ(tesseraGetLastErrorMessage(),
               "miopenOpTensor: length 1 of B is 2, but must be 4");
  EXPECT_EQ(miopenOpTensor(handle, miopenTensorOpAdd, &kOne, a.getDesc(),
                           a.getData(), &kOne, a.getDesc(), a.getData(), &kZero,
                           transposed.getDesc(), a.getData()),
            miopenStatusBadParm);
}

/// Returns the address of a number, for parameters that point to one of the
/// tensor's type.
template <typename T>
static const void *at(const T &value) {
  return &value;
}

// Set takes a number of the tensor's own type and leaves gaps as they are: they
// hold 0xff bytes, and the comparison reads the whole span of the tensor.
TEST_F(ApiTensorOperations, Set) {
  const std::vector<int> lengths = {2, 3, 5}, strides = {40, 12, 2};
  auto check = [&](miopenDataType_t type, const void *number, double expected) {
    ApiTensor y(type, lengths, strides), wanted(type, lengths, strides);
    wanted.fill(expected);
    ASSERT_OK(miopenSetTensor(handle, y.getDesc(), y.getData(), number));
    EXPECT_EQ(y.read(), wanted.getHost()) << type;
  };
  check(miopenFloat, at(-1.375f), -1.375);
  check(miopenDouble, at(0.1), 0.1);
  check(miopenHalf, at(static_cast<_Float16>(2.5f)), 2.5);
  check(miopenBFloat16, at<uint16_t>(0x3fc0), 1.5);
  check(miopenInt8, at<int8_t>(-100), -100);
  check(miopenInt32, at<int32_t>(-2147483647), -2147483647.0);
  check(miopenInt32, at<int32_t>(0x12345678), 0x12345678);
  check(miopenInt64, at<int64_t>(-(int64_t(1) << 52) + 1), -0x1p52 + 1);
}

// Scale supports the types that MIOpen scales, and refuses others.
TEST_F(ApiTensorOperations, Scale) {
  const std::vector<int> lengths = {3, 4, 5, 3}, strides = {100, 20, 4, 1};
  auto check = [&](miopenDataType_t type, const void *number, double factor) {
    ApiTensor y(type, lengths, strides, -50, 50);
    ASSERT_OK(miopenScaleTensor(handle, y.getDesc(), y.getData(), number));
    expectRight("scale", 0, {&y}, {&y}, {factor});
  };
  check(miopenFloat, at(-1.375f), -1.375);
  check(miopenDouble, at(0.1), 0.1);
  check(miopenHalf, at(static_cast<_Float16>(2.5f)), 2.5);
  check(miopenBFloat16, at<uint16_t>(0x3fc0), 1.5);
  check(miopenInt32, at<int32_t>(12345), 12345);
  ApiTensor bytes(miopenInt8, {4});
  EXPECT_EQ(
      miopenScaleTensor(handle, bytes.getDesc(), bytes.getData(), at(1.0f)),
      miopenStatusBadParm);
}

// Transform changes the layout and applies alpha and beta, also with more
// dimensions.
TEST_F(ApiTensorOperations, Transform) {
  const std::vector<int> lengths = {2, 7, 5, 3};
  for (miopenDataType_t type : {miopenFloat, miopenHalf, miopenBFloat16})
    for (float alpha : {1.0f, 0.5f})
      for (float beta : {0.0f, 0.25f}) {
        ApiTensor x(type, lengths), y(type, lengths, getChannelsLast(lengths));
        const bool isCopy = alpha == 1 && beta == 0;
        std::vector<const ApiTensor *> inputs = {&x};
        if (beta == 0)
          y.poison();
        else
          inputs.push_back(&y);
        ASSERT_OK(transform(alpha, x, beta, y));
        expectRight("transform", !isCopy, inputs, {&y}, {alpha, beta});
      }
  const std::vector<int> deep = {2, 3, 4, 5, 6};
  ApiTensor x(miopenHalf, deep, getChannelsLast(deep)), y(miopenHalf, deep);
  ASSERT_OK(transform(1, x, 0, y));
  expectRight("transform", 0, {&x}, {&y}, {});
}

// Every type is converted to every other one: rounded to the nearest, ties to
// even, and clamped to the range of the result.
TEST_F(ApiTensorOperations, Convert) {
  const miopenDataType_t types[] = {miopenFloat, miopenHalf,  miopenBFloat16,
                                    miopenInt8,  miopenInt32, miopenInt64};
  for (miopenDataType_t from : types)
    for (miopenDataType_t to : types) {
      // A conversion between integers drops the upper bits instead of clamping.
      const double most = to == miopenInt8 && from == miopenInt32 ? 100 : 300;
      ApiTensor x(from, {5, 41}, {}, -most, most), y(to, {5, 41});
      if (to == miopenInt8 && from == miopenInt64)
        x.fill(-77);
      y.poison();
      ASSERT_OK(transform(1, x, 0, y));
      expectRight("transform", 0, {&x}, {&y}, {});
    }
}

// As MIOpen documents, channels of bytes are filled up with zeros to a multiple
// of four, or cut from such a multiple, between any layouts. The loop knows
// nothing of launches.
TEST_F(ApiTensorOperations, PadsAndCutsChannels) {
  for (auto [from, to] : {std::pair(3, 4), std::pair(5, 8), std::pair(8, 5)})
    for (bool isLast : {false, true}) {
      const std::vector<int> in = {2, from, 3, 5}, out = {2, to, 3, 5};
      ApiTensor x(miopenInt8, in, {}, -128, 127);
      ApiTensor y(miopenInt8, out,
                  isLast ? getChannelsLast(out) : std::vector<int>());
      y.poison();
      ASSERT_OK(transform(1, x, 0, y));
      const std::vector<char> result = y.read();
      for (int n = 0; n < 2; ++n)
        for (int c = 0; c < to; ++c)
          for (int i = 0; i < 15; ++i) {
            const int at =
                isLast ? (n * 15 + i) * to + c : (n * to + c) * 15 + i;
            const int expected =
                c < from ? x.getHost()[(n * from + c) * 15 + i] : 0;
            ASSERT_EQ(result[at], expected) << n << " " << c << " " << i;
          }
    }
  ApiTensor three(miopenInt8, {2, 3, 3, 5}), eight(miopenInt8, {2, 8, 3, 5});
  ApiTensor five(miopenInt8, {2, 5, 3, 5}), four(miopenInt8, {2, 4, 3, 5});
  EXPECT_EQ(transform(1, three, 0, eight), miopenStatusBadParm);
  EXPECT_EQ(transform(1, five, 0, four), miopenStatusBadParm);
  EXPECT_STREQ(tesseraGetLastErrorMessage(),
               "miopenTransformTensor: x has 5 channels, which are no multiple "
               "of 4, and y fewer");
  EXPECT_EQ(transform(2, three, 0, four), miopenStatusNotImplemented);
}

// Concatenates strided tensors along each dimension.
TEST_F(ApiTensorOperations, Cat) {
  for (int dim = 0; dim < 3; ++dim) {
    std::vector<int> lengths = {3, 4, 5}, sum = lengths;
    sum[dim] = 2 + 3 + 1;
    std::vector<std::unique_ptr<ApiTensor>> splits;
    std::vector<miopenTensorDescriptor_t> descs;
    std::vector<const void *> data;
    for (int length : {2, 3, 1}) {
      lengths[dim] = length;
      splits.push_back(std::make_unique<ApiTensor>(
          miopenHalf, lengths, std::vector<int>{90, 12, 2}));
      descs.push_back(splits.back()->getDesc());
      data.push_back(splits.back()->getData());
    }
    ApiTensor y(miopenHalf, sum);
    y.poison();
    ASSERT_OK(miopenCatForward(handle, 3, descs.data(), data.data(),
                               y.getDesc(), y.getData(), dim));
    const std::vector<char> result = y.read();
    int begin = 0;
    for (const auto &part : splits) {
      const std::vector<int> &size = part->getLengths();
      for (int i = 0; i < size[0]; ++i)
        for (int j = 0; j < size[1]; ++j)
          for (int k = 0; k < size[2]; ++k) {
            int at[] = {i, j, k};
            at[dim] += begin;
            const size_t to = (at[0] * sum[1] + at[1]) * sum[2] + at[2];
            const size_t from = i * 90 + j * 12 + k * 2;
            EXPECT_EQ(memcmp(&result[2 * to], &part->getHost()[2 * from], 2), 0)
                << dim << ": " << i << " " << j << " " << k;
          }
      begin += size[dim];
    }
    EXPECT_EQ(miopenCatForward(handle, 2, descs.data(), data.data(),
                               y.getDesc(), y.getData(), dim),
              miopenStatusBadParm);
  }
}

// The bias adds a number for each channel, in both layouts.
TEST_F(ApiTensorOperations, ConvolutionBias) {
  const std::vector<int> lengths = {2, 7, 5, 3};
  for (bool isLast : {false, true}) {
    ApiTensor y(miopenHalf, lengths,
                isLast ? getChannelsLast(lengths) : std::vector<int>());
    ApiTensor b(miopenHalf, {1, 7, 1, 1});
    ASSERT_OK(miopenConvolutionForwardBias(handle, &kOne, b.getDesc(),
                                           b.getData(), &kZero, y.getDesc(),
                                           y.getData()));
    expectRight("op_tensor", 0, {&y, &b}, {&y}, {1, 1});
  }
}

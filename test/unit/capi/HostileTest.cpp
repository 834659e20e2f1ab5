//===- HostileTest.cpp - Numbers at the edge of what fits -----------------===//
//
// Each test is a call that could overflow, run for ever or leave its array.
// Reading and the fuzzer have found them, and the sanitizers check them.
//
//===----------------------------------------------------------------------===//

#define MIOPEN_BETA_API 1
#include "test/unit/capi/Descriptors.h"
#include "test/unit/capi/FakeEngine.h"

#include <cstdint>
#include <limits>

using namespace tessera;
using namespace tessera::test;

namespace {
class Hostile : public FakeEngineTest {
protected:
  void SetUp() override {
    FakeEngineTest::SetUp();
    ASSERT_EQ(miopenCreate(&handle), miopenStatusSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(miopenDestroy(handle), miopenStatusSuccess);
    FakeEngineTest::TearDown();
  }

  miopenHandle_t handle = nullptr;
  float memory[4] = {};
};
} // namespace

static miopenStatus_t set(miopenTensorDescriptor_t tensor,
                          const std::vector<size_t> &lengths,
                          const std::vector<size_t> &strides = {},
                          miopenDataType_t type = miopenInt8) {
  return miopenSetTensorDescriptorV2(
      tensor, type, static_cast<int>(lengths.size()), lengths.data(),
      strides.empty() ? nullptr : strides.data());
}

// A tensor whose elements share memory spans little of it, but its number of
// elements must not overflow.
TEST_F(Hostile, OverlappingTensorMustFitWhenPacked) {
  const TensorDesc tensor;
  const size_t large = size_t(1) << 31;
  EXPECT_EQ(set(tensor, {large, large, large}, {1, 1, 1}), miopenStatusBadParm);
  EXPECT_EQ(set(tensor, {large, large}, {1, 1}), miopenStatusSuccess);
}

// The last slice of a concatenation begins inside y, however large the strides
// are.
TEST_F(Hostile, ConcatenationStaysInside) {
  const TensorDesc y, half, whole;
  const size_t large = size_t(1) << 62;
  ASSERT_EQ(set(whole, {large}), miopenStatusSuccess);
  ASSERT_EQ(set(half, {large / 2}), miopenStatusSuccess);
  ASSERT_EQ(set(y, {large}), miopenStatusSuccess);
  const miopenTensorDescriptor_t tooLong[] = {whole, whole};
  const void *xs[] = {memory, memory + 1};
  EXPECT_EQ(miopenCatForward(handle, 2, tooLong, xs, y, memory, 0),
            miopenStatusBadParm);
  ASSERT_EQ(set(y, {1}, {large}), miopenStatusSuccess);
  ASSERT_EQ(set(half, {1}, {large}), miopenStatusSuccess);
  const miopenTensorDescriptor_t one[] = {half};
  EXPECT_EQ(miopenCatForward(handle, 1, one, xs, y, memory + 2, 0),
            miopenStatusSuccess);
}

// The size of indices of eight bytes can overflow where that of elements of one
// byte does not.
TEST_F(Hostile, IndicesMustFit) {
  const TensorDesc y;
  ASSERT_EQ(set(y, {1, 1, size_t(1) << 61, 1}), miopenStatusSuccess);
  miopenPoolingDescriptor_t pool;
  ASSERT_EQ(miopenCreatePoolingDescriptor(&pool), miopenStatusSuccess);
  ASSERT_EQ(miopenSetPoolingIndexType(pool, miopenIndexUint64),
            miopenStatusSuccess);
  size_t bytes = 0;
  EXPECT_EQ(miopenPoolingGetWorkSpaceSizeV2(pool, y, &bytes),
            miopenStatusBadParm);
  EXPECT_EQ(miopenDestroyPoolingDescriptor(pool), miopenStatusSuccess);
}

// A window as long as a dimension would need a kernel for each position.
TEST_F(Hostile, WideWindowsAreNotImplemented) {
  const TensorDesc x;
  ASSERT_EQ(set(x, {1, size_t(1) << 60, 1, 1}, {}, miopenHalf),
            miopenStatusSuccess);
  miopenLRNDescriptor_t lrn;
  ASSERT_EQ(miopenCreateLRNDescriptor(&lrn), miopenStatusSuccess);
  for (unsigned window : {65u, std::numeric_limits<unsigned>::max()}) {
    ASSERT_EQ(
        miopenSetLRNDescriptor(lrn, miopenLRNCrossChannel, window, 1, 1, 1),
        miopenStatusSuccess);
    EXPECT_EQ(miopenLRNForward(handle, lrn, memory, x, memory, memory, x,
                               memory + 1, false, nullptr),
              miopenStatusNotImplemented);
  }
  // With a narrow window, it is the problem that refuses such a length.
  ASSERT_EQ(miopenSetLRNDescriptor(lrn, miopenLRNCrossChannel, 5, 1, 1, 1),
            miopenStatusSuccess);
  EXPECT_EQ(miopenLRNForward(handle, lrn, memory, x, memory, memory, x,
                             memory + 1, false, nullptr),
            miopenStatusBadParm);
  EXPECT_EQ(miopenDestroyLRNDescriptor(lrn), miopenStatusSuccess);
}

// A number of groups that does not fit in 63 bits does not divide the channels.
TEST_F(Hostile, GroupsMustDivide) {
  const TensorDesc x(miopenTensorNCHW, {1, 4, 2, 2});
  for (uint64_t groups : {uint64_t(0), uint64_t(3), UINT64_MAX})
    EXPECT_EQ(miopenGroupNormForward(handle, MIOPEN_ELEMENTWISE_AFFINE, x,
                                     memory, nullptr, nullptr, nullptr, nullptr,
                                     groups, 1e-5f, x, memory, nullptr, nullptr,
                                     nullptr, nullptr),
              miopenStatusBadParm);
  const TensorDesc wide;
  ASSERT_EQ(set(wide, {1, 2}, {1, size_t(1) << 61}, miopenHalf),
            miopenStatusSuccess);
  EXPECT_EQ(miopenGroupNormForward(handle, MIOPEN_ELEMENTWISE_AFFINE, wide,
                                   memory, nullptr, nullptr, nullptr, nullptr,
                                   1, 1e-5f, wide, memory, nullptr, nullptr,
                                   nullptr, nullptr),
            miopenStatusSuccess);
}

// A tensor that is read as packed must have as many elements as are read.
TEST_F(Hostile, GroupParametersMustFit) {
  const TensorDesc x(miopenTensorNCHW, {2, 4, 2, 2});
  const TensorDesc four(miopenTensorNCHW, {1, 4, 1, 1});
  const TensorDesc two(miopenTensorNCHW, {1, 2, 1, 1});
  auto run = [&](miopenTensorDescriptor_t weight,
                 miopenTensorDescriptor_t mean) {
    return miopenGroupNormForward(handle, MIOPEN_WEIGHT_BIAS, x, memory, weight,
                                  memory, four, memory, 2, 1e-5f, x, memory + 1,
                                  mean, memory + 2, nullptr, nullptr);
  };
  EXPECT_EQ(run(four, four), miopenStatusSuccess);
  EXPECT_EQ(run(two, four), miopenStatusBadParm);
  EXPECT_EQ(run(four, two), miopenStatusBadParm);
}

// A tensor without dimensions has no last dimension to normalise.
TEST_F(Hostile, UnsetTensorHasNoRows) {
  const TensorDesc unset;
  EXPECT_EQ(miopenT5LayerNormBackward(handle, MIOPEN_ELEMENTWISE_AFFINE_T5,
                                      nullptr, 0, unset, memory, unset, memory,
                                      nullptr, nullptr, unset, memory, unset,
                                      memory, nullptr, nullptr),
            miopenStatusBadParm);
}

// More index tensors than a tensor has dimensions are refused before the array
// is read, which has as many as the client says or fewer.
TEST_F(Hostile, CountsOfIndexTensorsAreJudgedFirst) {
  TensorDesc index, dx;
  ASSERT_EQ(set(index, {4}, {}, miopenInt32), miopenStatusSuccess);
  ASSERT_EQ(set(dx, {4}, {}, miopenFloat), miopenStatusSuccess);
  const miopenTensorDescriptor_t array[] = {index};
  const void *const data[] = {memory};
  const int32_t dims[] = {0};
  size_t bytes = 1;
  EXPECT_EQ(miopenGetGetitemWorkspaceSize(handle, UINT32_MAX, array, &bytes),
            miopenStatusBadParm);
  EXPECT_EQ(bytes, 1u);
  EXPECT_EQ(miopenGetitemBackward(handle, nullptr, 0, dx, memory, UINT32_MAX,
                                  array, data, dx, memory, index, memory, 1,
                                  dims, 0, nullptr, 0),
            miopenStatusBadParm);
}

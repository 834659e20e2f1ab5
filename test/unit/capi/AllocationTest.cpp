//===- AllocationTest.cpp - An execution touches no heap ------------------===//
//
// A launch costs a few microseconds, and frameworks launch thousands of kernels
// in a row. Therefore the C API may only read descriptors on the way to a
// launch, and not allocate memory.
//
//===----------------------------------------------------------------------===//

#include "test/unit/capi/Descriptors.h"
#include "test/unit/capi/FailingNew.h"
#include "test/unit/capi/FakeEngine.h"

using namespace tessera::test;

namespace {
class Allocation : public FakeEngineTest {};
} // namespace

// Once the kernel is prepared, executing a convolution allocates nothing in the
// C API.
TEST_F(Allocation, ExecutionAllocatesNothing) {
  miopenHandle_t handle;
  ASSERT_EQ(miopenCreate(&handle), miopenStatusSuccess);
  TensorDesc x(miopenTensorNHWC, {1, 4, 8, 8}, miopenHalf);
  TensorDesc w(miopenTensorNHWC, {8, 4, 3, 3}, miopenHalf);
  TensorDesc y(miopenTensorNHWC, {1, 8, 6, 6}, miopenHalf);
  ConvDesc conv;
  int data = 0;
  const float alpha = 1, beta = 0;
  auto execute = [&] {
    return miopenConvolutionForward(handle, &alpha, x, &data, w, &data, conv,
                                    miopenConvolutionFwdAlgoDirect, &beta, y,
                                    &data, nullptr, 0);
  };
  engine->problems.reserve(8);
  engine->launches.reserve(8);
  ASSERT_EQ(execute(), miopenStatusSuccess);
  const int before = countAllocations();
  const miopenStatus_t status = execute();
  const miopenStatus_t streamStatus = miopenSetStream(handle, nullptr);
  const int after = countAllocations();
  EXPECT_EQ(status, miopenStatusSuccess);
  EXPECT_EQ(streamStatus, miopenStatusSuccess);
  EXPECT_EQ(after, before);
  ASSERT_EQ(miopenDestroy(handle), miopenStatusSuccess);
}

// Once the kernel is prepared, executing a pooling allocates nothing either.
TEST_F(Allocation, PoolingAllocatesNothing) {
  miopenHandle_t handle;
  miopenPoolingDescriptor_t pool;
  ASSERT_EQ(miopenCreate(&handle), miopenStatusSuccess);
  ASSERT_EQ(miopenCreatePoolingDescriptor(&pool), miopenStatusSuccess);
  TensorDesc tensor(miopenTensorNHWC, {1, 4, 8, 8}, miopenHalf);
  int data = 0;
  const float alpha = 1, beta = 0;
  auto execute = [&] {
    return miopenPoolingForward(handle, pool, &alpha, tensor, &data, &beta,
                                tensor, &data, true, &data, 256);
  };
  engine->problems.reserve(8);
  engine->launches.reserve(8);
  ASSERT_EQ(execute(), miopenStatusSuccess);
  const int before = countAllocations();
  const miopenStatus_t status = execute();
  const int after = countAllocations();
  EXPECT_EQ(status, miopenStatusSuccess);
  EXPECT_EQ(after, before);
  ASSERT_EQ(miopenDestroyPoolingDescriptor(pool), miopenStatusSuccess);
  ASSERT_EQ(miopenDestroy(handle), miopenStatusSuccess);
}

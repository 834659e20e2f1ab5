//===- StatusTest.cpp - What clients are told of bad input ----------------===//
//
// There is one test for each status that MIOpen's clients rely on; where this
// library differs, the comment says so. Other files test Find 2.0
// (Find2Test.cpp and test/lit/CAPI/find2.c), fusion plans (FusionTest.cpp), a
// process that only compiles (ConvolutionForwardTest.cpp), and alpha and beta
// of the other primitives (with their tests, here and in test/unit/execute). No
// function returns miopenStatusNotInitialized, because the library creates what
// it needs at the first call, and fails with the reason if it cannot;
// FuzzTest.cpp checks that.
//
//===----------------------------------------------------------------------===//

#include "test/unit/capi/Descriptors.h"
#include "test/unit/capi/FailingNew.h"
#include "test/unit/capi/FakeEngine.h"

#include <array>

using namespace tessera;
using namespace tessera::test;

static const float kOne = 1, kZero = 0, kHalf = 0.5f;

namespace {
class StatusTable : public FakeEngineTest {
protected:
  void SetUp() override {
    FakeEngineTest::SetUp();
    ASSERT_EQ(miopenCreate(&handle), miopenStatusSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(miopenDestroy(handle), miopenStatusSuccess);
    FakeEngineTest::TearDown();
  }
  miopenStatus_t find(miopenTensorDescriptor_t xDesc,
                      miopenTensorDescriptor_t wDesc,
                      miopenConvolutionDescriptor_t convDesc,
                      miopenTensorDescriptor_t yDesc, int count = 1,
                      size_t bytes = 0) {
    int found = 0;
    return miopenFindConvolutionForwardAlgorithm(
        handle, xDesc, &memory, wDesc, &memory, convDesc, yDesc, &memory, count,
        &found, &perf, bytes ? &memory : nullptr, bytes, false);
  }
  miopenStatus_t execute(const void *alpha, const void *beta) {
    return miopenConvolutionForward(handle, alpha, x, &memory, w, &memory, conv,
                                    miopenConvolutionFwdAlgoDirect, beta, y,
                                    &memory, nullptr, 0);
  }

  miopenHandle_t handle = nullptr;
  int memory = 0;
  miopenConvAlgoPerf_t perf{};
  TensorDesc x{miopenTensorNCHW, {1, 4, 8, 8}};
  TensorDesc w{miopenTensorNCHW, {8, 4, 3, 3}};
  TensorDesc y{miopenTensorNCHW, {1, 8, 6, 6}};
  ConvDesc conv;
};
} // namespace

// A null handle, descriptor or output pointer is BadParm.
TEST_F(StatusTable, NullIsBadParm) {
  size_t bytes;
  for (miopenStatus_t status :
       {miopenConvolutionForwardGetWorkSpaceSize(nullptr, w, x, conv, y,
                                                 &bytes),
        miopenConvolutionForwardGetWorkSpaceSize(handle, nullptr, x, conv, y,
                                                 &bytes),
        miopenConvolutionForwardGetWorkSpaceSize(handle, w, x, nullptr, y,
                                                 &bytes),
        miopenConvolutionForwardGetWorkSpaceSize(handle, w, x, conv, y,
                                                 nullptr)})
    EXPECT_EQ(status, miopenStatusBadParm);
}

// Lengths and strides below 1, and unknown types and layouts, are BadParm;
// missing lengths are InvalidValue.
TEST_F(StatusTable, Tensors) {
  const TensorDesc desc;
  const int one[] = {1, 1, 1, 1}, zero[] = {1, 0, 1, 1};
  for (miopenStatus_t status :
       {miopenSet4dTensorDescriptor(desc, miopenFloat, 1, 0, 1, 1),
        miopenSetTensorDescriptor(desc, miopenFloat, 4, zero, one),
        miopenSetTensorDescriptor(desc, miopenFloat, 4, one, zero),
        miopenSet4dTensorDescriptor(desc, miopenInt8x4, 1, 1, 1, 1),
        miopenSetNdTensorDescriptorWithLayout(desc, miopenFloat,
                                              miopenTensorNCDHW, one, 4)})
    EXPECT_EQ(status, miopenStatusBadParm);
  EXPECT_EQ(miopenSetTensorDescriptor(desc, miopenFloat, 4, nullptr, nullptr),
            miopenStatusInvalidValue);
  EXPECT_EQ(miopenSetTensorDescriptor(desc, miopenFloat, 0, one, nullptr),
            miopenStatusInvalidValue);
}

// A pad below 0 and a stride or dilation below 1 are BadParm.
TEST_F(StatusTable, Windows) {
  for (std::array<int, 3> window : {std::array{-1, 1, 1}, {0, 0, 1}, {0, 1, 0}})
    EXPECT_EQ(miopenInitConvolutionDescriptor(conv, miopenConvolution, 0,
                                              window[0], 1, window[1], 1,
                                              window[2]),
              miopenStatusBadParm);
}

// Tensors that do not fit each other are BadParm.
TEST_F(StatusTable, TensorsOfAConvolution) {
  const TensorDesc half(miopenTensorNCHW, {8, 4, 3, 3}, miopenHalf);
  const TensorDesc channels(miopenTensorNCHW, {8, 3, 3, 3});
  const TensorDesc outputs(miopenTensorNCHW, {1, 9, 6, 6});
  const TensorDesc line;
  const int lengths[] = {1, 4};
  ASSERT_EQ(miopenSetTensorDescriptor(line, miopenFloat, 2, lengths, nullptr),
            miopenStatusSuccess);
  const ConvDesc threeGroups(0, 1, 1, 3);
  EXPECT_EQ(find(x, half, conv, y), miopenStatusBadParm);
  EXPECT_EQ(find(x, channels, conv, y), miopenStatusBadParm);
  EXPECT_EQ(find(x, w, conv, outputs), miopenStatusBadParm);
  EXPECT_EQ(find(line, w, conv, y), miopenStatusBadParm);
  EXPECT_EQ(find(x, w, threeGroups, y), miopenStatusBadParm);
}

// A request for no results, and null data, are BadParm.
TEST_F(StatusTable, FindArguments) {
  EXPECT_EQ(find(x, w, conv, y, 0), miopenStatusBadParm);
  int found = 0;
  EXPECT_EQ(miopenFindConvolutionForwardAlgorithm(
                handle, x, nullptr, w, &memory, conv, y, &memory, 1, &found,
                &perf, nullptr, 0, false),
            miopenStatusBadParm);
}

// An execution without a Find compiles and runs, where MIOpen returns
// UnknownError.
TEST_F(StatusTable, ExecutionNeedsNoFind) {
  EXPECT_EQ(execute(&kOne, &kZero), miopenStatusSuccess);
}

// Scaling a 2-D convolution works, though MIOpen refuses it; scaling a pooling
// is UnknownError.
TEST_F(StatusTable, Scaling) {
  EXPECT_EQ(execute(&kHalf, &kZero), miopenStatusSuccess);
  EXPECT_EQ(execute(&kOne, &kOne), miopenStatusSuccess);
  miopenPoolingDescriptor_t pool;
  ASSERT_EQ(miopenCreatePoolingDescriptor(&pool), miopenStatusSuccess);
  EXPECT_EQ(miopenPoolingForward(handle, pool, &kHalf, x, &memory, &kZero, x,
                                 &memory, false, nullptr, 0),
            miopenStatusUnknownError);
  EXPECT_EQ(miopenDestroyPoolingDescriptor(pool), miopenStatusSuccess);
}

// An unknown id of a solution is BadParm.
TEST_F(StatusTable, UnknownSolution) {
  EXPECT_EQ(miopenConvolutionForwardCompileSolution(handle, w, x, conv, y, 85),
            miopenStatusBadParm);
}

// Without a kernel, Find and immediate mode are NotImplemented. A workspace
// that is too small is UnknownError for Find and BadParm for an execution.
TEST_F(StatusTable, NoKernel) {
  size_t count = 0;
  engine->kernel.kernel.workspaceBytes = 64;
  EXPECT_EQ(find(x, w, conv, y, 1, 4), miopenStatusUnknownError);
  EXPECT_EQ(execute(&kOne, &kZero), miopenStatusBadParm);
  engine->prepareStatus = notSupported("no kernel");
  EXPECT_EQ(find(x, w, conv, y), miopenStatusNotImplemented);
  EXPECT_EQ(
      miopenConvolutionForwardGetSolutionCount(handle, w, x, conv, y, &count),
      miopenStatusNotImplemented);
}

// Asking for more dimensions than there are, and reading a 3-D convolution as
// 2-D, are UnknownError. Asking for none gives the number.
TEST_F(StatusTable, Dimensions) {
  const int zeros[] = {0, 0, 0}, ones[] = {1, 1, 1};
  int rank = 0;
  std::array<int, 7> numbers;
  miopenConvolutionMode_t mode;
  ASSERT_EQ(miopenInitConvolutionNdDescriptor(conv, 3, zeros, ones, ones,
                                              miopenConvolution),
            miopenStatusSuccess);
  EXPECT_EQ(miopenGetConvolutionNdDescriptor(conv, 4, &rank, numbers.data(),
                                             numbers.data(), numbers.data(),
                                             &mode),
            miopenStatusUnknownError);
  EXPECT_EQ(miopenGetConvolutionDescriptor(
                conv, &mode, &numbers[0], &numbers[1], &numbers[2], &numbers[3],
                &numbers[4], &numbers[5]),
            miopenStatusUnknownError);
  EXPECT_EQ(miopenGetConvolutionNdDescriptor(conv, 0, &rank, nullptr, nullptr,
                                             nullptr, nullptr),
            miopenStatusSuccess);
  EXPECT_EQ(rank, 3);
}

// Out of memory, a failure of the device and one of the compiler have statuses
// of their own.
TEST_F(StatusTable, Failures) {
  engine->prepareStatus = Status(StatusCode::ResourceExhausted, "no memory");
  EXPECT_EQ(execute(&kOne, &kZero), miopenStatusAllocFailed);
  engine->prepareStatus = internalError("the compiler failed");
  EXPECT_EQ(execute(&kOne, &kZero), miopenStatusInternalError);
}

// Host memory that has run out is AllocFailed. The test creates operator
// arguments, because none were destroyed before whose block could be used.
TEST_F(StatusTable, HostMemory) {
  if (!kReplacesNew)
    GTEST_SKIP() << "no allocation fails under the thread sanitizer";
  miopenOperatorArgs_t args = nullptr;
  auto create = [&] {
    const FailingNew failure(0);
    return miopenCreateOperatorArgs(&args);
  };
  EXPECT_EQ(create(), miopenStatusAllocFailed);
  EXPECT_EQ(args, nullptr);
}

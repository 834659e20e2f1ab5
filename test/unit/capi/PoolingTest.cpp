//===- PoolingTest.cpp - Pooling descriptors and calls --------------------===//

#include "test/unit/capi/Descriptors.h"
#include "test/unit/capi/FakeEngine.h"

#include <tessera/tessera.h>

#include <array>
#include <string>

using namespace tessera;
using namespace tessera::test;

static const float kOne = 1, kZero = 0;

/// The message of the last failure, without the name of the function.
static std::string getMessage() {
  const std::string message = tesseraGetLastErrorMessage();
  return message.substr(message.find(": ") + 2);
}

namespace {
/// Owns a pooling descriptor; converts to the handle.
class PoolDesc {
public:
  PoolDesc() { EXPECT_EQ(miopenCreatePoolingDescriptor(&desc), 0); }
  /// The same window, padding and stride in both dimensions.
  PoolDesc(miopenPoolingMode_t mode, int window, int pad, int stride)
      : PoolDesc() {
    EXPECT_EQ(miopenSet2dPoolingDescriptor(desc, mode, window, window, pad, pad,
                                           stride, stride),
              miopenStatusSuccess);
  }
  ~PoolDesc() { EXPECT_EQ(miopenDestroyPoolingDescriptor(desc), 0); }
  PoolDesc(const PoolDesc &) = delete;
  PoolDesc &operator=(const PoolDesc &) = delete;

  operator miopenPoolingDescriptor_t() const { return desc; }

private:
  miopenPoolingDescriptor_t desc = nullptr;
};

/// A handle on a fake engine, and pointers that nothing dereferences.
class Pooling : public FakeEngineTest {
protected:
  void SetUp() override {
    FakeEngineTest::SetUp();
    ASSERT_EQ(miopenCreate(&handle), miopenStatusSuccess);
  }
  void TearDown() override {
    ASSERT_EQ(miopenDestroy(handle), miopenStatusSuccess);
    FakeEngineTest::TearDown();
  }

  miopenStatus_t forward(miopenPoolingDescriptor_t pool, bool doBackward,
                         void *workspace, size_t bytes,
                         const float *alpha = &kOne,
                         const float *beta = &kZero) {
    return miopenPoolingForward(handle, pool, alpha, x, &dataX, beta, y, &dataY,
                                doBackward, workspace, bytes);
  }
  miopenStatus_t backward(miopenPoolingDescriptor_t pool, void *workspace,
                          const float *alpha = &kOne) {
    return miopenPoolingBackward(handle, pool, alpha, y, nullptr, y, &dataY, x,
                                 nullptr, &kZero, x, &dataX, workspace);
  }
  /// The last problem that the engine was asked for.
  const PoolProblem &getProblem() {
    EXPECT_FALSE(engine->problems.empty());
    return *engine->problems.back().getPool();
  }

  miopenHandle_t handle = nullptr;
  TensorDesc x{miopenTensorNCHW, {2, 8, 9, 11}};
  TensorDesc y{miopenTensorNCHW, {2, 8, 5, 6}};
  PoolDesc max{miopenPoolingMax, 3, 1, 2};
  PoolDesc average{miopenPoolingAverage, 3, 1, 2};
  int dataX = 0, dataY = 0, dataWorkspace = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

// A new descriptor has the documented defaults.
TEST(PoolingDescriptor, Defaults) {
  PoolDesc pool;
  miopenPoolingMode_t mode;
  std::array<int, 6> n;
  ASSERT_EQ(miopenGet2dPoolingDescriptor(pool, &mode, &n[0], &n[1], &n[2],
                                         &n[3], &n[4], &n[5]),
            miopenStatusSuccess);
  EXPECT_EQ(mode, miopenPoolingMax);
  EXPECT_EQ(n, (std::array{1, 1, 0, 0, 1, 1}));
}

// A 2-D descriptor reads back as it was set, each number in its argument.
TEST(PoolingDescriptor, SetsAndGets2d) {
  PoolDesc pool;
  ASSERT_EQ(miopenSet2dPoolingDescriptor(pool, miopenPoolingAverageInclusive, 2,
                                         3, 4, 5, 6, 7),
            miopenStatusSuccess);
  miopenPoolingMode_t mode;
  std::array<int, 6> n;
  ASSERT_EQ(miopenGet2dPoolingDescriptor(pool, &mode, &n[0], &n[1], &n[2],
                                         &n[3], &n[4], &n[5]),
            miopenStatusSuccess);
  EXPECT_EQ(mode, miopenPoolingAverageInclusive);
  EXPECT_EQ(n, (std::array{2, 3, 4, 5, 6, 7}));
}

// A 3-D descriptor reads back in part and as a whole, and every output may be
// left out.
TEST(PoolingDescriptor, SetsAndGetsNd) {
  PoolDesc pool;
  const int window[] = {2, 3, 4}, pads[] = {0, 1, 2}, strides[] = {5, 6, 7};
  ASSERT_EQ(miopenSetNdPoolingDescriptor(pool, miopenPoolingAverage, 3, window,
                                         pads, strides),
            miopenStatusSuccess);
  miopenPoolingMode_t mode;
  int rank = 0;
  std::array<int, 3> w{}, p{}, s{};
  ASSERT_EQ(miopenGetNdPoolingDescriptor(pool, 3, &mode, &rank, w.data(),
                                         p.data(), s.data()),
            miopenStatusSuccess);
  EXPECT_EQ(mode, miopenPoolingAverage);
  EXPECT_EQ(rank, 3);
  EXPECT_EQ(w, (std::array{2, 3, 4}));
  EXPECT_EQ(p, (std::array{0, 1, 2}));
  EXPECT_EQ(s, (std::array{5, 6, 7}));
  w = {-1, -1, -1};
  ASSERT_EQ(miopenGetNdPoolingDescriptor(pool, 1, nullptr, nullptr, w.data(),
                                         nullptr, nullptr),
            miopenStatusSuccess);
  EXPECT_EQ(w, (std::array{2, -1, -1}));
}

// Reading a 3-D descriptor as 2-D, or more dimensions than it has, is
// UnknownError, as in MIOpen; a negative count is BadParm.
TEST(PoolingDescriptor, RefusesToAnswer) {
  PoolDesc pool;
  const int ones[] = {1, 1, 1}, zeros[] = {0, 0, 0};
  ASSERT_EQ(miopenSetNdPoolingDescriptor(pool, miopenPoolingMax, 3, ones, zeros,
                                         ones),
            miopenStatusSuccess);
  miopenPoolingMode_t mode;
  int n = 0;
  EXPECT_EQ(miopenGet2dPoolingDescriptor(pool, &mode, &n, &n, &n, &n, &n, &n),
            miopenStatusUnknownError);
  EXPECT_EQ(getMessage(),
            "the pooling has 3 spatial dimensions, but this function is for 2");
  EXPECT_EQ(miopenGetNdPoolingDescriptor(pool, 4, &mode, &n, &n, &n, &n),
            miopenStatusUnknownError);
  EXPECT_EQ(getMessage(), "the pooling has 3 spatial dimensions, not 4");
  EXPECT_EQ(miopenGetNdPoolingDescriptor(pool, -1, &mode, &n, &n, &n, &n),
            miopenStatusBadParm);
  TensorDesc x{miopenTensorNCHW, {1, 1, 4, 4}};
  EXPECT_EQ(miopenGetPoolingForwardOutputDim(pool, x, &n, &n, &n, &n),
            miopenStatusUnknownError);
}

// A number below its minimum, or an unknown enumerator, changes nothing.
TEST(PoolingDescriptor, RefusesBadNumbers) {
  PoolDesc pool{miopenPoolingMax, 3, 1, 2};
  auto set = [&](int mode, int window, int pad, int stride) {
    return miopenSet2dPoolingDescriptor(pool,
                                        static_cast<miopenPoolingMode_t>(mode),
                                        2, window, 0, pad, 1, stride);
  };
  EXPECT_EQ(set(0, 0, 0, 1), miopenStatusBadParm);
  EXPECT_EQ(getMessage(), "window 0 is below 1");
  EXPECT_EQ(set(0, 1, -1, 1), miopenStatusBadParm);
  EXPECT_EQ(getMessage(), "padding -1 is below 0");
  EXPECT_EQ(set(0, 1, 0, 0), miopenStatusBadParm);
  EXPECT_EQ(getMessage(), "stride 0 is below 1");
  EXPECT_EQ(set(3, 1, 0, 1), miopenStatusBadParm);
  EXPECT_EQ(getMessage(), "pooling mode 3 is unknown");
  const int ones[] = {1, 1, 1, 1};
  EXPECT_EQ(
      miopenSetNdPoolingDescriptor(pool, miopenPoolingMax, 4, ones, ones, ones),
      miopenStatusBadParm);
  EXPECT_EQ(getMessage(), "4 spatial dimensions are neither 2 nor 3");
  EXPECT_EQ(miopenSetPoolingIndexType(pool, static_cast<miopenIndexType_t>(4)),
            miopenStatusBadParm);
  EXPECT_EQ(getMessage(), "index type 4 is unknown");
  EXPECT_EQ(miopenSetPoolingWorkSpaceIndexMode(
                pool, static_cast<miopenPoolingWorkspaceIndexMode_t>(2)),
            miopenStatusBadParm);
  EXPECT_EQ(getMessage(), "index mode 2 is unknown");
  miopenPoolingMode_t mode;
  std::array<int, 6> n;
  ASSERT_EQ(miopenGet2dPoolingDescriptor(pool, &mode, &n[0], &n[1], &n[2],
                                         &n[3], &n[4], &n[5]),
            miopenStatusSuccess);
  EXPECT_EQ(n, (std::array{3, 3, 1, 1, 2, 2}));
}

// Index type and mode are kept, and every setter of the window resets them: to
// Mask in two dimensions, to Image in three.
TEST(PoolingDescriptor, IndicesAreResetByTheWindow) {
  PoolDesc pool;
  miopenIndexType_t type;
  miopenPoolingWorkspaceIndexMode_t mode;
  auto read = [&] {
    EXPECT_EQ(miopenGetPoolingIndexType(pool, &type), 0);
    EXPECT_EQ(miopenGetPoolingWorkSpaceIndexMode(pool, &mode), 0);
  };
  read();
  EXPECT_EQ(type, miopenIndexUint8);
  EXPECT_EQ(mode, miopenPoolingWorkspaceIndexMask);
  ASSERT_EQ(miopenSetPoolingIndexType(pool, miopenIndexUint32), 0);
  ASSERT_EQ(miopenSetPoolingWorkSpaceIndexMode(
                pool, miopenPoolingWorkspaceIndexImage),
            0);
  read();
  EXPECT_EQ(type, miopenIndexUint32);
  EXPECT_EQ(mode, miopenPoolingWorkspaceIndexImage);
  const int ones[] = {1, 1, 1}, zeros[] = {0, 0, 0};
  ASSERT_EQ(miopenSetNdPoolingDescriptor(pool, miopenPoolingMax, 2, ones, zeros,
                                         ones),
            0);
  read();
  EXPECT_EQ(type, miopenIndexUint8);
  EXPECT_EQ(mode, miopenPoolingWorkspaceIndexMask);
  ASSERT_EQ(miopenSetNdPoolingDescriptor(pool, miopenPoolingMax, 3, ones, zeros,
                                         ones),
            0);
  read();
  EXPECT_EQ(mode, miopenPoolingWorkspaceIndexImage);
}

// The output lengths are right for a window that fits, for a stride that does
// not divide evenly, and for a window larger than the padded input.
TEST(PoolingDescriptor, OutputLengths) {
  TensorDesc x{miopenTensorNCHW, {2, 3, 7, 4}};
  PoolDesc pool;
  ASSERT_EQ(
      miopenSet2dPoolingDescriptor(pool, miopenPoolingMax, 3, 9, 1, 2, 2, 3),
      0);
  std::array<int, 4> n;
  ASSERT_EQ(
      miopenGetPoolingForwardOutputDim(pool, x, &n[0], &n[1], &n[2], &n[3]),
      miopenStatusSuccess);
  EXPECT_EQ(n, (std::array{2, 3, 4, 1}));
  n = {};
  ASSERT_EQ(miopenGetPoolingNdForwardOutputDim(pool, x, 4, n.data()),
            miopenStatusSuccess);
  EXPECT_EQ(n, (std::array{2, 3, 4, 1}));
  EXPECT_EQ(miopenGetPoolingNdForwardOutputDim(pool, x, 5, n.data()),
            miopenStatusBadParm);
  TensorDesc deep{miopenTensorNCDHW, {2, 3, 4, 7, 4}};
  EXPECT_EQ(
      miopenGetPoolingForwardOutputDim(pool, deep, &n[0], &n[1], &n[2], &n[3]),
      miopenStatusBadParm);
  EXPECT_EQ(getMessage(), "x has 5 dimensions, but a pooling over 2 needs 4");
}

// The old function gives the size of 8-bit indices for every type. The new one
// uses the type, and gives 0 for averages.
TEST(PoolingDescriptor, WorkspaceSizes) {
  TensorDesc y{miopenTensorNCHW, {2, 3, 4, 5}};
  PoolDesc max{miopenPoolingMax, 3, 1, 2};
  PoolDesc average{miopenPoolingAverage, 3, 1, 2};
  ASSERT_EQ(miopenSetPoolingIndexType(max, miopenIndexUint32), 0);
  size_t bytes = 0;
  ASSERT_EQ(miopenPoolingGetWorkSpaceSize(y, &bytes), miopenStatusSuccess);
  EXPECT_EQ(bytes, 120u);
  ASSERT_EQ(miopenPoolingGetWorkSpaceSizeV2(max, y, &bytes),
            miopenStatusSuccess);
  EXPECT_EQ(bytes, 480u);
  ASSERT_EQ(miopenPoolingGetWorkSpaceSizeV2(average, y, &bytes),
            miopenStatusSuccess);
  EXPECT_EQ(bytes, 0u);
}

// No function dereferences a null pointer.
TEST(PoolingDescriptor, NullPointers) {
  EXPECT_EQ(miopenCreatePoolingDescriptor(nullptr), miopenStatusBadParm);
  EXPECT_EQ(miopenDestroyPoolingDescriptor(nullptr), miopenStatusBadParm);
  EXPECT_EQ(miopenSetPoolingIndexType(nullptr, miopenIndexUint8),
            miopenStatusBadParm);
  EXPECT_EQ(
      miopenSet2dPoolingDescriptor(nullptr, miopenPoolingMax, 1, 1, 0, 0, 1, 1),
      miopenStatusBadParm);
  PoolDesc pool;
  EXPECT_EQ(miopenGetPoolingIndexType(pool, nullptr), miopenStatusBadParm);
  EXPECT_EQ(miopenGetPoolingWorkSpaceIndexMode(pool, nullptr),
            miopenStatusBadParm);
  EXPECT_EQ(miopenSetNdPoolingDescriptor(pool, miopenPoolingMax, 2, nullptr,
                                         nullptr, nullptr),
            miopenStatusBadParm);
  EXPECT_EQ(miopenPoolingGetWorkSpaceSizeV2(pool, nullptr, nullptr),
            miopenStatusBadParm);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

// Forward with indices passes the whole problem to the engine, and the
// workspace of the client as indices.
TEST_F(Pooling, ForwardSavesIndices) {
  ASSERT_EQ(miopenSetPoolingIndexType(max, miopenIndexUint16), 0);
  ASSERT_EQ(forward(max, true, &dataWorkspace, 2 * 8 * 5 * 6 * 2),
            miopenStatusSuccess);
  EXPECT_EQ(getProblem().toNetworkConfig(),
            "pool-fwd-max-f32-nchw,nchw-n2c8h9w11-y3x3-p1x1-s2x2-iu16mask");
  ASSERT_EQ(engine->launches.size(), 1u);
  const LaunchArgs &args = engine->launches[0].args;
  EXPECT_EQ(args.x, &dataX);
  EXPECT_EQ(args.y, &dataY);
  EXPECT_EQ(args.indices, &dataWorkspace);
  EXPECT_EQ(args.workspace, nullptr);
}

// Without `do_backward`, and for averages, no workspace is needed.
TEST_F(Pooling, ForwardWithoutIndices) {
  EXPECT_EQ(forward(max, false, nullptr, 0), miopenStatusSuccess);
  EXPECT_EQ(getProblem().indexType, IndexType::None);
  EXPECT_EQ(forward(average, true, nullptr, 0), miopenStatusSuccess);
  EXPECT_EQ(getProblem().mode, PoolMode::Average);
}

// Backward writes dx; x and y themselves are not needed.
TEST_F(Pooling, Backward) {
  EXPECT_EQ(backward(max, &dataWorkspace), miopenStatusSuccess);
  EXPECT_EQ(getProblem().toNetworkConfig(),
            "pool-bwd-max-f32-nchw,nchw-n2c8h9w11-y3x3-p1x1-s2x2-iu8mask");
  EXPECT_EQ(engine->launches.back().args.x, &dataX);
  EXPECT_EQ(engine->launches.back().args.indices, &dataWorkspace);
  EXPECT_EQ(backward(average, nullptr), miopenStatusSuccess);
}

// Layouts, gaps and depth come from the tensors' strides.
TEST_F(Pooling, LayoutsAndDepth) {
  TensorDesc deep{miopenTensorNDHWC, {1, 4, 6, 5, 7}, miopenHalf};
  TensorDesc strided;
  const int lengths[] = {1, 4, 3, 4, 7}, strides[] = {1000, 200, 60, 9, 1};
  ASSERT_EQ(miopenSetTensorDescriptor(strided, miopenHalf, 5, lengths, strides),
            miopenStatusSuccess);
  PoolDesc pool;
  const int window[] = {2, 3, 1}, pads[] = {0, 1, 0}, steps[] = {2, 1, 1};
  ASSERT_EQ(miopenSetNdPoolingDescriptor(pool, miopenPoolingAverage, 3, window,
                                         pads, steps),
            0);
  TensorDesc out{miopenTensorNCDHW, {1, 4, 3, 5, 7}, miopenHalf};
  ASSERT_EQ(miopenPoolingForward(handle, pool, &kOne, deep, &dataX, &kZero, out,
                                 &dataY, false, nullptr, 0),
            miopenStatusSuccess);
  EXPECT_EQ(getProblem().xLayout, Layout::NHWC);
  EXPECT_EQ(getProblem().yLayout, Layout::NCHW);
  EXPECT_EQ(getProblem().in, (Spatial{5, 7, 6}));
  EXPECT_EQ(getProblem().window, (Spatial{3, 1, 2}));
  EXPECT_EQ(getProblem().pad, (Pads{1, 0, 0}));
  EXPECT_EQ(getProblem().stride, (Spatial{1, 1, 2}));
  const int flat[] = {2, 1, 1}, none[] = {0, 0, 0};
  TensorDesc in{miopenTensorNCDHW, {1, 4, 6, 4, 7}, miopenHalf};
  ASSERT_EQ(miopenSetNdPoolingDescriptor(pool, miopenPoolingAverage, 3, flat,
                                         none, steps),
            0);
  ASSERT_EQ(miopenPoolingForward(handle, pool, &kOne, in, &dataX, &kZero,
                                 strided, &dataY, false, nullptr, 0),
            miopenStatusSuccess);
  EXPECT_EQ(getProblem().yLayout, Layout::Strided);
  EXPECT_EQ(getProblem().yStrides,
            (Strides{.n = 1, .c = 200, .d = 60, .h = 9, .w = 1}));
}

// Mistakes for which MIOpen returns UnknownError do so here, with a message.
TEST_F(Pooling, UnknownErrors) {
  const float two = 2;
  EXPECT_EQ(forward(max, false, nullptr, 0, &two), miopenStatusUnknownError);
  EXPECT_EQ(getMessage(), "only alpha = 1 and beta = 0 are supported");
  EXPECT_EQ(forward(max, false, nullptr, 0, &kOne, &kOne),
            miopenStatusUnknownError);
  EXPECT_EQ(backward(max, &dataWorkspace, &two), miopenStatusUnknownError);
  EXPECT_EQ(forward(max, true, nullptr, 480), miopenStatusUnknownError);
  EXPECT_EQ(getMessage(),
            "workSpace is NULL, but max pooling needs it for its indices");
  EXPECT_EQ(backward(max, nullptr), miopenStatusUnknownError);
  // 9 x 11 pixels fit in 8 bits; 16 x 16 do not, by MIOpen's rule.
  ASSERT_EQ(
      miopenSetPoolingWorkSpaceIndexMode(max, miopenPoolingWorkspaceIndexImage),
      0);
  EXPECT_EQ(forward(max, true, &dataWorkspace, 480), miopenStatusSuccess);
  TensorDesc in{miopenTensorNCHW, {1, 1, 16, 16}};
  TensorDesc out{miopenTensorNCHW, {1, 1, 8, 8}};
  EXPECT_EQ(miopenPoolingForward(handle, max, &kOne, in, &dataX, &kZero, out,
                                 &dataY, true, &dataWorkspace, 64),
            miopenStatusUnknownError);
  EXPECT_EQ(getMessage(),
            "the index type u8 is too small for the 256 pixels of the input");
  EXPECT_EQ(miopenPoolingForward(handle, max, &kOne, in, &dataX, &kZero, out,
                                 &dataY, false, nullptr, 0),
            miopenStatusSuccess);
  EXPECT_EQ(engine->launches.size(), 2u);
}

// Tensors that do not fit, and a workspace that is too small, are BadParm; a
// type without kernels is NotImplemented.
TEST_F(Pooling, Refusals) {
  EXPECT_EQ(forward(max, true, &dataWorkspace, 479), miopenStatusBadParm);
  EXPECT_EQ(getMessage(),
            "the workspace has 479 bytes, but the indices need 480");
  PoolDesc other{miopenPoolingMax, 2, 0, 2};
  EXPECT_EQ(forward(other, false, nullptr, 0), miopenStatusBadParm);
  EXPECT_EQ(getMessage(), "length 2 of y is 5, but the pooling gives 4");
  TensorDesc half{miopenTensorNCHW, {2, 8, 5, 6}, miopenHalf};
  EXPECT_EQ(miopenPoolingForward(handle, max, &kOne, x, &dataX, &kZero, half,
                                 &dataY, false, nullptr, 0),
            miopenStatusBadParm);
  EXPECT_EQ(getMessage(), "x and y have different data types");
  TensorDesc bytesX{miopenTensorNCHW, {2, 8, 9, 11}, miopenInt8};
  TensorDesc bytesY{miopenTensorNCHW, {2, 8, 5, 6}, miopenInt8};
  EXPECT_EQ(miopenPoolingForward(handle, max, &kOne, bytesX, &dataX, &kZero,
                                 bytesY, &dataY, false, nullptr, 0),
            miopenStatusNotImplemented);
  TensorDesc deep{miopenTensorNCDHW, {2, 8, 1, 9, 11}};
  EXPECT_EQ(miopenPoolingForward(handle, max, &kOne, deep, &dataX, &kZero, y,
                                 &dataY, false, nullptr, 0),
            miopenStatusBadParm);
  EXPECT_EQ(miopenPoolingForward(handle, max, &kOne, x, nullptr, &kZero, y,
                                 &dataY, false, nullptr, 0),
            miopenStatusBadParm);
  EXPECT_EQ(miopenPoolingBackward(handle, max, &kOne, y, &dataY, y, &dataY, x,
                                  &dataX, &kZero, x, nullptr, &dataWorkspace),
            miopenStatusBadParm);
  EXPECT_TRUE(engine->launches.empty());
}

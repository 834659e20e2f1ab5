//===- HandleTest.cpp - Tests of miopen/handle.h --------------------------===//

#define MIOPEN_BETA_API 1
#include "capi/lib/Handle/HandleState.h"
#include "runtime/Gpu/GpuApiLoader.h"
#include "runtime/Gpu/OtherRuntime.h"
#include "test/unit/Support/FakeHip.h"
#include "test/unit/capi/Descriptors.h"
#include "test/unit/capi/FakeEngine.h"

#include <miopen/miopen.h>
#include <tessera/tessera.h>

#include <dlfcn.h>

#include <cstdlib>
#include <functional>
#include <string>

using namespace tessera;
using namespace tessera::test;

namespace {
class Handle : public FakeEngineTest {};
} // namespace

// The stream of creation is kept, and a new one replaces it.
TEST_F(Handle, StreamReadsBack) {
  int a, b;
  auto first = reinterpret_cast<hipStream_t>(&a);
  auto second = reinterpret_cast<hipStream_t>(&b);
  miopenHandle_t handle;
  hipStream_t stream;
  ASSERT_EQ(miopenCreateWithStream(&handle, first), miopenStatusSuccess);
  ASSERT_EQ(miopenGetStream(handle, &stream), miopenStatusSuccess);
  EXPECT_EQ(stream, first);
  ASSERT_EQ(miopenSetStream(handle, second), miopenStatusSuccess);
  ASSERT_EQ(miopenGetStream(handle, &stream), miopenStatusSuccess);
  EXPECT_EQ(stream, second);
  ASSERT_EQ(miopenDestroy(handle), miopenStatusSuccess);
}

// A handle without a stream uses the default one.
TEST_F(Handle, CreateUsesTheDefaultStream) {
  miopenHandle_t handle;
  hipStream_t stream;
  ASSERT_EQ(miopenCreate(&handle), miopenStatusSuccess);
  ASSERT_EQ(miopenGetStream(handle, &stream), miopenStatusSuccess);
  EXPECT_EQ(stream, nullptr);
  ASSERT_EQ(miopenDestroy(handle), miopenStatusSuccess);
}

// Null handles and out pointers are BadParm.
TEST_F(Handle, NullPointersAreBadParm) {
  miopenHandle_t handle;
  ASSERT_EQ(miopenCreate(&handle), miopenStatusSuccess);
  float time;
  hipStream_t stream;
  for (miopenStatus_t status :
       {miopenCreate(nullptr), miopenCreateWithStream(nullptr, nullptr),
        miopenDestroy(nullptr), miopenSetStream(nullptr, nullptr),
        miopenGetStream(nullptr, &stream), miopenGetStream(handle, nullptr),
        miopenGetKernelTime(nullptr, &time),
        miopenGetKernelTime(handle, nullptr),
        miopenEnableProfiling(nullptr, true),
        miopenSetAllocator(nullptr, nullptr, nullptr, nullptr)})
    EXPECT_EQ(status, miopenStatusBadParm);
  ASSERT_EQ(miopenDestroy(handle), miopenStatusSuccess);
}

// An allocator comes with its deallocator, or not at all.
TEST_F(Handle, AllocatorsComeInPairs) {
  miopenHandle_t handle;
  ASSERT_EQ(miopenCreate(&handle), miopenStatusSuccess);
  auto allocate = [](void *, size_t) -> void * { return nullptr; };
  auto deallocate = [](void *, void *) {};
  EXPECT_EQ(miopenSetAllocator(handle, allocate, deallocate, nullptr),
            miopenStatusSuccess);
  EXPECT_EQ(miopenSetAllocator(handle, allocate, nullptr, nullptr),
            miopenStatusBadParm);
  EXPECT_EQ(miopenSetAllocator(handle, nullptr, nullptr, nullptr),
            miopenStatusSuccess);
  ASSERT_EQ(miopenDestroy(handle), miopenStatusSuccess);
}

// Every status has MIOpen's name, and nothing else has one.
TEST(Status, ErrorStrings) {
  EXPECT_STREQ(miopenGetErrorString(miopenStatusSuccess),
               "miopenStatusSuccess");
  EXPECT_STREQ(miopenGetErrorString(miopenStatusBadParm),
               "miopenStatusBadParm");
  EXPECT_STREQ(miopenGetErrorString(miopenStatusVersionMismatch),
               "miopenStatusVersionMismatch");
  EXPECT_STREQ(miopenGetErrorString(static_cast<miopenStatus_t>(11)),
               "Unknown error status");
  for (int i = 0; i <= 10; ++i)
    EXPECT_TRUE(
        std::string(miopenGetErrorString(static_cast<miopenStatus_t>(i)))
            .starts_with("miopenStatus"))
        << i;
}

// The version is that of the headers; each part may be left out.
TEST(Status, Version) {
  size_t major, minor, patch;
  ASSERT_EQ(miopenGetVersion(&major, &minor, &patch), miopenStatusSuccess);
  EXPECT_EQ(major, size_t(MIOPEN_VERSION_MAJOR));
  EXPECT_EQ(minor, size_t(MIOPEN_VERSION_MINOR));
  EXPECT_EQ(patch, size_t(MIOPEN_VERSION_PATCH));
  EXPECT_EQ(miopenGetVersion(nullptr, nullptr, nullptr), miopenStatusSuccess);
}

// The kernel time is that of the last call. If it launched several kernels, it
// is their sum.
TEST_F(Handle, KernelTimeIsTheSumOfACall) {
  miopenHandle_t handle;
  ASSERT_EQ(miopenCreate(&handle), miopenStatusSuccess);
  ASSERT_EQ(miopenEnableProfiling(handle, true), miopenStatusSuccess);
  float memory[64];
  auto getTime = [&] {
    float time = -1;
    EXPECT_EQ(miopenGetKernelTime(handle, &time), miopenStatusSuccess);
    return time;
  };
  // Seven channels: two positions near each border, each with a launch, and the
  // others.
  TensorDesc x(miopenTensorNCHW, {1, 7, 1, 1});
  miopenLRNDescriptor_t lrn;
  ASSERT_EQ(miopenCreateLRNDescriptor(&lrn), 0);
  ASSERT_EQ(miopenSetLRNDescriptor(lrn, miopenLRNCrossChannel, 5, 1, 1, 1), 0);
  const float one = 1, zero = 0;
  ASSERT_EQ(miopenLRNForward(handle, lrn, &one, x, memory, &zero, x, memory + 8,
                             false, nullptr),
            miopenStatusSuccess)
      << tesseraGetLastErrorMessage();
  EXPECT_EQ(engine->launches.size(), 5u);
  EXPECT_FLOAT_EQ(getTime(), 5 * kFakeEventMs);
  ASSERT_EQ(miopenSetTensor(handle, x, memory, &one), miopenStatusSuccess);
  EXPECT_FLOAT_EQ(getTime(), kFakeEventMs);
  // One copy for each of two inputs.
  TensorDesc y(miopenTensorNCHW, {2, 7, 1, 1});
  const miopenTensorDescriptor_t inputs[] = {x, x};
  const void *const xs[] = {memory, memory + 8};
  ASSERT_EQ(miopenCatForward(handle, 2, inputs, xs, y, memory + 16, 0),
            miopenStatusSuccess)
      << tesseraGetLastErrorMessage();
  EXPECT_FLOAT_EQ(getTime(), 2 * kFakeEventMs);
  EXPECT_EQ(miopenDestroyLRNDescriptor(lrn), 0);
  EXPECT_EQ(miopenDestroy(handle), miopenStatusSuccess);
}

//===----------------------------------------------------------------------===//
// Two HIP runtimes
//===----------------------------------------------------------------------===//

namespace {
/// A client that uses another HIP runtime than the engine.
struct TwoRuntimes {
  const GpuApi other = load();
  miopenHandle_t handle = nullptr;
  TensorDesc x{miopenTensorNHWC, {1, 4, 8, 8}, miopenHalf};
  TensorDesc w{miopenTensorNHWC, {8, 4, 3, 3}, miopenHalf};
  TensorDesc y{miopenTensorNHWC, {1, 8, 6, 6}, miopenHalf};
  ConvDesc conv;
  int ownMemory = 0;

  static GpuApi load() {
    const std::string path = getFakeHipPath("fake-amd/libamdhip64");
    if (!dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
      std::exit(1);
    return *GpuApiLoader::useLoadedFile(path);
  }
  /// Creates a handle without the warning about a runtime that is loaded but
  /// not used.
  void create() {
    addTriedRuntime(other.getPath());
    EXPECT_EQ(miopenCreate(&handle), miopenStatusSuccess);
  }
  miopenStatus_t execute(const void *data) {
    const float alpha = 1, beta = 0;
    return miopenConvolutionForward(handle, &alpha, x, data, w, &ownMemory,
                                    conv, miopenConvolutionFwdAlgoDirect, &beta,
                                    y, &ownMemory, nullptr, 0);
  }
  const void *allocate() {
    void *memory = nullptr;
    EXPECT_EQ(other.hipMalloc(&memory, 1024), hipSuccess);
    return memory;
  }
};
} // namespace

/// Expects the warning, in a child process because a process warns only once.
/// The message of a failed call may follow it.
static void expectWarning(const std::string &words,
                          const std::function<void(TwoRuntimes &)> &run) {
  EXPECT_EXIT(
      {
        TwoRuntimes client;
        run(client);
        std::exit(testing::Test::HasFailure() ? 1 : 0);
      },
      testing::ExitedWithCode(0),
      "^MIOpen\\(HIP\\): Warning " + words +
          " the HIP runtime [^\n]*libamdhip64[^\n]*\n"
          "(MIOpen\\(HIP\\): Error [^\n]*\n)?$");
}

using HandleDeathTest = Handle;

// A client of another runtime is warned when it makes a handle, or else when it
// sets a stream, at the first launch with its memory, or after a launch that
// failed.
TEST_F(HandleDeathTest, WarnsOfAnotherRuntime) {
  expectWarning("the process has loaded", [](TwoRuntimes &client) {
    EXPECT_EQ(miopenCreate(&client.handle), miopenStatusSuccess);
  });
  expectWarning("a handle's stream belongs to", [](TwoRuntimes &client) {
    client.create();
    hipStream_t stream = nullptr;
    EXPECT_EQ(client.other.hipStreamCreate(&stream), hipSuccess);
    EXPECT_EQ(miopenSetStream(client.handle, nullptr), miopenStatusSuccess);
    EXPECT_EQ(miopenSetStream(client.handle, stream), miopenStatusSuccess);
  });
  expectWarning("memory of a call belongs to", [](TwoRuntimes &client) {
    client.create();
    EXPECT_EQ(client.execute(client.allocate()), miopenStatusSuccess);
  });
  expectWarning("memory of a call belongs to", [this](TwoRuntimes &client) {
    client.create();
    EXPECT_EQ(client.execute(&client.ownMemory), miopenStatusSuccess);
    engine->launchStatus = unavailable("the device is lost");
    EXPECT_EQ(client.execute(client.allocate()), miopenStatusInternalError);
  });
}

// Scratch memory is shared and grows, but what a graph has captured stays.
TEST_F(Handle, ScratchOfGraphsIsKept) {
  static int blocks;
  static bool isCapturing, isRelaxed;
  blocks = 0, isCapturing = isRelaxed = false;
  GpuApi &gpu = engine->gpu;
  gpu.hipMalloc = [](void **memory, size_t bytes) {
    EXPECT_TRUE(isRelaxed);
    *memory = malloc(bytes);
    ++blocks;
    return hipSuccess;
  };
  gpu.hipFree = [](void *memory) {
    EXPECT_FALSE(isCapturing && !isRelaxed);
    free(memory);
    --blocks;
    return hipSuccess;
  };
  gpu.hipStreamIsCapturing = [](hipStream_t, hipStreamCaptureStatus *status) {
    *status =
        isCapturing ? hipStreamCaptureStatusActive : hipStreamCaptureStatusNone;
    return hipSuccess;
  };
  gpu.hipThreadExchangeStreamCaptureMode = [](hipStreamCaptureMode *mode) {
    isRelaxed = *mode == hipStreamCaptureModeRelaxed;
    *mode = hipStreamCaptureModeGlobal;
    return hipSuccess;
  };
  miopenHandle_t handle;
  ASSERT_EQ(miopenCreate(&handle), miopenStatusSuccess);
  auto get = [&](size_t bytes) {
    const ErrorOr<void *> scratch = handle->getScratch(bytes);
    EXPECT_TRUE(scratch) << scratch.getStatus().getMessage();
    return scratch ? *scratch : nullptr;
  };
  EXPECT_EQ(get(0), nullptr);
  void *first = get(64);
  EXPECT_EQ(get(32), first);
  get(128);
  EXPECT_EQ(blocks, 1);

  isCapturing = true;
  void *captured = get(128);
  EXPECT_EQ(get(16), captured);
  EXPECT_EQ(blocks, 1); // What no graph uses is freed.
  void *larger = get(256);
  EXPECT_NE(larger, captured);
  isCapturing = false;
  EXPECT_NE(get(256), larger);
  EXPECT_NE(get(512), larger);
  EXPECT_EQ(blocks, 3); // Two of the graph, and one.
  ASSERT_EQ(miopenDestroy(handle), miopenStatusSuccess);
  EXPECT_EQ(blocks, 0);
}

// Profiling can be switched on and off before and after the first launch.
TEST_F(Handle, ProfilingMayBeginAndEndAtAnyLaunch) {
  TensorDesc x(miopenTensorNHWC, {1, 4, 8, 8}, miopenHalf);
  TensorDesc w(miopenTensorNHWC, {8, 4, 3, 3}, miopenHalf);
  TensorDesc y(miopenTensorNHWC, {1, 8, 6, 6}, miopenHalf);
  ConvDesc conv;
  miopenHandle_t handle = nullptr;
  int data = 0;
  ASSERT_EQ(miopenCreate(&handle), miopenStatusSuccess);
  const float alpha = 1, beta = 0;
  for (bool isOn : {true, false, true, true, false, false}) {
    float timeMs = -1;
    ASSERT_EQ(miopenEnableProfiling(handle, isOn), miopenStatusSuccess);
    ASSERT_EQ(miopenConvolutionForward(handle, &alpha, x, &data, w, &data, conv,
                                       miopenConvolutionFwdAlgoDirect, &beta, y,
                                       &data, nullptr, 0),
              miopenStatusSuccess);
    ASSERT_EQ(miopenGetKernelTime(handle, &timeMs), miopenStatusSuccess);
    EXPECT_EQ(timeMs, isOn ? kFakeEventMs : 0);
  }
  EXPECT_EQ(engine->launches.size(), 6u);
  ASSERT_EQ(miopenDestroy(handle), miopenStatusSuccess);
}

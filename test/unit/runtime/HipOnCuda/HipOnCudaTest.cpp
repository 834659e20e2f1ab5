//===- HipOnCudaTest.cpp - HIP over a driver that runs on the host --------===//
//
// These tests call only exported functions, like an application.
// docs/guides/gpu-host.md says how to run the same functions on a GPU.
//
//===----------------------------------------------------------------------===//

#include "test/unit/Support/FakeCuda.h"

#include <gtest/gtest.h>
#include <numeric>
#include <thread>

extern "C" size_t tesseraDeviceGetLastError(char *text, size_t size);
extern "C" const char *tesseraDeviceKind();

using namespace tessera::test;
using tessera::cuda::CudaError;

/// This comes before the first call of HIP.
static FakeCuda &cuda = loadFakeCuda();

static std::string getLastText() {
  char text[4096];
  (void)tesseraDeviceGetLastError(text, sizeof text);
  return text;
}

/// Memory of the device, freed at the end.
namespace {
struct Memory {
  char *at = nullptr;
  explicit Memory(size_t bytes) {
    EXPECT_EQ(hipMalloc(reinterpret_cast<void **>(&at), bytes), hipSuccess);
  }
  ~Memory() { EXPECT_EQ(hipFree(at), hipSuccess); }
};
} // namespace

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

// The device describes itself in the words of the compiler's table.
TEST(HipOnCuda, DescribesDevice) {
  int count = 0;
  ASSERT_EQ(hipGetDeviceCount(&count), hipSuccess);
  EXPECT_EQ(count, 2);
  hipDeviceProp_t properties;
  ASSERT_EQ(hipGetDeviceProperties(&properties, 1), hipSuccess);
  EXPECT_STREQ(properties.gcnArchName, "sm_90");
  EXPECT_STREQ(properties.name, "Fake GPU 1");
  EXPECT_EQ(properties.multiProcessorCount, 132);
  EXPECT_EQ(properties.warpSize, 32);
  EXPECT_EQ(properties.sharedMemPerBlock, 227u << 10);
  EXPECT_EQ(properties.maxSharedMemoryPerMultiProcessor, 228u << 10);
  EXPECT_EQ(properties.totalGlobalMem, size_t(80) << 30);
  int value = -1;
  EXPECT_EQ(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 0),
            hipSuccess);
  EXPECT_EQ(value, 32);
  EXPECT_EQ(hipDeviceGetAttribute(&value, hipDeviceAttributeImageSupport, 0),
            hipSuccess);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(hipDeviceGetAttribute(&value, hipDeviceAttributeMaxSurface1D, 0),
            hipErrorInvalidValue);
  EXPECT_EQ(hipGetDeviceProperties(&properties, 2), hipErrorInvalidDevice);
  EXPECT_STREQ(tesseraDeviceKind(), "nvidia");
}

// Each thread begins on device 0 and keeps the device that it has set.
TEST(HipOnCuda, DevicesBelongToThreads) {
  int id = -1;
  ASSERT_EQ(hipSetDevice(1), hipSuccess);
  EXPECT_EQ(hipGetDevice(&id), hipSuccess);
  EXPECT_EQ(id, 1);
  std::thread([] {
    int other = -1;
    EXPECT_EQ(hipGetDevice(&other), hipSuccess);
    EXPECT_EQ(other, 0);
  }).join();
  EXPECT_EQ(hipSetDevice(2), hipErrorInvalidDevice);
  EXPECT_EQ(hipSetDevice(-1), hipErrorInvalidDevice);
  EXPECT_EQ(hipGetDevice(&id), hipSuccess);
  EXPECT_EQ(id, 1);
  EXPECT_EQ(hipSetDevice(0), hipSuccess);
}

// HIP calls contexts deprecated.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

// A thread that has a context already, as PyTorch's threads have, keeps it: its
// memory belongs to that context.
TEST(HipOnCuda, UsesTheContextOfOthers) {
  hipCtx_t other;
  ASSERT_EQ(hipDevicePrimaryCtxRetain(&other, 1), hipSuccess);
  std::thread([&] {
    ASSERT_EQ(hipCtxSetCurrent(other), hipSuccess);
    int binds = cuda.getCalls("cuCtxSetCurrent");
    Memory memory(16);
    EXPECT_EQ(cuda.getCalls("cuCtxSetCurrent"), binds);
    int id = -1;
    EXPECT_EQ(hipGetDevice(&id), hipSuccess);
    EXPECT_EQ(id, 1);
  }).join();
}

#pragma clang diagnostic pop

// The primary context of a device is retained once, however many threads use
// it.
TEST(HipOnCuda, RetainsPrimaryContextsOnce) {
  ASSERT_EQ(hipSetDevice(0), hipSuccess);
  ASSERT_EQ(hipSetDevice(1), hipSuccess);
  int retains = cuda.getCalls("cuDevicePrimaryCtxRetain");
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([i] {
      EXPECT_EQ(hipSetDevice(i % 2), hipSuccess);
      Memory memory(64);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(cuda.getCalls("cuDevicePrimaryCtxRetain"), retains);
  EXPECT_EQ(hipSetDevice(0), hipSuccess);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

// Bytes are copied there and back; an address outside is the driver's error.
TEST(HipOnCuda, CopiesAndFills) {
  Memory device(64);
  std::vector<unsigned char> host(64);
  std::iota(host.begin(), host.end(), static_cast<unsigned char>(1));
  EXPECT_EQ(hipMemcpy(device.at, host.data(), 64, hipMemcpyHostToDevice),
            hipSuccess);
  EXPECT_EQ(hipMemset(device.at + 8, 0xab, 8), hipSuccess);
  std::vector<unsigned char> back(64);
  EXPECT_EQ(hipMemcpyAsync(back.data(), device.at, 64, hipMemcpyDeviceToHost,
                           nullptr),
            hipSuccess);
  EXPECT_EQ(back[7], 8);
  EXPECT_EQ(back[8], 0xab);
  EXPECT_EQ(back[16], 17);
  EXPECT_EQ(hipMemcpy(device.at, host.data(), 65, hipMemcpyHostToDevice),
            hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(host.data(), back.data(), 8, hipMemcpyHostToDevice),
            hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(device.at, host.data(), 8, static_cast<hipMemcpyKind>(9)),
            hipErrorInvalidMemcpyDirection);
  EXPECT_EQ(hipMemset(device.at, 0, 65), hipErrorInvalidValue);
  EXPECT_EQ(hipMemset(nullptr, 0, 0), hipSuccess);
}

// HIP has no memory of 0 bytes, and freeing a null pointer is no error; the
// driver calls both an error.
TEST(HipOnCuda, NothingIsNoMemory) {
  void *pointer = &pointer;
  int calls = cuda.getCalls("cuMemAlloc");
  EXPECT_EQ(hipMalloc(&pointer, 0), hipSuccess);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(hipFree(nullptr), hipSuccess);
  EXPECT_EQ(cuda.getCalls("cuMemAlloc"), calls);
  EXPECT_EQ(hipMalloc(nullptr, 16), hipErrorInvalidValue);
  EXPECT_EQ(hipMalloc(&pointer, size_t(1) << 40), hipErrorOutOfMemory);
  EXPECT_EQ(hipMallocManaged(&pointer, 16, 0), hipErrorInvalidValue);
}

// Each kind of memory reports its kind, and is freed by its own function only.
TEST(HipOnCuda, KindsOfMemory) {
  void *pinned = nullptr, *managed = nullptr, *device = nullptr;
  ASSERT_EQ(hipHostMalloc(&pinned, 64, hipHostMallocCoherent), hipSuccess);
  ASSERT_EQ(hipMallocManaged(&managed, 64, hipMemAttachGlobal), hipSuccess);
  ASSERT_EQ(hipMallocAsync(&device, 64, nullptr), hipSuccess);
  hipPointerAttribute_t attributes;
  ASSERT_EQ(hipPointerGetAttributes(&attributes, pinned), hipSuccess);
  EXPECT_EQ(attributes.memoryType, hipMemoryTypeHost);
  EXPECT_EQ(attributes.hostPointer, pinned);
  ASSERT_EQ(hipPointerGetAttributes(&attributes, managed), hipSuccess);
  EXPECT_TRUE(attributes.isManaged);
  ASSERT_EQ(hipPointerGetAttributes(&attributes, device), hipSuccess);
  EXPECT_EQ(attributes.memoryType, hipMemoryTypeDevice);
  EXPECT_EQ(attributes.hostPointer, nullptr);
  int onStack = 0;
  EXPECT_EQ(hipPointerGetAttributes(&attributes, &onStack),
            hipErrorInvalidValue);
  size_t bytes = 0;
  EXPECT_EQ(hipMemPtrGetInfo(device, &bytes), hipSuccess);
  EXPECT_EQ(bytes, 64u);
  EXPECT_EQ(hipMemPtrGetInfo(&onStack, &bytes), hipErrorInvalidValue);
  EXPECT_EQ(hipFree(pinned), hipErrorInvalidValue);
  EXPECT_EQ(hipHostFree(pinned), hipSuccess);
  EXPECT_EQ(hipFree(managed), hipSuccess);
  EXPECT_EQ(hipFreeAsync(device, nullptr), hipSuccess);
}

// A block is copied into wider rows and back; the gaps between them stay.
TEST(HipOnCuda, CopiesBlocks) {
  std::vector<unsigned char> in(3 * 5), out(3 * 7, 0xee);
  std::iota(in.begin(), in.end(), static_cast<unsigned char>(1));
  void *device = nullptr;
  size_t pitch = 0;
  ASSERT_EQ(hipMallocPitch(&device, &pitch, 5, 3), hipSuccess);
  EXPECT_EQ(pitch, 512u);
  EXPECT_EQ(hipMemset2D(device, pitch, 9, 5, 3), hipSuccess);
  EXPECT_EQ(
      hipMemcpy2D(device, pitch, in.data(), 5, 5, 2, hipMemcpyHostToDevice),
      hipSuccess);
  hip_Memcpy2D block = {};
  block.srcMemoryType = hipMemoryTypeDevice;
  block.srcDevice = device;
  block.srcPitch = pitch;
  block.dstMemoryType = hipMemoryTypeHost;
  block.dstHost = out.data();
  block.dstPitch = 7;
  block.WidthInBytes = 5;
  block.Height = 3;
  EXPECT_EQ(hipMemcpyParam2D(&block), hipSuccess);
  EXPECT_EQ(out[7 + 4], 10);
  EXPECT_EQ(out[7 + 5], 0xee);
  EXPECT_EQ(out[14], 9);
  EXPECT_EQ(hipMemcpy2D(device, 4, in.data(), 5, 5, 2, hipMemcpyHostToDevice),
            hipErrorInvalidPitchValue);
  block.dstMemoryType = hipMemoryTypeArray;
  EXPECT_EQ(hipMemcpyParam2D(&block), hipErrorNotSupported);
  EXPECT_EQ(hipFree(device), hipSuccess);
}

//===----------------------------------------------------------------------===//
// Streams, events, errors
//===----------------------------------------------------------------------===//

// Callbacks get HIP's status and the application's data.
TEST(HipOnCuda, StreamsCallBack) {
  hipStream_t stream;
  ASSERT_EQ(hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, -2),
            hipSuccess);
  int priority = 0;
  EXPECT_EQ(hipStreamGetPriority(stream, &priority), hipSuccess);
  EXPECT_EQ(priority, -2);
  std::string order;
  auto callback = [](hipStream_t, hipError_t status, void *data) {
    *static_cast<std::string *>(data) += hipGetErrorName(status);
  };
  auto function = [](void *data) { *static_cast<std::string *>(data) += "+b"; };
  EXPECT_EQ(hipStreamAddCallback(stream, callback, &order, 0), hipSuccess);
  EXPECT_EQ(hipLaunchHostFunc(stream, function, &order), hipSuccess);
  EXPECT_EQ(order, "hipErrorLaunchFailure+b");
  cuda.failNext("cuStreamAddCallback", CudaError::InvalidHandle);
  EXPECT_EQ(hipStreamAddCallback(stream, callback, &order, 0),
            hipErrorInvalidHandle);
  EXPECT_EQ(hipStreamDestroy(stream), hipSuccess);
  EXPECT_EQ(hipStreamDestroy(nullptr), hipErrorInvalidHandle);
}

// Events measure time; one that was not recorded has none.
TEST(HipOnCuda, EventsMeasure) {
  hipEvent_t begin, end;
  ASSERT_EQ(hipEventCreate(&begin), hipSuccess);
  ASSERT_EQ(hipEventCreateWithFlags(&end, hipEventReleaseToSystem), hipSuccess);
  float timeMs = 0;
  EXPECT_EQ(hipEventElapsedTime(&timeMs, begin, end), hipErrorInvalidHandle);
  EXPECT_EQ(hipEventRecord(begin, nullptr), hipSuccess);
  EXPECT_EQ(hipEventRecord(end, nullptr), hipSuccess);
  EXPECT_EQ(hipEventElapsedTime(&timeMs, begin, end), hipSuccess);
  EXPECT_EQ(timeMs, 0.5f);
  EXPECT_EQ(hipEventRecord(nullptr, nullptr), hipErrorInvalidHandle);
  EXPECT_EQ(hipEventDestroy(begin), hipSuccess);
  EXPECT_EQ(hipEventDestroy(end), hipSuccess);
}

// "Not yet" is an answer, and leaves no error behind.
TEST(HipOnCuda, NotReadyIsNoFailure) {
  (void)hipGetLastError();
  cuda.failNext("cuStreamQuery", CudaError::NotReady);
  EXPECT_EQ(hipStreamQuery(nullptr), hipErrorNotReady);
  EXPECT_EQ(hipGetLastError(), hipSuccess);
}

// Every error of the driver has a counterpart in HIP, with the driver's text.
TEST(HipOnCuda, TranslatesErrors) {
  const std::pair<CudaError, hipError_t> pairs[] = {
      {CudaError::InvalidValue, hipErrorInvalidValue},
      {CudaError::OutOfMemory, hipErrorOutOfMemory},
      {CudaError::NotInitialized, hipErrorNotInitialized},
      {CudaError::NoDevice, hipErrorNoDevice},
      {CudaError::InvalidContext, hipErrorInvalidContext},
      {CudaError::UnsupportedPtxVersion, hipErrorNoBinaryForGpu},
      {CudaError::InvalidHandle, hipErrorInvalidHandle},
      {CudaError::NotFound, hipErrorNotFound},
      {CudaError::LaunchOutOfResources, hipErrorLaunchOutOfResources},
      {CudaError::HostMemoryNotRegistered, hipErrorHostMemoryNotRegistered},
      {CudaError::CooperativeLaunchTooLarge, hipErrorCooperativeLaunchTooLarge},
      {CudaError::NotSupported, hipErrorNotSupported},
      {CudaError::SystemDriverMismatch, hipErrorInsufficientDriver},
      {CudaError::StreamCaptureUnsupported, hipErrorStreamCaptureUnsupported},
      {static_cast<CudaError>(12345), hipErrorUnknown},
  };
  for (auto [given, wanted] : pairs) {
    cuda.failNext("cuCtxSynchronize", given);
    EXPECT_EQ(hipDeviceSynchronize(), wanted);
    EXPECT_EQ(hipGetLastError(), wanted);
    EXPECT_EQ(hipGetLastError(), hipSuccess);
  }
  EXPECT_EQ(getLastText(), "cuCtxSynchronize: the fake says so "
                           "(CUDA_ERROR_OF_THE_FAKE, 12345)");
}

// After a fault the context is lost: every later call of every thread fails.
TEST(HipOnCudaDeathTest, FaultsStay) {
  EXPECT_EXIT(
      {
        (void)hipDeviceSynchronize();
        cuda.failNext("cuCtxSynchronize", CudaError::IllegalAddress);
        bool isRight = hipDeviceSynchronize() == hipErrorIllegalAddress &&
                       hipGetLastError() == hipErrorIllegalAddress &&
                       hipGetLastError() == hipErrorIllegalAddress;
        std::thread([&] {
          isRight &= hipPeekAtLastError() == hipErrorIllegalAddress;
        }).join();
        std::exit(!isRight);
      },
      testing::ExitedWithCode(0), "");
}

// What the emulated device refuses is refused here too, by name.
TEST(HipOnCuda, RefusesWhatIsNotThere) {
  hipGraph_t graph;
  EXPECT_EQ(hipGraphCreate(&graph, 0), hipErrorNotSupported);
  EXPECT_EQ(getLastText(), "hipGraphCreate is not supported");
  int word = 0;
  EXPECT_EQ(hipStreamWaitValue32(nullptr, &word, 1, hipStreamWaitValueEq, 0xff),
            hipErrorNotSupported);
  EXPECT_EQ(
      hipStreamWaitValue32(nullptr, &word, 1, hipStreamWaitValueEq, 0xffffffff),
      hipSuccess);
  size_t value;
  EXPECT_EQ(hipDeviceGetLimit(&value, static_cast<hipLimit_t>(7)),
            hipErrorUnsupportedLimit);
  EXPECT_EQ(hipSetDeviceFlags(0x1000), hipErrorInvalidValue);
}

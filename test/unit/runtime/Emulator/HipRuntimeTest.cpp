//===- HipRuntimeTest.cpp - The parts of HIP besides launches -------------===//

#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>

#include <cstdlib>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

extern "C" size_t tesseraDeviceGetLastError(char *text, size_t size);

static std::string getLastText() {
  char text[512];
  (void)tesseraDeviceGetLastError(text, sizeof text);
  return text;
}

// Pointer attributes name the kind of memory, which only its own function
// frees.
TEST(HipRuntime, KindsOfMemory) {
  void *pinned = nullptr, *managed = nullptr, *device = nullptr;
  ASSERT_EQ(hipHostMalloc(&pinned, 64, hipHostMallocMapped), hipSuccess);
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
  void *mapped = nullptr;
  EXPECT_EQ(hipHostGetDevicePointer(&mapped, pinned, 0), hipSuccess);
  EXPECT_EQ(mapped, pinned);
  EXPECT_EQ(hipHostGetDevicePointer(&mapped, device, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipFree(pinned), hipErrorInvalidValue);
  EXPECT_EQ(hipHostFree(pinned), hipSuccess);
  EXPECT_EQ(hipFree(managed), hipSuccess);
  EXPECT_EQ(hipFreeAsync(device, nullptr), hipSuccess);
}

// The application's memory is accessible to the device while it is registered.
TEST(HipRuntime, RegistersHostMemory) {
  std::vector<int> memory(100);
  EXPECT_EQ(hipMemset(memory.data(), 1, 4), hipErrorInvalidValue);
  ASSERT_EQ(hipHostRegister(memory.data(), 400, 0), hipSuccess);
  EXPECT_EQ(hipHostRegister(memory.data() + 50, 8, 0),
            hipErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(hipMemset(memory.data(), 1, 400), hipSuccess);
  EXPECT_EQ(memory[99], 0x01010101);
  EXPECT_EQ(hipMemset(memory.data(), 1, 401), hipErrorInvalidValue);
  EXPECT_EQ(hipHostUnregister(memory.data()), hipSuccess);
  EXPECT_EQ(hipHostUnregister(memory.data()), hipErrorHostMemoryNotRegistered);
}

// A block is copied into wider rows and back; the bytes between them stay.
TEST(HipRuntime, CopiesBlocks) {
  std::vector<unsigned char> in(3 * 5), out(3 * 7, 0xee);
  std::iota(in.begin(), in.end(), static_cast<unsigned char>(1));
  void *device = nullptr;
  size_t pitch = 0;
  ASSERT_EQ(hipMallocPitch(&device, &pitch, 5, 3), hipSuccess);
  EXPECT_EQ(pitch, 256u);
  EXPECT_EQ(hipMemset2D(device, pitch, 9, 5, 3), hipSuccess);
  EXPECT_EQ(
      hipMemcpy2D(device, pitch, in.data(), 5, 5, 2, hipMemcpyHostToDevice),
      hipSuccess);
  EXPECT_EQ(hipMemcpy2DAsync(out.data(), 7, device, pitch, 5, 3,
                             hipMemcpyDeviceToHost, nullptr),
            hipSuccess);
  EXPECT_EQ(out[7 + 4], 10);
  EXPECT_EQ(out[7 + 5], 0xee);
  EXPECT_EQ(out[14], 9);
  EXPECT_EQ(hipMemcpy2D(device, 4, in.data(), 5, 5, 2, hipMemcpyHostToDevice),
            hipErrorInvalidPitchValue);
  EXPECT_EQ(
      hipMemcpy2D(device, pitch, in.data(), 5, 5, 4, hipMemcpyHostToDevice),
      hipErrorInvalidValue);
  EXPECT_EQ(hipFree(device), hipSuccess);
}

// 16- and 32-bit fills count elements.
TEST(HipRuntime, FillsElements) {
  unsigned char *device = nullptr;
  ASSERT_EQ(hipMalloc(reinterpret_cast<void **>(&device), 16), hipSuccess);
  EXPECT_EQ(hipMemsetD32(device, 0x01020304, 4), hipSuccess);
  EXPECT_EQ(hipMemsetD16Async(device + 4, 0xabcd, 2, nullptr), hipSuccess);
  EXPECT_EQ(hipMemsetD8(device + 15, 0x77, 1), hipSuccess);
  EXPECT_EQ(hipMemsetD32(device, 0, 5), hipErrorInvalidValue);
  unsigned host[4];
  ASSERT_EQ(hipMemcpyDtoH(host, device, 16), hipSuccess);
  EXPECT_EQ(host[0], 0x01020304u);
  EXPECT_EQ(host[1], 0xabcdabcdu);
  EXPECT_EQ(host[3], 0x77020304u);
  EXPECT_EQ(hipFree(device), hipSuccess);
}

// The last error belongs to the thread.
TEST(HipRuntime, ErrorsBelongToThreads) {
  EXPECT_EQ(hipSetDevice(7), hipErrorInvalidDevice);
  std::thread([] { EXPECT_EQ(hipGetLastError(), hipSuccess); }).join();
  EXPECT_EQ(hipPeekAtLastError(), hipErrorInvalidDevice);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidDevice);
  EXPECT_STREQ(hipGetErrorName(hipErrorCooperativeLaunchTooLarge),
               "hipErrorCooperativeLaunchTooLarge");
}

// Callbacks run in order; streams keep the flags that they were created with.
TEST(HipRuntime, StreamsCallBack) {
  hipStream_t stream;
  ASSERT_EQ(hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, -5),
            hipSuccess);
  int priority = 0;
  EXPECT_EQ(hipStreamGetPriority(stream, &priority), hipSuccess);
  EXPECT_EQ(priority, -1);
  std::string order;
  auto callback = [](hipStream_t, hipError_t status, void *data) {
    *static_cast<std::string *>(data) += status == hipSuccess ? "a" : "x";
  };
  auto function = [](void *data) { *static_cast<std::string *>(data) += "b"; };
  EXPECT_EQ(hipStreamAddCallback(stream, callback, &order, 0), hipSuccess);
  EXPECT_EQ(hipLaunchHostFunc(stream, function, &order), hipSuccess);
  EXPECT_EQ(hipStreamQuery(stream), hipSuccess);
  EXPECT_EQ(order, "ab");
  EXPECT_EQ(hipStreamDestroy(stream), hipSuccess);
  EXPECT_EQ(hipLaunchHostFunc(stream, function, &order), hipErrorInvalidHandle);
}

// The time of an event without timing cannot be queried.
TEST(HipRuntime, EventsWithoutTiming) {
  hipEvent_t event;
  ASSERT_EQ(hipEventCreateWithFlags(&event, hipEventDisableTiming), hipSuccess);
  EXPECT_EQ(hipEventRecord(event, nullptr), hipSuccess);
  EXPECT_EQ(hipEventQuery(event), hipSuccess);
  float timeMs;
  EXPECT_EQ(hipEventElapsedTime(&timeMs, event, event), hipErrorInvalidHandle);
  EXPECT_EQ(hipEventDestroy(event), hipSuccess);
}

// Contexts form a stack in each thread. HIP marks these functions as
// deprecated.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
TEST(HipRuntime, ContextsStack) {
  hipCtx_t first, second, current;
  ASSERT_EQ(hipDevicePrimaryCtxRetain(&first, 0), hipSuccess);
  ASSERT_EQ(hipCtxCreate(&second, 0, 0), hipSuccess);
  EXPECT_EQ(hipCtxGetCurrent(&current), hipSuccess);
  EXPECT_EQ(current, second);
  EXPECT_EQ(hipCtxPopCurrent(&current), hipSuccess);
  EXPECT_EQ(current, second);
  EXPECT_EQ(hipCtxGetCurrent(&current), hipSuccess);
  EXPECT_EQ(current, first);
  EXPECT_EQ(hipCtxDestroy(second), hipSuccess);
  EXPECT_EQ(hipCtxPushCurrent(second), hipErrorInvalidContext);
  EXPECT_EQ(hipDevicePrimaryCtxRelease(0), hipSuccess);
}
#pragma clang diagnostic pop

// Attributes agree with the properties; unknown ones are refused.
TEST(HipRuntime, Attributes) {
  hipDeviceProp_t properties;
  ASSERT_EQ(hipGetDeviceProperties(&properties, 0), hipSuccess);
  EXPECT_EQ(properties.gcnArch, 942);
  int value = 0;
  EXPECT_EQ(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 0),
            hipSuccess);
  EXPECT_EQ(value, properties.warpSize);
  EXPECT_EQ(hipDeviceGetAttribute(&value, hipDeviceAttributeManagedMemory, 0),
            hipSuccess);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(
      hipDeviceGetAttribute(&value, hipDeviceAttributeMaxTexture1DWidth, 0),
      hipErrorInvalidValue);
  char bus[32];
  EXPECT_EQ(hipDeviceGetPCIBusId(bus, sizeof bus, 0), hipSuccess);
  EXPECT_EQ(hipDeviceGetByPCIBusId(&value, bus), hipSuccess);
  EXPECT_EQ(value, 0);
}

// A function that is not implemented reports its name.
TEST(HipRuntime, NamesWhatIsMissing) {
  hipGraph_t graph;
  EXPECT_EQ(hipGraphCreate(&graph, 0), hipErrorNotSupported);
  EXPECT_EQ(getLastText(), "hipGraphCreate is not supported");
  EXPECT_EQ(hipGetLastError(), hipErrorNotSupported);
}

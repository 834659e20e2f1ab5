//===- Host.cpp - HIP's host functions ------------------------------------===//
//
// These cases use modules, streams, events and memory by calls of HIP in code
// that a host compiler has compiled. The kernels are those of Module.hip.
//
//===----------------------------------------------------------------------===//

#include "Conformance.h"

#include <numeric>
#include <thread>

using namespace conformance;

extern "C" const char conformanceModule[];

namespace {
struct Loaded {
  hipModule_t module = nullptr;
  Loaded() { CHECK_HIP(hipModuleLoadData(&module, conformanceModule)); }
  ~Loaded() { CHECK_HIP(hipModuleUnload(module)); }
  hipFunction_t find(const char *name) const {
    hipFunction_t function = nullptr;
    CHECK_HIP(hipModuleGetFunction(&function, module, name));
    return function;
  }
};

struct Queue {
  hipStream_t stream = nullptr;
  explicit Queue(unsigned flags = hipStreamNonBlocking) {
    CHECK_HIP(hipStreamCreateWithFlags(&stream, flags));
  }
  ~Queue() { CHECK_HIP(hipStreamDestroy(stream)); }
  operator hipStream_t() const { return stream; }
};

/// Owns pinned host memory.
struct Pinned {
  int *values = nullptr;
  explicit Pinned(size_t count) {
    CHECK_HIP(hipHostMalloc(reinterpret_cast<void **>(&values),
                            count * sizeof(int), hipHostMallocDefault));
  }
  ~Pinned() { CHECK_HIP(hipHostFree(values)); }
};
} // namespace

static std::vector<int> makeNumbers(size_t count) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

static void expectError(const char *what, hipError_t got, hipError_t want) {
  (void)hipGetLastError();
  expectEqual(what, std::vector<int>{got}, std::vector<int>{want});
}

static hipError_t addOffset(hipFunction_t function, int *values, int factor,
                            int count, hipStream_t stream) {
  void *parameters[] = {&values, &factor, &count};
  return hipModuleLaunchKernel(function, static_cast<unsigned>(count + 63) / 64,
                               1, 1, 64, 1, 1, 0, stream, parameters, nullptr);
}

// A kernel is found by name and launched with pointers to its arguments, and
// with all arguments in one buffer. The host reads and writes a variable of the
// module.
CONFORMANCE_CASE(ModuleLaunches) {
  constexpr int kCount = 1000;
  Loaded loaded;
  hipFunction_t function = loaded.find("addOffset");
  std::vector<int> values = makeNumbers(kCount), want = values;
  Buffer<int> device(values);
  CHECK_HIP(addOffset(function, device, 3, kCount, nullptr));
  int changed = -2;
  hipDeviceptr_t offset = nullptr;
  size_t bytes = 0;
  CHECK_HIP(hipModuleGetGlobal(&offset, &bytes, loaded.module, "offset"));
  expectEqual("bytes", std::vector<size_t>{bytes}, std::vector<size_t>{4});
  CHECK_HIP(hipMemcpyHtoD(offset, &changed, sizeof changed));
  struct {
    int *values;
    int factor, count;
  } packed = {device, 10, kCount};
  size_t size = sizeof packed;
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed,
                   HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
  CHECK_HIP(hipModuleLaunchKernel(function, (kCount + 63) / 64, 1, 1, 64, 1, 1,
                                  0, nullptr, nullptr, extra));
  for (int &value : want)
    value = (value * 3 + 5) * 10 - 2;
  expectEqual("values", device.read(), want);
  hipFunction_t none;
  expectError("no kernel", hipModuleGetFunction(&none, loaded.module, "none"),
              hipErrorNotFound);
  expectError("no variable",
              hipModuleGetGlobal(&offset, &bytes, loaded.module, "none"),
              hipErrorNotFound);
}

// A launch may ask for 60 KiB of dynamic LDS without any other call. 1 MiB is
// more than any device has.
CONFORMANCE_CASE(LargeSharedMemory) {
  constexpr int kCount = 15 << 10;
  Loaded loaded;
  hipFunction_t function = loaded.find("reverseAll");
  std::vector<int> values = makeNumbers(kCount);
  Buffer<int> device(values);
  int *pointer = device, count = kCount;
  void *parameters[] = {&pointer, &count};
  auto launch = [&](unsigned bytes) {
    return hipModuleLaunchKernel(function, 1, 1, 1, 256, 1, 1, bytes, nullptr,
                                 parameters, nullptr);
  };
  CHECK_HIP(launch(kCount * sizeof(int)));
  expectEqual("values", device.read(),
              std::vector<int>(values.rbegin(), values.rend()));
  expectError("too much", launch(1 << 20), hipErrorInvalidConfiguration);
}

static unsigned mixLong(unsigned x, int rounds) {
  for (int i = 0; i < rounds; ++i)
    x = x * 1664525u + 1013904223u;
  return x;
}

// Work in one stream runs in order, an event makes another stream wait, and the
// time between two events is not negative.
CONFORMANCE_CASE(StreamsInOrder) {
  constexpr int kRounds = 2000;
  Loaded loaded;
  hipFunction_t mix = loaded.find("mixLong");
  Queue first, second;
  hipEvent_t begin, end;
  CHECK_HIP(hipEventCreate(&begin));
  CHECK_HIP(hipEventCreate(&end));
  Pinned in(1), out(1);
  *in.values = 12345;
  Buffer<int> device(1);
  int *pointer = device, rounds = kRounds;
  void *parameters[] = {&pointer, &rounds};
  CHECK_HIP(hipMemcpyAsync(device, in.values, 4, hipMemcpyHostToDevice, first));
  CHECK_HIP(hipEventRecord(begin, first));
  for (int i = 0; i < 3; ++i)
    CHECK_HIP(hipModuleLaunchKernel(mix, 1, 1, 1, 1, 1, 1, 0, first, parameters,
                                    nullptr));
  CHECK_HIP(hipEventRecord(end, first));
  CHECK_HIP(hipStreamWaitEvent(second, end, 0));
  CHECK_HIP(
      hipMemcpyAsync(out.values, device, 4, hipMemcpyDeviceToHost, second));
  CHECK_HIP(hipStreamSynchronize(second));
  expectEqual("value", std::vector<int>{*out.values},
              {static_cast<int>(mixLong(12345, 3 * kRounds))});
  float timeMs = -1;
  CHECK_HIP(hipEventElapsedTime(&timeMs, begin, end));
  expectEqual("time", std::vector<int>{timeMs > 0}, std::vector<int>{1});
  CHECK_HIP(hipEventQuery(end));
  CHECK_HIP(hipStreamQuery(first));
  CHECK_HIP(hipEventDestroy(begin));
  CHECK_HIP(hipEventDestroy(end));
}

// Host functions run in a stream, after the work before them.
CONFORMANCE_CASE(HostFunctions) {
  struct Seen {
    int value = 0, order = 0, status = -1;
    int *copied = nullptr;
  } seen;
  Queue queue;
  Pinned out(1);
  *out.values = 0;
  seen.copied = out.values;
  Buffer<int> device(std::vector<int>{77});
  CHECK_HIP(
      hipMemcpyAsync(out.values, device, 4, hipMemcpyDeviceToHost, queue));
  CHECK_HIP(hipStreamAddCallback(
      queue,
      [](hipStream_t, hipError_t status, void *data) {
        auto *seen = static_cast<Seen *>(data);
        seen->value = *seen->copied;
        seen->status = status;
        seen->order = 1;
      },
      &seen, 0));
  CHECK_HIP(hipStreamAddCallback(
      queue,
      [](hipStream_t, hipError_t, void *data) {
        static_cast<Seen *>(data)->order *= 5;
      },
      &seen, 0));
  CHECK_HIP(hipStreamSynchronize(queue));
  expectEqual("seen", std::vector<int>{seen.value, seen.order, seen.status},
              std::vector<int>{77, 5, hipSuccess});
}

// Fills of every element size, and 2-D copies with a pitch.
CONFORMANCE_CASE(FillsAndBlocks) {
  Buffer<uint32_t> device(16);
  auto *bytes = reinterpret_cast<char *>(static_cast<uint32_t *>(device));
  CHECK_HIP(hipMemsetD32(bytes, 0x01020304, 16));
  CHECK_HIP(hipMemsetD16(bytes + 4, 0xabcd, 2));
  CHECK_HIP(hipMemset(bytes + 11, 0x77, 1));
  std::vector<uint32_t> got = device.read();
  expectEqual(
      "fills", {got[0], got[1], got[2], got[15]},
      std::vector<uint32_t>{0x01020304, 0xabcdabcd, 0x77020304, 0x01020304});
  constexpr size_t kWidth = 12, kHeight = 5;
  std::vector<int> block = makeNumbers(kWidth / 4 * kHeight), back(64, -1);
  void *pitched = nullptr;
  size_t pitch = 0;
  CHECK_HIP(hipMallocPitch(&pitched, &pitch, kWidth, kHeight));
  CHECK_HIP(hipMemset2D(pitched, pitch, 0, kWidth, kHeight));
  CHECK_HIP(hipMemcpy2D(pitched, pitch, block.data(), kWidth, kWidth, 4,
                        hipMemcpyHostToDevice));
  CHECK_HIP(hipMemcpy2D(back.data(), 16, pitched, pitch, kWidth, kHeight,
                        hipMemcpyDeviceToHost));
  CHECK_HIP(hipFree(pitched));
  std::vector<int> want(64, -1);
  for (size_t y = 0; y < kHeight; ++y)
    for (size_t x = 0; x < 3; ++x)
      want[y * 4 + x] = y < 4 ? block[y * 3 + x] : 0;
  expectEqual("block", back, want);
}

// Kernels read and write pinned, registered and managed memory.
CONFORMANCE_CASE(HostMemory) {
  constexpr int kCount = 100;
  Loaded loaded;
  hipFunction_t function = loaded.find("addOffset");
  auto compare = [&](const char *name, int *host, int *device) {
    std::vector<int> want = makeNumbers(kCount);
    std::copy(want.begin(), want.end(), host);
    CHECK_HIP(addOffset(function, device, 2, kCount, nullptr));
    CHECK_HIP(hipDeviceSynchronize());
    for (int &value : want)
      value = value * 2 + 5;
    expectEqual(name, std::vector<int>(host, host + kCount), want);
  };
  Pinned pinned(kCount);
  void *mapped = nullptr;
  CHECK_HIP(hipHostGetDevicePointer(&mapped, pinned.values, 0));
  compare("pinned", pinned.values, static_cast<int *>(mapped));
  std::vector<int> own(kCount);
  CHECK_HIP(
      hipHostRegister(own.data(), kCount * sizeof(int), hipHostRegisterMapped));
  CHECK_HIP(hipHostGetDevicePointer(&mapped, own.data(), 0));
  compare("registered", own.data(), static_cast<int *>(mapped));
  expectError("again", hipHostRegister(own.data(), 4, 0),
              hipErrorHostMemoryAlreadyRegistered);
  CHECK_HIP(hipHostUnregister(own.data()));
  int *managed = nullptr;
  CHECK_HIP(hipMallocManaged(reinterpret_cast<void **>(&managed),
                             kCount * sizeof(int), hipMemAttachGlobal));
  compare("managed", managed, managed);
  hipPointerAttribute_t attributes;
  CHECK_HIP(hipPointerGetAttributes(&attributes, managed));
  expectEqual("attribute", std::vector<int>{attributes.isManaged}, {1});
  CHECK_HIP(hipFree(managed));
}

// A stream allocates and frees memory in its order.
CONFORMANCE_CASE(AllocationsInOrder) {
  constexpr int kCount = 300;
  Loaded loaded;
  hipFunction_t function = loaded.find("addOffset");
  Queue queue;
  std::vector<int> values = makeNumbers(kCount), got(kCount);
  void *memory = nullptr;
  CHECK_HIP(hipMallocAsync(&memory, kCount * sizeof(int), queue));
  CHECK_HIP(hipMemcpyAsync(memory, values.data(), kCount * sizeof(int),
                           hipMemcpyHostToDevice, queue));
  CHECK_HIP(addOffset(function, static_cast<int *>(memory), 7, kCount, queue));
  CHECK_HIP(hipMemcpyAsync(got.data(), memory, kCount * sizeof(int),
                           hipMemcpyDeviceToHost, queue));
  CHECK_HIP(hipFreeAsync(memory, queue));
  CHECK_HIP(hipStreamSynchronize(queue));
  for (int &value : values)
    value = value * 7 + 5;
  expectEqual("values", got, values);
}

// Threads with streams of their own share a module.
CONFORMANCE_CASE(Threads) {
  constexpr int kCount = 500, kThreads = 6, kRounds = 20;
  Loaded loaded;
  hipFunction_t function = loaded.find("addOffset");
  std::vector<std::vector<int>> got(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      Queue queue;
      Buffer<int> device(std::vector<int>(kCount, t));
      for (int round = 0; round < kRounds; ++round)
        CHECK_HIP(addOffset(function, device, 1, kCount, queue));
      CHECK_HIP(hipStreamSynchronize(queue));
      got[static_cast<size_t>(t)] = device.read();
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int t = 0; t < kThreads; ++t)
    expectEqual("thread", got[static_cast<size_t>(t)],
                std::vector<int>(kCount, t + 5 * kRounds));
}

// Mistakes return their error codes, and later calls work.
CONFORMANCE_CASE(Mistakes) {
  hipModule_t module;
  int onStack = 0;
  void *pointer = nullptr;
  hipDeviceProp_t properties;
  expectError("device", hipSetDevice(99), hipErrorInvalidDevice);
  expectError("properties", hipGetDeviceProperties(&properties, -1),
              hipErrorInvalidDevice);
  expectError("memory", hipMalloc(&pointer, size_t(1) << 48),
              hipErrorOutOfMemory);
  expectError("free", hipFree(&onStack), hipErrorInvalidValue);
  expectError("event", hipEventRecord(nullptr, nullptr), hipErrorInvalidHandle);
  expectError("file", hipModuleLoad(&module, "/no/such/file"),
              hipErrorFileNotFound);
  expectError("graph",
              hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal),
              hipErrorNotSupported);
  Buffer<int> device(std::vector<int>{3});
  expectEqual("after", device.read(), std::vector<int>{3});
}

// A kernel that writes to an address without memory ends with an error that
// says so. It runs by name only, because the process may not be able to use the
// device afterwards.
CONFORMANCE_CASE_BY_NAME(IllegalAddress) {
  Loaded loaded;
  hipFunction_t function = loaded.find("addOffset");
  auto *nowhere = reinterpret_cast<int *>(uintptr_t(1) << 44);
  hipError_t error = addOffset(function, nowhere, 1, 1, nullptr);
  if (error == hipSuccess)
    error = hipDeviceSynchronize();
  expectEqual("error", std::vector<int>{error},
              std::vector<int>{hipErrorIllegalAddress});
  std::quick_exit(error != hipErrorIllegalAddress);
}

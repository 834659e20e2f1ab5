//===- call-overhead.cpp - What a call costs the host ---------------------===//
//
// usage: call-overhead [CALLS]
//
// Times miopenConvolutionForward() and the immediate mode on one small problem
// whose kernel is loaded, call by call, and counts heap allocations.
// TESSERA_DEVICE selects the device. On the one that does nothing (built beside
// this program), the time is the library's own:
//
//   TESSERA_DEVICE=amd LD_LIBRARY_PATH=build/dev/lib/null-hip \
//     build/dev/bin/call-overhead
//
// Exits 1 if a call fails or allocates.
//
//===----------------------------------------------------------------------===//

#include "runtime/Gpu/DeviceBuffer.h"
#include "tools/support/Tool.h"

#include <tessera/tessera.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string_view>
#include <vector>

using namespace tessera;

static std::atomic<long> allocations{0};

// The library uses this operator too: it is linked dynamically.
void *operator new(size_t size) {
  ++allocations;
  if (void *memory = std::malloc(size ? size : 1))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

static void require(miopenStatus_t status, const char *what) {
  if (status == miopenStatusSuccess)
    return;
  std::fprintf(stderr, "call-overhead: error: %s: %s\n", what,
               tesseraGetLastErrorMessage());
  std::exit(1);
}

/// The HIP runtime, which is the one that the library uses.
static const GpuApi &getGpu() {
  ErrorOr<const GpuApi *> gpu = GpuApi::get();
  if (gpu)
    return **gpu;
  std::fprintf(stderr, "call-overhead: error: %s\n",
               gpu.getStatus().getMessage().c_str());
  std::exit(1);
}

namespace {
/// A 3x3 convolution of 8 to 8 channels on 4x4 pixels.
struct Case {
  miopenHandle_t handle = nullptr;
  miopenTensorDescriptor_t x = nullptr, w = nullptr, y = nullptr;
  miopenConvolutionDescriptor_t conv = nullptr;

  Case() {
    require(miopenCreate(&handle), "miopenCreate");
    for (miopenTensorDescriptor_t *tensor : {&x, &w, &y})
      require(miopenCreateTensorDescriptor(tensor), "tensor descriptor");
    setTensor(x, 1, 4);
    setTensor(w, 8, 3);
    setTensor(y, 1, 4);
    require(miopenCreateConvolutionDescriptor(&conv), "convolution descriptor");
    require(miopenInitConvolutionDescriptor(conv, miopenConvolution, 1, 1, 1, 1,
                                            1, 1),
            "convolution descriptor");
  }

  static void setTensor(miopenTensorDescriptor_t tensor, int n, int size) {
    int lengths[] = {n, 8, size, size};
    int strides[] = {8 * size * size, 1, 8 * size, 8};
    require(miopenSetTensorDescriptor(tensor, miopenHalf, 4, lengths, strides),
            "tensor descriptor");
  }
};

/// Nanoseconds of calls, in ascending order, and their allocations.
struct Timing {
  std::vector<double> sorted;
  long allocated;
};
} // namespace

static Timing timeCalls(int calls,
                        const std::function<miopenStatus_t()> &call) {
  using Clock = std::chrono::steady_clock;
  const GpuApi &gpu = getGpu();
  Timing timing{std::vector<double>(calls), 0};
  require(call(), "the first call");
  const long before = allocations;
  for (int i = 0; i < calls; ++i) {
    const Clock::time_point begin = Clock::now();
    const miopenStatus_t status = call();
    const Clock::time_point end = Clock::now();
    require(status, "a call");
    timing.sorted[i] =
        std::chrono::duration<double, std::nano>(end - begin).count();
    // A full queue makes its caller wait.
    constexpr int kQueue = 256;
    if (i % kQueue == 0)
      (void)gpu.hipDeviceSynchronize();
  }
  timing.allocated = allocations - before;
  std::ranges::sort(timing.sorted);
  return timing;
}

static bool report(const char *name, const Timing &timing) {
  auto get = [&](double share) {
    const size_t last = timing.sorted.size() - 1;
    return timing.sorted[static_cast<size_t>(share * last)];
  };
  std::printf("%-28s p50 %7.0f ns  p90 %7.0f ns  p99 %7.0f ns  "
              "%ld allocations\n",
              name, get(0.5), get(0.9), get(0.99), timing.allocated);
  return timing.allocated == 0;
}

static int runCalls(int argc, char **argv) {
  const std::string_view word = argc > 1 ? argv[1] : "100000";
  const int calls = std::atoi(word.data());
  if (calls < 1) {
    const bool isHelp = word == "--help" || word == "-h";
    std::fprintf(isHelp ? stdout : stderr, "usage: call-overhead [CALLS]\n");
    return isHelp ? 0 : 1;
  }
  constexpr size_t kBytes = 4096;
  ErrorOr<DeviceBuffer> memory = DeviceBuffer::allocate(getGpu(), kBytes);
  if (!memory) {
    std::fprintf(stderr, "call-overhead: error: %s\n",
                 memory.getStatus().getMessage().c_str());
    return 1;
  }
  // The result does not matter, so the three tensors may be the same memory.
  void *data = memory->get();
  const Case c;
  const float one = 1, zero = 0;
  const Timing clock = timeCalls(calls, [] { return miopenStatusSuccess; });
  const Timing forward = timeCalls(calls, [&] {
    return miopenConvolutionForward(c.handle, &one, c.x, data, c.w, data,
                                    c.conv, miopenConvolutionFwdAlgoDirect,
                                    &zero, c.y, data, nullptr, 0);
  });
  constexpr uint64_t kForward = 1001;
  const Timing immediate = timeCalls(calls, [&] {
    return miopenConvolutionForwardImmediate(c.handle, c.w, data, c.x, data,
                                             c.conv, c.y, data, nullptr, 0,
                                             kForward);
  });
  std::printf("%d calls each, runtime %s\n", calls, getGpu().getPath().c_str());
  bool isClean = report("(the clock itself)", clock);
  isClean &= report("miopenConvolutionForward", forward);
  isClean &= report("...ForwardImmediate", immediate);
  return isClean ? 0 : 1;
}

int main(int argc, char **argv) {
  return runTool("call-overhead", argc, argv, runCalls);
}

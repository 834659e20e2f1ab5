//===- OtherRuntimeTest.cpp - Two HIP runtimes in one process -------------===//
//
// A process warns once, and libraries stay loaded: each case runs in a child.
//
//===----------------------------------------------------------------------===//

#include "runtime/Gpu/OtherRuntime.h"

#include "runtime/Gpu/GpuApiLoader.h"
#include "test/unit/Support/FakeHip.h"

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstdlib>

using namespace tessera;
using namespace tessera::test;

static const testing::ExitedWithCode kExitsWell(0);

/// The end of every warning.
static const std::string kAdvice =
    "[^\n]*fake-amd/libamdhip64.so, but kernels run on [^\n]*libfake-hip.so; "
    "start the "
    "program with LD_PRELOAD=[^\n]*libfake-hip.so, or "
    "[^\n]*LD_LIBRARY_PATH[^\n]*"
    "the only one\n$";

/// The runtime that the client uses, and that kernels do not run on.
static GpuApi loadOther() {
  const std::string path = getFakeHipPath("fake-amd/libamdhip64");
  if (!dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
    std::exit(1);
  return *GpuApiLoader::useLoadedFile(path);
}

static void *allocate(const GpuApi &gpu) {
  void *memory = nullptr;
  if (gpu.hipMalloc(&memory, 16) != hipSuccess)
    std::exit(1);
  return memory;
}

static hipStream_t makeStream(const GpuApi &gpu) {
  hipStream_t stream = nullptr;
  if (gpu.hipStreamCreate(&stream) != hipSuccess)
    std::exit(1);
  return stream;
}

/// Runs a client in a child, which writes these words to stderr and nothing
/// else.
static void expectSaid(const std::string &words, void (*run)()) {
  EXPECT_EXIT(
      {
        run();
        std::exit(0);
      },
      kExitsWell, words);
}

// Another libamdhip64 is reported once, however often the check runs.
TEST(OtherRuntimeDeathTest, IsToldOfOnce) {
  expectSaid(
      "^MIOpen\\(HIP\\): Warning the process has loaded the HIP runtime " +
          kAdvice,
      [] {
        const GpuApi &gpu = loadFakeHip();
        warnOfOtherRuntime(gpu); // No other runtime is loaded yet.
        const GpuApi other = loadOther();
        for (int i = 0; i < 3; ++i)
          warnOfOtherRuntime(gpu);
        const void *memory = allocate(other);
        warnOfForeignMemory(gpu, {&memory, 1});
      });
}

// Memory of another runtime is recognised by its owner; our memory, and memory
// that no runtime knows, cause no warning.
TEST(OtherRuntimeDeathTest, OwnsMemory) {
  expectSaid("^so far well\n[^\n]*Warning memory of a call belongs to the HIP "
             "runtime " +
                 kAdvice,
             [] {
               const GpuApi &gpu = loadFakeHip();
               const GpuApi other = loadOther();
               int onTheStack = 0;
               std::array<const void *, 3> memory = {allocate(gpu), nullptr,
                                                     &onTheStack};
               warnOfForeignMemory(gpu, memory);
               std::fprintf(stderr, "so far well\n");
               memory[1] = allocate(other);
               warnOfForeignMemory(gpu, memory);
               warnOfForeignMemory(gpu, memory);
             });
}

// Streams are recognised in the same way.
TEST(OtherRuntimeDeathTest, OwnsStreams) {
  expectSaid("^so far well\n[^\n]*Warning a handle's stream belongs to the HIP "
             "runtime " +
                 kAdvice,
             [] {
               const GpuApi &gpu = loadFakeHip();
               const GpuApi other = loadOther();
               warnOfForeignStream(gpu, nullptr);
               warnOfForeignStream(gpu, makeStream(gpu));
               std::fprintf(stderr, "so far well\n");
               warnOfForeignStream(gpu, makeStream(other));
             });
}

// A libamdhip64 without a device, which only our own choice has loaded, is not
// the client's.
TEST(OtherRuntimeDeathTest, OursToTryIsNoSign) {
  expectSaid("^$", [] {
    const ErrorOr<GpuApi> gpu =
        GpuApiLoader({{DeviceKind::Amd,
                       getFakeHipPath("fake-amd-no-device/libamdhip64")},
                      {DeviceKind::Amd, getFakeHipPath("fake-hip")}})
            .load("amd");
    if (!gpu)
      std::exit(1);
    warnOfOtherRuntime(*gpu);
  });
}

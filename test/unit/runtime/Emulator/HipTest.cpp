//===- HipTest.cpp - The emulated device as an application sees it --------===//

#include "test/unit/runtime/Emulator/Assembler.h"

#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>

extern "C" size_t tesseraDeviceGetLastError(char *text, size_t size);
extern "C" const char *tesseraDeviceKind();
extern "C" hipError_t tesseraTakeIssueCycles(int countFurther,
                                             uint64_t *cycles);

using namespace tessera::emulator;

/// The device reads its settings once, before the first call.
static const std::string kStatsPath = [] {
  std::string path = ::testing::TempDir() + "tessera-emulator-stats.json";
  std::remove(path.c_str());
  setenv("TESSERA_DEVICE", "emulated:gfx942", 1);
  setenv("TESSERA_EMULATOR_STATS", path.c_str(), 1);
  setenv("TESSERA_EMULATOR_LOG", "0", 1);
  return path;
}();

static std::string getLastText() {
  char text[1024];
  (void)tesseraDeviceGetLastError(text, sizeof text);
  return text;
}

/// out[i] = in[i] * 2 for one group of 64.
static KernelSource makeDoubling() {
  KernelSource source;
  source.name = "doubling";
  source.argumentBytes = 16;
  source.body = "s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n"
                "v_lshlrev_b32 v1, 2, v0\nglobal_load_dword v2, v1, s[4:5]\n"
                "s_waitcnt vmcnt(0)\nv_lshlrev_b32 v2, 1, v2\n"
                "global_store_dword v1, v2, s[6:7]";
  return source;
}

namespace {
struct Loaded {
  hipModule_t module = nullptr;
  hipFunction_t function = nullptr;
  explicit Loaded(const KernelSource &source) {
    std::vector<uint8_t> bytes = assembleKernel(source);
    EXPECT_EQ(hipModuleLoadData(&module, bytes.data()), hipSuccess);
    EXPECT_EQ(hipModuleGetFunction(&function, module, source.name.c_str()),
              hipSuccess);
  }
  ~Loaded() { EXPECT_EQ(hipModuleUnload(module), hipSuccess); }
};
} // namespace

static hipError_t launch(hipFunction_t function, void *in, void *out,
                         unsigned threads = 64) {
  void *arguments[] = {&in, &out};
  return hipModuleLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, nullptr,
                               arguments, nullptr);
}

// The properties name the chip.
TEST(Hip, DescribesDevice) {
  int count = 0;
  ASSERT_EQ(hipGetDeviceCount(&count), hipSuccess);
  EXPECT_EQ(count, 1);
  hipDeviceProp_t properties;
  ASSERT_EQ(hipGetDeviceProperties(&properties, 0), hipSuccess);
  EXPECT_STREQ(properties.gcnArchName, "gfx942:sramecc+:xnack-");
  EXPECT_EQ(properties.multiProcessorCount, 304);
  EXPECT_EQ(properties.warpSize, 64);
  EXPECT_EQ(properties.major, 9);
  EXPECT_EQ(properties.minor, 4);
  int value = 0;
  EXPECT_EQ(
      hipDeviceGetAttribute(&value, hipDeviceAttributeMultiprocessorCount, 0),
      hipSuccess);
  EXPECT_EQ(value, 304);
  EXPECT_EQ(hipSetDevice(1), hipErrorInvalidDevice);
  EXPECT_STREQ(tesseraDeviceKind(), "emulated");
}

// A kernel computes a result in device memory; both ways of passing arguments
// work.
TEST(Hip, RunsKernel) {
  Loaded kernel(makeDoubling());
  void *in = nullptr, *out = nullptr;
  ASSERT_EQ(hipMalloc(&in, 256), hipSuccess);
  ASSERT_EQ(hipMalloc(&out, 256), hipSuccess);
  std::vector<int> host(64);
  for (int i = 0; i < 64; ++i)
    host[static_cast<size_t>(i)] = i;
  ASSERT_EQ(hipMemcpy(in, host.data(), 256, hipMemcpyHostToDevice), hipSuccess);
  EXPECT_EQ(launch(kernel.function, in, out), hipSuccess) << getLastText();
  ASSERT_EQ(hipMemcpy(host.data(), out, 256, hipMemcpyDeviceToHost),
            hipSuccess);
  EXPECT_EQ(host[21], 42);
  void *packed[] = {out, in};
  size_t size = sizeof packed;
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, packed,
                   HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
  EXPECT_EQ(hipModuleLaunchKernel(kernel.function, 1, 1, 1, 64, 1, 1, 0,
                                  nullptr, nullptr, extra),
            hipSuccess);
  ASSERT_EQ(hipMemcpy(host.data(), in, 256, hipMemcpyDeviceToHost), hipSuccess);
  EXPECT_EQ(host[21], 84);
  EXPECT_EQ(hipFree(in), hipSuccess);
  EXPECT_EQ(hipFree(out), hipSuccess);
}

// An illegal access gives an error code and a text, and the device stays
// usable.
TEST(Hip, IllegalAccessIsReported) {
  Loaded kernel(makeDoubling());
  void *in = nullptr, *out = nullptr;
  ASSERT_EQ(hipMalloc(&in, 256), hipSuccess);
  ASSERT_EQ(hipMalloc(&out, 200), hipSuccess);
  EXPECT_EQ(launch(kernel.function, in, out), hipErrorIllegalAddress);
  std::string text = getLastText();
  for (const char *part : {"kernel 'doubling'", "pc 0x", "lane 50",
                           "global_store_dword v1, v2, s[6:7]"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_EQ(hipGetLastError(), hipErrorIllegalAddress);
  EXPECT_EQ(hipGetLastError(), hipSuccess);
  EXPECT_EQ(launch(kernel.function, in, out, 50), hipSuccess);
  EXPECT_EQ(hipFree(out), hipSuccess);
  EXPECT_EQ(launch(kernel.function, in, out, 50), hipErrorIllegalAddress);
  EXPECT_NE(getLastText().find("freed"), std::string::npos);
  EXPECT_EQ(hipFree(in), hipSuccess);
  EXPECT_EQ(hipFree(in), hipErrorInvalidValue);
}

// An instruction that the emulator lacks is named.
TEST(Hip, UnknownInstructionIsReported) {
  KernelSource source;
  source.body = "s_setvskip s0, s1";
  Loaded kernel(source);
  EXPECT_EQ(launch(kernel.function, nullptr, nullptr),
            hipErrorInvalidDeviceFunction);
  EXPECT_NE(getLastText().find("s_setvskip"), std::string::npos);
}

// A file that is not a code object, or is for another chip, is refused.
TEST(Hip, RefusesWrongImages) {
  hipModule_t module;
  std::vector<uint8_t> garbage(4096, 1);
  EXPECT_EQ(hipModuleLoadData(&module, garbage.data()), hipErrorInvalidImage);
  KernelSource source = makeDoubling();
  source.chip = "gfx90a";
  std::vector<uint8_t> other = assembleKernel(source);
  EXPECT_EQ(hipModuleLoadData(&module, other.data()), hipErrorNoBinaryForGpu);
  EXPECT_NE(getLastText().find("gfx90a"), std::string::npos);
}

// A directory can be opened, but reading it must not throw through the C API.
TEST(Hip, RefusesFolderAsModule) {
  hipModule_t module = nullptr;
  EXPECT_EQ(hipModuleLoad(&module, "/"), hipErrorFileNotFound);
  EXPECT_EQ(module, nullptr);
}

// Each wrong argument has its error code.
TEST(Hip, RefusesWrongArguments) {
  Loaded kernel(makeDoubling());
  hipFunction_t function;
  EXPECT_EQ(hipModuleGetFunction(&function, kernel.module, "nothing"),
            hipErrorNotFound);
  EXPECT_EQ(launch(kernel.function, nullptr, nullptr, 0),
            hipErrorInvalidConfiguration);
  EXPECT_EQ(launch(kernel.function, nullptr, nullptr, 2000),
            hipErrorInvalidConfiguration);
  EXPECT_EQ(launch(nullptr, nullptr, nullptr), hipErrorInvalidHandle);
  void *pointer = &pointer;
  EXPECT_EQ(hipMalloc(&pointer, 0), hipSuccess);
  EXPECT_EQ(pointer, nullptr);
  ASSERT_EQ(hipMalloc(&pointer, 16), hipSuccess);
  char buffer[32];
  EXPECT_EQ(hipMemcpy(pointer, buffer, 17, hipMemcpyHostToDevice),
            hipErrorInvalidValue);
  EXPECT_EQ(hipMemset(pointer, 0, 17), hipErrorInvalidValue);
  EXPECT_EQ(hipFree(pointer), hipSuccess);
}

// Streams and events are handles that are checked, and time increases.
TEST(Hip, StreamsAndEvents) {
  hipStream_t stream;
  ASSERT_EQ(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking),
            hipSuccess);
  hipEvent_t begin, end;
  ASSERT_EQ(hipEventCreate(&begin), hipSuccess);
  ASSERT_EQ(hipEventCreate(&end), hipSuccess);
  float timeMs = -1;
  EXPECT_EQ(hipEventElapsedTime(&timeMs, begin, end), hipErrorInvalidHandle);
  EXPECT_EQ(hipEventRecord(begin, stream), hipSuccess);
  EXPECT_EQ(hipEventRecord(end, stream), hipSuccess);
  EXPECT_EQ(hipEventElapsedTime(&timeMs, begin, end), hipSuccess);
  EXPECT_GE(timeMs, 0);
  EXPECT_EQ(hipStreamWaitEvent(stream, end, 0), hipSuccess);
  EXPECT_EQ(hipStreamSynchronize(stream), hipSuccess);
  EXPECT_EQ(hipEventDestroy(begin), hipSuccess);
  EXPECT_EQ(hipEventRecord(begin, stream), hipErrorInvalidHandle);
  EXPECT_EQ(hipEventDestroy(end), hipSuccess);
  EXPECT_EQ(hipStreamDestroy(stream), hipSuccess);
  EXPECT_EQ(hipStreamSynchronize(stream), hipErrorInvalidHandle);
}

// Each launch appends a line of statistics.
TEST(Hip, WritesStatistics) {
  Loaded kernel(makeDoubling());
  void *memory = nullptr;
  ASSERT_EQ(hipMalloc(&memory, 256), hipSuccess);
  ASSERT_EQ(launch(kernel.function, memory, memory), hipSuccess);
  ASSERT_EQ(hipFree(memory), hipSuccess);
  std::ifstream file(kStatsPath);
  std::string line, last;
  while (std::getline(file, line))
    last = line;
  for (const char *part :
       {"\"kernel\":\"doubling\"", "\"valu\":2,", "\"vmem_load\":1,",
        "\"vmem_store\":1,", "\"wait\":2,", "\"bytes_loaded\":256,",
        "\"bytes_stored\":256,"})
    EXPECT_NE(last.find(part), std::string::npos) << part << "\n" << last;
}

// A thread gets the issue cycles of its own launches since its last call.
TEST(Hip, CountsIssueCyclesForWhoAsks) {
  Loaded kernel(makeDoubling());
  void *memory = nullptr;
  ASSERT_EQ(hipMalloc(&memory, 256), hipSuccess);
  auto launchAndTake = [&](bool countFurther) {
    EXPECT_EQ(launch(kernel.function, memory, memory), hipSuccess);
    uint64_t cycles = 0;
    EXPECT_EQ(tesseraTakeIssueCycles(countFurther, &cycles), hipSuccess);
    return cycles;
  };
  EXPECT_EQ(launchAndTake(true), 0u);
  const uint64_t once = launchAndTake(true);
  EXPECT_GT(once, 0u);
  EXPECT_EQ(launch(kernel.function, memory, memory), hipSuccess);
  EXPECT_EQ(launchAndTake(false), 2 * once);
  EXPECT_EQ(launchAndTake(false), 0u);
  ASSERT_EQ(hipFree(memory), hipSuccess);
}

// A launch that is predicted takes microseconds of clocks, which repeat, and
// issue cycles are none of them.
TEST(Hip, PredictsClocksForWhoAsks) {
  constexpr int kNothing = 0, kIssue = 1, kPredict = 2;
  constexpr uint64_t kLeast = 2000, kMost = 100'000;
  Loaded kernel(makeDoubling());
  void *memory = nullptr;
  ASSERT_EQ(hipMalloc(&memory, 256), hipSuccess);
  uint64_t cycles = 0;
  auto launchAndTake = [&](int countFurther) {
    EXPECT_EQ(launch(kernel.function, memory, memory), hipSuccess);
    EXPECT_EQ(tesseraTakeIssueCycles(countFurther, &cycles), hipSuccess);
    return cycles;
  };
  if (launchAndTake(kIssue); launchAndTake(kNothing) >= kLeast)
    GTEST_SKIP() << "issue cycles are as many as a launch takes";
  ASSERT_EQ(tesseraTakeIssueCycles(kPredict, &cycles), hipSuccess);
  const uint64_t once = launchAndTake(kPredict);
  EXPECT_GE(once, kLeast);
  EXPECT_LE(once, kMost);
  EXPECT_EQ(launchAndTake(kNothing), once);
  ASSERT_EQ(hipFree(memory), hipSuccess);
}

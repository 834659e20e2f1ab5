//===- PlantedFaultTest.cpp - What an application learns of its bugs ------===//
//
// Realistic kernels with one bug each, launched through HIP with every check
// on, and beside each the same kernel without the bug.
//
//===----------------------------------------------------------------------===//

#include "test/unit/runtime/Emulator/OpenClCompiler.h"

#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

extern "C" size_t tesseraDeviceGetLastError(char *text, size_t size);

using namespace tessera::emulator;

static constexpr unsigned kThreads = 256;
static constexpr size_t kBytes = 4096;

namespace {
/// Two buffers, `in` and `out`, of 4096 bytes.
class PlantedFault : public ::testing::Test {
protected:
  // The device reads its settings once, before the first call.
  static void SetUpTestSuite() {
    setenv("TESSERA_DEVICE", "emulated:gfx942", 1);
    setenv("TESSERA_EMULATOR_CHECK", "all", 1);
    setenv("TESSERA_EMULATOR_MAX_INSTRUCTIONS", "100000", 1);
    setenv("TESSERA_EMULATOR_LOG", "0", 1);
  }
  void SetUp() override {
    if (!hasOpenClCompiler())
      GTEST_SKIP();
    for (void **buffer : {&in, &out}) {
      ASSERT_EQ(hipMalloc(buffer, kBytes), hipSuccess);
      ASSERT_EQ(hipMemset(*buffer, 0, kBytes), hipSuccess);
    }
  }
  void TearDown() override {
    (void)hipFree(in);
    (void)hipFree(out);
  }

  hipError_t run(const std::string &body, unsigned groups = 1,
                 unsigned threads = kThreads) {
    std::vector<uint8_t> image = compileOpenCl(
        "gfx942",
        "kernel void planted(global int *in, global int *out) {" + body + "}");
    hipModule_t module = nullptr;
    hipFunction_t function = nullptr;
    EXPECT_EQ(hipModuleLoadData(&module, image.data()), hipSuccess);
    EXPECT_EQ(hipModuleGetFunction(&function, module, "planted"), hipSuccess);
    void *arguments[] = {&in, &out};
    hipError_t error = hipModuleLaunchKernel(function, groups, 1, 1, threads, 1,
                                             1, 0, nullptr, arguments, nullptr);
    EXPECT_EQ(hipModuleUnload(module), hipSuccess);
    return error;
  }
  void runWell(const std::string &body, unsigned groups = 1,
               unsigned threads = kThreads) {
    EXPECT_EQ(run(body, groups, threads), hipSuccess) << getText();
  }
  void expectText(std::initializer_list<const char *> words) {
    std::string text = getText();
    for (const char *word : words)
      EXPECT_NE(text.find(word), std::string::npos) << word << " is not in\n"
                                                    << text;
  }
  static std::string getText() {
    char text[4096];
    (void)tesseraDeviceGetLastError(text, sizeof text);
    return text;
  }

  void *in = nullptr;
  void *out = nullptr;
};
} // namespace

// The last tap of a filter reads one element past the input. The message has
// the kernel, the group, the lane, the access, and how far it is from which
// allocation.
TEST_F(PlantedFault, TapOutOfBounds) {
  const std::string body = R"(
    int i = GID * 256 + TID, sum = 0;
    for (int tap = 0; tap < 3; ++tap)
      if (i + tap < LIMIT) sum += in[i + tap];
    out[i] = sum;)";
  runWell("enum { LIMIT = 1024 };" + body, 4);
  EXPECT_EQ(run("enum { LIMIT = 1025 };" + body, 4), hipErrorIllegalAddress);
  expectText({"kernel 'planted'", "workgroup (3, 0, 0)", "lane 63",
              "load of 4 bytes 0 bytes past the end of the 4096-byte "
              "allocation",
              "global_load_dword"});
}

// The kernel uses a buffer that the host has freed.
TEST_F(PlantedFault, UseAfterFree) {
  ASSERT_EQ(hipFree(in), hipSuccess);
  EXPECT_EQ(run("out[TID] = in[TID + 4];"), hipErrorIllegalAddress);
  expectText({"16 bytes into the 4096-byte allocation", "which was freed"});
  in = nullptr;
}

// An atomic has a misaligned address.
TEST_F(PlantedFault, MisalignedAtomic) {
  EXPECT_EQ(run(R"(
    global int *at = (global int *)((global char *)out + 2);
    if (TID == 0)
      __scoped_atomic_fetch_add(at, 1, __ATOMIC_RELAXED,
                                __MEMORY_SCOPE_DEVICE);)"),
            hipErrorLaunchFailure);
  expectText({"naturally aligned", "global_atomic_add", "lane 0",
              "2 bytes into the 4096-byte allocation"});
}

// A vector load or store may have any alignment.
TEST_F(PlantedFault, MisalignedVectorAccessIsLegal) {
  runWell(R"(
    typedef int __attribute__((aligned(1))) loose;
    global loose *from = (global loose *)((global char *)in + 1);
    global loose *to = (global loose *)((global char *)out + 1);
    to[TID] = from[TID];)");
}

// A barrier is missing between filling a tile and using it.
TEST_F(PlantedFault, MissingBarrier) {
  const std::string head = "local int tile[256]; tile[TID] = in[TID];";
  const std::string tail = "out[TID] = tile[255 - TID];";
  runWell(head + "BARRIER();" + tail);
  EXPECT_EQ(run(head + tail), hipErrorLaunchFailure);
  expectText({"race on LDS bytes", "ds_write_b32", "ds_read_b32"});
}

// Nobody fills the edge of a tile.
TEST_F(PlantedFault, UnwrittenLds) {
  const std::string body =
      "local int tile[257]; tile[TID + FIRST] = in[TID]; BARRIER();"
      "out[TID] = tile[TID];";
  runWell("enum { FIRST = 0 };" + body);
  EXPECT_EQ(run("enum { FIRST = 1 };" + body), hipErrorLaunchFailure);
  expectText({"nobody in the group has written byte 0x0", "ds_read_b32"});
}

// Half of a wave does not come to the barrier.
TEST_F(PlantedFault, DivergentBarrier) {
  EXPECT_EQ(run("if (TID % 64 < 32) { BARRIER(); out[TID] = 1; }"),
            hipErrorLaunchFailure);
  expectText({"32 of the wave's lanes do not come", "s_barrier"});
}

// Two groups write different values to one element.
TEST_F(PlantedFault, TwoGroupsWriteOneElement) {
  runWell("out[GID * 256 + TID] = TID;", 4);
  EXPECT_EQ(run("out[GID * 255 + TID] = TID;", 4), hipErrorLaunchFailure);
  expectText({"this store and the store of workgroup"});
}

// A loop never ends.
TEST_F(PlantedFault, EndlessLoop) {
  EXPECT_EQ(run("while (*(volatile global int *)in == 0) ; out[TID] = 1;"),
            hipErrorLaunchTimeOut);
  expectText({"kernel 'planted'", "instructions"});
}

// The last group is not full, but nothing is wrong with the kernel.
TEST_F(PlantedFault, PartialGroup) {
  runWell(R"(
    local int tile[256];
    tile[TID] = in[TID];
    BARRIER();
    out[TID] = tile[TID ^ 1];)",
          1, 230);
}

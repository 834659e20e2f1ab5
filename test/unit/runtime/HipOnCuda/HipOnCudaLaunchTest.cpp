//===- HipOnCudaLaunchTest.cpp - Code and its launches --------------------===//

#include "test/unit/Support/FakeCuda.h"
#include "test/unit/Support/SampleKernel.h"

#include <cstring>
#include <gtest/gtest.h>
#include <thread>

extern "C" size_t tesseraDeviceGetLastError(char *text, size_t size);
extern "C" void **__hipRegisterFatBinary(const void *data);
extern "C" void __hipRegisterFunction(void **, const void *, char *,
                                      const char *, unsigned, void *, void *,
                                      void *, void *, int *);
extern "C" void __hipUnregisterFatBinary(void **handle);

extern "C" hipError_t tesseraEncodeTensorMap(void *descriptor,
                                             const tessera::TensorMap *map,
                                             const void *address);

extern "C" decltype(hipModuleLaunchKernel) tesseraLaunchDependent;

using namespace tessera::test;
using tessera::cuda::CudaError;

static FakeCuda &cuda = loadFakeCuda();

static std::string getLastText() {
  char text[4096];
  (void)tesseraDeviceGetLastError(text, sizeof text);
  return text;
}

namespace {
/// A module with `scale`, a kernel of two arguments.
struct HipOnCudaLaunch : testing::Test {
  hipModule_t module = nullptr;
  hipFunction_t scale = nullptr;
  void SetUp() override {
    ASSERT_EQ(hipModuleLoadData(&module, "FAKE-PTX scale 2 other 0"),
              hipSuccess);
    ASSERT_EQ(hipModuleGetFunction(&scale, module, "scale"), hipSuccess);
  }
  void TearDown() override { EXPECT_EQ(hipModuleUnload(module), hipSuccess); }

  hipError_t launch(unsigned block, unsigned sharedBytes, void **params,
                    void **extra) const {
    return hipModuleLaunchKernel(scale, 5, 6, 7, block, 2, 1, sharedBytes,
                                 nullptr, params, extra);
  }
};
} // namespace

// Arguments are passed one by one.
TEST_F(HipOnCudaLaunch, TakesParameters) {
  uint64_t a = 11, b = 22;
  void *params[] = {&a, &b};
  ASSERT_EQ(launch(64, 256, params, nullptr), hipSuccess);
  FakeCudaLaunch seen = cuda.takeLaunch();
  EXPECT_EQ(seen.kernel, "scale");
  EXPECT_EQ(seen.grid, (std::array<unsigned, 3>{5, 6, 7}));
  EXPECT_EQ(seen.block, (std::array<unsigned, 3>{64, 2, 1}));
  EXPECT_EQ(seen.sharedBytes, 256u);
  EXPECT_EQ(seen.arguments, (std::vector<uint64_t>{11, 22}));
  EXPECT_FALSE(seen.isCooperative);
}

// Arguments are passed as one buffer, whose list ends with another marker in
// CUDA.
TEST_F(HipOnCudaLaunch, TakesBuffers) {
  uint64_t buffer[] = {33, 44};
  size_t bytes = sizeof buffer;
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   HIP_LAUNCH_PARAM_BUFFER_POINTER, buffer,
                   HIP_LAUNCH_PARAM_END};
  ASSERT_EQ(launch(32, 0, nullptr, extra), hipSuccess);
  EXPECT_EQ(cuda.takeLaunch().arguments, (std::vector<uint64_t>{33, 44}));
  void *half[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, buffer,
                  HIP_LAUNCH_PARAM_END};
  EXPECT_EQ(launch(32, 0, nullptr, half), hipErrorInvalidValue);
  void *unknown[] = {reinterpret_cast<void *>(9), buffer, HIP_LAUNCH_PARAM_END};
  EXPECT_EQ(launch(32, 0, nullptr, unknown), hipErrorInvalidValue);
}

// A dependent launch is another call of the driver, with the same arguments and
// the same refusals.
TEST_F(HipOnCudaLaunch, LaunchesDependents) {
  uint64_t buffer[] = {55, 66};
  size_t bytes = sizeof buffer;
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, buffer,
                   HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_END};
  auto launchDependent = [&](unsigned block) {
    return tesseraLaunchDependent(scale, 5, 6, 7, block, 2, 1, 256, nullptr,
                                  nullptr, extra);
  };
  ASSERT_EQ(launchDependent(64), hipSuccess);
  FakeCudaLaunch seen = cuda.takeLaunch();
  EXPECT_TRUE(seen.isDependent);
  EXPECT_EQ(seen.kernel, "scale");
  EXPECT_EQ(seen.grid, (std::array<unsigned, 3>{5, 6, 7}));
  EXPECT_EQ(seen.block, (std::array<unsigned, 3>{64, 2, 1}));
  EXPECT_EQ(seen.sharedBytes, 256u);
  EXPECT_EQ(seen.arguments, (std::vector<uint64_t>{55, 66}));
  ASSERT_EQ(launch(64, 256, nullptr, extra), hipSuccess);
  EXPECT_FALSE(cuda.takeLaunch().isDependent);
  EXPECT_EQ(launchDependent(512), hipErrorInvalidConfiguration);
  cuda.failNext("cuLaunchKernelEx", CudaError::LaunchOutOfResources);
  EXPECT_EQ(launchDependent(64), hipErrorLaunchOutOfResources);
}

// A launch only has to ask for more than 48 KiB of shared memory, up to what
// the device has; beyond that it is refused with both numbers.
TEST_F(HipOnCudaLaunch, RaisesTheSharedMemoryLimit) {
  uint64_t a = 0, b = 0;
  void *params[] = {&a, &b};
  int sets = cuda.getCalls("cuFuncSetAttribute");
  EXPECT_EQ(launch(32, 200 << 10, params, nullptr), hipSuccess);
  EXPECT_EQ(cuda.takeLaunch().sharedBytes, 200u << 10);
  EXPECT_EQ(cuda.getCalls("cuFuncSetAttribute"), sets);
  int limit = 0;
  EXPECT_EQ(
      hipFuncGetAttribute(
          &limit, HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, scale),
      hipSuccess);
  EXPECT_EQ(limit, (227 << 10) - 1024);
  EXPECT_EQ(launch(32, 227 << 10, params, nullptr),
            hipErrorInvalidConfiguration);
  EXPECT_EQ(getLastText(), "the kernel allows 231424 bytes of dynamic shared "
                           "memory, not 232448");
}

// An impossible configuration is distinguished from wrong arguments.
TEST_F(HipOnCudaLaunch, RefusesConfigurations) {
  uint64_t a = 0, b = 0;
  void *params[] = {&a, &b};
  EXPECT_EQ(launch(0, 0, params, nullptr), hipErrorInvalidConfiguration);
  EXPECT_EQ(launch(512, 0, params, nullptr), hipErrorInvalidConfiguration);
  EXPECT_EQ(getLastText(),
            "the kernel allows blocks of 1 to 512 threads, not of 1024");
  EXPECT_EQ(hipModuleLaunchKernel(scale, 0, 1, 1, 32, 1, 1, 0, nullptr, params,
                                  nullptr),
            hipErrorInvalidConfiguration);
  EXPECT_EQ(hipModuleLaunchKernel(nullptr, 1, 1, 1, 32, 1, 1, 0, nullptr,
                                  params, nullptr),
            hipErrorInvalidHandle);
  cuda.failNext("cuLaunchKernel", CudaError::InvalidValue);
  EXPECT_EQ(launch(32, 0, params, nullptr), hipErrorInvalidValue);
  cuda.failNext("cuLaunchKernel", CudaError::LaunchOutOfResources);
  EXPECT_EQ(launch(32, 0, params, nullptr), hipErrorLaunchOutOfResources);
}

// A launch goes to the device of the thread.
TEST_F(HipOnCudaLaunch, LaunchesWhereTheThreadIs) {
  uint64_t a = 0, b = 0;
  void *params[] = {&a, &b};
  std::thread([&] {
    EXPECT_EQ(hipSetDevice(1), hipSuccess);
    EXPECT_EQ(launch(32, 0, params, nullptr), hipSuccess);
  }).join();
  EXPECT_EQ(cuda.takeLaunch().device, 1);
}

// Images that are no code, or code for AMD, are refused; the compiler's words
// are kept.
TEST_F(HipOnCudaLaunch, RefusesWrongImages) {
  hipModule_t wrong;
  EXPECT_EQ(hipModuleLoadData(&wrong, "nonsense"), hipErrorInvalidKernelFile);
  EXPECT_NE(getLastText().find("line 1: no PTX at all"), std::string::npos);
  std::vector<char> elf(64);
  const char magic[] = "\177ELF";
  std::copy(magic, magic + 4, elf.begin());
  elf[18] = static_cast<char>(224);
  EXPECT_EQ(hipModuleLoadData(&wrong, elf.data()), hipErrorNoBinaryForGpu);
  EXPECT_EQ(hipModuleLoadData(&wrong, "__CLANG_OFFLOAD_BUNDLE__"),
            hipErrorNoBinaryForGpu);
  EXPECT_EQ(getLastText(),
            "the code is for AMD's chips, but the device is NVIDIA's");
  EXPECT_EQ(hipModuleLoad(&wrong, "/"), hipErrorFileNotFound);
  EXPECT_EQ(wrong, nullptr);
}

// Functions are found by name and know it; functions of an unloaded module, and
// the module itself, are errors.
TEST_F(HipOnCudaLaunch, ModulesEnd) {
  EXPECT_STREQ(hipKernelNameRef(scale), "scale");
  hipFunction_t function;
  EXPECT_EQ(hipModuleGetFunction(&function, module, "nothing"),
            hipErrorNotFound);
  EXPECT_EQ(getLastText(), "the module has no kernel 'nothing'");
  hipModule_t other;
  ASSERT_EQ(hipModuleLoadData(&other, "FAKE-PTX gone 0"), hipSuccess);
  ASSERT_EQ(hipModuleGetFunction(&function, other, "gone"), hipSuccess);
  EXPECT_EQ(hipModuleUnload(other), hipSuccess);
  EXPECT_EQ(hipKernelNameRef(function), nullptr);
  EXPECT_EQ(hipModuleUnload(other), hipErrorInvalidHandle);
  EXPECT_EQ(hipModuleGetFunction(&function, other, "gone"),
            hipErrorInvalidHandle);
}

// Many threads look up and launch at once.
TEST_F(HipOnCudaLaunch, ThreadsShareModules) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([this] {
      uint64_t a = 1, b = 2;
      void *params[] = {&a, &b};
      for (int repeat = 0; repeat < 100; ++repeat) {
        hipFunction_t found;
        EXPECT_EQ(hipModuleGetFunction(&found, module, "scale"), hipSuccess);
        EXPECT_EQ(found, scale);
        EXPECT_EQ(launch(32, 100 << 10, params, nullptr), hipSuccess);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  std::lock_guard lock(cuda.mutex);
  EXPECT_EQ(cuda.launches.size(), 800u);
  cuda.launches.clear();
}

// A program's own kernels: what clang's constructors register is loaded at the
// first launch, in whatever form of code the program has.
TEST(HipOnCudaProgram, LaunchesRegisteredKernels) {
  struct {
    uint32_t magic = 0x48495046, version = 1;
    const void *code = "FAKE-PTX kernel 1";
    void *unused = nullptr;
  } wrapper;
  static char stub;
  void **handle = __hipRegisterFatBinary(&wrapper);
  __hipRegisterFunction(handle, &stub, nullptr, "kernel", 0, nullptr, nullptr,
                        nullptr, nullptr, nullptr);
  uint64_t value = 77;
  void *params[] = {&value};
  EXPECT_EQ(hipLaunchKernel(&stub, dim3(2), dim3(64), params, 0, nullptr),
            hipSuccess);
  FakeCudaLaunch seen = cuda.takeLaunch();
  EXPECT_EQ(seen.kernel, "kernel");
  EXPECT_EQ(seen.grid[0], 2u);
  EXPECT_EQ(seen.arguments, std::vector<uint64_t>{77});
  EXPECT_EQ(
      hipLaunchCooperativeKernel(&stub, dim3(2), dim3(64), params, 0, nullptr),
      hipSuccess);
  EXPECT_TRUE(cuda.takeLaunch().isCooperative);
  cuda.failNext("cuLaunchCooperativeKernel",
                CudaError::CooperativeLaunchTooLarge);
  EXPECT_EQ(hipLaunchCooperativeKernel(&stub, dim3(999), dim3(64), params, 0,
                                       nullptr),
            hipErrorCooperativeLaunchTooLarge);
  hipFuncAttributes attributes;
  EXPECT_EQ(hipFuncGetAttributes(&attributes, &stub), hipSuccess);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 512);
  EXPECT_EQ(attributes.sharedSizeBytes, 1024u);
  __hipUnregisterFatBinary(handle);
  EXPECT_EQ(hipLaunchKernel(&stub, dim3(2), dim3(64), params, 0, nullptr),
            hipErrorInvalidDeviceFunction);
}

// A tensor map is encoded by the driver's function for its mode. A misaligned
// address is refused before the call, and a refusal of the driver is reported.
TEST(HipOnCudaTensorMap, IsEncodedByTheDriver) {
  alignas(64) char descriptor[128];
  alignas(16) char tensor[32];
  tessera::TensorMap map = makeSampleMap();
  const int before = cuda.getCalls("cuTensorMapEncodeIm2col");
  EXPECT_EQ(tesseraEncodeTensorMap(descriptor, &map, tensor), hipSuccess);
  EXPECT_EQ(cuda.getCalls("cuTensorMapEncodeIm2col"), before + 1);
  map.mode = tessera::TensorMap::Mode::Tiled;
  EXPECT_EQ(tesseraEncodeTensorMap(descriptor, &map, tensor), hipSuccess);
  EXPECT_EQ(cuda.getCalls("cuTensorMapEncodeTiled"), 1);

  EXPECT_EQ(tesseraEncodeTensorMap(descriptor, &map, tensor + 8),
            hipErrorInvalidValue);
  EXPECT_EQ(getLastText(), "a tensor that tiles are copied of must begin at a "
                           "multiple of 16 bytes");
  cuda.failNext("cuTensorMapEncodeTiled", CudaError::InvalidValue);
  EXPECT_EQ(tesseraEncodeTensorMap(descriptor, &map, tensor),
            hipErrorInvalidValue);
}

// Rows of a box are swizzled by as many bytes as they have, which the compiler
// relies on to find their chunks in shared memory; those of a plain box are not
// swizzled.
TEST(HipOnCudaTensorMap, IsSwizzledByItsRows) {
  alignas(64) char descriptor[128];
  alignas(16) char tensor[32];
  tessera::TensorMap map = makeSampleMap(); // Elements have two bytes.
  map.mode = tessera::TensorMap::Mode::Tiled;
  const std::pair<uint32_t, int> rows[] = {{8, 0}, {16, 1}, {32, 2}, {64, 3}};
  for (auto [elements, expected] : rows) {
    map.box[0] = elements;
    ASSERT_EQ(tesseraEncodeTensorMap(descriptor, &map, tensor), hipSuccess);
    int swizzle;
    std::memcpy(&swizzle, descriptor, sizeof swizzle);
    EXPECT_EQ(swizzle, expected) << elements;
  }
  map.mode = tessera::TensorMap::Mode::Plain;
  ASSERT_EQ(tesseraEncodeTensorMap(descriptor, &map, tensor), hipSuccess);
  int swizzle;
  std::memcpy(&swizzle, descriptor, sizeof swizzle);
  EXPECT_EQ(swizzle, 0) << "plain";
}

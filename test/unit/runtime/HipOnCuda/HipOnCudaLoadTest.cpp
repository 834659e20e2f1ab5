//===- HipOnCudaLoadTest.cpp - With which driver there is a device --------===//
//
// These tests go through the loader, as the library does. A driver stays loaded
// until the process ends, so each case runs in a child.
//
//===----------------------------------------------------------------------===//

#include "runtime/Gpu/GpuApiLoader.h"
#include "test/unit/Support/FakeCuda.h"

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

using namespace tessera;
using namespace tessera::test;

/// Prints the choice of the product's own candidates for `setting`, and exits.
[[noreturn]] static void printChoice(const char *setting,
                                     const char *driver = nullptr) {
  if (driver)
    (void)loadFakeCuda(driver);
  ErrorOr<GpuApi> api = GpuApiLoader().load(setting);
  if (api)
    std::fprintf(stderr, "chose %s %s %s\n",
                 std::string(getName(api->getKind())).c_str(),
                 api->getPath().c_str(), api->getArchitecture()->c_str());
  else
    std::fprintf(stderr, "%s\n", api.getStatus().getMessage().c_str());
  std::exit(0);
}

static const testing::ExitedWithCode kExitsWell(0);

// The library is found beside our binary, and uses the driver's device.
TEST(HipOnCudaLoadDeathTest, FindsTheDriver) {
  EXPECT_EXIT(printChoice("nvidia", "fake-cuda"), kExitsWell,
              "^chose nvidia .*libtessera-hip-on-cuda.so sm_90");
}

// An NVIDIA GPU is preferred to the emulated device.
TEST(HipOnCudaLoadDeathTest, IsPreferredToTheEmulatedDevice) {
  if (void *amd = dlopen("libamdhip64.so.5", RTLD_NOW)) {
    int count = 0;
    using GetCount = hipError_t(int *count);
    auto *get = reinterpret_cast<GetCount *>(dlsym(amd, "hipGetDeviceCount"));
    if (get(&count) == hipSuccess && count > 0)
      GTEST_SKIP() << "there is an AMD GPU, which comes first";
    dlclose(amd);
  }
  EXPECT_EXIT(printChoice("", "fake-cuda"), kExitsWell, "^chose nvidia ");
}

// If there is no driver, or none that can be used, the reason is a sentence.
TEST(HipOnCudaLoadDeathTest, SaysWhyThereIsNoDevice) {
  EXPECT_EXIT(printChoice("nvidia", "fake-cuda-old"), kExitsWell,
              "libtessera-hip-on-cuda.so: the NVIDIA driver is too old: it is "
              "of CUDA 11.8, and 12.0 is needed");
  EXPECT_EXIT(printChoice("nvidia", "fake-cuda-no-device"), kExitsWell,
              "the NVIDIA driver finds no GPU: no CUDA-capable device is "
              "detected");
  EXPECT_EXIT(printChoice("nvidia", "fake-cuda-incomplete"), kExitsWell,
              "libcuda.so.1 has no function cuDeviceGetUuid_v2");
}
TEST(HipOnCudaLoadDeathTest, SaysThatThereIsNoDriver) {
  if (void *driver = dlopen("libcuda.so.1", RTLD_NOW)) {
    dlclose(driver);
    GTEST_SKIP() << "this machine has an NVIDIA driver";
  }
  EXPECT_EXIT(printChoice("nvidia"), kExitsWell,
              "TESSERA_DEVICE is 'nvidia': no HIP runtime of kind 'nvidia' has "
              "a device .*no NVIDIA driver: libcuda.so.1: cannot open");
}

// The same library under AMD's name is recognised when a program has loaded it.
TEST(HipOnCudaLoadDeathTest, IsKnownUnderAmdsName) {
  EXPECT_EXIT(
      {
        (void)loadFakeCuda();
        if (!dlopen(HIP_ON_CUDA_DROP_IN, RTLD_NOW | RTLD_GLOBAL))
          std::exit(1);
        printChoice("nvidia");
      },
      kExitsWell, "^chose nvidia ");
}

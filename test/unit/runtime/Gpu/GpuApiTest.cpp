//===- GpuApiTest.cpp - Questions to a HIP runtime ------------------------===//

#include "runtime/Gpu/GpuApi.h"

#include "test/unit/Support/FakeHip.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

static std::string getArchitecture(const char *variant) {
  ErrorOr<std::string> name = loadFakeHip(variant).getArchitecture();
  return name ? *name : name.getStatus().getMessage();
}

// The architecture is read from the struct of HIP 5 and from that of HIP 6.
TEST(GpuApi, ReadsTheArchitecture) {
  EXPECT_EQ(getArchitecture("fake-hip"), "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(getArchitecture("fake-hip6"), "gfx942:sramecc+:xnack-");
}

// The target is the row of the chip, whose name has no feature suffix.
TEST(GpuApi, FindsTheTarget) {
  ErrorOr<const GpuTarget *> target = loadFakeHip("fake-hip6").getTarget();
  ASSERT_TRUE(target) << target.getStatus().getMessage();
  EXPECT_EQ((*target)->name, "gfx942");
}

// A chip that we make no code for is distinguished from a failure.
TEST(GpuApi, NamesAnUnknownChip) {
  Status status = loadFakeHip("fake-hip-unknown-chip").getTarget().getStatus();
  EXPECT_EQ(status.getCode(), StatusCode::NotSupported);
  EXPECT_NE(status.getMessage().find("'gfx000'"), std::string::npos);
  EXPECT_NE(status.getMessage().find("gfx942"), std::string::npos);
}

// The key of a tuning comes from the runtime. Only the emulated device has no
// clock.
TEST(GpuApi, DescribesTheDevice) {
  const GpuApi &gpu = loadFakeHip();
  EXPECT_EQ(*gpu.getComputeUnits(), 1u);
  EXPECT_FALSE(gpu.getDeviceName()->empty());
  EXPECT_EQ(gpu.takeIssueCycles, nullptr);
  getFakeHip().failNext("hipDeviceGetAttribute", hipErrorInvalidDevice);
  EXPECT_FALSE(gpu.getComputeUnits());
}

// A failing query is reported instead of assuming a value.
TEST(GpuApi, ReportsAFailingQuery) {
  const GpuApi &gpu = loadFakeHip();
  getFakeHip().failNext("hipGetDeviceProperties", hipErrorInvalidDevice);
  EXPECT_EQ(gpu.getTarget().getStatus().getCode(), StatusCode::Unavailable);
  getFakeHip().failNext("hipGetDevice", hipErrorNotInitialized);
  EXPECT_EQ(gpu.getTarget().getStatus().getCode(), StatusCode::Unavailable);
}

// An error says what was tried, what the runtime says, and its number.
TEST(GpuApi, MakesStatusesOfErrors) {
  const GpuApi &gpu = loadFakeHip();
  EXPECT_TRUE(gpu.check(hipSuccess, "hipMalloc").isOk());
  Status status = gpu.check(hipErrorOutOfMemory, "hipMalloc");
  EXPECT_EQ(status.getCode(), StatusCode::ResourceExhausted);
  EXPECT_EQ(status.getMessage(), "hipMalloc: out of memory (HIP error 2)");
  EXPECT_EQ(gpu.check(hipErrorInvalidValue, "x").getCode(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(gpu.check(hipErrorNoDevice, "x").getCode(),
            StatusCode::Unavailable);
}

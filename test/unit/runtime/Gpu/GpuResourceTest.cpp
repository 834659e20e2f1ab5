//===- GpuResourceTest.cpp - Owners of HIP handles ------------------------===//

#include "runtime/Gpu/DeviceBuffer.h"
#include "runtime/Gpu/Event.h"
#include "runtime/Gpu/Module.h"
#include "runtime/Gpu/Stream.h"

#include "test/unit/Support/FakeHip.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

namespace {
struct GpuResources : testing::Test {
  const GpuApi &gpu = loadFakeHip();
  FakeHip &hip = getFakeHip();

  void SetUp() override { hip.reset(); }
};
} // namespace

// An owner releases its handle exactly once, wherever it was moved.
TEST_F(GpuResources, AreReleasedOnce) {
  {
    ErrorOr<Stream> first = Stream::create(gpu);
    ErrorOr<Stream> second = Stream::create(gpu);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(hip.getAlive("hipStreamCreate"), 2);
    Stream moved = std::move(*first);
    moved = std::move(*second);
    EXPECT_TRUE(moved.synchronize().isOk());
  }
  EXPECT_EQ(hip.getAlive("hipStreamCreate"), 0);
  EXPECT_EQ(hip.getCalls("hipStreamDestroy"), 2);
}

// A failure to create is a status that says which call failed.
TEST_F(GpuResources, ReportFailures) {
  hip.failNext("hipStreamCreate", hipErrorOutOfMemory);
  EXPECT_EQ(Stream::create(gpu).getStatus().getMessage(),
            "hipStreamCreate: out of memory (HIP error 2)");
  hip.failNext("hipMalloc", hipErrorOutOfMemory);
  EXPECT_EQ(DeviceBuffer::allocate(gpu, 64).getStatus().getMessage(),
            "the device cannot give 64 bytes of memory at once; 1073741824 of "
            "1073741824 are free");
  EXPECT_EQ(hip.getCalls("hipFree"), 0);
}

// Two events around work measure its time.
TEST_F(GpuResources, EventsMeasure) {
  {
    ErrorOr<Event> start = Event::create(gpu), stop = Event::create(gpu);
    ASSERT_TRUE(start && stop);
    EXPECT_TRUE(start->record(nullptr).isOk());
    EXPECT_TRUE(stop->record(nullptr).isOk());
    EXPECT_TRUE(stop->synchronize().isOk());
    ErrorOr<float> timeMs = stop->getMsSince(*start);
    ASSERT_TRUE(timeMs);
    EXPECT_EQ(*timeMs, 1.5f);
  }
  EXPECT_EQ(hip.getAlive("hipEventCreate"), 0);
}

// Data goes to the device and back; filling sets every byte.
TEST_F(GpuResources, BuffersHoldData) {
  {
    ErrorOr<DeviceBuffer> buffer = DeviceBuffer::allocate(gpu, 4);
    ASSERT_TRUE(buffer);
    char text[4] = {'a', 'b', 'c', 'd'}, read[4] = {};
    EXPECT_TRUE(buffer->copyFromHost(text, 4).isOk());
    EXPECT_TRUE(buffer->copyToHost(read, 4).isOk());
    EXPECT_EQ(std::string(read, 4), "abcd");
    EXPECT_TRUE(buffer->fill('x').isOk());
    EXPECT_TRUE(buffer->copyToHost(read, 2).isOk());
    EXPECT_EQ(std::string(read, 4), "xxcd");
  }
  EXPECT_EQ(hip.getAlive("hipMalloc"), 0);
}

// An empty buffer makes no call of the runtime.
TEST_F(GpuResources, EmptyBuffersCallNothing) {
  ErrorOr<DeviceBuffer> buffer = DeviceBuffer::allocate(gpu, 0);
  ASSERT_TRUE(buffer);
  EXPECT_EQ(buffer->get(), nullptr);
  EXPECT_TRUE(buffer->fill(0).isOk());
  EXPECT_TRUE(buffer->copyFromHost(nullptr, 0).isOk());
  EXPECT_TRUE(hip.calls.empty());
}

// A module returns functions by name, and the failure names a missing one.
TEST_F(GpuResources, ModulesHaveFunctions) {
  {
    ErrorOr<Module> module = Module::load(gpu, makeFakeCodeObject("conv"));
    ASSERT_TRUE(module);
    EXPECT_TRUE(module->getFunction("conv"));
    Status status = module->getFunction("pool").getStatus();
    EXPECT_EQ(status.getMessage().find("kernel 'pool': "), 0u)
        << status.getMessage();
  }
  EXPECT_EQ(hip.getAlive("hipModuleLoadData"), 0);
}

// Bytes that are no code object are refused, and an empty one before HIP reads
// it.
TEST_F(GpuResources, ModulesRefuseRubbish) {
  EXPECT_EQ(
      Module::load(gpu, std::string_view("rubbish")).getStatus().getCode(),
      StatusCode::Unavailable);
  EXPECT_EQ(Module::load(gpu, {}).getStatus().getCode(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(hip.getCalls("hipModuleLoadData"), 1);
}

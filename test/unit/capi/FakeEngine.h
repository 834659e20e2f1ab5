//===- FakeEngine.h - An engine that records its calls ---------*- C++ -*--===//
//
// The C API checks arguments and translates descriptors. Its tests need an
// engine that records its calls and returns what the test wants, without a
// device.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_CAPI_FAKEENGINE_H
#define TESSERA_TEST_UNIT_CAPI_FAKEENGINE_H

#include "capi/lib/Common/Library.h"

#include <gtest/gtest.h>
#include <memory>
#include <vector>

namespace tessera::test {

/// A kernel whose description the test sets.
class FakeKernel : public LoadedKernel {
public:
  Kernel kernel;
  Origin origin = Origin::Compiled;

  const Kernel &getKernel() const override { return kernel; }
  Origin getOrigin() const override { return origin; }
};

/// Milliseconds between any two events of the fake HIP runtime.
inline constexpr float kFakeEventMs = 2.5f;

/// A HIP table in which only events work.
inline GpuApi makeFakeGpu() {
  GpuApi gpu;
  gpu.hipEventCreate = [](hipEvent_t *event) {
    *event = reinterpret_cast<hipEvent_t>(new int);
    return hipSuccess;
  };
  gpu.hipEventDestroy = [](hipEvent_t event) {
    delete reinterpret_cast<int *>(event);
    return hipSuccess;
  };
  gpu.hipEventRecord = [](hipEvent_t, hipStream_t) { return hipSuccess; };
  gpu.hipEventSynchronize = [](hipEvent_t) { return hipSuccess; };
  gpu.hipEventElapsedTime = [](float *ms, hipEvent_t, hipEvent_t) {
    *ms = kFakeEventMs;
    return hipSuccess;
  };
  return gpu;
}

class FakeEngine : public Engine {
public:
  FakeKernel kernel;
  /// The kernel of problems without a workspace; `kernel` if null.
  FakeKernel *withoutWorkspace = nullptr;
  Status prepareStatus; ///< Returned by prepare() if it is a failure.
  Status launchStatus;
  /// The problems that were prepared, in order.
  std::vector<Problem> problems;
  std::vector<Problem> forgotten;
  struct Launch {
    hipStream_t stream;
    LaunchArgs args;
  };
  std::vector<Launch> launches;

  ErrorOr<const LoadedKernel *> prepare(const Problem &problem) override {
    problems.push_back(problem);
    if (!prepareStatus.isOk())
      return prepareStatus;
    return problem.isWithoutWorkspace() && withoutWorkspace ? withoutWorkspace
                                                            : &kernel;
  }
  ErrorOr<std::unique_ptr<LoadedKernel>>
  prepareTile(const Problem &, const TileConfig &) override {
    return notSupported("the fake engine makes no kernels");
  }
  ErrorOr<std::unique_ptr<LoadedKernel>> loadKernel(const Kernel &kernel,
                                                    const Problem *) override {
    auto loaded = std::make_unique<FakeKernel>();
    loaded->kernel = kernel;
    return std::unique_ptr<LoadedKernel>(std::move(loaded));
  }
  Status adopt(const Problem &, std::unique_ptr<LoadedKernel>) override {
    return Status::ok();
  }
  Status provide(const Problem &, const Kernel &) override {
    return Status::ok();
  }
  Status forget(const Problem &problem) override {
    forgotten.push_back(problem);
    return Status::ok();
  }
  KernelCompiler *getCompiler() const override { return nullptr; }
  PerfDatabase *getTunings() override { return nullptr; }
  Status launch(const LoadedKernel &, hipStream_t stream,
                const LaunchArgs &args) override {
    launches.push_back({stream, args});
    ++counters.launched;
    return launchStatus;
  }
  const EngineCounters &getCounters() const override { return counters; }
  const GpuApi &getGpu() const override { return gpu; }

  EngineCounters counters;
  GpuApi gpu = makeFakeGpu();
};

/// Replaces the engine of the library during a test.
class FakeEngineTest : public ::testing::Test {
protected:
  void SetUp() override {
    auto owned = std::make_unique<FakeEngine>();
    engine = owned.get();
    capi::replaceEngineForTesting(std::move(owned));
  }
  void TearDown() override { capi::replaceEngineForTesting(nullptr); }

  FakeEngine *engine = nullptr; ///< Owned by the library.
};

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_CAPI_FAKEENGINE_H

//===- ConvFixture.cpp - Compiles, runs and judges a convolution ----------===//

#include "test/unit/execute/ConvFixture.h"

using namespace tessera;

namespace {
/// Device memory of one test.
class Buffer {
public:
  explicit Buffer(const std::vector<char> &data) : gpu(test::getGpu()) {
    EXPECT_EQ(gpu.hipMalloc(&pointer, data.size()), hipSuccess);
    EXPECT_EQ(
        gpu.hipMemcpy(pointer, data.data(), data.size(), hipMemcpyHostToDevice),
        hipSuccess);
  }
  ~Buffer() { (void)gpu.hipFree(pointer); }
  Buffer(const Buffer &) = delete;

  void *get() const { return pointer; }
  void readTo(std::vector<char> &data) const {
    EXPECT_EQ(
        gpu.hipMemcpy(data.data(), pointer, data.size(), hipMemcpyDeviceToHost),
        hipSuccess);
  }

private:
  const GpuApi &gpu;
  void *pointer = nullptr;
};
} // namespace

std::unique_ptr<Engine>
test::makeEngine(std::shared_ptr<KernelCompiler> compiler) {
  auto created = Engine::create(getGpu(), {std::move(compiler), ""});
  EXPECT_TRUE(created) << created.getStatus().getMessage();
  return created ? std::move(*created) : nullptr;
}

void test::checkConv(Engine &engine, const ConvProblem &problem,
                     reference::DataKind kind, int64_t sample) {
  SCOPED_TRACE(toDriverCommand(problem) + "   [" + problem.toNetworkConfig() +
               "]");
  ConvCase data(problem, kind, getSeed());
  if (getTarget().has(Erratum::FlushesHalfSubnormals))
    data.flushSubnormals();
  Buffer x(data.x), w(data.w), y(data.y);
  auto kernel = engine.prepare(problem);
  ASSERT_TRUE(kernel) << kernel.getStatus().getMessage();
  SCOPED_TRACE((*kernel)->getKernel().tile);
  Status launched =
      engine.launch(**kernel, nullptr, {x.get(), w.get(), y.get(), nullptr});
  ASSERT_TRUE(launched.isOk()) << launched.getMessage();
  ASSERT_EQ(getGpu().hipDeviceSynchronize(), hipSuccess);
  y.readTo(data.y);
  reference::Report report =
      sample ? data.checkSample(sample, getSeed()) : data.check();
  EXPECT_TRUE(report.passed()) << report.toText();
}

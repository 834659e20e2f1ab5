//===- ConvForwardTest.cpp - Compiled convolutions against the oracle -----===//
//
// Each problem is compiled, loaded with hipModuleLoadData, launched on the
// device that TESSERA_DEVICE names, and every output element is compared with
// the reference. ctest runs this program once for each emulated chip.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/JitCompiler.h"
#include "runtime/Base/Env.h"
#include "runtime/Engine/Engine.h"
#include "test/unit/Support/ConvCase.h"
#include "test/unit/execute/DrawProblem.h"

#include <gtest/gtest.h>
#include <iostream>

using namespace tessera;

static uint64_t getSeed() {
  return getEnvInt("TESSERA_TEST_SEED").value_or(20261121);
}

namespace {
/// Device memory of one test.
class Buffer {
public:
  Buffer(const GpuApi &gpu, const std::vector<char> &data) : gpu(gpu) {
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

class ConvForward : public testing::TestWithParam<int> {
protected:
  static void SetUpTestSuite() {
    ErrorOr<const GpuApi *> gpu = GpuApi::get();
    ASSERT_TRUE(gpu) << gpu.getStatus().getMessage();
    auto created = Engine::create(**gpu, {createJitCompiler(), ""});
    ASSERT_TRUE(created) << created.getStatus().getMessage();
    engine = std::move(*created);
    std::cout << "seed " << getSeed() << " (TESSERA_TEST_SEED)\n";
  }
  static void TearDownTestSuite() { engine.reset(); }

  /// Compiles and runs `problem` and compares every element.
  static void check(const ConvProblem &problem, reference::DataKind kind);

  static std::unique_ptr<Engine> engine;
};
std::unique_ptr<Engine> ConvForward::engine;
} // namespace

void ConvForward::check(const ConvProblem &problem, reference::DataKind kind) {
  SCOPED_TRACE(toDriverCommand(problem) + "   [" + problem.toNetworkConfig() +
               "]");
  const GpuApi &gpu = engine->getGpu();
  test::ConvCase data(problem, kind, getSeed());
  auto target = gpu.getTarget();
  ASSERT_TRUE(target) << target.getStatus().getMessage();
  if ((*target)->has(Erratum::FlushesHalfSubnormals))
    data.flushSubnormals();
  Buffer x(gpu, data.x), w(gpu, data.w), y(gpu, data.y);
  auto kernel = engine->prepare(problem);
  ASSERT_TRUE(kernel) << kernel.getStatus().getMessage();
  SCOPED_TRACE((*kernel)->getKernel().tile);
  EXPECT_EQ((*kernel)->getKernel().resources.vgprSpills, 0u);
  Status launched =
      engine->launch(**kernel, nullptr, {x.get(), w.get(), y.get(), nullptr});
  ASSERT_TRUE(launched.isOk()) << launched.getMessage();
  ASSERT_EQ(gpu.hipDeviceSynchronize(), hipSuccess);
  y.readTo(data.y);
  reference::Report report = data.check();
  EXPECT_TRUE(report.passed()) << report.toText();
}

// Random valid problems are right, whatever their shape, type and layout.
TEST_P(ConvForward, MatchesTheReference) {
  check(drawProblem(getSeed(), GetParam()), reference::DataKind::Uniform);
}

INSTANTIATE_TEST_SUITE_P(Random, ConvForward,
                         testing::Range(0, TESSERA_RANDOM_PROBLEMS));

// The nested walk (taps x channels) with padding: every product of small
// integers counts, so one wrong tap or channel cannot hide in rounding.
TEST_F(ConvForward, IsExactOnIntegers) {
  for (DataType type : {DataType::F16, DataType::BF16, DataType::F32}) {
    ConvProblem p;
    p.dataType = type;
    p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
    p.batch = 2;
    p.inChannels = 128;
    p.outChannels = 72;
    p.in = {9, 7};
    p.filter = {3, 3};
    p.pad = {1, 1};
    // Sums reach some thousands: exact in f32, rounded once in f16 and bf16,
    // where the reference rounds the same exact sum.
    check(p, reference::DataKind::Integer);
  }
}

// One kernel is right when its grid covers many tiles in both directions and
// every tile is full.
TEST_F(ConvForward, CoversManyFullTiles) {
  ConvProblem p;
  p.dataType = DataType::F16;
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  p.batch = 2;
  p.inChannels = 64;
  p.outChannels = 512;
  p.in = {32, 32};
  check(p, reference::DataKind::Uniform);
}

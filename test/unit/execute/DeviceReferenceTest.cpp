//===- DeviceReferenceTest.cpp - Reference on the device and on the host --===//
//
// Compares two evaluators that share no code, on random problems and on the
// device that TESSERA_DEVICE names. The tests are skipped where nothing can
// compile the kernels.
//
//===----------------------------------------------------------------------===//

#include "runtime/Reference/DeviceReference.h"

#include "runtime/Reference/ConvCase.h"
#include "runtime/Reference/PoolCase.h"
#include "test/unit/execute/DrawProblem.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tessera;

static const GpuApi &getGpu() {
  static const ErrorOr<const GpuApi *> gpu = GpuApi::get();
  EXPECT_TRUE(gpu) << gpu.getStatus().getMessage();
  return **gpu;
}

/// Returns the reference that all tests share, so that each type is compiled
/// once, or the reason why there is none.
static ErrorOr<DeviceReference> &getReference() {
  static ErrorOr<DeviceReference> reference = DeviceReference::create(getGpu());
  return reference;
}

/// Expects equal results. Both evaluators add doubles, but in different orders,
/// so that sums may differ in their last bits, relative to the sum of the
/// magnitudes that were added.
static void expectSame(const std::vector<double> &found,
                       const std::vector<double> &magnitudes,
                       const reference::Expected &expected) {
  ASSERT_EQ(found.size(), expected.values.size());
  ASSERT_EQ(magnitudes.size(), expected.magnitudes.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const double value = expected.values[i], size = expected.magnitudes[i];
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(found[i])) << "at " << i;
      continue;
    }
    if (std::isinf(value)) {
      ASSERT_EQ(found[i], value) << "at " << i;
      continue;
    }
    ASSERT_LE(std::fabs(found[i] - value), 0x1p-40 * size) << "at " << i;
    ASSERT_LE(std::fabs(magnitudes[i] - size), 0x1p-40 * size) << "at " << i;
  }
}

// Compares convolutions of every direction and type, with groups, depth,
// dilation, gaps and filters that do not fit.
TEST(DeviceReference, ConvolutionEqualsTheHost) {
  if (!getReference())
    GTEST_SKIP() << getReference().getStatus().getMessage();
  ProblemSpace space;
  space.epilogues = false;
  space.maxFlops = 1e6;
  for (int64_t index = 0; index < TESSERA_REFERENCE_PROBLEMS; ++index) {
    ConvProblem problem = drawProblem(11, index, space);
    // Else the host would take the magnitudes of tiles (TileMagnitudes.h).
    problem.forbidsWinograd = problem.hasWinogradForm();
    SCOPED_TRACE(problem.toNetworkConfig());
    const ConvCase data(problem, reference::DataKind::Uniform, index);
    ErrorOr<ReferenceSums> sums =
        getReference()->evaluate(problem, data.x, data.w, data.y);
    ASSERT_TRUE(sums) << sums.getStatus().getMessage();
    expectSame(sums->values, sums->magnitudes, data.getExpected());
    EXPECT_TRUE(sums->indices.empty());
  }
}

// The epilogue is computed on the host, whether host or device computed the
// sums.
TEST(DeviceReference, EpilogueFollowsTheSums) {
  if (!getReference())
    GTEST_SKIP() << getReference().getStatus().getMessage();
  ConvProblem problem;
  problem.inChannels = problem.outChannels = 5;
  problem.in = {4, 6};
  problem.filter = {3, 2};
  problem.epilogue = {.alpha = true,
                      .beta = true,
                      .bias = true,
                      .residual = true,
                      .activation = Activation::Tanh};
  const ConvCase data(problem, reference::DataKind::Uniform, 3);
  ErrorOr<ReferenceSums> sums =
      getReference()->evaluate(problem, data.x, data.w, data.y);
  ASSERT_TRUE(sums) << sums.getStatus().getMessage();
  const reference::Expected found =
      data.getExpected(std::move(sums->values), std::move(sums->magnitudes));
  const reference::Expected expected = data.getExpected();
  expectSame(found.values, found.magnitudes, expected);
  EXPECT_EQ(found.reductionLength, expected.reductionLength);
  EXPECT_EQ(found.unitRoundoff, expected.unitRoundoff);
}

// Compares poolings of every mode, type and direction and their indices, on
// data with NaNs and infinities.
TEST(DeviceReference, PoolingEqualsTheHost) {
  if (!getReference())
    GTEST_SKIP() << getReference().getStatus().getMessage();
  for (int64_t index = 0; index < TESSERA_REFERENCE_PROBLEMS; ++index) {
    const PoolProblem problem = drawPool(12, index);
    SCOPED_TRACE(problem.toNetworkConfig());
    const bool isForward = problem.direction == Direction::Forward;
    PoolCase data(problem, isForward ? PoolData::Specials : PoolData::Uniform,
                  index);
    ErrorOr<ReferenceSums> sums =
        getReference()->evaluate(problem, data.x, data.y, data.indices);
    ASSERT_TRUE(sums) << sums.getStatus().getMessage();
    const reference::PoolShape shape = getReferencePool(problem);
    const auto view = [&](const std::vector<char> &bytes,
                          const Strides &strides) {
      return reference::TensorView{getReferenceType(problem.dataType),
                                   bytes.data(), getReferenceStrides(strides)};
    };
    if (isForward) {
      const reference::PoolOutputs expected =
          poolForward(shape, view(data.x, problem.getInputStrides()));
      expectSame(sums->values, sums->magnitudes, expected.y);
      EXPECT_EQ(sums->indices, expected.indices);
      continue;
    }
    const reference::IndexView indices{
        getByteSize(problem.indexType), data.indices.data(),
        getReferenceStrides(getIndexStrides(problem))};
    expectSame(
        sums->values, sums->magnitudes,
        poolBackward(shape, view(data.y, problem.getOutputStrides()), indices));
  }
}

// Kernels that hiprtc compiles from the same text compute the same numbers, on
// machines that have hiprtc. The one of HIP 5.2 aborts for chips newer than
// gfx90a, so that only gfx90a is tested.
TEST(DeviceReference, HipRtcCompilesTheKernels) {
  ErrorOr<RuntimeCompilerPtr> compiler = openHipRtc();
  if (!compiler)
    GTEST_SKIP() << compiler.getStatus().getMessage();
  ErrorOr<const GpuTarget *> target = getGpu().getTarget();
  ASSERT_TRUE(target) << target.getStatus().getMessage();
  if ((*target)->name != "gfx90a")
    GTEST_SKIP() << "not every hiprtc knows " << (*target)->name;
  ErrorOr<DeviceReference> reference =
      DeviceReference::create(getGpu(), std::move(*compiler));
  ASSERT_TRUE(reference) << reference.getStatus().getMessage();
  ConvProblem problem;
  problem.dataType = DataType::F16;
  problem.inChannels = problem.outChannels = 3;
  problem.in = {5, 7};
  problem.filter = {2, 3};
  const ConvCase data(problem, reference::DataKind::Uniform, 1);
  ErrorOr<ReferenceSums> sums =
      reference->evaluate(problem, data.x, data.w, data.y);
  ASSERT_TRUE(sums) << sums.getStatus().getMessage();
  expectSame(sums->values, sums->magnitudes, data.getExpected());
}

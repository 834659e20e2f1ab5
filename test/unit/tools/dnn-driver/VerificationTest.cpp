//===- VerificationTest.cpp - Does the driver's judgement hold? -----------===//

#include "tools/dnn-driver/Verification.h"

#include "dialect/Reference/Tensor.h"

#include <gtest/gtest.h>
#include <limits>

using namespace tessera;
using namespace tessera::driver;
using reference::ElementType;

static ConvProblem makeProblem(DataType type) {
  ConvProblem problem;
  problem.dataType = type;
  problem.xLayout = problem.yLayout = Layout::NHWC;
  problem.wLayout = Layout::NCHW;
  problem.batch = 2;
  problem.inChannels = 4;
  problem.outChannels = 6;
  problem.groups = 2;
  problem.in = {5, 6};
  problem.filter = {3, 2};
  problem.pad = {1, 0};
  problem.stride = {2, 1};
  problem.dilation = {1, 2};
  return problem;
}

/// The f32 convolution by its definition: seven loops, no library.
static void convolve(const ConvProblem &p, HostTensors &tensors) {
  const Spatial out = p.getOutput();
  const int64_t c = p.inChannels, k = p.outChannels;
  const int64_t cGroup = c / p.groups, kGroup = k / p.groups;
  auto load = [](const std::vector<char> &data, int64_t index) {
    return reference::loadElement(ElementType::F32, data.data(), index);
  };
  for (int64_t n = 0; n < p.batch; ++n)
    for (int64_t ho = 0; ho < out.h; ++ho)
      for (int64_t wo = 0; wo < out.w; ++wo)
        for (int64_t ko = 0; ko < k; ++ko) {
          double sum = 0;
          for (int64_t y = 0; y < p.filter.h; ++y)
            for (int64_t x = 0; x < p.filter.w; ++x)
              for (int64_t ci = 0; ci < cGroup; ++ci) {
                const int64_t h = ho * p.stride.h + y * p.dilation.h - p.pad.h;
                const int64_t w = wo * p.stride.w + x * p.dilation.w - p.pad.w;
                if (h < 0 || h >= p.in.h || w < 0 || w >= p.in.w)
                  continue;
                const int64_t channel = ko / kGroup * cGroup + ci;
                sum += (load(tensors.x,
                             ((n * p.in.h + h) * p.in.w + w) * c + channel)) *
                       load(tensors.w,
                            ((ko * cGroup + ci) * p.filter.h + y) * p.filter.w +
                                x);
              }
          reference::storeElement(ElementType::F32, tensors.y.data(),
                                  ((n * out.h + ho) * out.w + wo) * k + ko,
                                  sum);
        }
}

// A right result passes, in mixed layouts, with groups and a dilated window.
TEST(DriverVerification, AcceptsTheConvolution) {
  const ConvProblem problem = makeProblem(DataType::F32);
  HostTensors tensors = makeHostTensors(problem, 1);
  convolve(problem, tensors);
  const Verification verification = verifyForward(problem, tensors);
  EXPECT_TRUE(verification.passed()) << verification.error;
  EXPECT_EQ(verification.tolerance, 1.5e-6);
}

// One wrong element is enough to fail.
TEST(DriverVerification, RefusesOneWrongElement) {
  const ConvProblem problem = makeProblem(DataType::F32);
  HostTensors tensors = makeHostTensors(problem, 1);
  convolve(problem, tensors);
  const double value =
      reference::loadElement(ElementType::F32, tensors.y.data(), 7);
  reference::storeElement(ElementType::F32, tensors.y.data(), 7, value + 0.01);
  EXPECT_FALSE(verifyForward(problem, tensors).passed());
}

// An output that nobody wrote is full of NaN, and fails in every type.
TEST(DriverVerification, RefusesAnOutputThatWasNotWritten) {
  for (DataType type : {DataType::F16, DataType::BF16, DataType::F32}) {
    const ConvProblem problem = makeProblem(type);
    const HostTensors tensors = makeHostTensors(problem, 1);
    EXPECT_FALSE(verifyForward(problem, tensors).passed());
  }
}

// The tolerances are MIOpenDriver's.
TEST(DriverVerification, TolerancesFollowTheType) {
  auto tolerance = [](DataType type) {
    const ConvProblem problem = makeProblem(type);
    return verifyForward(problem, makeHostTensors(problem, 1)).tolerance;
  };
  EXPECT_EQ(tolerance(DataType::F16), 8.2e-3);
  EXPECT_EQ(tolerance(DataType::BF16), 8 * 8.2e-3);
}

// The same seed gives the same data, another seed other data.
TEST(DriverVerification, SeedDecidesTheData) {
  const ConvProblem problem = makeProblem(DataType::F16);
  EXPECT_EQ(makeHostTensors(problem, 3).x, makeHostTensors(problem, 3).x);
  EXPECT_NE(makeHostTensors(problem, 3).x, makeHostTensors(problem, 4).x);
}

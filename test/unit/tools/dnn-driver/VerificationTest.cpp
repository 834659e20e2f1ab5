//===- VerificationTest.cpp - Does the driver's judgement hold? -----------===//

#include "tools/dnn-driver/Verification.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::driver;
using reference::DataKind;
using reference::ElementType;

static ConvProblem makeProblem(DataType type,
                               Direction direction = Direction::Forward) {
  ConvProblem problem;
  problem.direction = direction;
  problem.dataType = type;
  problem.xLayout = problem.yLayout = Layout::NHWC;
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

static ConvCase makeCase(const ConvProblem &problem) {
  return ConvCase(problem, DataKind::Uniform, 1);
}

static Verification verify(const ConvProblem &problem, const ConvCase &data) {
  return judge(problem, data, data.getExpected());
}

/// Stores what the reference expects, like a right kernel.
static void compute(ConvCase &data) {
  const reference::Expected expected = data.getExpected();
  const reference::TensorView view = data.getResultView();
  for (size_t i = 0; i < expected.values.size(); ++i)
    storeElement(view.type, data.getResult().data(),
                 view.strides.getOffset(
                     expected.sizes.getCoord(static_cast<int64_t>(i))),
                 expected.values[i]);
}

// A right result passes in every direction.
TEST(DriverVerification, AcceptsTheConvolution) {
  for (Direction direction : {Direction::Forward, Direction::BackwardData,
                              Direction::BackwardWeights}) {
    const ConvProblem problem = makeProblem(DataType::F16, direction);
    ConvCase data = makeCase(problem);
    compute(data);
    const Verification verification = verify(problem, data);
    EXPECT_TRUE(verification.passed())
        << verification.error << verification.wrong;
  }
}

// One wrong element is enough to fail, also where the mean hides it.
TEST(DriverVerification, RefusesOneWrongElement) {
  const ConvProblem problem = makeProblem(DataType::BF16);
  ConvCase data = makeCase(problem);
  compute(data);
  const double value =
      loadElement(ElementType::BF16, data.getResult().data(), 7);
  storeElement(ElementType::BF16, data.getResult().data(), 7, value + 0.1);
  const Verification verification = verify(problem, data);
  EXPECT_LT(verification.error, verification.tolerance);
  EXPECT_FALSE(verification.passed());
  EXPECT_NE(verification.wrong.find("1 of "), std::string::npos)
      << verification.wrong;
}

// A kernel that writes between the elements of its result fails.
TEST(DriverVerification, RefusesAnOverwrittenGap) {
  ConvProblem problem = makeProblem(DataType::F32);
  problem.yStrides = problem.getOutputStrides();
  problem.yStrides.n += 3;
  problem.yLayout = Layout::Strided;
  ConvCase data = makeCase(problem);
  compute(data);
  EXPECT_TRUE(verify(problem, data).passed());
  storeElement(ElementType::F32, data.getResult().data(),
               problem.yStrides.n - 1, 0);
  EXPECT_FALSE(verify(problem, data).passed());
}

// An output that was not written is full of NaN or of an absurd integer, and
// fails in every type.
TEST(DriverVerification, RefusesAnOutputThatWasNotWritten) {
  for (DataType type : {DataType::F16, DataType::BF16, DataType::F32,
                        DataType::F64, DataType::I8}) {
    const ConvProblem problem = makeProblem(type);
    EXPECT_FALSE(verify(problem, makeCase(problem)).passed());
  }
}

// The tolerances are MIOpenDriver's; backward weights have twice that.
TEST(DriverVerification, TolerancesFollowTheType) {
  auto tolerance = [](DataType type, Direction direction = Direction::Forward) {
    const ConvProblem problem = makeProblem(type, direction);
    return verify(problem, makeCase(problem)).tolerance;
  };
  EXPECT_EQ(tolerance(DataType::F16), 8.2e-3);
  EXPECT_EQ(tolerance(DataType::BF16), 8 * 8.2e-3);
  EXPECT_EQ(tolerance(DataType::F32), 1.5e-6);
  EXPECT_EQ(tolerance(DataType::F32, Direction::BackwardData), 1.5e-6);
  EXPECT_EQ(tolerance(DataType::F32, Direction::BackwardWeights), 3e-6);
}

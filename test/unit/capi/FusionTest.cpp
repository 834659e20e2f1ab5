//===- FusionTest.cpp - Tests of miopen/fusion.h --------------------------===//

#include "test/unit/capi/Descriptors.h"
#include "test/unit/capi/FakeEngine.h"

#include <tessera/tessera.h>

#include <string>

using namespace tessera;
using namespace tessera::test;

static const float kOne = 1, kZero = 0;

namespace {
/// A plan of a 1x1 convolution in NHWC.
class Fusion : public FakeEngineTest {
protected:
  void SetUp() override {
    FakeEngineTest::SetUp();
    ASSERT_EQ(miopenCreate(&handle), miopenStatusSuccess);
    ASSERT_EQ(miopenCreateFusionPlan(&plan, miopenVerticalFusion, x),
              miopenStatusSuccess);
    ASSERT_EQ(miopenCreateOperatorArgs(&args), miopenStatusSuccess);
    ASSERT_EQ(miopenCreateOpConvForward(plan, &convOp, conv, w),
              miopenStatusSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(miopenDestroyOperatorArgs(args), miopenStatusSuccess);
    EXPECT_EQ(miopenDestroyFusionPlan(plan), miopenStatusSuccess);
    EXPECT_EQ(miopenDestroy(handle), miopenStatusSuccess);
    FakeEngineTest::TearDown();
  }
  miopenStatus_t execute(miopenTensorDescriptor_t input) {
    return miopenExecuteFusionPlan(handle, plan, input, &dataX, y, &dataY,
                                   args);
  }

  miopenHandle_t handle = nullptr;
  miopenFusionPlanDescriptor_t plan = nullptr;
  miopenOperatorArgs_t args = nullptr;
  miopenFusionOpDescriptor_t convOp = nullptr, biasOp = nullptr,
                             activationOp = nullptr;
  TensorDesc x{miopenTensorNHWC, {2, 8, 4, 5}, miopenHalf};
  TensorDesc w{miopenTensorNHWC, {16, 8, 1, 1}, miopenHalf};
  TensorDesc bias{miopenTensorNCHW, {1, 16, 1, 1}, miopenHalf};
  TensorDesc y{miopenTensorNHWC, {2, 16, 4, 5}, miopenHalf};
  ConvDesc conv;
  int dataX = 0, dataW = 0, dataY = 0, dataBias = 0;
};
} // namespace

// Every algorithm of MIOpen's may be chosen, and stands for the problem's one
// kernel; others are unknown.
TEST_F(Fusion, AnyKnownAlgorithmMayBeChosen) {
  for (miopenConvFwdAlgorithm_t algorithm :
       {miopenConvolutionFwdAlgoGEMM, miopenConvolutionFwdAlgoDirect,
        miopenConvolutionFwdAlgoWinograd, miopenConvolutionFwdAlgoImplicitGEMM})
    EXPECT_EQ(miopenFusionPlanConvolutionSetAlgo(plan, algorithm),
              miopenStatusSuccess);
  EXPECT_EQ(miopenFusionPlanConvolutionSetAlgo(
                plan, static_cast<miopenConvFwdAlgorithm_t>(17)),
            miopenStatusBadParm);
  EXPECT_EQ(miopenFusionPlanConvolutionSetAlgo(nullptr,
                                               miopenConvolutionFwdAlgoDirect),
            miopenStatusBadParm);
  EXPECT_EQ(miopenCompileFusionPlan(handle, plan), miopenStatusSuccess);
}

// Convolution, bias and activation are one problem. Executing the plan takes
// memory and parameters from the arguments, and prepares the same problem as
// compiling.
TEST_F(Fusion, ConvolutionBiasActivationIsOneProblem) {
  ASSERT_EQ(miopenCreateOpBiasForward(plan, &biasOp, bias),
            miopenStatusSuccess);
  ASSERT_EQ(miopenCreateOpActivationForward(plan, &activationOp,
                                            miopenActivationCLIPPEDRELU),
            miopenStatusSuccess);
  EXPECT_EQ(execute(x), miopenStatusBadParm); // It is not compiled.
  ASSERT_EQ(miopenCompileFusionPlan(handle, plan), miopenStatusSuccess);
  EXPECT_EQ(execute(x), miopenStatusBadParm); // It has no arguments.
  ASSERT_EQ(miopenSetOpArgsConvForward(args, convOp, &kOne, &kZero, &dataW),
            miopenStatusSuccess);
  ASSERT_EQ(
      miopenSetOpArgsBiasForward(args, biasOp, nullptr, nullptr, &dataBias),
      miopenStatusSuccess);
  ASSERT_EQ(
      miopenSetOpArgsActivForward(args, activationOp, &kOne, &kZero, 6, 0, 0),
      miopenStatusSuccess);
  ASSERT_EQ(execute(x), miopenStatusSuccess);
  ASSERT_EQ(engine->launches.size(), 1u);
  const LaunchArgs &launch = engine->launches[0].args;
  EXPECT_EQ(launch.x, &dataX);
  EXPECT_EQ(launch.w, &dataW);
  EXPECT_EQ(launch.y, &dataY);
  EXPECT_EQ(launch.bias, &dataBias);
  EXPECT_EQ(launch.activAlpha, 6);
  ASSERT_GE(engine->problems.size(), 2u);
  const std::string text = engine->problems[0].toNetworkConfig();
  EXPECT_NE(text.find("-ebias+clippedrelu"), std::string::npos) << text;
  EXPECT_NE(text.find("nhwc,nhwc,nhwc"), std::string::npos) << text;
  EXPECT_EQ(engine->problems.back().toNetworkConfig(), text);
  EXPECT_EQ(execute(y), miopenStatusBadParm); // The input differs.
}

// A batch normalisation behind the convolution is a launch of its own, which
// takes the activation along and works on the convolution's result.
TEST_F(Fusion, ConvolutionBatchNormActivationIsTwoLaunches) {
  miopenFusionOpDescriptor_t normOp = nullptr;
  const TensorDesc channels(miopenTensorNCHW, {1, 16, 1, 1}, miopenFloat);
  ASSERT_EQ(miopenCreateOpBiasForward(plan, &biasOp, bias),
            miopenStatusSuccess);
  ASSERT_EQ(miopenCreateOpBatchNormInference(plan, &normOp, miopenBNSpatial,
                                             channels),
            miopenStatusSuccess);
  ASSERT_EQ(miopenCreateOpActivationForward(plan, &activationOp,
                                            miopenActivationRELU),
            miopenStatusSuccess);
  ASSERT_EQ(miopenCompileFusionPlan(handle, plan), miopenStatusSuccess);
  ASSERT_EQ(miopenSetOpArgsConvForward(args, convOp, &kOne, &kZero, &dataW),
            miopenStatusSuccess);
  ASSERT_EQ(
      miopenSetOpArgsBiasForward(args, biasOp, nullptr, nullptr, &dataBias),
      miopenStatusSuccess);
  ASSERT_EQ(
      miopenSetOpArgsActivForward(args, activationOp, &kOne, &kZero, 0, 0, 0),
      miopenStatusSuccess);
  int scale = 0, shift = 0, mean = 0, variance = 0;
  ASSERT_EQ(miopenSetOpArgsBatchNormInference(args, normOp, &kOne, &kZero,
                                              &scale, &shift, &mean, &variance,
                                              1e-5),
            miopenStatusSuccess);
  ASSERT_EQ(execute(x), miopenStatusSuccess);
  ASSERT_EQ(engine->launches.size(), 2u);
  const std::string conv = engine->problems[0].toNetworkConfig();
  EXPECT_TRUE(conv.ends_with("-ebias")) << conv;
  const std::string norm = engine->problems.back().toNetworkConfig();
  EXPECT_NE(norm.find("bnorm_infer-m3-"), std::string::npos) << norm;
  const LaunchArgs &second = engine->launches[1].args;
  EXPECT_EQ(second.tensors[0], &dataY);
  EXPECT_EQ(second.tensors[5], &dataY);
}

// Operations in another order are unsupported, and so are plans for which the
// engine has no kernel.
TEST_F(Fusion, OtherPlansAreUnsupported) {
  miopenFusionOpDescriptor_t op;
  EXPECT_EQ(miopenFusionPlanGetOp(plan, 0, &op), miopenStatusSuccess);
  EXPECT_EQ(op, convOp);
  EXPECT_EQ(miopenFusionPlanGetOp(plan, 1, &op), miopenStatusBadParm);
  engine->prepareStatus = notSupported("no kernel");
  EXPECT_EQ(miopenCompileFusionPlan(handle, plan), miopenStatusUnsupportedOp);
  engine->prepareStatus = Status::ok();
  EXPECT_EQ(miopenCompileFusionPlan(handle, plan), miopenStatusSuccess);
  ASSERT_EQ(miopenCreateOpActivationForward(plan, &activationOp,
                                            miopenActivationRELU),
            miopenStatusSuccess);
  ASSERT_EQ(miopenCreateOpBiasForward(plan, &biasOp, bias),
            miopenStatusSuccess);
  EXPECT_EQ(miopenCompileFusionPlan(handle, plan), miopenStatusUnsupportedOp);
  EXPECT_NE(std::string(tesseraGetLastErrorMessage()).find("3 operations"),
            std::string::npos);
}

// Arguments must be of the kind of the operation, with scale factors of 1 and
// 0.
TEST_F(Fusion, ArgumentsAreChecked) {
  const float two = 2;
  EXPECT_EQ(miopenSetOpArgsBiasForward(args, convOp, &kOne, &kZero, &dataBias),
            miopenStatusBadParm);
  EXPECT_EQ(miopenSetOpArgsConvForward(args, convOp, &two, &kZero, &dataW),
            miopenStatusNotImplemented);
  EXPECT_EQ(miopenSetOpArgsConvForward(args, convOp, &kOne, &kZero, nullptr),
            miopenStatusBadParm);
}

// A bias must have a value for each channel of the convolution.
TEST_F(Fusion, BiasHasAValueForEachChannel) {
  const TensorDesc wrong(miopenTensorNCHW, {1, 8, 1, 1}, miopenHalf);
  ASSERT_EQ(miopenCreateOpBiasForward(plan, &biasOp, wrong),
            miopenStatusSuccess);
  EXPECT_EQ(miopenCompileFusionPlan(handle, plan), miopenStatusBadParm);
}

// The function without a plan adds a residual that has the layout of y.
TEST_F(Fusion, OneCallAddsAResidual) {
  miopenActivationDescriptor_t relu;
  ASSERT_EQ(miopenCreateActivationDescriptor(&relu), miopenStatusSuccess);
  ASSERT_EQ(miopenSetActivationDescriptor(relu, miopenActivationRELU, 0, 0, 0),
            miopenStatusSuccess);
  auto run = [&](const float *alpha2, miopenTensorDescriptor_t z,
                 const void *dataZ) {
    return miopenConvolutionBiasActivationForward(
        handle, &kOne, x, &dataX, w, &dataW, conv,
        miopenConvolutionFwdAlgoDirect, nullptr, 0, alpha2, z, dataZ, bias,
        &dataBias, relu, y, &dataY);
  };
  int dataZ = 0;
  const float half = 0.5f;
  EXPECT_EQ(run(&kOne, y, &dataZ), miopenStatusSuccess);
  ASSERT_EQ(engine->launches.size(), 1u);
  EXPECT_EQ(engine->launches[0].args.residual, &dataZ);
  EXPECT_NE(engine->problems[0].toNetworkConfig().find("-ebias+residual+relu"),
            std::string::npos);
  EXPECT_EQ(run(&kZero, nullptr, nullptr), miopenStatusSuccess);
  EXPECT_EQ(run(&kOne, nullptr, nullptr), miopenStatusBadParm);
  EXPECT_EQ(run(&half, y, &dataZ), miopenStatusNotImplemented);
  EXPECT_EQ(run(&kOne, x, &dataZ), miopenStatusNotImplemented);
  EXPECT_EQ(miopenDestroyActivationDescriptor(relu), miopenStatusSuccess);
}

//===- ApiBatchNormTest.cpp - Batch normalisation on a device -------------===//

#include "test/unit/execute/ApiRowWiseFixture.h"

using namespace tessera::test;

static float one = 1, zero = 0;
static constexpr double kEpsilon = 0x1p-10, kFactor = 0.25;
static constexpr int kRelu = miopenActivationRELU;

namespace {
using Lengths = std::vector<int>;

/// A batch with its parameters, statistics and gradients.
struct Batch {
  Batch(miopenDataType_t type, miopenBatchNormMode_t mode, Lengths lengths,
        bool isChannelsLast = false)
      : lengths(lengths),
        strides(isChannelsLast ? getChannelsLast(lengths) : Lengths()),
        parameters(getParameters(lengths, mode)), mode(mode),
        x(type, lengths, strides), y(type, lengths, strides),
        dy(type, lengths, strides) {
    y.poison();
    for (size_t dim = 0; dim < lengths.size(); ++dim)
      if (parameters[dim] == 1 && (lengths[dim] > 1 || dim != 1))
        reduced |= 1u << dim;
    if (mode == miopenBNPerActivation)
      reduced = 1;
  }

  static Lengths getParameters(Lengths lengths, miopenBatchNormMode_t mode) {
    lengths[0] = 1;
    if (mode == miopenBNSpatial)
      std::fill(lengths.begin() + 2, lengths.end(), 1);
    return lengths;
  }

  Lengths lengths, strides, parameters;
  miopenBatchNormMode_t mode;
  uint32_t reduced = 0;
  ApiTensor x, y, dy;
  ApiTensor scale{miopenFloat, parameters}, bias{miopenFloat, parameters};
  ApiTensor mean{miopenFloat, parameters};
  ApiTensor variance{miopenFloat, parameters, {}, 0.1, 4};
  ApiTensor savedMean{miopenFloat, parameters};
  ApiTensor savedInverse{miopenFloat, parameters, {}, 0.25, 2};
};

class ApiBatchNorm : public ApiRowWise {
protected:
  /// Runs training with all optional tensors, then the gradient from the
  /// statistics that training saved.
  void train(Batch &b) {
    ASSERT_OK(miopenBatchNormalizationForwardTraining(
        handle, b.mode, &one, &zero, b.x.getDesc(), b.x.getData(),
        b.y.getDesc(), b.y.getData(), b.scale.getDesc(), b.scale.getData(),
        b.bias.getData(), kFactor, b.mean.getData(), b.variance.getData(),
        kEpsilon, b.savedMean.getData(), b.savedInverse.getData()));
    expectRight("bnorm_train", 48,
                {&b.x, &b.scale, &b.bias, &b.mean, &b.variance},
                {&b.mean, &b.variance, &b.savedMean, &b.savedInverse, &b.y},
                {kEpsilon, kFactor, 0, 0, 0}, b.reduced);
    b.savedMean.setBytes(b.savedMean.read());
    b.savedInverse.setBytes(b.savedInverse.read());
    ApiTensor dscale(miopenFloat, b.parameters),
        dbias(miopenFloat, b.parameters);
    b.y.poison();
    ASSERT_OK(miopenBatchNormalizationBackward(
        handle, b.mode, &one, &zero, &one, &zero, b.x.getDesc(), b.x.getData(),
        b.dy.getDesc(), b.dy.getData(), b.y.getDesc(), b.y.getData(),
        b.scale.getDesc(), b.scale.getData(), dscale.getData(), dbias.getData(),
        kEpsilon, b.savedMean.getData(), b.savedInverse.getData()));
    expectRight("bnorm_bwd", 16,
                {&b.x, &b.dy, &b.scale, &b.savedMean, &b.savedInverse},
                {&dscale, &dbias, &b.y}, {kEpsilon, 0, 0, 0}, b.reduced);
  }

  void infer(Batch &b) {
    ASSERT_OK(miopenBatchNormalizationForwardInference(
        handle, b.mode, &one, &zero, b.x.getDesc(), b.x.getData(),
        b.y.getDesc(), b.y.getData(), b.scale.getDesc(), b.scale.getData(),
        b.bias.getData(), b.mean.getData(), b.variance.getData(), kEpsilon));
    expectRight("bnorm_infer", 0,
                {&b.x, &b.mean, &b.variance, &b.scale, &b.bias}, {&b.y},
                {kEpsilon, 0, 0, 0});
  }
};
} // namespace

// Tests training, its gradient and inference with statistics of channels, in
// all types and layouts and with odd sizes.
TEST_F(ApiBatchNorm, Spatial) {
  for (miopenDataType_t type : {miopenHalf, miopenBFloat16, miopenFloat})
    for (bool isChannelsLast : {false, true})
      for (const Lengths &lengths : {Lengths{3, 5, 7, 9}, Lengths{2, 16, 8, 8},
                                     Lengths{2, 3, 3, 5, 7}}) {
        Batch batch(type, miopenBNSpatial, lengths, isChannelsLast);
        train(batch);
        Batch another(type, miopenBNSpatial, lengths, isChannelsLast);
        infer(another);
      }
}

// Tests the same with statistics of single activations.
TEST_F(ApiBatchNorm, PerActivation) {
  for (miopenDataType_t type : {miopenHalf, miopenFloat})
    for (const Lengths &lengths :
         {Lengths{9, 5, 3, 7}, Lengths{1, 4, 2, 2}, Lengths{4, 3, 2, 5, 7}}) {
      Batch batch(type, miopenBNPerActivation, lengths);
      train(batch);
      Batch another(type, miopenBNPerActivation, lengths);
      infer(another);
    }
}

// Without running and saved statistics the gradient computes mean and variance
// from x again.
TEST_F(ApiBatchNorm, WithoutStatistics) {
  Batch b(miopenFloat, miopenBNSpatial, {3, 5, 7, 9});
  ASSERT_OK(miopenBatchNormalizationForwardTraining(
      handle, b.mode, &one, &zero, b.x.getDesc(), b.x.getData(), b.y.getDesc(),
      b.y.getData(), b.scale.getDesc(), b.scale.getData(), b.bias.getData(),
      kFactor, nullptr, nullptr, kEpsilon, nullptr, nullptr));
  expectRight("bnorm_train", 0, {&b.x, &b.scale, &b.bias}, {&b.y},
              {kEpsilon, kFactor, 0, 0, 0}, b.reduced);
  ApiTensor dscale(miopenFloat, b.parameters), dbias(miopenFloat, b.parameters);
  ASSERT_OK(miopenBatchNormalizationBackward(
      handle, b.mode, &one, &zero, &one, &zero, b.x.getDesc(), b.x.getData(),
      b.dy.getDesc(), b.dy.getData(), b.y.getDesc(), b.y.getData(),
      b.scale.getDesc(), b.scale.getData(), dscale.getData(), dbias.getData(),
      kEpsilon, nullptr, nullptr));
  expectRight("bnorm_bwd", 0, {&b.x, &b.dy, &b.scale}, {&dscale, &dbias, &b.y},
              {kEpsilon, 0, 0, 0}, b.reduced);
}

// Tests a normalisation that a ReLU follows in all three directions, through
// the functions that take an activation and through fusion plans.
TEST_F(ApiBatchNorm, Activation) {
  miopenActivationDescriptor_t relu;
  ASSERT_OK(miopenCreateActivationDescriptor(&relu));
  ASSERT_OK(miopenSetActivationDescriptor(relu, miopenActivationRELU, 0, 0, 0));
  Batch b(miopenHalf, miopenBNSpatial, {3, 5, 7, 9});
  const miopenTensorDescriptor_t p = b.scale.getDesc();
  ASSERT_OK(miopenBatchNormForwardTrainingActivation(
      handle, b.mode, &one, &zero, b.x.getDesc(), b.x.getData(), b.y.getDesc(),
      b.y.getData(), p, p, p, p, b.scale.getData(), b.bias.getData(), kFactor,
      nullptr, nullptr, kEpsilon, b.savedMean.getData(),
      b.savedInverse.getData(), relu));
  expectRight("bnorm_train", 32 + kRelu, {&b.x, &b.scale, &b.bias},
              {&b.savedMean, &b.savedInverse, &b.y},
              {kEpsilon, kFactor, 0, 0, 0}, b.reduced);
  ASSERT_OK(miopenBatchNormForwardInferenceActivation(
      handle, b.mode, &one, &zero, b.x.getDesc(), b.x.getData(), b.y.getDesc(),
      b.y.getData(), p, p, p, p, b.scale.getData(), b.bias.getData(),
      b.mean.getData(), b.variance.getData(), kEpsilon, relu));
  expectRight("bnorm_infer", kRelu,
              {&b.x, &b.mean, &b.variance, &b.scale, &b.bias}, {&b.y},
              {kEpsilon, 0, 0, 0});
  Batch g(miopenHalf, miopenBNSpatial, {3, 5, 7, 9});
  ApiTensor dscale(miopenFloat, g.parameters), dbias(miopenFloat, g.parameters);
  auto expectGradient = [&] {
    expectRight("bnorm_bwd", 16 + kRelu,
                {&g.x, &g.dy, &g.scale, &g.bias, &g.savedMean, &g.savedInverse},
                {&dscale, &dbias, &g.y}, {kEpsilon, 0, 0, 0}, g.reduced);
  };
  ASSERT_OK(miopenBatchNormBackwardActivation(
      handle, g.mode, &one, &zero, &one, &zero, g.x.getDesc(), g.x.getData(),
      g.dy.getDesc(), g.dy.getData(), g.y.getDesc(), g.y.getData(), p, p, p, p,
      g.scale.getData(), g.bias.getData(), dscale.getData(), dbias.getData(),
      kEpsilon, g.savedMean.getData(), g.savedInverse.getData(), relu));
  expectGradient();

  miopenFusionPlanDescriptor_t plan;
  miopenFusionOpDescriptor_t norm, activation;
  miopenOperatorArgs_t args;
  ASSERT_OK(miopenCreateFusionPlan(&plan, miopenVerticalFusion, g.x.getDesc()));
  ASSERT_OK(miopenCreateOpBatchNormBackward(plan, &norm, g.mode));
  ASSERT_OK(miopenCreateOpActivationBackward(plan, &activation,
                                             miopenActivationRELU));
  ASSERT_OK(miopenCompileFusionPlan(handle, plan));
  ASSERT_OK(miopenCreateOperatorArgs(&args));
  ASSERT_OK(miopenSetOpArgsBatchNormBackward(
      args, norm, &one, &zero, g.x.getData(), g.scale.getData(),
      g.bias.getData(), dscale.getData(), dbias.getData(),
      g.savedMean.getData(), g.savedInverse.getData()));
  ASSERT_OK(miopenSetOpArgsActivBackward(args, activation, &one, &zero, nullptr,
                                         nullptr, 0, 0, 0));
  for (ApiTensor *result : {&dscale, &dbias, &g.y})
    result->poison();
  ASSERT_OK(miopenExecuteFusionPlan(handle, plan, g.dy.getDesc(),
                                    g.dy.getData(), g.y.getDesc(),
                                    g.y.getData(), args));
  expectGradient();
  EXPECT_OK(miopenDestroyOperatorArgs(args));
  EXPECT_OK(miopenDestroyFusionPlan(plan));
  EXPECT_OK(miopenDestroyActivationDescriptor(relu));
}

namespace {
/// A fusion plan of a normalisation and a ReLU.
class ApiBatchNormPlan : public ApiBatchNorm {
protected:
  void SetUp() override {
    ApiBatchNorm::SetUp();
    ASSERT_OK(
        miopenCreateFusionPlan(&plan, miopenVerticalFusion, b.x.getDesc()));
    ASSERT_OK(miopenCreateOperatorArgs(&args));
  }
  void TearDown() override {
    EXPECT_OK(miopenDestroyOperatorArgs(args));
    EXPECT_OK(miopenDestroyFusionPlan(plan));
    ApiBatchNorm::TearDown();
  }
  void addRelu() {
    miopenFusionOpDescriptor_t relu;
    ASSERT_OK(
        miopenCreateOpActivationForward(plan, &relu, miopenActivationRELU));
    ASSERT_OK(miopenSetOpArgsActivForward(args, relu, &one, &zero, 0, 0, 0));
  }
  void execute() {
    ASSERT_OK(miopenCompileFusionPlan(handle, plan));
    ASSERT_OK(miopenExecuteFusionPlan(handle, plan, b.x.getDesc(),
                                      b.x.getData(), b.y.getDesc(),
                                      b.y.getData(), args));
  }

  Batch b{miopenHalf, miopenBNSpatial, {3, 5, 7, 9}};
  miopenFusionPlanDescriptor_t plan = nullptr;
  miopenFusionOpDescriptor_t norm = nullptr;
  miopenOperatorArgs_t args = nullptr;
};
} // namespace

// Tests inference through a fusion plan.
TEST_F(ApiBatchNormPlan, Inference) {
  ASSERT_OK(
      miopenCreateOpBatchNormInference(plan, &norm, b.mode, b.scale.getDesc()));
  addRelu();
  ASSERT_OK(miopenSetOpArgsBatchNormInference(
      args, norm, &one, &zero, b.scale.getData(), b.bias.getData(),
      b.mean.getData(), b.variance.getData(), kEpsilon));
  execute();
  expectRight("bnorm_infer", kRelu,
              {&b.x, &b.mean, &b.variance, &b.scale, &b.bias}, {&b.y},
              {kEpsilon, 0, 0, 0});
}

// Tests inference behind a convolution in one plan: the same as of the
// convolution's result.
TEST_F(ApiBatchNorm, ConvolutionPlan) {
  ApiTensor x(miopenFloat, {2, 6, 5, 3}), w(miopenFloat, {4, 6, 3, 3});
  Batch b(miopenFloat, miopenBNSpatial, {2, 4, 5, 3});
  miopenConvolutionDescriptor_t conv;
  ASSERT_OK(miopenCreateConvolutionDescriptor(&conv));
  ASSERT_OK(miopenInitConvolutionDescriptor(conv, miopenConvolution, 1, 1, 1, 1,
                                            1, 1));
  miopenFusionPlanDescriptor_t plan;
  miopenFusionOpDescriptor_t convOp, norm, relu;
  miopenOperatorArgs_t args;
  ASSERT_OK(miopenCreateFusionPlan(&plan, miopenVerticalFusion, x.getDesc()));
  ASSERT_OK(miopenCreateOpConvForward(plan, &convOp, conv, w.getDesc()));
  ASSERT_OK(
      miopenCreateOpBatchNormInference(plan, &norm, b.mode, b.scale.getDesc()));
  ASSERT_OK(miopenCreateOpActivationForward(plan, &relu, miopenActivationRELU));
  ASSERT_OK(miopenCompileFusionPlan(handle, plan));
  ASSERT_OK(miopenCreateOperatorArgs(&args));
  ASSERT_OK(miopenSetOpArgsConvForward(args, convOp, &one, &zero, w.getData()));
  ASSERT_OK(miopenSetOpArgsBatchNormInference(
      args, norm, &one, &zero, b.scale.getData(), b.bias.getData(),
      b.mean.getData(), b.variance.getData(), kEpsilon));
  ASSERT_OK(miopenSetOpArgsActivForward(args, relu, &one, &zero, 0, 0, 0));
  b.y.poison();
  ASSERT_OK(miopenExecuteFusionPlan(handle, plan, x.getDesc(), x.getData(),
                                    b.y.getDesc(), b.y.getData(), args));
  ASSERT_OK(miopenConvolutionForward(
      handle, &one, x.getDesc(), x.getData(), w.getDesc(), w.getData(), conv,
      miopenConvolutionFwdAlgoImplicitGEMM, &zero, b.x.getDesc(), b.x.getData(),
      nullptr, 0));
  b.x.setBytes(b.x.read());
  expectRight("bnorm_infer", kRelu,
              {&b.x, &b.mean, &b.variance, &b.scale, &b.bias}, {&b.y},
              {kEpsilon, 0, 0, 0});
  EXPECT_OK(miopenDestroyOperatorArgs(args));
  EXPECT_OK(miopenDestroyFusionPlan(plan));
  EXPECT_OK(miopenDestroyConvolutionDescriptor(conv));
}

// Tests training through a fusion plan, with running and saved statistics.
TEST_F(ApiBatchNormPlan, Training) {
  ASSERT_OK(miopenCreateOpBatchNormForward(plan, &norm, b.mode, true));
  addRelu();
  ASSERT_OK(miopenSetOpArgsBatchNormForward(
      args, norm, &one, &zero, b.scale.getData(), b.bias.getData(),
      b.savedMean.getData(), b.savedInverse.getData(), b.mean.getData(),
      b.variance.getData(), kFactor, kEpsilon));
  execute();
  expectRight("bnorm_train", 48 + kRelu,
              {&b.x, &b.scale, &b.bias, &b.mean, &b.variance},
              {&b.mean, &b.variance, &b.savedMean, &b.savedInverse, &b.y},
              {kEpsilon, kFactor, 0, 0, 0}, b.reduced);
}

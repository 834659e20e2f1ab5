//===- BatchNormTest.cpp - Batch normalisations as problems ---------------===//

#include "runtime/Base/RowWiseKind.h"
#include "test/unit/capi/Descriptors.h"
#include "test/unit/capi/FakeEngine.h"

#include <vector>

using namespace tessera;
using namespace tessera::test;

static float one = 1, zero = 0, two = 2;

namespace {
/// A handle on a fake engine, and pointers that nothing dereferences.
class BatchNormCall : public FakeEngineTest {
protected:
  void SetUp() override {
    FakeEngineTest::SetUp();
    ASSERT_EQ(miopenCreate(&handle), miopenStatusSuccess);
    ASSERT_EQ(miopenDeriveBNTensorDescriptor(channels, x, miopenBNSpatial), 0);
    ASSERT_EQ(
        miopenDeriveBNTensorDescriptor(positions, x, miopenBNPerActivation), 0);
    ASSERT_EQ(miopenCreateActivationDescriptor(&relu), 0);
    ASSERT_EQ(
        miopenSetActivationDescriptor(relu, miopenActivationRELU, 5, 6, 7), 0);
  }
  void TearDown() override {
    ASSERT_EQ(miopenDestroyActivationDescriptor(relu), 0);
    ASSERT_EQ(miopenDestroy(handle), miopenStatusSuccess);
    FakeEngineTest::TearDown();
  }

  static void *getNext(const void *element) {
    return element ? const_cast<int *>(static_cast<const int *>(element)) + 1
                   : nullptr;
  }
  miopenStatus_t train(miopenBatchNormMode_t mode,
                       miopenTensorDescriptor_t parameters, void *running,
                       void *saved, float *alpha = &one) {
    return miopenBatchNormalizationForwardTraining(
        handle, mode, alpha, &zero, x, &data[0], x, &data[1], parameters,
        &data[2], &data[3], 0.25, running, getNext(running), 1e-3, saved,
        getNext(saved));
  }
  miopenStatus_t backward(const void *saved, float *alpha = &one) {
    return miopenBatchNormalizationBackward(
        handle, miopenBNSpatial, &one, &zero, alpha, &zero, x, &data[0], x,
        &data[1], x, &data[2], channels, &data[3], &data[4], &data[5], 1e-3,
        saved, getNext(saved));
  }
  std::string getConfig() {
    EXPECT_FALSE(engine->problems.empty());
    return engine->problems.back().toNetworkConfig();
  }
  const LaunchArgs &getArgs() { return engine->launches.back().args; }
  /// The tensors of the launch, as their indices in `data`.
  std::vector<int64_t> getTensors() {
    std::vector<int64_t> numbers;
    const RowWiseProblem &problem = *engine->problems.back().getRows();
    for (int i = 0; i < problem.tensorCount; ++i)
      numbers.push_back(static_cast<const int *>(getArgs().tensors[i]) -
                        data.data());
    return numbers;
  }

  miopenHandle_t handle = nullptr;
  TensorDesc x{miopenTensorNCHW, {2, 3, 5, 7}, miopenHalf};
  TensorDesc channels, positions;
  miopenActivationDescriptor_t relu = nullptr;
  std::vector<int> data = std::vector<int>(16);
};

using Numbers = std::vector<int64_t>;
} // namespace

// In spatial mode channels are rows. Running statistics are updated in place,
// and tensors that are not wanted are not in the problem.
TEST_F(BatchNormCall, TrainsByChannel) {
  ASSERT_EQ(train(miopenBNSpatial, channels, &data[4], &data[6]),
            miopenStatusSuccess);
  EXPECT_EQ(getConfig(),
            "rowwise-bnorm_train-m48-2x3x35-r0,2-i:f16:105:35:1-i:f32:0:1:0-"
            "i:f32:0:1:0-i:f32:0:1:0-i:f32:0:1:0-r:f32:0:1:0-r:f32:0:1:0-"
            "r:f32:0:1:0-r:f32:0:1:0-o:f16:105:35:1");
  EXPECT_EQ(getTensors(), (Numbers{0, 2, 3, 4, 5, 4, 5, 6, 7, 1}));
  EXPECT_EQ(getArgs().scalars[0], 1e-3);
  EXPECT_EQ(getArgs().scalars[1], 0.25);
  ASSERT_EQ(train(miopenBNSpatial, channels, nullptr, nullptr),
            miopenStatusSuccess);
  EXPECT_EQ(getConfig(), "rowwise-bnorm_train-m0-2x3x35-r0,2-i:f16:105:35:1-"
                         "i:f32:0:1:0-i:f32:0:1:0-o:f16:105:35:1");
}

// In mode per activation, one position in all images is a row.
TEST_F(BatchNormCall, TrainsByActivation) {
  ASSERT_EQ(train(miopenBNPerActivation, positions, nullptr, &data[5]),
            miopenStatusSuccess);
  EXPECT_EQ(getConfig(),
            "rowwise-bnorm_train-m32-2x105-r0-i:f16:105:1-i:f32:0:1-i:f32:0:1-"
            "r:f32:0:1-r:f32:0:1-o:f16:105:1");
}

// The gradient reads the bias only with an activation, whose mode and
// parameters are in the problem and the launch.
TEST_F(BatchNormCall, GoesBackward) {
  ASSERT_EQ(backward(&data[6]), miopenStatusSuccess);
  EXPECT_EQ(getTensors(), (Numbers{0, 1, 3, 6, 7, 4, 5, 2}));
  EXPECT_EQ(engine->problems.back().getRows()->mode, 16u);
  ASSERT_EQ(backward(nullptr), miopenStatusSuccess);
  EXPECT_EQ(getTensors(), (Numbers{0, 1, 3, 4, 5, 2}));
  ASSERT_EQ(miopenBatchNormBackwardActivation(
                handle, miopenBNSpatial, &one, &zero, &one, &zero, x, &data[0],
                x, &data[1], x, &data[2], channels, channels, channels,
                channels, &data[3], &data[7], &data[4], &data[5], 1e-3,
                &data[6], &data[8], relu),
            miopenStatusSuccess);
  EXPECT_EQ(engine->problems.back().getRows()->mode, 16u + 3);
  EXPECT_EQ(getTensors(), (Numbers{0, 1, 3, 7, 6, 8, 4, 5, 2}));
  EXPECT_EQ(getArgs().scalars[1], 5);
  EXPECT_EQ(getArgs().scalars[3], 7);
}

// Inference takes variances or their reciprocals, with and without an
// activation.
TEST_F(BatchNormCall, Infers) {
  ASSERT_EQ(miopenBatchNormalizationForwardInference(
                handle, miopenBNSpatial, &one, &zero, x, &data[0], x, &data[1],
                channels, &data[2], &data[3], &data[4], &data[5], 1e-3),
            miopenStatusSuccess);
  EXPECT_EQ(getConfig(), "rowwise-bnorm_infer-m0-2x3x35-r-i:f16:105:35:1-"
                         "i:f32:0:1:0-i:f32:0:1:0-i:f32:0:1:0-i:f32:0:1:0-"
                         "o:f16:105:35:1");
  EXPECT_EQ(getTensors(), (Numbers{0, 4, 5, 2, 3, 1}));
  ASSERT_EQ(miopenBatchNormForwardInferenceActivationInvVariance(
                handle, miopenBNSpatial, &one, &zero, x, &data[0], x, &data[1],
                channels, channels, channels, channels, &data[2], &data[3],
                &data[4], &data[5], relu),
            miopenStatusSuccess);
  EXPECT_EQ(engine->problems.back().getRows()->mode, 16u + 3);
  EXPECT_EQ(getTensors(), (Numbers{0, 4, 5, 2, 3, 1}));
}

// Other scale factors get MIOpen's statuses, and tensors that do not fit are
// BadParm.
TEST_F(BatchNormCall, Refuses) {
  EXPECT_EQ(train(miopenBNSpatial, channels, nullptr, nullptr, &two),
            miopenStatusUnknownError);
  EXPECT_EQ(backward(nullptr, &two), miopenStatusBadParm);
  EXPECT_EQ(train(miopenBNSpatial, positions, nullptr, nullptr),
            miopenStatusBadParm);
  EXPECT_EQ(
      train(static_cast<miopenBatchNormMode_t>(2), channels, nullptr, nullptr),
      miopenStatusBadParm);
  TensorDesc other(miopenTensorNCHW, {2, 3, 5, 8}, miopenHalf);
  TensorDesc wide(miopenTensorNCHW, {2, 3, 5, 7});
  for (miopenTensorDescriptor_t y : {other.operator miopenTensorDescriptor_t(),
                                     wide.operator miopenTensorDescriptor_t()})
    EXPECT_EQ(miopenBatchNormalizationForwardInference(
                  handle, miopenBNSpatial, &one, &zero, x, &data[0], y,
                  &data[1], channels, &data[2], &data[3], &data[4], &data[5],
                  1e-3),
              miopenStatusBadParm);
  EXPECT_EQ(miopenBatchNormalizationForwardInference(
                handle, miopenBNSpatial, &one, &zero, x, &data[0], x, &data[1],
                channels, &data[2], nullptr, &data[4], &data[5], 1e-3),
            miopenStatusBadParm);
  EXPECT_TRUE(engine->launches.empty());
}

//===- DescriptorTest.cpp - Tests of descriptors that only hold values ----===//
//
// Clients make these descriptors early, whether or not they use them later.
// Each one is set, read back, set to invalid values, which must not change it,
// and destroyed.
//
//===----------------------------------------------------------------------===//

#define MIOPEN_BETA_API 1
#include "test/unit/capi/Descriptors.h"
#include "test/unit/capi/FakeEngine.h"

#include <tessera/tessera.h>

#include <cmath>

using namespace tessera;
using namespace tessera::test;

/// A value that is no enumerator. C clients can pass it; C++ needs a cast.
template <typename Enum>
static Enum getNonsense() {
  return static_cast<Enum>(77);
}

// An activation holds its mode and three parameters.
TEST(ActivationDescriptor, ReadsBack) {
  miopenActivationDescriptor_t desc;
  ASSERT_EQ(miopenCreateActivationDescriptor(&desc), miopenStatusSuccess);
  ASSERT_EQ(
      miopenSetActivationDescriptor(desc, miopenActivationCLIPPEDRELU, 6, 2, 3),
      miopenStatusSuccess);
  EXPECT_EQ(miopenSetActivationDescriptor(
                desc, getNonsense<miopenActivationMode_t>(), 0, 0, 0),
            miopenStatusBadParm);
  miopenActivationMode_t mode;
  double alpha, beta, gamma;
  ASSERT_EQ(miopenGetActivationDescriptor(desc, &mode, &alpha, &beta, &gamma),
            miopenStatusSuccess);
  EXPECT_EQ(mode, miopenActivationCLIPPEDRELU);
  EXPECT_EQ(alpha, 6);
  EXPECT_EQ(beta, 2);
  EXPECT_EQ(gamma, 3);
  EXPECT_EQ(miopenDestroyActivationDescriptor(desc), miopenStatusSuccess);
}

// A local response normalisation holds its window and three parameters.
TEST(LrnDescriptor, ReadsBack) {
  miopenLRNDescriptor_t desc;
  ASSERT_EQ(miopenCreateLRNDescriptor(&desc), miopenStatusSuccess);
  ASSERT_EQ(
      miopenSetLRNDescriptor(desc, miopenLRNCrossChannel, 5, 1e-4, 0.75, 2),
      miopenStatusSuccess);
  EXPECT_EQ(
      miopenSetLRNDescriptor(desc, getNonsense<miopenLRNMode_t>(), 0, 0, 0, 0),
      miopenStatusBadParm);
  miopenLRNMode_t mode;
  unsigned window;
  double alpha, beta, k;
  ASSERT_EQ(miopenGetLRNDescriptor(desc, &mode, &window, &alpha, &beta, &k),
            miopenStatusSuccess);
  EXPECT_EQ(mode, miopenLRNCrossChannel);
  EXPECT_EQ(window, 5u);
  EXPECT_EQ(alpha, 1e-4);
  EXPECT_EQ(beta, 0.75);
  EXPECT_EQ(k, 2);
  EXPECT_EQ(miopenDestroyLRNDescriptor(desc), miopenStatusSuccess);
}

// A CTC loss holds three values, and the getter accepts null pointers.
TEST(CtcLossDescriptor, ReadsBack) {
  miopenCTCLossDescriptor_t desc;
  ASSERT_EQ(miopenCreateCTCLossDescriptor(&desc), miopenStatusSuccess);
  ASSERT_EQ(miopenSetCTCLossDescriptor(desc, miopenHalf, 3, false),
            miopenStatusSuccess);
  EXPECT_EQ(miopenSetCTCLossDescriptor(desc, getNonsense<miopenDataType_t>(), 0,
                                       true),
            miopenStatusBadParm);
  miopenDataType_t type;
  int blank;
  bool softmax;
  ASSERT_EQ(miopenGetCTCLossDescriptor(desc, &type, &blank, &softmax),
            miopenStatusSuccess);
  EXPECT_EQ(type, miopenHalf);
  EXPECT_EQ(blank, 3);
  EXPECT_FALSE(softmax);
  EXPECT_EQ(miopenGetCTCLossDescriptor(desc, nullptr, nullptr, nullptr),
            miopenStatusSuccess);
  EXPECT_EQ(miopenDestroyCTCLossDescriptor(desc), miopenStatusSuccess);
}

// A reduction holds five values.
TEST(ReduceTensorDescriptor, ReadsBack) {
  miopenReduceTensorDescriptor_t desc;
  ASSERT_EQ(miopenCreateReduceTensorDescriptor(&desc), miopenStatusSuccess);
  ASSERT_EQ(miopenSetReduceTensorDescriptor(
                desc, MIOPEN_REDUCE_TENSOR_NORM2, miopenDouble,
                MIOPEN_PROPAGATE_NAN, MIOPEN_REDUCE_TENSOR_FLATTENED_INDICES,
                MIOPEN_16BIT_INDICES),
            miopenStatusSuccess);
  EXPECT_EQ(miopenSetReduceTensorDescriptor(
                desc, MIOPEN_REDUCE_TENSOR_ADD, miopenFloat,
                getNonsense<miopenNanPropagation_t>(),
                MIOPEN_REDUCE_TENSOR_NO_INDICES, MIOPEN_32BIT_INDICES),
            miopenStatusBadParm);
  miopenReduceTensorOp_t op;
  miopenDataType_t type;
  miopenNanPropagation_t nan;
  miopenReduceTensorIndices_t indices;
  miopenIndicesType_t indicesType;
  ASSERT_EQ(miopenGetReduceTensorDescriptor(desc, &op, &type, &nan, &indices,
                                            &indicesType),
            miopenStatusSuccess);
  EXPECT_EQ(op, MIOPEN_REDUCE_TENSOR_NORM2);
  EXPECT_EQ(type, miopenDouble);
  EXPECT_EQ(nan, MIOPEN_PROPAGATE_NAN);
  EXPECT_EQ(indices, MIOPEN_REDUCE_TENSOR_FLATTENED_INDICES);
  EXPECT_EQ(indicesType, MIOPEN_16BIT_INDICES);
  EXPECT_EQ(miopenDestroyReduceTensorDescriptor(desc), miopenStatusSuccess);
}

// Functions of tessera.h destroy descriptors of softmax and attention.
TEST(SoftmaxDescriptor, ReadsBack) {
  miopenSoftmaxDescriptor_t desc;
  ASSERT_EQ(miopenCreateSoftmaxDescriptor(&desc), miopenStatusSuccess);
  ASSERT_EQ(miopenSetSoftmaxDescriptor(desc, 2, 3, MIOPEN_SOFTMAX_LOG,
                                       MIOPEN_SOFTMAX_MODE_INSTANCE),
            miopenStatusSuccess);
  EXPECT_EQ(miopenSetSoftmaxDescriptor(desc, 0, 0,
                                       getNonsense<miopenSoftmaxAlgorithm_t>(),
                                       MIOPEN_SOFTMAX_MODE_INSTANCE),
            miopenStatusBadParm);
  float alpha, beta;
  miopenSoftmaxAlgorithm_t algorithm;
  miopenSoftmaxMode_t mode;
  ASSERT_EQ(miopenGetSoftmaxDescriptor(desc, &alpha, &beta, &algorithm, &mode),
            miopenStatusSuccess);
  EXPECT_EQ(alpha, 2);
  EXPECT_EQ(beta, 3);
  EXPECT_EQ(algorithm, MIOPEN_SOFTMAX_LOG);
  EXPECT_EQ(mode, MIOPEN_SOFTMAX_MODE_INSTANCE);
  EXPECT_EQ(tesseraDestroySoftmaxDescriptor(desc), miopenStatusSuccess);

  miopenMhaDescriptor_t attention;
  float scale;
  ASSERT_EQ(miopenCreateMhaDescriptor(&attention), miopenStatusSuccess);
  ASSERT_EQ(miopenSetMhaDescriptor(attention, 0.5f), miopenStatusSuccess);
  ASSERT_EQ(miopenGetMhaDescriptor(attention, &scale), miopenStatusSuccess);
  EXPECT_EQ(scale, 0.5f);
  EXPECT_EQ(tesseraDestroyMhaDescriptor(attention), miopenStatusSuccess);
}

// A network holds its sizes, modes and dropout, and the older getter gives the
// same.
TEST(RnnDescriptor, ReadsBack) {
  miopenRNNDescriptor_t desc;
  miopenDropoutDescriptor_t dropout, dropoutBack;
  ASSERT_EQ(miopenCreateRNNDescriptor(&desc), miopenStatusSuccess);
  ASSERT_EQ(miopenCreateDropoutDescriptor(&dropout), miopenStatusSuccess);
  ASSERT_EQ(miopenSetRNNDescriptor_V2(desc, 64, 3, dropout, miopenRNNskip,
                                      miopenRNNbidirection, miopenLSTM,
                                      miopenRNNwithBias, miopenRNNfundamental,
                                      miopenHalf),
            miopenStatusSuccess);
  EXPECT_EQ(miopenSetRNNDescriptor(
                desc, 0, 1, miopenRNNlinear, miopenRNNunidirection, miopenGRU,
                miopenRNNNoBias, miopenRNNdefault, miopenFloat),
            miopenStatusBadParm);
  EXPECT_EQ(
      miopenSetRNNDescriptor(desc, 1, 1, miopenRNNlinear, miopenRNNunidirection,
                             getNonsense<miopenRNNMode_t>(), miopenRNNNoBias,
                             miopenRNNdefault, miopenFloat),
      miopenStatusBadParm);
  int hidden, layers;
  miopenRNNInputMode_t input;
  miopenRNNDirectionMode_t direction;
  miopenRNNMode_t mode;
  miopenRNNBiasMode_t bias;
  miopenRNNAlgo_t algorithm;
  miopenDataType_t type;
  ASSERT_EQ(miopenGetRNNDescriptor_V2(desc, &hidden, &layers, &dropoutBack,
                                      &input, &direction, &mode, &bias,
                                      &algorithm, &type),
            miopenStatusSuccess);
  EXPECT_EQ(hidden, 64);
  EXPECT_EQ(layers, 3);
  EXPECT_EQ(dropoutBack, dropout);
  EXPECT_EQ(input, miopenRNNskip);
  EXPECT_EQ(bias, miopenRNNwithBias);
  EXPECT_EQ(type, miopenHalf);
  ASSERT_EQ(miopenGetRNNDescriptor(desc, &mode, &algorithm, nullptr, &direction,
                                   nullptr, nullptr, nullptr),
            miopenStatusSuccess);
  EXPECT_EQ(mode, miopenLSTM);
  EXPECT_EQ(algorithm, miopenRNNfundamental);
  EXPECT_EQ(direction, miopenRNNbidirection);
  miopenRNNPaddingMode_t padding;
  ASSERT_EQ(miopenSetRNNPaddingMode(desc, miopenRNNIOWithPadding),
            miopenStatusSuccess);
  ASSERT_EQ(miopenGetRNNPaddingMode(desc, &padding), miopenStatusSuccess);
  EXPECT_EQ(padding, miopenRNNIOWithPadding);
  EXPECT_EQ(miopenDestroyRNNDescriptor(desc), miopenStatusSuccess);
  EXPECT_EQ(miopenDestroyDropoutDescriptor(dropout), miopenStatusSuccess);
}

// A batch of sequences holds their lengths and one element of padding. A client
// gets as many lengths as its array holds.
TEST(SeqTensorDescriptor, ReadsBack) {
  miopenSeqTensorDescriptor_t desc;
  ASSERT_EQ(miopenCreateSeqTensorDescriptor(&desc), miopenStatusSuccess);
  const int lengths[] = {4, 2, 0};
  float marker = -1;
  ASSERT_EQ(miopenSetRNNDataSeqTensorDescriptor(desc, miopenFloat,
                                                miopenRNNDataSeqMajorPadded, 4,
                                                3, 8, lengths, &marker),
            miopenStatusSuccess);
  const int tooLong[] = {5};
  EXPECT_EQ(miopenSetRNNDataSeqTensorDescriptor(desc, miopenFloat,
                                                miopenRNNDataSeqMajorPadded, 4,
                                                1, 8, tooLong, nullptr),
            miopenStatusBadParm);
  int batch, maxLength, vectorSize, first[2];
  float markerBack = 0;
  ASSERT_EQ(miopenGetRNNDataSeqTensorDescriptor(desc, nullptr, nullptr,
                                                &maxLength, &batch, &vectorSize,
                                                2, first, &markerBack),
            miopenStatusSuccess);
  EXPECT_EQ(maxLength, 4);
  EXPECT_EQ(batch, 3);
  EXPECT_EQ(vectorSize, 8);
  EXPECT_EQ(first[0], 4);
  EXPECT_EQ(first[1], 2);
  EXPECT_EQ(markerBack, -1);
  EXPECT_EQ(miopenDestroySeqTensorDescriptor(desc), miopenStatusSuccess);
}

namespace {
class HandleDescriptor : public FakeEngineTest {};
} // namespace

// A dropout holds its rate and generator; a rate that is not between 0 and 1 is
// refused.
TEST_F(HandleDescriptor, DropoutReadsBack) {
  miopenHandle_t handle;
  miopenDropoutDescriptor_t desc;
  ASSERT_EQ(miopenCreate(&handle), miopenStatusSuccess);
  ASSERT_EQ(miopenCreateDropoutDescriptor(&desc), miopenStatusSuccess);
  int states;
  ASSERT_EQ(miopenSetDropoutDescriptor(desc, handle, 0.25f, &states, 4, 9, true,
                                       false, MIOPEN_RNG_PSEUDO_XORWOW),
            miopenStatusSuccess);
  for (float rate : {-0.5f, 1.5f, std::nanf("")})
    EXPECT_EQ(miopenRestoreDropoutDescriptor(desc, handle, rate, nullptr, 0, 0,
                                             false, false,
                                             MIOPEN_RNG_PSEUDO_XORWOW),
              miopenStatusBadParm);
  float rate;
  void *statesBack;
  unsigned long long seed;
  bool useMask;
  ASSERT_EQ(miopenGetDropoutDescriptor(desc, handle, &rate, &statesBack, &seed,
                                       &useMask, nullptr, nullptr),
            miopenStatusSuccess);
  EXPECT_EQ(rate, 0.25f);
  EXPECT_EQ(statesBack, &states);
  EXPECT_EQ(seed, 9u);
  EXPECT_TRUE(useMask);
  const TensorDesc x(miopenTensorNCHW, {2, 3, 4, 5});
  size_t bytes = 0;
  ASSERT_EQ(miopenDropoutGetReserveSpaceSize(x, &bytes), miopenStatusSuccess);
  EXPECT_EQ(bytes, 120u);
  EXPECT_EQ(miopenDestroyDropoutDescriptor(desc), miopenStatusSuccess);
  EXPECT_EQ(miopenDestroy(handle), miopenStatusSuccess);
}

// The tuning policy of a handle reads back; unknown values are refused.
TEST_F(HandleDescriptor, TuningPolicyReadsBack) {
  miopenHandle_t handle;
  miopenTuningPolicy_t policy;
  ASSERT_EQ(miopenCreate(&handle), miopenStatusSuccess);
  ASSERT_EQ(miopenGetTuningPolicy(handle, &policy), miopenStatusSuccess);
  EXPECT_EQ(policy, miopenTuningPolicyNone);
  ASSERT_EQ(miopenSetTuningPolicy(handle, miopenTuningPolicySearch),
            miopenStatusSuccess);
  EXPECT_EQ(miopenSetTuningPolicy(handle, getNonsense<miopenTuningPolicy_t>()),
            miopenStatusBadParm);
  ASSERT_EQ(miopenGetTuningPolicy(handle, &policy), miopenStatusSuccess);
  EXPECT_EQ(policy, miopenTuningPolicySearch);
  EXPECT_EQ(miopenDestroy(handle), miopenStatusSuccess);
}

// The parameters of a batch normalisation are floats: one for each channel in
// spatial mode, else one for each channel and position.
TEST(BatchNorm, DerivesTheParametersShape) {
  const TensorDesc x(miopenTensorNCHW, {7, 3, 4, 5}, miopenHalf);
  const TensorDesc parameters;
  miopenDataType_t type;
  int lengths[4];
  ASSERT_EQ(miopenDeriveBNTensorDescriptor(parameters, x, miopenBNSpatial),
            miopenStatusSuccess);
  ASSERT_EQ(miopenGetTensorDescriptor(parameters, &type, lengths, nullptr),
            miopenStatusSuccess);
  EXPECT_EQ(type, miopenFloat);
  EXPECT_EQ(std::vector<int>(lengths, lengths + 4),
            (std::vector<int>{1, 3, 1, 1}));
  ASSERT_EQ(
      miopenDeriveBNTensorDescriptor(parameters, x, miopenBNPerActivation),
      miopenStatusSuccess);
  ASSERT_EQ(miopenGetTensorDescriptor(parameters, &type, lengths, nullptr),
            miopenStatusSuccess);
  EXPECT_EQ(std::vector<int>(lengths, lengths + 4),
            (std::vector<int>{1, 3, 4, 5}));
  EXPECT_EQ(
      miopenDeriveBNTensorDescriptor(parameters, TensorDesc(), miopenBNSpatial),
      miopenStatusBadParm);
}

// A cast type reads back, is reset when the tensor is set again, and must be a
// data type.
TEST(TensorCast, ReadsBack) {
  const TensorDesc x(miopenTensorNCHW, {1, 1, 1, 1}, miopenHalf);
  miopenDataType_t type;
  ASSERT_EQ(miopenGetTensorCastType(x, &type), miopenStatusSuccess);
  EXPECT_EQ(type, miopenHalf);
  ASSERT_EQ(miopenSetTensorCastType(x, miopenFloat8_fnuz), miopenStatusSuccess);
  EXPECT_EQ(miopenSetTensorCastType(x, getNonsense<miopenDataType_t>()),
            miopenStatusBadParm);
  ASSERT_EQ(miopenGetTensorCastType(x, &type), miopenStatusSuccess);
  EXPECT_EQ(type, miopenFloat8_fnuz);
  ASSERT_EQ(miopenSet4dTensorDescriptor(x, miopenFloat, 1, 1, 1, 1),
            miopenStatusSuccess);
  ASSERT_EQ(miopenGetTensorCastType(x, &type), miopenStatusSuccess);
  EXPECT_EQ(type, miopenFloat);
}

// The functions that MIGraphX calls for the find mode use the same setting.
TEST(FindMode, HiddenNamesAreTheSameSetting) {
  const ConvDesc conv(0, 1, 1);
  miopenConvolutionFindMode_t mode;
  int number = 0;
  ASSERT_EQ(miopenHiddenSetConvolutionFindMode(conv, 2), miopenStatusSuccess);
  ASSERT_EQ(miopenGetConvolutionFindMode(conv, &mode), miopenStatusSuccess);
  EXPECT_EQ(mode, miopenConvolutionFindModeFast);
  ASSERT_EQ(miopenHiddenGetConvolutionFindMode(conv, &number),
            miopenStatusSuccess);
  EXPECT_EQ(number, 2);
  EXPECT_EQ(miopenHiddenSetConvolutionFindMode(conv, 99), miopenStatusBadParm);
}

// Every function that makes or takes one of these descriptors refuses null.
TEST(Descriptor, NullIsBadParm) {
  for (miopenStatus_t status :
       {miopenCreateActivationDescriptor(nullptr),
        miopenDestroyActivationDescriptor(nullptr),
        miopenCreateLRNDescriptor(nullptr),
        miopenDestroyLRNDescriptor(nullptr),
        miopenCreateCTCLossDescriptor(nullptr),
        miopenDestroyCTCLossDescriptor(nullptr),
        miopenCreateReduceTensorDescriptor(nullptr),
        miopenDestroyReduceTensorDescriptor(nullptr),
        miopenCreateSoftmaxDescriptor(nullptr),
        tesseraDestroySoftmaxDescriptor(nullptr),
        miopenCreateMhaDescriptor(nullptr),
        tesseraDestroyMhaDescriptor(nullptr),
        miopenCreateRNNDescriptor(nullptr),
        miopenDestroyRNNDescriptor(nullptr),
        miopenCreateSeqTensorDescriptor(nullptr),
        miopenDestroySeqTensorDescriptor(nullptr),
        miopenCreateDropoutDescriptor(nullptr),
        miopenDestroyDropoutDescriptor(nullptr),
        miopenCreateFusionPlan(nullptr, miopenVerticalFusion, nullptr),
        miopenDestroyFusionPlan(nullptr),
        miopenCreateOperatorArgs(nullptr),
        miopenDestroyOperatorArgs(nullptr),
        miopenDeriveBNTensorDescriptor(nullptr, nullptr, miopenBNSpatial)})
    EXPECT_EQ(status, miopenStatusBadParm);
}

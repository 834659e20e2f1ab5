//===- ConvolutionTest.cpp - Tests of miopen/convolution.h ----------------===//

#include "test/unit/capi/Descriptors.h"

#include <tessera/tessera.h>

#include <array>
#include <string>

using namespace tessera::test;

/// Sets a 3-D descriptor.
static void initNd3(miopenConvolutionDescriptor_t conv,
                    miopenConvolutionMode_t mode = miopenConvolution) {
  const int pads[] = {1, 2, 3}, strides[] = {4, 5, 6}, dilations[] = {7, 8, 9};
  ASSERT_EQ(miopenInitConvolutionNdDescriptor(conv, 3, pads, strides, dilations,
                                              mode),
            miopenStatusSuccess);
}

/// The output lengths, or the status.
static std::array<int, 4> getOutput(miopenConvolutionDescriptor_t conv,
                                    miopenTensorDescriptor_t x,
                                    miopenTensorDescriptor_t w) {
  std::array<int, 4> lengths{};
  EXPECT_EQ(miopenGetConvolutionForwardOutputDim(
                conv, x, w, &lengths[0], &lengths[1], &lengths[2], &lengths[3]),
            miopenStatusSuccess)
      << tesseraGetLastErrorMessage();
  return lengths;
}

static miopenStatus_t getOutputStatus(miopenConvolutionDescriptor_t conv,
                                      miopenTensorDescriptor_t x,
                                      miopenTensorDescriptor_t w) {
  int i;
  return miopenGetConvolutionForwardOutputDim(conv, x, w, &i, &i, &i, &i);
}

// A 2-D descriptor reads back as it was set, in the order of the arguments.
TEST(Convolution, InitReadsBack) {
  ConvDesc conv;
  ASSERT_EQ(miopenInitConvolutionDescriptor(conv, miopenConvolution, 1, 2, 3, 4,
                                            5, 6),
            miopenStatusSuccess);
  miopenConvolutionMode_t mode;
  int ph, pw, sh, sw, dh, dw;
  ASSERT_EQ(
      miopenGetConvolutionDescriptor(conv, &mode, &ph, &pw, &sh, &sw, &dh, &dw),
      miopenStatusSuccess);
  EXPECT_EQ(mode, miopenConvolution);
  EXPECT_EQ((std::vector{ph, pw, sh, sw, dh, dw}),
            (std::vector{1, 2, 3, 4, 5, 6}));
}

// A new descriptor is an unpadded dense 2-D convolution of one group.
TEST(Convolution, CreateHasDefaults) {
  ConvDesc conv;
  miopenConvolutionMode_t mode;
  int ph, pw, sh, sw, dh, dw, groups, rank;
  ASSERT_EQ(
      miopenGetConvolutionDescriptor(conv, &mode, &ph, &pw, &sh, &sw, &dh, &dw),
      miopenStatusSuccess);
  EXPECT_EQ((std::vector{ph, pw, sh, sw, dh, dw}),
            (std::vector{0, 0, 1, 1, 1, 1}));
  ASSERT_EQ(miopenGetConvolutionGroupCount(conv, &groups), 0);
  ASSERT_EQ(miopenGetConvolutionSpatialDim(conv, &rank), 0);
  EXPECT_EQ(groups, 1);
  EXPECT_EQ(rank, 2);
}

// Modes of group and depthwise convolutions are stored as that of convolutions.
TEST(Convolution, GroupModesAreConvolution) {
  for (auto mode : {miopenGroupConv, miopenDepthwise}) {
    ConvDesc conv(0, 1, 1, 1, mode);
    miopenConvolutionMode_t read;
    ASSERT_EQ(miopenGetConvolutionNdDescriptor(conv, 0, nullptr, nullptr,
                                               nullptr, nullptr, &read),
              miopenStatusSuccess);
    EXPECT_EQ(read, miopenConvolution);
  }
}

// XLA reads the rank by asking for 0 dimensions.
TEST(Convolution, GetNdWithNoneRequestedGivesTheRank) {
  ConvDesc conv;
  initNd3(conv);
  int rank = 0;
  ASSERT_EQ(miopenGetConvolutionNdDescriptor(conv, 0, &rank, nullptr, nullptr,
                                             nullptr, nullptr),
            miopenStatusSuccess);
  EXPECT_EQ(rank, 3);
}

// ONNX Runtime reads the rank by asking for too many dimensions, which must
// fail.
TEST(Convolution, GetNdWithTooManyRequestedFails) {
  ConvDesc conv;
  int rank = -1, a[3], b[3], c[3];
  miopenConvolutionMode_t mode;
  EXPECT_EQ(miopenGetConvolutionNdDescriptor(conv, 3, &rank, a, b, c, &mode),
            miopenStatusUnknownError);
  EXPECT_EQ(rank, -1);
}

// As many dimensions as requested are written, and no more.
TEST(Convolution, GetNdWritesWhatWasRequested) {
  ConvDesc conv;
  initNd3(conv);
  int rank = 0, pads[3] = {-1, -1, -1}, strides[3] = {-1, -1, -1},
      dilations[3] = {-1, -1, -1};
  miopenConvolutionMode_t mode;
  ASSERT_EQ(miopenGetConvolutionNdDescriptor(conv, 2, &rank, pads, strides,
                                             dilations, &mode),
            miopenStatusSuccess);
  EXPECT_EQ(rank, 3);
  EXPECT_EQ((std::vector(pads, pads + 3)), (std::vector{1, 2, -1}));
  EXPECT_EQ((std::vector(strides, strides + 3)), (std::vector{4, 5, -1}));
  EXPECT_EQ((std::vector(dilations, dilations + 3)), (std::vector{7, 8, -1}));
  EXPECT_EQ(miopenGetConvolutionNdDescriptor(conv, 2, &rank, pads, nullptr,
                                             dilations, &mode),
            miopenStatusBadParm);
  EXPECT_EQ(miopenGetConvolutionNdDescriptor(conv, -1, &rank, pads, strides,
                                             dilations, &mode),
            miopenStatusBadParm);
}

// 2-D functions on a 3-D descriptor give MIOpen's UnknownError.
TEST(Convolution, TwoDimensionalFunctionsRefuseThree) {
  ConvDesc conv;
  initNd3(conv, miopenTranspose);
  TensorDesc x(miopenTensorNCHW, {1, 1, 9, 9}),
      w(miopenTensorNCHW, {1, 1, 3, 3});
  miopenConvolutionMode_t mode;
  int i;
  EXPECT_EQ(miopenGetConvolutionDescriptor(conv, &mode, &i, &i, &i, &i, &i, &i),
            miopenStatusUnknownError);
  EXPECT_EQ(getOutputStatus(conv, x, w), miopenStatusUnknownError);
  EXPECT_EQ(miopenSetTransposeConvOutputPadding(conv, 0, 0),
            miopenStatusUnknownError);
  const int adj[] = {0, 0};
  EXPECT_EQ(miopenSetTransposeConvNdOutputPadding(conv, 2, adj),
            miopenStatusUnknownError);
}

// A number below its minimum is BadParm and changes nothing.
TEST(Convolution, WrongNumbersAreBadParm) {
  ConvDesc conv(3, 1, 1);
  auto init = [&](int pad, int stride, int dilation) {
    return miopenInitConvolutionDescriptor(conv, miopenConvolution, pad, pad,
                                           stride, stride, dilation, dilation);
  };
  EXPECT_EQ(init(-1, 1, 1), miopenStatusBadParm);
  EXPECT_EQ(init(0, 0, 1), miopenStatusBadParm);
  EXPECT_EQ(init(0, 1, 0), miopenStatusBadParm);
  EXPECT_EQ(
      miopenInitConvolutionDescriptor(
          conv, static_cast<miopenConvolutionMode_t>(4), 0, 0, 1, 1, 1, 1),
      miopenStatusBadParm);
  int rank, pad, stride, dilation;
  ASSERT_EQ(miopenGetConvolutionNdDescriptor(conv, 1, &rank, &pad, &stride,
                                             &dilation, nullptr),
            miopenStatusSuccess);
  EXPECT_EQ(pad, 3);
}

// The Nd form accepts one to three dimensions.
TEST(Convolution, InitNdChecksTheRank) {
  ConvDesc conv;
  const int ones[] = {1, 1, 1, 1};
  auto init = [&](int rank) {
    return miopenInitConvolutionNdDescriptor(conv, rank, ones, ones, ones,
                                             miopenConvolution);
  };
  EXPECT_EQ(init(0), miopenStatusBadParm);
  EXPECT_EQ(init(4), miopenStatusBadParm);
  EXPECT_EQ(init(1), miopenStatusSuccess);
  EXPECT_EQ(init(3), miopenStatusSuccess);
}

// Null descriptors and pointers are BadParm everywhere.
TEST(Convolution, NullPointersAreBadParm) {
  ConvDesc conv;
  TensorDesc x(miopenTensorNCHW, {1, 1, 9, 9}),
      w(miopenTensorNCHW, {1, 1, 3, 3});
  const int ones[] = {1, 1};
  int i;
  miopenConvolutionMode_t mode;
  miopenConvolutionFindMode_t findMode;
  const auto attribute = MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC;
  for (miopenStatus_t status :
       {miopenCreateConvolutionDescriptor(nullptr),
        miopenDestroyConvolutionDescriptor(nullptr),
        miopenInitConvolutionDescriptor(nullptr, miopenConvolution, 0, 0, 1, 1,
                                        1, 1),
        miopenInitConvolutionNdDescriptor(conv, 2, nullptr, ones, ones,
                                          miopenConvolution),
        miopenInitConvolutionNdDescriptor(nullptr, 2, ones, ones, ones,
                                          miopenConvolution),
        miopenGetConvolutionSpatialDim(nullptr, &i),
        miopenGetConvolutionSpatialDim(conv, nullptr),
        miopenGetConvolutionDescriptor(conv, &mode, &i, &i, &i, &i, &i,
                                       nullptr),
        miopenGetConvolutionNdDescriptor(nullptr, 0, &i, nullptr, nullptr,
                                         nullptr, nullptr),
        miopenGetConvolutionGroupCount(conv, nullptr),
        miopenGetConvolutionGroupCount(nullptr, &i),
        miopenSetConvolutionGroupCount(nullptr, 1),
        miopenSetTransposeConvOutputPadding(nullptr, 0, 0),
        miopenSetTransposeConvNdOutputPadding(conv, 2, nullptr),
        miopenGetConvolutionForwardOutputDim(conv, nullptr, w, &i, &i, &i, &i),
        miopenGetConvolutionForwardOutputDim(conv, x, nullptr, &i, &i, &i, &i),
        miopenGetConvolutionForwardOutputDim(nullptr, x, w, &i, &i, &i, &i),
        miopenGetConvolutionForwardOutputDim(conv, x, w, &i, &i, &i, nullptr),
        miopenGetConvolutionNdForwardOutputDim(conv, x, w, nullptr, &i),
        miopenGetConvolutionNdForwardOutputDim(conv, x, w, &i, nullptr),
        miopenSetConvolutionAttribute(nullptr, attribute, 0),
        miopenGetConvolutionAttribute(conv, attribute, nullptr),
        miopenSetConvolutionFindMode(nullptr, miopenConvolutionFindModeFast),
        miopenGetConvolutionFindMode(conv, nullptr),
        miopenGetConvolutionFindMode(nullptr, &findMode)})
    EXPECT_EQ(status, miopenStatusBadParm) << tesseraGetLastErrorMessage();
}

// Output lengths are right for a unit window, padding, a stride that does not
// divide, dilation, and a filter larger than the padded input, which MIOpen
// clamps to 1.
TEST(Convolution, OutputDim) {
  TensorDesc x(miopenTensorNCHW, {2, 4, 14, 15});
  auto filter = [](int y, int xLength) {
    return TensorDesc(miopenTensorNCHW, {8, 4, y, xLength});
  };
  using Lengths = std::array<int, 4>;
  EXPECT_EQ(getOutput(ConvDesc(0, 1, 1), x, filter(1, 1)),
            (Lengths{2, 8, 14, 15}));
  EXPECT_EQ(getOutput(ConvDesc(1, 1, 1), x, filter(3, 3)),
            (Lengths{2, 8, 14, 15}));
  EXPECT_EQ(getOutput(ConvDesc(1, 2, 1), x, filter(3, 3)),
            (Lengths{2, 8, 7, 8}));
  EXPECT_EQ(getOutput(ConvDesc(0, 1, 3), x, filter(3, 5)),
            (Lengths{2, 8, 8, 3}));
  EXPECT_EQ(getOutput(ConvDesc(0, 2, 1), x, filter(30, 31)),
            (Lengths{2, 8, 1, 1}));
}

// A transposed convolution has w's second length times groups output channels,
// and its lengths include the output padding.
TEST(Convolution, TransposedOutputDim) {
  TensorDesc x(miopenTensorNCHW, {2, 8, 7, 7}),
      w(miopenTensorNCHW, {8, 3, 3, 3});
  ConvDesc conv(1, 2, 1, 2, miopenTranspose);
  EXPECT_EQ(getOutput(conv, x, w), (std::array<int, 4>{2, 6, 13, 13}));
  ASSERT_EQ(miopenSetTransposeConvOutputPadding(conv, 1, 0), 0);
  EXPECT_EQ(getOutput(conv, x, w), (std::array<int, 4>{2, 6, 14, 13}));
  ASSERT_EQ(miopenSetTransposeConvOutputPadding(conv, 2, 0), 0);
  EXPECT_EQ(getOutputStatus(conv, x, w), miopenStatusBadParm);
  EXPECT_EQ(miopenSetTransposeConvOutputPadding(conv, -1, 0),
            miopenStatusBadParm);
}

// Three spatial dimensions have output lengths too.
TEST(Convolution, NdOutputDim) {
  ConvDesc conv;
  const int pads[] = {1, 1, 1}, strides[] = {1, 2, 1}, dilations[] = {1, 1, 2};
  ASSERT_EQ(miopenInitConvolutionNdDescriptor(conv, 3, pads, strides, dilations,
                                              miopenConvolution),
            miopenStatusSuccess);
  TensorDesc x(miopenTensorNCDHW, {1, 2, 8, 8, 8}),
      w(miopenTensorNCDHW, {4, 2, 3, 3, 3});
  int rank = 0;
  std::vector<int> lengths(5);
  ASSERT_EQ(
      miopenGetConvolutionNdForwardOutputDim(conv, x, w, &rank, lengths.data()),
      miopenStatusSuccess);
  EXPECT_EQ(rank, 5);
  EXPECT_EQ(lengths, (std::vector{1, 4, 8, 4, 6}));
}

// Tensors that do not belong together are BadParm.
TEST(Convolution, InconsistentTensorsAreBadParm) {
  TensorDesc x(miopenTensorNCHW, {2, 4, 14, 14});
  TensorDesc x2d, x5d(miopenTensorNCDHW, {2, 4, 14, 14, 14});
  const int twoLengths[] = {4, 4};
  ASSERT_EQ(miopenSetTensorDescriptor(x2d, miopenFloat, 2, twoLengths, nullptr),
            0);
  TensorDesc w(miopenTensorNCHW, {8, 4, 3, 3});
  TensorDesc wrongChannels(miopenTensorNCHW, {8, 3, 3, 3});
  TensorDesc half(miopenTensorNCHW, {8, 4, 3, 3}, miopenHalf);
  TensorDesc unset;
  ConvDesc conv(1, 1, 1);
  EXPECT_EQ(getOutputStatus(conv, x, wrongChannels), miopenStatusBadParm);
  EXPECT_EQ(getOutputStatus(conv, x, half), miopenStatusBadParm);
  EXPECT_EQ(getOutputStatus(conv, x5d, w), miopenStatusBadParm);
  EXPECT_EQ(getOutputStatus(conv, x2d, w), miopenStatusBadParm);
  EXPECT_EQ(getOutputStatus(conv, x, unset), miopenStatusBadParm);
}

// The group count is stored unchecked, and checked together with the tensors.
TEST(Convolution, GroupsAreCheckedWithTheTensors) {
  TensorDesc x(miopenTensorNCHW, {2, 4, 14, 14});
  TensorDesc w(miopenTensorNCHW, {8, 2, 3, 3});
  TensorDesc wOdd(miopenTensorNCHW, {7, 2, 3, 3});
  ConvDesc conv(1, 1, 1);
  auto withGroups = [&](int groups, miopenTensorDescriptor_t filter) {
    EXPECT_EQ(miopenSetConvolutionGroupCount(conv, groups), 0);
    int read = 0;
    EXPECT_EQ(miopenGetConvolutionGroupCount(conv, &read), 0);
    EXPECT_EQ(read, groups);
    return getOutputStatus(conv, x, filter);
  };
  EXPECT_EQ(withGroups(2, w), miopenStatusSuccess);
  EXPECT_EQ(withGroups(3, w), miopenStatusBadParm);
  EXPECT_EQ(withGroups(0, w), miopenStatusBadParm);
  EXPECT_EQ(withGroups(-2, w), miopenStatusBadParm);
  EXPECT_EQ(withGroups(2, wOdd), miopenStatusBadParm);
}

// Attributes keep values within their range only.
TEST(Convolution, AttributesHaveRanges) {
  ConvDesc conv;
  int value = 9;
  const auto alt = MIOPEN_CONVOLUTION_ATTRIB_FP16_ALT_IMPL;
  const auto deterministic = MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC;
  const auto math = MIOPEN_CONVOLUTION_ATTRIB_MATH_TYPE;
  const auto unknown = static_cast<miopenConvolutionAttrib_t>(4);
  ASSERT_EQ(miopenGetConvolutionAttribute(conv, alt, &value), 0);
  EXPECT_EQ(value, -1);
  ASSERT_EQ(miopenGetConvolutionAttribute(conv, deterministic, &value), 0);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(miopenSetConvolutionAttribute(conv, deterministic, 1), 0);
  ASSERT_EQ(miopenGetConvolutionAttribute(conv, deterministic, &value), 0);
  EXPECT_EQ(value, 1);
  ASSERT_EQ(miopenGetConvolutionAttribute(conv, math, &value), 0);
  EXPECT_EQ(value, miopenMathPedantic);
  EXPECT_EQ(miopenSetConvolutionAttribute(conv, math, 0), 0);
  ASSERT_EQ(miopenGetConvolutionAttribute(conv, math, &value), 0);
  EXPECT_EQ(value, miopenMathDefault);
  EXPECT_EQ(miopenSetConvolutionAttribute(conv, math, 2), miopenStatusBadParm);
  const auto winograd = TESSERA_CONVOLUTION_ATTRIB_WINOGRAD;
  ASSERT_EQ(miopenGetConvolutionAttribute(conv, winograd, &value), 0);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(miopenSetConvolutionAttribute(conv, winograd, 0), 0);
  ASSERT_EQ(miopenGetConvolutionAttribute(conv, winograd, &value), 0);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(miopenSetConvolutionAttribute(conv, winograd, 2),
            miopenStatusBadParm);
  EXPECT_EQ(miopenSetConvolutionAttribute(conv, alt, -1), 0);
  EXPECT_EQ(miopenSetConvolutionAttribute(conv, alt, -2), miopenStatusBadParm);
  EXPECT_EQ(miopenSetConvolutionAttribute(conv, alt, 2), miopenStatusBadParm);
  EXPECT_EQ(miopenSetConvolutionAttribute(conv, deterministic, 2),
            miopenStatusBadParm);
  EXPECT_EQ(miopenSetConvolutionAttribute(conv, unknown, 0),
            miopenStatusBadParm);
  EXPECT_EQ(miopenGetConvolutionAttribute(conv, unknown, &value),
            miopenStatusBadParm);
}

// The find mode reads back as it was set; unknown modes are refused.
TEST(Convolution, FindModeReadsBack) {
  ConvDesc conv;
  miopenConvolutionFindMode_t mode;
  ASSERT_EQ(miopenGetConvolutionFindMode(conv, &mode), 0);
  EXPECT_EQ(mode, miopenConvolutionFindModeDefault);
  for (auto set :
       {miopenConvolutionFindModeNormal, miopenConvolutionFindModeFast,
        miopenConvolutionFindModeHybrid, miopenConvolutionFindModeDynamicHybrid,
        miopenConvolutionFindModeTrustVerify,
        miopenConvolutionFindModeTrustVerifyFull}) {
    EXPECT_EQ(miopenSetConvolutionFindMode(conv, set), 0);
    ASSERT_EQ(miopenGetConvolutionFindMode(conv, &mode), 0);
    EXPECT_EQ(mode, set);
  }
  for (int unknown : {0, 4, 8})
    EXPECT_EQ(miopenSetConvolutionFindMode(
                  conv, static_cast<miopenConvolutionFindMode_t>(unknown)),
              miopenStatusBadParm);
}

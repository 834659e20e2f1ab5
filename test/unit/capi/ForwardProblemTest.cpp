//===- ForwardProblemTest.cpp - Tests of the descriptors' translation -----===//

#include "capi/lib/ForwardProblem.h"

#include "test/unit/capi/Descriptors.h"

using namespace tessera;
using namespace tessera::test;

namespace {
/// x, w, y and the convolution, set by each test.
struct Operands {
  TensorDesc x, w, y;
  ConvDesc conv;

  ErrorOr<ConvProblem> make() const {
    const miopenTensorDescriptor_t xDesc = x, wDesc = w, yDesc = y;
    const miopenConvolutionDescriptor_t convDesc = conv;
    return capi::makeForwardProblem(*xDesc, *wDesc, *convDesc, *yDesc);
  }
  StatusCode getCode() const { return make().getStatus().getCode(); }
};
} // namespace

static void set(miopenTensorDescriptor_t desc, miopenTensorLayout_t layout,
                std::vector<int> lengths, miopenDataType_t type = miopenFloat) {
  ASSERT_EQ(
      miopenSetNdTensorDescriptorWithLayout(desc, type, layout, lengths.data(),
                                            static_cast<int>(lengths.size())),
      miopenStatusSuccess);
}

static void setStrides(miopenTensorDescriptor_t desc, std::vector<int> lengths,
                       std::vector<int> strides) {
  ASSERT_EQ(miopenSetTensorDescriptor(desc, miopenFloat,
                                      static_cast<int>(lengths.size()),
                                      lengths.data(), strides.data()),
            miopenStatusSuccess);
}

/// 3x3, stride 2, over x in `xLayout`, w in `wLayout`, y in `yLayout`.
static void setConv3x3(Operands &o, miopenTensorLayout_t xLayout,
                       miopenTensorLayout_t wLayout,
                       miopenTensorLayout_t yLayout,
                       miopenDataType_t type = miopenFloat) {
  set(o.x, xLayout, {2, 8, 14, 15}, type);
  set(o.w, wLayout, {16, 4, 3, 5}, type);
  set(o.y, yLayout, {2, 16, 7, 7}, type);
  ASSERT_EQ(miopenInitConvolutionDescriptor(o.conv, miopenGroupConv, 1, 0, 2, 1,
                                            1, 2),
            miopenStatusSuccess);
  ASSERT_EQ(miopenSetConvolutionGroupCount(o.conv, 2), miopenStatusSuccess);
}

// Every number arrives in its place.
TEST(ForwardProblem, TranslatesEveryNumber) {
  Operands o;
  setConv3x3(o, miopenTensorNCHW, miopenTensorNCHW, miopenTensorNCHW,
             miopenBFloat16);
  const ErrorOr<ConvProblem> problem = o.make();
  ASSERT_TRUE(problem) << problem.getStatus().getMessage();
  ConvProblem expected;
  expected.dataType = DataType::BF16;
  expected.batch = 2;
  expected.inChannels = 8;
  expected.outChannels = 16;
  expected.groups = 2;
  expected.in = {14, 15};
  expected.filter = {3, 5};
  expected.pad = {1, 0};
  expected.stride = {2, 1};
  expected.dilation = {1, 2};
  EXPECT_EQ(*problem, expected);
  EXPECT_TRUE(problem->verify().isOk());
}

// Each tensor keeps the layout that its strides show, mixtures included.
TEST(ForwardProblem, LayoutsMayDiffer) {
  const std::pair<miopenTensorLayout_t, Layout> layouts[] = {
      {miopenTensorNCHW, Layout::NCHW}, {miopenTensorNHWC, Layout::NHWC}};
  for (auto [x, xLayout] : layouts)
    for (auto [w, wLayout] : layouts)
      for (auto [y, yLayout] : layouts) {
        Operands o;
        setConv3x3(o, x, w, y);
        const ErrorOr<ConvProblem> problem = o.make();
        ASSERT_TRUE(problem) << problem.getStatus().getMessage();
        EXPECT_EQ(problem->xLayout, xLayout);
        EXPECT_EQ(problem->wLayout, wLayout);
        EXPECT_EQ(problem->yLayout, yLayout);
      }
}

// A 1x1 filter is both layouts at once and takes that of the images, whichever
// way the client wrote its strides.
TEST(ForwardProblem, AmbiguousFilterFollowsTheImages) {
  for (auto [image, layout] : {std::pair{miopenTensorNHWC, Layout::NHWC},
                               std::pair{miopenTensorNCHW, Layout::NCHW}})
    for (auto filter : {miopenTensorNCHW, miopenTensorNHWC}) {
      Operands o;
      set(o.x, image, {2, 8, 14, 14});
      set(o.w, filter, {16, 8, 1, 1});
      set(o.y, image, {2, 16, 14, 14});
      const ErrorOr<ConvProblem> problem = o.make();
      ASSERT_TRUE(problem);
      EXPECT_EQ(problem->xLayout, layout);
      EXPECT_EQ(problem->wLayout, layout);
      EXPECT_EQ(problem->yLayout, layout);
    }
}

// An image of one channel, and an output of one pixel, follow the filter.
TEST(ForwardProblem, AmbiguousImagesFollowTheFilter) {
  Operands o;
  set(o.x, miopenTensorNCHW, {2, 1, 3, 3});
  set(o.w, miopenTensorNHWC, {16, 1, 3, 3});
  set(o.y, miopenTensorNCHW, {2, 16, 1, 1});
  const ErrorOr<ConvProblem> problem = o.make();
  ASSERT_TRUE(problem);
  // w has one channel as well: nothing decides, so NCHW.
  EXPECT_EQ(problem->xLayout, Layout::NCHW);
  EXPECT_EQ(problem->wLayout, Layout::NCHW);
  EXPECT_EQ(problem->yLayout, Layout::NCHW);

  set(o.x, miopenTensorNCHW, {2, 3, 1, 1});
  set(o.w, miopenTensorNHWC, {16, 3, 3, 3});
  ASSERT_EQ(miopenInitConvolutionDescriptor(o.conv, miopenConvolution, 1, 1, 1,
                                            1, 1, 1),
            miopenStatusSuccess);
  const ErrorOr<ConvProblem> padded = o.make();
  ASSERT_TRUE(padded) << padded.getStatus().getMessage();
  EXPECT_EQ(padded->xLayout, Layout::NHWC);
  EXPECT_EQ(padded->wLayout, Layout::NHWC);
  EXPECT_EQ(padded->yLayout, Layout::NHWC);
}

// The stride of a length of 1 is never used, so any value is accepted there.
TEST(ForwardProblem, StridesOfUnitLengthsAreIgnored) {
  Operands o;
  setStrides(o.x, {1, 3, 4, 5}, {77, 1, 15, 3});
  set(o.w, miopenTensorNHWC, {16, 3, 3, 3});
  set(o.y, miopenTensorNHWC, {1, 16, 2, 3});
  const ErrorOr<ConvProblem> problem = o.make();
  ASSERT_TRUE(problem) << problem.getStatus().getMessage();
  EXPECT_EQ(problem->xLayout, Layout::NHWC);
}

// Gaps between rows are a valid request that no kernel covers.
TEST(ForwardProblem, GapsAreNotSupported) {
  Operands o;
  setConv3x3(o, miopenTensorNCHW, miopenTensorNCHW, miopenTensorNCHW);
  setStrides(o.x, {2, 8, 14, 15}, {8 * 14 * 16, 14 * 16, 16, 1});
  EXPECT_EQ(o.getCode(), StatusCode::NotSupported);
  set(o.x, miopenTensorCHWN, {2, 8, 14, 15});
  EXPECT_EQ(o.getCode(), StatusCode::NotSupported);
}

// Types without kernels, transposed and 3-D convolutions are NotSupported.
TEST(ForwardProblem, WhatWeCannotDoIsNotSupported) {
  for (auto type : {miopenDouble, miopenInt8, miopenInt32, miopenInt64}) {
    Operands o;
    setConv3x3(o, miopenTensorNCHW, miopenTensorNCHW, miopenTensorNCHW, type);
    EXPECT_EQ(o.getCode(), StatusCode::NotSupported) << type;
  }
  Operands int8;
  setConv3x3(int8, miopenTensorNCHW, miopenTensorNCHW, miopenTensorNCHW,
             miopenInt8);
  set(int8.y, miopenTensorNCHW, {2, 16, 7, 7}, miopenInt32);
  EXPECT_EQ(int8.getCode(), StatusCode::NotSupported);

  Operands transposed;
  set(transposed.x, miopenTensorNCHW, {2, 8, 7, 7});
  set(transposed.w, miopenTensorNCHW, {8, 4, 3, 3});
  set(transposed.y, miopenTensorNCHW, {2, 4, 9, 9});
  ASSERT_EQ(miopenInitConvolutionDescriptor(transposed.conv, miopenTranspose, 0,
                                            0, 1, 1, 1, 1),
            miopenStatusSuccess);
  EXPECT_EQ(transposed.getCode(), StatusCode::NotSupported);

  Operands volume;
  const int zeros[] = {0, 0, 0}, ones[] = {1, 1, 1};
  set(volume.x, miopenTensorNCDHW, {1, 2, 5, 5, 5});
  set(volume.w, miopenTensorNCDHW, {4, 2, 3, 3, 3});
  set(volume.y, miopenTensorNCDHW, {1, 4, 3, 3, 3});
  ASSERT_EQ(miopenInitConvolutionNdDescriptor(volume.conv, 3, zeros, ones, ones,
                                              miopenConvolution),
            miopenStatusSuccess);
  EXPECT_EQ(volume.getCode(), StatusCode::NotSupported);
}

// A y that is not what the convolution gives is the caller's mistake: batch,
// channels, each spatial length, rank and type.
TEST(ForwardProblem, WrongOutputIsInvalid) {
  Operands o;
  setConv3x3(o, miopenTensorNCHW, miopenTensorNCHW, miopenTensorNCHW);
  for (std::vector<int> lengths :
       {std::vector{1, 16, 7, 7}, {2, 8, 7, 7}, {2, 16, 8, 7}, {2, 16, 7, 8}}) {
    set(o.y, miopenTensorNCHW, lengths);
    EXPECT_EQ(o.getCode(), StatusCode::InvalidArgument);
  }
  set(o.y, miopenTensorNCDHW, {2, 16, 1, 7, 7});
  EXPECT_EQ(o.getCode(), StatusCode::InvalidArgument);
  set(o.y, miopenTensorNCHW, {2, 16, 7, 7}, miopenHalf);
  EXPECT_EQ(o.getCode(), StatusCode::InvalidArgument);
}

// A mistake is reported as one even where the request is also unsupported.
TEST(ForwardProblem, MistakesComeFirst) {
  Operands o;
  setConv3x3(o, miopenTensorNCHW, miopenTensorNCHW, miopenTensorNCHW,
             miopenDouble);
  set(o.y, miopenTensorNCHW, {2, 16, 9, 9}, miopenDouble);
  EXPECT_EQ(o.getCode(), StatusCode::InvalidArgument);
}

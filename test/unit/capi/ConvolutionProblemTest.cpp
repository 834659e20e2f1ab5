//===- ConvolutionProblemTest.cpp - From descriptors to a problem ---------===//

#include "capi/lib/Convolution/ConvolutionProblem.h"

#include "test/unit/capi/Descriptors.h"

using namespace tessera;
using namespace tessera::test;

namespace {
/// x, w, y and the convolution, which each test sets.
struct Operands {
  TensorDesc x, w, y;
  ConvDesc conv;

  capi::ConvolutionOperands get() const {
    const miopenTensorDescriptor_t xDesc = x, wDesc = w, yDesc = y;
    const miopenConvolutionDescriptor_t convDesc = conv;
    return {*xDesc, *wDesc, *convDesc, *yDesc};
  }
  ErrorOr<ConvProblem> make(Direction direction = Direction::Forward) const {
    return capi::makeConvProblem(direction, get());
  }
  StatusCode getCode() const { return make().getStatus().getCode(); }
  /// The network config, or the message of the failure.
  std::string getText(Direction direction = Direction::Forward) const {
    const ErrorOr<ConvProblem> problem = make(direction);
    return problem ? problem->toNetworkConfig()
                   : problem.getStatus().getMessage();
  }
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

/// Sets a 3x3 convolution of stride 2, over x in `xLayout`, w in `wLayout` and
/// y in `yLayout`.
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

// Every number of the descriptors gets to its field of the problem.
TEST(ConvolutionProblem, TranslatesEveryNumber) {
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

/// A 1x1 convolution of 64 to 64 channels on a row, in f32.
static void setPointwise(Operands &o, int pixels) {
  set(o.x, miopenTensorNHWC, {1, 64, 1, pixels}, miopenFloat);
  set(o.w, miopenTensorNHWC, {64, 64, 1, 1}, miopenFloat);
  set(o.y, miopenTensorNHWC, {1, 64, 1, pixels}, miopenFloat);
}

// f32 is multiplied exactly unless the client asks for MIOpen's default, and
// what has less than 2^20 products is exact even then. The attribute has no
// effect on other types.
TEST(ConvolutionProblem, MathTypeAllowsTf32) {
  Operands o;
  ASSERT_EQ(miopenInitConvolutionDescriptor(o.conv, miopenConvolution, 0, 0, 1,
                                            1, 1, 1),
            0);
  setPointwise(o, 256);
  EXPECT_FALSE(o.make()->allowsTf32());
  const auto math = MIOPEN_CONVOLUTION_ATTRIB_MATH_TYPE;
  ASSERT_EQ(miopenSetConvolutionAttribute(o.conv, math, miopenMathDefault), 0);
  EXPECT_TRUE(o.make()->allowsTf32());
  setPointwise(o, 255);
  EXPECT_FALSE(o.make()->allowsTf32());
  setConv3x3(o, miopenTensorNHWC, miopenTensorNHWC, miopenTensorNHWC,
             miopenHalf);
  EXPECT_EQ(o.make()->mathType, MathType::Exact);
}

// A descriptor forbids Winograd's transforms, which changes the kernel's key.
TEST(ConvolutionProblem, AttributeForbidsWinograd) {
  Operands o;
  set(o.x, miopenTensorNHWC, {2, 8, 14, 15}, miopenFloat);
  set(o.w, miopenTensorNHWC, {16, 8, 3, 3}, miopenFloat);
  set(o.y, miopenTensorNHWC, {2, 16, 14, 15}, miopenFloat);
  ASSERT_EQ(miopenInitConvolutionDescriptor(o.conv, miopenConvolution, 1, 1, 1,
                                            1, 1, 1),
            0);
  const ErrorOr<ConvProblem> allowed = o.make();
  EXPECT_FALSE(allowed->forbidsWinograd);
  ASSERT_EQ(miopenSetConvolutionAttribute(
                o.conv, TESSERA_CONVOLUTION_ATTRIB_WINOGRAD, 0),
            0);
  const ErrorOr<ConvProblem> forbidden = o.make();
  EXPECT_TRUE(forbidden->forbidsWinograd);
  EXPECT_NE(forbidden->toNetworkConfig(), allowed->toNetworkConfig());
}

// Each tensor keeps the layout that its strides show, even if layouts differ.
TEST(ConvolutionProblem, LayoutsMayDiffer) {
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

// A 1x1 filter fits both layouts and takes that of the images, whatever the
// client wrote for its strides.
TEST(ConvolutionProblem, AmbiguousFilterFollowsTheImages) {
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
TEST(ConvolutionProblem, AmbiguousImagesFollowTheFilter) {
  Operands o;
  set(o.x, miopenTensorNCHW, {2, 1, 3, 3});
  set(o.w, miopenTensorNHWC, {16, 1, 3, 3});
  set(o.y, miopenTensorNCHW, {2, 16, 1, 1});
  const ErrorOr<ConvProblem> problem = o.make();
  ASSERT_TRUE(problem);
  // w has one channel as well, so that no tensor decides and all are NCHW.
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
TEST(ConvolutionProblem, StridesOfUnitLengthsAreIgnored) {
  Operands o;
  setStrides(o.x, {1, 3, 4, 5}, {77, 1, 15, 3});
  set(o.w, miopenTensorNHWC, {16, 3, 3, 3});
  set(o.y, miopenTensorNHWC, {1, 16, 2, 3});
  const ErrorOr<ConvProblem> problem = o.make();
  ASSERT_TRUE(problem) << problem.getStatus().getMessage();
  EXPECT_EQ(problem->xLayout, Layout::NHWC);
}

// Tensors with gaps between rows, and layouts without a name, keep their
// strides. Strides of lengths of 1 are not kept.
TEST(ConvolutionProblem, OtherStridesAreKept) {
  Operands o;
  setConv3x3(o, miopenTensorNCHW, miopenTensorNHWC, miopenTensorNCHW);
  setStrides(o.x, {2, 8, 14, 15}, {8 * 14 * 16, 14 * 16, 16, 1});
  EXPECT_EQ(o.getText(), "conv-fwd-f32-s1792:224:16:1,nhwc,nchw-n2c8h14w15-"
                         "k16y3x5-p1x0-s2x1-d1x2-g2");
  set(o.x, miopenTensorCHWN, {2, 8, 14, 15});
  EXPECT_EQ(o.getText(), "conv-fwd-f32-s1:420:30:2,nhwc,nchw-n2c8h14w15-"
                         "k16y3x5-p1x0-s2x1-d1x2-g2");
  set(o.x, miopenTensorNCHW, {2, 8, 14, 15});
  setStrides(o.y, {2, 16, 7, 7}, {784, 49, 7, 1});
  EXPECT_EQ(o.make()->yLayout, Layout::NCHW) << "packed, however it was set";
}

// A tensor that is written must not have elements that share memory. A
// direction that only reads it accepts it.
TEST(ConvolutionProblem, WrittenTensorsMayNotOverlap) {
  Operands o;
  setConv3x3(o, miopenTensorNCHW, miopenTensorNCHW, miopenTensorNCHW);
  setStrides(o.x, {2, 8, 14, 15}, {8 * 14 * 15, 14 * 15, 7, 1});
  EXPECT_TRUE(o.make().getStatus().isOk());
  EXPECT_EQ(o.getText(Direction::BackwardData),
            "the strides of the input put two of its elements at one address, "
            "but it is written");
}

// The problems of the three directions differ in the direction only.
TEST(ConvolutionProblem, DirectionsDifferInNameOnly) {
  Operands o;
  setConv3x3(o, miopenTensorNHWC, miopenTensorNCHW, miopenTensorNHWC,
             miopenDouble);
  const std::string rest =
      "-f64-nhwc,nchw,nhwc-n2c8h14w15-k16y3x5-p1x0-s2x1-d1x2-g2";
  EXPECT_EQ(o.getText(), "conv-fwd" + rest);
  EXPECT_EQ(o.getText(Direction::BackwardData), "conv-bwd" + rest);
  EXPECT_EQ(o.getText(Direction::BackwardWeights), "conv-wrw" + rest);
}

/// Sets a 3-D convolution with other numbers in every dimension.
static void setVolume(Operands &o, miopenTensorLayout_t layout) {
  const int pads[] = {1, 0, 2}, strides[] = {2, 1, 3}, dilations[] = {1, 2, 1};
  set(o.x, layout, {2, 6, 5, 9, 11});
  set(o.w, layout, {4, 3, 2, 3, 5});
  set(o.y, layout, {2, 4, 3, 5, 4});
  ASSERT_EQ(miopenInitConvolutionNdDescriptor(o.conv, 3, pads, strides,
                                              dilations, miopenConvolution),
            miopenStatusSuccess);
  ASSERT_EQ(miopenSetConvolutionGroupCount(o.conv, 2), miopenStatusSuccess);
}

// The first spatial dimension of 3-D descriptors becomes the depth.
TEST(ConvolutionProblem, TranslatesDepth) {
  Operands o;
  setVolume(o, miopenTensorNDHWC);
  EXPECT_EQ(o.getText(), "conv-fwd-f32-ndhwc,ndhwc,ndhwc-n2c6d5h9w11-k4z2y3x5-"
                         "p1x0x2-s2x1x3-d1x2x1-g2");
  setVolume(o, miopenTensorNCDHW);
  EXPECT_EQ(o.getText(Direction::BackwardWeights),
            "conv-wrw-f32-ncdhw,ncdhw,ncdhw-n2c6d5h9w11-k4z2y3x5-p1x0x2-"
            "s2x1x3-d1x2x1-g2");
}

// A 3-D descriptor over depth 1 gives the 2-D problem, and one dimension gives
// an image of one row, so that all share kernels.
TEST(ConvolutionProblem, NeutralDimensionsVanish) {
  const int pads[] = {0, 1, 1}, strides[] = {3, 1, 1}, dilations[] = {2, 1, 1};
  Operands volume;
  set(volume.x, miopenTensorNCDHW, {1, 2, 1, 5, 5});
  set(volume.w, miopenTensorNCDHW, {4, 2, 1, 3, 3});
  set(volume.y, miopenTensorNCDHW, {1, 4, 1, 5, 5});
  ASSERT_EQ(miopenInitConvolutionNdDescriptor(volume.conv, 3, pads, strides,
                                              dilations, miopenConvolution),
            miopenStatusSuccess);
  EXPECT_EQ(volume.getText(),
            "conv-fwd-f32-nchw,nchw,nchw-n1c2h5w5-k4y3x3-p1x1-s1x1-d1x1-g1");

  Operands row;
  setStrides(row.x, {1, 2, 9}, {18, 9, 1});
  setStrides(row.w, {4, 2, 3}, {6, 3, 1});
  setStrides(row.y, {1, 4, 9}, {36, 9, 1});
  ASSERT_EQ(miopenInitConvolutionNdDescriptor(row.conv, 1, &pads[1],
                                              &strides[1], &dilations[1],
                                              miopenConvolution),
            miopenStatusSuccess);
  EXPECT_EQ(row.getText(),
            "conv-fwd-f32-nchw,nchw,nchw-n1c2h1w9-k4y1x3-p0x1-s1x1-d1x1-g1");
}

/// Sets a transposed convolution from C = 6 to K = 4 in 2 groups, 3x3, with
/// stride 2, padding 1 and output padding `outputPad`.
static void setTransposed(Operands &o, int outputPad) {
  set(o.x, miopenTensorNHWC, {2, 6, 7, 7});
  set(o.w, miopenTensorNHWC, {6, 2, 3, 3});
  set(o.y, miopenTensorNHWC, {2, 4, 13 + outputPad, 13 + outputPad});
  ASSERT_EQ(miopenInitConvolutionDescriptor(o.conv, miopenTranspose, 1, 1, 2, 2,
                                            1, 1),
            miopenStatusSuccess);
  ASSERT_EQ(miopenSetConvolutionGroupCount(o.conv, 2), miopenStatusSuccess);
  ASSERT_EQ(miopenSetTransposeConvOutputPadding(o.conv, outputPad, outputPad),
            miopenStatusSuccess);
}

// A transposed convolution is backward data of the convolution whose x is its
// y, and its backward data is that convolution. The output padding is in the
// lengths.
TEST(ConvolutionProblem, TransposedModeSwapsXAndY) {
  for (int outputPad : {0, 1}) {
    Operands o;
    setTransposed(o, outputPad);
    const std::string size = std::to_string(13 + outputPad);
    const std::string rest = "-f32-nhwc,nhwc,nhwc-n2c4h" + size + "w" + size +
                             "-k6y3x3-p1x1-s2x2-d1x1-g2";
    EXPECT_EQ(o.getText(), "conv-bwd" + rest);
    EXPECT_EQ(o.getText(Direction::BackwardData), "conv-fwd" + rest);
    EXPECT_EQ(o.getText(Direction::BackwardWeights), "conv-wrw" + rest);
  }
}

// An output padding that is not below the stride, and a padding that leaves no
// result, are mistakes.
TEST(ConvolutionProblem, TransposedModeRefusesWhatIsNoGradient) {
  Operands o;
  setTransposed(o, 2);
  EXPECT_EQ(o.getText(), "output padding 2 is not below the stride 2");
  EXPECT_EQ(o.getCode(), StatusCode::InvalidArgument);

  Operands small;
  set(small.x, miopenTensorNCHW, {1, 1, 2, 2});
  set(small.w, miopenTensorNCHW, {1, 1, 1, 1});
  set(small.y, miopenTensorNCHW, {1, 1, 1, 1});
  ASSERT_EQ(miopenInitConvolutionDescriptor(small.conv, miopenTranspose, 3, 3,
                                            1, 1, 1, 1),
            miopenStatusSuccess);
  EXPECT_EQ(small.getText(), "the padding leaves nothing of the transposed "
                             "convolution's result");
}

// A forward convolution of int8 has a result of int32, float or int8.
TEST(ConvolutionProblem, Int8HasThreeResults) {
  Operands o;
  setConv3x3(o, miopenTensorNHWC, miopenTensorNHWC, miopenTensorNHWC,
             miopenInt8);
  set(o.y, miopenTensorNHWC, {2, 16, 7, 7}, miopenInt32);
  EXPECT_EQ(o.make()->dataType, DataType::I8);
  EXPECT_EQ(o.make()->byteResult, DataType::I32);
  set(o.y, miopenTensorNHWC, {2, 16, 7, 7}, miopenInt8);
  EXPECT_EQ(o.make()->byteResult, DataType::I8);
  set(o.y, miopenTensorNHWC, {2, 16, 7, 7}, miopenFloat);
  EXPECT_EQ(o.make()->byteResult, DataType::F32);
}

// What is computed of 8-bit floats has their type, or a wider one: y forward, x
// and w backward. Both that are read have one type.
TEST(ConvolutionProblem, Float8HasFourResults) {
  const std::pair<miopenDataType_t, DataType> kTypes[] = {
      {miopenFloat8_fnuz, DataType::E4M3FNUZ},
      {miopenBFloat8_fnuz, DataType::E5M2FNUZ},
      {tesseraFloat8, DataType::E4M3FN},
      {tesseraBFloat8, DataType::E5M2}};
  for (const auto &[type, known] : kTypes) {
    Operands o;
    setConv3x3(o, miopenTensorNHWC, miopenTensorNHWC, miopenTensorNHWC, type);
    for (Direction direction : {Direction::Forward, Direction::BackwardData,
                                Direction::BackwardWeights}) {
      EXPECT_EQ(o.make(direction)->dataType, known);
      EXPECT_EQ(o.make(direction)->byteResult, known);
    }
    set(o.y, miopenTensorNHWC, {2, 16, 7, 7}, miopenHalf);
    EXPECT_EQ(o.make()->byteResult, DataType::F16);
    EXPECT_EQ(o.make(Direction::BackwardData).getStatus().getCode(),
              StatusCode::InvalidArgument);
    set(o.y, miopenTensorNHWC, {2, 16, 7, 7}, miopenInt32);
    EXPECT_EQ(o.make().getStatus().getCode(), StatusCode::InvalidArgument);
    set(o.y, miopenTensorNHWC, {2, 16, 7, 7}, type);
    set(o.w, miopenTensorNHWC, {16, 4, 3, 5}, miopenFloat);
    EXPECT_EQ(o.make(Direction::BackwardWeights)->byteResult, DataType::F32);
    EXPECT_EQ(o.make().getStatus().getCode(), StatusCode::InvalidArgument);
  }
}

// Other convolutions of int8 are refused with a message: gradients are
// mistakes, the rest is not implemented.
TEST(ConvolutionProblem, RefusesOtherInt8) {
  Operands o;
  setConv3x3(o, miopenTensorNHWC, miopenTensorNHWC, miopenTensorNHWC,
             miopenInt8);
  set(o.y, miopenTensorNHWC, {2, 16, 7, 7}, miopenInt32);
  for (Direction direction :
       {Direction::BackwardData, Direction::BackwardWeights}) {
    EXPECT_EQ(o.getText(direction),
              "int8 is a type of forward convolutions only");
    EXPECT_EQ(o.make(direction).getStatus().getCode(),
              StatusCode::InvalidArgument);
  }
  set(o.y, miopenTensorNHWC, {2, 16, 7, 7}, miopenHalf);
  EXPECT_EQ(o.getText(), "x is of int8, w of int8, and y of half");

  Operands transposed;
  setTransposed(transposed, 0);
  set(transposed.x, miopenTensorNHWC, {2, 6, 7, 7}, miopenInt8);
  set(transposed.w, miopenTensorNHWC, {6, 2, 3, 3}, miopenInt8);
  set(transposed.y, miopenTensorNHWC, {2, 4, 13, 13}, miopenInt32);
  EXPECT_EQ(transposed.getText(),
            "transposed convolutions of int8 are not implemented");
}

// Types without kernels are NotSupported, and the message names them.
TEST(ConvolutionProblem, TypesWithoutKernelsAreNotSupported) {
  for (auto [type, name] :
       {std::pair{miopenInt32, "int32"}, std::pair{miopenInt64, "int64"}}) {
    Operands o;
    setConv3x3(o, miopenTensorNCHW, miopenTensorNCHW, miopenTensorNCHW, type);
    EXPECT_EQ(o.getCode(), StatusCode::NotSupported);
    EXPECT_EQ(o.getText(), "convolutions of " + std::string(name) +
                               " are not implemented; those of floats and int8 "
                               "are");
  }
}

// alpha and beta are read as doubles for double data, else as floats, and
// become one of three cases in 3-D.
TEST(ConvolutionProblem, ScalingIsThreeCases) {
  const float fOne = 1, fZero = 0, fHalf = 0.5f;
  Operands o;
  setVolume(o, miopenTensorNCDHW);
  EXPECT_TRUE(capi::readScaling(o.get(), &fOne, &fZero)->epilogue.isEmpty());
  const auto scaled = capi::readScaling(o.get(), &fHalf, &fZero);
  ASSERT_TRUE(scaled);
  EXPECT_EQ(scaled->epilogue, (Epilogue{.alpha = true}));
  EXPECT_EQ(scaled->alpha, 0.5);
  const auto added = capi::readScaling(o.get(), &fOne, &fHalf);
  ASSERT_TRUE(added);
  EXPECT_EQ(added->epilogue, (Epilogue{.alpha = true, .beta = true}));
  EXPECT_EQ(added->beta, 0.5);

  const double dQuarter = 0.25, dZero = 0;
  set(o.x, miopenTensorNCDHW, {2, 6, 5, 9, 11}, miopenDouble);
  const auto wide = capi::readScaling(o.get(), &dQuarter, &dZero);
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->alpha, 0.25);
}

// Images are scaled as volumes are, but a sum of int32 stays what it is.
TEST(ConvolutionProblem, ScalesAllButIntegers) {
  const float one = 1, zero = 0, half = 0.5f;
  Operands flat;
  setConv3x3(flat, miopenTensorNCHW, miopenTensorNCHW, miopenTensorNCHW);
  EXPECT_TRUE(capi::readScaling(flat.get(), &one, &zero)->epilogue.isEmpty());
  const auto scaled = capi::readScaling(flat.get(), &half, &zero);
  ASSERT_TRUE(scaled);
  EXPECT_EQ(scaled->epilogue, Epilogue{.alpha = true});
  EXPECT_EQ(capi::readScaling(flat.get(), &one, &half)->beta, 0.5);
  Operands integer;
  setVolume(integer, miopenTensorNCDHW);
  set(integer.y, miopenTensorNCDHW, {2, 4, 3, 5, 4}, miopenInt32);
  EXPECT_EQ(
      capi::readScaling(integer.get(), &half, &zero).getStatus().getMessage(),
      "only alpha = 1 and beta = 0 are implemented of a result of int32");
}

// Lengths whose arithmetic would need more than 32 bits are refused before
// anything is computed with them.
TEST(ConvolutionProblem, LengthsBeyondIntAreNotSupported) {
  Operands o;
  setVolume(o, miopenTensorNCDHW);
  const size_t lengths[] = {1, 6, size_t(1) << 31, 9, 11};
  ASSERT_EQ(miopenSetTensorDescriptorV2(o.x, miopenFloat, 5, lengths, nullptr),
            miopenStatusSuccess);
  EXPECT_EQ(o.getText(), "a length beyond 2^31 is not implemented");
}

// A y that is not the result of the convolution is a mistake, be it in batch
// size, channels, a spatial length, rank or type.
TEST(ConvolutionProblem, WrongOutputIsInvalid) {
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
TEST(ConvolutionProblem, MistakesComeFirst) {
  Operands o;
  setConv3x3(o, miopenTensorNCHW, miopenTensorNCHW, miopenTensorNCHW,
             miopenInt64);
  set(o.y, miopenTensorNCHW, {2, 16, 9, 9}, miopenInt64);
  EXPECT_EQ(o.getCode(), StatusCode::InvalidArgument);
}

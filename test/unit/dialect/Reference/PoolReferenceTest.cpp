//===- PoolReferenceTest.cpp - The oracle of pooling itself ---------------===//
//
// Every number here was computed by hand. The small image has ties and a NaN,
// its windows reach into the padding, and its rows differ from its columns.
//
//===----------------------------------------------------------------------===//

#include "dialect/Reference/PoolReference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace tessera::reference;

static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
static constexpr double kInf = std::numeric_limits<double>::infinity();
static constexpr double kLowest = std::numeric_limits<float>::lowest();

static TensorView view(const std::vector<float> &data, const Sizes &sizes) {
  return {ElementType::F32, data.data(), getNchwStrides(sizes)};
}

static IndexView viewIndices(const std::vector<uint8_t> &data,
                             const Sizes &sizes) {
  return {1, data.data(), getNchwStrides(sizes)};
}

/// The example of docs/spec/pooling.md.
static PoolShape getExample() {
  return {.h = 4, .w = 4, .window = {2, 2}, .pad = {1, 1}, .stride = {2, 2}};
}
static const std::vector<float> kImage = {1, 2,  2, static_cast<float>(kNaN), //
                                          5, 5,  5, 0,                        //
                                          3, -1, 4, 1,                        //
                                          7, 8,  9, 9};

// The first of equal elements wins, a NaN never does, and a window that has
// nothing else gives the lowest number and index 0.
TEST(PoolReference, MaximaOfTheExample) {
  PoolShape shape = getExample();
  PoolOutputs out = poolForward(shape, view(kImage, shape.getInputSizes()));
  EXPECT_EQ(out.y.values,
            (std::vector<double>{1, 2, kLowest, 5, 5, 1, 7, 9, 9}));
  EXPECT_EQ(out.indices, (std::vector<uint64_t>{3, 2, 0, 1, 0, 2, 1, 1, 0}));
  shape.indexMode = IndexMode::Image;
  out = poolForward(shape, view(kImage, shape.getInputSizes()));
  EXPECT_EQ(out.indices,
            (std::vector<uint64_t>{0, 1, 0, 4, 5, 11, 12, 14, 15}));
}

// Each element gathers the gradients of the windows that name it. The window of
// the NaN names its first position with mask, which is on padding, and element
// 0 with image, which it does not contain: its gradient (4) is dropped.
TEST(PoolReference, MaximaOfTheExampleBackward) {
  PoolShape shape = getExample();
  const std::vector<float> dy = {1, 2, 4, 8, 16, 32, 64, 128, 256};
  const std::vector<double> dx = {1, 2, 0, 0,  8,  16, 0,   0,
                                  0, 0, 0, 32, 64, 0,  128, 256};
  const Sizes sizes = shape.getOutputSizes();
  EXPECT_EQ(poolBackward(shape, view(dy, sizes),
                         viewIndices({3, 2, 0, 1, 0, 2, 1, 1, 0}, sizes))
                .values,
            dx);
  shape.indexMode = IndexMode::Image;
  EXPECT_EQ(poolBackward(shape, view(dy, sizes),
                         viewIndices({0, 1, 0, 4, 5, 11, 12, 14, 15}, sizes))
                .values,
            dx);
}

// Where windows overlap, an element sums the gradients of all that name it: the
// middle one is the maximum of four windows.
TEST(PoolReference, OverlappingWindowsAddUp) {
  const PoolShape shape{.h = 3, .w = 3, .window = {2, 2}};
  const std::vector<float> x = {0, 0, 0, 0, 9, 0, 0, 0, 0};
  const PoolOutputs out = poolForward(shape, view(x, shape.getInputSizes()));
  EXPECT_EQ(out.indices, (std::vector<uint64_t>{3, 2, 1, 0}));
  const Expected dx = poolBackward(
      shape, view(std::vector<float>{1, 2, 3, -4}, shape.getOutputSizes()),
      viewIndices({3, 2, 1, 0}, shape.getOutputSizes()));
  EXPECT_EQ(dx.values, (std::vector<double>{0, 0, 0, 0, 2, 0, 0, 0, 0}));
  EXPECT_EQ(dx.magnitudes, (std::vector<double>{0, 0, 0, 0, 10, 0, 0, 0, 0}));
  EXPECT_EQ(dx.reductionLength, 4);
}

// An index that names no position of the window is ignored.
TEST(PoolReference, IndicesOfNothingAreIgnored) {
  const PoolShape shape{.h = 2, .w = 2, .window = {2, 2}};
  const std::vector<float> dy = {5};
  const Expected dx = poolBackward(shape, view(dy, shape.getOutputSizes()),
                                   viewIndices({200}, shape.getOutputSizes()));
  EXPECT_EQ(dx.values, (std::vector<double>{0, 0, 0, 0}));
}

// An average divides by the number of elements inside, the inclusive one by
// that of all positions; a NaN is not hidden.
TEST(PoolReference, AveragesOfTheExample) {
  PoolShape shape = getExample();
  shape.mode = PoolMode::Average;
  PoolOutputs out = poolForward(shape, view(kImage, shape.getInputSizes()));
  EXPECT_TRUE(out.indices.empty());
  ASSERT_EQ(out.y.values.size(), 9u);
  EXPECT_TRUE(std::isnan(out.y.values[2]));
  out.y.values[2] = 0;
  EXPECT_EQ(out.y.values,
            (std::vector<double>{1, 2, 0, 4, 3.25, 0.5, 7, 8.5, 9}));
  EXPECT_EQ(out.y.magnitudes[4], 3.75);
  shape.mode = PoolMode::AverageInclusive;
  out = poolForward(shape, view(kImage, shape.getInputSizes()));
  out.y.values[2] = 0;
  EXPECT_EQ(out.y.values,
            (std::vector<double>{.25, 1, 0, 2, 3.25, .25, 1.75, 4.25, 2.25}));
}

// Backward, an average distributes its gradient to the elements inside.
TEST(PoolReference, AveragesOfTheExampleBackward) {
  PoolShape shape = getExample();
  shape.mode = PoolMode::Average;
  const std::vector<float> dy = {1, 2, 4, 8, 16, 32, 64, 128, 256};
  EXPECT_EQ(poolBackward(shape, view(dy, shape.getOutputSizes()), {}).values,
            (std::vector<double>{1, 1, 1, 4, 4, 4, 4, 16, 4, 4, 4, 16, 64, 64,
                                 64, 256}));
  shape.mode = PoolMode::AverageInclusive;
  EXPECT_EQ(poolBackward(shape, view(dy, shape.getOutputSizes()), {}).values,
            (std::vector<double>{.25, .5, .5, 1, 2, 4, 4, 8, 2, 4, 4, 8, 16, 32,
                                 32, 64}));
}

// If the padding is as large as the window, there are windows without an
// element: their maximum is the lowest number, their average is 0.
TEST(PoolReference, EmptyWindows) {
  PoolShape shape{.w = 1, .window = {1, 2}, .pad = {0, 2}};
  const std::vector<float> x = {-3};
  EXPECT_EQ(shape.getOutputWidth(), 4);
  PoolOutputs out = poolForward(shape, view(x, shape.getInputSizes()));
  EXPECT_EQ(out.y.values, (std::vector<double>{kLowest, -3, -3, kLowest}));
  EXPECT_EQ(out.indices, (std::vector<uint64_t>{0, 1, 0, 0}));
  shape.mode = PoolMode::Average;
  out = poolForward(shape, view(x, shape.getInputSizes()));
  EXPECT_EQ(out.y.values, (std::vector<double>{0, -3, -3, 0}));
}

// Padding only after the last element: the last of two windows has one element
// of two. And only before the first one: the first window has.
TEST(PoolReference, PaddingAtOneEnd) {
  PoolShape shape{
      .w = 3, .window = {1, 2}, .extraPad = {0, 1}, .stride = {1, 2}};
  const std::vector<float> x = {1, 2, 3}, dy = {2, 4};
  ASSERT_EQ(shape.getOutputWidth(), 2);
  auto forward = [&] {
    return poolForward(shape, view(x, shape.getInputSizes()));
  };
  auto backward = [&] {
    return poolBackward(shape, view(dy, shape.getOutputSizes()), {}).values;
  };
  EXPECT_EQ(forward().y.values, (std::vector<double>{2, 3}));
  EXPECT_EQ(forward().indices, (std::vector<uint64_t>{1, 0}));
  shape.mode = PoolMode::Average;
  EXPECT_EQ(forward().y.values, (std::vector<double>{1.5, 3}));
  EXPECT_EQ(backward(), (std::vector<double>{1, 1, 4}));
  shape.mode = PoolMode::AverageInclusive;
  EXPECT_EQ(forward().y.values, (std::vector<double>{1.5, 1.5}));
  EXPECT_EQ(backward(), (std::vector<double>{1, 1, 2}));
  shape.pad.w = 1;
  shape.extraPad.w = -1;
  ASSERT_EQ(shape.getOutputWidth(), 2);
  EXPECT_EQ(forward().y.values, (std::vector<double>{0.5, 2.5}));
  shape.mode = PoolMode::Max;
  EXPECT_EQ(forward().y.values, (std::vector<double>{1, 3}));
  EXPECT_EQ(forward().indices, (std::vector<uint64_t>{1, 1}));
}

// A window larger than the padded input has one output, and is clipped.
TEST(PoolReference, WindowLargerThanTheInput) {
  PoolShape shape{.mode = PoolMode::Average, .h = 2, .window = {5, 1}};
  const std::vector<float> x = {3, 5};
  EXPECT_EQ(shape.getOutputHeight(), 1);
  EXPECT_EQ(poolForward(shape, view(x, shape.getInputSizes())).y.values,
            std::vector<double>{4});
  shape.mode = PoolMode::AverageInclusive;
  EXPECT_EQ(poolForward(shape, view(x, shape.getInputSizes())).y.values,
            std::vector<double>{1.6});
}

// Minus infinity and the lowest number are not greater than the start value of
// a maximum; plus infinity is.
TEST(PoolReference, InfinitiesAndTheLowestNumber) {
  const PoolShape shape{.h = 3, .w = 2, .window = {1, 2}};
  const std::vector<float> x = {static_cast<float>(-kInf),
                                static_cast<float>(-kInf),
                                static_cast<float>(-kInf),
                                static_cast<float>(kLowest),
                                -1,
                                static_cast<float>(kInf)};
  const PoolOutputs out = poolForward(shape, view(x, shape.getInputSizes()));
  EXPECT_EQ(out.y.values, (std::vector<double>{kLowest, kLowest, kInf}));
  EXPECT_EQ(out.indices, (std::vector<uint64_t>{0, 0, 1}));
}

// The lowest number depends on the element type.
TEST(PoolReference, LowestNumbers) {
  EXPECT_EQ(getLowest(ElementType::F16), -65504);
  EXPECT_EQ(getLowest(ElementType::F32), kLowest);
  for (ElementType type : {ElementType::F16, ElementType::BF16})
    EXPECT_EQ(roundTo(type, getLowest(type)), getLowest(type));
  EXPECT_EQ(roundTo(ElementType::BF16, getLowest(ElementType::BF16) * 1.01),
            -kInf);
}

// Depth is the outermost of the spatial dimensions, in the order of positions
// and in both indices.
TEST(PoolReference, ThreeDimensions) {
  PoolShape shape{.h = 2, .w = 3, .d = 2};
  shape.window = {2, 2, 2};
  std::vector<float> x = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 7, 10};
  PoolOutputs out = poolForward(shape, view(x, shape.getInputSizes()));
  EXPECT_EQ(out.y.values, (std::vector<double>{9, 10}));
  EXPECT_EQ(out.indices, (std::vector<uint64_t>{6, 7}));
  shape.indexMode = IndexMode::Image;
  out = poolForward(shape, view(x, shape.getInputSizes()));
  EXPECT_EQ(out.indices, (std::vector<uint64_t>{9, 11}));
}

// Strides decide where elements are, and a sample has the values of the full
// tensor.
TEST(PoolReference, SamplesAndChannelsLast) {
  const PoolShape shape{.n = 2, .c = 3, .h = 4, .w = 5, .window = {2, 3}};
  const Sizes sizes = shape.getInputSizes();
  std::vector<float> nchw(sizes.getProduct()), nhwc(sizes.getProduct());
  Coord at;
  for (int64_t i = 0; i < sizes.getProduct(); ++i, sizes.advance(at)) {
    const auto value = static_cast<float>((i * 37) % 101);
    nchw[getNchwStrides(sizes).getOffset(at)] = value;
    nhwc[getNhwcStrides(sizes).getOffset(at)] = value;
  }
  const PoolOutputs all = poolForward(shape, view(nchw, sizes));
  const PoolOutputs sample = poolForward(
      shape, {ElementType::F32, nhwc.data(), getNhwcStrides(sizes)}, {5, 17});
  EXPECT_EQ(sample.y.values,
            (std::vector<double>{all.y.values[5], all.y.values[17]}));
  EXPECT_EQ(sample.indices,
            (std::vector<uint64_t>{all.indices[5], all.indices[17]}));
}

// Indices of every width can be written and read back.
TEST(PoolReference, IndexWidths) {
  for (int64_t bytes : {1, 2, 4, 8}) {
    std::vector<char> data(3 * bytes, '\xff');
    const uint64_t value = 0x0102030405060708u >> (64 - 8 * bytes);
    storeIndex(bytes, data.data(), 1, value);
    const IndexView view{bytes, data.data(), {.column = 1}};
    EXPECT_EQ(view.load({.column = 1}), value);
    EXPECT_NE(view.load({.column = 0}), value);
    EXPECT_NE(view.load({.column = 2}), value);
  }
}

//===- ConvReferenceTest.cpp - The oracle itself --------------------------===//
//
// The oracle cannot be tested against itself: here it is compared with numbers
// computed by hand and with a second version of the spec's formula, written as
// simply as possible.
//
//===----------------------------------------------------------------------===//

#include "dialect/Reference/ConvReference.h"
#include "dialect/Reference/TestData.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace tessera::reference;

using MakeStrides = Strides (*)(const Sizes &);

namespace {
/// A shape with a name, for parametrised tests.
struct Case {
  const char *name;
  ConvShape shape;
};
} // namespace

static TensorView viewNchw(const std::vector<float> &data, const Sizes &sizes) {
  return {ElementType::F32, data.data(), getNchwStrides(sizes)};
}

/// Seven loops over floats in NCHW order. Taps outside of the image are found
/// by comparing coordinates in the padded image.
static std::vector<double> convPlainly(const ConvShape &s,
                                       const std::vector<float> &x,
                                       const std::vector<float> &w) {
  const int64_t ho = s.getOutputHeight(), wo = s.getOutputWidth();
  const int64_t cg = s.c / s.groups, kg = s.k / s.groups;
  std::vector<double> y;
  for (int64_t n = 0; n < s.n; ++n)
    for (int64_t k = 0; k < s.k; ++k)
      for (int64_t i = 0; i < ho; ++i)
        for (int64_t j = 0; j < wo; ++j) {
          double sum = 0;
          for (int64_t c = 0; c < cg; ++c)
            for (int64_t a = 0; a < s.y; ++a)
              for (int64_t b = 0; b < s.x; ++b) {
                const int64_t row = i * s.stride.h + a * s.dilation.h;
                const int64_t col = j * s.stride.w + b * s.dilation.w;
                if (row < s.pad.h || row >= s.pad.h + s.h || col < s.pad.w ||
                    col >= s.pad.w + s.w)
                  continue;
                const int64_t channel = k / kg * cg + c;
                sum +=
                    double(x[((n * s.c + channel) * s.h + row - s.pad.h) * s.w +
                             col - s.pad.w]) *
                    w[((k * cg + c) * s.y + a) * s.x + b];
              }
          y.push_back(sum);
        }
  return y;
}

/// Makes random f32 data for a tensor.
static std::vector<float> makeFloats(const Sizes &sizes, uint64_t seed) {
  auto bytes =
      makeData(ElementType::F32, sizes.getProduct(), DataKind::Uniform, seed);
  std::vector<float> values;
  for (int64_t i = 0; i < sizes.getProduct(); ++i)
    values.push_back(loadElement(ElementType::F32, bytes.data(), i));
  return values;
}

/// Returns the same numbers in another layout and type.
static std::vector<char> repack(const std::vector<float> &nchw,
                                const Sizes &sizes, ElementType type,
                                const Strides &to) {
  std::vector<char> data = makePoison(type, sizes.getProduct());
  const Strides from = getNchwStrides(sizes);
  Coord at;
  for (at.outer = 0; at.outer < sizes.outer; ++at.outer)
    for (at.channel = 0; at.channel < sizes.channel; ++at.channel)
      for (at.row = 0; at.row < sizes.row; ++at.row)
        for (at.column = 0; at.column < sizes.column; ++at.column)
          storeElement(type, data.data(), to.getOffset(at),
                       nchw[from.getOffset(at)]);
  return data;
}

// The example of docs/spec/convolution.md.
TEST(ConvReference, ExampleOfTheSpec) {
  const ConvShape shape{.c = 2, .h = 3, .w = 3, .y = 2, .x = 2};
  std::vector<float> x{1,  2,  3,  4,  5,  6,  7,  8,  9,
                       10, 10, 10, 10, 10, 10, 10, 10, 10};
  std::vector<float> w(8, 1);
  Expected y = convForward(shape, viewNchw(x, shape.getInputSizes()),
                           viewNchw(w, shape.getFilterSizes()));
  EXPECT_EQ(y.values, (std::vector<double>{52, 56, 64, 68}));
  EXPECT_EQ(y.reductionLength, 8);
}

// A cross-correlation does not flip the filter: tap (a, b) meets the pixel at
// (i + a, j + b). With padding 1 the filter 1 2 3 slides over 0 4 5 0.
TEST(ConvReference, PaddingByHandAndNoFlip) {
  const ConvShape shape{.h = 1, .w = 2, .y = 1, .x = 3, .pad = {0, 1}};
  std::vector<float> x{4, 5};
  std::vector<float> w{1, 2, 3};
  Expected y = convForward(shape, viewNchw(x, shape.getInputSizes()),
                           viewNchw(w, shape.getFilterSizes()));
  EXPECT_EQ(y.values, (std::vector<double>{2 * 4 + 3 * 5, 1 * 4 + 2 * 5}));
}

// A causal convolution has all padding before the first element, so that no
// result depends on what comes after it. Here 1 10 slides over 0 1 2 3.
TEST(ConvReference, CausalPaddingByHand) {
  const ConvShape shape{.w = 3, .x = 2, .pad = {0, 1}, .extraPad = {0, -1}};
  std::vector<float> x{1, 2, 3};
  std::vector<float> w{1, 10};
  Expected y = convForward(shape, viewNchw(x, shape.getInputSizes()),
                           viewNchw(w, shape.getFilterSizes()));
  EXPECT_EQ(y.values, (std::vector<double>{10, 21, 32}));
}

// Stride 2 and dilation 3 by hand: x is 1 to 8, w is 1 10, and the outputs are
// at columns 0, 2 and 4.
TEST(ConvReference, StrideAndDilationByHand) {
  const ConvShape shape{.w = 8, .x = 2, .stride = {1, 2}, .dilation = {1, 3}};
  std::vector<float> x(8);
  std::iota(x.begin(), x.end(), 1.0f);
  std::vector<float> w{1, 10};
  Expected y = convForward(shape, viewNchw(x, shape.getInputSizes()),
                           viewNchw(w, shape.getFilterSizes()));
  EXPECT_EQ(y.values, (std::vector<double>{41, 63, 85}));
}

// Group g of the filters sees group g of the channels only. There are two
// groups of two channels with one filter each.
TEST(ConvReference, GroupsByHand) {
  const ConvShape shape{.c = 4, .k = 2, .groups = 2};
  std::vector<float> x{1, 2, 3, 4};
  std::vector<float> w{10, 100, 1000, 10000};
  Expected y = convForward(shape, viewNchw(x, shape.getInputSizes()),
                           viewNchw(w, shape.getFilterSizes()));
  EXPECT_EQ(y.values, (std::vector<double>{210, 43000}));
}

// A filter larger than its padded input has one output, made of the taps
// inside.
TEST(ConvReference, FilterLargerThanInput) {
  const ConvShape shape{.h = 2, .w = 2, .y = 3, .x = 3};
  std::vector<float> x{1, 2, 3, 4};
  std::vector<float> w{1, 1, 50, 1, 1, 50, 50, 50, 50};
  Expected y = convForward(shape, viewNchw(x, shape.getInputSizes()),
                           viewNchw(w, shape.getFilterSizes()));
  EXPECT_EQ(y.values, (std::vector<double>{10}));
}

// The output's size follows the spec's formula in its corner cases.
TEST(ConvReference, OutputSize) {
  const ConvShape stem{
      .h = 224, .w = 224, .y = 7, .x = 7, .pad = {3, 3}, .stride = {2, 2}};
  EXPECT_EQ(stem.getOutputHeight(), 112);
  const ConvShape mixed{.h = 9,
                        .w = 11,
                        .y = 2,
                        .x = 3,
                        .pad = {2, 1},
                        .stride = {2, 3},
                        .dilation = {3, 2}};
  EXPECT_EQ(mixed.getOutputSizes(), (Sizes{1, 1, 5, 3}));
  ConvShape same = stem;
  same.pad = {2, 2};
  same.extraPad = {1, -1};
  EXPECT_EQ(same.getOutputSizes(), (Sizes{1, 1, 112, 111}));
}

namespace {
class ConvReferenceShapes : public testing::TestWithParam<Case> {};
} // namespace

// The blocked evaluator agrees with seven plain loops, whatever the layouts:
// one misplaced product changes a sum by far more than 1e-12.
TEST_P(ConvReferenceShapes, AgreesWithPlainLoops) {
  const ConvShape &shape = GetParam().shape;
  const Sizes in = shape.getInputSizes(), filter = shape.getFilterSizes();
  const std::vector<float> x = makeFloats(in, 1), w = makeFloats(filter, 2);
  const std::vector<double> plain = convPlainly(shape, x, w);
  const Strides outOrder = getNchwStrides(shape.getOutputSizes());

  for (MakeStrides xOrder : {getNchwStrides, getNhwcStrides})
    for (MakeStrides wOrder : {getNchwStrides, getNhwcStrides}) {
      auto xData = repack(x, in, ElementType::F32, xOrder(in));
      auto wData = repack(w, filter, ElementType::F32, wOrder(filter));
      Expected y =
          convForward(shape, {ElementType::F32, xData.data(), xOrder(in)},
                      {ElementType::F32, wData.data(), wOrder(filter)});
      ASSERT_EQ(y.values.size(), plain.size());
      for (size_t i = 0; i < plain.size(); ++i)
        ASSERT_NEAR(y.values[i], plain[outOrder.getOffset(y.sizes.getCoord(i))],
                    1e-12)
            << "flat index " << i;
    }
}

// The sums of magnitudes are the sums for absolute inputs.
TEST_P(ConvReferenceShapes, MagnitudesAreSumsOfAbsolutes) {
  const ConvShape &shape = GetParam().shape;
  const Sizes in = shape.getInputSizes(), filter = shape.getFilterSizes();
  std::vector<float> x = makeFloats(in, 1), w = makeFloats(filter, 2);
  Expected y = convForward(shape, viewNchw(x, in), viewNchw(w, filter));
  for (std::vector<float> *values : {&x, &w})
    for (float &value : *values)
      value = std::fabs(value);
  Expected absolute = convForward(shape, viewNchw(x, in), viewNchw(w, filter));
  EXPECT_EQ(y.magnitudes, absolute.values);
}

// A sample has the values of the full tensor.
TEST_P(ConvReferenceShapes, SampleAgreesWithAll) {
  const ConvShape &shape = GetParam().shape;
  const Sizes in = shape.getInputSizes(), filter = shape.getFilterSizes();
  const std::vector<float> x = makeFloats(in, 1), w = makeFloats(filter, 2);
  Expected all = convForward(shape, viewNchw(x, in), viewNchw(w, filter));
  Expected some = convForwardAt(shape, viewNchw(x, in), viewNchw(w, filter),
                                sampleElements(shape.getOutputSizes(), 50, 3));
  ASSERT_FALSE(some.indices.empty());
  EXPECT_EQ(some.reductionLength, all.reductionLength);
  for (size_t i = 0; i < some.indices.size(); ++i) {
    ASSERT_NEAR(some.values[i], all.values[some.indices[i]], 1e-12);
    ASSERT_NEAR(some.magnitudes[i], all.magnitudes[some.indices[i]], 1e-12);
  }
}

// Shapes with a remainder in every block: columns of 4, filters of 8, and one
// of each window parameter alone.
INSTANTIATE_TEST_SUITE_P(
    Shapes, ConvReferenceShapes,
    testing::Values(
        Case{"one", {}},
        Case{"pointwise", {.n = 2, .c = 16, .h = 5, .w = 6, .k = 24}},
        Case{"rests",
             {.n = 3, .c = 5, .h = 7, .w = 9, .k = 13, .y = 3, .x = 2}},
        Case{"padded",
             {.c = 3, .h = 6, .w = 5, .k = 9, .y = 3, .x = 5, .pad = {1, 4}}},
        Case{"strided",
             {.c = 3,
              .h = 11,
              .w = 12,
              .k = 8,
              .y = 3,
              .x = 3,
              .stride = {3, 2}}},
        Case{"dilated",
             {.c = 3,
              .h = 11,
              .w = 12,
              .k = 8,
              .y = 3,
              .x = 3,
              .dilation = {2, 4}}},
        Case{"grouped",
             {.n = 2,
              .c = 12,
              .h = 6,
              .w = 7,
              .k = 20,
              .y = 3,
              .x = 3,
              .pad = {1, 1},
              .groups = 4}},
        Case{"depthwise",
             {.c = 10, .h = 6, .w = 7, .k = 10, .y = 3, .x = 3, .groups = 10}},
        Case{"everything",
             {.n = 2,
              .c = 6,
              .h = 13,
              .w = 10,
              .k = 18,
              .y = 2,
              .x = 3,
              .pad = {3, 2},
              .stride = {2, 3},
              .dilation = {3, 2},
              .groups = 2}}),
    [](const auto &info) { return std::string(info.param.name); });

// Half-precision inputs are used as they are after rounding: the sums are those
// of the rounded numbers.
TEST(ConvReference, ReadsHalfPrecision) {
  const ConvShape shape{.c = 40, .h = 4, .w = 4, .k = 3, .y = 3, .x = 3};
  const Sizes in = shape.getInputSizes(), filter = shape.getFilterSizes();
  for (ElementType type : {ElementType::F16, ElementType::BF16}) {
    std::vector<float> x = makeFloats(in, 1), w = makeFloats(filter, 2);
    auto xData = repack(x, in, type, getNhwcStrides(in));
    auto wData = repack(w, filter, type, getNhwcStrides(filter));
    Expected half = convForward(shape, {type, xData.data(), getNhwcStrides(in)},
                                {type, wData.data(), getNhwcStrides(filter)});
    for (std::vector<float> *values : {&x, &w})
      for (float &value : *values)
        value = static_cast<float>(roundTo(type, value));
    EXPECT_EQ(half.values,
              convForward(shape, viewNchw(x, in), viewNchw(w, filter)).values);
  }
}

//===- ConvDirectionsTest.cpp - The gradients, and three dimensions -------===//
//
// Backward data and backward weights are the adjoints of forward in x and in w:
// <conv(x, w), dy> = <x, bwdData(w, dy)> = <w, bwdWeights(x, dy)> for any data.
// With small integers all three are exact, so the equation holds exactly.
// Forward is tested on its own (ConvReferenceTest.cpp).
//
//===----------------------------------------------------------------------===//

#include "dialect/Reference/ConvReference.h"
#include "dialect/Reference/TestData.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace tessera::reference;

namespace {
struct Case {
  const char *name;
  ConvShape shape;
};

/// A tensor that owns its data; `spread` leaves gaps between its elements.
class Tensor {
public:
  Tensor(const Sizes &sizes, ElementType type, const Strides &order,
         uint64_t seed, int64_t spread = 1)
      : sizes(sizes), view{type, nullptr, order} {
    for (int64_t Strides::*stride :
         {&Strides::outer, &Strides::channel, &Strides::depth, &Strides::row,
          &Strides::column})
      view.strides.*stride *= spread;
    data = makeData(type, sizes.getProduct() * spread, DataKind::Integer, seed);
    view.data = data.data();
  }
  Tensor(const Sizes &sizes, uint64_t seed)
      : Tensor(sizes, ElementType::F32, getNchwStrides(sizes), seed) {}

  double dot(const Expected &other) const {
    double sum = 0;
    for (int64_t i = 0; i < sizes.getProduct(); ++i)
      sum += view.load(sizes.getCoord(i)) * other.values[i];
    return sum;
  }

  Sizes sizes;
  std::vector<char> data;
  TensorView view;
};

class ConvDirections : public testing::TestWithParam<Case> {
protected:
  const ConvShape &shape = GetParam().shape;
  Tensor x{shape.getInputSizes(), 1};
  Tensor w{shape.getFilterSizes(), 2};
  Tensor dy{shape.getOutputSizes(), 3};
};
} // namespace

/// Makes an f32 tensor in NCHW order.
static Tensor makeTensor(const Sizes &sizes, const std::vector<float> &values) {
  Tensor tensor(sizes, 0);
  for (size_t i = 0; i < values.size(); ++i)
    storeElement(ElementType::F32, tensor.data.data(), i, values[i]);
  return tensor;
}

// The three directions are each other's adjoints.
TEST_P(ConvDirections, AreAdjoint) {
  const double product = dy.dot(convForward(shape, x.view, w.view));
  EXPECT_EQ(product, x.dot(convBackwardData(shape, w.view, dy.view)));
  EXPECT_EQ(product, w.dot(convBackwardWeights(shape, x.view, dy.view)));
}

static void expectSample(const Expected &all, const Expected &some) {
  EXPECT_EQ(some.sizes, all.sizes);
  EXPECT_EQ(some.reductionLength, all.reductionLength);
  ASSERT_FALSE(some.indices.empty());
  for (size_t i = 0; i < some.indices.size(); ++i) {
    ASSERT_EQ(some.values[i], all.values[some.indices[i]]) << some.indices[i];
    ASSERT_EQ(some.magnitudes[i], all.magnitudes[some.indices[i]]);
  }
}

// A sample, by the spec's formulas, has the values of the full tensor.
TEST_P(ConvDirections, SamplesAgreeWithAll) {
  auto sample = [](const Tensor &result) {
    return sampleElements(result.sizes, 100, 7);
  };
  expectSample(convForward(shape, x.view, w.view),
               convForwardAt(shape, x.view, w.view, sample(dy)));
  expectSample(convBackwardData(shape, w.view, dy.view),
               convBackwardDataAt(shape, w.view, dy.view, sample(x)));
  expectSample(convBackwardWeights(shape, x.view, dy.view),
               convBackwardWeightsAt(shape, x.view, dy.view, sample(w)));
}

// No element sums more products than the length that sets its tolerance: if all
// data are 1, a sum is the number of its products.
TEST_P(ConvDirections, LengthsBoundTheSums) {
  for (Tensor *tensor : {&x, &w, &dy})
    for (int64_t i = 0; i < tensor->sizes.getProduct(); ++i)
      storeElement(ElementType::F32, tensor->data.data(), i, 1);
  for (const Expected &result : {convForward(shape, x.view, w.view),
                                 convBackwardData(shape, w.view, dy.view),
                                 convBackwardWeights(shape, x.view, dy.view)})
    EXPECT_LE(*std::max_element(result.values.begin(), result.values.end()),
              result.reductionLength);
}

// Layout, gaps between the elements and type do not change the result, because
// small integers are the same in all types.
TEST_P(ConvDirections, LayoutsAndTypesChangeNothing) {
  const Expected y = convForward(shape, x.view, w.view);
  const Expected dx = convBackwardData(shape, w.view, dy.view);
  const Expected dw = convBackwardWeights(shape, x.view, dy.view);
  for (ElementType type :
       {ElementType::F16, ElementType::BF16, ElementType::F64, ElementType::I8})
    for (int64_t spread : {1, 3}) {
      auto copy = [&](const Tensor &from) {
        Tensor to(from.sizes, type, getNhwcStrides(from.sizes), 99, spread);
        Coord at;
        for (int64_t i = 0; i < from.sizes.getProduct();
             ++i, from.sizes.advance(at))
          storeElement(type, to.data.data(), to.view.strides.getOffset(at),
                       from.view.load(at));
        return to;
      };
      const Tensor x2 = copy(x), w2 = copy(w), dy2 = copy(dy);
      EXPECT_EQ(convForward(shape, x2.view, w2.view).values, y.values);
      EXPECT_EQ(convBackwardData(shape, w2.view, dy2.view).values, dx.values);
      EXPECT_EQ(convBackwardWeights(shape, x2.view, dy2.view).values,
                dw.values);
    }
}

// Padding at either end is the same as zeros in a larger input: the results are
// those of the larger input without padding, and so is the inner part of its
// gradient.
TEST_P(ConvDirections, PaddingIsZerosOfALargerInput) {
  const Pads &pad = shape.pad, &extra = shape.extraPad;
  ConvShape larger = shape;
  larger.d += 2 * pad.d + extra.d;
  larger.h += 2 * pad.h + extra.h;
  larger.w += 2 * pad.w + extra.w;
  larger.pad = larger.extraPad = {};
  ASSERT_EQ(larger.getOutputSizes(), shape.getOutputSizes());
  const Sizes sizes = larger.getInputSizes();
  Tensor zeros = makeTensor(
      sizes, std::vector<float>(static_cast<size_t>(sizes.getProduct())));
  const Expected dx = convBackwardData(shape, w.view, dy.view);
  const Expected largerDx = convBackwardData(larger, w.view, dy.view);
  Coord at;
  for (int64_t i = 0; i < x.sizes.getProduct(); ++i, x.sizes.advance(at)) {
    Coord inner = at;
    inner.depth += pad.d;
    inner.row += pad.h;
    inner.column += pad.w;
    storeElement(ElementType::F32, zeros.data.data(),
                 zeros.view.strides.getOffset(inner), x.view.load(at));
    ASSERT_EQ(dx.values[i], largerDx.values[sizes.getFlatIndex(inner)]);
  }
  EXPECT_EQ(convForward(shape, x.view, w.view).values,
            convForward(larger, zeros.view, w.view).values);
  EXPECT_EQ(convBackwardWeights(shape, x.view, dy.view).values,
            convBackwardWeights(larger, zeros.view, dy.view).values);
}

// One of each window parameter alone, incomplete blocks, depth with sizes of
// its own, and everything at once.
INSTANTIATE_TEST_SUITE_P(
    Shapes, ConvDirections,
    testing::Values(
        Case{"one", {}},
        Case{"pointwise", {.n = 2, .c = 16, .h = 5, .w = 6, .k = 24}},
        Case{"rests",
             {.n = 3, .c = 5, .h = 7, .w = 9, .k = 13, .y = 3, .x = 2}},
        Case{"padded",
             {.c = 3, .h = 6, .w = 5, .k = 9, .y = 3, .x = 5, .pad = {1, 4}}},
        Case{"paddedBeyondTheFilter",
             {.c = 2, .h = 2, .w = 3, .k = 3, .y = 2, .x = 2, .pad = {4, 5}}},
        Case{"paddedAfter",
             {.n = 2,
              .c = 3,
              .h = 6,
              .w = 5,
              .k = 9,
              .y = 2,
              .x = 4,
              .extraPad = {1, 3}}},
        Case{"paddedBefore",
             {.c = 3,
              .h = 6,
              .w = 5,
              .k = 9,
              .y = 3,
              .x = 5,
              .pad = {2, 6},
              .extraPad = {-2, -5},
              .stride = {2, 3}}},
        Case{"strided",
             {.n = 2,
              .c = 3,
              .h = 11,
              .w = 22,
              .k = 8,
              .y = 3,
              .x = 3,
              .pad = {1, 0},
              .stride = {3, 2}}},
        Case{"strideBeyondTheFilter",
             {.c = 5, .h = 7, .w = 8, .k = 3, .stride = {3, 2}}},
        Case{"dilated",
             {.c = 3,
              .h = 11,
              .w = 12,
              .k = 8,
              .y = 3,
              .x = 3,
              .dilation = {2, 4}}},
        Case{"strideAndDilationShareAFactor",
             {.c = 3,
              .h = 13,
              .w = 17,
              .k = 4,
              .y = 4,
              .x = 3,
              .pad = {3, 2},
              .stride = {4, 6},
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
             {.c = 10, .h = 6, .w = 7, .k = 20, .y = 3, .x = 3, .groups = 10}},
        Case{"filterLargerThanInput", {.h = 2, .w = 2, .y = 3, .x = 4}},
        Case{"volume",
             {.n = 2,
              .c = 3,
              .d = 5,
              .h = 6,
              .w = 7,
              .k = 4,
              .z = 3,
              .y = 2,
              .x = 2,
              .pad = {.h = 0, .w = 1, .d = 2}}},
        Case{"everything",
             {.n = 2,
              .c = 6,
              .d = 9,
              .h = 13,
              .w = 10,
              .k = 18,
              .z = 2,
              .y = 2,
              .x = 3,
              .pad = {.h = 3, .w = 2, .d = 1},
              .extraPad = {.h = -1, .w = 4, .d = 3},
              .stride = {.h = 2, .w = 3, .d = 2},
              .dilation = {.h = 3, .w = 2, .d = 4},
              .groups = 2}}),
    [](const auto &info) { return std::string(info.param.name); });

// x counts from 1 to 8 in a cube; a filter of 2x1x2 has powers of ten.
TEST(ConvDepth, ByHand) {
  const ConvShape shape{.d = 2, .h = 2, .w = 2, .z = 2, .y = 1, .x = 2};
  const Tensor x = makeTensor(shape.getInputSizes(), {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor w = makeTensor(shape.getFilterSizes(), {1, 10, 100, 1000});
  // Row 0: 1 + 2 10 + 5 100 + 6 1000; row 1: 3 + 4 10 + 7 100 + 8 1000.
  EXPECT_EQ(convForward(shape, x.view, w.view).values,
            (std::vector<double>{6521, 8743}));
}

// A volume of depth 1 is the image.
TEST(ConvDepth, NeutralDepthIsTheImage) {
  ConvShape image{.c = 3, .h = 6, .w = 5, .k = 4, .y = 3, .x = 2};
  ConvShape volume = image;
  volume.stride.d = 3;
  volume.dilation.d = 2;
  EXPECT_EQ(volume.getOutputSizes(), image.getOutputSizes());
  const Tensor x(image.getInputSizes(), 1), w(image.getFilterSizes(), 2);
  EXPECT_EQ(convForward(volume, x.view, w.view).values,
            convForward(image, x.view, w.view).values);
}

// With stride 2 and a filter 1 10 100, pixel i of the result gets the taps of
// its parity: dy 1 2 spreads to 1 10 100+2 20 200.
TEST(ConvBackwardData, ByHand) {
  const ConvShape shape{.w = 5, .x = 3, .stride = {1, 2}};
  const Tensor w = makeTensor(shape.getFilterSizes(), {1, 10, 100});
  const Tensor dy = makeTensor(shape.getOutputSizes(), {1, 2});
  const Expected dx = convBackwardData(shape, w.view, dy.view);
  EXPECT_EQ(dx.values, (std::vector<double>{1, 10, 102, 20, 200}));
  EXPECT_EQ(dx.reductionLength, 2) << "taps 0 and 2, or tap 1";
}

// Pixels that no window reaches have a gradient of zero, and are written.
TEST(ConvBackwardData, PixelsBetweenTheWindows) {
  const ConvShape shape{.w = 7, .stride = {1, 3}};
  const Tensor w = makeTensor(shape.getFilterSizes(), {2});
  const Tensor dy = makeTensor(shape.getOutputSizes(), {1, 2, 3});
  EXPECT_EQ(convBackwardData(shape, w.view, dy.view).values,
            (std::vector<double>{2, 0, 0, 4, 0, 0, 6}));
}

// Tap t of the filter meets pixel j + t - 1: with padding 1 the outer taps lose
// one product each.
TEST(ConvBackwardWeights, ByHand) {
  const ConvShape shape{.w = 3, .x = 3, .pad = {0, 1}};
  const Tensor x = makeTensor(shape.getInputSizes(), {1, 2, 3});
  const Tensor dy = makeTensor(shape.getOutputSizes(), {10, 100, 1000});
  EXPECT_EQ(
      convBackwardWeights(shape, x.view, dy.view).values,
      (std::vector<double>{100 * 1 + 1000 * 2, 10 * 1 + 100 * 2 + 1000 * 3,
                           10 * 2 + 100 * 3}));
}

// The gradient sums over the images of a batch.
TEST(ConvBackwardWeights, SumsOverTheBatch) {
  const ConvShape shape{.n = 3};
  const Tensor x = makeTensor(shape.getInputSizes(), {1, 2, 3});
  const Tensor dy = makeTensor(shape.getOutputSizes(), {10, 100, 1000});
  const Expected dw = convBackwardWeights(shape, x.view, dy.view);
  EXPECT_EQ(dw.values, (std::vector<double>{3210}));
  EXPECT_EQ(dw.reductionLength, 3);
}

// f64 keeps what a float would lose, and has its own roundoff.
TEST(ConvTypes, DoublePrecision) {
  const ConvShape shape{.c = 2};
  const double x[] = {1, 0x1p-40}, w[] = {1, 1};
  const TensorView xView{ElementType::F64, x, getNchwStrides({1, 2, 1, 1})};
  const TensorView wView{ElementType::F64, w, getNchwStrides({1, 2, 1, 1})};
  const Expected y = convForward(shape, xView, wView);
  EXPECT_EQ(y.values, (std::vector<double>{1 + 0x1p-40}));
  EXPECT_EQ(y.unitRoundoff, 0x1p-52);
}

// Sums of i8 products are exact far beyond the integers that f32 represents,
// and no other value passes.
TEST(ConvTypes, IntegersAreExact) {
  const ConvShape shape{.c = 5000};
  const std::vector<char> x(5000, 127);
  const TensorView view{ElementType::I8, x.data(), getNchwStrides({1, 5000})};
  Expected y = convForward(shape, view, view);
  EXPECT_EQ(y.values, (std::vector<double>{5000.0 * 127 * 127}));
  int32_t found = 5000 * 127 * 127;
  const TensorView result{ElementType::I32, &found, {}};
  EXPECT_TRUE(compare(y, result).passed());
  ++found;
  EXPECT_FALSE(compare(y, result).passed());
}

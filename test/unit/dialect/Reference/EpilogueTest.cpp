//===- EpilogueTest.cpp - What follows the sum ----------------------------===//

#include "dialect/Reference/Epilogue.h"
#include "dialect/Reference/TestData.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tessera::reference;

/// Two channels of two columns with the sums 1, -2, 3, -4 in flat order.
static Expected makeExpected() {
  Expected expected;
  expected.sizes = {1, 2, 1, 2};
  expected.values = {1, -2, 3, -4};
  expected.magnitudes = {10, 10, 10, 10};
  expected.reductionLength = 100;
  return expected;
}

static TensorView viewNhwc(const float *data) {
  return {ElementType::F32, data, getNhwcStrides({1, 2, 1, 2})};
}

// The linear part is alpha sum + beta old + bias of the channel + residual.
TEST(Epilogue, LinearPart) {
  const float old[] = {1, 2, 3, 4}, residual[] = {100, 200, 300, 400};
  const float bias[] = {1000, 2000};
  const Epilogue epilogue{
      .alpha = 2,
      .beta = 10,
      .old = viewNhwc(old),
      .bias = TensorView{ElementType::F32, bias, {.channel = 1}},
      .residual = viewNhwc(residual)};
  Expected expected = makeExpected();
  applyEpilogue(epilogue, ElementType::F32, expected);
  EXPECT_EQ(expected.values, (std::vector<double>{1112, 2216, 1336, 2432}));
  EXPECT_EQ(expected.magnitudes[0], 20 + 10 + 100 + 1000);
}

// A sample uses the values that belong to its own elements.
TEST(Epilogue, SampledElements) {
  const float bias[] = {1000, 2000};
  const Epilogue epilogue{
      .bias = TensorView{ElementType::F32, bias, {.channel = 1}}};
  Expected expected = makeExpected();
  expected.indices = {3};
  expected.values = {-4};
  expected.magnitudes = {10};
  applyEpilogue(epilogue, ElementType::F32, expected);
  EXPECT_EQ(expected.values, (std::vector<double>{1996}));
}

// An identity changes neither value nor tolerance.
TEST(Epilogue, IdentityChangesNothing) {
  Expected expected = makeExpected();
  applyEpilogue({}, ElementType::F32, expected);
  EXPECT_EQ(expected.values, makeExpected().values);
  EXPECT_EQ(expected.reductionLength, 100);
}

// Each activation is evaluated on both sides of its corner; a, b, c = 2, 3,
// 0.5.
TEST(Epilogue, ActivationsByHand) {
  auto at = [](Activation activation, double v) {
    return activate(activation, {2, 3, 0.5}, v);
  };
  EXPECT_EQ(at(Activation::None, -7), -7);
  EXPECT_DOUBLE_EQ(at(Activation::Logistic, 0), 0.5);
  EXPECT_DOUBLE_EQ(at(Activation::Logistic, std::log(3)), 0.75);
  EXPECT_DOUBLE_EQ(at(Activation::Tanh, std::log(3) / 4), 1.5);
  EXPECT_EQ(at(Activation::Relu, -1), 0);
  EXPECT_EQ(at(Activation::Relu, 4), 4);
  EXPECT_DOUBLE_EQ(at(Activation::SoftRelu, 0), std::log(2));
  EXPECT_DOUBLE_EQ(at(Activation::SoftRelu, 1000), 1000);
  EXPECT_EQ(at(Activation::Abs, -3), 3);
  EXPECT_EQ(at(Activation::Power, 14.0 / 3), 4);
  EXPECT_EQ(at(Activation::Power, -1), 0) << "a negative base";
  EXPECT_EQ(at(Activation::ClippedRelu, 5), 2);
  EXPECT_EQ(at(Activation::ClippedRelu, 1), 1);
  EXPECT_EQ(at(Activation::ClippedRelu, -1), 0);
  EXPECT_EQ(at(Activation::LeakyRelu, -5), -10);
  EXPECT_EQ(at(Activation::LeakyRelu, 5), 5);
  EXPECT_DOUBLE_EQ(at(Activation::Elu, -std::log(2)), -1);
  EXPECT_EQ(at(Activation::Elu, 5), 5);
  EXPECT_EQ(at(Activation::Clamp, 1), 2);
  EXPECT_EQ(at(Activation::Clamp, 2.5), 2.5);
  EXPECT_EQ(at(Activation::Clamp, 4), 3);
}

static double getTolerance(const Expected &expected, int64_t i) {
  return expected.getRelativeTolerance() * expected.magnitudes[i];
}

// A flat part of an activation hides errors of the sum, a steep one scales
// them.
TEST(Epilogue, SlopeScalesTheTolerance) {
  const double before = getTolerance(makeExpected(), 1);
  Expected relu = makeExpected();
  applyEpilogue({.activation = Activation::Relu}, ElementType::F32, relu);
  EXPECT_EQ(getTolerance(relu, 1), 0);
  Expected leaky = makeExpected();
  applyEpilogue({.activation = Activation::LeakyRelu, .parameters = {5}},
                ElementType::F32, leaky);
  EXPECT_GT(getTolerance(leaky, 1), 5 * before);
  EXPECT_LT(getTolerance(leaky, 1), 7 * before);
}

// Results of float arithmetic on float sums pass; an activation that is left
// out or has another parameter fails.
TEST(Epilogue, ToleranceFitsFloatArithmetic) {
  constexpr int kCount = 1000;
  for (int kind = 1; kind <= static_cast<int>(Activation::Clamp); ++kind) {
    const auto activation = static_cast<Activation>(kind);
    Expected expected;
    expected.sizes = {1, kCount};
    std::vector<float> right, wrong;
    for (int i = 0; i < kCount; ++i) {
      const float sum = static_cast<float>(i - 500) / 100;
      expected.values.push_back(sum);
      expected.magnitudes.push_back(std::fabs(sum));
      right.push_back(
          static_cast<float>(activate(activation, {0.25, 1.5, 2}, sum)));
      wrong.push_back(static_cast<float>(
          activate(activation, {0.26, 1.6, 2.1}, sum + 0.001)));
    }
    applyEpilogue({.activation = activation, .parameters = {0.25, 1.5, 2}},
                  ElementType::F32, expected);
    const Strides strides = getNhwcStrides(expected.sizes);
    EXPECT_TRUE(
        compare(expected, {ElementType::F32, right.data(), strides}).passed())
        << kind;
    EXPECT_FALSE(
        compare(expected, {ElementType::F32, wrong.data(), strides}).passed())
        << kind;
  }
}

// 1 / (1 + e^95) is a subnormal f32, but e^95 is not: zero passes, too. One
// millionth does not.
TEST(Epilogue, ReciprocalsOfOverflowMayVanish) {
  Expected expected;
  expected.sizes = {};
  expected.values = {-95};
  expected.magnitudes = {95};
  applyEpilogue({.activation = Activation::Logistic}, ElementType::F32,
                expected);
  float found = 0;
  EXPECT_TRUE(compare(expected, {ElementType::F32, &found}).passed());
  found = 1e-6f;
  EXPECT_FALSE(compare(expected, {ElementType::F32, &found}).passed());
}

// Sums that are coarser than the epilogue's arithmetic stay so behind it.
TEST(Epilogue, KeepsRoundoffOfCoarseSums) {
  Expected expected = makeExpected();
  expected.unitRoundoff = 0x1p-13;
  applyEpilogue({.alpha = 0.5}, ElementType::F32, expected);
  EXPECT_EQ(expected.unitRoundoff, 0x1p-13);
}

// An exact integer sum gets only the tolerance of the epilogue's arithmetic.
TEST(Epilogue, IntegerSumsThenFloatArithmetic) {
  Expected expected = makeExpected();
  expected.unitRoundoff = getUnitRoundoff(ElementType::I8);
  applyEpilogue({.alpha = 0.1}, ElementType::F32, expected);
  EXPECT_EQ(expected.reductionLength, 8);
  EXPECT_EQ(expected.unitRoundoff, 0x1p-24);
}

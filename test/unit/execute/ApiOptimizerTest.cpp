//===- ApiOptimizerTest.cpp - Steps of Adam and AdamW on a device ---------===//
//
// Several steps are compared with a loop in double that knows the definitions
// of PyTorch and of the Transformers library, and nothing of launches.
//
//===----------------------------------------------------------------------===//

#include "test/unit/execute/ApiRowWiseFixture.h"

#include <cmath>

using namespace tessera;
using namespace tessera::test;

static constexpr float kRate = 0.0625f, kBeta1 = 0.875f, kBeta2 = 0.984375f;
static constexpr float kEpsilon = 0x1p-20f, kDecay = 0.125f;
static const std::vector<int> kLengths = {5, 7, 33};
static constexpr int kElements = 5 * 7 * 33;

namespace {
using Values = std::vector<double>;

/// What a step may do beside the usual.
struct Options {
  bool amsgrad = false, maximize = false, adamw = false;
  bool isTransformers = false, correctsBias = true;
  bool hasStepTensor = false, isScaled = false;
};

/// The values of all parameters in double.
struct Model {
  Values x, m, v, most;
  /// Values are rounded to it after each step.
  reference::ElementType type;

  void step(const Values &gradients, int number, const Options &o) {
    compute(gradients, number, o);
    for (Values *values : {&x, &m, &v, &most})
      for (double &value : *values)
        value = reference::roundTo(type, value);
  }

  void compute(const Values &gradients, int number, const Options &o) {
    const double first = 1 - std::pow(kBeta1, number);
    const double second = 1 - std::pow(kBeta2, number);
    for (size_t i = 0; i < x.size(); ++i) {
      double g = o.maximize ? -gradients[i] : gradients[i];
      if (o.adamw)
        x[i] -= kRate * kDecay * x[i];
      else if (!o.isTransformers)
        g += kDecay * x[i];
      m[i] = kBeta1 * m[i] + (1 - kBeta1) * g;
      v[i] = kBeta2 * v[i] + (1 - kBeta2) * g * g;
      most[i] = std::fmax(most[i], v[i]);
      const double root = std::sqrt(o.amsgrad ? most[i] : v[i]);
      if (!o.isTransformers) {
        x[i] -= kRate / first * m[i] / (root / std::sqrt(second) + kEpsilon);
        continue;
      }
      const double size =
          o.correctsBias ? kRate * std::sqrt(second) / first : kRate;
      x[i] -= size * m[i] / (root + kEpsilon);
      x[i] -= kRate * kDecay * x[i];
    }
  }
};

class ApiOptimizer : public ApiRowWise {
protected:
  void check(miopenDataType_t type, const Options &options);
};
} // namespace

static Values getValues(const ApiTensor &tensor,
                        const std::vector<char> &bytes) {
  Values values;
  for (int i = 0; i < kElements; ++i)
    values.push_back(reference::loadElement(tensor.getType(), bytes.data(), i));
  return values;
}

static void expectNear(const char *name, const ApiTensor &tensor,
                       const Values &expected, double tolerance) {
  const Values found = getValues(tensor, tensor.read());
  for (int i = 0; i < kElements; ++i)
    ASSERT_NEAR(found[i], expected[i],
                tolerance * std::fmax(1, std::fabs(expected[i])))
        << name << " " << i;
}

void ApiOptimizer::check(miopenDataType_t type, const Options &o) {
  SCOPED_TRACE(testing::Message()
               << "type " << type << " amsgrad " << o.amsgrad << " maximize "
               << o.maximize << " adamw " << o.adamw << " transformers "
               << o.isTransformers << " corrects " << o.correctsBias
               << " tensors " << o.hasStepTensor << " scaled " << o.isScaled);
  constexpr double kScale = 1024;
  ApiTensor x(type, kLengths), m(type, kLengths), v(type, kLengths);
  ApiTensor most(type, kLengths),
      g(type, kLengths, {}, -4 * kScale, 4 * kScale);
  ApiTensor plain(type, kLengths);
  const ApiTensor &gradient = o.isScaled ? g : plain;
  for (ApiTensor *zero : {&m, &v, &most})
    zero->fill(0);
  ApiTensor step(miopenInt32, {1}), scale(miopenInt32, {1});
  ApiTensor infinite(miopenInt32, {1});
  step.fill(0);
  scale.fill(kScale);
  infinite.fill(0);
  Model model{getValues(x, x.getHost()), Values(kElements), Values(kElements),
              Values(kElements), x.getType()};
  Values gradients = getValues(gradient, gradient.getHost());
  if (o.isScaled)
    for (double &value : gradients)
      value /= kScale;
  constexpr int kSteps = 3;
  // After the steps comes one whose gradients are not finite.
  for (int number = 1; number <= kSteps + o.isScaled; ++number) {
    const bool isSkipped = number > kSteps;
    if (isSkipped)
      infinite.fill(1);
    else
      model.step(gradients, number, o);
    auto desc = [](bool isThere, const ApiTensor &tensor) {
      return isThere ? tensor.getDesc() : nullptr;
    };
    auto data = [](bool isThere, const ApiTensor &tensor) {
      return isThere ? tensor.getData() : nullptr;
    };
    if (o.isTransformers)
      ASSERT_OK(miopenTransformersAdamW(
          handle, x.getDesc(), x.getData(), gradient.getDesc(),
          gradient.getData(), m.getDesc(), m.getData(), v.getDesc(),
          v.getData(), desc(o.hasStepTensor, step), data(o.hasStepTensor, step),
          number, kRate, kBeta1, kBeta2, kDecay, kEpsilon, o.correctsBias,
          desc(o.isScaled, scale), data(o.isScaled, scale),
          desc(o.isScaled, infinite), data(o.isScaled, infinite)));
    else
      ASSERT_OK(miopenFusedAdam(
          handle, x.getDesc(), x.getData(), gradient.getDesc(),
          gradient.getData(), m.getDesc(), m.getData(), v.getDesc(),
          v.getData(), desc(o.amsgrad, most), data(o.amsgrad, most),
          desc(o.hasStepTensor, step), data(o.hasStepTensor, step), number,
          kRate, kBeta1, kBeta2, kDecay, kEpsilon, o.amsgrad, o.maximize,
          o.adamw, desc(o.isScaled, scale), data(o.isScaled, scale),
          desc(o.isScaled, infinite), data(o.isScaled, infinite)));
  }
  // Each step computes in f32, or f64, and may round in another direction than
  // the model.
  const double tolerance = type == miopenDouble  ? 1e-13
                           : type == miopenFloat ? 4e-6
                                                 : 0x1p-9;
  expectNear("param", x, model.x, tolerance);
  expectNear("expAvg", m, model.m, tolerance);
  expectNear("expAvgSq", v, model.v, tolerance);
  if (o.amsgrad)
    expectNear("maxExpAvgSq", most, model.most, tolerance);
  if (o.hasStepTensor) {
    EXPECT_EQ(reference::loadElement(step.getType(), step.read().data(), 0),
              kSteps);
  }
}

// Three steps of every variant, with the number of the step in host memory, and
// with the step, the scale and the flag in device memory, where the fourth step
// is left out.
TEST_F(ApiOptimizer, Adam) {
  for (miopenDataType_t type : {miopenFloat, miopenHalf, miopenDouble})
    for (int bits = 0; bits < 8; ++bits)
      for (bool onDevice : {false, true})
        check(type, {.amsgrad = bool(bits & 1),
                     .maximize = bool(bits & 2),
                     .adamw = bool(bits & 4),
                     .hasStepTensor = onDevice,
                     .isScaled = onDevice && type != miopenHalf});
  check(miopenFloat, {.isScaled = true});
}

TEST_F(ApiOptimizer, TransformersAdamW) {
  for (miopenDataType_t type : {miopenFloat, miopenDouble})
    for (bool corrects : {false, true})
      for (bool onDevice : {false, true})
        check(type, {.isTransformers = true,
                     .correctsBias = corrects,
                     .hasStepTensor = onDevice,
                     .isScaled = onDevice});
}

// A step to other tensors of other strides leaves the old ones as they are; the
// copy in half is the new parameter, rounded.
TEST_F(ApiOptimizer, WithOutput) {
  ApiTensor x(miopenFloat, kLengths), g(miopenHalf, kLengths);
  ApiTensor m(miopenFloat, kLengths), v(miopenFloat, kLengths, {}, 0.5, 4);
  ApiTensor newX(miopenFloat, kLengths, getChannelsLast(kLengths));
  ApiTensor newM(miopenFloat, kLengths), newV(miopenFloat, kLengths);
  ApiTensor half(miopenHalf, kLengths), step(miopenInt32, {1});
  ApiTensor newStep(miopenInt32, {1});
  step.fill(41);
  for (ApiTensor *result : {&newX, &newM, &newV, &half, &newStep})
    result->poison();
  ASSERT_OK(miopenFusedAdamWithOutput(
      handle, x.getDesc(), x.getData(), newX.getDesc(), newX.getData(),
      half.getDesc(), half.getData(), g.getDesc(), g.getData(), m.getDesc(),
      m.getData(), newM.getDesc(), newM.getData(), v.getDesc(), v.getData(),
      newV.getDesc(), newV.getData(), nullptr, nullptr, nullptr, nullptr,
      step.getDesc(), step.getData(), newStep.getDesc(), newStep.getData(), 0,
      kRate, kBeta1, kBeta2, kDecay, kEpsilon, false, false, true, nullptr,
      nullptr, nullptr, nullptr));
  EXPECT_EQ(x.read(), x.getHost());
  Model model{getValues(x, x.getHost()), getValues(m, m.getHost()),
              getValues(v, v.getHost()), Values(kElements), x.getType()};
  model.step(getValues(g, g.getHost()), 42, {.adamw = true});
  expectNear("expAvg", newM, model.m, 1e-6);
  expectNear("param in half", half, model.x, 0x1p-11 * 1.01);
  EXPECT_EQ(reference::loadElement(step.getType(), newStep.read().data(), 0),
            42);
  const std::vector<char> found = newX.read();
  const auto operand = newX.getOperand(reference::RowRole::Output, found);
  for (int i = 0; i < kElements; ++i)
    ASSERT_NEAR(reference::loadElement(
                    operand.type, found.data(),
                    operand.getOffset({i / 231, i / 33 % 7, i % 33})),
                model.x[i], 4e-6 * std::fmax(1, std::fabs(model.x[i])));
}

TEST_F(ApiOptimizer, Refusals) {
  ApiTensor x(miopenFloat, {6}), half(miopenHalf, {6}), five(miopenFloat, {5});
  ApiTensor words(miopenInt32, {6});
  auto run = [&](const ApiTensor &param, const ApiTensor &grad,
                 const ApiTensor *step, bool amsgrad) {
    return miopenFusedAdam(
        handle, param.getDesc(), param.getData(), grad.getDesc(),
        grad.getData(), param.getDesc(), param.getData(), param.getDesc(),
        param.getData(), nullptr, nullptr, step ? step->getDesc() : nullptr,
        step ? step->getData() : nullptr, 1, kRate, kBeta1, kBeta2, kDecay,
        kEpsilon, amsgrad, false, false, nullptr, nullptr, nullptr, nullptr);
  };
  EXPECT_EQ(run(x, half, nullptr, false), miopenStatusBadParm);
  EXPECT_EQ(run(x, five, nullptr, false), miopenStatusBadParm);
  EXPECT_EQ(run(x, x, nullptr, true), miopenStatusBadParm);
  EXPECT_STREQ(tesseraGetLastErrorMessage(),
               "miopenFusedAdamWithOutput: AMSGrad needs maxExpAvgSq");
  EXPECT_EQ(run(x, x, &words, false), miopenStatusBadParm);
  EXPECT_STREQ(tesseraGetLastErrorMessage(),
               "miopenFusedAdamWithOutput: stateStep has 6 elements, not 1");
  ApiTensor m(miopenInt32, {6}), v(miopenInt32, {6});
  EXPECT_EQ(miopenFusedAdam(handle, words.getDesc(), words.getData(),
                            words.getDesc(), words.getData(), m.getDesc(),
                            m.getData(), v.getDesc(), v.getData(), nullptr,
                            nullptr, nullptr, nullptr, 1, kRate, kBeta1, kBeta2,
                            kDecay, kEpsilon, false, false, false, nullptr,
                            nullptr, nullptr, nullptr),
            miopenStatusNotImplemented);
}

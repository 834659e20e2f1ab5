//===- ApiActivationTest.cpp - miopenActivation* on a device --------------===//

#include "test/unit/execute/ApiRowWiseFixture.h"

using namespace tessera::test;

static const float kOne = 1, kZero = 0;
static constexpr miopenDataType_t kHalves[] = {miopenHalf, miopenBFloat16,
                                               miopenFloat};

namespace {
/// Parameters that an f32 represents exactly and for which the result of every
/// mode is finite.
constexpr double kA = 1.25, kB = 0.5, kC = 1.75;

class ApiActivation : public ApiRowWise {
protected:
  void SetUp() override {
    ApiRowWise::SetUp();
    ASSERT_OK(miopenCreateActivationDescriptor(&activation));
  }
  void TearDown() override {
    EXPECT_OK(miopenDestroyActivationDescriptor(activation));
    ApiRowWise::TearDown();
  }
  void setMode(int mode) {
    EXPECT_OK(miopenSetActivationDescriptor(
        activation, static_cast<miopenActivationMode_t>(mode), kA, kB, kC));
  }
  miopenStatus_t forward(const ApiTensor &x, const ApiTensor &y,
                         const void *alpha = &kOne, const void *beta = &kZero) {
    return miopenActivationForward(handle, activation, alpha, x.getDesc(),
                                   x.getData(), beta, y.getDesc(), y.getData());
  }
  miopenStatus_t backward(const ApiTensor &x, const ApiTensor &y,
                          const ApiTensor &dy, const ApiTensor &dx) {
    return miopenActivationBackward(handle, activation, &kOne, y.getDesc(),
                                    y.getData(), dy.getDesc(), dy.getData(),
                                    x.getDesc(), x.getData(), &kZero,
                                    dx.getDesc(), dx.getData());
  }

  miopenActivationDescriptor_t activation = nullptr;
};
} // namespace

// Tests all ten modes in all types on a packed tensor with an odd number of
// elements.
TEST_F(ApiActivation, Forward) {
  for (miopenDataType_t type : kHalves)
    for (int mode = 0; mode <= miopenActivationELU; ++mode) {
      setMode(mode);
      ApiTensor x(type, {3, 5, 7, 9}), y(type, {3, 5, 7, 9});
      y.poison();
      ASSERT_OK(forward(x, y));
      expectRight("activ_fwd", mode, {&x}, {&y}, {kA, kB, kC});
    }
}

// Tests the gradients of all modes. y holds arbitrary numbers, because the
// formula takes y as it is instead of computing it from x.
TEST_F(ApiActivation, Backward) {
  const std::vector<int> lengths = {3, 5, 7, 9};
  for (miopenDataType_t type : kHalves)
    for (int mode = 0; mode <= miopenActivationELU; ++mode) {
      setMode(mode);
      ApiTensor x(type, lengths), y(type, lengths), dy(type, lengths);
      ApiTensor dx(type, lengths);
      dx.poison();
      ASSERT_OK(backward(x, y, dy, dx));
      expectRight("activ_bwd", mode, {&x, &y, &dy}, {&dx}, {kA, kB, kC});
    }
}

// Input and output may differ in their strides: gaps between rows, channels
// last, channels first. Tensors of other ranks work as well.
TEST_F(ApiActivation, Strides) {
  setMode(miopenActivationELU);
  const std::vector<int> lengths = {2, 6, 5, 7};
  ApiTensor gaps(miopenHalf, lengths, {300, 48, 9, 1});
  ApiTensor last(miopenHalf, lengths, getChannelsLast(lengths));
  ApiTensor first(miopenHalf, lengths);
  for (const ApiTensor *x : {&gaps, &last, &first})
    for (const ApiTensor *shape : {&gaps, &last, &first}) {
      ApiTensor y(miopenHalf, lengths,
                  shape == &gaps   ? std::vector<int>{300, 48, 9, 1}
                  : shape == &last ? getChannelsLast(lengths)
                                   : std::vector<int>());
      y.poison();
      ASSERT_OK(forward(*x, y));
      expectRight("activ_fwd", miopenActivationELU, {x}, {&y}, {kA, kB, kC});
    }
  for (const std::vector<int> &odd :
       {std::vector<int>{1}, std::vector<int>{2049},
        std::vector<int>{3, 4, 5, 6, 7}}) {
    ApiTensor x(miopenFloat, odd), y(miopenFloat, odd);
    y.poison();
    ASSERT_OK(forward(x, y));
    expectRight("activ_fwd", miopenActivationELU, {&x}, {&y}, {kA, kB, kC});
  }
}

// The result may overwrite an input: y in the memory of x, dx in that of dy.
TEST_F(ApiActivation, InPlace) {
  setMode(miopenActivationRELU);
  const std::vector<int> lengths = {2, 3, 4, 5};
  ApiTensor x(miopenBFloat16, lengths);
  ASSERT_OK(forward(x, x));
  expectRight("activ_fwd", miopenActivationRELU, {&x}, {&x}, {kA, kB, kC});
  ApiTensor in(miopenFloat, lengths), y(miopenFloat, lengths);
  ApiTensor dy(miopenFloat, lengths);
  ASSERT_OK(backward(in, y, dy, dy));
  expectRight("activ_bwd", miopenActivationRELU, {&in, &y, &dy}, {&dy},
              {kA, kB, kC});
}

// What MIOpen refuses is refused with MIOpen's status and a message.
TEST_F(ApiActivation, Refusals) {
  setMode(miopenActivationRELU);
  ApiTensor x(miopenFloat, {2, 3, 4, 5}), other(miopenFloat, {2, 3, 5, 4});
  ApiTensor half(miopenHalf, {2, 3, 4, 5});
  EXPECT_EQ(forward(x, x, &kZero), miopenStatusUnknownError);
  EXPECT_EQ(forward(x, x, &kOne, &kOne), miopenStatusUnknownError);
  EXPECT_EQ(forward(x, other), miopenStatusBadParm);
  EXPECT_EQ(forward(x, half), miopenStatusBadParm);
  EXPECT_STREQ(tesseraGetLastErrorMessage(),
               "miopenActivationForward: x and y have different data types");
  ApiTensor words(miopenInt64, {4});
  EXPECT_EQ(forward(words, words), miopenStatusNotImplemented);
  EXPECT_NE(std::string(tesseraGetLastErrorMessage())
                .find("activ_fwd has no arithmetic for i64"),
            std::string::npos);
}

// All modes in f64, right to some units of f64: exponentials and logarithms
// are not those of f32. The wide range reaches where they overflow.
TEST_F(ApiActivation, Doubles) {
  const double one = 1, zero = 0;
  for (int mode = 0; mode <= miopenActivationELU; ++mode)
    for (double most : {4.0, 900.0}) {
      setMode(mode);
      ApiTensor x(miopenDouble, {5, 37}, {}, -most, most);
      ApiTensor y(miopenDouble, {5, 37}), dy(miopenDouble, {5, 37});
      y.poison();
      ASSERT_OK(forward(x, y, &one, &zero));
      expectRight("activ_fwd", mode, {&x}, {&y}, {kA, kB, kC});
      ApiTensor old(miopenDouble, {5, 37}), dx(miopenDouble, {5, 37});
      dx.poison();
      ASSERT_OK(miopenActivationBackward(
          handle, activation, &one, old.getDesc(), old.getData(), dy.getDesc(),
          dy.getData(), x.getDesc(), x.getData(), &zero, dx.getDesc(),
          dx.getData()));
      expectRight("activ_bwd", mode, {&x, &old, &dy}, {&dx}, {kA, kB, kC});
    }
}

// Integers are computed in f64, rounded to the nearest and clamped to the range
// of their type, in both directions.
TEST_F(ApiActivation, Integers) {
  for (auto [type, most] :
       {std::pair(miopenInt8, 127.0), std::pair(miopenInt32, 0x1p30)})
    for (int mode = 0; mode <= miopenActivationELU; ++mode) {
      setMode(mode);
      ApiTensor x(type, {3, 41}, {}, -most, most), y(type, {3, 41});
      y.poison();
      ASSERT_OK(forward(x, y));
      expectRight("activ_fwd", mode, {&x}, {&y}, {kA, kB, kC});
      ApiTensor old(type, {3, 41}), dy(type, {3, 41}), dx(type, {3, 41});
      dx.poison();
      ASSERT_OK(backward(x, old, dy, dx));
      expectRight("activ_bwd", mode, {&x, &old, &dy}, {&dx}, {kA, kB, kC});
    }
}

// Tests the gradients of a PReLU with one slope for each channel and with one
// for all channels; a client may ask for both results or for one of them.
TEST_F(ApiActivation, PReluBackward) {
  for (miopenDataType_t type : kHalves)
    for (bool hasChannels : {true, false})
      for (int wanted : {1, 2, 3}) {
        const std::vector<int> lengths = {3, 6, 9, 11};
        const int slopes = hasChannels ? 6 : 1;
        ApiTensor x(type, lengths, getChannelsLast(lengths)), dy(type, lengths);
        ApiTensor w(type, {1, slopes, 1, 1}), dw(type, {1, slopes, 1, 1});
        ApiTensor dx(type, lengths), flat(type, {slopes});
        dw.poison();
        dx.poison();
        size_t bytes = 1;
        ASSERT_OK(miopenGetPReLUBackwardWorkspaceSize(handle, x.getDesc(),
                                                      flat.getDesc(), &bytes));
        EXPECT_EQ(bytes, 0u);
        const bool wantsDw = wanted & 1, wantsDx = wanted & 2;
        ASSERT_OK(miopenPReLUBackward(
            handle, nullptr, 0, x.getDesc(), x.getData(), flat.getDesc(),
            w.getData(), dy.getDesc(), dy.getData(), dx.getDesc(),
            wantsDx ? dx.getData() : nullptr, flat.getDesc(),
            wantsDw ? dw.getData() : nullptr));
        const uint32_t reduced = !wantsDw ? 0 : hasChannels ? 0b1101 : 0b1111;
        std::vector<const ApiTensor *> sums, gradients;
        if (wantsDw)
          sums.push_back(&dw);
        if (wantsDx)
          gradients.push_back(&dx);
        expectRowWiseRight("prelu_bwd", lengths, reduced, {&x, &w, &dy}, sums,
                           gradients);
      }
  ApiTensor x(miopenFloat, {2, 3}), w(miopenFloat, {2});
  EXPECT_EQ(miopenPReLUBackward(handle, nullptr, 0, x.getDesc(), x.getData(),
                                w.getDesc(), w.getData(), x.getDesc(),
                                x.getData(), x.getDesc(), x.getData(),
                                w.getDesc(), w.getData()),
            miopenStatusBadParm);
}

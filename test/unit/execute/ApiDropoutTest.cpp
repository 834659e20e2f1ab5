//===- ApiDropoutTest.cpp - Dropout, gated units, rotations on a device ---===//

#include "test/unit/execute/ApiRowWiseFixture.h"

#include <cstring>

using namespace tessera::test;

namespace {
constexpr float kRate = 0.375f;
constexpr double kScale = 1.6f; // 1 / (1 - kRate), rounded to a float.
constexpr unsigned long long kSeed = 0x123456789abcdef1;

class ApiDropout : public ApiRowWise {
protected:
  void SetUp() override {
    ApiRowWise::SetUp();
    ASSERT_OK(miopenCreateDropoutDescriptor(&dropout));
    size_t bytes = 0;
    ASSERT_OK(miopenDropoutGetStatesSize(handle, &bytes));
    // PyTorch allocates whole states of rocRAND, which have 48 bytes.
    ASSERT_GE(bytes / 48 * 48, 16u);
  }
  void TearDown() override {
    EXPECT_OK(miopenDestroyDropoutDescriptor(dropout));
    ApiRowWise::TearDown();
  }
  void set(bool useMask, bool evolves) {
    EXPECT_OK(miopenSetDropoutDescriptor(dropout, handle, kRate,
                                         states.getData(), 16, kSeed, useMask,
                                         evolves, MIOPEN_RNG_PSEUDO_XORWOW));
  }
  miopenStatus_t forward(const ApiTensor &x, const ApiTensor &y,
                         const ApiTensor *mask) {
    return miopenDropoutForward(handle, dropout, x.getDesc(), x.getDesc(),
                                x.getData(), y.getDesc(), y.getData(),
                                mask ? mask->getData() : nullptr,
                                mask ? mask->getHost().size() : 0);
  }
  miopenStatus_t backward(const ApiTensor &dy, const ApiTensor &dx,
                          const ApiTensor *mask) {
    return miopenDropoutBackward(handle, dropout, dy.getDesc(), dy.getDesc(),
                                 dy.getData(), dx.getDesc(), dx.getData(),
                                 mask ? mask->getData() : nullptr,
                                 mask ? mask->getHost().size() : 0);
  }
  /// Expects that the states hold the seed and this counter.
  void expectStates(int64_t counter) {
    const std::vector<char> bytes = states.read();
    uint64_t words[2];
    memcpy(words, bytes.data(), sizeof words);
    EXPECT_EQ(words[0], kSeed);
    EXPECT_EQ(words[1], static_cast<uint64_t>(counter));
  }

  miopenDropoutDescriptor_t dropout = nullptr;
  ApiTensor states{miopenInt64, {2}};
};

/// The fraction of the bytes in which two tensors agree.
double getFractionAlike(const std::vector<char> &a,
                        const std::vector<char> &b) {
  size_t alike = 0;
  for (size_t i = 0; i < a.size(); ++i)
    alike += a[i] == b[i];
  return static_cast<double>(alike) / static_cast<double>(a.size());
}
} // namespace

// Every element and every byte of the mask is what the generator says, in all
// types and for tensors whose order in memory differs from that of the mask.
TEST_F(ApiDropout, DrawsAndKeepsTheMask) {
  const std::vector<int> lengths = {3, 5, 7, 4};
  for (miopenDataType_t type : {miopenHalf, miopenBFloat16, miopenFloat})
    for (bool isLast : {false, true}) {
      set(/*useMask=*/false, /*evolves=*/false);
      const std::vector<int> strides =
          isLast ? getChannelsLast(lengths) : std::vector<int>();
      ApiTensor x(type, lengths, strides), y(type, lengths, strides);
      ApiTensor mask(miopenInt8, lengths);
      ApiTensor seed(miopenInt64, {1, 1, 1, 1});
      ApiTensor counter(miopenInt64, {1, 1, 1, 1});
      y.poison();
      mask.poison();
      ASSERT_OK(forward(x, y, &mask));
      expectStates(0);
      // The reference takes seed and counter as operands of their own.
      const std::vector<char> words = states.read();
      seed.setBytes({words.begin(), words.begin() + 8});
      counter.setBytes({words.begin() + 8, words.end()});
      expectRight("dropout", 1, {&x, &seed, &counter}, {&y, &mask},
                  {kRate, kScale});
    }
}

// About 3/8 of the elements are dropped. The next call drops others if the
// states evolve, and the same ones if they do not.
TEST_F(ApiDropout, EvolvesIfAsked) {
  for (bool evolves : {false, true}) {
    set(/*useMask=*/false, evolves);
    ApiTensor x(miopenFloat, {4000}), y(miopenFloat, {4000});
    ApiTensor first(miopenInt8, {4000}), second(miopenInt8, {4000});
    ASSERT_OK(forward(x, y, &first));
    ASSERT_OK(forward(x, y, &second));
    expectStates(evolves ? 8000 : 0);
    const std::vector<char> mask = first.read();
    const double kept =
        static_cast<double>(std::count(mask.begin(), mask.end(), '\1'));
    EXPECT_NEAR(kept / 4000, 0.625, 0.03);
    const double alike = getFractionAlike(mask, second.read());
    if (evolves)
      EXPECT_NEAR(alike, 0.625 * 0.625 + 0.375 * 0.375, 0.04);
    else
      EXPECT_EQ(alike, 1);
  }
}

// Backward drops what forward dropped, whether or not it is given the mask.
// Forward uses the client's mask if the descriptor says so.
TEST_F(ApiDropout, BackwardAndGivenMasks) {
  const std::vector<int> lengths = {2, 9, 11};
  set(/*useMask=*/false, /*evolves=*/false);
  ApiTensor x(miopenFloat, lengths, {}, 1, 2), y(miopenFloat, lengths);
  ApiTensor mask(miopenInt8, lengths);
  ASSERT_OK(forward(x, y, &mask));
  const std::vector<char> expected = y.read();
  ApiTensor dx(miopenFloat, lengths);
  ASSERT_OK(backward(x, dx, &mask));
  EXPECT_EQ(dx.read(), expected);
  dx.poison();
  ASSERT_OK(backward(x, dx, nullptr));
  EXPECT_EQ(dx.read(), expected);
  set(/*useMask=*/true, /*evolves=*/false);
  ApiTensor own(miopenInt8, lengths, {}, 0, 1);
  y.poison();
  ASSERT_OK(forward(x, y, &own));
  expectRight("dropout_mask", 0, {&x, &own}, {&y}, {kScale});
}

// States of the size that PyTorch makes of the size that it is told, a number
// of whole states of rocRAND, are enough.
TEST_F(ApiDropout, StatesOfWholeGenerators) {
  size_t bytes = 0;
  ASSERT_OK(miopenDropoutGetStatesSize(handle, &bytes));
  EXPECT_GT(bytes, 0u);
  EXPECT_EQ(bytes % 48, 0u);
  ApiTensor memory(miopenInt8, {static_cast<int>(bytes)});
  memory.poison();
  ASSERT_OK(miopenSetDropoutDescriptor(dropout, handle, kRate, memory.getData(),
                                       bytes / 48 * 48, kSeed, false, true,
                                       MIOPEN_RNG_PSEUDO_XORWOW));
  ApiTensor x(miopenFloat, {600}), y(miopenFloat, {600});
  ApiTensor mask(miopenInt8, {600}), next(miopenInt8, {600});
  ASSERT_OK(forward(x, y, &mask));
  ASSERT_OK(forward(x, y, &next));
  EXPECT_NE(mask.read(), next.read());
}

// Too little memory for states or mask is refused, and so are tensors whose
// types or lengths do not fit each other.
TEST_F(ApiDropout, Refusals) {
  ApiTensor x(miopenFloat, {6}), half(miopenHalf, {6}), mask(miopenInt8, {5});
  set(false, false);
  EXPECT_EQ(forward(x, x, &mask), miopenStatusUnknownError);
  EXPECT_EQ(forward(x, half, nullptr), miopenStatusBadParm);
  set(true, false);
  EXPECT_EQ(forward(x, x, nullptr), miopenStatusUnknownError);
  EXPECT_OK(miopenRestoreDropoutDescriptor(dropout, handle, kRate,
                                           states.getData(), 8, kSeed, false,
                                           false, MIOPEN_RNG_PSEUDO_XORWOW));
  EXPECT_EQ(forward(x, x, nullptr), miopenStatusUnknownError);
  EXPECT_STREQ(tesseraGetLastErrorMessage(),
               "miopenDropoutForward: the states of the dropout descriptor are "
               "too small");
}

/// Copies the first or second half of a tensor along a dimension into a packed
/// tensor.
static std::unique_ptr<ApiTensor> getHalf(const ApiTensor &whole, int dim,
                                          int half,
                                          const std::vector<char> &bytes) {
  std::vector<int> lengths = whole.getLengths();
  int inner = 1, outer = 1;
  for (size_t i = 0; i < lengths.size(); ++i)
    (static_cast<int>(i) < dim ? outer : inner) *= lengths[i];
  lengths[dim] /= 2;
  auto part = std::make_unique<ApiTensor>(miopenFloat, lengths);
  std::vector<char> own(bytes.size() / 2);
  const size_t run = static_cast<size_t>(inner) / 2 * 4;
  for (int i = 0; i < outer; ++i)
    memcpy(&own[i * run], &bytes[(2 * i + half) * run], run);
  part->setBytes(own);
  return part;
}

// Tests the gated linear unit and its gradient along each dimension; an odd
// length cannot be halved and is refused.
TEST_F(ApiDropout, GatedLinearUnits) {
  for (unsigned dim = 0; dim < 3; ++dim) {
    const std::vector<int> lengths = {4, 6, 10};
    std::vector<int> half = lengths;
    half[dim] /= 2;
    ApiTensor x(miopenFloat, lengths), y(miopenFloat, half);
    y.poison();
    ASSERT_OK(miopenGLUForward(handle, x.getDesc(), x.getData(), y.getDesc(),
                               y.getData(), dim));
    const auto a = getHalf(x, dim, 0, x.getHost());
    const auto b = getHalf(x, dim, 1, x.getHost());
    expectRight("glu_fwd", 0, {a.get(), b.get()}, {&y}, {});
    ApiTensor dy(miopenFloat, half), dx(miopenFloat, lengths);
    dx.poison();
    ASSERT_OK(miopenGLUBackward(handle, x.getDesc(), x.getData(), dy.getDesc(),
                                dy.getData(), dx.getDesc(), dx.getData(), dim));
    const std::vector<char> result = dx.read();
    const auto da = getHalf(dx, dim, 0, result);
    const auto db = getHalf(dx, dim, 1, result);
    expectRight("glu_bwd", 0, {a.get(), b.get(), &dy}, {da.get(), db.get()},
                {});
  }
  ApiTensor odd(miopenFloat, {3, 2});
  EXPECT_EQ(miopenGLUForward(handle, odd.getDesc(), odd.getData(),
                             odd.getDesc(), odd.getData(), 0),
            miopenStatusBadParm);
}

// Pairs of elements are rotated as the documentation of miopenRoPEForward says,
// by the given cosines and sines. The gradient is the transpose of that map.
TEST_F(ApiDropout, RotaryEmbedding) {
  for (miopenDataType_t type : {miopenFloat, miopenHalf, miopenBFloat16}) {
    const std::vector<int> lengths = {2, 5, 6}, angles = {1, 5, 6};
    ApiTensor x(type, lengths), y(type, lengths), dx(type, lengths);
    ApiTensor cos(type, angles, {}, -1, 1), sin(type, angles, {}, -1, 1);
    y.poison();
    dx.poison();
    ASSERT_OK(miopenRoPEForward(handle, x.getDesc(), x.getData(), cos.getDesc(),
                                cos.getData(), sin.getDesc(), sin.getData(),
                                y.getDesc(), y.getData()));
    ASSERT_OK(miopenRoPEBackward(handle, x.getDesc(), x.getData(),
                                 cos.getDesc(), cos.getData(), sin.getDesc(),
                                 sin.getData(), dx.getDesc(), dx.getData()));
    const std::vector<char> forward = y.read(), backward = dx.read();
    auto load = [&](const std::vector<char> &bytes, int i) {
      return loadElement(x.getType(), bytes.data(), i);
    };
    const double precision = type == miopenFloat ? 1e-6 : 1e-2;
    for (int i = 0; i < 60; ++i) {
      const int angle = i % 30, other = i ^ 1;
      const double sign = i % 2 ? 1 : -1;
      auto at = [&](int j) { return load(x.getHost(), j); };
      const double straight = at(i) * load(cos.getHost(), angle);
      EXPECT_NEAR(load(forward, i),
                  straight + sign * at(other) * load(sin.getHost(), angle),
                  8 * precision);
      EXPECT_NEAR(load(backward, i),
                  straight - sign * at(other) * load(sin.getHost(), angle ^ 1),
                  8 * precision);
    }
  }
  ApiTensor x(miopenFloat, {6}), odd(miopenFloat, {3}), four(miopenFloat, {4});
  for (const ApiTensor *angle : {&odd, &four})
    EXPECT_EQ(miopenRoPEForward(handle, x.getDesc(), x.getData(),
                                angle->getDesc(), angle->getData(),
                                angle->getDesc(), angle->getData(), x.getDesc(),
                                x.getData()),
              miopenStatusBadParm);
}

//===- ApiMisalignedTest.cpp - Pointers into the middle of tensors --------===//
//
// A client may pass part of a tensor, whose begin is aligned to an element and
// not to the widest access. dnn-sweep --misaligned tests this on random
// problems; here are the calls of a client, for whom it makes no difference.
//
//===----------------------------------------------------------------------===//

#include "capi/lib/Common/Library.h"
#include "test/unit/execute/ApiRowWiseFixture.h"

using namespace tessera;
using namespace tessera::test;

static const float kOne = 1, kZero = 0;

namespace {
class ApiMisaligned : public ApiRowWise {
protected:
  void SetUp() override {
    ApiRowWise::SetUp();
    ASSERT_OK(miopenCreateActivationDescriptor(&activation));
    ASSERT_OK(miopenSetActivationDescriptor(activation, miopenActivationRELU, 0,
                                            0, 0));
  }
  void TearDown() override {
    EXPECT_OK(miopenDestroyActivationDescriptor(activation));
    ApiRowWise::TearDown();
  }
  miopenStatus_t activate(miopenTensorDescriptor_t desc, const void *x,
                          void *y) {
    return miopenActivationForward(handle, activation, &kOne, desc, x, &kZero,
                                   desc, y);
  }
  static uint64_t countCompiled() {
    return (*capi::getEngine())->getCounters().compiled;
  }

  miopenActivationDescriptor_t activation = nullptr;
};
} // namespace

/// Returns the address of the second element of a tensor of type half.
static void *skipOne(const ApiTensor &tensor) {
  return static_cast<char *>(tensor.getData()) + sizeof(uint16_t);
}

// Computes all elements but the first. Their kernel is compiled once, touches
// no other element and is right; the kernel for whole tensors is kept as well.
TEST_F(ApiMisaligned, RunsOnPartOfATensor) {
  constexpr int kCount = 1032;
  ApiTensor x(miopenHalf, {kCount + 1}), y(miopenHalf, {kCount + 1});
  ApiTensor part(miopenHalf, {kCount});
  ASSERT_OK(activate(part.getDesc(), x.getData(), y.getData()));
  y.poison();
  const uint64_t before = countCompiled();
  for (int call = 0; call < 2; ++call)
    ASSERT_OK(activate(part.getDesc(), skipOne(x), skipOne(y)));
  EXPECT_EQ(countCompiled(), before + 1);
  std::vector<char> result = y.read();
  EXPECT_EQ(result[0], '\xff');
  EXPECT_EQ(result[1], '\xff');
  // The first element was left out above: compute it for the comparison.
  ASSERT_OK(
      activate(ApiTensor(miopenHalf, {1}).getDesc(), x.getData(), y.getData()));
  expectRight("activ_fwd", miopenActivationRELU, {&x}, {&y}, {0, 0, 0});
}

// An address that is no multiple of the element size is refused with a message,
// and nothing is launched.
TEST_F(ApiMisaligned, RefusesWhatIsNoElement) {
  ApiTensor x(miopenFloat, {64}), y(miopenFloat, {64}), part(miopenFloat, {32});
  y.poison();
  EXPECT_EQ(activate(part.getDesc(), skipOne(x), y.getData()),
            miopenStatusBadParm);
  EXPECT_NE(std::string(tesseraGetLastErrorMessage())
                .find("t0 begins at no multiple of 4 bytes"),
            std::string::npos)
      << tesseraGetLastErrorMessage();
  EXPECT_EQ(y.read()[0], '\xff');
}

// Convolves one image of a batch. The images have an odd number of elements, so
// that the second one is misaligned for execution and for Find.
TEST_F(ApiMisaligned, Convolves) {
  const std::vector<int> all = {2, 3, 7, 7}, one = {1, 3, 7, 7};
  ApiTensor x(miopenHalf, all), w(miopenHalf, {8, 3, 3, 3});
  ApiTensor y(miopenHalf, {2, 8, 5, 5}), expected(miopenHalf, {2, 8, 5, 5});
  ApiTensor xOne(miopenHalf, one), yOne(miopenHalf, {1, 8, 5, 5});
  miopenConvolutionDescriptor_t conv;
  ASSERT_OK(miopenCreateConvolutionDescriptor(&conv));
  ASSERT_OK(miopenInitConvolutionDescriptor(conv, miopenConvolution, 0, 0, 1, 1,
                                            1, 1));
  auto run = [&](const ApiTensor &xs, const void *xData, const ApiTensor &ys,
                 void *yData) {
    return miopenConvolutionForward(handle, &kOne, xs.getDesc(), xData,
                                    w.getDesc(), w.getData(), conv,
                                    miopenConvolutionFwdAlgoDirect, &kZero,
                                    ys.getDesc(), yData, nullptr, 0);
  };
  ASSERT_OK(run(x, x.getData(), expected, expected.getData()));
  y.poison();
  ASSERT_OK(run(xOne, x.getData(), yOne, y.getData()));
  constexpr int kImage = 3 * 7 * 7, kResult = 8 * 5 * 5;
  auto *second = static_cast<_Float16 *>(x.getData()) + kImage;
  auto *into = static_cast<_Float16 *>(y.getData()) + kResult;
  ASSERT_EQ(reinterpret_cast<uintptr_t>(second) % 4, 2u);
  ASSERT_OK(run(xOne, second, yOne, into));
  // Both kernels add in f32, in different orders.
  const std::vector<char> got = y.read(), wanted = expected.read();
  for (size_t i = 0; i < 2 * kResult; ++i)
    EXPECT_NEAR(
        static_cast<float>(reinterpret_cast<const _Float16 *>(got.data())[i]),
        static_cast<float>(
            reinterpret_cast<const _Float16 *>(wanted.data())[i]),
        0.06) // Two units in the last place of 32: no sum is larger here.
        << i;
  int count = 0;
  miopenConvAlgoPerf_t perf;
  EXPECT_OK(miopenFindConvolutionForwardAlgorithm(
      handle, xOne.getDesc(), second, w.getDesc(), w.getData(), conv,
      yOne.getDesc(), into, 1, &count, &perf, nullptr, 0, false));
  EXPECT_OK(miopenDestroyConvolutionDescriptor(conv));
}

//===- ApiTypesTest.cpp - Types that operations do not have ---------------===//

#include "test/unit/execute/ApiRowWiseFixture.h"

using namespace tessera::test;

static float one = 1, zero = 0;

namespace {
/// The parameter is a type of integers, for which only element-wise operations
/// are implemented.
class ApiTypes : public ApiRowWise,
                 public ::testing::WithParamInterface<miopenDataType_t> {
protected:
  void expectRefused(miopenStatus_t status) {
    EXPECT_EQ(status, miopenStatusNotImplemented);
    const std::string message = tesseraGetLastErrorMessage();
    EXPECT_NE(message.find("data type " + std::to_string(GetParam()) +
                           " is not implemented here; half, bfloat16, float "
                           "and double are"),
              std::string::npos)
        << message;
  }

  ApiTensor x{GetParam(), {2, 4, 3, 5}}, y{GetParam(), {2, 4, 3, 5}};
  ApiTensor channels{miopenFloat, {1, 4, 1, 1}};
};
} // namespace

TEST_P(ApiTypes, SoftmaxIsRefused) {
  expectRefused(miopenSoftmaxForward(handle, &one, x.getDesc(), x.getData(),
                                     &zero, y.getDesc(), y.getData()));
  expectRefused(miopenSoftmaxBackward(handle, &one, x.getDesc(), x.getData(),
                                      x.getDesc(), x.getData(), &zero,
                                      y.getDesc(), y.getData()));
}

TEST_P(ApiTypes, ReductionsAreRefused) {
  miopenReduceTensorDescriptor_t reduction;
  ASSERT_OK(miopenCreateReduceTensorDescriptor(&reduction));
  for (int op = 0; op <= MIOPEN_REDUCE_TENSOR_NORM2; ++op) {
    ASSERT_OK(miopenSetReduceTensorDescriptor(
        reduction, static_cast<miopenReduceTensorOp_t>(op), miopenFloat,
        MIOPEN_NOT_PROPAGATE_NAN, MIOPEN_REDUCE_TENSOR_NO_INDICES,
        MIOPEN_32BIT_INDICES));
    for (const ApiTensor *in : {&x, &channels}) {
      ApiTensor sum(in == &x ? miopenFloat : GetParam(), {1, 4, 1, 1});
      ApiTensor all(GetParam(), {1, 1, 1, 1});
      expectRefused(miopenReduceTensor(handle, reduction, nullptr, 0, nullptr,
                                       0, &one, in->getDesc(), in->getData(),
                                       &zero, (in == &x ? sum : all).getDesc(),
                                       (in == &x ? sum : all).getData()));
    }
  }
  ASSERT_OK(miopenDestroyReduceTensorDescriptor(reduction));
  ApiTensor along(GetParam(), {2, 4, 3});
  expectRefused(miopenReduceCalculationForward(
      handle, MIOPEN_REDUCE_CALCULATION_PROPAGATE_NAN, nullptr, 0, x.getDesc(),
      x.getData(), 3, MIOPEN_REDUCE_CALCULATION_SUM, along.getDesc(),
      along.getData()));
}

TEST_P(ApiTypes, BatchNormIsRefused) {
  expectRefused(miopenBatchNormalizationForwardInference(
      handle, miopenBNSpatial, &one, &zero, x.getDesc(), x.getData(),
      y.getDesc(), y.getData(), channels.getDesc(), channels.getData(),
      channels.getData(), channels.getData(), channels.getData(), 1e-5));
}

TEST_P(ApiTypes, LayerNormIsRefused) {
  ApiTensor mean(miopenFloat, {2, 4, 3, 1}), rstd(miopenFloat, {2, 4, 3, 1});
  ApiTensor floats(miopenFloat, {2, 4, 3, 5}),
      result(miopenFloat, {2, 4, 3, 5});
  ApiTensor weight(GetParam(), {5});
  auto run = [&](const ApiTensor &in, const ApiTensor &out) {
    return miopenLayerNormForward(
        handle, MIOPEN_WEIGHT_BIAS, in.getDesc(), in.getData(),
        weight.getDesc(), weight.getData(), weight.getDesc(), weight.getData(),
        1e-5f, 3, out.getDesc(), out.getData(), mean.getDesc(), mean.getData(),
        rstd.getDesc(), rstd.getData());
  };
  expectRefused(run(x, y));
  expectRefused(run(floats, result)); // The weights are of that type.
}

TEST_P(ApiTypes, LrnIsRefused) {
  miopenLRNDescriptor_t lrn;
  ASSERT_OK(miopenCreateLRNDescriptor(&lrn));
  ASSERT_OK(miopenSetLRNDescriptor(lrn, miopenLRNCrossChannel, 3, 1, 0.75, 1));
  expectRefused(miopenLRNForward(handle, lrn, &one, x.getDesc(), x.getData(),
                                 &zero, y.getDesc(), y.getData(), false,
                                 nullptr));
  ASSERT_OK(miopenDestroyLRNDescriptor(lrn));
}

// What contradicts itself is reported first.
TEST_P(ApiTypes, MistakesComeFirst) {
  ApiTensor other(GetParam(), {2, 4, 5, 3});
  EXPECT_EQ(miopenSoftmaxForward(handle, &one, x.getDesc(), x.getData(), &zero,
                                 other.getDesc(), other.getData()),
            miopenStatusBadParm);
}

INSTANTIATE_TEST_SUITE_P(Integers, ApiTypes,
                         testing::Values(miopenInt8, miopenInt32, miopenInt64));

//===- ApiNormTest.cpp - Layer and group normalisation on a device --------===//

#include "test/unit/execute/ApiRowWiseFixture.h"

using namespace tessera::test;

static constexpr float kEpsilon = 0x1p-10f;

namespace {
class ApiNorm : public ApiRowWise {};
} // namespace

// Normalises over the last two dimensions, with and without weights and
// statistics, in all types.
TEST_F(ApiNorm, Layer) {
  for (miopenDataType_t type : {miopenHalf, miopenBFloat16, miopenFloat}) {
    ApiTensor x(type, {3, 5, 7, 9}), y(type, {3, 5, 7, 9});
    ApiTensor weight(type, {1, 1, 7, 9}), bias(type, {1, 1, 7, 9});
    ApiTensor mean(miopenFloat, {3, 5, 1, 1}), rstd(miopenFloat, {3, 5, 1, 1});
    for (ApiTensor *result : {&y, &mean, &rstd})
      result->poison();
    ASSERT_OK(miopenLayerNormForward(
        handle, MIOPEN_WEIGHT_BIAS, x.getDesc(), x.getData(), weight.getDesc(),
        weight.getData(), bias.getDesc(), bias.getData(), kEpsilon, 2,
        y.getDesc(), y.getData(), mean.getDesc(), mean.getData(),
        rstd.getDesc(), rstd.getData()));
    expectRight("norm_fwd", 2 + 4 + 8 + 16, {&x, &weight, &bias},
                {&mean, &rstd, &y}, {kEpsilon}, 0b1100);
    y.poison();
    ASSERT_OK(miopenLayerNormForward(
        handle, MIOPEN_ELEMENTWISE_AFFINE, x.getDesc(), x.getData(), nullptr,
        nullptr, nullptr, nullptr, kEpsilon, 2, y.getDesc(), y.getData(),
        nullptr, nullptr, nullptr, nullptr));
    expectRight("norm_fwd", 0, {&x}, {&y}, {kEpsilon}, 0b1100);
  }
}

// Two tensors are added before they are normalised over the last dimension,
// the only one that the parameters have.
TEST_F(ApiNorm, AddLayer) {
  ApiTensor x(miopenHalf, {6, 5, 33}), x2(miopenHalf, {6, 5, 33});
  ApiTensor y(miopenHalf, {6, 5, 33});
  ApiTensor weight(miopenHalf, {1, 1, 33}), bias(miopenHalf, {1, 1, 33});
  ApiTensor mean(miopenHalf, {6, 5, 1}), rstd(miopenHalf, {6, 5, 1});
  for (ApiTensor *result : {&y, &mean, &rstd})
    result->poison();
  ASSERT_OK(miopenAddLayerNormForward(
      handle, MIOPEN_WEIGHT_BIAS_FUSED_ADD, x.getDesc(), x.getData(),
      x2.getDesc(), x2.getData(), weight.getDesc(), weight.getData(),
      bias.getDesc(), bias.getData(), kEpsilon, 2, y.getDesc(), y.getData(),
      mean.getDesc(), mean.getData(), rstd.getDesc(), rstd.getData()));
  expectRight("norm_fwd", 1 + 2 + 4 + 8 + 16, {&x, &x2, &weight, &bias},
              {&mean, &rstd, &y}, {kEpsilon}, 0b100);
}

// Tests T5's layer normalisation and both of its gradients.
TEST_F(ApiNorm, T5) {
  for (miopenDataType_t type : {miopenHalf, miopenFloat}) {
    ApiTensor x(type, {6, 5, 33}), y(type, {6, 5, 33});
    ApiTensor weight(type, {1, 1, 33}), rstd(miopenFloat, {6, 5, 1});
    y.poison();
    rstd.poison();
    ASSERT_OK(miopenT5LayerNormForward(
        handle, MIOPEN_WEIGHT_BIAS_T5, x.getDesc(), x.getData(),
        weight.getDesc(), weight.getData(), kEpsilon, y.getDesc(), y.getData(),
        rstd.getDesc(), rstd.getData()));
    expectRight("norm_fwd", 2 + 16 + 32, {&x, &weight}, {&rstd, &y}, {kEpsilon},
                0b100);
    rstd.setBytes(rstd.read());
    ApiTensor dy(type, {6, 5, 33}), dx(type, {6, 5, 33});
    ApiTensor dw(type, {1, 1, 33});
    dx.poison();
    dw.poison();
    ASSERT_OK(miopenT5LayerNormBackward(
        handle, MIOPEN_WEIGHT_BIAS_T5, nullptr, 0, dy.getDesc(), dy.getData(),
        x.getDesc(), x.getData(), weight.getDesc(), weight.getData(),
        rstd.getDesc(), rstd.getData(), dx.getDesc(), dx.getData(),
        dw.getDesc(), dw.getData()));
    expectRight("t5_bwd", 1, {&x, &dy, &rstd, &weight}, {&dx}, {}, 0b100);
    expectRight("t5_bwd_weight", 0, {&x, &dy, &rstd}, {&dw}, {}, 0b011);
  }
}

// Normalises over groups of channels, which are a dimension of their own in the
// reference.
TEST_F(ApiNorm, Group) {
  ApiTensor x(miopenHalf, {3, 6, 5, 7}), y(miopenHalf, {3, 6, 5, 7});
  ApiTensor weight(miopenHalf, {6}), bias(miopenHalf, {6});
  ApiTensor mean(miopenFloat, {3, 2}), rstd(miopenFloat, {3, 2});
  for (ApiTensor *result : {&y, &mean, &rstd})
    result->poison();
  ASSERT_OK(miopenGroupNormForward(
      handle, MIOPEN_WEIGHT_BIAS, x.getDesc(), x.getData(), weight.getDesc(),
      weight.getData(), bias.getDesc(), bias.getData(), 2, kEpsilon,
      y.getDesc(), y.getData(), mean.getDesc(), mean.getData(), rstd.getDesc(),
      rstd.getData()));
  ApiTensor sx(miopenHalf, {3, 2, 3, 35}), sy(miopenHalf, {3, 2, 3, 35});
  ApiTensor sw(miopenHalf, {1, 2, 3, 1}), sb(miopenHalf, {1, 2, 3, 1});
  ApiTensor sm(miopenFloat, {3, 2, 1, 1}), sr(miopenFloat, {3, 2, 1, 1});
  sx.setBytes(x.getHost());
  sw.setBytes(weight.getHost());
  sb.setBytes(bias.getHost());
  sy.setBytes(y.read());
  sm.setBytes(mean.read());
  sr.setBytes(rstd.read());
  expectRight("norm_fwd", 2 + 4 + 8 + 16, {&sx, &sw, &sb}, {&sm, &sr, &sy},
              {kEpsilon}, 0b1100);
}

// Images with depth have six dimensions once their channels are split into
// groups, and a problem has at most five. Where the planes lie together in
// memory, dimensions are merged; where they have gaps, the call is refused.
TEST_F(ApiNorm, GroupWithDepth) {
  const std::vector<int> lengths = {2, 6, 2, 5, 7},
                         gaps = {1000, 150, 72, 9, 1};
  ApiTensor x(miopenFloat, lengths), y(miopenFloat, lengths);
  y.poison();
  auto run = [&](const ApiTensor &in, const ApiTensor &out) {
    return miopenGroupNormForward(
        handle, MIOPEN_ELEMENTWISE_AFFINE, in.getDesc(), in.getData(), nullptr,
        nullptr, nullptr, nullptr, 2, kEpsilon, out.getDesc(), out.getData(),
        nullptr, nullptr, nullptr, nullptr);
  };
  ASSERT_OK(run(x, y));
  ApiTensor sx(miopenFloat, {2, 2, 3, 70}), sy(miopenFloat, {2, 2, 3, 70});
  sx.setBytes(x.getHost());
  sy.setBytes(y.read());
  expectRight("norm_fwd", 0, {&sx}, {&sy}, {kEpsilon}, 0b1100);
  const ApiTensor separate(miopenFloat, lengths, gaps);
  EXPECT_EQ(run(separate, separate), miopenStatusNotImplemented);
}

// Refused are parameters of other lengths than the normalised dimensions, a
// dimension that the tensor lacks, and a mode that another function serves.
TEST_F(ApiNorm, Refuses) {
  ApiTensor x(miopenFloat, {6, 33}), weight(miopenFloat, {1, 32});
  auto run = [&](miopenNormMode_t mode, const ApiTensor &parameter, int dim) {
    return miopenLayerNormForward(
        handle, mode, x.getDesc(), x.getData(), parameter.getDesc(),
        parameter.getData(), parameter.getDesc(), parameter.getData(), kEpsilon,
        dim, x.getDesc(), x.getData(), nullptr, nullptr, nullptr, nullptr);
  };
  EXPECT_EQ(run(MIOPEN_WEIGHT_BIAS, weight, 1), miopenStatusBadParm);
  EXPECT_EQ(run(MIOPEN_WEIGHT_BIAS, x, 2), miopenStatusBadParm);
  EXPECT_EQ(run(MIOPEN_WEIGHT_BIAS_T5, x, 1), miopenStatusBadParm);
}

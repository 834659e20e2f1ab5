//===- BatchNorm.cpp - miopen/batchnorm.h ---------------------------------===//
//
// Functions with one descriptor for all parameters call those with four, and
// functions without an activation pass PASTHRU.
//
//===----------------------------------------------------------------------===//

#include "capi/lib/Normalization/BatchNormCall.h"
#include "capi/lib/Common/Objects.h"

#include <algorithm>
#include <vector>

using namespace tessera;
using namespace tessera::capi;

namespace {
/// The arguments that only the training functions have.
struct TrainingArgs {
  double factor;
  StatisticPair running;
  StatisticPair updated;
  StatisticPair saved;
  miopenActivationDescriptor activation = {};
};
} // namespace

static ApiResult runTraining(miopenHandle &handle, miopenBatchNormMode_t mode,
                             const void *alpha, const void *beta, TensorArg x,
                             TensorArg y, TensorArg scale, TensorArg bias,
                             const miopenTensorDescriptor &meanDesc,
                             const miopenTensorDescriptor &varianceDesc,
                             double epsilon, const TrainingArgs &args) {
  ApiResult factors = checkFactors(x.desc.dataType, alpha, beta);
  if (factors.getStatus() != miopenStatusSuccess)
    return factors;
  return run(handle, BatchNormCall{mode, x, scale, epsilon, args.activation},
             BatchNormTraining{y, bias, meanDesc, varianceDesc, args.factor,
                               args.running, args.updated, args.saved});
}

/// Checks the scale factors in functions where MIOpen returns BadParm instead
/// of UnknownError.
static Status requireFactors(const BatchNormCall &call, const void *alpha,
                             const void *beta) {
  const ApiResult result = checkFactors(call.x.desc.dataType, alpha, beta);
  return result.getStatus() == miopenStatusSuccess
             ? Status::ok()
             : invalidArgument(result.getMessage());
}

static ApiResult runInference(miopenHandle &handle, const void *alpha,
                              const void *beta, const BatchNormCall &call,
                              const BatchNormInference &inference) {
  if (Status status = requireFactors(call, alpha, beta); !status.isOk())
    return status;
  return run(handle, call, inference);
}

static ApiResult runBackward(miopenHandle &handle, const void *alphaData,
                             const void *betaData, const void *alphaParameter,
                             const void *betaParameter,
                             const BatchNormCall &call,
                             const BatchNormBackward &backward) {
  for (auto [alpha, beta] : {std::pair(alphaData, betaData),
                             std::pair(alphaParameter, betaParameter)})
    if (Status status = requireFactors(call, alpha, beta); !status.isOk())
      return status;
  return run(handle, call, backward);
}

extern "C" {

// Calls the public setter, which checks the lengths.
miopenStatus_t
miopenDeriveBNTensorDescriptor(miopenTensorDescriptor_t derivedBnDesc,
                               const miopenTensorDescriptor_t xDesc,
                               miopenBatchNormMode_t bn_mode) {
  return guard(__func__, REQUIRED(derivedBnDesc, xDesc), [&]() -> ApiResult {
    if (Status status = checkEnum(bn_mode, miopenBNSpatial, "mode");
        !status.isOk())
      return status;
    if (xDesc->getRank() != 4 && xDesc->getRank() != 5)
      return invalidArgument("x has " + std::to_string(xDesc->getRank()) +
                             " dimensions, not 4 or 5");
    std::vector<size_t> lengths(xDesc->lengths.begin(), xDesc->lengths.end());
    lengths[0] = 1;
    if (bn_mode == miopenBNSpatial)
      std::fill(lengths.begin() + 2, lengths.end(), 1);
    const miopenStatus_t status = miopenSetTensorDescriptorV2(
        derivedBnDesc, miopenFloat, xDesc->getRank(), lengths.data(), nullptr);
    return {status, getLastErrorMessage()};
  });
}

miopenStatus_t miopenBatchNormalizationForwardTraining(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t bnScaleBiasMeanVarDesc, void *bnScale,
    void *bnBias, double expAvgFactor, void *resultRunningMean,
    void *resultRunningVariance, double epsilon, void *resultSaveMean,
    void *resultSaveInvVariance) {
  return guard(__func__,
               REQUIRED(handle, alpha, beta, xDesc, x, yDesc, y,
                        bnScaleBiasMeanVarDesc, bnScale, bnBias),
               [&]() -> ApiResult {
                 return runTraining(
                     *handle, bn_mode, alpha, beta, {*xDesc, x}, {*yDesc, y},
                     {*bnScaleBiasMeanVarDesc, bnScale},
                     {*bnScaleBiasMeanVarDesc, bnBias}, *bnScaleBiasMeanVarDesc,
                     *bnScaleBiasMeanVarDesc, epsilon,
                     {expAvgFactor,
                      {resultRunningMean, resultRunningVariance},
                      {resultRunningMean, resultRunningVariance},
                      {resultSaveMean, resultSaveInvVariance}});
               });
}

miopenStatus_t miopenBatchNormalizationForwardTraining_V2(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t scaleDesc,
    const miopenTensorDescriptor_t biasVarDesc,
    const miopenTensorDescriptor_t savedMeanDesc,
    const miopenTensorDescriptor_t savedVarDesc, void *bnScale, void *bnBias,
    double expAvgFactor, void *resultRunningMean, void *resultRunningVariance,
    double epsilon, void *resultSaveMean, void *resultSaveInvVariance) {
  return guard(__func__,
               REQUIRED(handle, alpha, beta, xDesc, x, yDesc, y, scaleDesc,
                        biasVarDesc, savedMeanDesc, savedVarDesc, bnScale,
                        bnBias),
               [&]() -> ApiResult {
                 return runTraining(*handle, bn_mode, alpha, beta, {*xDesc, x},
                                    {*yDesc, y}, {*scaleDesc, bnScale},
                                    {*biasVarDesc, bnBias}, *savedMeanDesc,
                                    *savedVarDesc, epsilon,
                                    {expAvgFactor,
                                     {resultRunningMean, resultRunningVariance},
                                     {resultRunningMean, resultRunningVariance},
                                     {resultSaveMean, resultSaveInvVariance}});
               });
}

miopenStatus_t miopenBatchNormalizationForwardTraining_V3(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t scaleDesc,
    const miopenTensorDescriptor_t biasVarDesc,
    const miopenTensorDescriptor_t savedMeanDesc,
    const miopenTensorDescriptor_t savedVarDesc, void *bnScale, void *bnBias,
    double expAvgFactor, const void *prevResultRunningMean,
    const void *prevResultRunningVariance, void *nextResultRunningMean,
    void *nextResultRunningVariance, double epsilon, void *resultSaveMean,
    void *resultSaveInvVariance) {
  return guard(
      __func__,
      REQUIRED(handle, alpha, beta, xDesc, x, yDesc, y, scaleDesc, biasVarDesc,
               savedMeanDesc, savedVarDesc, bnScale, bnBias),
      [&]() -> ApiResult {
        return runTraining(*handle, bn_mode, alpha, beta, {*xDesc, x},
                           {*yDesc, y}, {*scaleDesc, bnScale},
                           {*biasVarDesc, bnBias}, *savedMeanDesc,
                           *savedVarDesc, epsilon,
                           {expAvgFactor,
                            {prevResultRunningMean, prevResultRunningVariance},
                            {nextResultRunningMean, nextResultRunningVariance},
                            {resultSaveMean, resultSaveInvVariance}});
      });
}

miopenStatus_t miopenBatchNormalizationForwardInference(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t bnScaleBiasMeanVarDesc, void *bnScale,
    void *bnBias, void *estimatedMean, void *estimatedVariance,
    double epsilon) {
  return guard(
      __func__,
      REQUIRED(handle, alpha, beta, xDesc, x, yDesc, y, bnScaleBiasMeanVarDesc,
               bnScale, bnBias, estimatedMean, estimatedVariance),
      [&]() -> ApiResult {
        return runInference(
            *handle, alpha, beta,
            {bn_mode, {*xDesc, x}, {*bnScaleBiasMeanVarDesc, bnScale}, epsilon},
            {{*yDesc, y},
             {*bnScaleBiasMeanVarDesc, bnBias},
             {*bnScaleBiasMeanVarDesc, estimatedMean},
             {*bnScaleBiasMeanVarDesc, estimatedVariance}});
      });
}

miopenStatus_t miopenBatchNormalizationForwardInference_V2(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t scaleDesc,
    const miopenTensorDescriptor_t biasDesc,
    const miopenTensorDescriptor_t estMeanDesc,
    const miopenTensorDescriptor_t estVarianceDesc, void *bnScale, void *bnBias,
    void *estimatedMean, void *estimatedVariance, double epsilon) {
  return guard(__func__,
               REQUIRED(handle, alpha, beta, xDesc, x, yDesc, y, scaleDesc,
                        biasDesc, estMeanDesc, estVarianceDesc, bnScale, bnBias,
                        estimatedMean, estimatedVariance),
               [&]() -> ApiResult {
                 return runInference(
                     *handle, alpha, beta,
                     {bn_mode, {*xDesc, x}, {*scaleDesc, bnScale}, epsilon},
                     {{*yDesc, y},
                      {*biasDesc, bnBias},
                      {*estMeanDesc, estimatedMean},
                      {*estVarianceDesc, estimatedVariance}});
               });
}

miopenStatus_t miopenBatchNormalizationForwardInferenceInvVariance(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t scaleDesc,
    const miopenTensorDescriptor_t biasDesc,
    const miopenTensorDescriptor_t estMeanDesc,
    const miopenTensorDescriptor_t estInvVarianceDesc, void *bnScale,
    void *bnBias, void *estimatedMean, void *estimatedInvVariance) {
  return guard(__func__,
               REQUIRED(handle, alpha, beta, xDesc, x, yDesc, y, scaleDesc,
                        biasDesc, estMeanDesc, estInvVarianceDesc, bnScale,
                        bnBias, estimatedMean, estimatedInvVariance),
               [&]() -> ApiResult {
                 return runInference(
                     *handle, alpha, beta,
                     {bn_mode, {*xDesc, x}, {*scaleDesc, bnScale}, 0},
                     {{*yDesc, y},
                      {*biasDesc, bnBias},
                      {*estMeanDesc, estimatedMean},
                      {*estInvVarianceDesc, estimatedInvVariance},
                      true});
               });
}

miopenStatus_t miopenBatchNormalizationBackward(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode,
    const void *alphaDataDiff, const void *betaDataDiff,
    const void *alphaParamDiff, const void *betaParamDiff,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t dyDesc, const void *dy,
    const miopenTensorDescriptor_t dxDesc, void *dx,
    const miopenTensorDescriptor_t bnScaleBiasDiffDesc, const void *bnScale,
    void *resultBnScaleDiff, void *resultBnBiasDiff, double epsilon,
    const void *savedMean, const void *savedInvVariance) {
  return guard(
      __func__,
      REQUIRED(handle, alphaDataDiff, betaDataDiff, alphaParamDiff,
               betaParamDiff, xDesc, x, dyDesc, dy, dxDesc, dx,
               bnScaleBiasDiffDesc, bnScale, resultBnScaleDiff,
               resultBnBiasDiff),
      [&]() -> ApiResult {
        return runBackward(
            *handle, alphaDataDiff, betaDataDiff, alphaParamDiff, betaParamDiff,
            {bn_mode, {*xDesc, x}, {*bnScaleBiasDiffDesc, bnScale}, epsilon},
            {{*dyDesc, dy},
             {*dxDesc, dx},
             {*bnScaleBiasDiffDesc, nullptr},
             resultBnScaleDiff,
             resultBnBiasDiff,
             *bnScaleBiasDiffDesc,
             *bnScaleBiasDiffDesc,
             {savedMean, savedInvVariance}});
      });
}

miopenStatus_t miopenBatchNormalizationBackward_V2(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode,
    const void *alphaDataDiff, const void *betaDataDiff,
    const void *alphaParamDiff, const void *betaParamDiff,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t dyDesc, const void *dy,
    const miopenTensorDescriptor_t dxDesc, void *dx,
    const miopenTensorDescriptor_t scaleDesc,
    const miopenTensorDescriptor_t biasDesc,
    const miopenTensorDescriptor_t savedMeanDesc,
    const miopenTensorDescriptor_t savedVarDesc, const void *bnScale,
    void *resultBnScaleDiff, void *resultBnBiasDiff, double epsilon,
    const void *savedMean, const void *savedInvVariance) {
  return guard(__func__,
               REQUIRED(handle, alphaDataDiff, betaDataDiff, alphaParamDiff,
                        betaParamDiff, xDesc, x, dyDesc, dy, dxDesc, dx,
                        scaleDesc, biasDesc, savedMeanDesc, savedVarDesc,
                        bnScale, resultBnScaleDiff, resultBnBiasDiff),
               [&]() -> ApiResult {
                 return runBackward(
                     *handle, alphaDataDiff, betaDataDiff, alphaParamDiff,
                     betaParamDiff,
                     {bn_mode, {*xDesc, x}, {*scaleDesc, bnScale}, epsilon},
                     {{*dyDesc, dy},
                      {*dxDesc, dx},
                      {*biasDesc, nullptr},
                      resultBnScaleDiff,
                      resultBnBiasDiff,
                      *savedMeanDesc,
                      *savedVarDesc,
                      {savedMean, savedInvVariance}});
               });
}

miopenStatus_t miopenBatchNormForwardTrainingActivation(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t scaleDesc,
    const miopenTensorDescriptor_t biasVarDesc,
    const miopenTensorDescriptor_t savedMeanDesc,
    const miopenTensorDescriptor_t savedVarDesc, void *bnScale, void *bnBias,
    double expAvgFactor, void *resultRunningMean, void *resultRunningVariance,
    double epsilon, void *resultSaveMean, void *resultSaveInvVariance,
    const miopenActivationDescriptor_t activDesc) {
  return guard(__func__,
               REQUIRED(handle, alpha, beta, xDesc, x, yDesc, y, scaleDesc,
                        biasVarDesc, savedMeanDesc, savedVarDesc, bnScale,
                        bnBias, activDesc),
               [&]() -> ApiResult {
                 return runTraining(*handle, bn_mode, alpha, beta, {*xDesc, x},
                                    {*yDesc, y}, {*scaleDesc, bnScale},
                                    {*biasVarDesc, bnBias}, *savedMeanDesc,
                                    *savedVarDesc, epsilon,
                                    {expAvgFactor,
                                     {resultRunningMean, resultRunningVariance},
                                     {resultRunningMean, resultRunningVariance},
                                     {resultSaveMean, resultSaveInvVariance},
                                     *activDesc});
               });
}

miopenStatus_t miopenBatchNormForwardTrainingActivation_V2(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t scaleDesc,
    const miopenTensorDescriptor_t biasVarDesc,
    const miopenTensorDescriptor_t savedMeanDesc,
    const miopenTensorDescriptor_t savedVarDesc, void *bnScale, void *bnBias,
    double expAvgFactor, const void *prevResultRunningMean,
    const void *prevResultRunningVariance, void *nextResultRunningMean,
    void *nextResultRunningVariance, double epsilon, void *resultSaveMean,
    void *resultSaveInvVariance, const miopenActivationDescriptor_t activDesc) {
  return guard(
      __func__,
      REQUIRED(handle, alpha, beta, xDesc, x, yDesc, y, scaleDesc, biasVarDesc,
               savedMeanDesc, savedVarDesc, bnScale, bnBias, activDesc),
      [&]() -> ApiResult {
        return runTraining(*handle, bn_mode, alpha, beta, {*xDesc, x},
                           {*yDesc, y}, {*scaleDesc, bnScale},
                           {*biasVarDesc, bnBias}, *savedMeanDesc,
                           *savedVarDesc, epsilon,
                           {expAvgFactor,
                            {prevResultRunningMean, prevResultRunningVariance},
                            {nextResultRunningMean, nextResultRunningVariance},
                            {resultSaveMean, resultSaveInvVariance},
                            *activDesc});
      });
}

miopenStatus_t miopenBatchNormForwardInferenceActivation(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t scaleDesc,
    const miopenTensorDescriptor_t biasDesc,
    const miopenTensorDescriptor_t estMeanDesc,
    const miopenTensorDescriptor_t estVarianceDesc, void *bnScale, void *bnBias,
    void *estimatedMean, void *estimatedVariance, double epsilon,
    const miopenActivationDescriptor_t activDesc) {
  return guard(
      __func__,
      REQUIRED(handle, alpha, beta, xDesc, x, yDesc, y, scaleDesc, biasDesc,
               estMeanDesc, estVarianceDesc, bnScale, bnBias, estimatedMean,
               estimatedVariance, activDesc),
      [&]() -> ApiResult {
        return runInference(
            *handle, alpha, beta,
            {bn_mode, {*xDesc, x}, {*scaleDesc, bnScale}, epsilon, *activDesc},
            {{*yDesc, y},
             {*biasDesc, bnBias},
             {*estMeanDesc, estimatedMean},
             {*estVarianceDesc, estimatedVariance}});
      });
}

miopenStatus_t miopenBatchNormForwardInferenceActivationInvVariance(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha,
    void *beta, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t scaleDesc,
    const miopenTensorDescriptor_t biasDesc,
    const miopenTensorDescriptor_t estMeanDesc,
    const miopenTensorDescriptor_t estInvVarianceDesc, void *bnScale,
    void *bnBias, void *estimatedMean, void *estimatedInvVariance,
    const miopenActivationDescriptor_t activDesc) {
  return guard(
      __func__,
      REQUIRED(handle, alpha, beta, xDesc, x, yDesc, y, scaleDesc, biasDesc,
               estMeanDesc, estInvVarianceDesc, bnScale, bnBias, estimatedMean,
               estimatedInvVariance, activDesc),
      [&]() -> ApiResult {
        return runInference(
            *handle, alpha, beta,
            {bn_mode, {*xDesc, x}, {*scaleDesc, bnScale}, 0, *activDesc},
            {{*yDesc, y},
             {*biasDesc, bnBias},
             {*estMeanDesc, estimatedMean},
             {*estInvVarianceDesc, estimatedInvVariance},
             true});
      });
}

miopenStatus_t miopenBatchNormBackwardActivation(
    miopenHandle_t handle, miopenBatchNormMode_t bn_mode,
    const void *alphaDataDiff, const void *betaDataDiff,
    const void *alphaParamDiff, const void *betaParamDiff,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t dyDesc, const void *dy,
    const miopenTensorDescriptor_t dxDesc, void *dx,
    const miopenTensorDescriptor_t scaleDesc,
    const miopenTensorDescriptor_t biasDesc,
    const miopenTensorDescriptor_t savedMeanDesc,
    const miopenTensorDescriptor_t savedVarianceDesc, const void *bnScale,
    const void *bnBias, void *resultBnScaleDiff, void *resultBnBiasDiff,
    double epsilon, const void *savedMean, const void *savedInvVariance,
    const miopenActivationDescriptor_t activDesc) {
  return guard(
      __func__,
      REQUIRED(handle, alphaDataDiff, betaDataDiff, alphaParamDiff,
               betaParamDiff, xDesc, x, dyDesc, dy, dxDesc, dx, scaleDesc,
               biasDesc, savedMeanDesc, savedVarianceDesc, bnScale,
               resultBnScaleDiff, resultBnBiasDiff, bnBias, activDesc),
      [&]() -> ApiResult {
        return runBackward(
            *handle, alphaDataDiff, betaDataDiff, alphaParamDiff, betaParamDiff,
            {bn_mode, {*xDesc, x}, {*scaleDesc, bnScale}, epsilon, *activDesc},
            {{*dyDesc, dy},
             {*dxDesc, dx},
             {*biasDesc, bnBias},
             resultBnScaleDiff,
             resultBnBiasDiff,
             *savedMeanDesc,
             *savedVarianceDesc,
             {savedMean, savedInvVariance}});
      });
}

} // extern "C"

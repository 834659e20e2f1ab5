//===- Optimizer.cpp - miopen/optimizer.h ---------------------------------===//

#define MIOPEN_BETA_API 1
#include <miopen/optimizer.h>

#include "capi/lib/Common/Objects.h"
#include "capi/lib/Optimizer/AdamCall.h"

using namespace tessera;
using namespace tessera::capi;

extern "C" {

miopenStatus_t miopenFusedAdam(
    miopenHandle_t handle, const miopenTensorDescriptor_t paramDesc,
    void *param, const miopenTensorDescriptor_t gradDesc, const void *grad,
    const miopenTensorDescriptor_t expAvgDesc, void *expAvg,
    const miopenTensorDescriptor_t expAvgSqDesc, void *expAvgSq,
    const miopenTensorDescriptor_t maxExpAvgSqDesc, void *maxExpAvgSq,
    const miopenTensorDescriptor_t stateStepDesc, void *stateStep,
    const unsigned int state_step, const float lr, const float beta1,
    const float beta2, const float weight_decay, const float eps,
    const bool amsgrad, const bool maximize, const bool adamw,
    const miopenTensorDescriptor_t gradScaleDesc, const void *gradScale,
    const miopenTensorDescriptor_t foundInfDesc, const void *foundInf) {
  return miopenFusedAdamWithOutput(
      handle, paramDesc, param, paramDesc, param, nullptr, nullptr, gradDesc,
      grad, expAvgDesc, expAvg, expAvgDesc, expAvg, expAvgSqDesc, expAvgSq,
      expAvgSqDesc, expAvgSq, maxExpAvgSqDesc, maxExpAvgSq, maxExpAvgSqDesc,
      maxExpAvgSq, stateStepDesc, stateStep, stateStepDesc, stateStep,
      state_step, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, adamw,
      gradScaleDesc, gradScale, foundInfDesc, foundInf);
}

miopenStatus_t miopenFusedAdamWithOutput(
    miopenHandle_t handle, const miopenTensorDescriptor_t paramInDesc,
    void *paramIn, const miopenTensorDescriptor_t paramOutDesc, void *paramOut,
    const miopenTensorDescriptor_t paramOutFloat16Desc, void *paramOutFloat16,
    const miopenTensorDescriptor_t gradInDesc, const void *gradIn,
    const miopenTensorDescriptor_t expAvgInDesc, void *expAvgIn,
    const miopenTensorDescriptor_t expAvgOutDesc, void *expAvgOut,
    const miopenTensorDescriptor_t expAvgSqInDesc, void *expAvgSqIn,
    const miopenTensorDescriptor_t expAvgSqOutDesc, void *expAvgSqOut,
    const miopenTensorDescriptor_t maxExpAvgSqInDesc, void *maxExpAvgSqIn,
    const miopenTensorDescriptor_t maxExpAvgSqOutDesc, void *maxExpAvgSqOut,
    const miopenTensorDescriptor_t stateStepInDesc, void *stateStepIn,
    const miopenTensorDescriptor_t stateStepOutDesc, void *stateStepOut,
    const unsigned int state_step, const float lr, const float beta1,
    const float beta2, const float weight_decay, const float eps,
    const bool amsgrad, const bool maximize, const bool adamw,
    const miopenTensorDescriptor_t gradScaleDesc, const void *gradScale,
    const miopenTensorDescriptor_t foundInfDesc, const void *foundInf) {
  return guard(
      __func__,
      REQUIRED(handle, paramInDesc, paramIn, paramOutDesc, paramOut,
               orNull(paramOutFloat16Desc), gradInDesc, gradIn, expAvgInDesc,
               expAvgIn, expAvgOutDesc, expAvgOut, expAvgSqInDesc, expAvgSqIn,
               expAvgSqOutDesc, expAvgSqOut, orNull(maxExpAvgSqInDesc),
               orNull(maxExpAvgSqOutDesc), orNull(stateStepInDesc),
               orNull(stateStepOutDesc), orNull(gradScaleDesc),
               orNull(foundInfDesc)),
      [&]() -> ApiResult {
        return runAdam(*handle,
                       {.param = {paramInDesc, paramIn},
                        .newParam = {paramOutDesc, paramOut},
                        .newHalf = {paramOutFloat16Desc, paramOutFloat16},
                        .gradient = {gradInDesc, gradIn},
                        .mean = {expAvgInDesc, expAvgIn},
                        .newMean = {expAvgOutDesc, expAvgOut},
                        .square = {expAvgSqInDesc, expAvgSqIn},
                        .newSquare = {expAvgSqOutDesc, expAvgSqOut},
                        .most = {maxExpAvgSqInDesc, maxExpAvgSqIn},
                        .newMost = {maxExpAvgSqOutDesc, maxExpAvgSqOut},
                        .step = {stateStepInDesc, stateStepIn},
                        .newStep = {stateStepOutDesc, stateStepOut},
                        .scale = {gradScaleDesc, gradScale},
                        .flag = {foundInfDesc, foundInf},
                        .stepNumber = state_step,
                        .rate = lr,
                        .beta1 = beta1,
                        .beta2 = beta2,
                        .decay = weight_decay,
                        .epsilon = eps,
                        .isAmsgrad = amsgrad,
                        .isMaximizing = maximize,
                        .isDecoupled = adamw});
      });
}

miopenStatus_t miopenTransformersAdamW(
    miopenHandle_t handle, const miopenTensorDescriptor_t paramDesc,
    void *param, const miopenTensorDescriptor_t gradDesc, const void *grad,
    const miopenTensorDescriptor_t expAvgDesc, void *expAvg,
    const miopenTensorDescriptor_t expAvgSqDesc, void *expAvgSq,
    const miopenTensorDescriptor_t stateStepDesc, void *stateStep,
    const unsigned int state_step, const float lr, const float beta1,
    const float beta2, const float weight_decay, const float eps,
    const bool correct_bias, const miopenTensorDescriptor_t gradScaleDesc,
    const void *gradScale, const miopenTensorDescriptor_t foundInfDesc,
    const void *foundInf) {
  return miopenTransformersAdamWWithOutput(
      handle, paramDesc, param, paramDesc, param, nullptr, nullptr, gradDesc,
      grad, expAvgDesc, expAvg, expAvgDesc, expAvg, expAvgSqDesc, expAvgSq,
      expAvgSqDesc, expAvgSq, stateStepDesc, stateStep, stateStepDesc,
      stateStep, state_step, lr, beta1, beta2, weight_decay, eps,
      /*step_size=*/-1, correct_bias, gradScaleDesc, gradScale, foundInfDesc,
      foundInf);
}

miopenStatus_t miopenTransformersAdamWWithOutput(
    miopenHandle_t handle, const miopenTensorDescriptor_t paramInDesc,
    void *paramIn, const miopenTensorDescriptor_t paramOutDesc, void *paramOut,
    const miopenTensorDescriptor_t paramOutFloat16Desc, void *paramOutFloat16,
    const miopenTensorDescriptor_t gradInDesc, const void *gradIn,
    const miopenTensorDescriptor_t expAvgInDesc, void *expAvgIn,
    const miopenTensorDescriptor_t expAvgOutDesc, void *expAvgOut,
    const miopenTensorDescriptor_t expAvgSqInDesc, void *expAvgSqIn,
    const miopenTensorDescriptor_t expAvgSqOutDesc, void *expAvgSqOut,
    const miopenTensorDescriptor_t stateStepInDesc, void *stateStepIn,
    const miopenTensorDescriptor_t stateStepOutDesc, void *stateStepOut,
    const unsigned int state_step, const float lr, const float beta1,
    const float beta2, const float weight_decay, const float eps,
    const float step_size, const bool correct_bias,
    const miopenTensorDescriptor_t gradScaleDesc, const void *gradScale,
    const miopenTensorDescriptor_t foundInfDesc, const void *foundInf) {
  return guard(
      __func__,
      REQUIRED(handle, paramInDesc, paramIn, paramOutDesc, paramOut,
               orNull(paramOutFloat16Desc), gradInDesc, gradIn, expAvgInDesc,
               expAvgIn, expAvgOutDesc, expAvgOut, expAvgSqInDesc, expAvgSqIn,
               expAvgSqOutDesc, expAvgSqOut, orNull(stateStepInDesc),
               orNull(stateStepOutDesc), orNull(gradScaleDesc),
               orNull(foundInfDesc)),
      [&]() -> ApiResult {
        return runAdam(*handle,
                       {.param = {paramInDesc, paramIn},
                        .newParam = {paramOutDesc, paramOut},
                        .newHalf = {paramOutFloat16Desc, paramOutFloat16},
                        .gradient = {gradInDesc, gradIn},
                        .mean = {expAvgInDesc, expAvgIn},
                        .newMean = {expAvgOutDesc, expAvgOut},
                        .square = {expAvgSqInDesc, expAvgSqIn},
                        .newSquare = {expAvgSqOutDesc, expAvgSqOut},
                        .most = {},
                        .newMost = {},
                        .step = {stateStepInDesc, stateStepIn},
                        .newStep = {stateStepOutDesc, stateStepOut},
                        .scale = {gradScaleDesc, gradScale},
                        .flag = {foundInfDesc, foundInf},
                        .stepNumber = state_step,
                        .rate = lr,
                        .beta1 = beta1,
                        .beta2 = beta2,
                        .decay = weight_decay,
                        .epsilon = eps,
                        .isTransformers = true,
                        .correctsBias = correct_bias,
                        .stepSize = step_size});
      });
}

} // extern "C"

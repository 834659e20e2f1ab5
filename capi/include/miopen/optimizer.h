/*===- optimizer.h - Steps of an optimiser -------------------------------===*\
|*
|* None of these runs yet: they answer miopenStatusNotImplemented. All are part
|* of MIOpen's beta API.
|*
\*===----------------------------------------------------------------------===*/

#ifndef MIOPEN_OPTIMIZER_H
#define MIOPEN_OPTIMIZER_H

#include <miopen/export.h>
#include <miopen/handle.h>
#include <miopen/tensor.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef MIOPEN_BETA_API

/** Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenFusedAdam(
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
    const miopenTensorDescriptor_t foundInfDesc, const void *foundInf);

/** Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenFusedAdamWithOutput(
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
    const miopenTensorDescriptor_t foundInfDesc, const void *foundInf);

/** Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenTransformersAdamW(
    miopenHandle_t handle, const miopenTensorDescriptor_t paramDesc,
    void *param, const miopenTensorDescriptor_t gradDesc, const void *grad,
    const miopenTensorDescriptor_t expAvgDesc, void *expAvg,
    const miopenTensorDescriptor_t expAvgSqDesc, void *expAvgSq,
    const miopenTensorDescriptor_t stateStepDesc, void *stateStep,
    const unsigned int state_step, const float lr, const float beta1,
    const float beta2, const float weight_decay, const float eps,
    const bool correct_bias, const miopenTensorDescriptor_t gradScaleDesc,
    const void *gradScale, const miopenTensorDescriptor_t foundInfDesc,
    const void *foundInf);

/** Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenTransformersAdamWWithOutput(
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
    const miopenTensorDescriptor_t foundInfDesc, const void *foundInf);

#endif /* MIOPEN_BETA_API */

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_OPTIMIZER_H */

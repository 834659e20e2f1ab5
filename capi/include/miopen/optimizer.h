/*===- optimizer.h - Steps of an optimiser --------------------------------===*/
/**
 * @file
 * Adam and AdamW, as PyTorch and as the Transformers library define them. All
 * functions are part of MIOpen's beta API.
 *
 * The number of the step is counted from 1 where it is an argument. A tensor of
 * it holds the number of steps before, is of int32 and has one element; the
 * call adds 1. The gradients are divided by their scale, one element of any
 * type. Where the flag, one element, is not 0, no step is made: outputs are the
 * inputs.
 */

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

/**
 * Makes a step of Adam or AdamW in place.
 *
 * Parameters and averages are half, bfloat16, float or double, all of one type
 * and of the same lengths, of any strides; gradients may be of another type if
 * there is a scale, a flag or a tensor of steps.
 *
 * @param[in]     handle           Supplies the device and the stream.
 * @param[in]     paramDesc        Describes the parameters.
 * @param[in,out] param            The parameters; device memory.
 * @param[in]     gradDesc         Describes the gradients.
 * @param[in]     grad             The gradients; device memory.
 * @param[in]     expAvgDesc       Describes the average of gradients.
 * @param[in,out] expAvg           The average of gradients; device memory.
 * @param[in]     expAvgSqDesc     Describes the average of squared gradients.
 * @param[in,out] expAvgSq         The average of squared gradients; device
 *                                 memory.
 * @param[in]     maxExpAvgSqDesc  Describes the maximum of these averages
 *                                 (AMSGrad). May be NULL.
 * @param[in,out] maxExpAvgSq      The maximum of these averages (AMSGrad);
 *                                 device memory. May be NULL.
 * @param[in]     stateStepDesc    Describes the number of steps. May be NULL.
 * @param[in,out] stateStep        The number of steps; device memory. May be
 *                                 NULL.
 * @param[in]     state_step       Number of steps, where no tensor holds it.
 * @param[in]     lr               Learning rate.
 * @param[in]     beta1            Decay of the average of gradients.
 * @param[in]     beta2            Decay of the average of squared gradients.
 * @param[in]     weight_decay     Weight decay.
 * @param[in]     eps              Added to the denominator.
 * @param[in]     amsgrad          Whether to use AMSGrad.
 * @param[in]     maximize         Whether to maximise instead of minimise.
 * @param[in]     adamw            Whether weight decay is decoupled (AdamW).
 * @param[in]     gradScaleDesc    Describes the scale of the gradients; may be
 *                                 NULL.
 * @param[in]     gradScale        Scale of the gradients; device memory; may be
 *                                 NULL.
 * @param[in]     foundInfDesc     Describes the flag; may be NULL.
 * @param[in]     foundInf         Flag: gradients are not finite, so no step is
 *                                 made; device memory; may be NULL.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer that may not be NULL is NULL,
 *                                     the tensors do not fit each other, a
 *                                     number has more than one element, or
 *                                     elements of a result overlap.
 * @retval miopenStatusNotImplemented  No kernel covers the data types or the
 *                                     chip, or a tensor has more than five
 *                                     dimensions that cannot be merged.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Compiles on first use, then launches; does not wait for the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
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

/**
 * Makes a step of Adam or AdamW from one set of tensors to another.
 *
 * Parameters and averages are half, bfloat16, float or double, all of one type
 * and of the same lengths, of any strides; gradients may be of another type if
 * there is a scale, a flag or a tensor of steps.
 *
 * @param[in]  handle               Supplies the device and the stream.
 * @param[in]  paramInDesc          Describes the parameters before the step.
 * @param[in]  paramIn              The parameters before the step; device
 *                                  memory.
 * @param[in]  paramOutDesc         Describes the parameters after the step.
 * @param[out] paramOut             The parameters after the step; device
 *                                  memory.
 * @param[in]  paramOutFloat16Desc  Describes the copy of the parameters in
 *                                  half. May be NULL.
 * @param[out] paramOutFloat16      The parameters after the step, in half;
 *                                  device memory. May be NULL.
 * @param[in]  gradInDesc           Describes the gradients before the step.
 * @param[in]  gradIn               The gradients before the step; device
 *                                  memory.
 * @param[in]  expAvgInDesc         Describes the average of gradients before
 *                                  the step.
 * @param[in]  expAvgIn             The average of gradients before the step;
 *                                  device memory.
 * @param[in]  expAvgOutDesc        Describes the average of gradients after the
 *                                  step.
 * @param[out] expAvgOut            The average of gradients after the step;
 *                                  device memory.
 * @param[in]  expAvgSqInDesc       Describes the average of squared gradients
 *                                  before the step.
 * @param[in]  expAvgSqIn           The average of squared gradients before the
 *                                  step; device memory.
 * @param[in]  expAvgSqOutDesc      Describes the average of squared gradients
 *                                  after the step.
 * @param[out] expAvgSqOut          The average of squared gradients after the
 *                                  step; device memory.
 * @param[in]  maxExpAvgSqInDesc    Describes the maximum of these averages
 *                                  (AMSGrad) before the step. May be NULL.
 * @param[in]  maxExpAvgSqIn        The maximum of these averages (AMSGrad)
 *                                  before the step; device memory. May be NULL.
 * @param[in]  maxExpAvgSqOutDesc   Describes the maximum of these averages
 *                                  (AMSGrad) after the step. May be NULL.
 * @param[out] maxExpAvgSqOut       The maximum of these averages (AMSGrad)
 *                                  after the step; device memory. May be NULL.
 * @param[in]  stateStepInDesc      Describes the number of steps before the
 *                                  step. May be NULL.
 * @param[in]  stateStepIn          The number of steps before the step; device
 *                                  memory. May be NULL.
 * @param[in]  stateStepOutDesc     Describes the number of steps after the
 *                                  step. May be NULL.
 * @param[out] stateStepOut         The number of steps after the step; device
 *                                  memory. May be NULL.
 * @param[in]  state_step           Number of steps, where no tensor holds it.
 * @param[in]  lr                   Learning rate.
 * @param[in]  beta1                Decay of the average of gradients.
 * @param[in]  beta2                Decay of the average of squared gradients.
 * @param[in]  weight_decay         Weight decay.
 * @param[in]  eps                  Added to the denominator.
 * @param[in]  amsgrad              Whether to use AMSGrad.
 * @param[in]  maximize             Whether to maximise instead of minimise.
 * @param[in]  adamw                Whether weight decay is decoupled (AdamW).
 * @param[in]  gradScaleDesc        Describes the scale of the gradients; may be
 *                                  NULL.
 * @param[in]  gradScale            Scale of the gradients; device memory; may
 *                                  be NULL.
 * @param[in]  foundInfDesc         Describes the flag; may be NULL.
 * @param[in]  foundInf             Flag: gradients are not finite, so no step
 *                                  is made; device memory; may be NULL.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer that may not be NULL is NULL,
 *                                     the tensors do not fit each other, a
 *                                     number has more than one element, or
 *                                     elements of a result overlap.
 * @retval miopenStatusNotImplemented  No kernel covers the data types or the
 *                                     chip, or a tensor has more than five
 *                                     dimensions that cannot be merged.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Compiles on first use, then launches; does not wait for the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
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

/**
 * Makes a step of AdamW as the Transformers library defines it, in place.
 *
 * Parameters and averages are half, bfloat16, float or double, all of one type
 * and of the same lengths, of any strides; gradients may be of another type if
 * there is a scale, a flag or a tensor of steps.
 *
 * @param[in]     handle         Supplies the device and the stream.
 * @param[in]     paramDesc      Describes the parameters.
 * @param[in,out] param          The parameters; device memory.
 * @param[in]     gradDesc       Describes the gradients.
 * @param[in]     grad           The gradients; device memory.
 * @param[in]     expAvgDesc     Describes the average of gradients.
 * @param[in,out] expAvg         The average of gradients; device memory.
 * @param[in]     expAvgSqDesc   Describes the average of squared gradients.
 * @param[in,out] expAvgSq       The average of squared gradients; device
 *                               memory.
 * @param[in]     stateStepDesc  Describes the number of steps. May be NULL.
 * @param[in,out] stateStep      The number of steps; device memory. May be
 *                               NULL.
 * @param[in]     state_step     Number of steps, where no tensor holds it.
 * @param[in]     lr             Learning rate.
 * @param[in]     beta1          Decay of the average of gradients.
 * @param[in]     beta2          Decay of the average of squared gradients.
 * @param[in]     weight_decay   Weight decay.
 * @param[in]     eps            Added to the denominator.
 * @param[in]     correct_bias   Whether to correct the bias of the averages.
 * @param[in]     gradScaleDesc  Describes the scale of the gradients; may be
 *                               NULL.
 * @param[in]     gradScale      Scale of the gradients; device memory; may be
 *                               NULL.
 * @param[in]     foundInfDesc   Describes the flag; may be NULL.
 * @param[in]     foundInf       Flag: gradients are not finite, so no step is
 *                               made; device memory; may be NULL.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer that may not be NULL is NULL,
 *                                     the tensors do not fit each other, a
 *                                     number has more than one element, or
 *                                     elements of a result overlap.
 * @retval miopenStatusNotImplemented  No kernel covers the data types or the
 *                                     chip, or a tensor has more than five
 *                                     dimensions that cannot be merged.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Compiles on first use, then launches; does not wait for the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
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

/**
 * Makes a step of AdamW as the Transformers library defines it, from one set of
 * tensors to another.
 *
 * Parameters and averages are half, bfloat16, float or double, all of one type
 * and of the same lengths, of any strides; gradients may be of another type if
 * there is a scale, a flag or a tensor of steps.
 *
 * @param[in]  handle               Supplies the device and the stream.
 * @param[in]  paramInDesc          Describes the parameters before the step.
 * @param[in]  paramIn              The parameters before the step; device
 *                                  memory.
 * @param[in]  paramOutDesc         Describes the parameters after the step.
 * @param[out] paramOut             The parameters after the step; device
 *                                  memory.
 * @param[in]  paramOutFloat16Desc  Describes the copy of the parameters in
 *                                  half. May be NULL.
 * @param[out] paramOutFloat16      The parameters after the step, in half;
 *                                  device memory. May be NULL.
 * @param[in]  gradInDesc           Describes the gradients before the step.
 * @param[in]  gradIn               The gradients before the step; device
 *                                  memory.
 * @param[in]  expAvgInDesc         Describes the average of gradients before
 *                                  the step.
 * @param[in]  expAvgIn             The average of gradients before the step;
 *                                  device memory.
 * @param[in]  expAvgOutDesc        Describes the average of gradients after the
 *                                  step.
 * @param[out] expAvgOut            The average of gradients after the step;
 *                                  device memory.
 * @param[in]  expAvgSqInDesc       Describes the average of squared gradients
 *                                  before the step.
 * @param[in]  expAvgSqIn           The average of squared gradients before the
 *                                  step; device memory.
 * @param[in]  expAvgSqOutDesc      Describes the average of squared gradients
 *                                  after the step.
 * @param[out] expAvgSqOut          The average of squared gradients after the
 *                                  step; device memory.
 * @param[in]  stateStepInDesc      Describes the number of steps before the
 *                                  step. May be NULL.
 * @param[in]  stateStepIn          The number of steps before the step; device
 *                                  memory. May be NULL.
 * @param[in]  stateStepOutDesc     Describes the number of steps after the
 *                                  step. May be NULL.
 * @param[out] stateStepOut         The number of steps after the step; device
 *                                  memory. May be NULL.
 * @param[in]  state_step           Number of steps, where no tensor holds it.
 * @param[in]  lr                   Learning rate.
 * @param[in]  beta1                Decay of the average of gradients.
 * @param[in]  beta2                Decay of the average of squared gradients.
 * @param[in]  weight_decay         Weight decay.
 * @param[in]  eps                  Added to the denominator.
 * @param[in]  step_size            Step size; a negative number means it is
 *                                  computed.
 * @param[in]  correct_bias         Whether to correct the bias of the averages.
 * @param[in]  gradScaleDesc        Describes the scale of the gradients; may be
 *                                  NULL.
 * @param[in]  gradScale            Scale of the gradients; device memory; may
 *                                  be NULL.
 * @param[in]  foundInfDesc         Describes the flag; may be NULL.
 * @param[in]  foundInf             Flag: gradients are not finite, so no step
 *                                  is made; device memory; may be NULL.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer that may not be NULL is NULL,
 *                                     the tensors do not fit each other, a
 *                                     number has more than one element, or
 *                                     elements of a result overlap.
 * @retval miopenStatusNotImplemented  No kernel covers the data types or the
 *                                     chip, or a tensor has more than five
 *                                     dimensions that cannot be merged.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Compiles on first use, then launches; does not wait for the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
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

/*===- activation.h - Activation functions --------------------------------===*/
/**
 * @file
 * An activation descriptor is a function of one number and up to three
 * parameters, called a, b and c below: activAlpha, activBeta, activGamma.
 * Tensors are half, bfloat16, float, double, int8 or int32, of any layout and
 * strides. Integers are computed in double, rounded to the nearest and clamped
 * to the range of their type.
 */

#ifndef MIOPEN_ACTIVATION_H
#define MIOPEN_ACTIVATION_H

#include <miopen/export.h>
#include <miopen/handle.h>
#include <miopen/tensor.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A function of one number, with its parameters. */
MIOPEN_DECLARE_OBJECT(miopenActivationDescriptor);

/** The function of an activation descriptor, of x and the parameters a, b, c.
 *  */
typedef enum {
  miopenActivationPASTHRU = 0,     /**< x */
  miopenActivationLOGISTIC = 1,    /**< 1 / (1 + e^-x) */
  miopenActivationTANH = 2,        /**< b tanh(a x) */
  miopenActivationRELU = 3,        /**< max(0, x) */
  miopenActivationSOFTRELU = 4,    /**< log(1 + e^x) */
  miopenActivationABS = 5,         /**< |x| */
  miopenActivationPOWER = 6,       /**< (a + b x)^c; 0 where a + b x <= 1e-6 */
  miopenActivationCLIPPEDRELU = 7, /**< min(a, max(0, x)) */
  miopenActivationLEAKYRELU = 8,   /**< x above 0, else a x */
  miopenActivationELU = 9          /**< x above 0, else a (e^x - 1) */
} miopenActivationMode_t;

/**
 * Creates a descriptor, which begins as miopenActivationPASTHRU with parameters
 * of 0.
 *
 * @param[out] activDesc  Owned by the caller: release it with
 *                        miopenDestroyActivationDescriptor().
 *
 * @retval miopenStatusSuccess      `*activDesc` is usable.
 * @retval miopenStatusBadParm      `activDesc` is NULL.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t
miopenCreateActivationDescriptor(miopenActivationDescriptor_t *activDesc);

/**
 * Sets function and parameters.
 *
 * @param[in,out] activDesc   The descriptor to set; unchanged on failure.
 * @param[in]     mode        The function.
 * @param[in]     activAlpha  Parameter a of the function.
 * @param[in]     activBeta   Parameter b of the function.
 * @param[in]     activGamma  Parameter c of the function.
 *
 * @retval miopenStatusSuccess  The descriptor is set.
 * @retval miopenStatusBadParm  `activDesc` is NULL, or there is no such
 *                              function.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `activDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetActivationDescriptor(
    const miopenActivationDescriptor_t activDesc, miopenActivationMode_t mode,
    double activAlpha, double activBeta, double activGamma);

/**
 * Reads function and parameters.
 *
 * @param[in]  activDesc   The descriptor to read.
 * @param[out] mode        The function.
 * @param[out] activAlpha  Parameter a of the function.
 * @param[out] activBeta   Parameter b of the function.
 * @param[out] activGamma  Parameter c of the function.
 *
 * @retval miopenStatusSuccess  All four are set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `activDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetActivationDescriptor(
    const miopenActivationDescriptor_t activDesc, miopenActivationMode_t *mode,
    double *activAlpha, double *activBeta, double *activGamma);

/**
 * Computes y = f(x).
 *
 * @param[in]  handle     Supplies the device and the stream.
 * @param[in]  activDesc  The function.
 * @param[in]  alpha      Must be 1: a float, or a double if x is double.
 * @param[in]  xDesc      Half, bfloat16, float, double, int8 or int32; any
 *                        strides.
 * @param[in]  x          Device memory, read.
 * @param[in]  beta       Must be 0; has the type of `alpha`.
 * @param[in]  yDesc      The lengths and the data type of x; strides may
 *                        differ.
 * @param[out] y          Device memory, every element overwritten; may be x if
 *                        the strides agree.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, a descriptor was never
 *                                     set, the tensors do not fit each other,
 *                                     elements of y overlap, or y is x with
 *                                     other strides.
 * @retval miopenStatusUnknownError    `alpha` is not 1 or `beta` not 0.
 * @retval miopenStatusNotImplemented  No kernel covers the data type, or a
 *                                     tensor has more than five dimensions that
 *                                     cannot be merged.
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
MIOPEN_EXPORT miopenStatus_t miopenActivationForward(
    miopenHandle_t handle, const miopenActivationDescriptor_t activDesc,
    const void *alpha, const miopenTensorDescriptor_t xDesc, const void *x,
    const void *beta, const miopenTensorDescriptor_t yDesc, void *y);

/**
 * Computes dx = dy f'(x), where f' is computed from x and y as MIOpen does it:
 * y (1 - y) for miopenActivationLOGISTIC, for example. For
 * miopenActivationPOWER MIOpen leaves out dy; this function gives the gradient.
 *
 * @param[in]  handle     Supplies the device and the stream.
 * @param[in]  activDesc  The function.
 * @param[in]  alpha      Must be 1: a float, or a double if x is double.
 * @param[in]  yDesc      The lengths and the data type of dx; strides may
 *                        differ.
 * @param[in]  y          The output of miopenActivationForward() for x; device
 *                        memory, read.
 * @param[in]  dyDesc     The lengths and the data type of dx; strides may
 *                        differ.
 * @param[in]  dy         Gradient of y; device memory, read.
 * @param[in]  xDesc      The lengths and the data type of dx; strides may
 *                        differ.
 * @param[in]  x          Input of the forward call; device memory, read.
 * @param[in]  beta       Must be 0; has the type of `alpha`.
 * @param[in]  dxDesc     Half, bfloat16, float, double, int8 or int32; any
 *                        strides.
 * @param[out] dx         Gradient of x; device memory, every element
 *                        overwritten. May be the memory of another tensor if
 *                        the strides agree.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, a descriptor was never
 *                                     set, the tensors do not fit each other,
 *                                     elements of dx overlap, or dx shares
 *                                     memory with a tensor of other strides.
 * @retval miopenStatusUnknownError    `alpha` is not 1 or `beta` not 0.
 * @retval miopenStatusNotImplemented  No kernel covers the data type, or a
 *                                     tensor has more than five dimensions that
 *                                     cannot be merged.
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
MIOPEN_EXPORT miopenStatus_t miopenActivationBackward(
    miopenHandle_t handle, const miopenActivationDescriptor_t activDesc,
    const void *alpha, const miopenTensorDescriptor_t yDesc, const void *y,
    const miopenTensorDescriptor_t dyDesc, const void *dy,
    const miopenTensorDescriptor_t xDesc, const void *x, const void *beta,
    const miopenTensorDescriptor_t dxDesc, void *dx);

/**
 * Destroys a descriptor.
 *
 * @param[in] activDesc  Not usable afterwards.
 *
 * @retval miopenStatusSuccess  The descriptor is destroyed.
 * @retval miopenStatusBadParm  `activDesc` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `activDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t
miopenDestroyActivationDescriptor(miopenActivationDescriptor_t activDesc);

#ifdef MIOPEN_BETA_API

/**
 * Computes a gated linear unit: output = a / (1 + e^-b), where a and b are the
 * first and the second half of the input along a dimension.
 *
 * @param[in]  handle      Supplies the device and the stream.
 * @param[in]  inputDesc   Half, bfloat16 or float; an even length along `dim`;
 *                         any layout and strides.
 * @param[in]  input       Device memory, read.
 * @param[in]  outputDesc  The data type and the lengths of the input, but half
 *                         the length along `dim`.
 * @param[out] output      Device memory, every element overwritten.
 * @param[in]  dim         Any dimension of the input; MIOpen has 0 only.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, `dim` is no dimension
 *                                     of the input, its length is odd, or the
 *                                     tensors do not fit each other.
 * @retval miopenStatusNotImplemented  No kernel covers the data type, or a
 *                                     tensor has more than five dimensions that
 *                                     cannot be merged.
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
MIOPEN_EXPORT miopenStatus_t miopenGLUForward(
    miopenHandle_t handle, const miopenTensorDescriptor_t inputDesc,
    const void *input, const miopenTensorDescriptor_t outputDesc, void *output,
    const uint32_t dim);

/**
 * Computes the gradient of miopenGLUForward().
 *
 * @param[in]  handle          Supplies the device and the stream.
 * @param[in]  inputDesc       Half, bfloat16 or float; an even length along
 *                             `dim`; any layout and strides.
 * @param[in]  input           Input of the forward call; device memory, read.
 * @param[in]  outputGradDesc  The data type and the lengths of the output.
 * @param[in]  outputGrad      Gradient of the output; device memory, read.
 * @param[in]  inputGradDesc   The data type and the lengths of the input.
 * @param[out] inputGrad       Gradient of the input; device memory, every
 *                             element overwritten.
 * @param[in]  dim             The dimension of the forward call.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, `dim` is no dimension
 *                                     of the input, its length is odd, or the
 *                                     tensors do not fit each other.
 * @retval miopenStatusNotImplemented  No kernel covers the data type, or a
 *                                     tensor has more than five dimensions that
 *                                     cannot be merged.
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
MIOPEN_EXPORT miopenStatus_t miopenGLUBackward(
    miopenHandle_t handle, const miopenTensorDescriptor_t inputDesc,
    const void *input, const miopenTensorDescriptor_t outputGradDesc,
    const void *outputGrad, const miopenTensorDescriptor_t inputGradDesc,
    void *inputGrad, const uint32_t dim);

#endif /* MIOPEN_BETA_API */

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_ACTIVATION_H */

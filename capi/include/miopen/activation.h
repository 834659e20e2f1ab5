/*===- activation.h - Point functions of a tensor ------------------------===*\
|*
|* An activation descriptor is a function of one number and up to three
|* parameters, called a, b and c below: activAlpha, activBeta, activGamma.
|* Tensors are half, bfloat16, float or double, of any layout and strides; the
|* modes with an exponential or a logarithm have no double.
|*
\*===----------------------------------------------------------------------===*/

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

MIOPEN_DECLARE_OBJECT(miopenActivationDescriptor);

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
 * Creates a descriptor, which begins as miopenActivationPASTHRU. Release it
 * with miopenDestroyActivationDescriptor().
 */
MIOPEN_EXPORT miopenStatus_t
miopenCreateActivationDescriptor(miopenActivationDescriptor_t *activDesc);

/** Sets function and parameters; miopenStatusBadParm if there is no such
 * function. */
MIOPEN_EXPORT miopenStatus_t miopenSetActivationDescriptor(
    const miopenActivationDescriptor_t activDesc, miopenActivationMode_t mode,
    double activAlpha, double activBeta, double activGamma);

/** Reads what was set. */
MIOPEN_EXPORT miopenStatus_t miopenGetActivationDescriptor(
    const miopenActivationDescriptor_t activDesc, miopenActivationMode_t *mode,
    double *activAlpha, double *activBeta, double *activGamma);

/**
 * y = f(x). Compiles a kernel on the first call for these lengths, strides and
 * types, or finds it in the cache, and launches it on the handle's stream.
 *
 * @param handle     Stream and device.
 * @param activDesc  The function.
 * @param alpha      Must point to 1: a float, or a double if x is double.
 * @param xDesc      Describes x.
 * @param x          Input on the device.
 * @param beta       Must point to 0.
 * @param yDesc      The lengths and the data type of x; strides may differ.
 * @param y          Output on the device. May be x if the strides agree.
 *
 * @retval miopenStatusSuccess         The kernel is launched.
 * @retval miopenStatusBadParm         A pointer is NULL, the tensors do not fit
 *                                     each other, or y is x with other strides.
 * @retval miopenStatusUnknownError    alpha is not 1 or beta not 0.
 * @retval miopenStatusNotImplemented  No kernel has this type and mode.
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenActivationForward(
    miopenHandle_t handle, const miopenActivationDescriptor_t activDesc,
    const void *alpha, const miopenTensorDescriptor_t xDesc, const void *x,
    const void *beta, const miopenTensorDescriptor_t yDesc, void *y);

/**
 * dx = dy f'(x), with f' from x and y as MIOpen takes it: e.g. y (1 - y) for
 * miopenActivationLOGISTIC. Of miopenActivationPOWER, where MIOpen forgets dy,
 * this is the gradient.
 *
 * @param handle     Stream and device.
 * @param activDesc  The function.
 * @param alpha      Must point to 1: a float, or a double if x is double.
 * @param yDesc      Describes y; as the others, it has the lengths and the data
 *                   type of dx.
 * @param y          What miopenActivationForward() gave for x.
 * @param dyDesc     Describes dy.
 * @param dy         Gradient of y.
 * @param xDesc      Describes x.
 * @param x          Input of the forward call.
 * @param beta       Must point to 0.
 * @param dxDesc     Describes dx.
 * @param dx         Gradient of x. May be another tensor's memory if the strides
 *                   agree.
 *
 * @return As miopenActivationForward().
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenActivationBackward(
    miopenHandle_t handle, const miopenActivationDescriptor_t activDesc,
    const void *alpha, const miopenTensorDescriptor_t yDesc, const void *y,
    const miopenTensorDescriptor_t dyDesc, const void *dy,
    const miopenTensorDescriptor_t xDesc, const void *x, const void *beta,
    const miopenTensorDescriptor_t dxDesc, void *dx);

/** Destroys a descriptor. */
MIOPEN_EXPORT miopenStatus_t
miopenDestroyActivationDescriptor(miopenActivationDescriptor_t activDesc);

#ifdef MIOPEN_BETA_API

/**
 * Gated linear unit: output = a / (1 + e^-b), where a and b are the first and
 * the second half of the input along a dimension.
 *
 * @param handle      Stream and device.
 * @param inputDesc   Half, bfloat16 or float; an even length along `dim`.
 * @param input       Input.
 * @param outputDesc  The data type and lengths of the input, but half as long
 *                    along `dim`.
 * @param output      Output.
 * @param dim         Any dimension; MIOpen has 0 only.
 *
 * @retval miopenStatusSuccess         The kernel is launched.
 * @retval miopenStatusBadParm         A pointer is NULL, or the tensors do not
 *                                     fit each other.
 * @retval miopenStatusNotImplemented  Another data type.
 */
MIOPEN_EXPORT miopenStatus_t miopenGLUForward(
    miopenHandle_t handle, const miopenTensorDescriptor_t inputDesc,
    const void *input, const miopenTensorDescriptor_t outputDesc, void *output,
    const uint32_t dim);

/** Its gradient, of the input's lengths. Returns as miopenGLUForward(). */
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

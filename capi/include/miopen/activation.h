/*===- activation.h - Point functions of a tensor ------------------------===*\
|*
|* An activation descriptor is a function of one number and up to three
|* parameters. It is an object of the host that holds what it was given;
|* running one is not implemented yet and answers miopenStatusNotImplemented.
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
  miopenActivationPASTHRU = 0,
  miopenActivationLOGISTIC = 1,
  miopenActivationTANH = 2,
  miopenActivationRELU = 3,
  miopenActivationSOFTRELU = 4,
  miopenActivationABS = 5,
  miopenActivationPOWER = 6,
  miopenActivationCLIPPEDRELU = 7,
  miopenActivationLEAKYRELU = 8,
  miopenActivationELU = 9
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

/** y = f(x). Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenActivationForward(
    miopenHandle_t handle, const miopenActivationDescriptor_t activDesc,
    const void *alpha, const miopenTensorDescriptor_t xDesc, const void *x,
    const void *beta, const miopenTensorDescriptor_t yDesc, void *y);

/** dx = dy f'(x). Not implemented. */
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

/** Gated linear unit along a dimension. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenGLUForward(
    miopenHandle_t handle, const miopenTensorDescriptor_t inputDesc,
    const void *input, const miopenTensorDescriptor_t outputDesc, void *output,
    const uint32_t dim);

/** Its gradient. Not implemented. */
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

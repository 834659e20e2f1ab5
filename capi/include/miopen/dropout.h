/*===- dropout.h - Dropout -----------------------------------------------===*\
|*
|* The descriptor holds what it was given. Nothing is dropped yet, and no
|* states are made: all other functions answer miopenStatusNotImplemented.
|*
\*===----------------------------------------------------------------------===*/

#ifndef MIOPEN_DROPOUT_H
#define MIOPEN_DROPOUT_H

#include <miopen/export.h>
#include <miopen/handle.h>
#include <miopen/tensor.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

MIOPEN_DECLARE_OBJECT(miopenDropoutDescriptor);

typedef enum { MIOPEN_RNG_PSEUDO_XORWOW = 0 } miopenRNGType_t;

/** Creates a descriptor; release it with miopenDestroyDropoutDescriptor(). */
MIOPEN_EXPORT miopenStatus_t
miopenCreateDropoutDescriptor(miopenDropoutDescriptor_t *dropoutDesc);

/** Destroys a descriptor, but not its states. */
MIOPEN_EXPORT miopenStatus_t
miopenDestroyDropoutDescriptor(miopenDropoutDescriptor_t dropoutDesc);

/** Bytes of the mask: one an element of x. */
MIOPEN_EXPORT miopenStatus_t miopenDropoutGetReserveSpaceSize(
    const miopenTensorDescriptor_t xDesc, size_t *reserveSpaceSizeInBytes);

/** Bytes of generator states: 0, as no generator runs. */
MIOPEN_EXPORT miopenStatus_t
miopenDropoutGetStatesSize(miopenHandle_t handle, size_t *stateSizeInBytes);

/** Reads what was set; a pointer that is NULL is left out. */
MIOPEN_EXPORT miopenStatus_t miopenGetDropoutDescriptor(
    miopenDropoutDescriptor_t dropoutDesc, miopenHandle_t handle,
    float *dropout, void **states, unsigned long long *seed, bool *use_mask,
    bool *state_evo, miopenRNGType_t *rng_mode);

/**
 * Sets a descriptor and keeps the states as they are.
 *
 * @retval miopenStatusSuccess  The descriptor is set.
 * @retval miopenStatusBadParm  `dropoutDesc` or `handle` is NULL, the rate is
 * not between 0 and 1, or the generator is unknown.
 */
MIOPEN_EXPORT miopenStatus_t miopenRestoreDropoutDescriptor(
    miopenDropoutDescriptor_t dropoutDesc, miopenHandle_t handle, float dropout,
    void *states, size_t stateSizeInBytes, unsigned long long seed,
    bool use_mask, bool state_evo, miopenRNGType_t rng_mode);

/** The same; would begin the states anew. */
MIOPEN_EXPORT miopenStatus_t miopenSetDropoutDescriptor(
    miopenDropoutDescriptor_t dropoutDesc, miopenHandle_t handle, float dropout,
    void *states, size_t stateSizeInBytes, unsigned long long seed,
    bool use_mask, bool state_evo, miopenRNGType_t rng_mode);

/** Drops. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenDropoutForward(
    miopenHandle_t handle, const miopenDropoutDescriptor_t dropoutDesc,
    const miopenTensorDescriptor_t noise_shape,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y, void *reserveSpace,
    size_t reserveSpaceSizeInBytes);

/** Drops gradients where forward did. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenDropoutBackward(
    miopenHandle_t handle, const miopenDropoutDescriptor_t dropoutDesc,
    const miopenTensorDescriptor_t noise_shape,
    const miopenTensorDescriptor_t dyDesc, const void *dy,
    const miopenTensorDescriptor_t dxDesc, void *dx, void *reserveSpace,
    size_t reserveSpaceSizeInBytes);

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_DROPOUT_H */

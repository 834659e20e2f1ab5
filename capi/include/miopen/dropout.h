/*===- dropout.h - Dropout -----------------------------------------------===*\
|*
|* Elements are left out at random and the others scaled by 1 / (1 - rate). The
|* generator counts: an element's random number is a function of the seed and of
|* a counter, both of which are the states on the device (docs/spec/rows.md of
|* Tessera). So masks differ from those of MIOpen with the same seed. Tensors
|* are half, bfloat16, float or double, of up to five dimensions.
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

/** Bytes of the states: 16. */
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

/** The same, and begins the states anew: launches kernels that write seed and
 * counter, unless `states` is NULL or too small. */
MIOPEN_EXPORT miopenStatus_t miopenSetDropoutDescriptor(
    miopenDropoutDescriptor_t dropoutDesc, miopenHandle_t handle, float dropout,
    void *states, size_t stateSizeInBytes, unsigned long long seed,
    bool use_mask, bool state_evo, miopenRNGType_t rng_mode);

/**
 * Drops elements of x. The mask goes to the reserve space if there is one; with
 * `use_mask` it comes from there. With `state_evo` the next call draws other
 * numbers, else the same.
 *
 * @param handle                   Stream and device.
 * @param dropoutDesc              Rate, states, flags.
 * @param noise_shape              The lengths of x.
 * @param xDesc                    Describes x.
 * @param x                        Input.
 * @param yDesc                    The lengths and the data type of x.
 * @param y                        Output. May be x if the strides agree.
 * @param reserveSpace             A byte an element, packed; or NULL.
 * @param reserveSpaceSizeInBytes  How many there are.
 *
 * @retval miopenStatusSuccess         The kernels are launched.
 * @retval miopenStatusBadParm         A pointer is NULL, or the tensors do not
 *                                     fit each other.
 * @retval miopenStatusUnknownError    States or reserve space are too small.
 * @retval miopenStatusNotImplemented  Another data type, or more dimensions.
 *
 * @par Threads
 *   Calls on one handle, and with the same states, must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenDropoutForward(
    miopenHandle_t handle, const miopenDropoutDescriptor_t dropoutDesc,
    const miopenTensorDescriptor_t noise_shape,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y, void *reserveSpace,
    size_t reserveSpaceSizeInBytes);

/**
 * Drops gradients where forward did: where the mask in the reserve space says,
 * or, without one, as the states say, which is right without `state_evo`.
 *
 * @return As miopenDropoutForward().
 */
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

/*===- dropout.h - Dropout ------------------------------------------------===*/
/**
 * @file
 * Elements are set to zero at random and the others scaled by 1 / (1 - rate).
 * The random number of an element is a function of a seed and a counter, which
 * are the states in device memory (docs/spec/row-wise.md); MIOpen's is another
 * function, so that the same seed gives other masks. Tensors are half,
 * bfloat16, float or double, of any layout and strides.
 */

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

/** Rate, flags and states of a dropout. */
MIOPEN_DECLARE_OBJECT(miopenDropoutDescriptor);

/** Kind of random number generator; there is one. */
typedef enum {
  /** MIOpen's name; the numbers are a hash of seed and counter
   *  (docs/spec/row-wise.md). */
  MIOPEN_RNG_PSEUDO_XORWOW = 0
} miopenRNGType_t;

/**
 * Creates a descriptor with a rate of 0 and no states.
 *
 * @param[out] dropoutDesc  Owned by the caller: release it with
 *                          miopenDestroyDropoutDescriptor().
 *
 * @retval miopenStatusSuccess      `*dropoutDesc` is usable.
 * @retval miopenStatusBadParm      `dropoutDesc` is NULL.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t
miopenCreateDropoutDescriptor(miopenDropoutDescriptor_t *dropoutDesc);

/**
 * Destroys a descriptor, but not its states.
 *
 * @param[in] dropoutDesc  Not usable afterwards.
 *
 * @retval miopenStatusSuccess  The descriptor is destroyed.
 * @retval miopenStatusBadParm  `dropoutDesc` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `dropoutDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t
miopenDestroyDropoutDescriptor(miopenDropoutDescriptor_t dropoutDesc);

/**
 * Gets the size of a mask: one byte for each element of x.
 *
 * @param[in]  xDesc                  Describes x.
 * @param[out] reserveSpaceSizeInBytes  Bytes.
 *
 * @retval miopenStatusSuccess  `*reserveSpaceSizeInBytes` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `xDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenDropoutGetReserveSpaceSize(
    const miopenTensorDescriptor_t xDesc, size_t *reserveSpaceSizeInBytes);

/**
 * Gets the size of the states: 192 bytes, of which 16 are used. PyTorch rounds
 * the size down to whole states of rocRAND's generator.
 *
 * @param[in]  handle            Checked for NULL only.
 * @param[out] stateSizeInBytes  Bytes.
 *
 * @retval miopenStatusSuccess  `*stateSizeInBytes` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t
miopenDropoutGetStatesSize(miopenHandle_t handle, size_t *stateSizeInBytes);

/**
 * Reads a descriptor.
 *
 * @param[in]  dropoutDesc  The descriptor to read.
 * @param[in]  handle       Checked for NULL only.
 * @param[out] dropout      Rate; may be NULL.
 * @param[out] states       Device memory of the states; may be NULL.
 * @param[out] seed         Seed; may be NULL.
 * @param[out] use_mask     Whether the mask is read; may be NULL.
 * @param[out] state_evo    Whether the counter advances; may be NULL.
 * @param[out] rng_mode     The generator; may be NULL.
 *
 * @retval miopenStatusSuccess  The outputs that are wanted are set.
 * @retval miopenStatusBadParm  `dropoutDesc` or `handle` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `dropoutDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetDropoutDescriptor(
    miopenDropoutDescriptor_t dropoutDesc, miopenHandle_t handle,
    float *dropout, void **states, unsigned long long *seed, bool *use_mask,
    bool *state_evo, miopenRNGType_t *rng_mode);

/**
 * Sets a descriptor and keeps the states as they are.
 *
 * @param[in,out] dropoutDesc       The descriptor to set; unchanged if an
 *                                  argument is wrong.
 * @param[in]     handle            Checked for NULL only.
 * @param[in]     dropout           Rate: the probability of an element to be
 *                                  set to zero, between 0 and 1.
 * @param[in]     states            Device memory of at least 16 bytes that
 *                                  miopenSetDropoutDescriptor() initialised,
 *                                  owned by the caller; NULL if no random
 *                                  numbers are drawn.
 * @param[in]     stateSizeInBytes  Size of `states` in bytes.
 * @param[in]     seed              Seed of the generator.
 * @param[in]     use_mask          Whether miopenDropoutForward() reads the
 *                                  mask from the reserve space and draws
 *                                  nothing.
 * @param[in]     state_evo         Whether a call of miopenDropoutForward()
 *                                  advances the counter, so that the next one
 *                                  draws other numbers.
 * @param[in]     rng_mode          The generator.
 *
 * @retval miopenStatusSuccess  The descriptor is set.
 * @retval miopenStatusBadParm  `dropoutDesc` or `handle` is NULL, the rate is
 *                              not between 0 and 1, or the generator is
 *                              unknown.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `dropoutDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenRestoreDropoutDescriptor(
    miopenDropoutDescriptor_t dropoutDesc, miopenHandle_t handle, float dropout,
    void *states, size_t stateSizeInBytes, unsigned long long seed,
    bool use_mask, bool state_evo, miopenRNGType_t rng_mode);

/**
 * Sets a descriptor and initialises the states on the device: two launches, or
 * none if `states` is NULL or too small.
 *
 * @param[in,out] dropoutDesc       The descriptor to set; unchanged if an
 *                                  argument is wrong.
 * @param[in]     handle            Supplies the device and the stream.
 * @param[in]     dropout           Rate: the probability of an element to be
 *                                  set to zero, between 0 and 1.
 * @param[in]     states            Device memory of at least 16 bytes, owned by
 *                                  the caller, which must stay valid as long as
 *                                  the descriptor is used; NULL if no random
 *                                  numbers are drawn.
 * @param[in]     stateSizeInBytes  Size of `states` in bytes.
 * @param[in]     seed              Seed of the generator.
 * @param[in]     use_mask          Whether miopenDropoutForward() reads the
 *                                  mask from the reserve space and draws
 *                                  nothing.
 * @param[in]     state_evo         Whether a call of miopenDropoutForward()
 *                                  advances the counter, so that the next one
 *                                  draws other numbers.
 * @param[in]     rng_mode          The generator.
 *
 * @retval miopenStatusSuccess         The descriptor is set, and the kernels
 *                                     are on the stream.
 * @retval miopenStatusBadParm         `dropoutDesc` or `handle` is NULL, the
 *                                     rate is not between 0 and 1, or the
 *                                     generator is unknown, or `states` is not
 *                                     aligned to 8 bytes.
 * @retval miopenStatusNotImplemented  No kernel covers the chip.
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
 *   One thread for each handle: calls on one handle must not overlap. The
 *   descriptor is changed: no other call may use it meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetDropoutDescriptor(
    miopenDropoutDescriptor_t dropoutDesc, miopenHandle_t handle, float dropout,
    void *states, size_t stateSizeInBytes, unsigned long long seed,
    bool use_mask, bool state_evo, miopenRNGType_t rng_mode);

/**
 * Drops elements of x.
 *
 * Without `use_mask`, random numbers are drawn, and the mask is written to the
 * reserve space if there is one; with `use_mask`, the mask is read from there.
 *
 * @param[in]     handle              Supplies the device and the stream.
 * @param[in]     dropoutDesc         Rate, states and flags.
 * @param[in]     noise_shape         The lengths of x.
 * @param[in]     xDesc               Half, bfloat16, float or double.
 * @param[in]     x                   Device memory, read.
 * @param[in]     yDesc               The lengths and the data type of x.
 * @param[out]    y                   Device memory, every element overwritten;
 *                                    may be x if the strides agree.
 * @param[in,out] reserveSpace        Device memory: one byte for each element
 *                                    of x, packed in the order of its lengths.
 *                                    NULL, unless the mask is read or wanted.
 * @param[in]     reserveSpaceSizeInBytes  Size of `reserveSpace` in bytes; at
 *                                    least one for each element if
 *                                    `reserveSpace` is not NULL.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer other than `reserveSpace` is
 *                                     NULL, a descriptor was never set, the
 *                                     tensors do not fit each other, or
 *                                     elements of the result overlap.
 * @retval miopenStatusUnknownError    States are needed and have fewer than 16
 *                                     bytes, or the reserve space is needed or
 *                                     given and is too small.
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
 *   One thread for each handle: calls on one handle must not overlap, nor may
 *   calls with the same states.
 */
MIOPEN_EXPORT miopenStatus_t miopenDropoutForward(
    miopenHandle_t handle, const miopenDropoutDescriptor_t dropoutDesc,
    const miopenTensorDescriptor_t noise_shape,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t yDesc, void *y, void *reserveSpace,
    size_t reserveSpaceSizeInBytes);

/**
 * Drops the gradients of the elements that the forward pass dropped.
 *
 * The mask is read from the reserve space. Without one it is computed again
 * from the states, which is right only if the counter has not advanced.
 *
 * @param[in]  handle                 Supplies the device and the stream.
 * @param[in]  dropoutDesc            Rate, states and flags.
 * @param[in]  noise_shape            The lengths of dy.
 * @param[in]  dyDesc                 Half, bfloat16, float or double.
 * @param[in]  dy                     Device memory, read.
 * @param[in]  dxDesc                 The lengths and the data type of dy.
 * @param[out] dx                     Device memory, every element overwritten;
 *                                    may be dy if the strides agree.
 * @param[in]  reserveSpace           The mask that the forward pass wrote;
 *                                    device memory. NULL only without
 *                                    `use_mask`.
 * @param[in]  reserveSpaceSizeInBytes  Size of `reserveSpace` in bytes; at
 *                                    least one for each element if
 *                                    `reserveSpace` is not NULL.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer other than `reserveSpace` is
 *                                     NULL, a descriptor was never set, the
 *                                     tensors do not fit each other, or
 *                                     elements of the result overlap.
 * @retval miopenStatusUnknownError    States are needed and have fewer than 16
 *                                     bytes, or the reserve space is needed or
 *                                     given and is too small.
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
 *   One thread for each handle: calls on one handle must not overlap, nor may
 *   calls with the same states.
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

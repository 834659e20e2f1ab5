/*===- handle.h - A connection to the device, and what calls answer --------===*\
|*
|* A handle names the stream that work is put on and carries the profiling
|* switch. It owns no kernels: those belong to the process, so a second handle
|* finds what the first one compiled.
|*
\*===----------------------------------------------------------------------===*/

#ifndef MIOPEN_HANDLE_H
#define MIOPEN_HANDLE_H

#include <miopen/config.h>
#include <miopen/export.h>

#include <hip/hip_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A HIP stream; NULL is the default stream of the current device. */
typedef hipStream_t miopenAcceleratorQueue_t;

MIOPEN_DECLARE_OBJECT(miopenHandle);

/** What a call answers. The values are MIOpen's. */
typedef enum {
  miopenStatusSuccess = 0,
  miopenStatusNotInitialized = 1, /**< Never answered: what the library needs
                                       it makes at the first call. */
  miopenStatusInvalidValue = 2, /**< An array of lengths is missing or empty. */
  miopenStatusBadParm = 3,      /**< An argument is wrong; the caller can mend
                                     it. */
  miopenStatusAllocFailed = 4,  /**< Host or device memory ran out. */
  miopenStatusInternalError = 5,  /**< Device, driver or compiler failed. */
  miopenStatusNotImplemented = 6, /**< A valid request that this library has no
                                       kernel for; callers may fall back. */
  miopenStatusUnknownError = 7,   /**< MIOpen's answer to a few misuses, kept
                                       because clients test for it. */
  miopenStatusUnsupportedOp = 8,  /**< No kernel fuses the plan's operations. */
  miopenStatusGpuOperationsSkipped = 9, /**< MIOPEN_DEBUG_COMPILE_ONLY is set:
                                             nothing was launched. */
  miopenStatusVersionMismatch = 10 /**< A saved solution is of a release that
                                        wrote another form. */
} miopenStatus_t;

/** Gives `sizeBytes` of device memory, or NULL. */
typedef void *(*miopenAllocatorFunction)(void *context, size_t sizeBytes);
/** Takes back what a miopenAllocatorFunction gave. */
typedef void (*miopenDeallocatorFunction)(void *context, void *memory);

/**
 * The name of a status, for messages: "miopenStatusBadParm".
 *
 * Costs one table lookup. For what went wrong in a particular call, see
 * tesseraGetLastErrorMessage().
 *
 * @param error  Any value; one that is not a status gives "Unknown error status".
 * @return       A string that is never freed.
 *
 * @par Threads
 *   Any.
 */
MIOPEN_EXPORT const char *miopenGetErrorString(miopenStatus_t error);

/**
 * The release of MIOpen that the library answers as (version.h).
 *
 * Costs nothing; needs no device.
 *
 * @param[out] major  May be NULL, as may the other two.
 * @param[out] minor  See above.
 * @param[out] patch  See above.
 *
 * @retval miopenStatusSuccess  Always.
 *
 * @par Threads
 *   Any.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetVersion(size_t *major, size_t *minor,
                                              size_t *patch);

/**
 * Creates a handle on the default stream of the current device.
 *
 * The first handle of a process finds a HIP runtime and opens the kernel
 * database, which takes milliseconds; later ones cost an allocation. Compiles
 * and launches nothing.
 *
 * @param[out] handle  Owned by the caller: release it with miopenDestroy().
 *
 * @retval miopenStatusSuccess        `*handle` is usable.
 * @retval miopenStatusBadParm        `handle` is NULL.
 * @retval miopenStatusInternalError  There is no HIP device.
 *
 * @par Threads
 *   Any.
 */
MIOPEN_EXPORT miopenStatus_t miopenCreate(miopenHandle_t *handle);

/**
 * Creates a handle on the caller's stream. As miopenCreate() otherwise.
 *
 * @param[out] handle  Owned by the caller: release it with miopenDestroy().
 * @param      stream  Must outlive its use by the handle; NULL is the default
 *                     stream.
 *
 * @retval miopenStatusSuccess        `*handle` is usable.
 * @retval miopenStatusBadParm        `handle` is NULL.
 * @retval miopenStatusInternalError  There is no HIP device.
 *
 * @par Threads
 *   Any.
 */
MIOPEN_EXPORT miopenStatus_t miopenCreateWithStream(
    miopenHandle_t *handle, miopenAcceleratorQueue_t stream);

/**
 * Destroys a handle. Work that is already on its stream goes on; the stream
 * itself belongs to the caller. Does not wait.
 *
 * @param handle  Not usable afterwards.
 *
 * @retval miopenStatusSuccess  The handle is gone.
 * @retval miopenStatusBadParm  `handle` is NULL.
 *
 * @par Threads
 *   No other call on this handle may be under way.
 */
MIOPEN_EXPORT miopenStatus_t miopenDestroy(miopenHandle_t handle);

/**
 * Chooses the stream of all later work. One store: made to be called before
 * every launch.
 *
 * @param handle    The handle to change.
 * @param streamID  Must outlive its use by the handle; NULL is the default
 *                  stream.
 *
 * @retval miopenStatusSuccess  Later work goes to `streamID`.
 * @retval miopenStatusBadParm  `handle` is NULL.
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetStream(miopenHandle_t handle,
                                             miopenAcceleratorQueue_t streamID);

/**
 * Reads the stream of a handle.
 *
 * @param      handle    The handle to read.
 * @param[out] streamID  The stream given last, or NULL for the default one.
 *
 * @retval miopenStatusSuccess  `*streamID` is set.
 * @retval miopenStatusBadParm  `handle` or `streamID` is NULL.
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t
miopenGetStream(miopenHandle_t handle, miopenAcceleratorQueue_t *streamID);

/**
 * Chooses where the library gets device memory for its own needs.
 *
 * The functions are recorded but never called: workspace comes from the caller,
 * and the little that rare poolings, fused convolutions and Find 2.0 take beside
 * it comes from hipMalloc.
 *
 * @param handle            The handle to change.
 * @param allocator         NULL, together with `deallocator`, goes back to
 *                          hipMalloc.
 * @param deallocator       Frees what `allocator` gave.
 * @param allocatorContext  Passed through to both; may be NULL.
 *
 * @retval miopenStatusSuccess  The functions are kept.
 * @retval miopenStatusBadParm  `handle` is NULL, or only one of the two
 *                              functions is.
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetAllocator(
    miopenHandle_t handle, miopenAllocatorFunction allocator,
    miopenDeallocatorFunction deallocator, void *allocatorContext);

/**
 * The time of the last kernel that was launched with profiling on.
 *
 * @param      handle  The handle that it was launched through.
 * @param[out] time    Milliseconds between the device's events around the
 *                     kernel, or the sum where the last call launched
 *                     several; 0 if none was launched since profiling was
 *                     enabled. On the emulated device this is host time.
 *
 * @retval miopenStatusSuccess  `*time` is set.
 * @retval miopenStatusBadParm  `handle` or `time` is NULL.
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetKernelTime(miopenHandle_t handle,
                                                 float *time);

/**
 * Switches the timing of kernels on or off. While it is on, every execution
 * waits for its kernel, so that miopenGetKernelTime() can answer.
 *
 * @param handle  The handle to change.
 * @param enable  On or off; a new handle is off.
 *
 * @retval miopenStatusSuccess  The switch is set and the last time is 0.
 * @retval miopenStatusBadParm  `handle` is NULL.
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenEnableProfiling(miopenHandle_t handle,
                                                   bool enable);

/** When Find searches for better kernels, whatever its argument says. */
typedef enum {
  miopenTuningPolicyNone = 1,
  miopenTuningPolicyDbUpdate = 2,
  miopenTuningPolicySearch = 3,
  miopenTuningPolicySearchDbUpdate = 4,
  miopenTuningPolicyDbClean = 5
} miopenTuningPolicy_t;

/**
 * Sets the tuning policy of a handle. Kept and given back; the environment
 * (MIOPEN_FIND_ENFORCE) is what this release obeys.
 *
 * @param handle    The handle to change.
 * @param newValue  The policy.
 *
 * @retval miopenStatusSuccess  The policy is kept.
 * @retval miopenStatusBadParm  `handle` is NULL, or the policy is unknown.
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetTuningPolicy(
    miopenHandle_t handle, miopenTuningPolicy_t newValue);

/**
 * Reads the tuning policy.
 *
 * @param      handle  The handle to read.
 * @param[out] value   miopenTuningPolicyNone unless it was set.
 *
 * @retval miopenStatusSuccess  `*value` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t
miopenGetTuningPolicy(miopenHandle_t handle, miopenTuningPolicy_t *value);

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_HANDLE_H */

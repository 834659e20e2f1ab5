/*===- handle.h - A connection to the device, and the statuses ------------===*/
/**
 * @file
 * A handle names the stream that work is put on and carries the profiling
 * switch. It owns no kernels: they belong to the process, so that a second
 * handle finds what the first one compiled.
 */

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

/** A device and a stream. */
MIOPEN_DECLARE_OBJECT(miopenHandle);

/** What a function returns. The values are MIOpen's. */
typedef enum {
  /** The call did what its description says. */
  miopenStatusSuccess = 0,
  /** Never returned: the library creates what it needs at the first call. */
  miopenStatusNotInitialized = 1,
  /** An array of lengths or a tensor of a problem is missing, or bytes are no
   *  solution. */
  miopenStatusInvalidValue = 2,
  /** An argument is wrong; the caller can correct it. */
  miopenStatusBadParm = 3,
  /** Host or device memory ran out. */
  miopenStatusAllocFailed = 4,
  /** The device, the driver or the compiler failed. */
  miopenStatusInternalError = 5,
  /** The request is valid, but this library has no kernel for it; callers may
   *  fall back. */
  miopenStatusNotImplemented = 6,
  /** The answer of MIOpen to a few misuses, kept because clients test for
   *  it. */
  miopenStatusUnknownError = 7,
  /** No kernel fuses the operations of the plan. */
  miopenStatusUnsupportedOp = 8,
  /** MIOPEN_DEBUG_COMPILE_ONLY is set: nothing was launched. */
  miopenStatusGpuOperationsSkipped = 9,
  /** A release with another format wrote the saved solution. */
  miopenStatusVersionMismatch = 10
} miopenStatus_t;

/** Allocates `sizeBytes` bytes of device memory; NULL if it cannot. */
typedef void *(*miopenAllocatorFunction)(void *context, size_t sizeBytes);
/** Frees what a miopenAllocatorFunction allocated. */
typedef void (*miopenDeallocatorFunction)(void *context, void *memory);

/**
 * Gives the name of a status, for messages: "miopenStatusBadParm".
 *
 * tesseraGetLastErrorMessage() says what went wrong in a particular call.
 *
 * @param[in] error  Any value; one that is not a status gives "Unknown error
 *                   status".
 *
 * @return A string literal, which is never freed.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT const char *miopenGetErrorString(miopenStatus_t error);

/**
 * Reads the release of MIOpen whose behaviour the library follows (version.h).
 * Needs no device.
 *
 * @param[out] major  Major number; may be NULL.
 * @param[out] minor  Minor number; may be NULL.
 * @param[out] patch  Patch number; may be NULL.
 *
 * @retval miopenStatusSuccess      The numbers that are wanted are set.
 * @retval miopenStatusAllocFailed  Host memory ran out while the call was
 *                                  logged.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetVersion(size_t *major, size_t *minor,
                                              size_t *patch);

/**
 * Creates a handle on the default stream of the current device.
 *
 * The first handle of a process finds a HIP runtime and opens the kernel
 * database; later ones cost an allocation.
 *
 * @param[out] handle  Owned by the caller: release it with miopenDestroy().
 *
 * @retval miopenStatusSuccess        `*handle` is usable.
 * @retval miopenStatusBadParm        `handle` is NULL, or TESSERA_DEVICE names
 *                                    no kind of device.
 * @retval miopenStatusAllocFailed    Host memory ran out.
 * @retval miopenStatusInternalError  There is no HIP device, or its driver
 *                                    failed.
 *
 * @par Cost
 *   Opens the device at the first call of the process; compiles and launches
 *   nothing.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t miopenCreate(miopenHandle_t *handle);

/**
 * Creates a handle on a stream of the caller; in all else it does what
 * miopenCreate() does.
 *
 * @param[out] handle  Owned by the caller: release it with miopenDestroy().
 * @param[in]  stream  Must outlive its use by the handle; NULL is the default
 *                     stream.
 *
 * @retval miopenStatusSuccess        `*handle` is usable.
 * @retval miopenStatusBadParm        `handle` is NULL, or TESSERA_DEVICE names
 *                                    no kind of device.
 * @retval miopenStatusAllocFailed    Host memory ran out.
 * @retval miopenStatusInternalError  There is no HIP device, or its driver
 *                                    failed.
 *
 * @par Cost
 *   Opens the device at the first call of the process; compiles and launches
 *   nothing.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t miopenCreateWithStream(
    miopenHandle_t *handle, miopenAcceleratorQueue_t stream);

/**
 * Destroys a handle. Work that is already on its stream goes on; the stream
 * itself belongs to the caller.
 *
 * @param[in] handle  Not usable afterwards.
 *
 * @retval miopenStatusSuccess  The handle is destroyed.
 * @retval miopenStatusBadParm  `handle` is NULL.
 *
 * @par Cost
 *   Host only, except that a handle with scratch memory waits for the device to
 *   free it.
 *
 * @par Threads
 *   Exclusive: no other call may use `handle` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenDestroy(miopenHandle_t handle);

/**
 * Chooses the stream of all later work. It costs one store, so that clients may
 * call it before every launch.
 *
 * @param[in] handle    The handle.
 * @param[in] streamID  Must outlive its use by the handle; NULL is the default
 *                      stream.
 *
 * @retval miopenStatusSuccess  Later work goes to `streamID`.
 * @retval miopenStatusBadParm  `handle` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetStream(miopenHandle_t handle,
                                             miopenAcceleratorQueue_t streamID);

/**
 * Reads the stream of a handle.
 *
 * @param[in]  handle    The handle.
 * @param[out] streamID  The stream that was set last, or NULL for the default
 *                       stream.
 *
 * @retval miopenStatusSuccess  `*streamID` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t
miopenGetStream(miopenHandle_t handle, miopenAcceleratorQueue_t *streamID);

/**
 * Records functions that allocate device memory.
 *
 * The functions are never called: the caller provides workspace, and the
 * scratch memory that some kernels need beside it comes from hipMalloc().
 *
 * @param[in] handle            The handle.
 * @param[in] allocator         Allocates device memory; NULL, together with
 *                              `deallocator`, stands for hipMalloc().
 * @param[in] deallocator       Frees what `allocator` returned; NULL if
 *                              `allocator` is.
 * @param[in] allocatorContext  Passed through to both; may be NULL.
 *
 * @retval miopenStatusSuccess  The functions are recorded.
 * @retval miopenStatusBadParm  `handle` is NULL, or only one of the two
 *                              functions is.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetAllocator(
    miopenHandle_t handle, miopenAllocatorFunction allocator,
    miopenDeallocatorFunction deallocator, void *allocatorContext);

/**
 * Reads the time of the last kernel that was launched with profiling enabled.
 *
 * @param[in]  handle  The handle.
 * @param[out] time    Milliseconds between the events around the kernel, or
 *                     their sum where the last call launched several kernels; 0
 *                     if none was launched since profiling was enabled. On the
 *                     emulated device this is host time.
 *
 * @retval miopenStatusSuccess  `*time` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetKernelTime(miopenHandle_t handle,
                                                 float *time);

/**
 * Switches the timing of kernels on or off.
 *
 * While it is on, every function that launches waits for its kernels, so that
 * miopenGetKernelTime() has their time.
 *
 * @param[in] handle  The handle.
 * @param[in] enable  On or off; a new handle is off.
 *
 * @retval miopenStatusSuccess  The switch is set, and the last time is 0.
 * @retval miopenStatusBadParm  `handle` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenEnableProfiling(miopenHandle_t handle,
                                                   bool enable);

/** When Find tunes, whatever its argument says. A handle only stores the value:
 *  MIOPEN_FIND_ENFORCE of the environment, which has the same five, decides. */
typedef enum {
  /** Find tunes only if its argument asks for it. */
  miopenTuningPolicyNone = 1,
  /** Does nothing by itself, as in MIOpen. */
  miopenTuningPolicyDbUpdate = 2,
  /** Find tunes a problem that the database does not have. */
  miopenTuningPolicySearch = 3,
  /** Find tunes every problem, whatever the database has. */
  miopenTuningPolicySearchDbUpdate = 4,
  /** Find deletes what the database has of the problem. */
  miopenTuningPolicyDbClean = 5
} miopenTuningPolicy_t;

/**
 * Sets the tuning policy of a handle. It is stored and can be read back, and
 * has no other effect: Find obeys the environment (MIOPEN_FIND_ENFORCE).
 *
 * @param[in] handle    The handle.
 * @param[in] newValue  One of the enumerators.
 *
 * @retval miopenStatusSuccess  The policy is stored.
 * @retval miopenStatusBadParm  `handle` is NULL, or the policy is unknown.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetTuningPolicy(
    miopenHandle_t handle, miopenTuningPolicy_t newValue);

/**
 * Reads the tuning policy of a handle.
 *
 * @param[in]  handle  The handle.
 * @param[out] value   miopenTuningPolicyNone unless another was set.
 *
 * @retval miopenStatusSuccess  `*value` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t
miopenGetTuningPolicy(miopenHandle_t handle, miopenTuningPolicy_t *value);

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_HANDLE_H */

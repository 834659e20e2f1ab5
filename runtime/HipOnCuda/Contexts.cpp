//===- Contexts.cpp - Which device a thread is on -------------------------===//
//
// The driver keeps the current context of each thread, and cudart looks there
// too. So this file keeps only the primary contexts, which stay alive because
// they hold memory and modules of the application.
//
//===----------------------------------------------------------------------===//

#include "runtime/HipOnCuda/Driver.h"

#include <mutex>
#include <vector>

using namespace tessera::cuda;

namespace {
struct Primaries {
  std::mutex mutex;
  /// One for each device; null until the device is used.
  std::vector<hipCtx_t> contexts;
};
} // namespace

static Primaries &getPrimaries() {
  static auto *primaries = new Primaries;
  return *primaries;
}

hipError_t tessera::cuda::checkDevice(int id) {
  const Driver *driver = Driver::get();
  if (!driver)
    return hipPeekAtLastError();
  return id >= 0 && id < driver->getDeviceCount()
             ? hipSuccess
             : setError(hipErrorInvalidDevice,
                        "there is no device " + std::to_string(id));
}

hipError_t tessera::cuda::getPrimary(int id, hipCtx_t *context) {
  if (hipError_t error = checkDevice(id))
    return error;
  const Driver &driver = *Driver::get();
  Primaries &primaries = getPrimaries();
  std::lock_guard lock(primaries.mutex);
  primaries.contexts.resize(static_cast<size_t>(driver.getDeviceCount()));
  hipCtx_t &primary = primaries.contexts[static_cast<size_t>(id)];
  if (!primary) {
    hipDevice_t device;
    CudaError error = driver.cuDeviceGet(&device, id);
    if (error == CudaError::Success)
      error = driver.cuDevicePrimaryCtxRetain(&primary, device);
    if (error != CudaError::Success)
      return report(driver, error, "cuDevicePrimaryCtxRetain");
  }
  *context = primary;
  return hipSuccess;
}

/// Makes the primary context of a device current.
static hipError_t bind(const Driver &driver, int id) {
  hipCtx_t context;
  if (hipError_t error = getPrimary(id, &context))
    return error;
  CudaError error = driver.cuCtxSetCurrent(context);
  return error == CudaError::Success ? hipSuccess
                                     : report(driver, error, "cuCtxSetCurrent");
}

hipError_t tessera::cuda::enter(const Driver *&driver) {
  driver = Driver::get();
  if (!driver)
    return hipPeekAtLastError();
  hipCtx_t current = nullptr;
  CudaError error = driver->cuCtxGetCurrent(&current);
  if (error != CudaError::Success)
    return report(*driver, error, "cuCtxGetCurrent");
  return current ? hipSuccess : bind(*driver, 0);
}

hipError_t tessera::cuda::getCurrentDevice(int *id) {
  const Driver *driver = Driver::get();
  if (!driver)
    return hipPeekAtLastError();
  *id = 0;
  hipCtx_t current = nullptr;
  CudaError error = driver->cuCtxGetCurrent(&current);
  if (error == CudaError::Success && current)
    error = driver->cuCtxGetDevice(id);
  return error == CudaError::Success ? hipSuccess
                                     : report(*driver, error, "cuCtxGetDevice");
}

TESSERA_HIP hipError_t hipSetDevice(int id) {
  if (hipError_t error = checkDevice(id))
    return error;
  return bind(*Driver::get(), id);
}
TESSERA_HIP hipError_t hipGetDevice(int *id) {
  if (!id)
    return setError(hipErrorInvalidValue);
  return getCurrentDevice(id);
}
TESSERA_HIP int hipGetStreamDeviceId(hipStream_t stream) {
  int current = 0;
  hipCtx_t context = nullptr;
  if (getCurrentDevice(&current) || CALL_CUDA(cuStreamGetCtx, stream, &context))
    return current;
  Primaries &primaries = getPrimaries();
  std::lock_guard lock(primaries.mutex);
  for (size_t id = 0; id < primaries.contexts.size(); ++id)
    if (primaries.contexts[id] == context)
      return static_cast<int>(id);
  return current;
}

//===----------------------------------------------------------------------===//
// Explicit contexts
//===----------------------------------------------------------------------===//

// All contexts of a device are its primary one, as in AMD's runtime.
TESSERA_HIP hipError_t hipCtxCreate(hipCtx_t *context, unsigned,
                                    hipDevice_t id) {
  if (!context)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = getPrimary(id, context))
    return error;
  return hipCtxPushCurrent(*context);
}
TESSERA_HIP hipError_t hipCtxDestroy(hipCtx_t context) {
  hipCtx_t current = nullptr;
  if (!context)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = hipCtxGetCurrent(&current))
    return error;
  return current == context ? hipCtxPopCurrent(nullptr) : hipSuccess;
}
TESSERA_HIP hipError_t hipCtxPushCurrent(hipCtx_t context) {
  return context ? CALL_CUDA(cuCtxPushCurrent, context)
                 : setError(hipErrorInvalidContext);
}
TESSERA_HIP hipError_t hipCtxPopCurrent(hipCtx_t *context) {
  hipCtx_t popped = nullptr;
  if (hipError_t error = CALL_CUDA(cuCtxPopCurrent, &popped))
    return error;
  if (context)
    *context = popped;
  return hipSuccess;
}
TESSERA_HIP hipError_t hipCtxSetCurrent(hipCtx_t context) {
  return CALL_CUDA(cuCtxSetCurrent, context);
}
TESSERA_HIP hipError_t hipCtxGetCurrent(hipCtx_t *context) {
  if (!context)
    return setError(hipErrorInvalidValue);
  return CALL_CUDA(cuCtxGetCurrent, context);
}
TESSERA_HIP hipError_t hipCtxGetDevice(hipDevice_t *device) {
  return hipGetDevice(device);
}
TESSERA_HIP hipError_t hipCtxGetFlags(unsigned *flags) {
  if (!flags)
    return setError(hipErrorInvalidValue);
  return CALL_CUDA(cuCtxGetFlags, flags);
}
TESSERA_HIP hipError_t hipCtxSynchronize() {
  return CALL_CUDA(cuCtxSynchronize);
}
TESSERA_HIP hipError_t hipCtxEnablePeerAccess(hipCtx_t peer, unsigned flags) {
  return CALL_CUDA(cuCtxEnablePeerAccess, peer, flags);
}
TESSERA_HIP hipError_t hipCtxDisablePeerAccess(hipCtx_t peer) {
  return CALL_CUDA(cuCtxDisablePeerAccess, peer);
}

TESSERA_HIP hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *context,
                                                 hipDevice_t id) {
  if (!context)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = checkDevice(id))
    return error;
  return CALL_CUDA(cuDevicePrimaryCtxRetain, context, id);
}
TESSERA_HIP hipError_t hipDevicePrimaryCtxRelease(hipDevice_t id) {
  if (hipError_t error = checkDevice(id))
    return error;
  return CALL_CUDA(cuDevicePrimaryCtxRelease, id);
}
// A reset would free what the application, and others in the process, still
// believe to own.
TESSERA_HIP hipError_t hipDevicePrimaryCtxReset(hipDevice_t id) {
  return checkDevice(id);
}
TESSERA_HIP hipError_t hipDevicePrimaryCtxGetState(hipDevice_t id,
                                                   unsigned *flags,
                                                   int *isActive) {
  if (!flags || !isActive)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = checkDevice(id))
    return error;
  return CALL_CUDA(cuDevicePrimaryCtxGetState, id, flags, isActive);
}
TESSERA_HIP hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t id,
                                                   unsigned flags) {
  if (hipError_t error = checkDevice(id))
    return error;
  return CALL_CUDA(cuDevicePrimaryCtxSetFlags, id, flags);
}

//===- Device.cpp - Devices of HIP over CUDA ------------------------------===//

#include "runtime/HipOnCuda/Driver.h"

#include <algorithm>

using namespace tessera::cuda;

/// The version of HIP that this implements.
static constexpr int kHipVersion = 50200000;

TESSERA_HIP hipError_t hipInit(unsigned) { return checkDevice(0); }

TESSERA_HIP hipError_t hipGetDeviceCount(int *count) {
  if (!count)
    return setError(hipErrorInvalidValue);
  const Driver *driver = Driver::get();
  *count = driver ? driver->getDeviceCount() : 0;
  return driver ? hipSuccess : hipPeekAtLastError();
}
TESSERA_HIP hipError_t hipDeviceGet(hipDevice_t *device, int ordinal) {
  if (!device)
    return setError(hipErrorInvalidValue);
  *device = ordinal;
  return checkDevice(ordinal);
}
TESSERA_HIP hipError_t hipDriverGetVersion(int *version) {
  if (!version)
    return setError(hipErrorInvalidValue);
  const Driver *driver = Driver::get();
  *version = driver ? driver->getVersion() : 0;
  return driver ? hipSuccess : hipPeekAtLastError();
}
TESSERA_HIP hipError_t hipRuntimeGetVersion(int *version) {
  if (!version)
    return setError(hipErrorInvalidValue);
  *version = kHipVersion;
  return hipSuccess;
}
TESSERA_HIP hipError_t hipMemGetInfo(size_t *free, size_t *total) {
  if (!free || !total)
    return setError(hipErrorInvalidValue);
  return CALL_CUDA(cuMemGetInfo, free, total);
}

TESSERA_HIP hipError_t hipDeviceSynchronize() {
  return CALL_CUDA(cuCtxSynchronize);
}
// A reset would free what the application, and others in the process, still
// believe to own.
TESSERA_HIP hipError_t hipDeviceReset() { return hipDeviceSynchronize(); }

TESSERA_HIP hipError_t hipSetDeviceFlags(unsigned flags) {
  constexpr unsigned kKnown =
      hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax;
  int id = 0;
  if (flags & ~kKnown)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = getCurrentDevice(&id))
    return error;
  // The other flags have other bits in CUDA, and are always set there.
  return CALL_CUDA(cuDevicePrimaryCtxSetFlags, id,
                   flags & hipDeviceScheduleMask);
}
TESSERA_HIP hipError_t hipGetDeviceFlags(unsigned *flags) {
  int id = 0, isActive = 0;
  if (!flags)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = getCurrentDevice(&id))
    return error;
  hipError_t error =
      CALL_CUDA(cuDevicePrimaryCtxGetState, id, flags, &isActive);
  *flags &= hipDeviceScheduleMask;
  return error;
}

TESSERA_HIP hipError_t hipDeviceGetPCIBusId(char *text, int length, int id) {
  if (!text || length <= 0)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = checkDevice(id))
    return error;
  return CALL_CUDA(cuDeviceGetPCIBusId, text, length, id);
}
TESSERA_HIP hipError_t hipDeviceGetByPCIBusId(int *id, const char *text) {
  if (!id || !text)
    return setError(hipErrorInvalidValue);
  return CALL_CUDA(cuDeviceGetByPCIBusId, id, text);
}
TESSERA_HIP hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t id) {
  if (!uuid)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = checkDevice(id))
    return error;
  return CALL_CUDA(cuDeviceGetUuid, uuid, id);
}

// The two limits that HIP has use CUDA's numbers.
TESSERA_HIP hipError_t hipDeviceGetLimit(size_t *value, hipLimit_t limit) {
  if (!value)
    return setError(hipErrorInvalidValue);
  *value = 0;
  if (limit != hipLimitPrintfFifoSize && limit != hipLimitMallocHeapSize)
    return setError(hipErrorUnsupportedLimit);
  return CALL_CUDA(cuCtxGetLimit, value, limit);
}

//===----------------------------------------------------------------------===//
// Peers
//===----------------------------------------------------------------------===//

TESSERA_HIP hipError_t hipDeviceCanAccessPeer(int *can, int id, int peer) {
  if (!can)
    return setError(hipErrorInvalidValue);
  *can = 0;
  for (int device : {id, peer})
    if (hipError_t error = checkDevice(device))
      return error;
  return id == peer ? hipSuccess
                    : CALL_CUDA(cuDeviceCanAccessPeer, can, id, peer);
}
TESSERA_HIP hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  hipCtx_t context;
  int current = 0;
  if (hipError_t error = getCurrentDevice(&current))
    return error;
  if (peer == current)
    return setError(hipErrorInvalidDevice);
  if (hipError_t error = getPrimary(peer, &context))
    return error;
  return CALL_CUDA(cuCtxEnablePeerAccess, context, flags);
}
TESSERA_HIP hipError_t hipDeviceDisablePeerAccess(int peer) {
  hipCtx_t context;
  int current = 0;
  if (hipError_t error = getCurrentDevice(&current))
    return error;
  if (peer == current)
    return setError(hipErrorPeerAccessNotEnabled);
  if (hipError_t error = getPrimary(peer, &context))
    return error;
  return CALL_CUDA(cuCtxDisablePeerAccess, context);
}
TESSERA_HIP hipError_t hipDeviceGetP2PAttribute(int *value,
                                                hipDeviceP2PAttr attribute,
                                                int id, int peer) {
  if (!value)
    return setError(hipErrorInvalidValue);
  *value = 0;
  for (int device : {id, peer})
    if (hipError_t error = checkDevice(device))
      return error;
  if (id == peer)
    return setError(hipErrorInvalidDevice);
  // CUDA's numbers begin at 1, HIP's at 0.
  return CALL_CUDA(cuDeviceGetP2PAttribute, value, attribute + 1, id, peer);
}

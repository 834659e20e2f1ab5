//===- Memory.cpp - Allocations of HIP over CUDA --------------------------===//

#include "runtime/HipOnCuda/Driver.h"

using namespace tessera::cuda;

/// Rows of pitched allocations are aligned for elements of this size.
static constexpr unsigned kElementBytes = 16;

/// HIP allocates nothing for 0 bytes, which the driver calls an error.
template <typename Allocate>
static hipError_t allocate(void **pointer, size_t bytes, Allocate call) {
  if (!pointer)
    return setError(hipErrorInvalidValue);
  *pointer = nullptr;
  return bytes ? call() : checkDevice(0);
}

TESSERA_HIP hipError_t hipMalloc(void **pointer, size_t bytes) {
  return allocate(pointer, bytes,
                  [&] { return CALL_CUDA(cuMemAlloc, pointer, bytes); });
}
TESSERA_HIP hipError_t hipExtMallocWithFlags(void **pointer, size_t bytes,
                                             unsigned) {
  return hipMalloc(pointer, bytes);
}
TESSERA_HIP hipError_t hipFree(void *pointer) {
  return pointer ? CALL_CUDA(cuMemFree, pointer) : hipSuccess;
}
TESSERA_HIP hipError_t hipMallocManaged(void **pointer, size_t bytes,
                                        unsigned flags) {
  if (flags != hipMemAttachGlobal && flags != hipMemAttachHost)
    return setError(hipErrorInvalidValue);
  return allocate(pointer, bytes, [&] {
    return CALL_CUDA(cuMemAllocManaged, pointer, bytes, flags);
  });
}
TESSERA_HIP hipError_t hipMallocAsync(void **pointer, size_t bytes,
                                      hipStream_t stream) {
  return allocate(pointer, bytes, [&] {
    return CALL_CUDA(cuMemAllocAsync, pointer, bytes, stream);
  });
}
TESSERA_HIP hipError_t hipFreeAsync(void *pointer, hipStream_t stream) {
  return pointer ? CALL_CUDA(cuMemFreeAsync, pointer, stream) : hipSuccess;
}
TESSERA_HIP hipError_t hipMallocPitch(void **pointer, size_t *pitch,
                                      size_t width, size_t height) {
  if (!pitch)
    return setError(hipErrorInvalidValue);
  *pitch = 0;
  return allocate(pointer, width && height, [&] {
    return CALL_CUDA(cuMemAllocPitch, pointer, pitch, width, height,
                     kElementBytes);
  });
}

TESSERA_HIP hipError_t hipHostMalloc(void **pointer, size_t bytes,
                                     unsigned flags) {
  // Three flags have CUDA's bits; the others concern coherence, which pinned
  // memory always has here.
  constexpr unsigned kShared =
      hipHostMallocPortable | hipHostMallocMapped | hipHostMallocWriteCombined;
  return allocate(pointer, bytes, [&] {
    return CALL_CUDA(cuMemHostAlloc, pointer, bytes, flags & kShared);
  });
}
TESSERA_HIP_ALIAS(hipHostAlloc, hipHostMalloc, (void **, size_t, unsigned));
TESSERA_HIP hipError_t hipMallocHost(void **pointer, size_t bytes) {
  return hipHostMalloc(pointer, bytes, hipHostMallocDefault);
}
TESSERA_HIP_ALIAS(hipMemAllocHost, hipMallocHost, (void **, size_t));
TESSERA_HIP hipError_t hipHostFree(void *pointer) {
  return pointer ? CALL_CUDA(cuMemFreeHost, pointer) : hipSuccess;
}
TESSERA_HIP_ALIAS(hipFreeHost, hipHostFree, (void *));

TESSERA_HIP hipError_t hipHostRegister(void *pointer, size_t bytes,
                                       unsigned flags) {
  constexpr unsigned kShared =
      hipHostRegisterPortable | hipHostRegisterMapped | hipHostRegisterIoMemory;
  if (!pointer || !bytes)
    return setError(hipErrorInvalidValue);
  return CALL_CUDA(cuMemHostRegister, pointer, bytes, flags & kShared);
}
TESSERA_HIP hipError_t hipHostUnregister(void *pointer) {
  return CALL_CUDA(cuMemHostUnregister, pointer);
}
TESSERA_HIP hipError_t hipHostGetDevicePointer(void **devicePointer,
                                               void *hostPointer,
                                               unsigned flags) {
  if (!devicePointer)
    return setError(hipErrorInvalidValue);
  *devicePointer = nullptr;
  return CALL_CUDA(cuMemHostGetDevicePointer, devicePointer, hostPointer,
                   flags);
}
TESSERA_HIP hipError_t hipHostGetFlags(unsigned *flags, void *hostPointer) {
  if (!flags)
    return setError(hipErrorInvalidValue);
  return CALL_CUDA(cuMemHostGetFlags, flags, hostPointer);
}

TESSERA_HIP hipError_t hipMemAdvise(const void *pointer, size_t bytes,
                                    hipMemoryAdvise advice, int device) {
  // Only AMD has advice about the granularity of coherence.
  if (advice >= hipMemAdviseSetCoarseGrain)
    return checkDevice(0);
  return CALL_CUDA(cuMemAdvise, const_cast<void *>(pointer), bytes, advice,
                   device);
}
TESSERA_HIP hipError_t hipMemPrefetchAsync(const void *pointer, size_t bytes,
                                           int device, hipStream_t stream) {
  return CALL_CUDA(cuMemPrefetchAsync, const_cast<void *>(pointer), bytes,
                   device, stream);
}
TESSERA_HIP hipError_t hipStreamAttachMemAsync(hipStream_t stream,
                                               void *pointer, size_t bytes,
                                               unsigned flags) {
  return CALL_CUDA(cuStreamAttachMemAsync, stream, pointer, bytes, flags);
}

//===----------------------------------------------------------------------===//
// Attributes of a pointer
//===----------------------------------------------------------------------===//

template <typename T>
static hipError_t ask(T *value, CudaPointerAttribute attribute,
                      const void *pointer) {
  return CALL_CUDA(cuPointerGetAttribute, value, attribute,
                   const_cast<void *>(pointer));
}

/// Queries an attribute that not all memory has: returns null then, and no
/// error.
static void *askOrNull(CudaPointerAttribute attribute, const void *pointer) {
  void *value = nullptr;
  const Driver *driver = Driver::get();
  if (driver->cuPointerGetAttribute(
          &value, attribute, const_cast<void *>(pointer)) != CudaError::Success)
    return nullptr;
  return value;
}

TESSERA_HIP hipError_t hipPointerGetAttributes(
    hipPointerAttribute_t *attributes, const void *pointer) {
  if (!attributes)
    return setError(hipErrorInvalidValue);
  *attributes = {};
  int type = 0;
  unsigned isManaged = 0;
  if (hipError_t error = ask(&type, kPointerMemoryType, pointer))
    return error;
  if (hipError_t error = ask(&isManaged, kPointerIsManaged, pointer))
    return error;
  if (hipError_t error =
          ask(&attributes->device, kPointerDeviceOrdinal, pointer))
    return error;
  attributes->memoryType = type == kMemoryHost && !isManaged
                               ? hipMemoryTypeHost
                               : hipMemoryTypeDevice;
  attributes->isManaged = isManaged != 0;
  attributes->devicePointer = askOrNull(kPointerDevicePointer, pointer);
  attributes->hostPointer = askOrNull(kPointerHostPointer, pointer);
  return hipSuccess;
}

TESSERA_HIP hipError_t hipPointerGetAttribute(void *data,
                                              hipPointer_attribute attribute,
                                              hipDeviceptr_t pointer) {
  hipPointerAttribute_t all;
  if (!data || hipPointerGetAttributes(&all, pointer))
    return setError(hipErrorInvalidValue);
  switch (attribute) {
  case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
    *static_cast<unsigned *>(data) = all.memoryType;
    return hipSuccess;
  case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
    *static_cast<void **>(data) = all.hostPointer;
    return hipSuccess;
  case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
    *static_cast<void **>(data) = all.devicePointer;
    return hipSuccess;
  case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
    *static_cast<unsigned *>(data) = static_cast<unsigned>(all.isManaged);
    return hipSuccess;
  case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
  case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
  case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
  case HIP_POINTER_ATTRIBUTE_MAPPED:
    return CALL_CUDA(cuPointerGetAttribute, data, attribute, pointer);
  default:
    return setError(hipErrorNotSupported);
  }
}

TESSERA_HIP hipError_t hipMemGetAddressRange(hipDeviceptr_t *begin,
                                             size_t *bytes,
                                             hipDeviceptr_t pointer) {
  hipError_t error = CALL_CUDA(cuMemGetAddressRange, begin, bytes, pointer);
  // The driver says "not found" of memory that it has not allocated.
  return error == hipErrorNotFound ? setError(hipErrorInvalidValue) : error;
}

//===- HipMemory.cpp - Allocations of the emulated HIP --------------------===//
//
// Device memory is host memory, so pinned, managed and device memory differ
// only in what hipPointerGetAttributes() reports about them and in which
// function may free them.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Hip/Handles.h"

#include <cstring>

using namespace tessera::emulator;

/// Rows of pitched allocations begin at multiples of this.
static constexpr size_t kPitch = 256;

static hipError_t allocate(void **pointer, size_t bytes, MemoryKind kind) {
  if (!pointer)
    return setError(hipErrorInvalidValue);
  *pointer = nullptr;
  Device *device = Device::get();
  if (!device)
    return setError(hipErrorNoDevice);
  if (bytes == 0)
    return hipSuccess;
  *pointer = device->memory.allocate(bytes, kind);
  return *pointer ? hipSuccess : setError(hipErrorOutOfMemory);
}

/// Frees an allocation of either kind.
static hipError_t release(void *pointer, MemoryKind kind, MemoryKind orKind) {
  if (!pointer)
    return hipSuccess;
  Device *device = Device::get();
  if (device && (device->memory.free(pointer, kind) ||
                 device->memory.free(pointer, orKind)))
    return hipSuccess;
  return setError(hipErrorInvalidValue,
                  "a pointer that is no live allocation was freed");
}

TESSERA_HIP hipError_t hipMalloc(void **pointer, size_t bytes) {
  return allocate(pointer, bytes, MemoryKind::Device);
}
TESSERA_HIP hipError_t hipExtMallocWithFlags(void **pointer, size_t bytes,
                                             unsigned) {
  return allocate(pointer, bytes, MemoryKind::Device);
}
TESSERA_HIP hipError_t hipFree(void *pointer) {
  return release(pointer, MemoryKind::Device, MemoryKind::Managed);
}
TESSERA_HIP hipError_t hipMallocManaged(void **pointer, size_t bytes,
                                        unsigned flags) {
  if (flags != hipMemAttachGlobal && flags != hipMemAttachHost)
    return setError(hipErrorInvalidValue);
  return allocate(pointer, bytes, MemoryKind::Managed);
}

// Freed at once, because everything that was launched before has been executed.
TESSERA_HIP hipError_t hipMallocAsync(void **pointer, size_t bytes,
                                      hipStream_t stream) {
  if (hipError_t error = checkStream(stream))
    return error;
  return allocate(pointer, bytes, MemoryKind::Device);
}
TESSERA_HIP hipError_t hipFreeAsync(void *pointer, hipStream_t stream) {
  if (hipError_t error = checkStream(stream))
    return error;
  return hipFree(pointer);
}

TESSERA_HIP hipError_t hipMallocPitch(void **pointer, size_t *pitch,
                                      size_t width, size_t height) {
  if (!pitch)
    return setError(hipErrorInvalidValue);
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  if (height && *pitch > SIZE_MAX / height)
    return setError(hipErrorOutOfMemory);
  return allocate(pointer, *pitch * height, MemoryKind::Device);
}

TESSERA_HIP hipError_t hipHostMalloc(void **pointer, size_t bytes, unsigned) {
  return allocate(pointer, bytes, MemoryKind::Host);
}
TESSERA_HIP_ALIAS(hipHostAlloc, hipHostMalloc, (void **, size_t, unsigned));
TESSERA_HIP hipError_t hipMallocHost(void **pointer, size_t bytes) {
  return allocate(pointer, bytes, MemoryKind::Host);
}
TESSERA_HIP_ALIAS(hipMemAllocHost, hipMallocHost, (void **, size_t));
TESSERA_HIP hipError_t hipHostFree(void *pointer) {
  return release(pointer, MemoryKind::Host, MemoryKind::Host);
}
TESSERA_HIP_ALIAS(hipFreeHost, hipHostFree, (void *));

TESSERA_HIP hipError_t hipHostRegister(void *pointer, size_t bytes, unsigned) {
  if (!pointer || !bytes)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = checkDevice(0))
    return error;
  if (!Device::get()->memory.adopt(pointer, bytes))
    return setError(hipErrorHostMemoryAlreadyRegistered);
  return hipSuccess;
}
TESSERA_HIP hipError_t hipHostUnregister(void *pointer) {
  if (hipError_t error = checkDevice(0))
    return error;
  if (!Device::get()->memory.free(pointer, MemoryKind::Adopted))
    return setError(hipErrorHostMemoryNotRegistered);
  return hipSuccess;
}

/// Returns the allocation that contains `pointer`, if the host may use it.
static std::optional<Allocation> findHostMemory(const void *pointer) {
  Device *device = Device::get();
  auto found = device ? device->memory.find(reinterpret_cast<uint64_t>(pointer))
                      : std::nullopt;
  if (found && found->kind != MemoryKind::Host &&
      found->kind != MemoryKind::Adopted && found->kind != MemoryKind::Managed)
    return std::nullopt;
  return found;
}

TESSERA_HIP hipError_t hipHostGetDevicePointer(void **devicePointer,
                                               void *hostPointer, unsigned) {
  if (!devicePointer)
    return setError(hipErrorInvalidValue);
  *devicePointer = findHostMemory(hostPointer) ? hostPointer : nullptr;
  return *devicePointer ? hipSuccess : setError(hipErrorInvalidValue);
}
TESSERA_HIP hipError_t hipHostGetFlags(unsigned *flags, void *hostPointer) {
  if (!flags || !findHostMemory(hostPointer))
    return setError(hipErrorInvalidValue);
  *flags = hipHostMallocMapped;
  return hipSuccess;
}

// Managed memory never moves, so advice and prefetching do nothing.
static hipError_t checkManaged(const void *pointer, size_t bytes) {
  Device *device = Device::get();
  auto address = reinterpret_cast<uint64_t>(pointer);
  auto found = device ? device->memory.find(address) : std::nullopt;
  if (found && found->contains(address, bytes))
    return hipSuccess;
  return setError(hipErrorInvalidValue);
}
TESSERA_HIP hipError_t hipMemAdvise(const void *pointer, size_t bytes,
                                    hipMemoryAdvise, int) {
  return checkManaged(pointer, bytes);
}
TESSERA_HIP hipError_t hipMemPrefetchAsync(const void *pointer, size_t bytes,
                                           int, hipStream_t stream) {
  if (hipError_t error = checkStream(stream))
    return error;
  return checkManaged(pointer, bytes);
}
TESSERA_HIP hipError_t hipStreamAttachMemAsync(hipStream_t stream,
                                               void *pointer, size_t,
                                               unsigned) {
  if (hipError_t error = checkStream(stream))
    return error;
  return checkManaged(pointer, 0);
}

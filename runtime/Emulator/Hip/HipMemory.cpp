//===- HipMemory.cpp - Memory of the emulated HIP -------------------------===//
//
// Device memory is host memory, so a copy is a copy; but both ends are checked
// against the allocations, as a driver would.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Hip/Device.h"

#include <cstring>

using namespace tessera::emulator;

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

static hipError_t release(void *pointer, MemoryKind kind) {
  if (!pointer)
    return hipSuccess;
  Device *device = Device::get();
  if (device && device->memory.free(pointer, kind))
    return hipSuccess;
  return setError(hipErrorInvalidValue,
                  "a pointer that is no live allocation was freed");
}

TESSERA_HIP hipError_t hipMalloc(void **pointer, size_t bytes) {
  return allocate(pointer, bytes, MemoryKind::Device);
}
TESSERA_HIP hipError_t hipFree(void *pointer) {
  return release(pointer, MemoryKind::Device);
}
TESSERA_HIP hipError_t hipHostMalloc(void **pointer, size_t bytes, unsigned) {
  return allocate(pointer, bytes, MemoryKind::Host);
}
TESSERA_HIP hipError_t hipHostFree(void *pointer) {
  return release(pointer, MemoryKind::Host);
}

/// True when [pointer, pointer + bytes) is wholly inside one allocation, or is
/// plain host memory and that is allowed.
static bool isLegal(const void *pointer, size_t bytes, bool mustBeDevice) {
  Device *device = Device::get();
  auto address = reinterpret_cast<uint64_t>(pointer);
  if (!device || !pointer)
    return false;
  auto found = device->memory.find(address);
  return found ? found->contains(address, bytes) : !mustBeDevice;
}

static hipError_t copy(void *to, const void *from, size_t bytes,
                       hipMemcpyKind kind) {
  if (bytes == 0)
    return hipSuccess;
  bool toDevice =
      kind == hipMemcpyHostToDevice || kind == hipMemcpyDeviceToDevice;
  bool fromDevice =
      kind == hipMemcpyDeviceToHost || kind == hipMemcpyDeviceToDevice;
  if (kind > hipMemcpyDefault)
    return setError(hipErrorInvalidMemcpyDirection);
  if (!isLegal(to, bytes, toDevice) || !isLegal(from, bytes, fromDevice))
    return setError(hipErrorInvalidValue,
                    "a copy of " + std::to_string(bytes) +
                        " bytes is not inside a live allocation");
  std::memmove(to, from, bytes);
  return hipSuccess;
}

TESSERA_HIP hipError_t hipMemcpy(void *to, const void *from, size_t bytes,
                                 hipMemcpyKind kind) {
  return copy(to, from, bytes, kind);
}
TESSERA_HIP hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes,
                                      hipMemcpyKind kind, hipStream_t) {
  return copy(to, from, bytes, kind);
}
TESSERA_HIP hipError_t hipMemcpyWithStream(void *to, const void *from,
                                           size_t bytes, hipMemcpyKind kind,
                                           hipStream_t) {
  return copy(to, from, bytes, kind);
}
TESSERA_HIP hipError_t hipMemcpyHtoD(hipDeviceptr_t to, void *from,
                                     size_t bytes) {
  return copy(to, from, bytes, hipMemcpyHostToDevice);
}
TESSERA_HIP hipError_t hipMemcpyDtoH(void *to, hipDeviceptr_t from,
                                     size_t bytes) {
  return copy(to, from, bytes, hipMemcpyDeviceToHost);
}
TESSERA_HIP hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from,
                                     size_t bytes) {
  return copy(to, from, bytes, hipMemcpyDeviceToDevice);
}
TESSERA_HIP hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, void *from,
                                          size_t bytes, hipStream_t) {
  return copy(to, from, bytes, hipMemcpyHostToDevice);
}
TESSERA_HIP hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from,
                                          size_t bytes, hipStream_t) {
  return copy(to, from, bytes, hipMemcpyDeviceToHost);
}
TESSERA_HIP hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to,
                                          hipDeviceptr_t from, size_t bytes,
                                          hipStream_t) {
  return copy(to, from, bytes, hipMemcpyDeviceToDevice);
}

/// Fills `count` elements.
template <typename T>
static hipError_t fill(void *to, T value, size_t count) {
  if (count == 0)
    return hipSuccess;
  if (!isLegal(to, count * sizeof(T), true))
    return setError(hipErrorInvalidValue,
                    "a fill is not inside a live allocation");
  auto *elements = static_cast<T *>(to);
  std::fill(elements, elements + count, value);
  return hipSuccess;
}

TESSERA_HIP hipError_t hipMemset(void *to, int value, size_t bytes) {
  return fill(to, static_cast<uint8_t>(value), bytes);
}
TESSERA_HIP hipError_t hipMemsetAsync(void *to, int value, size_t bytes,
                                      hipStream_t) {
  return fill(to, static_cast<uint8_t>(value), bytes);
}
TESSERA_HIP hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value,
                                   size_t count) {
  return fill(to, static_cast<uint8_t>(value), count);
}
TESSERA_HIP hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value,
                                    size_t count) {
  return fill(to, static_cast<uint16_t>(value), count);
}
TESSERA_HIP hipError_t hipMemsetD32(hipDeviceptr_t to, int value,
                                    size_t count) {
  return fill(to, static_cast<uint32_t>(value), count);
}
TESSERA_HIP hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value,
                                         size_t count, hipStream_t) {
  return fill(to, static_cast<uint32_t>(value), count);
}

TESSERA_HIP hipError_t hipPointerGetAttributes(
    hipPointerAttribute_t *attributes, const void *pointer) {
  if (!attributes)
    return setError(hipErrorInvalidValue);
  Device *device = Device::get();
  auto found = device ? device->memory.find(reinterpret_cast<uint64_t>(pointer))
                      : std::nullopt;
  if (!found)
    return setError(hipErrorInvalidValue);
  *attributes = {};
  bool isHost = found->kind == MemoryKind::Host;
  attributes->memoryType = isHost ? hipMemoryTypeHost : hipMemoryTypeDevice;
  attributes->devicePointer = const_cast<void *>(pointer);
  attributes->hostPointer = isHost ? attributes->devicePointer : nullptr;
  return hipSuccess;
}

//===- HipPointer.cpp - What lies behind a pointer ------------------------===//

#include "runtime/Emulator/Hip/Device.h"

using namespace tessera::emulator;

static std::optional<Allocation> findAllocation(const void *pointer) {
  Device *device = Device::get();
  if (!device)
    return std::nullopt;
  return device->memory.find(reinterpret_cast<uint64_t>(pointer));
}

TESSERA_HIP hipError_t hipPointerGetAttributes(
    hipPointerAttribute_t *attributes, const void *pointer) {
  if (!attributes)
    return setError(hipErrorInvalidValue);
  auto found = findAllocation(pointer);
  if (!found)
    return setError(hipErrorInvalidValue);
  *attributes = {};
  bool isHost =
      found->kind == MemoryKind::Host || found->kind == MemoryKind::Adopted;
  bool isManaged = found->kind == MemoryKind::Managed;
  attributes->memoryType = isHost ? hipMemoryTypeHost : hipMemoryTypeDevice;
  attributes->devicePointer = const_cast<void *>(pointer);
  attributes->hostPointer =
      isHost || isManaged ? attributes->devicePointer : nullptr;
  attributes->isManaged = isManaged;
  return hipSuccess;
}

template <typename T>
static hipError_t answer(void *to, T value) {
  *static_cast<T *>(to) = value;
  return hipSuccess;
}

TESSERA_HIP hipError_t hipPointerGetAttribute(void *data,
                                              hipPointer_attribute attribute,
                                              hipDeviceptr_t pointer) {
  auto found = findAllocation(pointer);
  hipPointerAttribute_t all;
  if (!data || !found || hipPointerGetAttributes(&all, pointer))
    return setError(hipErrorInvalidValue);
  switch (attribute) {
  case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
    return answer<unsigned>(data, all.memoryType);
  case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
    return answer(data, all.devicePointer);
  case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
    return answer(data, all.hostPointer);
  case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
    return answer<unsigned>(data, static_cast<unsigned>(all.isManaged));
  case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    return answer<int>(data, 0);
  case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    return answer(data, reinterpret_cast<void *>(found->begin));
  case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
    return answer<size_t>(data, found->end - found->begin);
  case HIP_POINTER_ATTRIBUTE_MAPPED:
    return answer<unsigned>(data, 1);
  default:
    return setError(hipErrorNotSupported);
  }
}

TESSERA_HIP hipError_t hipMemGetAddressRange(hipDeviceptr_t *begin,
                                             size_t *bytes,
                                             hipDeviceptr_t pointer) {
  auto found = findAllocation(pointer);
  if (!found)
    return setError(hipErrorInvalidValue);
  if (begin)
    *begin = reinterpret_cast<hipDeviceptr_t>(found->begin);
  if (bytes)
    *bytes = found->end - found->begin;
  return hipSuccess;
}

//===- HipMemset.cpp - Fills of the emulated HIP --------------------------===//

#include "runtime/Emulator/Hip/Handles.h"
#include "runtime/Emulator/Hip/MemoryRange.h"

#include <algorithm>
#include <cstring>

using namespace tessera::emulator;

/// Fills `count` elements.
template <typename T>
static hipError_t fill(void *to, T value, size_t count,
                       hipStream_t stream = nullptr) {
  if (hipError_t error = checkStream(stream))
    return error;
  if (count == 0)
    return hipSuccess;
  if (count > SIZE_MAX / sizeof(T) ||
      !isLegalRange(to, count * sizeof(T), true))
    return setError(hipErrorInvalidValue,
                    "a fill is not inside a live allocation");
  auto *elements = static_cast<T *>(to);
  std::fill(elements, elements + count, value);
  return hipSuccess;
}

TESSERA_HIP hipError_t hipMemset(void *to, int value, size_t bytes) {
  return fill(to, static_cast<uint8_t>(value), bytes);
}
TESSERA_HIP_ALIAS(hipMemset_spt, hipMemset, (void *, int, size_t));
TESSERA_HIP hipError_t hipMemsetAsync(void *to, int value, size_t bytes,
                                      hipStream_t stream) {
  return fill(to, static_cast<uint8_t>(value), bytes, stream);
}
TESSERA_HIP hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value,
                                   size_t count) {
  return fill(to, static_cast<uint8_t>(value), count);
}
TESSERA_HIP hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value,
                                        size_t count, hipStream_t stream) {
  return fill(to, static_cast<uint8_t>(value), count, stream);
}
TESSERA_HIP hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value,
                                    size_t count) {
  return fill(to, static_cast<uint16_t>(value), count);
}
TESSERA_HIP hipError_t hipMemsetD16Async(hipDeviceptr_t to,
                                         unsigned short value, size_t count,
                                         hipStream_t stream) {
  return fill(to, static_cast<uint16_t>(value), count, stream);
}
TESSERA_HIP hipError_t hipMemsetD32(hipDeviceptr_t to, int value,
                                    size_t count) {
  return fill(to, static_cast<uint32_t>(value), count);
}
TESSERA_HIP hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value,
                                         size_t count, hipStream_t stream) {
  return fill(to, static_cast<uint32_t>(value), count, stream);
}

static hipError_t fillBlock(const PitchedRange &to, int value,
                            const hipExtent &extent) {
  if (!extent.width || !extent.height || !extent.depth)
    return hipSuccess;
  if (extent.width > to.pitch && extent.height > 1)
    return setError(hipErrorInvalidPitchValue);
  if (!isLegalRange(to.begin, getSpan(to, extent), true))
    return setError(hipErrorInvalidValue,
                    "a fill is not inside a live allocation");
  for (size_t z = 0; z < extent.depth; ++z)
    for (size_t y = 0; y < extent.height; ++y)
      std::memset(to.begin + z * to.slicePitch + y * to.pitch, value,
                  extent.width);
  return hipSuccess;
}

TESSERA_HIP hipError_t hipMemset2D(void *to, size_t pitch, int value,
                                   size_t width, size_t height) {
  return fillBlock({static_cast<char *>(to), pitch, 0}, value,
                   {width, height, 1});
}
TESSERA_HIP_ALIAS(hipMemset2D_spt, hipMemset2D,
                  (void *, size_t, int, size_t, size_t));
TESSERA_HIP hipError_t hipMemset2DAsync(void *to, size_t pitch, int value,
                                        size_t width, size_t height,
                                        hipStream_t stream) {
  if (hipError_t error = checkStream(stream))
    return error;
  return hipMemset2D(to, pitch, value, width, height);
}

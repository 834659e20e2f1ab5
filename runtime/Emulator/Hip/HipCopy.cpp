//===- HipCopy.cpp - Copies of the emulated HIP ---------------------------===//
//
// Device memory is host memory, so a copy is a plain copy of bytes, but both
// ends are checked against the allocations, as a driver would do. An
// asynchronous copy is complete when the call returns.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Hip/Handles.h"
#include "runtime/Emulator/Hip/MemoryRange.h"

#include <cstring>

using namespace tessera::emulator;

static hipError_t copyBlock(const PitchedRange &to, const PitchedRange &from,
                            const hipExtent &extent, hipMemcpyKind kind) {
  if (!extent.width || !extent.height || !extent.depth)
    return hipSuccess;
  if (kind > hipMemcpyDefault)
    return setError(hipErrorInvalidMemcpyDirection);
  bool toDevice =
      kind == hipMemcpyHostToDevice || kind == hipMemcpyDeviceToDevice;
  bool fromDevice =
      kind == hipMemcpyDeviceToHost || kind == hipMemcpyDeviceToDevice;
  if (!isLegalRange(to.begin, getSpan(to, extent), toDevice) ||
      !isLegalRange(from.begin, getSpan(from, extent), fromDevice))
    return setError(hipErrorInvalidValue,
                    "a copy of " + std::to_string(getSpan(to, extent)) +
                        " bytes is not inside a live allocation");
  for (size_t z = 0; z < extent.depth; ++z)
    for (size_t y = 0; y < extent.height; ++y)
      std::memmove(to.begin + z * to.slicePitch + y * to.pitch,
                   from.begin + z * from.slicePitch + y * from.pitch,
                   extent.width);
  return hipSuccess;
}

static hipError_t copy(void *to, const void *from, size_t bytes,
                       hipMemcpyKind kind) {
  return copyBlock({static_cast<char *>(to), 0, 0},
                   {static_cast<char *>(const_cast<void *>(from)), 0, 0},
                   {bytes, 1, 1}, kind);
}
static hipError_t copy(void *to, const void *from, size_t bytes,
                       hipMemcpyKind kind, hipStream_t stream) {
  if (hipError_t error = checkStream(stream))
    return error;
  return copy(to, from, bytes, kind);
}

TESSERA_HIP hipError_t hipMemcpy(void *to, const void *from, size_t bytes,
                                 hipMemcpyKind kind) {
  return copy(to, from, bytes, kind);
}
TESSERA_HIP_ALIAS(hipMemcpy_spt, hipMemcpy,
                  (void *, const void *, size_t, hipMemcpyKind));
TESSERA_HIP hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes,
                                      hipMemcpyKind kind, hipStream_t stream) {
  return copy(to, from, bytes, kind, stream);
}
TESSERA_HIP_ALIAS(hipMemcpyAsync_spt, hipMemcpyAsync,
                  (void *, const void *, size_t, hipMemcpyKind, hipStream_t));
TESSERA_HIP_ALIAS(hipMemcpyWithStream, hipMemcpyAsync,
                  (void *, const void *, size_t, hipMemcpyKind, hipStream_t));

TESSERA_HIP hipError_t hipMemcpy2D(void *to, size_t toPitch, const void *from,
                                   size_t fromPitch, size_t width,
                                   size_t height, hipMemcpyKind kind) {
  if (width > toPitch || width > fromPitch)
    return setError(hipErrorInvalidPitchValue);
  return copyBlock(
      {static_cast<char *>(to), toPitch, 0},
      {static_cast<char *>(const_cast<void *>(from)), fromPitch, 0},
      {width, height, 1}, kind);
}
TESSERA_HIP_ALIAS(hipMemcpy2D_spt, hipMemcpy2D,
                  (void *, size_t, const void *, size_t, size_t, size_t,
                   hipMemcpyKind));
TESSERA_HIP hipError_t hipMemcpy2DAsync(void *to, size_t toPitch,
                                        const void *from, size_t fromPitch,
                                        size_t width, size_t height,
                                        hipMemcpyKind kind,
                                        hipStream_t stream) {
  if (hipError_t error = checkStream(stream))
    return error;
  return hipMemcpy2D(to, toPitch, from, fromPitch, width, height, kind);
}

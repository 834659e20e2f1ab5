//===- HipCopy.cpp - Copies of the emulated HIP ---------------------------===//
//
// Device memory is host memory, so a copy is a copy; but both ends are checked
// against the allocations, as a driver would. An asynchronous copy has happened
// when the call returns.
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
                                          size_t bytes, hipStream_t stream) {
  return copy(to, from, bytes, hipMemcpyHostToDevice, stream);
}
TESSERA_HIP hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from,
                                          size_t bytes, hipStream_t stream) {
  return copy(to, from, bytes, hipMemcpyDeviceToHost, stream);
}
TESSERA_HIP hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to,
                                          hipDeviceptr_t from, size_t bytes,
                                          hipStream_t stream) {
  return copy(to, from, bytes, hipMemcpyDeviceToDevice, stream);
}

// There is one device, which is its own peer in these.
TESSERA_HIP hipError_t hipMemcpyPeer(void *to, int toDevice, const void *from,
                                     int fromDevice, size_t bytes) {
  for (int device : {toDevice, fromDevice})
    if (hipError_t error = checkDevice(device))
      return error;
  return copy(to, from, bytes, hipMemcpyDeviceToDevice);
}
TESSERA_HIP hipError_t hipMemcpyPeerAsync(void *to, int toDevice,
                                          const void *from, int fromDevice,
                                          size_t bytes, hipStream_t stream) {
  if (hipError_t error = checkStream(stream))
    return error;
  return hipMemcpyPeer(to, toDevice, from, fromDevice, bytes);
}

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

TESSERA_HIP hipError_t hipMemcpyParam2D(const hip_Memcpy2D *p) {
  if (!p)
    return setError(hipErrorInvalidValue);
  if (p->srcMemoryType == hipMemoryTypeArray ||
      p->dstMemoryType == hipMemoryTypeArray)
    return setError(hipErrorNotSupported, "a copy from or to a hipArray");
  bool fromHost = p->srcMemoryType == hipMemoryTypeHost;
  bool toHost = p->dstMemoryType == hipMemoryTypeHost;
  const char *from =
      static_cast<const char *>(fromHost ? p->srcHost : p->srcDevice);
  char *to = static_cast<char *>(toHost ? p->dstHost : p->dstDevice);
  hipMemcpyKind kind =
      fromHost ? (toHost ? hipMemcpyHostToHost : hipMemcpyHostToDevice)
               : (toHost ? hipMemcpyDeviceToHost : hipMemcpyDeviceToDevice);
  // A pitch of 0 means rows without room between them.
  size_t fromPitch = p->srcPitch ? p->srcPitch : p->WidthInBytes;
  size_t toPitch = p->dstPitch ? p->dstPitch : p->WidthInBytes;
  return hipMemcpy2D(to + p->dstY * toPitch + p->dstXInBytes, toPitch,
                     from + p->srcY * fromPitch + p->srcXInBytes, fromPitch,
                     p->WidthInBytes, p->Height, kind);
}
TESSERA_HIP_ALIAS(hipDrvMemcpy2DUnaligned, hipMemcpyParam2D,
                  (const hip_Memcpy2D *));
TESSERA_HIP hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D *parameters,
                                             hipStream_t stream) {
  if (hipError_t error = checkStream(stream))
    return error;
  return hipMemcpyParam2D(parameters);
}

static PitchedRange getRange(const hipPitchedPtr &pointer, const hipPos &at) {
  size_t slice = pointer.pitch * pointer.ysize;
  return {static_cast<char *>(pointer.ptr) + at.z * slice +
              at.y * pointer.pitch + at.x,
          pointer.pitch, slice};
}

TESSERA_HIP hipError_t hipMemcpy3D(const hipMemcpy3DParms *p) {
  if (!p)
    return setError(hipErrorInvalidValue);
  if (p->srcArray || p->dstArray)
    return setError(hipErrorNotSupported, "a copy from or to a hipArray");
  if (p->extent.width > p->srcPtr.pitch || p->extent.width > p->dstPtr.pitch)
    return setError(hipErrorInvalidPitchValue);
  return copyBlock(getRange(p->dstPtr, p->dstPos),
                   getRange(p->srcPtr, p->srcPos), p->extent, p->kind);
}
TESSERA_HIP_ALIAS(hipMemcpy3D_spt, hipMemcpy3D, (const hipMemcpy3DParms *));
TESSERA_HIP hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms *parameters,
                                        hipStream_t stream) {
  if (hipError_t error = checkStream(stream))
    return error;
  return hipMemcpy3D(parameters);
}

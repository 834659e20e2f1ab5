//===- Copies.cpp - Copies that are others in disguise --------------------===//

#include "runtime/Hip/Export.h"

using namespace tessera::hip;

TESSERA_HIP hipError_t hipMemcpyHtoD(hipDeviceptr_t to, void *from,
                                     size_t bytes) {
  return hipMemcpy(to, from, bytes, hipMemcpyHostToDevice);
}
TESSERA_HIP hipError_t hipMemcpyDtoH(void *to, hipDeviceptr_t from,
                                     size_t bytes) {
  return hipMemcpy(to, from, bytes, hipMemcpyDeviceToHost);
}
TESSERA_HIP hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from,
                                     size_t bytes) {
  return hipMemcpy(to, from, bytes, hipMemcpyDeviceToDevice);
}
TESSERA_HIP hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, void *from,
                                          size_t bytes, hipStream_t stream) {
  return hipMemcpyAsync(to, from, bytes, hipMemcpyHostToDevice, stream);
}
TESSERA_HIP hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from,
                                          size_t bytes, hipStream_t stream) {
  return hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToHost, stream);
}
TESSERA_HIP hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to,
                                          hipDeviceptr_t from, size_t bytes,
                                          hipStream_t stream) {
  return hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToDevice, stream);
}

// The addresses of all devices and of the host are one space: the copy itself
// finds out on which device each end is.
static hipError_t checkDevices(int one, int other) {
  for (int device : {one, other}) {
    hipDevice_t handle;
    if (hipError_t error = hipDeviceGet(&handle, device))
      return error;
  }
  return hipSuccess;
}
TESSERA_HIP hipError_t hipMemcpyPeer(void *to, int toDevice, const void *from,
                                     int fromDevice, size_t bytes) {
  if (hipError_t error = checkDevices(toDevice, fromDevice))
    return error;
  return hipMemcpy(to, from, bytes, hipMemcpyDeviceToDevice);
}
TESSERA_HIP hipError_t hipMemcpyPeerAsync(void *to, int toDevice,
                                          const void *from, int fromDevice,
                                          size_t bytes, hipStream_t stream) {
  if (hipError_t error = checkDevices(toDevice, fromDevice))
    return error;
  return hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToDevice, stream);
}

namespace {
/// A copy of rows of bytes from one address to another.
struct BlockCopy {
  char *to;
  size_t toPitch;
  const char *from;
  size_t fromPitch;
  size_t width, height;
  hipMemcpyKind kind;

  hipError_t run() const {
    return hipMemcpy2D(to, toPitch, from, fromPitch, width, height, kind);
  }
  hipError_t run(hipStream_t stream) const {
    return hipMemcpy2DAsync(to, toPitch, from, fromPitch, width, height, kind,
                            stream);
  }
};
} // namespace

static hipMemcpyKind getKind(bool fromHost, bool toHost) {
  if (fromHost)
    return toHost ? hipMemcpyHostToHost : hipMemcpyHostToDevice;
  return toHost ? hipMemcpyDeviceToHost : hipMemcpyDeviceToDevice;
}

static hipError_t describe(const hip_Memcpy2D *p, BlockCopy &copy) {
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
  // A pitch of 0 means rows without gaps between them.
  size_t fromPitch = p->srcPitch ? p->srcPitch : p->WidthInBytes;
  size_t toPitch = p->dstPitch ? p->dstPitch : p->WidthInBytes;
  copy = {to + p->dstY * toPitch + p->dstXInBytes,
          toPitch,
          from + p->srcY * fromPitch + p->srcXInBytes,
          fromPitch,
          p->WidthInBytes,
          p->Height,
          getKind(fromHost, toHost)};
  return hipSuccess;
}

TESSERA_HIP hipError_t hipMemcpyParam2D(const hip_Memcpy2D *parameters) {
  BlockCopy copy;
  if (hipError_t error = describe(parameters, copy))
    return error;
  return copy.run();
}
TESSERA_HIP_ALIAS(hipDrvMemcpy2DUnaligned, hipMemcpyParam2D,
                  (const hip_Memcpy2D *));
TESSERA_HIP hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D *parameters,
                                             hipStream_t stream) {
  BlockCopy copy;
  if (hipError_t error = describe(parameters, copy))
    return error;
  return copy.run(stream);
}

/// The distance from one slice to the next.
static size_t getSlicePitch(const hipPitchedPtr &pointer) {
  return pointer.pitch * pointer.ysize;
}
static char *getBegin(const hipPitchedPtr &pointer, const hipPos &at) {
  return static_cast<char *>(pointer.ptr) + at.z * getSlicePitch(pointer) +
         at.y * pointer.pitch + at.x;
}

/// Copies a block slice by slice; `run` copies one.
template <typename Run>
static hipError_t copySlices(const hipMemcpy3DParms *p, Run run) {
  if (!p)
    return setError(hipErrorInvalidValue);
  if (p->srcArray || p->dstArray)
    return setError(hipErrorNotSupported, "a copy from or to a hipArray");
  for (size_t z = 0; z < p->extent.depth; ++z) {
    BlockCopy slice = {
        getBegin(p->dstPtr, p->dstPos) + z * getSlicePitch(p->dstPtr),
        p->dstPtr.pitch,
        getBegin(p->srcPtr, p->srcPos) + z * getSlicePitch(p->srcPtr),
        p->srcPtr.pitch,
        p->extent.width,
        p->extent.height,
        p->kind};
    if (hipError_t error = run(slice))
      return error;
  }
  return hipSuccess;
}

TESSERA_HIP hipError_t hipMemcpy3D(const hipMemcpy3DParms *parameters) {
  return copySlices(parameters,
                    [](const BlockCopy &slice) { return slice.run(); });
}
TESSERA_HIP_ALIAS(hipMemcpy3D_spt, hipMemcpy3D, (const hipMemcpy3DParms *));
TESSERA_HIP hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms *parameters,
                                        hipStream_t stream) {
  return copySlices(parameters, [stream](const BlockCopy &slice) {
    return slice.run(stream);
  });
}

template <typename Run>
static hipError_t fillSlices(const hipPitchedPtr &to, const hipExtent &extent,
                             Run run) {
  for (size_t z = 0; z < extent.depth; ++z)
    if (hipError_t error =
            run(static_cast<char *>(to.ptr) + z * getSlicePitch(to)))
      return error;
  return hipSuccess;
}
TESSERA_HIP hipError_t hipMemset3D(hipPitchedPtr to, int value,
                                   hipExtent extent) {
  return fillSlices(to, extent, [&](void *slice) {
    return hipMemset2D(slice, to.pitch, value, extent.width, extent.height);
  });
}
TESSERA_HIP_ALIAS(hipMemset3D_spt, hipMemset3D,
                  (hipPitchedPtr, int, hipExtent));
TESSERA_HIP hipError_t hipMemset3DAsync(hipPitchedPtr to, int value,
                                        hipExtent extent, hipStream_t stream) {
  return fillSlices(to, extent, [&](void *slice) {
    return hipMemset2DAsync(slice, to.pitch, value, extent.width, extent.height,
                            stream);
  });
}

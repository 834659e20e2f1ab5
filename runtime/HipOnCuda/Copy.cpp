//===- Copy.cpp - Copies and fills of HIP over CUDA -----------------------===//
//
// The direction that the caller names selects the driver's function, which then
// refuses addresses that are not on the named side.
//
//===----------------------------------------------------------------------===//

#include "runtime/HipOnCuda/Driver.h"

using namespace tessera::cuda;

TESSERA_HIP hipError_t hipMemcpy(void *to, const void *from, size_t bytes,
                                 hipMemcpyKind kind) {
  if (bytes == 0)
    return checkDevice(0);
  switch (kind) {
  case hipMemcpyHostToDevice:
    return CALL_CUDA(cuMemcpyHtoD, to, from, bytes);
  case hipMemcpyDeviceToHost:
    return CALL_CUDA(cuMemcpyDtoH, to, from, bytes);
  case hipMemcpyDeviceToDevice:
    return CALL_CUDA(cuMemcpyDtoD, to, from, bytes);
  case hipMemcpyHostToHost:
  case hipMemcpyDefault:
    return CALL_CUDA(cuMemcpy, to, from, bytes);
  }
  return setError(hipErrorInvalidMemcpyDirection);
}
TESSERA_HIP_ALIAS(hipMemcpy_spt, hipMemcpy,
                  (void *, const void *, size_t, hipMemcpyKind));

TESSERA_HIP hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes,
                                      hipMemcpyKind kind, hipStream_t stream) {
  if (bytes == 0)
    return checkDevice(0);
  switch (kind) {
  case hipMemcpyHostToDevice:
    return CALL_CUDA(cuMemcpyHtoDAsync, to, from, bytes, stream);
  case hipMemcpyDeviceToHost:
    return CALL_CUDA(cuMemcpyDtoHAsync, to, from, bytes, stream);
  case hipMemcpyDeviceToDevice:
    return CALL_CUDA(cuMemcpyDtoDAsync, to, from, bytes, stream);
  case hipMemcpyHostToHost:
  case hipMemcpyDefault:
    return CALL_CUDA(cuMemcpyAsync, to, from, bytes, stream);
  }
  return setError(hipErrorInvalidMemcpyDirection);
}
TESSERA_HIP_ALIAS(hipMemcpyAsync_spt, hipMemcpyAsync,
                  (void *, const void *, size_t, hipMemcpyKind, hipStream_t));
TESSERA_HIP hipError_t hipMemcpyWithStream(void *to, const void *from,
                                           size_t bytes, hipMemcpyKind kind,
                                           hipStream_t stream) {
  if (hipError_t error = hipMemcpyAsync(to, from, bytes, kind, stream))
    return error;
  return CALL_CUDA(cuStreamSynchronize, stream);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

static CudaMemoryType getType(hipMemcpyKind kind, hipMemcpyKind hostOf) {
  if (kind == hipMemcpyDefault)
    return kMemoryUnified;
  return kind == hipMemcpyHostToHost || kind == hostOf ? kMemoryHost
                                                       : kMemoryDevice;
}

static hipError_t describe(void *to, size_t toPitch, const void *from,
                           size_t fromPitch, size_t width, size_t height,
                           hipMemcpyKind kind, CudaCopy2D &copy) {
  if (kind < hipMemcpyHostToHost || kind > hipMemcpyDefault)
    return setError(hipErrorInvalidMemcpyDirection);
  if (width > toPitch || width > fromPitch)
    return setError(hipErrorInvalidPitchValue);
  copy.fromType = getType(kind, hipMemcpyHostToDevice);
  copy.toType = getType(kind, hipMemcpyDeviceToHost);
  copy.fromHost = from;
  copy.fromDevice = const_cast<void *>(from);
  copy.toHost = copy.toDevice = to;
  copy.fromPitch = fromPitch;
  copy.toPitch = toPitch;
  copy.width = width;
  copy.height = height;
  return hipSuccess;
}

TESSERA_HIP hipError_t hipMemcpy2D(void *to, size_t toPitch, const void *from,
                                   size_t fromPitch, size_t width,
                                   size_t height, hipMemcpyKind kind) {
  CudaCopy2D copy;
  if (hipError_t error =
          describe(to, toPitch, from, fromPitch, width, height, kind, copy))
    return error;
  if (!width || !height)
    return checkDevice(0);
  return CALL_CUDA(cuMemcpy2DUnaligned, &copy);
}
TESSERA_HIP_ALIAS(hipMemcpy2D_spt, hipMemcpy2D,
                  (void *, size_t, const void *, size_t, size_t, size_t,
                   hipMemcpyKind));
TESSERA_HIP hipError_t hipMemcpy2DAsync(void *to, size_t toPitch,
                                        const void *from, size_t fromPitch,
                                        size_t width, size_t height,
                                        hipMemcpyKind kind,
                                        hipStream_t stream) {
  CudaCopy2D copy;
  if (hipError_t error =
          describe(to, toPitch, from, fromPitch, width, height, kind, copy))
    return error;
  if (!width || !height)
    return checkDevice(0);
  return CALL_CUDA(cuMemcpy2DAsync, &copy, stream);
}

//===----------------------------------------------------------------------===//
// Fills
//===----------------------------------------------------------------------===//

// The synchronous functions go through the null stream and do not wait, like
// those of the driver; later work in that stream is in order.
TESSERA_HIP hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value,
                                   size_t count) {
  return count ? CALL_CUDA(cuMemsetD8, to, value, count) : checkDevice(0);
}
TESSERA_HIP hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value,
                                        size_t count, hipStream_t stream) {
  return count ? CALL_CUDA(cuMemsetD8Async, to, value, count, stream)
               : checkDevice(0);
}
TESSERA_HIP hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value,
                                    size_t count) {
  return count ? CALL_CUDA(cuMemsetD16, to, value, count) : checkDevice(0);
}
TESSERA_HIP hipError_t hipMemsetD16Async(hipDeviceptr_t to,
                                         unsigned short value, size_t count,
                                         hipStream_t stream) {
  return count ? CALL_CUDA(cuMemsetD16Async, to, value, count, stream)
               : checkDevice(0);
}
TESSERA_HIP hipError_t hipMemsetD32(hipDeviceptr_t to, int value,
                                    size_t count) {
  return count ? CALL_CUDA(cuMemsetD32, to, static_cast<unsigned>(value), count)
               : checkDevice(0);
}
TESSERA_HIP hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value,
                                         size_t count, hipStream_t stream) {
  return count ? CALL_CUDA(cuMemsetD32Async, to, static_cast<unsigned>(value),
                           count, stream)
               : checkDevice(0);
}

TESSERA_HIP hipError_t hipMemset(void *to, int value, size_t bytes) {
  return hipMemsetD8(to, static_cast<unsigned char>(value), bytes);
}
TESSERA_HIP_ALIAS(hipMemset_spt, hipMemset, (void *, int, size_t));
TESSERA_HIP hipError_t hipMemsetAsync(void *to, int value, size_t bytes,
                                      hipStream_t stream) {
  return hipMemsetD8Async(to, static_cast<unsigned char>(value), bytes, stream);
}

static hipError_t checkBlock(size_t pitch, size_t width, size_t height) {
  return width > pitch && height > 1 ? setError(hipErrorInvalidPitchValue)
                                     : hipSuccess;
}
TESSERA_HIP hipError_t hipMemset2D(void *to, size_t pitch, int value,
                                   size_t width, size_t height) {
  if (hipError_t error = checkBlock(pitch, width, height))
    return error;
  if (!width || !height)
    return checkDevice(0);
  return CALL_CUDA(cuMemsetD2D8, to, pitch, static_cast<unsigned char>(value),
                   width, height);
}
TESSERA_HIP_ALIAS(hipMemset2D_spt, hipMemset2D,
                  (void *, size_t, int, size_t, size_t));
TESSERA_HIP hipError_t hipMemset2DAsync(void *to, size_t pitch, int value,
                                        size_t width, size_t height,
                                        hipStream_t stream) {
  if (hipError_t error = checkBlock(pitch, width, height))
    return error;
  if (!width || !height)
    return checkDevice(0);
  return CALL_CUDA(cuMemsetD2D8Async, to, pitch,
                   static_cast<unsigned char>(value), width, height, stream);
}

//===- DeviceBuffer.h - Memory of the device -------------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_GPU_DEVICEBUFFER_H
#define TESSERA_RUNTIME_GPU_DEVICEBUFFER_H

#include "runtime/Gpu/GpuResource.h"

#include <cassert>
#include <cstddef>

namespace tessera {

/// Owns device memory. Copies block; a buffer of 0 bytes has no address.
class DeviceBuffer {
public:
  static ErrorOr<DeviceBuffer> allocate(const GpuApi &gpu, size_t byteSize) {
    void *data = nullptr;
    if (byteSize == 0)
      return DeviceBuffer(gpu, data, 0);
    const hipError_t error = gpu.hipMalloc(&data, byteSize);
    if (error == hipErrorOutOfMemory)
      return describeShortage(gpu, byteSize);
    if (Status status = gpu.check(error, "hipMalloc"); !status.isOk())
      return status;
    return DeviceBuffer(gpu, data, byteSize);
  }

  void *get() const { return handle.get(); }
  size_t getByteSize() const { return byteSize; }

  Status copyFromHost(const void *source, size_t bytes) const {
    return copy(get(), source, bytes, hipMemcpyHostToDevice);
  }
  Status copyToHost(void *target, size_t bytes) const {
    return copy(target, get(), bytes, hipMemcpyDeviceToHost);
  }
  /// Sets every byte.
  Status fill(int value) const {
    const GpuApi &gpu = handle.getGpu();
    if (byteSize == 0)
      return Status::ok();
    return gpu.check(gpu.hipMemset(get(), value, byteSize), "hipMemset");
  }

private:
  DeviceBuffer(const GpuApi &gpu, void *data, size_t byteSize)
      : handle(gpu, data), byteSize(byteSize) {}

  static Status describeShortage(const GpuApi &gpu, size_t byteSize) {
    size_t free = 0, total = 0;
    const bool isKnown = gpu.hipMemGetInfo(&free, &total) == hipSuccess;
    return {StatusCode::ResourceExhausted,
            "the device cannot give " + std::to_string(byteSize) +
                " bytes of memory at once" +
                (isKnown ? "; " + std::to_string(free) + " of " +
                               std::to_string(total) + " are free"
                         : "")};
  }

  Status copy(void *target, const void *source, size_t bytes,
              hipMemcpyKind kind) const {
    assert(bytes <= byteSize && "a copy must stay inside the buffer");
    const GpuApi &gpu = handle.getGpu();
    if (bytes == 0)
      return Status::ok();
    return gpu.check(gpu.hipMemcpy(target, source, bytes, kind), "hipMemcpy");
  }

  GpuResource<void *, &GpuApi::hipFree> handle;
  size_t byteSize;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_GPU_DEVICEBUFFER_H

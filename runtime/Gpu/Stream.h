//===- Stream.h - A queue of the device ------------------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_GPU_STREAM_H
#define TESSERA_RUNTIME_GPU_STREAM_H

#include "runtime/Gpu/GpuResource.h"

namespace tessera {

/// Owns a stream. Destroying it lets queued work finish.
class Stream {
public:
  static ErrorOr<Stream> create(const GpuApi &gpu) {
    hipStream_t stream = nullptr;
    if (Status status =
            gpu.check(gpu.hipStreamCreate(&stream), "hipStreamCreate");
        !status.isOk())
      return status;
    return Stream(gpu, stream);
  }

  /// A stream with the lowest priority, which does not wait for work on the
  /// null stream.
  static ErrorOr<Stream> createInBackground(const GpuApi &gpu) {
    // The number is beyond the lowest priority of every runtime, which clamps
    // it.
    constexpr int kLeastPriority = 100;
    hipStream_t stream = nullptr;
    if (Status status =
            gpu.check(gpu.hipStreamCreateWithPriority(
                          &stream, hipStreamNonBlocking, kLeastPriority),
                      "hipStreamCreateWithPriority");
        !status.isOk())
      return status;
    return Stream(gpu, stream);
  }

  hipStream_t get() const { return handle.get(); }

  /// Blocks until everything queued so far is done.
  Status synchronize() const {
    const GpuApi &gpu = handle.getGpu();
    return gpu.check(gpu.hipStreamSynchronize(get()), "hipStreamSynchronize");
  }

private:
  Stream(const GpuApi &gpu, hipStream_t stream) : handle(gpu, stream) {}
  GpuResource<hipStream_t, &GpuApi::hipStreamDestroy> handle;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_GPU_STREAM_H

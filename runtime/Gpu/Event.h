//===- Event.h - A moment on a stream --------------------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_GPU_EVENT_H
#define TESSERA_RUNTIME_GPU_EVENT_H

#include "runtime/Gpu/GpuResource.h"

namespace tessera {

/// Owns an event. Two of them around a launch measure the device's own time.
class Event {
public:
  static ErrorOr<Event> create(const GpuApi &gpu) {
    hipEvent_t event = nullptr;
    if (Status status = gpu.check(gpu.hipEventCreate(&event), "hipEventCreate");
        !status.isOk())
      return status;
    return Event(gpu, event);
  }

  hipEvent_t get() const { return handle.get(); }

  /// Records the moment when everything queued on `stream` so far is done.
  Status record(hipStream_t stream) const {
    const GpuApi &gpu = handle.getGpu();
    return gpu.check(gpu.hipEventRecord(get(), stream), "hipEventRecord");
  }

  /// Blocks until that moment.
  Status synchronize() const {
    const GpuApi &gpu = handle.getGpu();
    return gpu.check(gpu.hipEventSynchronize(get()), "hipEventSynchronize");
  }

  /// Milliseconds from `start` to this event; both must have been reached.
  ErrorOr<float> getMsSince(const Event &start) const {
    const GpuApi &gpu = handle.getGpu();
    float timeMs = 0;
    if (Status status =
            gpu.check(gpu.hipEventElapsedTime(&timeMs, start.get(), get()),
                      "hipEventElapsedTime");
        !status.isOk())
      return status;
    return timeMs;
  }

private:
  Event(const GpuApi &gpu, hipEvent_t event) : handle(gpu, event) {}
  GpuResource<hipEvent_t, &GpuApi::hipEventDestroy> handle;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_GPU_EVENT_H

//===- HandleState.h - What stands behind miopenHandle_t -------*- C++ -*-===//

#ifndef TESSERA_CAPI_LIB_HANDLESTATE_H
#define TESSERA_CAPI_LIB_HANDLESTATE_H

#include "capi/lib/Common/ObjectTag.h"
#include "runtime/Engine/Engine.h"
#include "runtime/Gpu/DeviceBuffer.h"
#include "runtime/Gpu/Event.h"

#include <miopen/handle.h>

#include <optional>

/// A stream and how to time it. Owned by the client; used by one thread at a
/// time. The events are owned here, the engine and the stream are borrowed.
struct miopenHandle {
  tessera::capi::ObjectTag tag = {};
  tessera::Engine &engine;
  hipStream_t stream = nullptr;
  float kernelTimeMs = 0;
  bool sumsTimes = false; ///< See KernelTimeSum.
  /// As the client set it.
  miopenTuningPolicy_t tuningPolicy = miopenTuningPolicyNone;
  /// Recorded by the client, called by nobody yet.
  miopenAllocatorFunction allocator = nullptr;
  miopenDeallocatorFunction deallocator = nullptr;
  void *allocatorContext = nullptr;

  miopenHandle(tessera::Engine &engine, hipStream_t stream) : engine(engine) {
    setStream(stream);
  }

  /// Launches a kernel; waits for it and keeps its time, or adds it to that of
  /// the call's launches before it, if profiling is on.
  tessera::Status launch(const tessera::LoadedKernel &kernel,
                         const tessera::LaunchArgs &args) {
    if (!isLaunchPlain) [[unlikely]]
      return launchSpecially(kernel, args);
    tessera::Status status = engine.launch(kernel, stream, args);
    if (!status.isOk()) [[unlikely]]
      checkRuntimeOf(args);
    return status;
  }

  void setStream(hipStream_t newStream);
  void setProfiling(bool isOn);

  /// Device memory of at least `bytes` bytes for kernels on the stream, which
  /// overwrite one another's; null for none. Waits for the device when the
  /// memory grows or the stream is another.
  tessera::ErrorOr<void *> getScratch(size_t bytes);

  /// Launches a kernel, waits for it and sets `timeMs`.
  tessera::Status launchTimed(const tessera::LoadedKernel &kernel,
                              const tessera::LaunchArgs &args, float &timeMs);

  /// The time of one launch: the least of a few, because the first one also
  /// pays for caches that are cold. Long kernels are run once.
  tessera::Status measure(const tessera::LoadedKernel &kernel,
                          const tessera::LaunchArgs &args, float &timeMs);

private:
  /// The first one, and while profiling is on.
  tessera::Status launchSpecially(const tessera::LoadedKernel &kernel,
                                  const tessera::LaunchArgs &args);
  /// See OtherRuntime.h.
  void checkRuntimeOf(const tessera::LaunchArgs &args) const;

  struct Events {
    tessera::Event start;
    tessera::Event stop;
  };
  /// Made when a time is first wanted, because most handles want none.
  tessera::Status createEvents();

  bool isStreamChecked = false; ///< See OtherRuntime.h; null is not.
  bool isMemoryChecked = false; ///< That of the first launch.
  bool profiling = false;
  /// Memory was checked and profiling is off: one flag, because each launch
  /// reads it.
  bool isLaunchPlain = false;
  std::optional<Events> events;
  std::optional<tessera::DeviceBuffer> scratch;
  hipStream_t scratchStream = nullptr; ///< Whose kernels may still use it.
};

namespace tessera::capi {

/// While it lives, the kernel time of the handle is the sum of all launches:
/// for a call that makes several. Borrows the handle.
class KernelTimeSum {
public:
  explicit KernelTimeSum(miopenHandle &handle) : handle(handle) {
    handle.kernelTimeMs = 0;
    handle.sumsTimes = true;
  }
  ~KernelTimeSum() { handle.sumsTimes = false; }
  KernelTimeSum(const KernelTimeSum &) = delete;
  KernelTimeSum &operator=(const KernelTimeSum &) = delete;

private:
  miopenHandle &handle;
};

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_HANDLESTATE_H

//===- HandleState.h - The object behind miopenHandle_t --------*- C++ -*--===//

#ifndef TESSERA_CAPI_LIB_HANDLE_HANDLESTATE_H
#define TESSERA_CAPI_LIB_HANDLE_HANDLESTATE_H

#include "capi/lib/Common/ObjectTag.h"
#include "runtime/Engine/Engine.h"
#include "runtime/Gpu/DeviceBuffer.h"
#include "runtime/Gpu/Event.h"

#include <miopen/handle.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// A stream and how its kernels are timed. Owned by the client; used by one
/// thread at a time. The handle owns the events and the scratch memory and
/// borrows the engine and the stream.
struct miopenHandle {
  tessera::capi::ObjectTag tag = {};
  tessera::Engine &engine;
  hipStream_t stream = nullptr;
  float kernelTimeMs = 0;
  bool sumsTimes = false; ///< See KernelTimeSum.
  /// Stored for the client; has no effect.
  miopenTuningPolicy_t tuningPolicy = miopenTuningPolicyNone;
  /// Stored for the client; never called.
  miopenAllocatorFunction allocator = nullptr;
  miopenDeallocatorFunction deallocator = nullptr;
  void *allocatorContext = nullptr;
  /// Problems that were run by their text: to read one takes a microsecond.
  std::map<std::string, tessera::Problem, std::less<>> problems;

  miopenHandle(tessera::Engine &engine, hipStream_t stream) : engine(engine) {
    setStream(stream);
  }

  /// Launches a kernel. If profiling is on, waits for it and stores its time,
  /// or adds it to the times of the call's previous launches.
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

  /// Scratch memory of at least `bytes` bytes; null if that is 0. All kernels
  /// on the stream share it, which is safe because they run one after another.
  /// Waits for the device when the memory grows or the stream has changed.
  /// A graph that is being captured has its own, which lives as long as the
  /// handle: graphs share it only if nothing else used any between them.
  tessera::ErrorOr<void *> getScratch(size_t bytes);

  /// Launches a kernel, waits for it and sets `timeMs`.
  tessera::Status launchTimed(const tessera::LoadedKernel &kernel,
                              const tessera::LaunchArgs &args, float &timeMs);

  /// Measures one launch: the minimum of up to five, because the first launch
  /// also fills cold caches. A kernel of 5 ms or more is launched once.
  tessera::Status measure(const tessera::LoadedKernel &kernel,
                          const tessera::LaunchArgs &args, float &timeMs);

private:
  /// launch() for the first launch, and while profiling is on.
  tessera::Status launchSpecially(const tessera::LoadedKernel &kernel,
                                  const tessera::LaunchArgs &args);
  /// Warns if the client uses another HIP runtime (OtherRuntime.h).
  void checkRuntimeOf(const tessera::LaunchArgs &args) const;

  struct Events {
    tessera::Event start;
    tessera::Event stop;
  };
  /// Creates the events when a time is first wanted, because most handles never
  /// want one.
  tessera::Status createEvents();

  bool isStreamChecked = false; ///< A stream other than null was checked.
  bool isMemoryChecked = false; ///< Memory of the first launch was checked.
  bool profiling = false;
  /// Whether memory was checked and profiling is off. It is one flag because
  /// every launch reads it.
  bool isLaunchPlain = false;
  std::optional<Events> events;
  std::optional<tessera::DeviceBuffer> scratch;
  bool isScratchCaptured = false; ///< A graph uses `scratch`.
  /// What graphs use, and this handle no more.
  std::vector<tessera::DeviceBuffer> graphScratch;
  hipStream_t scratchStream = nullptr; ///< Its kernels may still use `scratch`.
};

namespace tessera::capi {

/// While it lives, the kernel time of the handle is the sum of all launches,
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

#endif // TESSERA_CAPI_LIB_HANDLE_HANDLESTATE_H

//===- Handle.cpp - miopen/handle.h ---------------------------------------===//

#include <miopen/handle.h>

#include "capi/lib/Common/Library.h"
#include "capi/lib/Common/Objects.h"
#include "capi/lib/Handle/HandleState.h"
#include "runtime/Gpu/OtherRuntime.h"

#include <miopen/version.h>

#include <algorithm>
#include <vector>

using namespace tessera;
using namespace tessera::capi;

Status miopenHandle::createEvents() {
  if (events)
    return Status::ok();
  ErrorOr<Event> start = Event::create(engine.getGpu());
  if (!start)
    return start.getStatus();
  ErrorOr<Event> stop = Event::create(engine.getGpu());
  if (!stop)
    return stop.getStatus();
  events.emplace(Events{std::move(*start), std::move(*stop)});
  return Status::ok();
}

void miopenHandle::setStream(hipStream_t newStream) {
  stream = newStream;
  // Clients set a stream for each call. If they use another runtime, the first
  // stream shows it, so that others are not checked.
  if (!stream || isStreamChecked) [[likely]]
    return;
  isStreamChecked = true;
  warnOfForeignStream(engine.getGpu(), stream);
}

void miopenHandle::setProfiling(bool isOn) {
  profiling = isOn;
  isLaunchPlain = isMemoryChecked && !isOn;
}

void miopenHandle::checkRuntimeOf(const LaunchArgs &args) const {
  std::vector<const void *> pointers = {
      args.x,        args.w,       args.y,    args.workspace, args.bias,
      args.residual, args.indices, args.mean, args.variance};
  pointers.insert(pointers.end(), args.tensors.begin(), args.tensors.end());
  warnOfForeignMemory(engine.getGpu(), pointers);
  warnOfForeignStream(engine.getGpu(), stream);
}

Status miopenHandle::launchTimed(const LoadedKernel &kernel,
                                 const LaunchArgs &args, float &timeMs) {
  if (!isMemoryChecked) {
    isMemoryChecked = true;
    checkRuntimeOf(args);
  }
  // A kernel for other alignments is compiled before the first event, so that
  // it is not part of the time.
  const ErrorOr<const LoadedKernel *> fitting = engine.getFitting(kernel, args);
  Status status = fitting.getStatus();
  if (status.isOk())
    status = createEvents();
  if (status.isOk())
    status = events->start.record(stream);
  if (status.isOk())
    status = engine.launch(**fitting, stream, args);
  if (status.isOk())
    status = events->stop.record(stream);
  if (status.isOk())
    status = events->stop.synchronize();
  if (!status.isOk()) {
    checkRuntimeOf(args);
    return status;
  }
  const ErrorOr<float> elapsedMs = events->stop.getMsSince(events->start);
  if (!elapsedMs)
    return elapsedMs.getStatus();
  timeMs = *elapsedMs;
  return Status::ok();
}

Status miopenHandle::measure(const LoadedKernel &kernel, const LaunchArgs &args,
                             float &timeMs) {
  constexpr int kMaxRuns = 5;
  constexpr float kBudgetMs = 5;
  float totalMs = 0;
  for (int run = 0; run < kMaxRuns && totalMs < kBudgetMs; ++run) {
    float runMs = 0;
    if (Status status = launchTimed(kernel, args, runMs); !status.isOk())
      return status;
    timeMs = run == 0 ? runMs : std::min(timeMs, runMs);
    totalMs += runMs;
  }
  return Status::ok();
}

Status miopenHandle::launchSpecially(const LoadedKernel &kernel,
                                     const LaunchArgs &args) {
  if (!profiling) {
    if (!isMemoryChecked)
      checkRuntimeOf(args);
    isMemoryChecked = isLaunchPlain = true;
    return launch(kernel, args);
  }
  float timeMs = 0;
  Status status = launchTimed(kernel, args, timeMs);
  if (status.isOk())
    kernelTimeMs = sumsTimes ? kernelTimeMs + timeMs : timeMs;
  return status;
}

namespace {
/// While it lives, this thread may allocate although a graph is captured.
class RelaxedCapture {
public:
  explicit RelaxedCapture(const GpuApi &gpu) : gpu(gpu) { exchange(); }
  ~RelaxedCapture() { exchange(); }
  RelaxedCapture(const RelaxedCapture &) = delete;
  RelaxedCapture &operator=(const RelaxedCapture &) = delete;

private:
  void exchange() {
    if (gpu.hipThreadExchangeStreamCaptureMode)
      (void)gpu.hipThreadExchangeStreamCaptureMode(&mode);
  }
  const GpuApi &gpu;
  hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
};
} // namespace

ErrorOr<void *> miopenHandle::getScratch(size_t bytes) {
  if (bytes == 0)
    return nullptr;
  const GpuApi &gpu = engine.getGpu();
  const bool isCaptured = gpu.isCapturing(stream);
  if (!scratch || scratch->getByteSize() < bytes || scratchStream != stream ||
      isScratchCaptured != isCaptured) {
    const RelaxedCapture relaxed(gpu);
    if (scratch && isScratchCaptured)
      graphScratch.push_back(std::move(*scratch));
    scratch.reset(); // hipFree waits for the kernels that use it.
    ErrorOr<DeviceBuffer> buffer = DeviceBuffer::allocate(gpu, bytes);
    if (!buffer)
      return buffer.getStatus();
    scratch.emplace(std::move(*buffer));
    scratchStream = stream;
    isScratchCaptured = isCaptured;
  }
  return scratch->get();
}

extern "C" {

const char *miopenGetErrorString(miopenStatus_t error) {
  return getStatusName(error);
}

miopenStatus_t miopenGetVersion(size_t *major, size_t *minor, size_t *patch) {
  return guard(__func__, REQUIRED(), [&]() -> ApiResult {
    if (major)
      *major = MIOPEN_VERSION_MAJOR;
    if (minor)
      *minor = MIOPEN_VERSION_MINOR;
    if (patch)
      *patch = MIOPEN_VERSION_PATCH;
    return Status::ok();
  });
}

miopenStatus_t miopenCreate(miopenHandle_t *handle) {
  return miopenCreateWithStream(handle, nullptr);
}

miopenStatus_t miopenCreateWithStream(miopenHandle_t *handle,
                                      miopenAcceleratorQueue_t stream) {
  return guard(__func__, REQUIRED(handle), [&]() -> ApiResult {
    const ErrorOr<Engine *> engine = getEngine();
    if (!engine)
      return engine.getStatus();
    *handle = makeObject<miopenHandle>(**engine, stream);
    warnOfOtherRuntime((*engine)->getGpu());
    return Status::ok();
  });
}

miopenStatus_t miopenDestroy(miopenHandle_t handle) {
  return destroyObject(__func__, REQUIRED(handle), handle);
}

miopenStatus_t miopenSetStream(miopenHandle_t handle,
                               miopenAcceleratorQueue_t streamID) {
  return guard(__func__, REQUIRED(handle), [&]() -> ApiResult {
    handle->setStream(streamID);
    return Status::ok();
  });
}

miopenStatus_t miopenGetStream(miopenHandle_t handle,
                               miopenAcceleratorQueue_t *streamID) {
  return guard(__func__, REQUIRED(handle, streamID), [&]() -> ApiResult {
    *streamID = handle->stream;
    return Status::ok();
  });
}

miopenStatus_t miopenSetAllocator(miopenHandle_t handle,
                                  miopenAllocatorFunction allocator,
                                  miopenDeallocatorFunction deallocator,
                                  void *allocatorContext) {
  return guard(__func__, REQUIRED(handle), [&]() -> ApiResult {
    if (!allocator != !deallocator)
      return invalidArgument(
          "allocator and deallocator must be given together");
    handle->allocator = allocator;
    handle->deallocator = deallocator;
    handle->allocatorContext = allocatorContext;
    return Status::ok();
  });
}

miopenStatus_t miopenGetKernelTime(miopenHandle_t handle, float *time) {
  return guard(__func__, REQUIRED(handle, time), [&]() -> ApiResult {
    *time = handle->kernelTimeMs;
    return Status::ok();
  });
}

miopenStatus_t miopenEnableProfiling(miopenHandle_t handle, bool enable) {
  return guard(__func__, REQUIRED(handle), [&]() -> ApiResult {
    handle->setProfiling(enable);
    handle->kernelTimeMs = 0;
    return Status::ok();
  });
}

miopenStatus_t miopenSetTuningPolicy(miopenHandle_t handle,
                                     miopenTuningPolicy_t newValue) {
  return guard(__func__, REQUIRED(handle), [&]() -> ApiResult {
    if (newValue < miopenTuningPolicyNone ||
        newValue > miopenTuningPolicyDbClean)
      return invalidArgument("tuning policy " + std::to_string(newValue) +
                             " is unknown");
    handle->tuningPolicy = newValue;
    return Status::ok();
  });
}

miopenStatus_t miopenGetTuningPolicy(miopenHandle_t handle,
                                     miopenTuningPolicy_t *value) {
  return guard(__func__, REQUIRED(handle, value), [&]() -> ApiResult {
    *value = handle->tuningPolicy;
    return Status::ok();
  });
}

} // extern "C"

//===- HipStream.cpp - Streams of the emulated HIP ------------------------===//
//
// Every call has finished its work when it returns, so a stream has no queue;
// it is only a handle that can be invalid. Callbacks run in the calling thread.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Hip/Device.h"
#include "runtime/Emulator/Hip/Handles.h"

#include <algorithm>
#include <atomic>
#include <thread>

using namespace tessera::emulator;

struct ihipStream_t {
  unsigned flags;
  int priority = 0;
};

// Small numbers are better, as in CUDA.
static constexpr int kLowestPriority = 1;
static constexpr int kHighestPriority = -1;

static HandleSet<ihipStream_t> &getStreams() {
  static auto *streams = new HandleSet<ihipStream_t>;
  return *streams;
}

hipError_t tessera::emulator::checkStream(hipStream_t stream) {
  // Valid are null, the two small numbers of HIP's legacy and per-thread
  // streams, and the streams that exist.
  if (reinterpret_cast<uintptr_t>(stream) <= 2 || getStreams().has(stream))
    return hipSuccess;
  return setError(hipErrorInvalidHandle);
}

TESSERA_HIP hipError_t hipStreamCreateWithFlags(hipStream_t *stream,
                                                unsigned flags) {
  if (!stream)
    return setError(hipErrorInvalidValue);
  *stream = getStreams().add(new ihipStream_t{flags, 0});
  return hipSuccess;
}
TESSERA_HIP hipError_t hipStreamCreate(hipStream_t *stream) {
  return hipStreamCreateWithFlags(stream, hipStreamDefault);
}
TESSERA_HIP hipError_t hipStreamCreateWithPriority(hipStream_t *stream,
                                                   unsigned flags,
                                                   int priority) {
  if (!stream)
    return setError(hipErrorInvalidValue);
  *stream = getStreams().add(new ihipStream_t{
      flags, std::clamp(priority, kHighestPriority, kLowestPriority)});
  return hipSuccess;
}
TESSERA_HIP hipError_t hipExtStreamCreateWithCUMask(hipStream_t *stream,
                                                    uint32_t,
                                                    const uint32_t *) {
  return hipStreamCreateWithFlags(stream, hipStreamDefault);
}
TESSERA_HIP hipError_t hipStreamDestroy(hipStream_t stream) {
  return getStreams().remove(stream) ? hipSuccess
                                     : setError(hipErrorInvalidHandle);
}
TESSERA_HIP hipError_t hipStreamSynchronize(hipStream_t stream) {
  return checkStream(stream);
}
TESSERA_HIP_ALIAS(hipStreamSynchronize_spt, hipStreamSynchronize,
                  (hipStream_t));
TESSERA_HIP hipError_t hipStreamQuery(hipStream_t stream) {
  return checkStream(stream);
}
TESSERA_HIP_ALIAS(hipStreamQuery_spt, hipStreamQuery, (hipStream_t));
TESSERA_HIP hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event,
                                          unsigned) {
  if (!isEvent(event))
    return setError(hipErrorInvalidHandle);
  return checkStream(stream);
}
TESSERA_HIP_ALIAS(hipStreamWaitEvent_spt, hipStreamWaitEvent,
                  (hipStream_t, hipEvent_t, unsigned));
TESSERA_HIP hipError_t hipStreamGetFlags(hipStream_t stream, unsigned *flags) {
  if (!flags)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = checkStream(stream))
    return error;
  *flags = getStreams().has(stream) ? stream->flags : 0;
  return hipSuccess;
}
TESSERA_HIP_ALIAS(hipStreamGetFlags_spt, hipStreamGetFlags,
                  (hipStream_t, unsigned *));
TESSERA_HIP hipError_t hipStreamGetPriority(hipStream_t stream, int *priority) {
  if (!priority)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = checkStream(stream))
    return error;
  *priority = getStreams().has(stream) ? stream->priority : 0;
  return hipSuccess;
}
TESSERA_HIP_ALIAS(hipStreamGetPriority_spt, hipStreamGetPriority,
                  (hipStream_t, int *));
TESSERA_HIP hipError_t hipDeviceGetStreamPriorityRange(int *lowest,
                                                       int *highest) {
  if (lowest)
    *lowest = kLowestPriority;
  if (highest)
    *highest = kHighestPriority;
  return checkDevice(0);
}
TESSERA_HIP int hipGetStreamDeviceId(hipStream_t) { return 0; }

TESSERA_HIP hipError_t hipStreamAddCallback(hipStream_t stream,
                                            hipStreamCallback_t callback,
                                            void *data, unsigned flags) {
  if (!callback || flags)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = checkStream(stream))
    return error;
  callback(stream, hipSuccess, data);
  return hipSuccess;
}
TESSERA_HIP hipError_t hipLaunchHostFunc(hipStream_t stream,
                                         hipHostFn_t function, void *data) {
  if (!function)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = checkStream(stream))
    return error;
  function(data);
  return hipSuccess;
}

// Captures are not supported, so no stream is ever capturing.
TESSERA_HIP hipError_t hipStreamIsCapturing(hipStream_t stream,
                                            hipStreamCaptureStatus *status) {
  if (!status)
    return setError(hipErrorInvalidValue);
  *status = hipStreamCaptureStatusNone;
  return checkStream(stream);
}
TESSERA_HIP hipError_t
hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode) {
  static thread_local hipStreamCaptureMode current = hipStreamCaptureModeGlobal;
  if (!mode)
    return setError(hipErrorInvalidValue);
  std::swap(*mode, current);
  return hipSuccess;
}

template <typename T>
static hipError_t writeValue(hipStream_t stream, void *pointer, T value) {
  if (!pointer)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = checkStream(stream))
    return error;
  std::atomic_ref<T>(*static_cast<T *>(pointer)).store(value);
  return hipSuccess;
}
TESSERA_HIP hipError_t hipStreamWriteValue32(hipStream_t stream, void *pointer,
                                             uint32_t value, unsigned) {
  return writeValue(stream, pointer, value);
}
TESSERA_HIP hipError_t hipStreamWriteValue64(hipStream_t stream, void *pointer,
                                             uint64_t value, unsigned) {
  return writeValue(stream, pointer, value);
}

/// The condition of hipStreamWaitValue.
template <typename T>
static bool isReached(T now, T value, unsigned condition, T mask) {
  switch (condition) {
  case hipStreamWaitValueGte:
    return (now & mask) >= value;
  case hipStreamWaitValueEq:
    return (now & mask) == value;
  case hipStreamWaitValueAnd:
    return (now & mask & value) != 0;
  default:
    return ~((now & mask) | (value & mask)) != 0;
  }
}
// Waits in the calling thread, so another thread must write the value.
template <typename T>
static hipError_t waitValue(hipStream_t stream, void *pointer, T value,
                            unsigned condition, T mask) {
  if (!pointer || condition > hipStreamWaitValueNor)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = checkStream(stream))
    return error;
  std::atomic_ref<T> target(*static_cast<T *>(pointer));
  while (!isReached(target.load(), value, condition, mask))
    std::this_thread::yield();
  return hipSuccess;
}
TESSERA_HIP hipError_t hipStreamWaitValue32(hipStream_t stream, void *pointer,
                                            uint32_t value, unsigned condition,
                                            uint32_t mask) {
  return waitValue(stream, pointer, value, condition, mask);
}
TESSERA_HIP hipError_t hipStreamWaitValue64(hipStream_t stream, void *pointer,
                                            uint64_t value, unsigned condition,
                                            uint64_t mask) {
  return waitValue(stream, pointer, value, condition, mask);
}

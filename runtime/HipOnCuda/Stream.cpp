//===- Stream.cpp - Streams and events of HIP over CUDA -------------------===//
//
// Handles are the driver's own, so that streams of others can be used. HIP's
// functions for a thread's default stream are the ordinary ones: the null
// stream and that stream wait for each other.
//
//===----------------------------------------------------------------------===//

#include "runtime/HipOnCuda/Driver.h"

#include <memory>

using namespace tessera::cuda;

TESSERA_HIP hipError_t hipStreamCreateWithFlags(hipStream_t *stream,
                                                unsigned flags) {
  if (!stream)
    return setError(hipErrorInvalidValue);
  return CALL_CUDA(cuStreamCreate, stream, flags);
}
TESSERA_HIP hipError_t hipStreamCreate(hipStream_t *stream) {
  return hipStreamCreateWithFlags(stream, hipStreamDefault);
}
TESSERA_HIP hipError_t hipStreamCreateWithPriority(hipStream_t *stream,
                                                   unsigned flags,
                                                   int priority) {
  if (!stream)
    return setError(hipErrorInvalidValue);
  return CALL_CUDA(cuStreamCreateWithPriority, stream, flags, priority);
}
// CUDA cannot choose the multiprocessors that run a stream.
TESSERA_HIP hipError_t hipExtStreamCreateWithCUMask(hipStream_t *stream,
                                                    uint32_t,
                                                    const uint32_t *) {
  return hipStreamCreateWithFlags(stream, hipStreamDefault);
}
TESSERA_HIP hipError_t hipStreamDestroy(hipStream_t stream) {
  return stream ? CALL_CUDA(cuStreamDestroy, stream)
                : setError(hipErrorInvalidHandle);
}
TESSERA_HIP hipError_t hipStreamSynchronize(hipStream_t stream) {
  return CALL_CUDA(cuStreamSynchronize, stream);
}
TESSERA_HIP_ALIAS(hipStreamSynchronize_spt, hipStreamSynchronize,
                  (hipStream_t));
TESSERA_HIP hipError_t hipStreamQuery(hipStream_t stream) {
  return CALL_CUDA(cuStreamQuery, stream);
}
TESSERA_HIP_ALIAS(hipStreamQuery_spt, hipStreamQuery, (hipStream_t));
TESSERA_HIP hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event,
                                          unsigned flags) {
  return event ? CALL_CUDA(cuStreamWaitEvent, stream, event, flags)
               : setError(hipErrorInvalidHandle);
}
TESSERA_HIP_ALIAS(hipStreamWaitEvent_spt, hipStreamWaitEvent,
                  (hipStream_t, hipEvent_t, unsigned));
TESSERA_HIP hipError_t hipStreamGetFlags(hipStream_t stream, unsigned *flags) {
  if (!flags)
    return setError(hipErrorInvalidValue);
  return CALL_CUDA(cuStreamGetFlags, stream, flags);
}
TESSERA_HIP_ALIAS(hipStreamGetFlags_spt, hipStreamGetFlags,
                  (hipStream_t, unsigned *));
TESSERA_HIP hipError_t hipStreamGetPriority(hipStream_t stream, int *priority) {
  if (!priority)
    return setError(hipErrorInvalidValue);
  return CALL_CUDA(cuStreamGetPriority, stream, priority);
}
TESSERA_HIP_ALIAS(hipStreamGetPriority_spt, hipStreamGetPriority,
                  (hipStream_t, int *));
TESSERA_HIP hipError_t hipDeviceGetStreamPriorityRange(int *lowest,
                                                       int *highest) {
  return CALL_CUDA(cuCtxGetStreamPriorityRange, lowest, highest);
}

//===----------------------------------------------------------------------===//
// Host functions in a stream
//===----------------------------------------------------------------------===//

namespace {
/// The application's callback, while the driver holds our function.
struct Callback {
  hipStreamCallback_t function;
  void *data;
};
} // namespace

static void runCallback(hipStream_t stream, CudaError error, void *data) {
  std::unique_ptr<Callback> callback(static_cast<Callback *>(data));
  callback->function(stream, toHipError(error), callback->data);
}

TESSERA_HIP hipError_t hipStreamAddCallback(hipStream_t stream,
                                            hipStreamCallback_t function,
                                            void *data, unsigned flags) {
  if (!function || flags)
    return setError(hipErrorInvalidValue);
  auto callback = std::make_unique<Callback>(Callback{function, data});
  hipError_t error =
      CALL_CUDA(cuStreamAddCallback, stream, runCallback, callback.get(), 0u);
  if (error == hipSuccess)
    (void)callback.release();
  return error;
}
TESSERA_HIP hipError_t hipLaunchHostFunc(hipStream_t stream,
                                         hipHostFn_t function, void *data) {
  if (!function)
    return setError(hipErrorInvalidValue);
  return CALL_CUDA(cuLaunchHostFunc, stream, function, data);
}

//===----------------------------------------------------------------------===//
// Captures by others
//===----------------------------------------------------------------------===//

// Nothing is captured through us, but a stream of PyTorch may be in a capture.
// Modes and states have the same numbers in CUDA and HIP.
TESSERA_HIP hipError_t hipStreamIsCapturing(hipStream_t stream,
                                            hipStreamCaptureStatus *status) {
  if (!status)
    return setError(hipErrorInvalidValue);
  int number = 0;
  hipError_t error = CALL_CUDA(cuStreamIsCapturing, stream, &number);
  *status = static_cast<hipStreamCaptureStatus>(number);
  return error;
}
TESSERA_HIP hipError_t
hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode) {
  if (!mode)
    return setError(hipErrorInvalidValue);
  int number = *mode;
  hipError_t error = CALL_CUDA(cuThreadExchangeStreamCaptureMode, &number);
  *mode = static_cast<hipStreamCaptureMode>(number);
  return error;
}

//===----------------------------------------------------------------------===//
// Values in memory
//===----------------------------------------------------------------------===//

TESSERA_HIP hipError_t hipStreamWriteValue32(hipStream_t stream, void *pointer,
                                             uint32_t value, unsigned) {
  if (!pointer)
    return setError(hipErrorInvalidValue);
  return CALL_CUDA(cuStreamWriteValue32, stream, pointer, value, 0u);
}
TESSERA_HIP hipError_t hipStreamWriteValue64(hipStream_t stream, void *pointer,
                                             uint64_t value, unsigned) {
  if (!pointer)
    return setError(hipErrorInvalidValue);
  return CALL_CUDA(cuStreamWriteValue64, stream, pointer, value, 0u);
}

/// CUDA compares whole values, with the four conditions of HIP.
template <typename T>
static hipError_t checkWait(void *pointer, unsigned condition, T mask) {
  if (!pointer || condition > hipStreamWaitValueNor)
    return setError(hipErrorInvalidValue);
  if (mask != static_cast<T>(~T(0)))
    return setError(hipErrorNotSupported,
                    "hipStreamWaitValue with a mask: CUDA has none");
  return hipSuccess;
}
TESSERA_HIP hipError_t hipStreamWaitValue32(hipStream_t stream, void *pointer,
                                            uint32_t value, unsigned condition,
                                            uint32_t mask) {
  if (hipError_t error = checkWait(pointer, condition, mask))
    return error;
  return CALL_CUDA(cuStreamWaitValue32, stream, pointer, value, condition);
}
TESSERA_HIP hipError_t hipStreamWaitValue64(hipStream_t stream, void *pointer,
                                            uint64_t value, unsigned condition,
                                            uint64_t mask) {
  if (hipError_t error = checkWait(pointer, condition, mask))
    return error;
  return CALL_CUDA(cuStreamWaitValue64, stream, pointer, value, condition);
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

TESSERA_HIP hipError_t hipEventCreateWithFlags(hipEvent_t *event,
                                               unsigned flags) {
  // The other flags say which caches AMD's hardware flushes.
  constexpr unsigned kShared =
      hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess;
  if (!event)
    return setError(hipErrorInvalidValue);
  return CALL_CUDA(cuEventCreate, event, flags & kShared);
}
TESSERA_HIP hipError_t hipEventCreate(hipEvent_t *event) {
  return hipEventCreateWithFlags(event, hipEventDefault);
}
TESSERA_HIP hipError_t hipEventDestroy(hipEvent_t event) {
  return event ? CALL_CUDA(cuEventDestroy, event)
               : setError(hipErrorInvalidHandle);
}
TESSERA_HIP hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return event ? CALL_CUDA(cuEventRecord, event, stream)
               : setError(hipErrorInvalidHandle);
}
TESSERA_HIP hipError_t hipEventSynchronize(hipEvent_t event) {
  return event ? CALL_CUDA(cuEventSynchronize, event)
               : setError(hipErrorInvalidHandle);
}
TESSERA_HIP hipError_t hipEventQuery(hipEvent_t event) {
  return event ? CALL_CUDA(cuEventQuery, event)
               : setError(hipErrorInvalidHandle);
}
/// Fails: only the emulated device estimates issue cycles; this one has a
/// clock.
TESSERA_HIP hipError_t tesseraTakeIssueCycles(int, uint64_t *) {
  return setError(hipErrorNotSupported);
}

TESSERA_HIP hipError_t hipEventElapsedTime(float *timeMs, hipEvent_t begin,
                                           hipEvent_t end) {
  if (!timeMs)
    return setError(hipErrorInvalidValue);
  if (!begin || !end)
    return setError(hipErrorInvalidHandle);
  return CALL_CUDA(cuEventElapsedTime, timeMs, begin, end);
}

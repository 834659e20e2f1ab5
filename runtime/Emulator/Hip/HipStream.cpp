//===- HipStream.cpp - Streams and events of the emulated HIP -------------===//
//
// Every call has done its work when it returns, so a stream has no queue and
// an event is a moment of the host's clock. Times between events are how long
// the emulation took, not how long a GPU would have.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Hip/Device.h"
#include "runtime/Emulator/Hip/Handles.h"

#include <chrono>

using namespace tessera::emulator;

struct ihipStream_t {
  unsigned flags;
};
struct ihipEvent_t {
  unsigned flags;
  bool recorded = false;
  std::chrono::steady_clock::time_point time;
};

static HandleSet<ihipStream_t> &getStreams() {
  static auto *streams = new HandleSet<ihipStream_t>;
  return *streams;
}
static HandleSet<ihipEvent_t> &getEvents() {
  static auto *events = new HandleSet<ihipEvent_t>;
  return *events;
}

hipError_t tessera::emulator::checkStream(hipStream_t stream) {
  // Null, and the two small numbers of HIP's legacy and per-thread streams.
  if (reinterpret_cast<uintptr_t>(stream) <= 2 || getStreams().has(stream))
    return hipSuccess;
  return setError(hipErrorInvalidHandle);
}

TESSERA_HIP hipError_t hipStreamCreateWithFlags(hipStream_t *stream,
                                                unsigned flags) {
  if (!stream)
    return setError(hipErrorInvalidValue);
  *stream = getStreams().add(new ihipStream_t{flags});
  return hipSuccess;
}
TESSERA_HIP hipError_t hipStreamCreate(hipStream_t *stream) {
  return hipStreamCreateWithFlags(stream, hipStreamDefault);
}
TESSERA_HIP hipError_t hipStreamCreateWithPriority(hipStream_t *stream,
                                                   unsigned flags, int) {
  return hipStreamCreateWithFlags(stream, flags);
}
TESSERA_HIP hipError_t hipStreamDestroy(hipStream_t stream) {
  return getStreams().remove(stream) ? hipSuccess
                                     : setError(hipErrorInvalidHandle);
}
TESSERA_HIP hipError_t hipStreamSynchronize(hipStream_t stream) {
  return checkStream(stream);
}
TESSERA_HIP hipError_t hipStreamQuery(hipStream_t stream) {
  return checkStream(stream);
}
TESSERA_HIP hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event,
                                          unsigned) {
  if (!getEvents().has(event))
    return setError(hipErrorInvalidHandle);
  return checkStream(stream);
}
TESSERA_HIP hipError_t hipStreamGetFlags(hipStream_t stream, unsigned *flags) {
  if (!flags)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = checkStream(stream))
    return error;
  *flags = getStreams().has(stream) ? stream->flags : 0;
  return hipSuccess;
}

TESSERA_HIP hipError_t hipEventCreateWithFlags(hipEvent_t *event,
                                               unsigned flags) {
  if (!event)
    return setError(hipErrorInvalidValue);
  *event = getEvents().add(new ihipEvent_t{flags, false, {}});
  return hipSuccess;
}
TESSERA_HIP hipError_t hipEventCreate(hipEvent_t *event) {
  return hipEventCreateWithFlags(event, hipEventDefault);
}
TESSERA_HIP hipError_t hipEventDestroy(hipEvent_t event) {
  return getEvents().remove(event) ? hipSuccess
                                   : setError(hipErrorInvalidHandle);
}

void tessera::emulator::recordEvent(hipEvent_t event) {
  event->time = std::chrono::steady_clock::now();
  event->recorded = true;
}
bool tessera::emulator::isEvent(hipEvent_t event) {
  return getEvents().has(event);
}

TESSERA_HIP hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  if (!isEvent(event))
    return setError(hipErrorInvalidHandle);
  if (hipError_t error = checkStream(stream))
    return error;
  recordEvent(event);
  return hipSuccess;
}
TESSERA_HIP hipError_t hipEventSynchronize(hipEvent_t event) {
  return isEvent(event) ? hipSuccess : setError(hipErrorInvalidHandle);
}
TESSERA_HIP hipError_t hipEventQuery(hipEvent_t event) {
  return hipEventSynchronize(event);
}
TESSERA_HIP hipError_t hipEventElapsedTime(float *timeMs, hipEvent_t begin,
                                           hipEvent_t end) {
  if (!timeMs)
    return setError(hipErrorInvalidValue);
  if (!isEvent(begin) || !isEvent(end) || !begin->recorded || !end->recorded)
    return setError(hipErrorInvalidHandle);
  *timeMs =
      std::chrono::duration<float, std::milli>(end->time - begin->time).count();
  return hipSuccess;
}

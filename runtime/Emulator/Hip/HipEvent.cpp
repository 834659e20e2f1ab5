//===- HipEvent.cpp - Events of the emulated HIP --------------------------===//
//
// An event is a time of the host's clock. The time between events is how long
// the emulation took, not how long a GPU would have taken.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Hip/Handles.h"

#include <atomic>
#include <chrono>

using namespace tessera::emulator;
using Clock = std::chrono::steady_clock;

struct ihipEvent_t {
  unsigned flags;
  /// Time since the clock's epoch; 0 until the event is recorded.
  std::atomic<int64_t> timeNs{0};

  explicit ihipEvent_t(unsigned flags) : flags(flags) {}
};

static HandleSet<ihipEvent_t> &getEvents() {
  static auto *events = new HandleSet<ihipEvent_t>;
  return *events;
}

TESSERA_HIP hipError_t hipEventCreateWithFlags(hipEvent_t *event,
                                               unsigned flags) {
  if (!event)
    return setError(hipErrorInvalidValue);
  *event = getEvents().add(new ihipEvent_t(flags));
  return hipSuccess;
}
TESSERA_HIP hipError_t hipEventCreate(hipEvent_t *event) {
  return hipEventCreateWithFlags(event, hipEventDefault);
}
TESSERA_HIP hipError_t hipEventDestroy(hipEvent_t event) {
  return getEvents().remove(event) ? hipSuccess
                                   : setError(hipErrorInvalidHandle);
}

bool tessera::emulator::isEvent(hipEvent_t event) {
  return getEvents().has(event);
}

TESSERA_HIP hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  if (!isEvent(event))
    return setError(hipErrorInvalidHandle);
  if (hipError_t error = checkStream(stream))
    return error;
  event->timeNs =
      std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
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
  if (!isEvent(begin) || !isEvent(end) || !begin->timeNs || !end->timeNs ||
      (begin->flags | end->flags) & hipEventDisableTiming)
    return setError(hipErrorInvalidHandle);
  *timeMs = static_cast<float>(end->timeNs - begin->timeNs) * 1e-6f;
  return hipSuccess;
}

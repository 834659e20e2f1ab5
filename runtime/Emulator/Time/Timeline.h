//===- Timeline.h - When each wave issued what -----------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_EMULATOR_TIME_TIMELINE_H
#define TESSERA_RUNTIME_EMULATOR_TIME_TIMELINE_H

#include "runtime/Emulator/Decode/Program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::emulator {

/// The first instructions of a replay, each from its issue to the issue of the
/// wave's next one, so that what a wave waits for is the length of an
/// instruction.
struct Timeline {
  static constexpr size_t kMaxEvents = 200'000;

  struct Event {
    double begin, end; ///< clocks
    uint32_t instruction;
    uint32_t simd, wave; ///< The wave's number in the replay.
  };

  void add(const Event &event) {
    if (events.size() < kMaxEvents)
      events.push_back(event);
  }
  /// As Chrome's and Perfetto's trace viewers read it: a process for each SIMD,
  /// a thread for each wave.
  std::string format(const Program &program, double clockMhz) const;

  std::vector<Event> events;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_TIME_TIMELINE_H

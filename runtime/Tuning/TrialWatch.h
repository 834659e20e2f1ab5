//===- TrialWatch.h - Who notices a kernel that never ends -----*- C++ -*--===//
//
// A kernel that never ends can only be ended together with its process, so the
// thread that launches it waits. This second thread waits beside it and reports
// while the kernel still runs.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_TUNING_TRIALWATCH_H
#define TESSERA_RUNTIME_TUNING_TRIALWATCH_H

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace tessera {

/// Far beyond the time of any right kernel on a GPU.
inline constexpr std::chrono::seconds kTrialLimit{60};

/// Describes the failure: "it did not end within 60 s".
std::string describeLate(std::chrono::milliseconds limit);

/// Used by one thread; `onLate` is called on another. The destructor waits for
/// a call that is under way.
class TrialWatch {
public:
  using Clock = std::chrono::steady_clock;
  using Callback = std::function<void()>;

  explicit TrialWatch(Clock::duration limit);
  ~TrialWatch();

  /// Marks the begin of a trial: `onLate` is called once if it takes longer
  /// than the limit.
  void begin(Callback onLate);
  /// Marks the end of the trial. Waits for a call that is under way.
  void end();

private:
  void work();

  const Clock::duration limit;
  std::mutex mutex; ///< Guards what follows except the thread.
  std::condition_variable changed;
  Callback callback; ///< For the current trial; empty if none.
  Clock::time_point deadline;
  bool isOver = false;
  std::thread thread;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TUNING_TRIALWATCH_H

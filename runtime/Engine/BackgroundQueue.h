//===- BackgroundQueue.h - Work that nobody waits for ----------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_ENGINE_BACKGROUNDQUEUE_H
#define TESSERA_RUNTIME_ENGINE_BACKGROUNDQUEUE_H

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <sys/types.h>
#include <thread>

namespace tessera {

/// Runs jobs one after the other on a thread of the lowest priority, which
/// begins with the first job. Every method may be called from several threads
/// at once.
class BackgroundQueue {
public:
  /// Of which at most `mostJobs` wait.
  explicit BackgroundQueue(size_t mostJobs) : mostJobs(mostJobs) {}
  ~BackgroundQueue() { end(); }
  BackgroundQueue(const BackgroundQueue &) = delete;
  BackgroundQueue &operator=(const BackgroundQueue &) = delete;

  /// Drops the job if too many wait already, or in a forked process.
  void add(std::function<void()> job);

  /// Waits until no job is left.
  void drain();

  /// Waits for the running job and drops the others, also those that come
  /// later.
  void end();

  /// Whether a long job should give up.
  bool isEnding();

private:
  void work();

  const size_t mostJobs;
  std::mutex mutex; ///< Guards what follows.
  std::condition_variable changed;
  std::deque<std::function<void()>> jobs;
  bool isBusy = false;
  bool isOver = false;
  pid_t owner = 0; ///< The process that has the thread.
  std::thread thread;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_ENGINE_BACKGROUNDQUEUE_H

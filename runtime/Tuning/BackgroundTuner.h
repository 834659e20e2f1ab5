//===- BackgroundTuner.h - Tuning beside the client's work -----*- C++ -*--===//
//
// One thread of the lowest priority tunes one problem after another on a stream
// of the lowest priority. The engine uses a winner at the next call that asks
// for its kernel; a thread that already has the old one may launch it, because
// it stays loaded.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_TUNING_BACKGROUNDTUNER_H
#define TESSERA_RUNTIME_TUNING_BACKGROUNDTUNER_H

#include "runtime/Tuning/Tuner.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <sys/types.h>
#include <thread>

namespace tessera {

/// Every method may be called from several threads at once.
class BackgroundTuner {
public:
  /// The process's tuner. Its thread ends with the process, after the candidate
  /// that it is trying.
  static BackgroundTuner &get();

  ~BackgroundTuner();

  /// Tunes `problem` on the current device after those that were added before.
  /// The engine must live until then.
  void add(Engine &engine, const Problem &problem, TuningOptions options);

  /// Waits until nothing is left to do.
  void drain();

private:
  struct Job {
    Engine &engine;
    Problem problem;
    TuningOptions options;
    int device;
  };
  void work();
  void run(Job &job);

  std::mutex mutex; ///< Guards what follows.
  std::condition_variable changed;
  std::deque<Job> jobs;
  bool isBusy = false;
  bool isOver = false;
  pid_t owner = 0; ///< Its process; a fork has no thread.
  std::thread thread;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TUNING_BACKGROUNDTUNER_H

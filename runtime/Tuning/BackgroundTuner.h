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

#include "runtime/Engine/BackgroundQueue.h"
#include "runtime/Tuning/Tuner.h"

#include <limits>

namespace tessera {

/// Every method may be called from several threads at once.
class BackgroundTuner {
public:
  /// The process's tuner. Its thread ends with the process, after the candidate
  /// that it is trying.
  static BackgroundTuner &get();

  /// Tunes `problem` on the current device after those that were added before.
  /// The engine must live until then.
  void add(Engine &engine, const Problem &problem, TuningOptions options);

  /// Waits until nothing is left to do.
  void drain() { queue.drain(); }

private:
  BackgroundQueue queue{std::numeric_limits<size_t>::max()};
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TUNING_BACKGROUNDTUNER_H

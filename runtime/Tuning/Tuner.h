//===- Tuner.h - Finds the best kernel of a problem ------------*- C++ -*--===//
//
// The tuner joins what a search needs: the compiler's ranking, the device, the
// perf database that remembers what was tried, and the engine, which uses the
// winner from then on. Its callers are dnn-tune, a Find that searches, and
// tuning in the background. docs/guides/tuning.md describes it for users.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_TUNING_TUNER_H
#define TESSERA_RUNTIME_TUNING_TUNER_H

#include "runtime/Tuning/Search.h"
#include "runtime/Tuning/Trial.h"

#include <chrono>

namespace tessera {

struct TuningOptions {
  TuningBudget budget;
  uint64_t seed = 1; ///< For data and the order of an exhaustive search.
  unsigned jobs = 1; ///< Threads that compile.
  JudgeChoice judge = JudgeChoice::Auto;
  /// Try tiles again that the database knows, if they were stored before this
  /// second since 1970.
  bool again = false;
  int64_t againBefore = std::numeric_limits<int64_t>::max();
  /// Tiles that have ended a process, with the reason: they are put into
  /// quarantine and not tried.
  std::map<std::string, std::string> condemned;
  /// Called before a tile runs on the device for the first time, and with null
  /// when it has been measured.
  std::function<void(const std::string *tile)> onTrial;
  /// A tile that runs longer is put into quarantine while it runs, and the log
  /// says so. Without a value nobody watches.
  std::optional<std::chrono::milliseconds> patience;
  /// The most workspace that the winner may need; no value: any size.
  std::optional<uint64_t> maxWorkspaceBytes;
  /// May be null: then no result is stored.
  PerfDatabase *database = nullptr;
  /// Returns true to stop as soon as possible.
  std::function<bool()> isCancelled;
};

struct TuningResult {
  SearchResult search;
  TuningKey key;
  Objective objective = Objective::MeasuredTime;
  std::string device;    ///< The device that measured.
  std::string judge;     ///< It verified; empty if nothing was verified.
  size_t candidates = 0; ///< All of the model, also beyond the budget.
  /// Why the database lacks some of the values; ok without a database.
  Status stored;
  double seconds = 0;
};

/// Tunes `problem` on the current device of the engine and lets the engine
/// adopt the winner. Fails because of the problem or the device; also if no
/// candidate is right.
ErrorOr<TuningResult> tune(Engine &engine, const Problem &problem,
                           const TuningOptions &options);

/// The key of a problem's tunings on the current device.
ErrorOr<TuningKey> makeTuningKey(const GpuApi &gpu, const Problem &problem);

/// The number of threads that compile and load beside one that measures: one
/// less than the processors. On NVIDIA's devices only a few, because their
/// driver assembles one kernel at a time, and a wait for the next one is a wait
/// for all that were begun.
unsigned getDefaultJobs(DeviceKind kind);

} // namespace tessera

#endif // TESSERA_RUNTIME_TUNING_TUNER_H

//===- Tuner.h - Finds the best kernel of a problem ------------*- C++ -*-===//
//
// Joins what a search needs: the compiler's ranking, the device, the perf
// database that remembers what was tried, and the engine, which uses the winner
// from then on. dnn-tune, a Find that searches and tuning in the background are
// its callers. docs/guides/tuning.md tells users what it does.
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
  uint64_t seed = 1; ///< Of the data, and of the order of an exhaustive search.
  unsigned jobs = 1; ///< Threads that compile.
  JudgeChoice judge = JudgeChoice::Auto;
  /// Try also what the database knows, if it was stored before that second
  /// since 1970.
  bool again = false;
  int64_t againBefore = std::numeric_limits<int64_t>::max();
  /// Tiles that are put into quarantine and not tried, with the reason: they
  /// have ended a process.
  std::map<std::string, std::string> condemned;
  /// Called before a tile runs on the device for the first time, and with null
  /// when it has been measured.
  std::function<void(const std::string *tile)> onTrial;
  /// A tile that runs longer is put into quarantine while it runs, and the log
  /// says so; nothing: nobody watches.
  std::optional<std::chrono::milliseconds> patience;
  /// What the winner may need; nothing: as much as it likes.
  std::optional<uint64_t> maxWorkspaceBytes;
  /// May be null: then nothing is remembered.
  PerfDatabase *database = nullptr;
  /// True: stop as soon as possible.
  std::function<bool()> isCancelled;
};

struct TuningResult {
  SearchResult search;
  TuningKey key;
  Objective objective = Objective::MeasuredTime;
  std::string device;    ///< What measured.
  std::string judge;     ///< What verified; empty if nothing had to be.
  size_t candidates = 0; ///< Of the model, those beyond the budget as well.
  /// Why the database lacks some of the values; ok without a database.
  Status stored;
  double seconds = 0;
};

/// Tunes `problem` on the current device of the engine and lets the engine
/// adopt the winner. A failure is one of the problem or of the device; that no
/// candidate is right is one, too.
ErrorOr<TuningResult> tune(Engine &engine, const Problem &problem,
                           const TuningOptions &options);

/// Under which a problem's tunings are stored for the current device.
ErrorOr<TuningKey> makeTuningKey(const GpuApi &gpu, const Problem &problem);

/// Threads that compile and load beside one that measures: the processors but
/// one. On NVIDIA's devices a few, because their driver assembles one kernel at
/// a time, and who waits for the next one waits for all that were begun.
unsigned getDefaultJobs(DeviceKind kind);

} // namespace tessera

#endif // TESSERA_RUNTIME_TUNING_TUNER_H

//===- TuneRun.h - Tunes the problems of a command line --------*- C++ -*--===//

#ifndef TESSERA_TOOLS_DNN_TUNE_TUNERUN_H
#define TESSERA_TOOLS_DNN_TUNE_TUNERUN_H

#include "tools/dnn-tune/Outcome.h"
#include "tools/dnn-tune/TuneOptions.h"
#include "tools/dnn-tune/Watch.h"

namespace tessera::tune_tool {

/// The engine and the database of one process, with which it tunes problems.
class TuneRun {
public:
  /// `folder` has the database; processes of one machine that pass increasing
  /// numbers as `device` share its devices evenly.
  static ErrorOr<std::unique_ptr<TuneRun>>
  create(const TuneOptions &options, const Attempt &attempt,
         const WatchLine &line, const std::string &folder, int device = 0);

  /// Tunes one problem.
  Outcome tune(const Problem &problem);

  /// The stored results of a problem that an earlier process has tuned.
  Outcome recall(const Problem &problem);

  /// True after a fault of the device, when every later call fails, too.
  bool isDeviceLost() const;

  const Attempt &attempt;
  const WatchLine &line;

private:
  TuneRun(const TuneOptions &options, const Attempt &attempt,
          const WatchLine &line)
      : attempt(attempt), line(line), options(options) {}

  TuningOptions getTuningOptions() const;
  Outcome tune(const Problem &problem, TuningOptions tuning);
  std::chrono::milliseconds getTimeLimit() const;

  const TuneOptions &options;
  std::unique_ptr<Engine> engine;
};

/// Reads the problems of all files, each once; what was skipped is printed on
/// stderr.
ErrorOr<std::vector<Problem>> readAllProblems(const TuneOptions &options);

/// Tunes all of them, printing a few lines for each that no earlier process has
/// printed. Stops if the device is lost.
std::vector<Outcome> tuneAll(TuneRun &run, const TuneOptions &options,
                             const std::vector<Problem> &problems);

/// Writes the report and the table that the options ask for.
Status writeResults(const TuneOptions &options,
                    const std::vector<Outcome> &outcomes);

} // namespace tessera::tune_tool

#endif // TESSERA_TOOLS_DNN_TUNE_TUNERUN_H

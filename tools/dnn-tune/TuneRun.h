//===- TuneRun.h - Tunes the problems of a command line --------*- C++ -*-===//

#ifndef TESSERA_TOOLS_DNN_TUNE_TUNERUN_H
#define TESSERA_TOOLS_DNN_TUNE_TUNERUN_H

#include "tools/dnn-tune/Outcome.h"
#include "tools/dnn-tune/TuneOptions.h"

namespace tessera::tune_tool {

/// The engine and the database of one process, and what it tunes with them.
class TuneRun {
public:
  /// `folder` has the database; processes of one machine that count `device` up
  /// share its devices evenly.
  static ErrorOr<std::unique_ptr<TuneRun>>
  create(const TuneOptions &options, const std::string &folder, int device = 0);

  /// Tunes one problem. A device that is lost ends the run: every later call
  /// fails, too.
  Outcome tune(const Problem &problem);

private:
  explicit TuneRun(const TuneOptions &options) : options(options) {}

  const TuneOptions &options;
  std::unique_ptr<Engine> engine;
};

/// The problems of all files, each once; what was passed over goes to stderr.
ErrorOr<std::vector<Problem>> readAllProblems(const TuneOptions &options);

/// Tunes all of them, printing a few lines for each.
std::vector<Outcome> tuneAll(TuneRun &run, const TuneOptions &options,
                             const std::vector<Problem> &problems);

/// Report and table, where they are asked for.
Status writeResults(const TuneOptions &options,
                    const std::vector<Outcome> &outcomes);

} // namespace tessera::tune_tool

#endif // TESSERA_TOOLS_DNN_TUNE_TUNERUN_H

//===- TuneOptions.h - The command line of dnn-tune ------------*- C++ -*--===//

#ifndef TESSERA_TOOLS_DNN_TUNE_TUNEOPTIONS_H
#define TESSERA_TOOLS_DNN_TUNE_TUNEOPTIONS_H

#include "runtime/Tuning/Tuner.h"
#include "tools/problems/ProblemFile.h"

#include <optional>
#include <string>
#include <vector>

namespace tessera::tune_tool {

struct TuneOptions {
  std::vector<std::string> files; ///< Files with problems.
  ProblemFileOptions reading;
  TuningBudget budget; ///< For each problem.
  /// No problem is begun after this time.
  double totalSeconds = std::numeric_limits<double>::infinity();
  uint64_t seed = 1;
  unsigned jobs = 0; ///< 0: the default of the device.
  /// The time limit of a tile's trial in seconds, after which its process is
  /// killed; 0: no limit, and no separate process. No value: the default of the
  /// device.
  std::optional<double> timeLimit;
  bool again = false;
  JudgeChoice judge = JudgeChoice::Auto;
  /// The folder of the database; if empty, the library's own.
  std::string folder;
  std::string reportFile;
  std::string tableFile;
  /// Roofs of the report's roofline; 0: none.
  double roofTflops = 0;
  double roofGbs = 0;
  /// Share the problems with other processes through this folder.
  std::string sharedFolder;
  bool help = false;
};

const char *getTuneHelp();

ErrorOr<TuneOptions> parseTuneOptions(const std::vector<std::string> &words);

} // namespace tessera::tune_tool

#endif // TESSERA_TOOLS_DNN_TUNE_TUNEOPTIONS_H

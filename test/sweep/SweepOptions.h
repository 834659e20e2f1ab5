//===- SweepOptions.h - The command line of dnn-sweep ----------*- C++ -*--===//

#ifndef TESSERA_TEST_SWEEP_SWEEPOPTIONS_H
#define TESSERA_TEST_SWEEP_SWEEPOPTIONS_H

#include "runtime/Base/ErrorOr.h"
#include "test/unit/execute/DrawProblem.h"

#include <limits>
#include <string>
#include <vector>

namespace tessera::sweep {

struct SweepOptions {
  uint64_t seed = 1;
  int64_t from = 0;
  int64_t count = 100; ///< Problems to sweep; the default for a list is all.
  /// A file with problems (tools/problems/ProblemFile.h). If empty, problems
  /// are drawn.
  std::string listFile;
  /// Problems that need more elementary operations are compiled and not run.
  double runBelow = std::numeric_limits<double>::infinity();
  /// The file that stores the progress of the sweep, if not empty.
  std::string stateFile;
  /// Valid problems that no kernel covers are counted and are no failures.
  bool allowRefusals = false;
  /// So many problems follow each other that differ in sizes only, and are
  /// served by kernels for unknown sizes; 0: each gets its own kernel.
  int64_t members = 0;
  /// Each tensor begins one element behind the begin of its memory.
  bool misplaced = false;
  bool help = false;
  ProblemSpace space;
};

const char *getSweepHelp();

ErrorOr<SweepOptions> parseSweepOptions(const std::vector<std::string> &words);

} // namespace tessera::sweep

#endif // TESSERA_TEST_SWEEP_SWEEPOPTIONS_H

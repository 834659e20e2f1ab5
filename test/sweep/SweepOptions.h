//===- SweepOptions.h - The command line of dnn-sweep ----------*- C++ -*-===//

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
  int64_t count = 100; ///< At most so many; with a list all, unless said.
  /// A file with problems (tools/problems/ProblemFile.h); empty: draw them.
  std::string listFile;
  /// A problem that needs more elementary operations is compiled and not run.
  double runBelow = std::numeric_limits<double>::infinity();
  /// Where the sweep keeps how far it is; empty: nowhere.
  std::string stateFile;
  /// A valid problem that no kernel covers is then counted, but no failure.
  bool allowRefusals = false;
  /// Each tensor begins one element into its memory.
  bool misplaced = false;
  bool help = false;
  ProblemSpace space;
};

const char *getSweepHelp();

ErrorOr<SweepOptions> parseSweepOptions(const std::vector<std::string> &words);

} // namespace tessera::sweep

#endif // TESSERA_TEST_SWEEP_SWEEPOPTIONS_H
